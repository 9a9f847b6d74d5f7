"""Predictions along another order: the same answers as by brute force, whatever the source."""

import dataclasses
import datetime as dt
import itertools
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import secant
from helpers import optional
from secant import InputError
from secant._inference import choose
from secant.sources import ordered, rows


def sample(n=3000, seed=0, ties=None):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    x = rng.normal(size=n) if ties is None else rng.integers(0, ties, n)
    y = rng.random(n) < np.clip(score + 0.1 * (x > np.median(x)) - 0.05, 0, 1)
    return y, score, x


def brute_force(y, score, x, weight=None):
    """Return ECCE-R, ECCE-MAD and the largest total over any range of x."""
    weight = np.ones(len(y)) if weight is None else weight
    steps = weight * (np.asarray(y, float) - score)
    heights = [0.0] + [steps[x <= value].sum() for value in np.unique(x)]
    return np.ptp(heights) / weight.sum(), np.abs(heights).max() / weight.sum()


@settings(max_examples=60)
@given(st.data())
def test_by_brute_force(data):
    n = data.draw(st.integers(1, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    score = rng.integers(0, 5, n) / 4
    x = 3 * rng.integers(-2, data.draw(st.integers(1, 30)), n) - 1  # never the outcomes
    y = rng.random(n) < score
    weight = rng.integers(0, 3, n).astype(float)
    weight[0] = 1.0
    kind = data.draw(st.sampled_from([None, "sampling", "frequency"]))
    options = {} if kind is None else {"sample_weight": weight, "weight_kind": kind}
    options["method"] = "asymptotic"
    result = secant.assess(y, score, order_by=x, **options)
    r, mad = brute_force(y, score, x, None if kind is None else weight)
    assert result.ecce_r.value == pytest.approx(r, abs=1e-12)
    assert result.ecce_mad.value == pytest.approx(mad, abs=1e-12)
    turned = secant.assess(y, score, order_by=-x, **options)
    assert turned.ecce_r.value == pytest.approx(r, abs=1e-12)
    shuffle = rng.permutation(n)
    if kind is not None:
        options["sample_weight"] = weight[shuffle]
    again = secant.assess(y[shuffle], score[shuffle], order_by=x[shuffle], **options)
    assert again.ecce_r == result.ecce_r


def test_the_direction_matters_for_mad_alone():
    y, score, x = sample()
    ahead, back = (secant.assess(y, score, order_by=sign * x) for sign in (1, -1))
    assert ahead.ecce_r.value == pytest.approx(back.ecce_r.value, abs=1e-12)
    assert ahead.ecce_mad.value != pytest.approx(back.ecce_mad.value, abs=1e-6)


@pytest.mark.parametrize("weights", [None, "sampling", "frequency", "outcome"])
@pytest.mark.parametrize("ties", [False, True])
def test_the_order_of_scores_is_todays_answer(weights, ties):
    """Along 3 s - 1 every number is what it is along s, to 1e-12."""
    rng = np.random.default_rng(5)
    score = rng.integers(0, 50, 2000) / 49 if ties else rng.random(2000)
    y = rng.random(2000) < np.clip(score + 0.08, 0, 1) * (score > 0)
    options = {}
    if weights in {"sampling", "frequency"}:
        options = {"sample_weight": rng.integers(1, 5, 2000) * 1.0, "weight_kind": weights}
    if weights == "outcome":
        options = {"outcome_weights": (2.0, 1.0)}
    by_score = secant.assess(y, score, **options)
    along = secant.assess(y, score, order_by=3 * score - 1, **options)
    for name in ("ecce_r", "ecce_mad"):
        one, other = (getattr(each, name) for each in (by_score, along))
        assert other.value == pytest.approx(one.value, abs=1e-12)
        assert other.pvalue == pytest.approx(one.pvalue, rel=1e-12)
        assert other.ci == pytest.approx(one.ci, abs=1e-12)
        assert (other.method, other.name) == (one.method, one.name)
    assert along.sigma == pytest.approx(by_score.sigma, rel=1e-12)
    assert along.detectable == pytest.approx(by_score.detectable, rel=1e-12)
    assert tuple(along.expected) == pytest.approx(tuple(by_score.expected), rel=1e-9)
    assert along.warnings == by_score.warnings
    assert along.pvalue_beyond(0.02) == pytest.approx(by_score.pvalue_beyond(0.02), rel=1e-9)
    ranges = ("worst", "steepest")
    pairs = [(getattr(along, name), getattr(by_score, name)) for name in ranges]
    pairs += list(zip(along.intervals, by_score.intervals, strict=True))
    pairs.append((along.between(-0.4, 1.1), by_score.between(0.2, 0.7)))
    for other, one in pairs:
        assert (other.low + 1) / 3 == pytest.approx(one.low, abs=1e-12)
        assert (other.high + 1) / 3 == pytest.approx(one.high, abs=1e-12)
        for name in ("n", "weight", "mean_score", "mean_response", "miscalibration"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), abs=1e-12)
        assert other.ci == pytest.approx(one.ci, abs=1e-12)
    assert along.brier == by_score.brier
    assert along.log_loss == by_score.log_loss
    assert along.cox == by_score.cox
    assert along.ece().value == by_score.ece().value


def test_the_scores_themselves_are_no_other_order():
    y, score, _ = sample(200)
    assert secant.assess(y, score, order_by=score).axis is None
    assert secant.assess("y", "s", data={"y": y, "s": score}, order_by="s").axis is None
    for copy in (score.copy(), score.tolist()):
        assert secant.assess(y, score, order_by=copy).axis is None
        table = {"y": y, "s": score, "copy": copy}
        assert secant.assess("y", "s", data=table, order_by="copy").axis is None
    even = secant.assess(y, np.full(200, 0.5), order_by=np.full(200, 0.5))
    assert even.axis is None


def test_the_outcomes_are_no_order_whatever_holds_them():
    pandas = optional("pandas")
    y, score, _ = sample(50)
    whole = y.astype(int)
    copies = (y.copy(), whole, whole * 1.0, whole.tolist(), pandas.Series(whole), 2 * whole - 1)
    for copy in copies[:-1]:
        with pytest.raises(InputError, match="order_by holds the outcomes, y_true"):
            secant.assess(whole, score, order_by=copy)
        with pytest.raises(InputError, match="order_by holds the outcomes"):
            secant.assess_by(whole, score, np.arange(50) % 2, order_by=copy)
    with pytest.raises(InputError, match="order_by holds the outcomes"):
        secant.assess(2 * whole - 1, score, order_by=copies[-1])
    with pytest.raises(InputError, match="order_by holds the outcomes"):
        secant.assess(whole + 3, score, order_by=whole + 3, pos_label=4)
    columns = {"y": whole, "s": score, "copy": whole.copy()}
    for table in (columns, pandas.DataFrame(columns)):
        with pytest.raises(InputError, match="'copy'"):
            secant.assess("y", "s", data=table, order_by="copy")
    assert secant.assess([1, 1], [0.4, 0.6], order_by=[1, 1]).axis.kind == "number"


def test_all_outcomes_of_few_rows_are_gone_through():
    """A step may hold several scores."""
    score = np.array([0.3467108853785723, 0.7999795708403586, 0.20423646507685778])
    y = [1, 1, 0]
    found = secant.assess(y, score, order_by=[0.08, 0.39, 0.26], method="exact").ecce_r
    assert found.pvalue == pytest.approx(few_by_hand(y, score, np.array([0.08, 0.39, 0.26])))
    assert found.pvalue == pytest.approx(0.5841, abs=5e-5)
    assert found.method == "exact"
    by_score = secant.assess(y, score)
    assert secant.assess(y, score, order_by=3 * score).ecce_r == by_score.ecce_r
    rng = np.random.default_rng(3)
    many, group = [rng.integers(0, 2, 30), rng.random(30).round(1)], np.arange(30) // 10
    x = rng.integers(5, 9, 30)
    groups = secant.assess_by(*many, group, order_by=x)
    for key in groups:
        mine = group == key
        wanted = few_by_hand(many[0][mine], many[1][mine], x[mine])
        assert groups[key].ecce_r.pvalue == pytest.approx(wanted, rel=1e-12)
        back = secant.assess(many[0][mine], many[1][mine], order_by=-x[mine]).ecce_r.pvalue
        assert back == pytest.approx(wanted, rel=1e-12)


def few_by_hand(y, score, x):
    """Return the P-value of ECCE-R, from one outcome after the other."""

    def far(outcome):
        return brute_force(outcome, score, x)[0]

    chances = [
        np.prod(np.where(outcome, score, 1 - score))
        for outcome in itertools.product((0, 1), repeat=len(y))
        if far(outcome) >= far(y) - 1e-12
    ]
    return np.sum(chances)


def few_rows(monkeypatch, most=64):
    """Have cells made of what would be sorted as a whole."""
    monkeypatch.setattr(rows, "SORT_UP_TO", most)
    monkeypatch.setattr(rows, "COLLECT_UP_TO", most)
    monkeypatch.setattr(rows, "CHUNK", 300)
    monkeypatch.setattr(ordered, "_CELLS", 16)
    monkeypatch.setattr(ordered, "_PIECES", 8)


@pytest.mark.parametrize("weights", [None, "sampling", "frequency"])
@pytest.mark.parametrize("ties", [None, 7, 200])
def test_cells_and_looks_give_the_same_answer(weights, ties, monkeypatch):
    y, score, x = sample(2500, seed=3, ties=ties)
    options = {"method": "asymptotic"}
    if weights is not None:
        weight = np.random.default_rng(1).integers(0, 4, 2500) * 1.0
        options |= {"sample_weight": weight, "weight_kind": weights}
    whole = secant.assess(y, score, order_by=x, **options)
    few_rows(monkeypatch)
    cells = secant.assess(y, score, order_by=x, **options)
    for name in ("ecce_r", "ecce_mad"):
        one, other = (getattr(each, name) for each in (whole, cells))
        assert other.value == pytest.approx(one.value, abs=1e-12)
        assert other.pvalue == pytest.approx(one.pvalue, rel=1e-9)
        assert other.ci == pytest.approx(one.ci, abs=1e-12)
    assert len(cells.intervals) == len(whole.intervals)
    for one, other in zip(
        [whole.worst, *whole.intervals, whole.between(-0.5, 3)],
        [cells.worst, *cells.intervals, cells.between(-0.5, 3)],
        strict=True,
    ):
        assert (other.low, other.high, other.n) == (one.low, one.high, one.n)
        assert other.miscalibration == pytest.approx(one.miscalibration, abs=1e-12)


def test_large_sample_pvalues_know_the_scores(monkeypatch):
    """From cells of scores, whatever the order: not from the means of ranges of x."""
    y, score, x = sample(2500, seed=4)
    few_rows(monkeypatch)
    monkeypatch.setattr("secant._inference.choose._MANY_ROWS", 100)
    monkeypatch.setattr("secant._inference.choose._MANY_PAIRS", 0)
    cells = secant.assess(y, score, order_by=x)
    monkeypatch.undo()
    monkeypatch.setattr("secant._inference.choose._MANY_ROWS", 100)
    monkeypatch.setattr("secant._inference.choose._MANY_PAIRS", 0)
    whole = secant.assess(y, score, order_by=x)
    assert cells.ecce_r.method == whole.ecce_r.method == "large-sample"
    assert cells.ecce_r.pvalue == pytest.approx(whole.ecce_r.pvalue, rel=1e-3)
    assert cells.ecce_r.pvalue >= whole.ecce_r.pvalue * (1 - 1e-9)


def test_clusters_along_an_axis():
    y, score, x = sample(2000)
    who = np.arange(2000) % 100
    along = secant.assess(y, score, order_by=3 * score, clusters=who)
    by_score = secant.assess(y, score, clusters=who)
    assert along.ecce_r == dataclasses.replace(by_score.ecce_r, value=along.ecce_r.value)
    other = secant.assess(y, score, order_by=x, clusters=who)
    assert other.n_clusters == 100
    assert other.ecce_r.value == pytest.approx(brute_force(y, score, x)[0], abs=1e-12)
    assert "100 clusters" in str(other)


def test_groups_along_an_axis():
    y, score, x = sample(2000)
    group = np.random.default_rng(2).choice(["a", "b"], 2000)
    results = secant.assess_by(y, score, group, order_by=x)
    for key in ("a", "b"):
        here = group == key
        alone = secant.assess(y[here], score[here], order_by=x[here])
        assert results[key].ecce_r == alone.ecce_r
        assert results[key].worst == alone.worst


def test_days_in_words_numbers_and_pickles():
    rng = np.random.default_rng(0)
    score = rng.uniform(0.2, 0.8, 4000)
    day = np.datetime64("2026-01-01") + rng.integers(0, 200, 4000)
    off = (day >= np.datetime64("2026-03-03")) & (day <= np.datetime64("2026-05-09"))
    result = secant.assess(rng.random(4000) < score - 0.2 * off, score, order_by=day)
    said = str(result)
    assert "2026 predictions were too high by" in said
    assert "Along x: whether predictions are right on average at each x, not at each score." in said
    assert isinstance(result.worst.low, np.datetime64)
    stored = json.loads(json.dumps(result.to_dict()))
    assert stored["axis"]["kind"] == "time"
    assert stored["worst"]["low"] == str(result.worst.low)
    inside = result.between("2026-03-03", dt.date(2026, 5, 9))
    assert inside.n == off.sum()
    assert inside.ci[1] < 0
    assert str(inside).startswith("From March 3 to May 9, 2026, ")
    gone = pickle.loads(pickle.dumps(result))  # noqa: S301  (our own)
    assert str(gone) == said
    assert gone.brier == result.brier
    assert gone.between("2026-03-03", "2026-05-09") == inside
    assert result.curve.score.dtype.kind == "M"
    assert result.between("2030-01-01", "2031-01-01").n == 0
    with pytest.raises(InputError, match="ascending order"):
        result.between("2027-01-01", "2026-01-01")


def test_shapes_along_an_axis_have_their_own_words():
    rng = np.random.default_rng(0)
    score, x = rng.uniform(0.3, 0.7, 4000), rng.random(4000)
    y = rng.random(4000) < score + np.where(x < 0.5, 0.15, -0.15)
    result = secant.assess(y, score, order_by=x)
    assert result.direction == "too low, then too high"
    assert "Miscalibrated: too low, then too high." in str(result)
    assert "extreme" not in str(result.details)
    assert "temperature" not in str(result)
    turned = secant.assess(y, score, order_by=-x)
    assert turned.direction == "too high, then too low"


def test_whole_numbers_beyond_doubles():
    x = 2**60 + np.arange(400)
    rng = np.random.default_rng(0)
    score = np.full(400, 0.5)
    result = secant.assess(rng.random(400) < 0.5, score, order_by=x)
    assert len(result.curve.score) == 401
    assert result.between(2**60 + 7, 2**60 + 7).n == 1
    assert result.between(-1, 2**60 - 1).n == 0
    assert result.between(-np.inf, np.inf).n == 400


@pytest.mark.parametrize("n", [1, 2])
def test_one_row_and_one_place(n):
    result = secant.assess([1] * n, [0.3] * n, order_by=[5] * n)
    assert result.ecce_r.pvalue == pytest.approx(0.3**n, rel=1e-12)
    assert secant.assess([1], [1.0], order_by=[2.5]).ecce_r.pvalue == 1
    assert secant.assess([0], [1.0], order_by=[2.5]).ecce_r.pvalue == 0


def test_wrong_certainties_anywhere_on_the_axis():
    y, score, x = sample(300)
    score[17], y[17] = 0.0, True
    result = secant.assess(y, score, order_by=x)
    assert (result.n_forbidden, result.forbidden) == (1, (17,))
    assert result.certain_scores(0) == (1, 1)
    assert "1 score of exactly 0 or 1 was wrong" in str(result)


def test_what_is_refused():
    y, score, x = sample(50)
    for order, words in (
        (y, "known before what happened"),
        ("day", "the name of a column"),
        (x[1:], "one value a row"),
        (["a"] * 50, "whose order means nothing"),
    ):
        with pytest.raises(InputError, match=words):
            secant.assess(y, score, order_by=order)
    with pytest.raises(InputError, match="known before what happened"):
        secant.assess("y", "s", data={"y": y, "s": score}, order_by="y")
    with pytest.raises(InputError, match="has no column 'z'"):
        secant.assess("y", "s", data={"y": y, "s": score}, order_by="z")
    with pytest.raises(InputError, match="column 'x'"):
        secant.assess("y", "s", data={"y": y, "s": score, "x": ["a"] * 50}, order_by="x")


def test_arrays_that_changed_are_noticed():
    y, score, x = sample(70_000, seed=1)
    result = secant.assess(y, score, order_by=x, method="asymptotic")
    x[:] = x[::-1].copy()
    with pytest.raises(secant.SecantError, match="changed"):
        result.between(0.1, 0.2)


def test_frames():
    pandas, polars = optional("pandas"), optional("polars")
    y, score, x = sample(400)
    columns = {"y": y, "s": score, "x": x, "g": np.arange(400) % 2}
    arrays = secant.assess(y, score, order_by=x)
    for frame in (columns, pandas.DataFrame(columns), polars.DataFrame(columns)):
        result = secant.assess("y", "s", data=frame, order_by="x")
        assert result.ecce_r == arrays.ecce_r
        assert result.axis.name == "x"
        groups = secant.assess_by("y", "s", "g", data=frame, order_by="x")
        assert groups[0].n == 200


@pytest.mark.parametrize("n", [rows.SORT_UP_TO, rows.SORT_UP_TO + 1])
def test_few_places_have_a_finite_sample_pvalue_however_many_rows(n):
    """Intervals of one width: coverage is binomial, and both metrics are the same number."""
    covered = round(0.9 * n - 2.3 * math.sqrt(0.09 * n))
    y, one = np.where(np.arange(n) < covered, 0.0, 5.0), np.ones(n)
    found = secant.assess_coverage(y, -one, one, 0.9)
    alone = secant.assess(np.arange(n) < covered, np.full(n, 0.9))
    assert found.ecce_r.method == found.ecce_mad.method == "exact"
    assert found.ecce_r.pvalue == pytest.approx(alone.ecce_r.pvalue, rel=1e-12)


def test_few_places_of_many_scores_have_laws_that_match(monkeypatch):
    rng = np.random.default_rng(1)
    n = 600
    p, month = rng.random(n), rng.integers(0, 12, n)
    y = rng.random(n) < p
    monkeypatch.setattr(choose, "_MANY_PAIRS", n)
    exact = secant.assess(y, p, order_by=month)
    monkeypatch.setattr(choose, "_MANY_PAIRS", n - 1)
    bound = secant.assess(y, p, order_by=month)
    for name in ("ecce_r", "ecce_mad"):
        one, other = getattr(exact, name), getattr(bound, name)
        assert (one.method, other.method) == ("exact", "upper bound")
        assert one.pvalue <= other.pvalue <= 1.05 * one.pvalue


@pytest.mark.parametrize("places", [None, 5, 3000])
@pytest.mark.parametrize("counted", [False, True])
def test_rare_events_in_cells_of_keys_and_in_order(places, counted, monkeypatch):
    """Cells of keys, or all rows in order: one answer."""
    n = 70_000
    rng = np.random.default_rng(1)
    score = rng.random(n) * 1e-2
    y = rng.random(n) < np.where(np.arange(n) < n / 2, score, 1.6 * score)
    x = np.arange(n) if places is None else np.arange(n) * places // n
    order = rng.permutation(n)
    options = {"order_by": x[order]}
    if counted:
        options |= {"sample_weight": np.ones(n), "weight_kind": "frequency"}
    looked = []
    whole = ordered.KeyCells.add
    monkeypatch.setattr(ordered.KeyCells, "add", lambda *a: looked.append(1) or whole(*a))
    cells = secant.assess(y[order], score[order], **options)
    assert looked
    looked.clear()
    monkeypatch.setattr(rows, "SORT_UP_TO", n)
    found = secant.assess(y[order], score[order], **options)
    assert not looked
    for name in ("ecce_r", "ecce_mad"):
        one, other = getattr(found, name), getattr(cells, name)
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert one.pvalue == pytest.approx(other.pvalue, rel=1e-9)
        assert one.method == other.method
    assert str(found) == str(cells)
