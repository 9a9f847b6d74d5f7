"""Finite-sample P-values along another order: several scores may share a step."""

import math

import numpy as np
import pytest

from secant._inference import chains, finite, step_laws
from secant._inference.finite import certified_mad, certified_r, exact_mad
from secant._inference.montecarlo import draw_rows, draw_ties
from secant._inference.path import observe, pooled, seldom
from ties import enumerated


def random_steps(seed, n=11, certain=False):
    rng = np.random.default_rng(seed)
    score = np.round(rng.random(n), 2)
    if certain:
        score[rng.integers(0, n, 3)] = [0.0, 1.0, 1.0]
    response = (rng.random(n) < score).astype(np.int64)
    ends = np.unique(np.append(rng.integers(0, n, 5), n - 1))
    return score, ends, response


@pytest.mark.parametrize("certain", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_enumeration(seed, certain):
    score, ends, response = random_steps(seed, certain=certain)
    one = np.ones(len(score), np.int64)
    r, mad = enumerated(score, ends, response)
    assert 10 ** exact_mad(score, one, response, ends).high == pytest.approx(mad, rel=1e-12)
    low, high = (10**bound for bound in certified_r(score, one, response, ends))
    assert low * (1 - 1e-12) <= r <= high * (1 + 1e-12)


def test_a_step_of_everything_has_one_number_for_both():
    score, _, response = random_steps(3)
    one, end = np.ones(len(score), np.int64), np.array([len(score) - 1])
    r, mad = enumerated(score, end, response)
    assert r == pytest.approx(mad, rel=1e-12)
    bracket = certified_r(score, one, response, end)
    assert bracket.low == bracket.high
    assert 10**bracket.high == pytest.approx(r, rel=1e-12)


def test_outcomes_that_scores_ruled_out_count_in_what_was_observed():
    score, response = np.array([0.0, 0.5, 1.0, 0.4]), np.array([1, 1, 0, 1])
    one, ends = np.ones(4, np.int64), np.array([0, 2, 3])
    path = np.append(0.0, np.cumsum(response - score)[ends])
    found, deviation, span = observe(score, one, response, ends)
    assert deviation == pytest.approx(np.abs(path).max(), rel=1e-9)
    assert span == pytest.approx(path.max() - path.min(), rel=1e-9)
    assert found.score.tolist() == [0.5, 0.4]
    assert found.ends.tolist() == [0, 1]


@pytest.mark.parametrize("size", [5, 60, 400])
def test_laws_of_several_scores_are_convolutions(size):
    """One coin after the other, in exact order, against laws added in pairs."""
    rng = np.random.default_rng(size)
    score, count = rng.random(size), rng.integers(1, 60, size)
    law = np.ones(1)
    for p, n in zip(score, count, strict=True):
        for _ in range(n):
            law = np.convolve(law, [1 - p, p])
    steps = step_laws.make_steps(score, count, np.array([size - 1]), 60.0)
    first, taps = int(steps.first[0]), int(steps.offset[-1])
    assert steps.pmf == pytest.approx(law[first : first + taps], rel=1e-10, abs=1e-24)
    assert law[:first].sum() + law[first + taps :].sum() < 1e-20


@pytest.mark.parametrize("seed", range(4))
def test_order_of_scores_is_one_of_the_orders(seed):
    """Each score a step of its own: the same number, to the last bit."""
    rng = np.random.default_rng(seed)
    score = np.unique(np.round(rng.random(300), 3))
    n = rng.integers(1, 4, len(score))
    n1 = rng.binomial(n, score)
    ends = np.arange(len(score))
    for compute in (exact_mad, certified_mad, certified_r):
        assert compute(score, n, n1) == compute(score, n, n1, ends)


@pytest.mark.parametrize("seed", range(3))
def test_drawn_and_certified_agree(seed):
    """Heavy ties in the order: 12 steps of 300 rows each, whose scores all differ."""
    rng = np.random.default_rng(seed)
    n = 600
    score = rng.random(n)
    response = (rng.random(n) < np.clip(score + 0.03, 0, 1)).astype(np.int64)
    ends = np.arange(49, n, 50)
    one = np.ones(n, np.int64)
    r, mad = draw_ties(score, one, response, ends, rng=np.random.default_rng(1), draws=20_000)
    error = 4.5 * math.sqrt(mad.pvalue * (1 - mad.pvalue) / 20_000) + 1e-4
    assert abs(mad.pvalue - 10 ** exact_mad(score, one, response, ends).high) < error
    low, high = (10**bound for bound in certified_r(score, one, response, ends))
    assert low - error < r.pvalue < high + error
    assert high - low < 0.02 * high + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_weighted_rows_are_drawn_in_their_order(seed):
    score, ends, response = random_steps(seed, n=9)
    weight = np.random.default_rng(seed).random(9) + 0.2
    r, mad = draw_rows(
        score, weight, response, rng=np.random.default_rng(2), draws=40_000, ends=ends
    )
    truth = enumerated(score, ends, response, weight)
    for estimate, p in zip((r, mad), truth, strict=True):
        assert abs(estimate.pvalue - p) <= 4.5 * math.sqrt(p * (1 - p) / 40_000) + 1e-4


def test_steps_are_pooled_whole():
    """Rare events, three to a step: a pool ends where a step does, and bounds stay bounds."""
    rng = np.random.default_rng(0)
    score = rng.random(3000) * 2e-3
    score[30] = 0.7  # a step with scores on both sides of 1/2 stays alone
    ends = np.arange(2, 3000, 3)
    response = (rng.random(3000) < score).astype(np.int64)
    one = np.ones(3000, np.int64)
    path, _, _ = observe(score, one, response, ends)
    fewer = pooled(path, 0.1)
    assert set(fewer.ends.tolist()) <= set(path.ends.tolist())
    assert 32 in fewer.ends
    assert 29 in fewer.ends
    loose = certified_mad(score, one, response, ends, budget=1)
    exact = exact_mad(score, one, response, ends)
    assert loose.low == loose.high == pytest.approx(exact.high, rel=1e-12)


SIDES = {
    "low": lambda rng: 0.04 * rng.random(600),
    "high": lambda rng: 1 - 0.04 * rng.random(600),
    "blocks of both": lambda rng: np.where(np.arange(600) % 200 < 100, 0.03, 0.97),
    "in turns": lambda rng: np.where(np.arange(600) % 3 > 0, 0.99, 0.02) * rng.random(600) ** 0.01,
    "any": lambda rng: rng.random(600) ** 6,
}


@pytest.mark.parametrize("places", [600, 250])
@pytest.mark.parametrize("kind", SIDES)
@pytest.mark.parametrize("seed", range(4))
def test_looks_that_are_left_out_find_nobody(kind, places, seed):
    """ECCE-MAD's chain absorbs the same with them and without."""
    rng = np.random.default_rng(seed)
    score, one = SIDES[kind](rng), np.ones(600, np.int64)
    ends = np.append(np.sort(rng.permutation(599)[: places - 1]), 599)
    happened = (rng.random(600) < score).astype(np.int64)
    happened[:30] ^= seed % 2
    path, c, _ = observe(score, one, happened, ends)
    fewer = seldom(path, c)
    assert set(fewer.ends.tolist()) <= set(path.ends.tolist())
    if kind in {"low", "high"}:
        assert len(fewer) < len(path) / 3
    whole, found = (finite._mad(each, c, chains)[:2] for each in (path, fewer))
    assert found == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("bound", ["lower", "upper"])
@pytest.mark.parametrize("sides", ["low", "high", "both"])
def test_a_step_of_many_mixtures_has_bounds_of_its_law(sides, bound):
    """Seven events are expected of it: every probability by full convolution."""
    rng = np.random.default_rng(len(sides))
    rows = [0.02 * rng.random(40) ** 2 for _ in range(30)]
    rows.append(np.full(50, 0.03))  # a tie among them
    low = np.arange(31) % 2 > 0 if sides == "both" else np.full(31, sides == "low")
    known = np.mean, lambda chances: np.mean(chances**2), np.min, np.max
    mixture = step_laws.Mixture(*(np.array([pick(each) for each in rows]) for pick in known))
    mixture = mixture._replace(mean=np.append(mixture.mean[:-1], 0.03))
    score = np.where(low, mixture.mean, 1 - mixture.mean)
    size = np.array([len(each) for each in rows])
    law = np.ones(1)
    for is_low, chances in zip(low, rows, strict=True):
        for s in chances if is_low else 1 - chances:
            law = np.convolve(law, [1 - s, s])
    steps = step_laws.make_steps(score, size, np.array([30]), 40.0, mixture=mixture, bound=bound)
    truth = law[steps.first[0] :][: len(steps.pmf)]
    assert truth.sum() > 1 - 1e-12
    likely = truth > math.exp(-40)
    ratio = steps.pmf[likely] / truth[likely]
    assert (ratio <= 1 + 1e-12 if bound == "lower" else ratio >= 1 - 1e-12).all()
    assert np.abs(ratio - 1)[truth[likely] > 0.02].max() < 0.02
