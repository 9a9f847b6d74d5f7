"""Where predictions are off: the ranges that stand out."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from samples import stepped
from secant import null
from secant._metrics.shape import turns
from secant.sources import rows as row_source

LEVELS = (0.8, 0.9, 0.95)


def walked(heights, threshold):
    """Return the turning points of a path, walking along it point by point."""
    low = high = 0
    found, direction = [], 0
    for here in range(1, len(heights)):
        if heights[here] > heights[high]:
            high = here
        if heights[here] < heights[low]:
            low = here
        if direction >= 0 and heights[high] - heights[here] > threshold:
            found.append(high)
            direction, low = -1, here
        elif direction <= 0 and heights[here] - heights[low] > threshold:
            found.append(low)
            direction, high = 1, here
    return [*found, high if direction > 0 else low] if direction else []


def brute_force(y, p, threshold):
    """Return (low, high) of the pieces over sorted rows without ties, in their order."""
    order = np.argsort(p)
    y, p = y[order], p[order]
    heights = np.concatenate([[0], np.cumsum(y - p)]) / len(p)
    return [(p[a], p[b - 1]) for a, b in pairwise(walked(heights, threshold))]


def in_order(result):
    return sorted((each.low, each.high) for each in result.intervals)


STEPS = st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0, 0.37, -0.37]), max_size=60)


@given(STEPS, st.sampled_from([0.5, 1.2, 3.1, 7.3]))
def test_turns_are_those_of_a_walk_point_by_point(steps, threshold):
    heights = np.concatenate([[0], np.cumsum(steps)])
    found = turns(heights, threshold)
    expected = walked(heights, threshold)
    assert len(found) == len(expected) != 1
    for turn, place in zip(found, expected, strict=True):
        assert turn.first <= place <= turn.last
        assert heights[turn.first] == pytest.approx(heights[place], abs=1e-12)
        assert heights[turn.last] == pytest.approx(heights[place], abs=1e-12)
    for left, right in pairwise(found):
        assert left.last < right.first
        assert right.sign == -left.sign
        assert right.sign * (heights[right.first] - heights[left.last]) > threshold


@given(STEPS, st.sampled_from([0.5, 1.2, 3.1, 7.3]))
def test_walking_from_the_right_gives_the_same_pieces(steps, threshold):
    heights = np.concatenate([[0], np.cumsum(steps)])
    last = len(heights) - 1
    there = [(turn.first, turn.last, turn.sign) for turn in turns(heights, threshold)]
    back = [(last - t.last, last - t.first, t.sign) for t in turns(heights[::-1], threshold)]
    assert there == back[::-1]


def test_many_turns_far_apart_and_close_together():
    # Windows of the walk double; turns lie within, at and across their edges.
    for gap in (1, 2, 63, 64, 65, 127, 128, 129, 1000):
        heights = np.concatenate([np.linspace(a, 1 - a, gap + 1)[:-1] for a in [0, 1] * 20])
        assert [turn.first for turn in turns(heights, 0.5)][:-1] == walked(heights, 0.5)[:-1]


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize("level", LEVELS)
def test_intervals_are_the_pieces_of_the_path(monkeypatch, cells, level):
    y, p = stepped()
    if cells:
        monkeypatch.setattr(row_source, "SORT_UP_TO", 0)
        monkeypatch.setattr(row_source, "COLLECT_UP_TO", 200)
    result = secant.assess(y, p, confidence_level=level, method="asymptotic")
    sigma_hat = max(result.sigma, math.sqrt(((y - p) ** 2).sum()) / len(p))
    expected = brute_force(y, p, null.range.isf(1 - level) * sigma_hat)
    assert len(expected) >= 2
    assert in_order(result) == expected
    totals = [abs(each.total) for each in result.intervals]
    assert totals == sorted(totals, reverse=True)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_looking_only_where_it_matters_finds_what_sorting_finds(monkeypatch, seed, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(200, 4000))
    p = rng.beta(*[(1, 1), (0.3, 0.3), (1, 20), (5, 0.5)][seed % 4], n)
    p = np.round(p, 2) if seed % 3 == 0 else p
    lobes, size = rng.integers(1, 9), (0.0, 0.1, 0.3)[seed % 3]
    y = rng.random(n) < np.clip(p + size * np.sin(2 * lobes * np.pi * p), 0, 1)
    w = rng.random(n) + 0.2 if weighted else None
    found = []
    for sort_up_to, collect in ((1 << 16, 1 << 16), (0, 60)):
        monkeypatch.setattr(row_source, "SORT_UP_TO", sort_up_to)
        monkeypatch.setattr(row_source, "COLLECT_UP_TO", collect)
        result = secant.assess(y, p, sample_weight=w, method="asymptotic")
        found.append([(each.low, each.high, each.n) for each in result.intervals])
    assert found[0] == found[1]


def test_few_rows_are_looked_at_again(monkeypatch):
    rng = np.random.default_rng(5)
    p = rng.random(1_000_000)
    y = rng.random(1_000_000) < p + 0.1 * np.sin(8 * np.pi * p)
    result = secant.assess(y, p)
    seen = []
    look = row_source.RowSource.refine
    monkeypatch.setattr(
        row_source.RowSource,
        "refine",
        lambda self, blocks: seen.append(int(blocks.n.sum())) or look(self, blocks),
    )
    assert len(result.intervals) == 8
    assert sum(seen) < 5_000


@pytest.mark.parametrize(
    ("direction", "chance"),
    [
        ("too low", lambda p: p + 0.03 * (1 - p)),
        ("too high", lambda p: 0.97 * p),
        ("too extreme", lambda p: 1 / (1 + (1 / p - 1) ** 0.7)),
        ("too moderate", lambda p: 1 / (1 + (1 / p - 1) ** 1.4)),
        ("alternating", lambda p: p + 0.1 * np.sin(6 * np.pi * p)),
        ("", lambda p: p),
    ],
)
def test_the_direction_has_a_name(direction, chance):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 50_000)
    result = secant.assess(rng.random(50_000) < chance(p), p)
    assert result.direction == direction
    assert result.to_dict()["direction"] == direction
    mirrored = {"too low": "too high", "too high": "too low"}.get(direction, direction)
    turned = secant.assess(rng.random(50_000) >= chance(p), 1 - p)
    assert turned.direction == mirrored


def test_opposite_errors_are_not_added_up():
    """Off by +10, -6 and +10 points: the worst range spans all three, the pieces do not."""
    rng = np.random.default_rng(2)
    p = rng.uniform(0.2, 0.8, 60_000)
    off = np.array([0.1, -0.06, 0.1])[np.minimum(((p - 0.2) / 0.2).astype(int), 2)]
    result = secant.assess(rng.random(60_000) < p + off, p)
    low, middle, high = sorted(result.intervals, key=lambda each: each.low)
    assert (low.direction, middle.direction, high.direction) == ("too low", "too high", "too low")
    assert middle.low == pytest.approx(0.4, abs=0.01)
    assert middle.high == pytest.approx(0.6, abs=0.01)
    assert result.worst.low < 0.21
    assert result.worst.high > 0.79
    assert result.worst not in result.intervals


def test_level_parts_belong_to_no_piece():
    # Between the rise and the fall there are rows whose differences cancel exactly.
    p = np.concatenate([np.full(50, 0.3), np.full(40, 0.5), np.full(50, 0.7)])
    y = np.concatenate([np.ones(50), [0, 1] * 20, np.zeros(50)])
    rise, fall = sorted(secant.assess(y, p).intervals, key=lambda each: each.low)
    assert (rise.low, rise.high, fall.low, fall.high) == (0.3, 0.3, 0.7, 0.7)


def test_intervals_are_disjoint_and_described_as_any_range_is():
    y, p = stepped()
    result = secant.assess(y, p)
    assert {each.direction for each in result.intervals} == {"too high", "too low"}
    for each in result.intervals:
        assert each == result.between(each.low, each.high)
        assert each.ci[0] > 0 or each.ci[1] < 0
    ends = sorted((each.low, each.high) for each in result.intervals)
    assert all(left[1] < right[0] for left, right in pairwise(ends))


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])),
        min_size=1,
        max_size=60,
    ),
    st.booleans(),
)
def test_intervals_of_anything_exclude_zero_and_need_a_finding(rows, random):
    y, p = zip(*rows, strict=True)
    options = {"ties": "random", "rng": 0} if random else {}
    result = secant.assess(y, p, **options)
    if result.ecce_r.pvalue > 1 - 0.95:
        assert result.intervals == ()
    for each in result.intervals:
        assert not each.ci[0] <= 0 <= each.ci[1] or each.mean_score in {0, 1}


def test_no_intervals_without_a_finding():
    rng = np.random.default_rng(3)
    p = rng.random(500)
    result = secant.assess(rng.random(500) < p, p)
    assert result.ecce_r.pvalue > 0.05
    assert result.intervals == ()
    assert result.to_dict()["intervals"] == []


def test_intervals_wait_for_the_pvalue():
    """The limits alone would show some: a P-value above the level forbids them."""
    y, p = stepped()
    result = secant.assess(y, p, method="asymptotic")
    chance = replace(result, ecce_r=replace(result.ecce_r, pvalue=0.051))
    assert len(result.intervals) >= 2
    assert chance.intervals == ()


def test_limits_of_a_verdict_may_include_zero_and_then_no_range_is_named():
    result = secant.assess([1] * 6, [0.5] * 6)  # P = 2/64
    assert str(result).startswith("Probably miscalibrated (P = 0.0312)")
    assert result.worst.ci[0] < 0
    assert result.intervals == ()


def test_intervals_survive_the_loss_of_the_rows(monkeypatch):
    import pickle

    monkeypatch.setattr(row_source, "SORT_UP_TO", 0)
    y, p = stepped(20_000)
    result = secant.assess(y, p, method="asymptotic")
    kept = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert kept.direction == result.direction
    for each in kept.intervals:  # the points kept may stop short of a wider range, no more
        assert not each.ci[0] <= 0 <= each.ci[1]


def test_the_chance_of_any_false_interval_stays_at_the_level():
    rng = np.random.default_rng(8)
    draws, n, alpha = 800, 300, 0.1
    p = np.sort(rng.random(n))
    options = {"confidence_level": 1 - alpha, "method": "asymptotic"}  # P-values play no part
    false = sum(
        bool(secant.assess(rng.random(n) < p, p, **options).intervals) for _ in range(draws)
    )
    assert false <= draws * alpha + 3 * math.sqrt(draws * alpha * (1 - alpha))
