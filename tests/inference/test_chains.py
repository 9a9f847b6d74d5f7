"""Chains against a walk from cell to cell."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given

from secant._inference import chains
from secant._inference.path import observe
from ties import any_chain, every_chain, every_pair, random_ties, tables


def walked(chain, column):
    """Return the mass absorbed, every cell and every outcome by itself."""
    steps, rises = chain.steps, chain.entry is not None
    alive, resting, gone = {} if rises else {0: 1.0}, float(rises), 0.0
    for k in range(len(steps)):
        law = steps.pmf[steps.offset[k] : steps.offset[k + 1]].tolist()
        first = int(steps.first[k]) if law else 0
        law = law or [steps.stay[k], steps.move[k]]
        before, rested, alive, resting = alive, resting, {}, 0.0
        arriving = [
            (cell + count * chain.stride, mass * p)
            for count, p in enumerate(law, first)
            for cell, mass in before.items()
        ]
        for count, p in enumerate(law, first):
            if rises and count > chain.hold[k]:
                cell = chain.entry[k, column] + (count - 1) * chain.stride
                arriving.append((int(cell), rested * p))
            elif rises:
                resting += rested * p
        for cell, mass in arriving:
            if cell >= chain.high[k] or (cell <= chain.low[k] and not rises):
                gone += mass
            elif cell <= chain.low[k]:
                resting += mass
            else:
                alive[cell] = alive.get(cell, 0.0) + mass
    return gone


def assert_walked(ties):
    path, c, span = observe(*ties)
    if len(path) == 0 or not 0 < c <= span:
        return
    for chain in every_chain(path, c, span):
        found = chains.absorbed(chain) / chains.SCALE
        for column, mass in enumerate(found.tolist()):
            # The walk starts with 1: below the least normal number it has no digits.
            assert mass == pytest.approx(walked(chain, column), rel=1e-12, abs=1e-300)


@given(tables())
def test_a_chain_absorbs_what_a_walk_from_cell_to_cell_does(ties):
    assert_walked(ties)


@pytest.mark.parametrize("seed", [0, 2, 7, 8, 9, 11, 12, 13])
def test_longer_chains_and_larger_ties(seed):
    score, n, n1 = random_ties(seed)
    assert_walked((score[:60], n[:60], n1[:60]))


def test_chains_that_no_path_has():
    """Limits may jump by more than a success moves, and doors open anywhere above the minimum."""
    for seed in range(300):
        chain = any_chain(seed)
        found = chains.absorbed(chain) / chains.SCALE
        for column, mass in enumerate(found.tolist()):
            assert mass == pytest.approx(walked(chain, column), rel=1e-12, abs=1e-300), seed


def test_runs_of_single_steps_are_laid_out_afresh(monkeypatch):
    """A buffer that drifts too far changes nothing."""
    rng = np.random.default_rng(1)
    score = np.sort(rng.random(200))
    path, c, span = observe(score, np.ones(200, int), (rng.random(200) < score).astype(int))
    before = [chains.absorbed(each) for each in every_chain(path, c, span)]
    monkeypatch.setattr(chains, "_DRIFT", 1)
    after = [chains.absorbed(each) for each in every_chain(path, c, span)]
    for one, other in zip(before, after, strict=True):
        assert one == pytest.approx(other, rel=1e-13, abs=0)


def every_outcome(ties, c):
    """Return the mass, out of ``SCALE``, of paths that rise or fall by c, outcome by outcome."""
    score, n, _ = ties
    total = 0.0
    for outcome in itertools.product(*(range(size + 1) for size in n.tolist())):
        x = np.concatenate([[0.0], np.cumsum(np.array(outcome) - n * score)])
        chance = [
            math.comb(size, j) * s**j * (1 - s) ** (size - j)
            for size, j, s in zip(n.tolist(), outcome, score.tolist(), strict=True)
        ]
        total += math.prod(chance, start=chains.SCALE) * (x.max() - x.min() >= c)
    return total


@given(tables(most=8))
@example((np.array([0, 5e-324, 0.5, 0.625, 0.75]), np.array([1, 2, 1, 1, 1]), np.arange(5) < 2))
def test_what_rises_or_falls_is_counted_once(ties):
    path, _, c = observe(*ties)
    if len(path) == 0 or c <= 1e-9:
        return
    truth = every_outcome(ties, c)
    for pair in every_pair(path, c):
        found = chains.either(*pair)
        assert found[0] <= truth * (1 + 1e-12)
        assert truth <= found[-1] * (1 + 1e-12)


def test_a_chain_of_one_column_is_left_without_what_the_other_absorbs():
    """Twelve coins that rise or fall by two: of P(rise) + P(fall) a part is counted twice."""
    ties = np.linspace(0.4, 0.6, 12), np.ones(12, int), np.arange(12) % 2
    path = observe(*ties)[0]
    c = 2.0 - 1e-9
    pair = next(every_pair(path, c))
    (found,) = chains.either(*pair)
    apart = sum(chains.absorbed(way)[0] for way in pair)
    assert found == pytest.approx(every_outcome(ties, c), rel=1e-13)
    assert apart > 1.04 * found
