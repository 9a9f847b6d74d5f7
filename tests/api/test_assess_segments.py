"""``assess_segments``: laws of the answer, what is refused, and odd features."""

import json
import pickle

import numpy as np
import pytest

import secant
from secant._api import assess_segments as module
from secant.errors import InputError


def table(n=5000, seed=0, off=-0.15):
    """Return predictions that are off where region is north and age below 28."""
    rng = np.random.default_rng(seed)
    forecast = rng.uniform(0.2, 0.8, n)
    region, age = rng.choice(["north", "south", "west"], n), rng.integers(18, 68, n)
    young = (region == "north") & (age < 28)
    return {
        "happened": (rng.random(n) < forecast + off * young).astype(int),
        "forecast": forecast,
        "region": region,
        "age": age,
        "income": rng.exponential(1, n),
    }


NAMES = ["region", "age", "income"]
CAUSE = "region = north and age 18 to 27"


def assess(columns, features=NAMES, **options):
    options = {"draws": 199, "min_rows": 100, **options}
    if options.get("adjust") == "holm":
        del options["draws"]
    return secant.assess_segments(
        "happened", "forecast", data=columns, features=features, **options
    )


def rows_of(result):
    return [(row.calibration.n, row.miscalibration, row.adjusted_pvalue) for row in result.rows]


# --- laws -----------------------------------------------------------------------------------------

both = pytest.mark.parametrize("adjust", ["westfall-young", "holm"])


@both
def test_the_cause_is_found_and_named(adjust):
    columns = table()
    result = assess(columns, adjust=adjust)
    assert result.failing == (CAUSE,)
    assert result.standing_out >= 1
    row = result.rows[0]
    young = (columns["region"] == "north") & (columns["age"] < 28)
    assert row.calibration.n == young.sum()
    assert row.conditions == (("region", "= north"), ("age", "18 to 27"))
    gap = columns["happened"][young].mean() - columns["forecast"][young].mean()
    assert row.miscalibration == pytest.approx(gap, abs=1e-12)
    assert row.ci[0] < gap < row.ci[1] < 0
    assert result.adjust == adjust
    assert (result.draws is None) == (adjust == "holm")


@both
def test_the_order_of_rows_does_not_matter(adjust):
    columns = table()
    order = np.random.default_rng(1).permutation(5000)
    shuffled = {name: column[order] for name, column in columns.items()}
    one, other = assess(columns, adjust=adjust), assess(shuffled, adjust=adjust)
    assert one.failing == other.failing
    assert np.array(rows_of(one)) == pytest.approx(np.array(rows_of(other)), rel=1e-9)
    assert (one.searched, one.standing_out) == (other.searched, other.standing_out)


@both
def test_other_names_for_categories_do_not_matter(adjust):
    columns = table()
    names = {"north": "zebra", "south": "ant", "west": "mole"}
    renamed = {**columns, "region": np.array([names[each] for each in columns["region"]])}
    one, other = assess(columns, adjust=adjust), assess(renamed, adjust=adjust)
    assert [key.replace("north", "zebra") for key in one.failing] == list(other.failing)
    assert np.array(rows_of(one)) == pytest.approx(np.array(rows_of(other)), rel=1e-9)


@both
def test_a_feature_given_twice_finds_the_same_rows(adjust):
    columns = table()
    columns["copy"] = np.char.upper(columns["region"])
    one, other = assess(columns, adjust=adjust), assess(columns, [*NAMES, "copy"], adjust=adjust)
    assert rows_of(one) == rows_of(other)
    assert (one.searched, one.standing_out) == (other.searched, other.standing_out)


@both
def test_a_monotone_transform_of_a_number_changes_nothing(adjust):
    columns = table()
    moved = {**columns, "income": np.log(columns["income"]), "age": columns["age"] * 7.0 - 3}
    one, other = assess(columns, adjust=adjust), assess(moved, adjust=adjust)
    assert rows_of(one) == rows_of(other)
    assert one.searched == other.searched


def test_whole_weights_are_repeated_rows():
    columns = table(2000)
    copies = np.random.default_rng(1).integers(0, 3, 2000)
    repeated = {name: np.repeat(column, copies) for name, column in columns.items()}
    counted = {**columns, "copies": copies}
    weights = {"sample_weight": "copies", "weight_kind": "frequency", "bins": 2}
    # Quantiles are those of the rows given.
    for each in (columns, repeated):
        each["age"], each["income"] = each["age"] < 28, each["income"] < 1
    counted |= {name: columns[name] for name in ("age", "income")}
    one = assess(counted, adjust="holm", **weights)
    other = assess(repeated, adjust="holm", bins=2)
    assert one.failing == other.failing != ()
    assert np.array(rows_of(one)) == pytest.approx(np.array(rows_of(other)), rel=1e-9)
    assert one.rows[0].ci == pytest.approx(other.rows[0].ci, abs=1e-12)


def test_equal_sampling_weights_change_nothing_but_their_scale():
    columns = {**table(), "w": np.full(5000, 3.0)}
    one, other = assess(columns), assess(columns, sample_weight="w")
    assert one.failing == other.failing
    assert np.array(rows_of(one)) == pytest.approx(np.array(rows_of(other)), rel=1e-9)
    assert one.rows[0].ci == pytest.approx(other.rows[0].ci)


def test_unequal_sampling_weights_have_the_limits_of_ranges():
    rng = np.random.default_rng(0)
    columns = {**table(), "w": rng.uniform(0.5, 2, 5000)}
    row = assess(columns, sample_weight="w").rows[0]
    whole = row.calibration.between(0, 1)
    assert row.ci == whole.ci
    assert whole.limits == "simultaneous"


def test_rows_of_weight_zero_are_absent():
    columns = table()
    weight = np.ones(5000)
    weight[1::3] = 0
    # Quantiles are those of all rows given, so without numbers.
    for name in ("age", "income"):
        columns[name] = columns[name] < (28 if name == "age" else 1)
    kept = {name: column[weight > 0] for name, column in columns.items()}
    one, other = assess({**columns, "w": weight}, sample_weight="w"), assess(kept)
    assert one.failing == other.failing
    assert np.array(rows_of(one)) == pytest.approx(np.array(rows_of(other)), rel=1e-9)


def test_the_same_seed_gives_the_same_answer():
    columns = table(2000)
    assert rows_of(assess(columns, rng=7)) == rows_of(assess(columns, rng=7))
    assert rows_of(assess(columns)) == rows_of(assess(columns))


def test_calibrated_predictions_have_no_finding():
    result = assess(table(off=0), draws=None)
    assert result.failing == ()
    assert result.draws < 999  # drawing stops when it is clear
    assert str(result).startswith(f"None of {result.searched} segments searched is found")


def test_arrays_frames_and_mappings_agree():
    columns = table(2000)
    y, p = columns["happened"], columns["forecast"]
    given = {name: columns[name] for name in NAMES}
    one = secant.assess_segments(y, p, features=given, draws=199, min_rows=100)
    assert rows_of(one) == rows_of(assess(columns))


# --- odd features ---------------------------------------------------------------------------------


def test_missing_values_are_a_level_that_can_be_found():
    rng = np.random.default_rng(0)
    columns = table(off=0)
    gone = rng.random(5000) < 0.2
    columns["happened"] = (rng.random(5000) < columns["forecast"] + 0.15 * gone).astype(int)
    columns["income"] = np.where(gone, np.nan, columns["income"])
    assert assess(columns).failing == ("income is missing",)


def test_a_feature_of_one_value_is_left_out_and_said():
    columns = {**table(), "plan": np.full(5000, "basic")}
    result = assess(columns, [*NAMES, "plan"])
    assert result.failing == (CAUSE,)
    assert "plan: one value only (basic)" in result.not_searched


def test_nothing_but_constants():
    columns = {**table(300), "plan": np.zeros(300), "gone": np.full(300, np.nan)}
    result = assess(columns, ["plan", "gone"])
    assert (result.searched, result.failing) == (0, ())
    assert str(result).startswith("Nothing was searched")
    assert result.to_dict()["groups"] == []
    assert "gone: one value only (is missing)" in result.not_searched


def test_a_thousand_levels():
    columns = {**table(), "city": (np.arange(5000) % 1000).astype(str)}
    result = assess(columns, ["region", "city"], min_rows=1)
    assert any(line.startswith("city: 980 of 1,000 values") for line in result.not_searched)
    assert result.searched <= 3 + 20 + 60


def test_dates_and_truths():
    columns = table(off=0)
    rng = np.random.default_rng(0)
    columns["day"] = np.datetime64("2026-01-01") + rng.integers(0, 100, 5000)
    columns["vip"] = rng.random(5000) < 0.5
    bad = columns["vip"] & (columns["day"] < np.datetime64("2026-01-21"))
    columns["happened"] = (rng.random(5000) < columns["forecast"] - 0.2 * bad).astype(int)
    result = assess(columns, ["day", "vip"])
    assert result.failing == ("day 2026-01-01 to 2026-01-20 and vip = True",)


def test_three_conditions():
    rng = np.random.default_rng(0)
    n = 8000
    columns = {name: rng.choice(list("ab"), n) for name in ("one", "two", "three")}
    p = rng.uniform(0.3, 0.7, n)
    rows = np.all([column == "a" for column in columns.values()], axis=0)
    columns |= {"forecast": p, "happened": (rng.random(n) < p - 0.25 * rows).astype(int)}
    result = assess(columns, ["one", "two", "three"], depth=3)
    assert result.failing == ("one = a and two = a and three = a",)
    assert result.searched == 6 + 12 + 8
    alone = assess(columns, ["one", "two", "three"], depth=1)
    assert alone.searched == 6
    assert "conjunctions of more than 1 condition" in alone.not_searched


def test_small_segments_are_counted_as_not_searched():
    result = assess(table(1000), min_rows=200)
    assert any("of fewer than 200 rows" in line for line in result.not_searched)


def test_what_costs_too_much_is_not_searched_and_said(monkeypatch):
    monkeypatch.setattr(module, "_WORK", 20_000)
    result = assess(table(off=0))
    assert any(
        line.startswith("conjunctions of 2 conditions or more") for line in result.not_searched
    )
    assert result.searched == 3 + 5 + 5


def test_drawing_is_left_to_holm_beyond_the_budget(monkeypatch):
    columns = table()
    assert assess(columns, draws=None).adjust == "westfall-young"
    monkeypatch.setattr(module, "_COINS", 5000 * 6 * 199 - 1)
    assert assess(columns, draws=None).adjust == "holm"
    monkeypatch.setattr(module, "_COINS", 5000 * 6 * 199)
    assert assess(columns, draws=None).draws == 199


# --- what comes back ------------------------------------------------------------------------------


def test_tables_words_and_files():
    result = assess(table())
    row = result.rows[0]
    assert result[CAUSE] is row.calibration
    assert row.calibration.confidence_level == pytest.approx(1 - 0.05 / result.searched)
    assert result.table["segment"] == [CAUSE]
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert told["searched"] == result.searched
    assert told["not_searched"] == list(result.not_searched)
    assert told["groups"][0]["conditions"] == [["region", "= north"], ["age", "18 to 27"]]
    assert "too high by" in str(result)
    assert CAUSE in result._repr_html_()
    again = pickle.loads(pickle.dumps(result))  # noqa: S301  (our own)
    assert isinstance(again.rows[0], secant.Segment)
    assert str(again) == str(result)


def test_progress_is_told():
    seen = []
    assess(table(2000), progress=lambda done, total: seen.append(done / total))
    assert seen
    assert max(seen) <= 1


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"features": []}, "features must name one feature or several"),
        ({"features": ["age", "age"]}, "features must name one feature or several"),
        ({"features": ["nothing"]}, "no column 'nothing', which features names"),
        ({"features": ["age", 3]}, "features must be the name of a column"),
        ({"features": 3}, "features must be a list of columns"),
        ({"features": ["happened", "age"]}, "names 'happened', the column of outcomes"),
        ({"depth": 0}, "depth must be a whole number from 1 to 3; got 0"),
        ({"depth": 4}, "depth must be a whole number from 1 to 3; got 4"),
        ({"depth": 1.5}, "depth must be a whole number"),
        ({"min_rows": 0}, "min_rows must be a whole number, 1 or more"),
        ({"min_rows": 10_000}, "min_rows=10000 is more than the 5,000 rows"),
        ({"bins": 1}, "bins must be a whole number"),
        ({"max_levels": 0}, "max_levels must be a whole number"),
        ({"adjust": "benjamini-hochberg"}, "is not for segments"),
        ({"adjust": "none"}, "adjust must be one of"),
        ({"adjust": "holm", "draws": 9}, "draws does nothing with adjust='holm'"),
        ({"confidence_level": 1}, "confidence_level"),
        ({"rng": "x"}, "rng"),
        ({"sample_weight": "nothing"}, "no column 'nothing'"),
    ],
)
def test_refused(options, complaint):
    columns = table()
    options = {"features": NAMES, **options}
    with pytest.raises(InputError, match=complaint):
        secant.assess_segments("happened", "forecast", data=columns, **options)


def test_a_feature_that_tells_the_outcome_is_refused_whatever_it_is_called():
    columns = table()
    columns["result"] = np.where(columns["happened"] == 1, "won", "lost")
    with pytest.raises(InputError, match="'result', which tells the outcome in every row"):
        assess(columns, ["age", "result"])


def test_arrays_are_refused_by_name_too():
    columns = table()
    y, p = columns["happened"], columns["forecast"]
    with pytest.raises(InputError, match="features holds the outcomes, y_true"):
        secant.assess_segments(y, p, features={"same": y})
    with pytest.raises(InputError, match="features must be an array of values; got the text"):
        secant.assess_segments(y, p, features="age")
    with pytest.raises(InputError, match="mapping from names to arrays"):
        secant.assess_segments(y, p, features=[columns["age"]])
    with pytest.raises(InputError, match=r"features.*\(feature 'age'\)"):
        secant.assess_segments(y, p, features={"age": columns["age"][1:]})


def test_nothing_to_search_is_said_whether_outcomes_would_be_drawn_or_not():
    rng = np.random.default_rng(0)
    score = rng.random(240)
    data = {"y": rng.random(240) < score, "s": score, "g": np.arange(240) % 2}
    for how in ({}, {"adjust": "holm"}):
        found = secant.assess_segments("y", "s", data=data, features=["g"], **how)
        assert "Nothing was searched" in str(found)
