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
from secant.sources import rows as row_source

LEVELS = (0.8, 0.9, 0.95)


def brute_force(y, p, threshold):
    """Return (low, high) of the ranges found by the recursion, over sorted rows without ties."""
    order = np.argsort(p)
    y, p = y[order], p[order]

    def search(first, last):
        path = np.concatenate([[0], np.cumsum((y - p)[first:last])]) / len(p)
        if path.max() - path.min() <= threshold:
            return
        a, b = sorted((int(path.argmin()), int(path.argmax())))
        found.append((path.max() - path.min(), p[first + a], p[first + b - 1]))
        search(first, first + a)
        search(first + b, last)

    found = []
    search(0, len(p))
    return [(low, high) for _, low, high in sorted(found, reverse=True)]


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize("level", LEVELS)
def test_intervals_are_those_of_the_recursion(monkeypatch, cells, level):
    y, p = stepped()
    if cells:
        monkeypatch.setattr(row_source, "SORT_UP_TO", 0)
        monkeypatch.setattr(row_source, "COLLECT_UP_TO", 200)
    result = secant.assess(y, p, confidence_level=level, method="asymptotic")
    sigma_hat = max(result.sigma, math.sqrt(((y - p) ** 2).sum()) / len(p))
    expected = brute_force(y, p, null.range.isf(1 - level) * sigma_hat)
    assert len(expected) >= 2
    assert [(each.low, each.high) for each in result.intervals] == expected


@pytest.mark.parametrize("seed", range(6))
def test_ranges_side_by_side_are_found_to_the_row_and_in_order(seed):
    """Defects that adjoin and change sign, larger towards the middle: each takes all its rows."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.3, 0.7, 6000)
    off = np.array([0.12, -0.2, 0.3, -0.25, 0.16])[((p - 0.3) / 0.08).astype(int)]
    y = (rng.random(6000) < p + off).astype(int)
    result = secant.assess(y, p, method="asymptotic")
    sigma_hat = max(result.sigma, math.sqrt(((y - p) ** 2).sum()) / len(p))
    expected = brute_force(y, p, null.range.isf(0.05) * sigma_hat)
    assert len(expected) >= 5
    assert [(each.low, each.high) for each in result.intervals] == expected


def test_intervals_are_disjoint_and_described_as_any_range_is():
    y, p = stepped()
    result = secant.assess(y, p)
    assert result.intervals[0] == result.worst
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
    assert str(result).startswith("Miscalibrated.")
    assert result.worst.ci[0] < 0
    assert result.intervals == ()


def test_intervals_survive_the_loss_of_the_rows(monkeypatch):
    import pickle

    monkeypatch.setattr(row_source, "SORT_UP_TO", 0)
    y, p = stepped(20_000)
    result = secant.assess(y, p, method="asymptotic")
    kept = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert kept.intervals[0] == result.intervals[0] == result.worst
    for each in kept.intervals:  # the points kept may stop short of a wider range, no more
        assert not each.ci[0] <= 0 <= each.ci[1]


def test_the_chance_of_any_false_interval_stays_at_the_level():
    rng = np.random.default_rng(8)
    draws, n, alpha = 800, 300, 0.1
    p = np.sort(rng.random(n))
    false = sum(
        bool(secant.assess(rng.random(n) < p, p, confidence_level=1 - alpha).intervals)
        for _ in range(draws)
    )
    assert false <= draws * alpha + 3 * math.sqrt(draws * alpha * (1 - alpha))
