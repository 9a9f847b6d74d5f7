"""The sampler against those it takes the place of."""

import math

import numpy as np
import pytest

from secant._blocks.cell_sums import row_totals
from secant._inference import sampler
from secant._inference.montecarlo import count_exceedances, draw_rows
from secant._inference.sampler import SortedRows, pvalues
from secant._inference.sieve import Sieve
from secant._input.observations import Chunk

DRAWS = 1500


def design(seed):
    """Return rows of a kind that depends on the seed, a bit off, and how they are to be read."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(200, 4000))
    score = [rng.random(n), rng.beta(0.5, 40, n), rng.beta(30, 0.5, n), rng.random(n).round(1)][
        seed % 4
    ]
    weight = rng.lognormal(0, [0.5, 1.0, 1.5, 2.0][seed // 4 % 4], n)
    outcome_weights = (4.0, 1.0) if seed % 5 == 0 else None
    order = np.lexsort((weight, score))
    ends = None
    if seed % 3 == 0:
        order = rng.permutation(n)
        ends = np.union1d(rng.integers(0, n, n // 3), [n - 1])
    score, weight = score[order], weight[order]
    chance = score
    if outcome_weights is not None:
        chance = 4 * score / (1 - score + 4 * score)
    label = (rng.random(n) < np.clip(chance * rng.choice([1, 1.1]), 0, 1)).astype(np.int64)
    return score, weight, label, ends, outcome_weights


def check(found, before):
    for one, other in zip(found, before, strict=True):
        p, q = 10**one.log10, other.pvalue
        error = math.sqrt(max(p, q, 2 / DRAWS) * (1 - min(p, q)) * 2 / DRAWS)
        assert abs(p - q) < 4.5 * error


@pytest.mark.parametrize("seed", range(40))
def test_pvalues_are_those_of_coins(seed, monkeypatch):
    if seed // 4 % 2:
        monkeypatch.setattr(sampler, "_WORK", 0)  # light rows are normal steps
    score, weight, label, ends, outcome_weights = design(seed)
    rng = np.random.default_rng(seed)
    asked = {"rng": rng, "draws": DRAWS, "enough": None, "outcome_weights": outcome_weights}
    before = draw_rows(score, weight, label, ends=ends, **asked)
    check(pvalues(lambda: [SortedRows(score, label, weight, ends)], **asked), before)


@pytest.mark.parametrize("seed", range(4))
def test_pvalues_are_those_of_sifted_rows(seed):
    rng = np.random.default_rng(seed)
    n = 60_000
    score, weight = rng.random(n) * [0.02, 1.0][seed % 2], np.where(np.arange(n) < 60, 600.0, 1.0)
    score[:60] = 0.002
    order = np.lexsort((weight, score))
    score, weight = score[order], weight[order]
    label = (rng.random(n) < score).astype(np.int64)
    options = {"sampling": True, "outcome_weights": None, "log_loss": False}
    sieve = Sieve(row_totals(Chunk(score, label, weight), score * (1 - score), **options))
    sieve.add_all(score, label, weight)
    asked = {"rng": rng, "draws": DRAWS, "enough": None}
    sifted = sieve.sifted()
    before = count_exceedances(sifted, sifted.limits, **asked)
    check(pvalues(lambda: [SortedRows(score, label, weight)], **asked), before)
