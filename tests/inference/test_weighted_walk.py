"""Walks with jumps: beside all outcomes, beside draws and the exact walk, and far in the tail."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._blocks.sorting import PathRows
from secant._inference import sampler, walk
from secant._inference.tilt import Jumps, rate
from secant._inference.weighted_walk import log10_pvalues
from ties import enumerated, table

# Cells and what is added for them, on the safe side.
NEVER_BELOW = 1 - 1e-9


def jumps(score, weight, outcome_weights):
    """Return chances of events and jumps of rows that were kept in proportion to 1/o0 and 1/o1."""
    if outcome_weights is None:
        return score, weight
    o0, o1 = outcome_weights
    kept0, kept1 = (1 - score) / o0, score / o1
    return kept1 / (kept0 + kept1), weight * (o1 * (1 - score) + o0 * score)


def last_of_ties(score):
    return np.append(np.flatnonzero(np.diff(score)), len(score) - 1)


def truth(score, y, weight, outcome_weights=None, ends=None):
    chance, jump = jumps(score, weight, outcome_weights)
    return enumerated(chance, last_of_ties(score) if ends is None else ends, y, jump)


def pvalues(score, y, weight, outcome_weights=None, ends=None):
    """Return P-values; where too many cells are needed, those of draws take their place."""
    found = log10_pvalues([PathRows(score, y, weight, ends)], outcome_weights)
    return np.array([math.inf] * 2) if found is None else 10.0 ** np.array(found)


# Beside all outcomes ------------------------------------------------------------------------------


WEIGHTS = {
    "nearly equal": lambda rng, n: np.where(rng.random(n) < 0.5, 1.0, 1.001),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "heavy": lambda rng, n: rng.lognormal(0, 2, n),
    "integers": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "tenths": lambda rng, n: rng.integers(1, 9, n) * 0.1,
}
SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "tied": lambda rng, n: rng.random(n).round(1),  # with scores of 0 and 1, and what they forbid
    "rare": lambda rng, n: rng.random(n) ** 5,
    "both ends": lambda rng, n: rng.beta(0.2, 0.2, n),
}


@pytest.mark.parametrize("outcome_weights", [None, (5.0, 1.0), (1.0, 20.0)])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scores", SCORES)
def test_never_below_all_outcomes_and_near_them(scores, weights, outcome_weights):
    rng = np.random.default_rng(len(scores) + len(weights))
    for trial in range(8):
        n = int(rng.integers(1, 12))
        score, weight = np.sort(SCORES[scores](rng, n)), WEIGHTS[weights](rng, n)
        y = rng.integers(0, 2, n) if trial % 2 else (rng.random(n) < score).astype(np.int64)
        found = pvalues(score, y, weight, outcome_weights)
        for p, wanted in zip(found, truth(score, y, weight, outcome_weights), strict=True):
            assert wanted * NEVER_BELOW <= p <= min(1.25 * wanted, 1.0)


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 1), st.integers(-3, 2)), min_size=1, max_size=8
    )
)
def test_weights_of_any_size_are_never_below(rows):
    """From a thousandth to a hundred: what is less than a cell is taken for as extreme."""
    score, y, power = map(np.array, zip(*sorted(rows), strict=True))
    score, weight = score / 12, 10.0**power
    for p, wanted in zip(pvalues(score, y, weight), truth(score, y, weight), strict=True):
        assert p >= wanted * NEVER_BELOW


@pytest.mark.parametrize("lightest", [1e-9, 1e-6, 1e-3])
def test_rows_lighter_than_a_cell_come_first(lightest):
    """Their jump and none end in the same cells, and what goes there is added up."""
    weight = np.append([lightest, 2 * lightest], np.linspace(1, 2, 8))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        score = np.append([0.5, 0.5], np.full(8, 0.6)) if seed % 2 else np.sort(rng.random(10))
        y = (rng.random(10) < score**3).astype(np.int64)
        for p, wanted in zip(pvalues(score, y, weight), truth(score, y, weight), strict=True):
            assert wanted * NEVER_BELOW <= p <= 1.25 * wanted


@pytest.mark.parametrize("seed", range(10))
def test_other_orders(seed):
    """Places hold several scores; the path is looked at where they end."""
    rng = np.random.default_rng(seed)
    score, weight = rng.random(10).round(1), rng.lognormal(0, 1, 10)
    y = (rng.random(10) < score).astype(np.int64)
    ends = np.unique(np.append(rng.integers(0, 10, 5), 9))
    found, wanted = pvalues(score, y, weight, ends=ends), truth(score, y, weight, ends=ends)
    for p, exact in zip(found, wanted, strict=True):
        assert exact * NEVER_BELOW <= p <= 1.25 * exact


# Beside what knows more ---------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1.0, 0.3, 1e-7, 7e5])
@pytest.mark.parametrize("n", [12, 120, 600])
def test_equal_weights_have_the_exact_p(n, weight):
    """Jumps are whole numbers of cells then; only the running minimum is rounded."""
    rng = np.random.default_rng(n)
    for tied, power in ((True, 1.0), (False, 0.8), (True, 0.5)):
        score = np.sort(rng.random(n))
        score = score.round(1) if tied else score
        y = (rng.random(n) < score**power).astype(np.int64)
        exact = 10.0 ** walk.log10_pvalues([table(score, y)], lambda _: 200.0)[0]
        for w in (None, np.full(n, weight)):
            for p, wanted in zip(pvalues(score, y, w), exact, strict=True):
                assert wanted * NEVER_BELOW <= p <= (1.2 if wanted > 0.2 else 1.01) * wanted


@pytest.mark.parametrize("seed", range(3))
def test_beside_many_draws(seed):
    rng = np.random.default_rng(seed)
    score, weight = np.sort(rng.random(900)), rng.lognormal(0, 1.5, 900)
    y = (rng.random(900) < score ** (1 + 0.3 * seed)).astype(np.int64)
    rows, draws = PathRows(score, y, weight), 20_000
    estimates = sampler.pvalues(
        lambda: [rows], rng=np.random.default_rng(1), draws=draws, enough=None
    )
    for p, estimate in zip(pvalues(score, y, weight), estimates, strict=True):
        drawn = 10**estimate.log10
        error = 4 * math.sqrt(drawn * (1 - drawn) / draws)
        assert drawn - error <= p <= 1.25 * (drawn + error)


@pytest.mark.parametrize("sigma", [0.3, 1.5])
def test_far_in_the_tail_p_goes_on(sigma):
    """Below Chernoff's bound for ECCE-MAD, and not below the chance of the outcomes themselves."""
    rng = np.random.default_rng(3)
    score, weight = np.sort(rng.random(400)), rng.lognormal(0, sigma, 400)
    y = (rng.random(400) < 1 - score).astype(np.int64)
    of = Jumps(np.ones(400), score, weight)
    path = np.cumsum(weight * (y - score))
    r, mad = log10_pvalues([PathRows(score, y, weight)])
    c = max(path.max(), -path.min())
    chernoff = np.logaddexp(-rate(of, c, 1), -rate(of, c, -1)) / math.log(10)
    assert -250 < mad <= chernoff < -4
    assert mad > np.log10(np.where(y, score, 1 - score)).sum()
    assert -250 < r < -4


def test_the_most_extreme_outcome_has_its_own_probability():
    score = np.linspace(0.9, 0.999, 60)
    weight = np.random.default_rng(0).lognormal(0, 1, 60)
    found = log10_pvalues([PathRows(score, np.zeros(60, int), weight)])
    assert found == pytest.approx([np.log10(1 - score).sum()] * 2, abs=0.01)


@pytest.mark.parametrize("heavy", [1e3, 1e6, 1e9, 1e30])
@pytest.mark.parametrize("at", range(5))
def test_a_row_that_outweighs_all_others_and_hardly_ever_happens(heavy, at):
    """Its jump is as long as it needs to be; what is less than its rounding is as extreme.

    In a tie with others it takes too many cells.
    """
    score, weight = np.array([0.1, 0.2, 0.3, 0.3, 0.6]), np.array([1.0, 1.0, 2.0, 1.5, 1.2])
    score[at], weight[at], y = 1e-3 / heavy, heavy, np.ones(5, int)
    y[at] = 0
    for ends in (np.arange(5), np.array([1, 4])):
        found, exact = pvalues(score, y, weight, ends=ends), truth(score, y, weight, ends=ends)
        for p, wanted in zip(found, exact, strict=True):
            assert p >= wanted * NEVER_BELOW
            assert heavy > 1e9 or len(ends) == 2 or p <= 1.25 * wanted


# The same answer, and at its ends -----------------------------------------------------------------


def test_pieces_unit_and_sides_do_not_matter():
    rng = np.random.default_rng(5)
    score, weight = np.sort(rng.integers(0, 65, 300) / 64), rng.lognormal(0, 1, 300)
    y = (rng.random(300) < score).astype(np.int64)
    whole = log10_pvalues([PathRows(score, y, weight)])
    cut = last_of_ties(score)[10] + 1
    columns = score, y, weight
    pieces = [
        PathRows(*(each[:cut] for each in columns)),
        PathRows(*(each[cut:] for each in columns)),
    ]
    assert log10_pvalues(pieces) == pytest.approx(whole, abs=1e-12)
    assert log10_pvalues([PathRows(score, y, weight * 2.0**40)]) == pytest.approx(whole, abs=1e-9)
    turned = PathRows(1 - score, 1 - y, weight, last_of_ties(score))
    assert log10_pvalues([turned]) == pytest.approx(whole, abs=1e-5)


def test_rows_that_cannot_vary():
    weight = np.array([2.0, 3.0])
    assert pvalues(np.array([0.0, 1.0]), np.array([0, 1]), weight).tolist() == [1, 1]
    assert pvalues(np.array([0.0, 1.0]), np.array([1, 1]), weight).tolist() == [0, 0]
    right = np.array([0.5, 0.5]), np.array([0, 1]), np.array([2.0, 2.0])
    assert pvalues(*right).tolist() == [1, 1]


def test_jumps_of_outcome_weights_are_those_of_rows_that_were_kept():
    """A row is kept with a chance in proportion to 1/o; its steps are o0 s and o1 (1 - s)."""
    score, weight, (o0, o1) = (
        np.array([0.0, 0.2, 0.9, 1.0]),
        np.array([1.0, 2.0, 3.0, 4.0]),
        (5.0, 2.0),
    )
    chance, jump = jumps(score, weight, (o0, o1))
    kept = score / o1 / (score / o1 + (1 - score) / o0)
    assert chance == pytest.approx(kept)
    assert jump * (1 - chance) == pytest.approx(weight * o1 * (1 - score))
    assert jump * chance == pytest.approx(weight * o0 * score)
