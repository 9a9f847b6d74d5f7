"""The graph of cumulative differences: exact at every point, and the paper's own numbers."""

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import secant
from helpers import DATA
from samples import EXACT, RELATIVE, as_many, assert_covers, copies, gone, predictions
from secant._blocks.table import collapse, merge, with_fixed
from secant._metrics.ecce import bounds, could_hold_an_extreme, extremes, path
from secant.paper import synthetic

CONVERGENCE = json.loads((DATA / "convergence.json").read_text())


def test_cumulative_metrics(case):
    golden, y, p = case
    result = secant.assess(y, p)
    assert result.sigma == pytest.approx(golden["sigma"], **RELATIVE)
    for name in ("ecce_r", "ecce_mad"):
        statistic = getattr(result, name)
        assert statistic.value == pytest.approx(golden[name], **RELATIVE)
        assert statistic.normalized == pytest.approx(golden[f"{name}_normalized"], **RELATIVE)


@pytest.mark.parametrize(
    "golden", CONVERGENCE, ids=lambda c: f"{c['n']}-{c['scores']}-{c['calibrated']}"
)
def test_convergence(golden):
    n = golden["n"]
    p = synthetic.scores(n, golden["scores"])
    blocks = synthetic.responses(
        n, golden["scores"], calibrated=golden["calibrated"], realizations=golden["realizations"]
    )
    bins = {"n_bins": n // 16, "strategy": "quantile", "weighting": "width"}
    rows = []
    for y in blocks:
        result = secant.assess(y, p)
        rows.append(
            [
                secant.ece(y, p, **bins),
                secant.ece(y, p, norm="l2", squared=True, **bins),
                result.ecce_mad.value,
                result.ecce_r.value,
                result.ecce_mad.normalized,
                result.ecce_r.normalized,
            ]
        )
    names = ("ece1", "ece2", "ecce_mad", "ecce_r", "ecce_mad_normalized", "ecce_r_normalized")
    expected = [golden[name] for name in names]
    assert np.mean(rows, axis=0) == pytest.approx(expected, **RELATIVE)


# --- where ----------------------------------------------------------------------------------------


def assert_worst_attains(result, y, p, w):
    worst = result.worst
    assert abs(worst.miscalibration) * worst.weight == pytest.approx(result.ecce_r.value, **EXACT)
    assert worst.low in p
    assert worst.high in p
    assert_covers(worst, y, p, w, (worst.low <= p) & (p <= worst.high))
    assert worst.direction == ("too high" if worst.miscalibration < 0 else "too low")


@given(predictions(), st.booleans())
def test_the_worst_range_attains_ecce_r(data, cut):
    y, p, w, kind = data
    with as_many(cut):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
    if result.ecce_r.value == 0:
        assert (result.worst.n, result.worst.weight, result.worst.direction) == (0, 0, "even")
    else:
        assert_worst_attains(result, *copies(y, p, w, kind))


def test_the_worst_range_of_many_rows(many):
    y, p = many
    assert_worst_attains(secant.assess(y, p), y, p, np.ones(len(y)))
    w = np.random.default_rng(2).lognormal(0, 1, len(y))
    assert_worst_attains(secant.assess(y, p, sample_weight=w, method="asymptotic"), y, p, w)


# --- the curve ------------------------------------------------------------------------------------


def assert_curve(result, y, p, w):
    curve = result.curve
    assert len(curve.score) == len(curve.fraction) == len(curve.difference)
    assert (curve.fraction[0], curve.difference[0]) == (0, 0)
    assert curve.fraction[-1] == pytest.approx(1, **EXACT)
    assert curve.score[0] <= p.min()
    assert p.max() <= curve.score[-1] <= 1
    assert (np.diff(curve.score[1:]) > 0).all()
    assert (np.diff(curve.fraction) > 0).all()
    order = np.argsort(p, kind="stable")
    after = np.searchsorted(p[order], curve.score[1:], side="right")
    for column, gains in ((curve.fraction, w), (curve.difference, w * (y - p))):
        expected = np.concatenate([[0], np.cumsum(gains[order])])[after] / w.sum()
        assert np.abs(column[1:] - expected).max() <= 1e-12
    assert np.ptp(curve.difference) == pytest.approx(result.ecce_r.value, **EXACT)
    assert np.abs(curve.difference).max() == pytest.approx(result.ecce_mad.value, **EXACT)


@given(predictions(), st.booleans())
def test_the_curve_is_exact_at_every_point(data, cut):
    y, p, w, kind = data
    with as_many(cut):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
    if not cut:
        assert result.curve.score[1:].tolist() == sorted(set(p.tolist()))
    assert_curve(result, *copies(y, p, w, kind))


def test_the_curve_of_many_rows(many):
    y, p = many
    assert_curve(secant.assess(y, p), y, p, np.ones(len(y)))
    w = np.random.default_rng(5).lognormal(0, 1, len(y))
    result = secant.assess(y, p, sample_weight=w, method="asymptotic")
    assert_curve(result, y, p, w)
    assert_curve(gone(result), y, p, w)


# --- between the ends of blocks -------------------------------------------------------------------


def many_ties(seed):
    """Return what :func:`tables` draws, of more rows, so that three examples to a law will do."""
    rng = np.random.default_rng(seed)
    p = rng.random(300).round(2)
    w = rng.random(300) + 0.1 if seed % 2 else None
    ties = collapse(p, (rng.random(300) < p**1.5).astype(int), w)
    starts = [0, *np.sort(rng.choice(np.arange(1, len(ties)), 20, replace=False)).tolist()]
    return ties, merge(ties, np.array(starts)), [*starts, len(ties)]


@st.composite
def tables(draw):
    """Return ties and the same cut into wider blocks, with the first tie of each of these."""
    y, p, w, kind = draw(predictions())
    ties = collapse(p + 0.0, y, w, counted=kind == "frequency")
    if w is None and draw(st.booleans()):
        ties = with_fixed(ties)
    later = st.sets(st.integers(1, max(len(ties) - 1, 1)))
    starts = [0, *sorted(start for start in draw(later) if start < len(ties))]
    return ties, merge(ties, np.array(starts)), [*starts, len(ties)]


def heights(ties):
    """Return the path over ties, added up one by one, and the whole weight."""
    weight = float(ties.weight.sum())
    return np.concatenate([[0.0], np.cumsum(ties.gain)]) / weight, weight


@given(tables())
@example(many_ties(0))
@example(many_ties(1))
def test_a_path_over_blocks_is_that_of_their_ties_where_they_end(tables):
    ties, cells, edges = tables
    wanted, weight = heights(ties)
    assert path(cells, weight) == pytest.approx(wanted[edges], rel=0, abs=1e-13)


@given(tables())
@example(many_ties(0))
@example(many_ties(1))
def test_every_block_that_reaches_an_extreme_is_looked_into_and_none_that_cannot(tables):
    ties, cells, edges = tables
    all_heights, weight = heights(ties)
    marked = could_hold_an_extreme(cells, weight)
    ends = all_heights[edges]
    for number, (start, stop) in enumerate(pairwise(edges)):
        here = all_heights[start : stop + 1]
        up, down = ties.up[start:stop].sum() / weight, ties.down[start:stop].sum() / weight
        inside = here[:-1] if len(here) > 2 else here[:1]
        if inside.max() >= all_heights.max() or inside.min() <= all_heights.min():
            assert marked[number]
        if here[0] + up < ends.max() - 1e-12 and here[0] - down > ends.min() + 1e-12:
            assert not marked[number]


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e-100, 1e-290])
def test_a_path_smaller_than_any_guard_is_looked_into_at_its_ends_alone(scale):
    """No event where next to none was expected: it falls all the way."""
    ties = collapse(scale * np.arange(1, 41) / 64, np.zeros(40, int), None)
    cells = merge(ties, np.arange(0, 40, 4))
    marked = could_hold_an_extreme(cells, 40.0)
    assert np.flatnonzero(marked).tolist() == [0, 9]


@given(tables())
@example(many_ties(0))
@example(many_ties(1))
def test_extremes_are_found_by_looking_into_a_few_blocks(tables):
    ties, cells, _ = tables
    wanted, weight = heights(ties)

    def refine(blocks):
        pairs = zip(blocks.low, blocks.high, strict=True)
        inside = [(a <= ties.low) & (ties.low <= b) for a, b in pairs]
        return ties.select(np.any(inside, axis=0))

    blocks, found = extremes(cells, weight, refine)
    ends = path(blocks, weight)
    assert (found.maximum, found.minimum) == (ends[found.argmax], ends[found.argmin])
    assert found.maximum == pytest.approx(wanted.max(), rel=0, abs=1e-13)
    assert found.minimum == pytest.approx(wanted.min(), rel=0, abs=1e-13)
    assert found.ecce_r == pytest.approx(np.ptp(wanted), rel=0, abs=1e-13)
    assert found.ecce_mad == pytest.approx(np.abs(wanted).max(), rel=0, abs=1e-13)
    # Next to an extreme there are ties, so that its score is exact.
    for place in (found.argmax, found.argmin):
        assert not blocks.open[max(place - 1, 0) : place + 1].any()


@given(tables())
@example(many_ties(0))
@example(many_ties(1))
def test_limits_hold_whatever_happens_inside_blocks_and_no_more(tables):
    ties, cells, edges = tables
    true, weight = heights(ties)
    found = bounds(cells, weight)
    # Inside a block of several observations all events may come first, or last.
    ends = true[edges]
    highest, lowest = [ends.max()], [ends.min()]
    for start, stop in pairwise(edges):
        if stop - start > 1:
            highest.append(true[start] + ties.up[start:stop].sum() / weight)
            lowest.append(true[start] - ties.down[start:stop].sum() / weight)
    high, low = max(highest), min(lowest)
    ends_r, ends_mad = np.ptp(ends), np.abs(ends).max()
    for limit, least, truth, most in (
        (found[0], ends_r, np.ptp(true), high - low),
        (found[1], ends_mad, np.abs(true).max(), max(high, -low)),
    ):
        assert limit == pytest.approx((least, most), rel=0, abs=1e-12)
        assert 0 <= limit[0] <= truth <= limit[1]  # without any room for rounding


@pytest.mark.parametrize("n", [1, 40, 3000])
def test_limits_leave_room_for_rounding_and_for_nothing_else(n):
    """Of ties, inside which nothing happens, against fractions."""
    rng = np.random.default_rng(n)
    p, y = rng.random(n), rng.integers(0, 2, n)
    order = np.argsort(p)
    x, heights = Fraction(0), [Fraction(0)]
    for score, happened in zip(p[order].tolist(), y[order].tolist(), strict=True):
        x += happened - Fraction(score)
        heights.append(x)
    found = bounds(collapse(p, y, None), float(n))
    exact = max(heights) - min(heights), max(map(abs, heights))
    for (low, high), value in zip(found, exact, strict=True):
        assert Fraction(low) * n < value < Fraction(high) * n
        assert high - low < 1e-12
