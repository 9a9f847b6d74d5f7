"""The laws of the steps that chains take, against convolutions and bounds from every row."""

import itertools
import math

import numpy as np
import pytest

from helpers import optional
from secant._inference import step_laws


def test_pools_have_the_law_of_their_rows():
    rng = np.random.default_rng(3)
    score = np.sort(np.concatenate([rng.random(60) * 1e-2, 1 - rng.random(60) * 1e-2]))
    size = rng.integers(1, 4, 120)
    ends = np.array([0, 9, 58, 59, 100, 119])
    steps = step_laws.make_steps(score, size, ends, 200.0)
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
def test_mixtures_are_bounded_from_their_means_and_limits(seed, side):
    """Every probability of the rows, by full convolution, lies between the two laws."""
    rng = np.random.default_rng(seed)
    pools = [[2], [5], [40], [1, 3], [7, 1, 30], [2, 2]]
    spread = rng.choice([1e-9, 1e-3, 0.5, 1.0])
    rows = [
        [0.01 * (1 - spread * rng.random(size)) ** rng.choice([1, 4]) for size in pool]
        for pool in pools
    ]
    grains = [np.sort(grain) for pool in rows for grain in pool]
    known = np.mean, lambda chances: np.mean(chances**2), np.min, np.max
    mixture = step_laws.Mixture(*(np.array([pick(grain) for grain in grains]) for pick in known))
    size = np.array([len(grain) for grain in grains])
    score = mixture.mean if side == "low" else 1 - mixture.mean
    ends = np.cumsum([len(pool) for pool in pools]) - 1
    lower, upper = (
        step_laws.make_steps(score, size, ends, 60.0, mixture=mixture, bound=bound)
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
            likely = reckoned > math.exp(-60)  # what is less so may be left out
            assert (reckoned <= upper.pmf[part] * (1 + 1e-12))[likely].all()
            # Chances of a hundredth: of no rare outcome, one or two they hardly differ.
            both = (lower.pmf[part], upper.pmf[part])
            few, many = both if side == "low" else (law[::-1] for law in both)
            assert few[:2] == pytest.approx(many[:2], rel=2e-3)
            assert few[2:3] == pytest.approx(many[2:3], rel=0.03)


@pytest.mark.parametrize("bound", ["lower", "upper"])
@pytest.mark.parametrize("side", ["low", "high"])
def test_a_mixture_of_one_chance_is_a_tie(side, bound):
    """And then nothing is left open, in pools of them either."""
    chance, size = np.array([1e-3, 2e-3, 4e-3, 1e-2, 5e-3]), np.array([3, 1, 20, 7, 2])
    score, ends = (chance if side == "low" else 1 - chance), np.array([0, 2, 4])
    tie = step_laws.make_steps(score, size, ends, 60.0)
    mixture = step_laws.Mixture(chance, chance**2, chance, chance)
    found = step_laws.make_steps(score, size, ends, 60.0, mixture=mixture, bound=bound)
    assert (found.first == tie.first).all()
    assert found.pmf == pytest.approx(tie.pmf, rel=1e-13, abs=0)


@pytest.mark.parametrize("size", [2, 3, 64, 65, 1000, 10**6])
@pytest.mark.parametrize("p", [1e-9, 1e-3, 0.3, 0.5, 0.999])
def test_laws_of_ties(size, p):
    binom = optional("scipy.stats").binom
    steps = step_laws.make_steps(np.array([p]), np.array([size]), np.array([0]), 60.0)
    count = steps.first[0] + np.arange(len(steps.pmf))
    assert np.allclose(steps.pmf, binom.pmf(count, size, p), rtol=1e-9, atol=1e-300)
    assert steps.pmf.sum() == pytest.approx(1, rel=1e-12)
    left = binom.cdf(count[0] - 1, size, p) + binom.sf(count[-1], size, p)
    assert left <= 2 * math.exp(-60)
    back = step_laws.mirrored(step_laws.mirrored(steps, np.array([size])), np.array([size]))
    assert back.first == steps.first
    assert back.pmf.tolist() == steps.pmf.tolist()


def test_steps_of_several_scores_in_any_company():
    """Single rows, ties, rare pools on either side and mixed steps, one after another."""
    rng = np.random.default_rng(4)
    parts = [
        (rng.random(1), [1]),
        (rng.random(3), [1, 1, 1]),
        (1e-3 * rng.random(5), [3, 1, 40, 2, 1]),
        (rng.random(1), [5]),
        (rng.random(4), [33, 32, 31, 200]),
        (1 - 1e-3 * rng.random(4), [1, 9, 1, 1]),
        (rng.random(1), [300]),
        ([1e-4, 1 - 1e-4], [2, 2]),  # nothing is rare on both sides
        (rng.random(2), [40, 50]),
        (rng.random(32), [1] * 32),
        (rng.random(33), [2] * 33),
    ]
    score, size = (np.concatenate(column) for column in zip(*parts, strict=True))
    ends = np.cumsum([len(part) for part, _ in parts]) - 1
    faint = 40.0
    first, last = step_laws.windows(score, size, ends, faint)
    steps = step_laws.make_steps(score, size, ends, faint)
    assert steps.first.tolist() == first.tolist()
    rare, low_side = step_laws.rare_steps(score, size, ends)
    assert np.flatnonzero(rare).tolist() == [2, 5]
    assert low_side[[2, 5]].tolist() == [True, False]
    for k, (scores, sizes) in enumerate(parts):
        law = np.ones(1)
        for s in np.repeat(scores, sizes):
            law = np.convolve(law, [1 - s, s])
        found = steps.pmf[steps.offset[k] : steps.offset[k + 1]]
        if sum(sizes) == 1:
            assert not found.size
            continue
        assert len(found) == last[k] - first[k] + 1
        reckoned = law[first[k] : last[k] + 1]
        assert found == pytest.approx(reckoned, rel=1e-10, abs=2 * math.exp(-faint))
        assert law[: first[k]].sum() + law[last[k] + 1 :].sum() <= 2 * math.exp(-faint)
        if sum(sizes) <= step_laws.WHOLE and not rare[k]:
            assert (first[k], last[k]) == (0, sum(sizes))


@pytest.mark.parametrize("side", [False, True])
def test_rare_steps_have_their_law_whatever_they_expect(side):
    """On either side of each doubling, and of where they are no longer reckoned together."""
    rng = np.random.default_rng(6)
    means = [1e-9, 0.5, 0.99, 1.01, 1.99, 2.01, 3.99, 4.01, 7.9, 8.1, 15.9, 16.1, 30.0]
    parts = [rng.random(200) for _ in means]
    parts = [part * (mean / part.sum()) for part, mean in zip(parts, means, strict=True)]
    score = np.concatenate(parts)
    score = 1.0 - score if side else score
    size, ends = np.ones(len(score), np.int64), 200 * np.arange(1, len(means) + 1) - 1
    faint = 50.0
    rare, low_side = step_laws.rare_steps(score, size, ends)
    assert rare.tolist() == [mean < step_laws._FEW for mean in means]
    assert (low_side == (not side)).all()
    first, last = step_laws.windows(score, size, ends, faint)
    taps = last - first + 1
    # Steps that expect less are not given the room that others take.
    assert (
        taps[0] == taps[2] < taps[3] == taps[4] < taps[5] == taps[6] < taps[7] == taps[8] < taps[9]
    )
    steps = step_laws.make_steps(score, size, ends, faint)
    for k in range(len(means)):
        law = np.ones(1)
        for s in score[200 * k : 200 * (k + 1)]:
            law = np.convolve(law, [1 - s, s])
        found = steps.pmf[steps.offset[k] : steps.offset[k + 1]]
        reckoned = law[first[k] : last[k] + 1]
        assert found == pytest.approx(reckoned, rel=1e-10, abs=2 * math.exp(-faint))
        assert law[: first[k]].sum() + law[last[k] + 1 :].sum() <= 2 * math.exp(-faint)
