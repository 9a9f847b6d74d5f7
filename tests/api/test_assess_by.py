"""Groups: each is assessed as it would be alone, and they are read together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant._inference.adjust import benjamini_hochberg, holm
from secant._inference.limits import at_level, least_log_pvalue
from secant._results.base import plain
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
            found, expected = plain(getattr(group, name)), plain(getattr(alone, name))
            if isinstance(expected, dict) and "log10_pvalue" in expected:
                # Walks that are run together are added up in another order.
                logs = found.pop("log10_pvalue"), expected.pop("log10_pvalue")
                assert logs[0] == pytest.approx(logs[1], abs=1e-13)
                assert found.pop("pvalue") == pytest.approx(expected.pop("pvalue"), rel=1e-12)
            assert found == expected


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
    alone = {key: secant.assess(y[g == key], p[g == key]).pvalue for key in range(12)}
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


def test_too_few_are_those_who_could_not_have_shown_anything_alone():
    """Seven coins that all fall alike have x = 1/128 and P = 0.046, six 0.081.

    Of one score P is x, five being enough. Other groups do not count.
    """
    p = 0.5 + 1e-9 * np.arange(1, 14)  # nothing happening is a little more extreme
    result = secant.assess_by(np.arange(13) % 2, p, ["seven"] * 7 + ["six"] * 6)
    assert {row.key: row.status for row in result.rows} == {
        "seven": "none found", "six": "too few",
    }  # fmt: skip
    result = secant.assess_by(np.arange(9) % 2, np.full(9, 0.4), ["five"] * 5 + ["three"] * 4)
    assert {row.key: row.status for row in result.rows} == {
        "five": "none found", "three": "none found",
    }  # fmt: skip


def test_certain_predictions_that_came_true_are_not_too_few():
    """One event to the contrary would have refuted them all."""
    y, p = [0, 0, 1, 1], [0.0, 0.0, 1.0, 0.3]
    result = secant.assess_by(y, p, ["certain", "certain", "certain", "one"])
    assert [(row.key, row.status) for row in result.rows] == [
        ("one", "too few"), ("certain", "none found"),
    ]  # fmt: skip


def test_draws_are_reproducible_and_do_not_depend_on_the_other_groups():
    rng = np.random.default_rng(2)
    p, w = rng.random(200), rng.lognormal(size=200)
    y, g = rng.random(200) < p, rng.integers(0, 3, 200)
    one, two = (secant.assess_by(y, p, g, sample_weight=w) for _ in range(2))
    assert one[0].ecce_r.method == "simulated"
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


@pytest.mark.parametrize("seed", range(4))
def test_what_few_rows_could_show_is_asked_of_their_scores(seed):
    """A quick look at the mean score never says otherwise than every score does."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, 60)
    by = np.repeat(np.arange(60), sizes)
    kinds = rng.random(len(by)), rng.beta(0.2, 0.2, len(by)), rng.choice([0, 0.1, 0.5, 1], len(by))
    p = kinds[seed % 3]
    y = rng.random(len(by)) < p
    found = secant.assess_by(y, p, by)
    verdicts = []
    for row in found.rows:
        blocks = row.calibration._blocks
        least = least_log_pvalue(blocks)
        if len(blocks) > 1 and least > -np.inf:
            least += np.log(1 - least)
        verdicts.append(row.status)
        if row.status != "miscalibrated":
            assert (row.status == "too few") is not at_level(np.exp(least), 1 - 0.95)
    assert len(set(verdicts)) > 1


def test_a_series_has_its_own_name():
    pandas = optional("pandas")
    y, p = np.arange(80) % 2, np.linspace(0.1, 0.9, 80)
    half = pandas.Series(np.repeat(["a", "b"], 40), name="half")
    assert secant.assess_by(y, p, half).by == ("half",)
    assert secant.assess_by(y, p, half.rename(None)).by == ("group",)
    assert secant.assess_by(y, p, half.rename(3)).by == ("group",)
    assert secant.assess_by(y, p, [half, y.astype(str)[::-1]]).by == ("half", "group 2")
    assert secant.assess_by(y, p, {"part": half}).by == ("part",)


def test_columns_in_a_dict_have_their_names():
    rng = np.random.default_rng(0)
    p, region, adult = rng.random(300), rng.choice(["north", "south"], 300), rng.random(300) < 0.5
    y = rng.random(300) < p
    both, listed = (
        secant.assess_by(y, p, by) for by in ({"region": region, 2: adult}, [region, adult])
    )
    assert (both.by, listed.by) == (("region", "2"), ("group 1", "group 2"))
    assert {key: plain(found) for key, found in both.items()} == {
        key: plain(found) for key, found in listed.items()
    }
    one = secant.assess_by(y, p, {"region": list(region)})
    assert one.by == ("region",)
    assert set(one) == {"north", "south"}
    with pytest.raises(secant.InputError, match="by holds the outcomes, y_true"):
        secant.assess_by(y, p, {"region": region, "outcome": y})
    with pytest.raises(secant.InputError, match="by must be one-dimensional; got a single dict"):
        secant.assess_by(y, p, {})
