r"""P-values of many steps by a walk over pools: where events are rare, or a few scores rule.

The large-sample P-value is far too large where few events are expected, or where a few scores carry
most of the variance. There neighbouring steps are pooled, until a few hundred are left, and
the walk of :mod:`secant._inference.walk` is taken over the pools. It looks at the path at their
ends only, so its barrier is nearer by what the path can do inside one:

- of a pool that expects m of its rarer outcome, twice m: between two of these the path drifts the
  other way, by m in all;
- of a pool of middling scores, 1.2 times its standard deviation (the correction for looking at
  Brownian motion now and then is .583 standard deviations at either end of a range).

A pool has the binomial law with its mean and variance. These laws are matched, not proved, and 1%
is added. Searches over thousands of designs found no P-value below the truth.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._inference.lattice import SCALE, Run, absorbed_in_numpy, log10_share, rounded
from secant._inference.path import compensated_sum, guarded
from secant._inference.walk import Paths, binomials_of_one, exact_runs

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.table import Blocks, Totals

__all__ = ["Steps", "concentration", "cuts", "log10_pvalues", "of_one_event", "pooled", "steps_of"]

# Chances of the rarer outcome up to which a step is rare.
_RARE = 0.02
# A pool of rare steps expects this share of all rarer outcomes, one of others has this share of the
# variance; a step of half as much has a pool of its own.
_RARE_POOLS, _POOLS = 300, 256
# Steps up to which none are pooled.
_FEW = 300
# What looking at ends alone misses of a range, in standard deviations of the largest pool.
_MISSED = 1.2
# Added to logarithms of P, for laws that are matched.
_ADDED = math.log10(1.01)
# Tails of laws that are rarer than exp(-_FAINT) times the P-value are left out.
_FAINT = 16.0
# Nanoseconds in numpy up to which nothing is rounded.
_BUDGET = 6e7
# On a coarser lattice: what rounding may add to the variance of the path, in all.
_ROUNDED = 1 / 800
# By how much rounding the running minimum may raise log P.
_RAISED = 0.02
# Shares of the variance up to which a step does not count as large.
_SMALL = 1 / 4096


class Steps(NamedTuple):
    """Steps of a path: observations, and the mean and variance of the number of events in each."""

    n: IntArray
    mean: FloatArray
    variance: FloatArray


def steps_of(blocks: Blocks, totals: Totals) -> Steps:
    """Return blocks as steps; where weights differ, of as many rows of the same weight each."""
    score = blocks.mean_score
    if blocks.least is None or blocks.moments is None:
        each = blocks.weight * (totals.n / totals.weight)
        variance = np.asarray(each * (each / blocks.n) * score * (1.0 - score), np.float64)
    else:  # along another order blocks hold many scores
        variance = blocks.moments.variance * (totals.n / totals.ww)
    return Steps(blocks.n, blocks.n * score, variance)


def concentration(steps: Steps) -> float:
    """Return how far large steps are from vanishing: the sum of (share of the variance)^1.5."""
    share = steps.variance / steps.variance.sum()
    return float((share[share > _SMALL] ** 1.5).sum())


def cuts(blocks: Blocks, totals: Totals) -> BoolArray:
    """Mark the blocks to resolve so that pools do not depend on where blocks end."""
    steps = steps_of(blocks, totals)
    _, running, alone = _parts(steps)
    before = np.concatenate([[0.0], running[:-1]])
    several = alone | (np.floor(running) != np.floor(before))
    for happened in (blocks.n1, blocks.n0):
        if happened.sum() == 1:  # :func:`of_one_event` asks for its score
            several |= happened == 1
    marked: BoolArray = blocks.open & several
    return marked


def _parts(steps: Steps) -> tuple[IntArray, FloatArray, BoolArray]:
    """Return the kind of each step, how many pools steps up to each fill, and which stay alone."""
    n, mean, variance = steps
    rarer = np.minimum(mean, n - mean)
    chance = _chance(rarer, variance, n)
    kind = np.where(chance > _RARE, 0, np.where(mean < 0.5 * n, 1, 2))
    rare, of_rare = kind > 0, np.where(kind > 0, rarer, 0.0)
    size = np.where(
        rare,
        of_rare * (_RARE_POOLS / max(float(of_rare.sum()), 1e-300)),
        variance * (_POOLS / max(float(variance.sum()), 1e-300)),
    )
    # Each kind is counted by itself, the two kinds of rare steps together.
    running = np.where(rare, np.cumsum(np.where(rare, size, 0)), np.cumsum(np.where(rare, 0, size)))
    return kind, running, size > 0.5


def _chance(rarer: FloatArray, variance: FloatArray, n: IntArray) -> FloatArray:
    """Return the chance of the rarer outcome in binomial laws with these means and variances."""
    # At least that of as many equal chances, whatever rounding has left of the difference.
    return np.maximum(1.0 - variance / np.maximum(rarer, 1e-300), rarer / n)


def pooled(steps: Steps, apart: BoolArray) -> tuple[Steps, float]:
    """Pool neighbouring steps; return the pools, and by how much less they must rise in a range.

    ``apart`` marks steps inside which nothing is left to look at.
    """
    random = steps.variance > 0.0
    n, mean, variance = steps
    steps, apart = Steps(n[random], mean[random], variance[random]), apart[random]
    kind, running, alone = _parts(steps)
    if len(alone) <= _FEW:
        alone[:] = True
    number = np.floor(running)
    new = (kind[1:] != kind[:-1]) | (number[1:] != number[:-1]) | alone[1:] | alone[:-1]
    starts = np.concatenate([[0], np.flatnonzero(new) + 1])
    n, mean, variance = steps
    pools = Steps(*(np.add.reduceat(column, starts) for column in (n, mean, variance)))
    several = (np.diff(starts, append=len(kind)) > 1) | ~apart[starts]
    rarer = np.minimum(pools.mean, pools.n - pools.mean)
    missed = np.where(kind[starts] > 0, 2.0 * rarer, _MISSED * np.sqrt(pools.variance))
    return pools, float(missed[several].max(initial=0.0))


def log10_pvalues(
    steps: Steps, apart: BoolArray, reach: tuple[float, float], log_p: float
) -> tuple[float, float]:
    """Return decimal logarithms of upper bounds of the P-values of ECCE-R and ECCE-MAD.

    Parameters
    ----------
    steps, apart
        As for :func:`pooled`.
    reach
        The range and the largest absolute value of the observed path, in events.
    log_p
        About the logarithm of the smaller P-value.
    """
    pools, missed = pooled(steps, apart)
    expected = float(steps.mean.sum())
    span, deviation = guarded(np.array(reach), max(expected, float(steps.n.sum()) - expected))
    n, mean, variance = pools
    rare = mean < 0.5 * n
    rarer = np.where(rare, mean, n - mean)
    faint = _FAINT + math.log(len(n)) - log_p
    paths = Paths(
        binomials_of_one(rarer, _chance(rarer, variance, n), n, rare, faint),
        n[:, None],
        compensated_sum(mean)[:, None],
        np.array([span - missed]),
        np.array([deviation - 0.5 * missed]),
    )
    rise, band = exact_runs(paths)
    rises = [rise]
    if rise.work > _BUDGET:
        *rises, band = _coarse(paths, _cell(float(variance.sum()), len(n), span))
    mass = [sum(float(absorbed_in_numpy(run).sum()) for run in runs) for runs in (rises, [band])]
    logs = log10_share(np.where(np.array([span, deviation]) - missed <= 0.0, SCALE, mass))
    r, mad = np.minimum(logs + _ADDED, 0.0).tolist()
    return r, mad


def _cell(variance: float, steps: int, span: float) -> float:
    """Return the size of cells such that rounding adds next to nothing to a P-value."""
    # Cells below an event, a whole number to each, round the running minimum alone, by one of them.
    fine = _RAISED / math.log1p(span / variance)
    if fine < 1.0:
        return 1.0 / math.ceil(1.0 / fine)
    return max(min(fine, 2.0 * math.sqrt(_ROUNDED * variance / steps)), 1.0)


def _coarse(paths: Paths, cell: float) -> list[Run]:
    """Describe the same walks on cells of another size: up, down, and between two barriers."""
    runs = []
    rises = (paths.laws, paths.reached), (paths.laws.mirrored(paths.n), paths.missed)
    for laws, reached in rises:
        runs.append((laws, reached, reached + paths.range, True))
    laws, reached = rises[0]
    runs.append((laws, reached - paths.deviation, reached + paths.deviation, False))
    return [
        rounded(
            laws._replace(places=laws.places / cell, first=laws.first / cell),
            low / cell,
            high / cell,
            rests=rests,
        )
        for laws, low, high, rests in runs
    ]


def of_one_event(blocks: Blocks) -> float:
    r"""Return a decimal logarithm of ECCE-R's P-value where one event, or failure, is all there is.

    0 where more than one was expected, or not exactly one happened: P is at most 1.

    Notes
    -----
    Let A < 1 be the expected number. The path falls, jumps by 1 where the event is, and ends above
    the start: its range is 1 - m, with m what the event's own step expects. After two events it is
    larger, without any it is A. So as extreme as one event in a step m are all single events in
    steps that expect no more, and all outcomes of several events. With the chance P0 of none and
    odds o = s/(1 - s) that is P0 (sum of o over such steps) + 1 - P0 (1 + sum of all o), and P0 if
    A >= 1 - m. A block that may hold steps expecting no more than m counts with all its odds, so
    that this is an upper bound; where no score is repeated it is the P-value itself.
    """
    failures = 2 * float(blocks.scored.sum()) > blocks.weight.sum()
    happened = blocks.n0 if failures else blocks.n1
    score = 1.0 - blocks.mean_score if failures else blocks.mean_score
    least, most = blocks.lowest, blocks.highest
    if failures:
        least, most = 1.0 - most, 1.0 - least
    expected = float((blocks.n * score).sum())
    if int(happened.sum()) != 1 or expected >= 1.0 or float(most.max()) >= 1.0:
        return 0.0
    at = int(np.flatnonzero(happened)[0])
    if blocks.open[at] or score[at] == 0.0:
        return 0.0
    own = float(blocks.n[at] * score[at]) * (1.0 + 1e-12) + 8.0 * math.ulp(1.0)
    odds = blocks.n * (score / (1.0 - most))
    none = math.exp(float((blocks.n * np.log1p(-score)).sum()))
    fewer = np.where(blocks.open | (blocks.least is not None), least, blocks.n * score) <= own
    single = float(odds[fewer].sum())
    single_at_least = float((blocks.n * score / (1.0 - least)).sum())
    several = max(1.0 - none - none * single_at_least, 0.0)
    p = none * single + several + (none if expected >= 1.0 - own else 0.0)
    return min(math.log10(p) if p > 0 else -math.inf, 0.0)
