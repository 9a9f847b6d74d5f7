"""The steepest range of a path, against all ranges one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import as_many, predictions
from secant._input.observations import observations
from secant._input.options import Reading
from secant._metrics.steepest import excess, steepest
from secant.sources.rows import RowSource

THRESHOLDS = st.sampled_from([1e-6, 0.01, 0.05, 0.2])
TOLERANCES = st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.9])


def source(y, p, w=None, kind="sampling"):
    return RowSource(observations(y, p, w, Reading(kind)))


def every_range(y, p, w=None):
    """Return total, share, first and last score of every range of distinct scores."""
    w = np.ones(len(p)) if w is None else w
    scores = np.unique(p)
    gain = [(w * (y - p))[p == s].sum() / w.sum() for s in scores]
    share = [w[p == s].sum() / w.sum() for s in scores]
    return [
        (sum(gain[a:b]), sum(share[a:b]), scores[a], scores[b - 1])
        for a in range(len(scores))
        for b in range(a + 1, len(scores) + 1)
    ]


def found(rows, threshold, *, refine=True):
    blocks, totals = rows.blocks()
    range_ = steepest(blocks, totals.weight, threshold, rows.refine if refine else None)
    if range_ is None:
        return None
    share = range_.weight.sum() / totals.weight
    value = (abs(range_.gain.sum()) / totals.weight - threshold) / share
    return value, float(range_.low[0]), float(range_.high[-1]), share


@given(predictions(most=14), THRESHOLDS, st.booleans())
def test_it_is_the_steepest_of_all_ranges(data, threshold, many):
    y, p, w, kind = data
    best = max((abs(total) - threshold) / share for total, share, _, _ in every_range(y, p, w))
    with as_many(many):
        answer = found(source(y, p, w, kind), threshold)
    if best <= 1e-9:
        assert answer is None or answer[0] <= 1e-9
        return
    value, low, high, _ = answer
    assert value == pytest.approx(best, rel=1e-9, abs=1e-12)
    inside = (p >= low) & (p <= high)
    weight = np.ones(len(p)) if w is None else w
    total = abs((weight * (y - p))[inside].sum()) / weight.sum()
    share = weight[inside].sum() / weight.sum()
    assert (total - threshold) / share == pytest.approx(best, rel=1e-9, abs=1e-12)


@given(predictions(most=14), TOLERANCES, st.booleans())
def test_the_excess_is_that_of_all_ranges(data, tolerance, many):
    y, p, w, kind = data
    best = max(abs(total) - tolerance * share for total, share, _, _ in every_range(y, p, w))
    with as_many(many):
        rows = source(y, p, w, kind)
        blocks, totals = rows.blocks()
        answer = excess(blocks, totals.weight, tolerance, rows.refine)
        coarse = excess(blocks, totals.weight, tolerance, None)
    assert answer == pytest.approx(max(best, 0.0), rel=0, abs=1e-12)
    assert coarse <= answer + 1e-12


def test_of_equal_ranges_the_narrowest_is_taken():
    # Between two rises of one size the path is level: each of them is as high as both are wide.
    p = np.array([0.3] * 10 + [0.5] * 10 + [0.7] * 10)
    y = np.array([1] * 10 + [0, 1] * 5 + [1, 1, 1] + [1] * 7)
    _, low, high, share = found(source(y, p), 0.05)
    assert (low, high, share) == (0.3, 0.3, pytest.approx(1 / 3))
    y = np.array([1] * 5 + [0] * 5 + [0, 1] * 5 + [1] * 9 + [0])
    assert found(source(y, p), 1e-3)[1:3] == (0.3, 0.3)  # 2 in 10 as well as at 0.7


def test_totals_within_the_threshold_leave_nothing():
    assert found(source([0, 1], [0.5, 0.5]), 1e-9) is None
    assert found(source([1], [0.9]), 0.2) is None
    assert found(source([1], [0.9]), 0.05)[0] == pytest.approx(0.05)


@pytest.mark.parametrize("seed", range(12))
def test_few_looks_find_what_sorting_finds(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    n = 3000
    p = rng.beta(*[(1, 1), (0.3, 0.3), (1, 20), (5, 0.5)][seed % 4], n)
    w = rng.random(n) + 0.2 if seed % 2 else None
    y = rng.random(n) < np.clip(p + 0.3 * ((p > 0.4) & (p < 0.45)), 0, 1)
    expected = found(source(y, p, w), 0.004)
    looks = []
    look = RowSource.refine
    monkeypatch.setattr(
        RowSource, "refine", lambda self, blocks: looks.append(1) or look(self, blocks)
    )
    with as_many(True):
        answer = found(source(y, p, w), 0.004)
        coarse = found(source(y, p, w), 0.004, refine=False)
    assert answer == pytest.approx(expected, rel=1e-9)
    assert coarse is None or coarse[0] <= answer[0] + 1e-12
    assert len(looks) <= 12


@pytest.mark.parametrize("seed", range(8))
def test_with_hardly_a_threshold_the_steepest_range_is_one_score(seed):
    """No range is steeper than the steepest score in it; rounding is larger than what is left."""
    rng = np.random.default_rng(seed)
    p, w = rng.random(40).round(1), rng.random(40) + 0.1
    y = rng.integers(0, 2, 40)
    value, low, high, _ = found(source(y, p, w), 1e-9)
    gaps = {s: abs((w * (y - p))[p == s].sum()) / w[p == s].sum() for s in np.unique(p)}
    assert value == pytest.approx(max(gaps.values()), rel=1e-7)
    assert low == high == max(gaps, key=gaps.get)
