"""Walks over pools: never below the exact walk, near it, and the same however blocks are cut."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from secant._blocks.table import Totals, merge
from secant._inference import choose, pooled_walk, walk
from secant._inference.choose import FEW_EVENTS, LARGE_STEPS
from secant._inference.pooled_walk import Steps, concentration, cuts, of_one_event, pooled
from secant._input.observations import observations
from secant._metrics.ecce import extremes
from secant.sources.rows import RowSource
from ties import blocks_of, by_fractions, rows_of, table


def steps_of(score, n, _):
    return Steps(n, n * score, n * score * (1 - score))


def reach(score, n, n1):
    path = np.append(0.0, np.cumsum(n1 - n * score))
    return float(np.ptp(path)), float(np.abs(path).max())


def variance(score, n, _):
    return float((n * score * (1 - score)).sum())


def totals_of(ties):
    _, n, n1 = ties
    rows = int(n.sum())
    v = variance(*ties)
    return Totals(rows, float(rows), float(rows), v, v, float(n1.sum()), third=v)


def exact(ties):
    """Return the exact P-values of any number of steps."""
    return 10.0 ** walk.log10_pvalues([ties], lambda _: 60.0)[0]


def beta(a, b, n):
    return lambda rng: rng.beta(a, b, n)


# About 400 to 700 distinct scores, of little variance or with a few big ties.
DESIGNS = {
    "rare": beta(1, 50, 700),
    "very rare": beta(1, 300, 700),
    "failures": lambda rng: 1 - rng.beta(1, 50, 600),
    "both ends": lambda rng: np.where(rng.random(600) < 0.5, 0, 0.97) + 0.03 * rng.random(600),
    "mixed": lambda rng: np.append(rng.random(90), rng.beta(1, 60, 600)),
    "in turns": lambda rng: np.arange(400) % 2 * 0.12 * rng.random(400) + 0.01 * rng.random(400),
    "big ties": lambda rng: np.append(rng.random(310), np.repeat([0.3, 0.55, 0.8], [400, 50, 700])),
    "near one half": lambda rng: np.append(0.5 + 0.01 * rng.random(305), np.full(600, 0.5)),
    "one big tie": lambda rng: np.append(rng.random(400), np.full(900, 0.31)),
    "big rare ties": lambda rng: np.append(0.01 * rng.random(400), np.repeat([0.02, 0.004], 400)),
}
# What multiplies the odds of scores.
TRUTHS = [1.0, 1.0, 1.6, 0.45, 2.4]


def design(kind, seed):
    rng = np.random.default_rng(seed)
    score = DESIGNS[kind](rng)
    odds = TRUTHS[seed % 5] * score / (1 - score)
    return table(score, rng.random(len(score)) < odds / (1 + odds))


def promised(p):
    """How many times the truth a P-value may be."""
    return 1.5 if p >= 1e-3 else 2.1


# Beside the exact walk ----------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [pooled_walk._BUDGET, 0.0], ids=["keyed", "coarse"])
@pytest.mark.parametrize("kind", DESIGNS)
def test_never_below_the_exact_p_and_near_it(kind, budget, monkeypatch):
    monkeypatch.setattr(pooled_walk, "_BUDGET", budget)
    for seed in range(10):
        ties = design(kind, seed)
        assert variance(*ties) < FEW_EVENTS or concentration(steps_of(*ties)) > LARGE_STEPS
        truth = exact(ties)
        if truth.min() < 1e-12:
            continue
        apart = np.ones(len(ties[0]), bool)
        asked = steps_of(*ties), apart, reach(*ties), math.log(truth.min())
        for log10, p in zip(pooled_walk.log10_pvalues(*asked), truth, strict=True):
            assert p * (1 - 1e-9) <= 10**log10 <= promised(p) * p


@pytest.mark.parametrize("kind", ["rare", "failures", "mixed", "big ties", "near one half"])
@pytest.mark.parametrize("factor", [3.0, 8.0])
def test_far_in_the_tail_it_is_not_below_either(kind, factor):
    """And right in the exponent; ``factor`` is that of the odds of the rarer outcomes."""
    rng = np.random.default_rng(int(factor))
    score = DESIGNS[kind](rng)
    rarer = np.minimum(score, 1 - score)
    happened = rng.random(len(score)) < rarer * factor / (1 + rarer * (factor - 1))
    ties = table(score, happened != (score > 0.5))
    truth = walk.log10_pvalues([ties], lambda _: 700.0)[0]
    assert truth.max() < -5
    log_p = float(truth.min()) * math.log(10)
    apart = np.ones(len(ties[0]), bool)
    found = pooled_walk.log10_pvalues(steps_of(*ties), apart, reach(*ties), log_p)
    for log10, wanted in zip(found, truth, strict=True):
        assert wanted - 1e-9 <= log10 <= wanted + 0.4 - 0.01 * wanted


@pytest.mark.parametrize("shift", [0.0, 0.001, -0.003])
def test_ties_of_very_many_rows_take_cells_wider_than_an_event(shift, monkeypatch):
    monkeypatch.setattr(pooled_walk, "_BUDGET", 0)
    rng = np.random.default_rng(3)
    score = np.array([0.1, 0.3, 0.4, 0.41, 0.7])
    n = np.array([400, 200_000, 90_000, 90_000, 30_000])
    ties = score, n, rng.binomial(n, score + shift)
    assert pooled_walk._cell(variance(*ties), 5, reach(*ties)[0]) > 1.5
    truth = exact(ties)
    asked = steps_of(*ties), np.ones(5, bool), reach(*ties), math.log(truth.min())
    for log10, p in zip(pooled_walk.log10_pvalues(*asked), truth, strict=True):
        assert p * (1 - 1e-9) <= 10**log10 <= promised(p) * p


# Pools --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", DESIGNS)
def test_pools_are_neighbours_of_one_kind_and_lose_nothing(kind):
    ties = design(kind, 0)
    steps = steps_of(*ties)
    pools, missed = pooled(steps, np.ones(len(ties[0]), bool))
    for column, sums in zip(steps, pools, strict=True):
        assert sums.sum() == pytest.approx(column.sum(), rel=1e-12)
    ends = np.searchsorted(np.cumsum(steps.n), np.cumsum(pools.n))
    assert np.cumsum(steps.n)[ends].tolist() == np.cumsum(pools.n).tolist()
    rarer = np.minimum(steps.mean, steps.n - steps.mean)
    # A rare pool expects at most 1/300 of all rare outcomes, others have 1/256 of the variance.
    several = np.diff(ends, prepend=-1) > 1
    assert several.any()
    assert missed <= max(2 * 2 * rarer.sum() / 300, 1.2 * math.sqrt(2 * variance(*ties) / 256))
    starts = np.append(0, ends[:-1] + 1)
    for start, end, inside in zip(starts, ends, several, strict=True):
        score = ties[0][start : end + 1]
        chance = np.minimum(score, 1 - score)
        if inside:
            assert (chance > 0.02).all() or (chance < 0.02 * (1 + 1e-9)).all()
            assert len(set(score < 0.5)) == 1 or (chance > 0.02).all()


@pytest.mark.parametrize("steps", [300, 650])
def test_few_steps_are_not_pooled(steps):
    score = np.full(steps, 0.01)
    found, missed = pooled(steps_of(score, np.ones(steps, int), None), np.ones(steps, bool))
    assert (len(found.n) == steps) == (steps == 300)
    assert (missed == 0.0) == (steps == 300)


def test_steps_that_cannot_vary_are_in_no_pool():
    score = np.sort(np.concatenate([np.zeros(5), np.ones(5), np.linspace(0.001, 0.01, 500)]))
    found, _ = pooled(steps_of(score, np.ones(510, int), None), np.ones(510, bool))
    assert found.n.sum() == 500


def resolved(ties, starts):
    """Merge ties into blocks, cut those marked until none is, and return how many, and P-values."""
    totals, ties = totals_of(ties), blocks_of(*ties)
    blocks = merge(ties, starts)
    while (wanted := cuts(blocks, totals)).any():
        owner = np.searchsorted(blocks.low, ties.low, side="right") - 1
        blocks = blocks.replace(wanted, ties.select(wanted[owner]))
    _, found = extremes(ties, totals.weight)
    source = RowSource(observations(np.zeros(1), np.ones(1)))
    case = choose.Case(blocks, totals, found, source)
    steps = pooled_walk.steps_of(blocks, totals)
    log10 = pooled_walk.log10_pvalues(steps, ~blocks.open, case.reach, case.log_p)
    return len(blocks), np.array(log10)


@pytest.mark.parametrize("rarity", [99, 2000])
@pytest.mark.parametrize("seed", range(6))
def test_pvalues_do_not_depend_on_where_blocks_end(rarity, seed):
    """Blocks across a cut are resolved; the others lie inside one pool whole.

    Their variance is that of mean scores, which is larger by next to nothing; where that moves the
    end of a pool past a tie, P moves by as little as another tie in a pool makes.
    """
    rng = np.random.default_rng(seed)
    score = rng.beta(1, rarity, 2500)
    ties = table(score, rng.random(2500) < 1.3 * score)
    lengths, found = set(), []
    for size in (1, 2, 3):
        length, log10 = resolved(ties, np.arange(0, len(ties[0]), size))
        lengths.add(length)
        found.append(log10)
    length, log10 = resolved(ties, np.unique(np.append(0, rng.integers(0, 2500, 900))))
    assert len(lengths | {length}) == 4
    for each in [*found[1:], log10]:
        assert each == pytest.approx(found[0], abs=1e-5)


# One event ----------------------------------------------------------------------------------------


def one_event(score, at, *, failures=False):
    y = (np.arange(len(score)) == at).astype(int)
    return table(1 - score if failures else score, 1 - y if failures else y)


@given(st.lists(st.integers(1, 250), min_size=2, max_size=8, unique=True), st.data())
def test_one_event_among_scores_that_all_differ(scores, data):
    score = np.array(sorted(scores)) / 2048  # so that 1 - score is a double
    at = data.draw(st.integers(0, len(score) - 1))
    for failures in (False, True):
        ties = one_event(score, at, failures=failures)
        truth = float(by_fractions(*ties)[0])
        found = of_one_event(blocks_of(*ties))
        if score.sum() >= 1:
            assert found == 0.0
        else:
            assert 10**found == pytest.approx(truth, rel=1e-9)


@given(st.lists(st.integers(1, 12), min_size=2, max_size=8), st.data())
def test_one_event_among_scores_of_which_some_are_repeated(scores, data):
    score = np.array(sorted(scores)) / 128
    at = data.draw(st.integers(0, len(score) - 1))
    for failures in (False, True):
        ties = one_event(score, at, failures=failures)
        truth = float(by_fractions(*ties)[0])
        found = of_one_event(blocks_of(*ties))
        assert truth * (1 - 1e-9) <= 10**found <= 1
        # What it counts too much has several events.
        n, several = len(score), 1.0 - float(np.prod(1 - score) * (1 + (score / (1 - score)).sum()))
        assert 10**found <= truth + n * several + 1e-12


@pytest.mark.parametrize("expected", [0.05, 0.3, 0.7])
def test_one_event_of_many_rows(expected):
    """As good as the exact walk; and also where scores stand together in blocks."""
    rng = np.random.default_rng(8)
    score = np.sort(rng.random(700)) * 2 * expected / 700
    for at in (10, 350, 690):
        ties = one_event(score, at)
        truth, blocks = exact(ties)[0], blocks_of(*ties)
        assert 10 ** of_one_event(blocks) == pytest.approx(truth, rel=1e-6)
        starts = np.unique(np.concatenate([np.arange(0, 700, 3), [at, at + 1]]))
        coarse = 10 ** of_one_event(merge(blocks, starts))
        assert truth * (1 - 1e-9) <= coarse <= 1.05 * truth + 0.01 * expected
        found = secant.assess(*rows_of(*ties)).ecce_r.pvalue
        assert truth * (1 - 1e-9) <= found <= 1.5 * truth


def test_where_not_exactly_one_happened_there_is_no_such_formula():
    score = np.linspace(0.001, 0.01, 20)
    for y in (np.zeros(20, int), np.arange(20) < 2):
        assert of_one_event(blocks_of(*table(score, y))) == 0.0
    certain = table([0.1, 0.2, 1.0], [1, 0, 0])
    assert of_one_event(blocks_of(*certain)) == 0.0
