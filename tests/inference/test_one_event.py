"""One event where no more was expected: the P-value is known outright."""

import math

import numpy as np
import pytest

import secant
from secant._blocks import grains
from secant._inference import choose
from secant._inference.finite import certified_r, of_one_event
from secant._inference.one_event import log10_bounds
from secant._inference.path import observe
from secant.sources import ordered
from ties import enumerated


def bounds(score, n, n1, ends=None):
    path, _, c = observe(score, n, n1, ends)
    return of_one_event(lambda: [(score, n, n1, ends)], path, c)


@pytest.mark.parametrize("seed", range(60))
def test_enumeration(seed):
    """Distinct scores and ties, steps of several scores, failures, certain rows; A near 1 too."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    score = rng.random(n) * [0.02, 0.1, 1.9 / n][seed % 3]
    if seed % 4 == 1:
        score = np.round(score, 2) + 0.01
    if seed % 4 == 2:
        score[0] = 0.0
    failures = seed % 2
    score = 1 - score if failures else score
    place = rng.integers(0, n, n)
    order = np.lexsort((score, place))
    score, ends = score[order], np.append(np.flatnonzero(np.diff(place[order])), n - 1)
    happened = np.full(n, failures)
    happened[rng.choice(np.flatnonzero((score > 0) & (score < 1)))] = 1 - failures
    rare = 1 - score if failures else score
    found = bounds(score, np.ones(n, np.int64), happened, ends)
    assert found is not None or rare.sum() > 1 or rare.max() > 0.4
    if found is not None:
        truth = math.log10(enumerated(score, ends, happened)[0])
        assert found.low - 1e-12 <= truth <= found.high + 1e-12
        assert found.high - found.low < 1e-9


def test_ties_of_several_rows_are_so_many_rows():
    score, n = np.array([0.01, 0.02, 0.03]), np.array([5, 3, 2])
    happened = np.array([0, 1, 0])
    rows = np.repeat(score, n)
    ends = np.cumsum(n) - 1
    one = np.zeros(10, int)
    one[6] = 1
    truth = math.log10(enumerated(rows, ends, one)[0])
    found = certified_r(score, n, happened)
    assert found.low - 1e-12 <= truth <= found.high + 1e-12
    assert found.high - found.low < 1e-9


@pytest.mark.parametrize(
    ("score", "happened"),
    [
        ([0.1, 0.2], [0, 0]),  # no event
        ([0.1, 0.2], [1, 1]),  # two
        ([0.6, 0.7], [1, 0]),  # more is expected, of either
        ([0.0, 0.2], [1, 0]),  # it was ruled out
        ([0.1, 1.0], [1, 0]),
    ],
)
def test_elsewhere_nothing_is_said(score, happened):
    table = np.array(score), np.ones(2, np.int64), np.array(happened), None
    assert log10_bounds(lambda: [table], failures=False, expected=sum(score)) is None


def test_a_score_next_to_nothing_is_a_failure_next_to_certain():
    score = np.array([5e-324, 0.5, 0.75])
    found = bounds(score, np.ones(3, np.int64), np.array([0, 0, 1]))
    assert found is None


def test_some_ties_at_a_time_are_all_of_them():
    rng = np.random.default_rng(1)
    score, happened = np.sort(rng.random(300) * 0.005), np.zeros(300, np.int64)
    happened[70] = 1
    whole = score, np.ones(300, np.int64), happened, None
    parts = [(*(column[i : i + 50] for column in whole[:3]), None) for i in range(0, 300, 50)]
    asked = {"failures": False, "expected": float(score.sum())}
    one, many = (log10_bounds(lambda t=t: t, **asked) for t in ([whole], parts))
    assert np.allclose(one, many, rtol=0, atol=1e-12)


@pytest.mark.parametrize("along", [False, True])
@pytest.mark.parametrize("expected", [1e-6, 0.01, 0.3, 0.95])
def test_many_rows_have_the_pvalue_of_their_ties(along, expected, monkeypatch):
    """With grains and without: the bounds of grains alone are far apart."""
    rng = np.random.default_rng(2)
    n = 3000
    p, y, x = rng.random(n) * 2 * expected / n, np.zeros(n, bool), rng.permutation(n)
    y[rng.integers(n)] = True
    asked = {"order_by": x} if along else {}
    few = secant.assess(y, p, **asked).ecce_r
    monkeypatch.setattr(choose, "_MANY_ROWS", 1000)
    for module in (grains, ordered):
        monkeypatch.setattr(module, "MANY_TIES", 100)
    many = secant.assess(y, p, **asked).ecce_r
    odds, none = p / (1 - p), math.exp(np.log1p(-p).sum())
    truth = none * odds[p <= p[y]].sum() + 1 - none * (1 + odds.sum())
    for found in (few, many):
        assert truth * (1 - 1e-9) <= found.pvalue
        # Scores within the guard of the observed one count as tied with it.
        near = (p > p[y]) & (p <= p[y] + 3e-12)
        assert found.pvalue <= (truth + none * odds[near].sum()) * (1 + 1e-9)


def test_steps_that_tie_exactly_are_found_to_whatever_their_rows():
    low = float.fromhex("0x1.ad5963011a95cp-22")
    many = low + np.repeat(np.arange(100_000), 8) * 2.0**-73
    half = many[::2] + many[1::2]  # what both places expect adds up to the same
    p, place = np.r_[many, half], np.r_[np.zeros(many.size), np.ones(half.size)]
    found = []
    for event in (0, many.size):
        y = np.zeros(p.size, int)
        y[event] = 1
        found.append(secant.assess(y, p, order_by=place).ecce_r)
    assert found[0].pvalue == pytest.approx(0.47259, abs=1e-5)
    assert found[1].pvalue == pytest.approx(found[0].pvalue, rel=1e-9)
    assert [each.method for each in found] == ["exact", "exact"]
