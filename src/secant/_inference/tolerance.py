"""How far off predictions are somewhere, at least; and whether that is beyond a tolerance.

Two ways to know, each better at what the other misses. The path of cumulative differences stays
within a band of its truth everywhere: good for wide ranges, and for any range. The ranges of the
multiscale scan have limits of their own, from their counts: good for narrow ones. These end at
quantiles of the scores, weighted by what is expected, the same ones wherever rows are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant import null
from secant._blocks.looking import resolve
from secant._blocks.table import concatenate, merge
from secant._inference.binomial import log_upper_tail, lower_limit
from secant._inference.clusters import tail
from secant._inference.limits import around, half_width
from secant._inference.multiscale import added, ranges, ties_of
from secant._metrics import steepest as on_the_path
from secant._metrics.ecce import path

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.looking import Refine
    from secant._blocks.table import Blocks, Totals
    from secant._inference.clusters import Flips

__all__ = ["AtQuantiles", "Steepest", "shown_beyond", "steepest"]

# Limits that differ by less are the same but for rounding.
_GUARD = 1e-12
# Ranges that are judged by their counts end at so many quantiles. A sum that is as near to one as
# rounding may have moved it is there.
_QUANTILES = 256
_GUARD_OF_SUMS = 1e-7
# How much rarer than asked for the path's range by the large-sample law may be than by another.
_RARER = 2.0


class Steepest(NamedTuple):
    """A range of scores, its limits, and the one nearer to 0: how far off it is at least."""

    blocks: Blocks
    limits: tuple[float, float]
    at_least: float


def steepest(
    blocks: Blocks,
    totals: Totals,
    confidence_level: float,
    refine: Refine | None,
    flips: Flips | None = None,
    *,
    cells: Blocks | None = None,
) -> Steepest | None:
    """Return the range whose simultaneous limits lie farthest from 0; None if all include it.

    Parameters
    ----------
    blocks, totals
        The observations and their sums.
    confidence_level
        The probability, at least, that the limits of all ranges hold the truth.
    refine
        How to look into a block; without it ranges end where blocks do.
    flips
        What the signs of clusters have shown, where rows belong together.
    cells
        The same observations between quantiles, where these are known.
    """

    def matters(table: Blocks) -> BoolArray:
        on_path, others = _matters(table, totals, confidence_level, flips)
        return on_path | others

    return _found(resolve(blocks, matters, refine), totals, confidence_level, flips, cells)


class AtQuantiles:
    """Has blocks looked into as :func:`steepest` does, while rows are there that will not stay.

    Of rows that do not belong together, and where ECCE-R may be significant.

    Parameters
    ----------
    blocks, totals
        The observations as they were first looked at, and their sums.
    confidence_level
        As of :func:`steepest`.
    """

    def __init__(self, blocks: Blocks, totals: Totals, confidence_level: float) -> None:
        self._first, self._totals, self._level = blocks, totals, confidence_level
        self._cut = np.zeros(len(blocks), bool)
        heights = path(blocks, totals.weight)
        certain = half_width(null.range, totals, min(_RARER * (1 - confidence_level), 1.0))
        self._asked = bool(heights.max() - heights.min() >= certain)

    def marked(self, blocks: Blocks, matters: BoolArray) -> BoolArray:
        """Mark what matters to others, and what the steepest range takes."""
        others = np.zeros(len(blocks), bool)
        if self._asked:
            on_path, others = _matters(blocks, self._totals, self._level, None)
            matters = matters | on_path
        self._cut[self._owner(blocks.select(matters & blocks.open))] = True
        return matters | others

    def taken(self, blocks: Blocks) -> tuple[Blocks, Blocks | None]:
        """Return blocks that others have had cut, and the cells between quantiles, if asked for."""
        if not (self._asked and _exact_counts(self._totals, None)):
            return blocks, None
        first, cells = self._first.select(~self._cut), _between_quantiles(blocks)
        return concatenate([blocks.select(self._cut[self._owner(blocks)]), first]), cells

    def _owner(self, blocks: Blocks) -> IntArray:
        """Return which of the first blocks each block comes from."""
        return np.searchsorted(self._first.low, blocks.low, "right") - 1


def _matters(
    blocks: Blocks, totals: Totals, confidence_level: float, flips: Flips | None
) -> tuple[BoolArray, BoolArray]:
    """Mark the blocks that could hold an end of the steepest range on the path, or a quantile."""
    error = _error(totals, confidence_level, flips)
    half = half_width(null.range, totals, error, flips)
    on_path = on_the_path.could_be_steepest(blocks, totals.weight, half)
    if _exact_counts(totals, flips):
        return on_path, _holds_quantile(blocks)
    return on_path, np.zeros(len(blocks), bool)


def _found(
    blocks: Blocks,
    totals: Totals,
    confidence_level: float,
    flips: Flips | None,
    cells: Blocks | None = None,
) -> Steepest | None:
    """Return the steepest range that ends where blocks do."""
    error = _error(totals, confidence_level, flips)
    by_path = _by_path(blocks, totals, error, flips)
    if not _exact_counts(totals, flips):
        return by_path
    more_than = 0.0 if by_path is None else by_path.at_least
    by_counts = _by_counts(blocks if cells is None else cells, error, more_than)
    return by_path if by_counts is None else by_counts


def _error(totals: Totals, confidence_level: float, flips: Flips | None) -> float:
    """Return how probable an error of the path's limits may be: counts have the other half."""
    return (1 - confidence_level) / (2 if _exact_counts(totals, flips) else 1)


def _holds_quantile(blocks: Blocks) -> BoolArray:
    """Mark the blocks with a quantile inside, not at an end."""
    return _quantiles(blocks)[0]


def _between_quantiles(blocks: Blocks) -> Blocks:
    """Return blocks that end at quantiles: a tie that holds one is alone."""
    inside, at_end = _quantiles(blocks)
    ends = inside[:-1] | inside[1:] | at_end[:-1]
    return merge(blocks, np.append(0, np.flatnonzero(ends) + 1))


def _quantiles(blocks: Blocks) -> tuple[BoolArray, BoolArray]:
    """Tell which blocks have a quantile inside, and which end at one.

    Quantiles share out the events that are expected, and the failures: where events are rare, those
    of all observations would leave next to nothing of the scores at which they are not.
    """
    inside, at_end = np.zeros((2, len(blocks)), bool)
    for expected in (blocks.scored, blocks.weight - blocks.scored):
        reached = np.cumsum(np.maximum(expected, 0))
        if not reached[-1] > 0:
            continue
        reached = reached / reached[-1] * _QUANTILES
        nearest = np.rint(reached)
        near = np.abs(reached - nearest) <= _GUARD_OF_SUMS
        # The last one below the end of a block, and below its beginning.
        last = np.where(near, nearest - 1, np.floor(reached))
        before = np.where(near, nearest, np.floor(reached))
        inside |= last > np.append(0, before[:-1])
        at_end |= near & (nearest > 0) & (nearest < _QUANTILES)
    return inside, at_end


def _exact_counts(totals: Totals, flips: Flips | None) -> bool:
    """Tell whether counts have exact limits: not if they are weighted, nor if rows go together."""
    return totals.equal_weights and flips is None


def shown_beyond(
    blocks: Blocks,
    totals: Totals,
    tolerance: float,
    refine: Refine | None,
    flips: Flips | None = None,
    *,
    cells: Blocks | None = None,
) -> float:
    """Return a P-value for ranges that are truly off by no more than a tolerance.

    It is at most alpha exactly where the path exceeds the tolerance by more than its band at alpha,
    or where the limits of :func:`steepest` at 1 - alpha do. It supposes that chance was ruled out:
    with the P-value of perfect calibration, take the larger.
    """
    most = on_the_path.excess(blocks, totals.weight, tolerance, refine)
    pvalue = tail(null.range, most, totals, flips)
    if _exact_counts(totals, flips):
        if cells is None:
            cells = resolve(blocks, _holds_quantile, refine)
        pvalue = min(pvalue, _pvalue_of_counts(cells, tolerance))
    return pvalue


def _by_path(blocks: Blocks, totals: Totals, error: float, flips: Flips | None) -> Steepest | None:
    half = half_width(null.range, totals, error, flips)
    inside = on_the_path.steepest(blocks, totals.weight, half, None)
    if inside is None:
        return None
    half = half * totals.weight / float(inside.weight.sum())
    return _farther(inside, around(inside, half), 0.0)


def _by_counts(blocks: Blocks, error: float, more_than: float) -> Steepest | None:
    """Return the steepest of the scan's ranges, if it is off by more than some other."""
    counts = _counts(blocks)
    if counts is None:
        return None
    tail = error * counts.share / 2  # half of it on either side
    best = _farthest(counts, tail, more_than)
    if best is None:
        return None
    n1, n, score = (float(each[best]) for each in (counts.n1, counts.n, counts.score))
    # The upper limit is the lower one of failures.
    low, miss = lower_limit([n1, n - n1], n, tail[best]).tolist()
    limits = low - score, 1 - miss - score
    if counts.turned[best]:
        limits = -limits[1], -limits[0]
    inside = counts.blocks.select(slice(int(counts.start[best]), int(counts.stop[best])))
    return _farther(inside, limits, more_than)


def _farthest(counts: _Counts, tail: FloatArray, more_than: float) -> int | None:
    """Return the range with the largest lower limit, if it is larger than some other."""

    def limits(chosen: IntArray) -> FloatArray:
        low = lower_limit(counts.n1[chosen], counts.n[chosen], tail[chosen])
        return low - counts.score[chosen]

    # A good one first. It leaves few that could be better, and these limits take their time.
    rough = counts.gap - np.sqrt(-np.log(tail) / (2 * counts.n))
    good = float(limits(np.array([rough.argmax()]))[0])
    chosen = np.flatnonzero(_could_exceed(counts, tail, max(good * (1 - _GUARD), more_than)))
    if not len(chosen):
        return None
    low = limits(chosen)
    best = int(low.argmax())
    return int(chosen[best]) if low[best] > more_than else None


def _could_exceed(counts: _Counts, tail: FloatArray, value: float) -> BoolArray:
    """Mark the ranges whose lower limit could exceed a value.

    It does where so many events have less than the tail's probability, if their chance is the mean
    score plus the value. The probability of just so many is no more than that, and by Stirling's
    formula at least exp(-n KL) / sqrt(8 k (1 - k/n)).
    """
    limit = np.minimum(counts.score + value, 1)
    rate = counts.n1 / counts.n
    possible = (limit < rate) & (counts.n1 > 0)
    rate, limit, n = rate[possible], limit[possible], counts.n[possible]
    missing = 1 - rate
    entropy = rate * np.log(rate / limit)
    some = missing > 0
    entropy[some] += missing[some] * np.log(missing[some] / (1 - limit[some]))
    spread_out = np.maximum(8 * n * rate * missing, 1)
    possible[possible] = -n * entropy - np.log(spread_out) / 2 <= np.log(tail[possible])
    return possible


def _pvalue_of_counts(blocks: Blocks, tolerance: float) -> float:
    """Return the smallest error at which the limits of any range lie beyond a tolerance."""
    counts = _counts(blocks)
    if counts is None:
        return 1.0
    limit = counts.score + tolerance
    beyond = (counts.gap > tolerance) & (limit < 1)  # what cannot be more than tolerated is not
    if not beyond.any():
        return 1.0
    n1, n, limit = counts.n1[beyond], counts.n[beyond], limit[beyond]
    tails = log_upper_tail(n1, n, limit, 1 - limit) - np.log(counts.share[beyond])
    # Half the error is that of the counts, and half of that is on either side.
    return min(1.0, 4 * math.exp(min(float(tails.min()), 0.0)))


class _Counts(NamedTuple):
    """The ranges of a scan: observations, events, mean score, and share of the error.

    Where fewer events happened than forecast, failures are counted in their place (``turned``).
    """

    blocks: Blocks
    start: IntArray
    stop: IntArray
    n: FloatArray
    n1: FloatArray
    score: FloatArray
    share: FloatArray
    turned: BoolArray

    @property
    def gap(self) -> FloatArray:
        return self.n1 / self.n - self.score


def _counts(blocks: Blocks) -> _Counts | None:
    """Return the ranges of a scan, between quantiles of scores; None where nothing is random."""
    ties, blocks = ties_of(_between_quantiles(blocks))
    if not len(blocks):
        return None
    family = ranges(ties)
    start, stop = family.start, family.stop
    n, n1 = added(ties.n, start, stop), added(ties.n1, start, stop)
    score = np.clip(added(ties.n * ties.score, start, stop) / n, 0, 1)
    turned = n1 < n * score
    n1, score = np.where(turned, n - n1, n1), np.where(turned, 1 - score, score)
    return _Counts(blocks, start, stop, n, n1, score, family.share(), turned)


def _farther(blocks: Blocks, limits: tuple[float, float], more_than: float) -> Steepest | None:
    """Return a range if its limits lie farther from 0 than some other's."""
    at_least = max(limits[0], -limits[1])
    return Steepest(blocks, limits, at_least) if at_least > more_than + _GUARD else None
