import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._inference import montecarlo
from secant._inference.finite import certified_r, exact_mad
from secant._inference.montecarlo import Estimate, draw_rows, draw_ties
from ties import enumerated


def rng(seed=0):
    return np.random.default_rng(seed)


def agrees(estimate, p, errors=4.5):
    """Tell whether an estimate is within so many standard errors of the truth."""
    standard_error = math.sqrt(max(p * (1 - p), 1e-5) / estimate.draws)
    return abs(estimate.pvalue - p) <= errors * standard_error + 1 / estimate.draws


WEIGHTED = [
    ([0.1, 0.3, 0.35, 0.6, 0.8], [1.0, 3.0, 0.5, 2.0, 1.0], [1, 0, 1, 1, 0]),
    ([0.2, 0.2, 0.2, 0.7, 0.7], [1.0, 2.0, 4.0, 1.0, 9.0], [1, 1, 0, 0, 0]),
    ([0.0, 0.2, 0.5, 0.5, 1.0], [5.0, 1.0, 0.1, 0.2, 7.0], [0, 1, 1, 1, 1]),
    ([0.5, 0.5, 0.5, 0.5], [1e-30, 1.0, 1.0, 1e30], [1, 1, 1, 1]),
    ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0.1] * 4 + [0.3] * 4, [0, 0, 1, 0, 0, 0, 1, 0]),
]


@pytest.mark.parametrize(("score", "weight", "response"), WEIGHTED)
def test_enumeration_of_weighted_rows(score, weight, response):
    rows = np.array(score), np.array(weight), np.array(response)
    r, mad = draw_rows(*rows, rng=rng(1), draws=40_000)
    score, weight, response = rows
    ends = np.append(np.flatnonzero(np.diff(score)), len(score) - 1)
    truth = enumerated(score, ends, response, weight)
    for estimate, p in zip((r, mad), truth, strict=True):
        assert agrees(estimate, p)


@pytest.mark.parametrize(
    ("score", "n", "n1"),
    [
        ([0.2, 0.4, 0.7], [3, 2, 4], [2, 1, 2]),  # coins
        ([0.2, 0.4, 0.7], [300, 20, 400], [75, 8, 260]),  # counts
        ([0.0, 0.5, 1.0], [3, 2, 4], [0, 2, 4]),
        ([0.0, 0.5, 1.0], [3, 200, 4], [1, 90, 4]),
        ([0.3], [1], [1]),
        ([0.3], [1000], [330]),
    ],
)
def test_ties_against_exact_pvalues(score, n, n1):
    ties = np.array(score), np.array(n), np.array(n1)
    r, mad = draw_ties(*ties, rng=rng(2), draws=40_000)
    assert agrees(mad, 10 ** exact_mad(*ties).high)
    bracket = certified_r(*ties)
    assert any(agrees(r, 10**p) for p in bracket) or 10**bracket.low < r.pvalue < 10**bracket.high


def test_coins_and_counts_are_one_law():
    """The same table by coins and by binomial numbers."""
    score, n, n1 = np.array([0.1, 0.4, 0.6]), np.array([40, 50, 60]), np.array([7, 20, 30])
    counts = draw_ties(score, n, n1, rng=rng(3), draws=40_000)
    response = np.concatenate([[1] * b + [0] * (a - b) for a, b in zip(n, n1, strict=True)])
    weight = np.ones(150)
    weight[0] += 1e-12  # all but equal: as rows
    coins = draw_rows(np.repeat(score, n), weight, response, rng=rng(3), draws=40_000)
    for one, other in zip(counts, coins, strict=True):
        assert one != other
        assert agrees(one, other.pvalue, 6.5)


def weighted_rows(seed, n=300):
    generator = rng(seed)
    score = np.sort(generator.random(n).round(2))
    weight = generator.lognormal(size=n)
    return score, weight, generator.random(n) < score


def test_reproducible():
    rows = weighted_rows(4)
    assert draw_rows(*rows, rng=rng(5), draws=500) == draw_rows(*rows, rng=rng(5), draws=500)
    assert draw_rows(*rows, rng=rng(5), draws=500) != draw_rows(*rows, rng=rng(6), draws=500)


@pytest.mark.parametrize("cells", [1, 7, 299, 300, 301, 1000, 10**6])
def test_memory_does_not_matter(monkeypatch, cells):
    """Batches of any size, and rows cut anywhere, give the same answer."""
    rows = weighted_rows(7)
    ties = np.array([0.2, 0.5, 0.9]), np.array([90, 90, 120]), np.array([18, 50, 104])
    expected = draw_rows(*rows, rng=rng(8), draws=60), draw_ties(*ties, rng=rng(8), draws=60)
    early = draw_rows(*rows, rng=rng(8), draws=60, enough=5)
    monkeypatch.setattr(montecarlo, "_CELLS", cells)
    assert draw_rows(*rows, rng=rng(8), draws=60) == expected[0]
    assert draw_ties(*ties, rng=rng(8), draws=60) == expected[1]
    assert draw_rows(*rows, rng=rng(8), draws=60, enough=5) == early


def test_weights_have_no_scale():
    score, weight, response = weighted_rows(9)
    expected = draw_rows(score, weight, response, rng=rng(10), draws=2000)
    for scale in (2.0**-60, 1e-3, 7.3, 1e9):
        assert draw_rows(score, weight * scale, response, rng=rng(10), draws=2000) == expected


def test_equal_weights_are_no_weights():
    score, _, response = weighted_rows(11)
    distinct, tie = np.unique(score, return_inverse=True)
    n, n1 = np.bincount(tie), np.bincount(tie, weights=response).astype(np.int64)
    expected = draw_ties(distinct, n, n1, rng=rng(12), draws=500)
    for weight in (1.0, 0.1):
        rows = score, np.full(len(score), weight), response
        assert draw_rows(*rows, rng=rng(12), draws=500) == expected


def test_order_within_a_tie_does_not_matter():
    """The statistic is a function of the rows of a tie as a set."""
    score, weight, response = weighted_rows(13)
    r, mad = draw_rows(score, weight, response, rng=rng(14), draws=4000)
    order = np.lexsort([response, score])
    other_r, other_mad = draw_rows(score, weight[order], response[order], rng=rng(15), draws=4000)
    assert agrees(r, other_r.pvalue, 6.5)
    assert agrees(mad, other_mad.pvalue, 6.5)
    # Looked at row by row, a tie with its responses in order would deviate far more.
    assert r.pvalue > 0.01


def test_outcomes_that_tie_with_the_observed_one_count():
    """Weights of .1 and .3: half the outcomes have the same path but for rounding."""
    score, weight = np.array([0.5, 0.5, 0.5, 0.5]), np.array([0.1, 0.1, 0.1, 0.3])
    # |sum w (r - 1/2)| is .3 for 0, 3 and all rows right in two ways each, and at most .3.
    r, mad = draw_rows(score, weight, np.array([1, 1, 1, 1]), rng=rng(16), draws=20_000)
    assert agrees(r, 2 / 16)
    r, mad = draw_rows(score, weight, np.array([0, 0, 0, 1]), rng=rng(16), draws=20_000)
    assert r.pvalue == mad.pvalue == 1.0


@pytest.mark.parametrize("scale", [1e-300, 0.1, 1.0, 1e9 / 7])
def test_weights_add_up_exactly(scale):
    """In any order, so that paths with the same successes are the same; and nearly unchanged."""
    weight = scale * np.where(rng(22).random(100_000) < 0.5, 0.1, 0.3)
    units = montecarlo.in_units(weight)
    sums = np.cumsum(units)
    assert sums[-1] == np.cumsum(units[::-1])[-1] == sum(map(int, units)) < 2**53
    assert np.cumsum(weight)[-1] != np.cumsum(weight[::-1])[-1]  # what this is for
    assert np.allclose(units / sums[-1], weight / math.fsum(weight), rtol=0, atol=2.0**-51)


def test_no_deviation_is_certain():
    r, mad = draw_ties(
        np.array([0.1, 0.3]), np.array([10, 10]), np.array([1, 3]), rng=rng(), draws=99
    )
    assert r == mad == Estimate(1.0, 99, 99)


def test_impossible_has_the_smallest_pvalue():
    score, n, n1 = np.array([0.0, 0.5]), np.array([9, 1]), np.array([5, 1])
    assert draw_ties(score, n, n1, rng=rng(), draws=99) == (Estimate(0.01, 0, 99),) * 2


# --- stopping early -------------------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 8), st.integers(1, 60))
def test_stopping_rule(exceeds, enough, batch):
    """p = h/l where the h-th exceedance comes at draw l, otherwise (1 + b)/(1 + B)."""
    tally = montecarlo._Tally(1.0, enough)
    values = np.array(exceeds, dtype=float)
    for start in range(0, len(values), batch):
        tally.add(values[start : start + batch])
    places = [place for place, exceeding in enumerate(exceeds, start=1) if exceeding]
    if len(places) >= enough:
        last = places[enough - 1]
        assert tally.estimate() == Estimate(enough / last, enough, last)
    else:
        p = (1 + len(places)) / (1 + len(exceeds))
        assert tally.estimate() == Estimate(p, len(places), len(exceeds))


def test_stopping_early_is_looking_at_fewer_draws():
    rows = weighted_rows(17)
    for estimate in draw_rows(*rows, rng=rng(18), draws=5000, enough=20):
        assert estimate.exceedances == 20
        assert estimate.pvalue == 20 / estimate.draws
        assert estimate.draws < 1000
    full = draw_rows(*rows, rng=rng(18), draws=5000, enough=10**6)
    assert full == draw_rows(*rows, rng=rng(18), draws=5000)


@pytest.mark.parametrize("enough", [None, 3])
def test_pvalues_are_valid(enough):
    """Under the null P(p <= a) <= a: 4,000 data sets, within 4 standard errors from above."""
    generator = rng(19)
    score = np.array([0.1, 0.2, 0.2, 0.5, 0.6, 0.9])
    weight = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 1.5])
    found = []
    for _ in range(4000):
        response = generator.random(6) < score
        r, mad = draw_rows(score, weight, response, rng=generator, draws=39, enough=enough)
        found.append((r.pvalue, mad.pvalue))
    for level in (0.025, 0.05, 0.1, 0.3, 0.5):
        rejected = (np.array(found) <= level + 1e-12).mean(axis=0)
        assert np.all(rejected <= level + 4 * math.sqrt(level * (1 - level) / 4000))


def test_progress_is_reported():
    seen = []
    draw_rows(*weighted_rows(20, 5000), rng=rng(), draws=300, progress=lambda *at: seen.append(at))
    assert len(seen) > 3
    assert [made for made, _ in seen] == sorted({made for made, _ in seen})
    assert seen[-1] == (300, 300)


def test_inputs_are_left_alone():
    rows = weighted_rows(21)
    for column in rows:
        column.flags.writeable = False
    draw_rows(*rows, rng=rng(), draws=20)
