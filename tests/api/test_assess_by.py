"""Groups: each is assessed as it would be alone, and they are read together."""

import datetime as dt
import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant._api.assess_by import ranked
from secant._inference.adjust import benjamini_hochberg, holm
from secant._inference.limits import least_log_pvalue
from secant._input.groups import grouped, key_order, plain_key
from secant._results.parts import plain
from secant.sources import rows as row_source

rows_in_groups = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]),
        st.sampled_from([0.0, 0.5, 1.0, 2.0]),
        st.sampled_from(["a", "b", None]),
    ),
    min_size=1,
    max_size=40,
)


def columns(rows):
    y, p, w, g = zip(*rows, strict=True)
    return np.array(y), np.array(p), np.array(w), np.array(g, object)


def same(result, expected):
    """Assert that two results are equal in every number."""
    assert result.to_dict() == expected.to_dict()
    assert np.array_equal(result.curve.difference, expected.curve.difference)


@given(rows_in_groups, st.sampled_from([None, "sampling", "frequency"]))
def test_a_group_is_assessed_as_if_alone(rows, kind):
    y, p, w, g = columns(rows)
    w = np.ceil(w) if kind == "frequency" else w
    weights = {} if kind is None else {"sample_weight": w, "weight_kind": kind}
    if kind is not None and not w.any():
        with pytest.raises(secant.InputError, match="zero in every row"):
            secant.assess_by(y, p, g, **weights)
        return
    results = secant.assess_by(y, p, g, **weights)
    present = dict.fromkeys(g.tolist())
    assert set(results) | set(results.empty) == set(present)
    for key in present:
        inside = np.array([each == key for each in g])
        if kind is not None and not w[inside].any():
            assert key in results.empty
            continue
        mine = {**weights, "sample_weight": w[inside]} if kind is not None else {}
        alone = secant.assess(y[inside], p[inside], **mine)
        group = results[key]
        # Rows keep the numbers they have in the whole.
        numbers = np.flatnonzero(inside)
        assert group.forbidden == tuple(numbers[list(alone.forbidden)].tolist())
        for name in ("n", "sigma", "ecce_r", "ecce_mad", "worst", "mean_score", "base_rate"):
            assert plain(getattr(group, name)) == plain(getattr(alone, name))


@given(rows_in_groups, st.randoms(use_true_random=False))
def test_row_order_does_not_matter(rows, random):
    one = secant.assess_by(*(columns(rows)[i] for i in (0, 1, 3)))
    shuffled = list(rows)
    random.shuffle(shuffled)
    other = secant.assess_by(*(columns(shuffled)[i] for i in (0, 1, 3)))
    assert list(one) == list(other)
    for key in one:
        assert one[key].ecce_r.pvalue == pytest.approx(other[key].ecce_r.pvalue, rel=1e-12)


@pytest.mark.parametrize(
    ("adjust", "formula"), [("holm", holm), ("benjamini-hochberg", benjamini_hochberg)]
)
def test_pvalues_are_adjusted_and_groups_sorted_by_them(adjust, formula):
    rng = np.random.default_rng(1)
    n = 4000
    p, g = rng.random(n), rng.integers(0, 12, n)
    y = rng.random(n) < np.where(g < 3, p**1.5, p)
    result = secant.assess_by(y, p, g, adjust=adjust)
    alone = {key: secant.assess(y[g == key], p[g == key]).ecce_r.pvalue for key in range(12)}
    expected = dict(zip(alone, formula(list(alone.values())), strict=True))
    assert {row.key: row.adjusted_pvalue for row in result.rows} == expected
    assert [row.adjusted_pvalue for row in result.rows] == sorted(expected.values())
    assert set(result.failing) == {key for key, value in expected.items() if value <= 0.05}
    assert set(result.failing) >= {0, 1, 2}
    assert f"{len(result.failing)} of 12 groups are miscalibrated at 5%" in str(result)


def test_many_rows_take_the_way_of_cells(monkeypatch):
    monkeypatch.setattr(row_source, "SORT_UP_TO", 50)
    monkeypatch.setattr(row_source, "COLLECT_UP_TO", 20)
    rng = np.random.default_rng(5)
    p, g = rng.random(3000), rng.choice(["x", "y", "z"], 3000, p=[0.8, 0.19, 0.01])
    y = rng.random(3000) < p
    for key, result in secant.assess_by(y, p, g).items():
        alone = secant.assess(y[g == key], p[g == key])
        assert result.ecce_r == alone.ecce_r
        assert result.between(0.2, 0.4) == alone.between(0.2, 0.4)
        assert result.ece().value == alone.ece().value


# --- keys -----------------------------------------------------------------------------------------


def test_what_is_missing_is_one_group():
    missing = [None, math.nan, float("nan"), np.float64("nan"), np.datetime64("NaT", "s")]
    pandas = optional("pandas")
    missing += [pandas.NA, pandas.NaT]
    by = np.array([*missing, "a", "a"], object)
    result = secant.assess_by([0, 1] * 4 + [1], [0.5] * 9, by)
    assert set(result) == {None, "a"}
    assert result[None].n == len(missing)
    assert "(missing)" in str(result)


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ([3, 1, 1], {1, 3}),
        ([True, False, False], {True, False}),
        (np.array([0.5, math.nan, math.nan]), {0.5, None}),
        (
            np.array(["2024-01-01", "NaT", "2024-01-01"], "M8[ns]"),
            {dt.datetime(2024, 1, 1), None},  # noqa: DTZ001  (numpy has no time zones)
        ),
        (np.array(["b", "a", "a"]), {"a", "b"}),
        ([("b"), 1, None], {"b", 1, None}),
        ([None, "b", "b"], {"b", None}),
        ([dt.date(2024, 1, 1), None, None], {dt.date(2024, 1, 1), None}),
        ([np.float64(2), np.float64(1), np.float64(1)], {1.0, 2.0}),
        ([["b", "a", "a"], [1, 2, 2]], {("b", 1), ("a", 2)}),
        ([np.array(["b", "a", "a"]), [1, 2, 3]], {("b", 1), ("a", 2), ("a", 3)}),
    ],
)
def test_keys_are_plain_values(by, keys):
    result = secant.assess_by([0, 1, 1], [0.4, 0.5, 0.6], by)
    assert set(result) == keys
    assert sum(each.n for each in result.values()) == 3
    json.dumps(result.to_dict())
    assert len(result.by) == (2 if isinstance(next(iter(keys)), tuple) else 1)


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.sampled_from([None, 1.5])),
        min_size=1,
        max_size=30,
    )
)
def test_several_columns_make_tuples(rows):
    parts = [list(part) for part in zip(*rows, strict=True)]
    keys, codes = grouped([np.array(part, object) for part in parts], len(rows))
    assert [keys[code] for code in codes] == rows
    assert len(set(keys)) == len(keys) == codes.max() + 1


def test_keys_sort_by_kind_with_the_missing_last():
    keys = ["b", None, 2, "a", 1.5, ("a", None), ("a", 1), True]
    order = [keys[number] for number in key_order(keys)]
    assert order[-1] is None
    assert order.index(True) < order.index(1.5) < order.index(2) < order.index("a")
    assert order.index(("a", 1)) < order.index(("a", None))
    assert plain_key(("a", np.float64("nan"))) == ("a", None)


def test_groups_in_a_frame_and_in_a_mapping():
    pandas = optional("pandas")
    table = {
        "y": [0, 1, 1, 0],
        "p": [0.1, 0.4, 0.6, 0.7],
        "g": ["a", "b", "a", "b"],
        "h": [1, 1, 1, 2],
    }
    expected = secant.assess_by(table["y"], table["p"], table["g"])
    for data in (table, pandas.DataFrame(table), pandas.DataFrame(table).astype({"g": "category"})):
        result = secant.assess_by("y", "p", "g", data=data)
        assert result.by == ("g",)
        assert {key: each.to_dict() for key, each in result.items()} == {
            key: each.to_dict() for key, each in expected.items()
        }
    result = secant.assess_by("y", "p", ["g", "h"], data=table)
    assert set(result) == {("a", 1), ("b", 1), ("b", 2)}
    assert result.by == ("g", "h")
    assert list(result.to_pandas().columns[:3]) == ["g", "h", "n"]


# --- the table ------------------------------------------------------------------------------------


def small():
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(500), rng.random(500), [0.3]])
    y = np.concatenate([rng.random(500) < p[:500] ** 2, rng.random(500) < p[500:1000], [1]])
    return secant.assess_by(y, p, ["off"] * 500 + ["fine"] * 500 + ["<b>one</b>"])


def test_groups_too_small_are_marked_not_dropped():
    result = small()
    assert [(row.key, row.status) for row in result.rows] == [
        ("off", "miscalibrated"), ("<b>one</b>", "too few"), ("fine", "none found"),
    ]  # fmt: skip
    assert result.failing == ("off",)
    assert result.too_few == ("<b>one</b>",)
    assert "1 group is too small to say anything." in str(result)


@given(st.lists(st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.7, 0.9, 1.0]), min_size=1, max_size=8))
@example([0.05, 0.05, 0.3, 0.7, 0.9, 1.0])  # two sums that are equal but for rounding
def test_the_smallest_pvalue_that_could_have_been(scores):
    """Over every outcome, also those that contradict a score of 0 or 1, by enumeration."""
    outcomes = itertools.product([0, 1], repeat=len(scores))
    results = [secant.assess(y, scores, method="exact") for y in outcomes]
    least = min(result.ecce_r.pvalue for result in results)
    shown = math.exp(least_log_pvalue(results[0]._blocks))
    assert shown == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("weights", [(1, 1, 9), (9, 1, 1), (2, 3, 4)])
def test_the_smallest_pvalue_that_weighted_rows_could_have_had(weights):
    """By enumeration: the chance of the outcome whose weighted ECCE-R is largest."""
    scores = 0.2, 0.4, 0.7
    chance = {}
    for y in itertools.product([0, 1], repeat=3):
        r = secant.assess(y, scores, sample_weight=weights, method="asymptotic").ecce_r.value
        chance[y] = r, math.prod(s if e else 1 - s for e, s in zip(y, scores, strict=True))
    most = max(r for r, _ in chance.values())
    least = sum(p for r, p in chance.values() if r == pytest.approx(most))
    shown = least_log_pvalue(secant.assess(y, scores, sample_weight=weights)._blocks)
    assert math.exp(shown) == pytest.approx(least, rel=1e-9)


def test_a_pvalue_at_the_level_is_a_finding():
    """1 - 0.9 is a little less than 0.1."""
    result = secant.assess([0, 1], [0.4, 0.6], confidence_level=0.9)
    for adjusted, found in ((0.1, True), (0.1 + 1e-9, False)):
        groups = ranked(["a"], [result], np.array([adjusted]), adjust="holm", by=("group",))
        assert bool(groups.failing) is found
        alone = replace(result, ecce_r=replace(result.ecce_r, pvalue=adjusted))
        assert str(alone).startswith("Miscalibrated.") is found


def test_the_numbers_of_a_group_hold_one_verdict_the_adjusted_one():
    """Alone a group may be found miscalibrated, and not be among ten."""
    rng = np.random.default_rng(1)
    p = rng.random(3000)
    y = rng.random(3000) < p
    result = secant.assess_by(y, p, rng.integers(0, 10, 3000))
    told = result.rows[0].to_dict()
    assert told["ecce_r"]["pvalue"] < 0.05 < told["adjusted_pvalue"]
    assert told["status"] == "none found"
    assert "verdict" not in told
    assert str(result[told["key"]]).startswith("Miscalibrated.")


def test_where_is_not_named_for_a_group_if_it_is_not_certain():
    result = secant.assess_by([1, 1, 0] * 2, [0.01, 0.4, 0.6] * 2, ["a", "b", "b"] * 2)
    row = result.rows[0]
    assert row.status == "miscalibrated"
    assert row.calibration.intervals == ()
    line = next(line for line in str(result).splitlines() if line.startswith("a"))
    assert line.endswith("miscalibrated, not certain where")


def test_too_few_are_those_who_could_not_have_shown_anything_alone():
    """Five coins that all fall alike have P = 1/32, four 1/16; other groups do not count."""
    p = 0.5 + 1e-9 * np.arange(1, 10)  # nothing happening is a little more extreme
    result = secant.assess_by([0, 1, 0, 1, 0, 1, 0, 1, 0], p, ["five"] * 5 + ["four"] * 4)
    assert {row.key: row.status for row in result.rows} == {
        "five": "none found", "four": "too few",
    }  # fmt: skip


def test_certain_predictions_that_came_true_are_not_too_few():
    """One event to the contrary would have refuted them all."""
    y, p = [0, 0, 1, 1], [0.0, 0.0, 1.0, 0.3]
    result = secant.assess_by(y, p, ["certain", "certain", "certain", "one"])
    assert [(row.key, row.status) for row in result.rows] == [
        ("one", "too few"), ("certain", "none found"),
    ]  # fmt: skip


def test_the_printed_table_reads_well():
    lines = str(small()).splitlines()
    assert lines[0] == "1 of 3 groups is miscalibrated at 5% after Holm's correction."
    header = next(line for line in lines if line.startswith("group"))
    assert header.split() == [
        "group", "predictions", "forecast", "happened", "ECCE-R", "sigma", "adjusted", "P",
        "verdict",
    ]  # fmt: skip
    off = next(line for line in lines if line.startswith("off"))
    assert "too high by" in off
    assert max(map(len, lines)) < 120


def test_what_is_only_known_to_be_below_is_written_so():
    """Certified P-values end at 1e-300: twice that is a limit too, not a value."""
    y, p, group = [1] * 4000, [0.4, 0.6] * 2000, ["a"] * 2000 + ["b"] * 2000
    result = secant.assess_by(y, p, group)
    assert [row.calibration.ecce_r.pvalue for row in result.rows] == [1e-300] * 2
    assert [row.adjusted_pvalue for row in result.rows] == [2e-300] * 2
    assert str(result).count("  < 1e-299  too low") == 2
    asymptotic = secant.assess_by(y, p, group, method="asymptotic")
    assert str(asymptotic).count("  < 1e-300  too low") == 2


def test_a_long_table_says_how_many_more():
    result = secant.assess_by([0, 1] * 50, [0.5] * 100, np.repeat(np.arange(50), 2))
    assert str(result).splitlines()[-1] == "... and 20 more groups"
    assert "... and 20 more groups" in result._repr_html_()


def test_html_shows_names_as_text():
    html = small()._repr_html_()
    assert "<b>one" not in html
    assert "&lt;b&gt;one" in html


def test_conversions():
    pandas, polars = optional("pandas"), optional("polars")
    result = small()
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["group"]) == list(result)
    assert list(frame["adjusted_pvalue"]) == [row.adjusted_pvalue for row in result.rows]
    assert isinstance(result.to_polars(), polars.DataFrame)
    assert result.to_polars().columns == list(frame.columns) == list(result.table)
    json.dumps(result.to_dict(), allow_nan=False)


def test_a_column_named_like_one_of_ours_keeps_both():
    result = secant.assess_by("y", "p", "n", data={"y": [0, 1], "p": [0.2, 0.7], "n": [10, 20]})
    assert sorted(result.table["n"]) == [10, 20]
    assert result.table["n_"] == [1, 1]


def test_one_group_and_none_found():
    result = secant.assess_by([0, 1], [0.4, 0.6], ["a", "a"])
    assert str(result).startswith("The only group is not found to be miscalibrated at 5%.")
    found = secant.assess_by([0] * 20, [0.6] * 20, ["a"] * 20)
    assert str(found).startswith("The only group is miscalibrated at 5%.")


def test_draws_are_reproducible_and_do_not_depend_on_the_other_groups():
    rng = np.random.default_rng(2)
    p, w = rng.random(200), rng.lognormal(size=200)
    y, g = rng.random(200) < p, rng.integers(0, 3, 200)
    one, two = (secant.assess_by(y, p, g, sample_weight=w) for _ in range(2))
    assert one[0].ecce_r.method.startswith("Monte Carlo")
    assert one[0].ecce_r == two[0].ecce_r
    assert one[0].ecce_r == secant.assess(y[g == 0], p[g == 0], sample_weight=w[g == 0]).ecce_r
    seeded = [secant.assess_by(y, p, g, sample_weight=w, rng=5)[0].ecce_r for _ in range(2)]
    assert seeded[0] == seeded[1]


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([0, 1], [0.5, 0.5], ["a"]), {}, "by must have one value a row; it has 1, not 2"),
        (([0, 1], [0.5, 0.5], "a"), {}, "by must be an array"),
        (([0, 1], [0.5, 0.5], [[1], [2]]), {}, "by must have one value a row"),
        (([0, 1], [0.5, 0.5], np.eye(2)), {}, "by must be one-dim.* pass a list of its columns"),
        (([0, 1], [0.5, 0.5], ["a", "b"]), {"adjust": "none"}, "adjust must be one of 'holm'"),
        (([0, 1], [0.5, 0.5], ["a", "b"]), {"method": "x"}, "method must be one of"),
        (([0, 1], [0.5, 1.5], ["a", "b"]), {}, r"y_prob\[1\] is 1.5"),
        (([0, 1], [0.5, 0.5], None), {}, "by must give the groups .* got None"),
        (("y", "p", None), {"data": {"y": [0], "p": [0.1]}}, "by must give the groups .* got None"),
        (("y", "p", "gg"), {"data": {"y": [0], "p": [0.1], "g": [1]}}, "did you mean 'g'"),
        (("y", "p", []), {"data": {"y": [0], "p": [0.1]}}, "by must name one column"),
        (("y", "p", ["y", "y"]), {"data": {"y": [0], "p": [0.1]}}, "by must name one column"),
        (("y", "p", [1]), {"data": {"y": [0], "p": [0.1]}}, "by must be the name of a column"),
        (("y", "p", "g"), {"data": {"y": [0], "p": [2.0], "g": [1]}}, "y_prob is column 'p'"),
        (("y", "p", "y"), {"data": {"y": [0], "p": [0.1]}}, "by names 'y', the column of outcomes"),
    ],
)
def test_refusals(arguments, options, words):
    with pytest.raises(secant.InputError, match=words):
        secant.assess_by(*arguments, **options)


@pytest.mark.parametrize("several", [False, True])
def test_groups_by_outcome_are_refused(several):
    y, p = np.array([0, 1, 1]), np.array([0.2, 0.5, 0.9])
    by = [p, y] if several else y
    with pytest.raises(secant.InputError, match="by holds the outcomes, y_true: among rows chosen"):
        secant.assess_by(y, p, by)


@pytest.mark.parametrize("key", [None, dt.date(2026, 1, 1), np.datetime64("2026-01-01"), b"a", 1])
def test_a_list_of_keys_is_one_column_whatever_comes_first(key):
    found = secant.assess_by([0, 1, 0], [0.2, 0.5, 0.9], [key, "b", key])
    assert found.by == ("group",)
    assert sorted(found[each].n for each in found) == [1, 2]
