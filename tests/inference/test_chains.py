"""The laws of the steps that chains take."""

import itertools
import math

import numpy as np
import pytest

from helpers import optional
from secant._inference import chains


def test_pools_have_the_law_of_their_rows():
    rng = np.random.default_rng(3)
    score = np.sort(np.concatenate([rng.random(60) * 1e-2, 1 - rng.random(60) * 1e-2]))
    size = rng.integers(1, 4, 120)
    ends = np.array([0, 9, 58, 59, 100, 119])
    steps = chains.make_steps(score, size, ends, 200.0)
    for k, (start, end) in enumerate(itertools.pairwise([-1, *ends.tolist()])):
        law = np.ones(1)
        for s in np.repeat(score[start + 1 : end + 1], size[start + 1 : end + 1]):
            law = np.convolve(law, [1 - s, s])
        first, found = steps.first[k], steps.pmf[steps.offset[k] : steps.offset[k + 1]]
        if end - start == 1 and size[end] == 1:
            assert [steps.stay[k], steps.move[k]] == law.tolist()
        else:
            assert np.allclose(found, law[first : first + len(found)], rtol=1e-12, atol=0)
            assert law.sum() - law[first : first + len(found)].sum() < 1e-15


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("side", ["low", "high"])
def test_mixtures_are_bounded_from_their_mean_and_limits(seed, side):
    """Every probability of the rows, by full convolution, lies between the two laws."""
    rng = np.random.default_rng(seed)
    pools = [[2], [5], [40], [1, 3], [7, 1, 30], [2, 2]]
    spread = rng.choice([1e-9, 1e-3, 0.5, 1.0])
    rows = [
        [0.01 * (1 - spread * rng.random(size)) ** rng.choice([1, 4]) for size in pool]
        for pool in pools
    ]
    grains = [np.sort(grain) for pool in rows for grain in pool]
    mixture = chains.Mixture(
        *(np.array([pick(grain) for grain in grains]) for pick in (np.mean, np.min, np.max))
    )
    size = np.array([len(grain) for grain in grains])
    score = mixture.mean if side == "low" else 1 - mixture.mean
    ends = np.cumsum([len(pool) for pool in pools]) - 1
    lower, upper = (
        chains.make_steps(score, size, ends, 60.0, mixture=mixture, bound=bound)
        for bound in ("lower", "upper")
    )
    for k, pool in enumerate(rows):
        law = np.ones(1)
        for s in np.concatenate(pool):
            law = np.convolve(law, [1 - s, s])
        law = law if side == "low" else law[::-1]
        part = slice(upper.offset[k], upper.offset[k + 1])
        reckoned = law[upper.first[k] :][: part.stop - part.start]
        if sum(pools[k]) > 1 and (part.stop > part.start):
            assert (lower.pmf[part] <= reckoned * (1 + 1e-12)).all()
            assert (reckoned <= upper.pmf[part] * (1 + 1e-12)).all()
            none = 0 if side == "low" else -1
            assert lower.pmf[part][none] == pytest.approx(upper.pmf[part][none], rel=2e-3)


@pytest.mark.parametrize("size", [2, 3, 64, 65, 1000, 10**6])
@pytest.mark.parametrize("p", [1e-9, 1e-3, 0.3, 0.5, 0.999])
def test_laws_of_ties(size, p):
    binom = optional("scipy.stats").binom
    steps = chains.make_steps(np.array([p]), np.array([size]), np.array([0]), 60.0)
    count = steps.first[0] + np.arange(len(steps.pmf))
    assert np.allclose(steps.pmf, binom.pmf(count, size, p), rtol=1e-9, atol=1e-300)
    assert steps.pmf.sum() == pytest.approx(1, rel=1e-12)
    left = binom.cdf(count[0] - 1, size, p) + binom.sf(count[-1], size, p)
    assert left <= 2 * math.exp(-60)
    back = chains.mirrored(chains.mirrored(steps, np.array([size])), np.array([size]))
    assert back.first == steps.first
    assert back.pmf.tolist() == steps.pmf.tolist()
