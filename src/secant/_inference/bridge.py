r"""The shape of a path: how far it strays once forecasts are shifted to expect what happened.

Let K be the number of events among rows with scores between 0 and 1. Shift the logits of all scores
by the one number theta for which K events are expected: q = expit(logit s + theta), sum q = K. What
is left of the path,

.. math:: B_j = \frac{N_j - \sum_{i \le j} q_i}{\sqrt{\sum q (1 - q)}},

N_j being the events up to the end of step j, starts and ends in 0. Its largest excursion D = max|B|
is the shape's statistic. Given K the law of the path is the same for every theta, since a shift
multiplies the chances of all outcomes with K events by the same number. So the chance of an
excursion as large, given K, is exact: that of rows with chances q whose path leaves a band and ends
in K, over that of ending in K. What has left the band is followed on its way to K too, and P is a
share of sums of positive numbers: a P-value of 1e-200 has its digits.

Outcomes that a score of 0 or 1 forbids move the path that was seen, never the law.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._inference.counts import ADDED, FAINT, in_rows, pool_laws
from secant._inference.lattice import SCALE
from secant._inference.path import compensated_sum
from secant._inference.tilt import Jumps, rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._inference.counts import Law

__all__ = [
    "FEW_ROWS",
    "LARGE",
    "LOOKS",
    "Paths",
    "follow",
    "follow_few_rows",
    "is_brownian",
    "log10_kolmogorov",
    "log10_large",
    "looked_at",
    "observe",
    "shape_of",
    "shifted",
    "shifts",
    "total",
]

# Ends at which a path is looked at, if there are more.
LOOKS = 300
# Rows up to which paths stand side by side, and are followed with all counts that can be.
FEW_ROWS = 128
# From this variance on, with no step of a larger share of it, the path is a Brownian bridge.
LARGE, _LARGEST_STEP = 200.0, 1 / 50
# Beyond this logarithm of P it is asked how far paths of counts stray, taken together in pools.
_NEAR, _POOLS = -4.0, 256
# Variance beyond which steps are counted in units of several events.
_WIDE = 8_000.0
# Paths are left out that stray so far that less than exp(-40) of P is lost.
_BEYOND, _MARGIN = 20.0, 10.0
# What is said of P if doubles hold nothing of it.
_NOTHING = -560.0
# A shift is found once so little is missing; logits are not shifted further than from end to end.
_MISSING, _FARTHEST, _MOST_STEPS = 1e-13, 1_500.0, 200


class Paths(NamedTuple):
    """Paths of several tables side by side, a column each, empty steps below shorter ones.

    Attributes
    ----------
    n, mean, variance
        Rows of each step; mean and variance of the number of events in it, after the shift.
    happened
        How many events there are, which is how many are expected.
    centre
        How many events are expected up to the end of each step.
    ends
        Whether the path is looked at after a step.
    excursion, step
        Where a path is furthest from 0, in events, and after which step; -1 is before the first.
    reach
        How far a path must stray to be as extreme.
    """

    n: IntArray
    mean: FloatArray
    variance: FloatArray
    happened: IntArray
    centre: FloatArray
    ends: BoolArray
    excursion: FloatArray
    step: IntArray
    reach: FloatArray

    @property
    def deviation(self) -> FloatArray:
        """What excursions are divided by."""
        deviation: FloatArray = np.sqrt(total(self.variance))
        return deviation


def total(terms: FloatArray) -> FloatArray:
    """Add up columns, the same bits whatever stands beside them and below."""
    # Where steps are many there is one path alone.
    sums: FloatArray = terms.sum(0) if len(terms) > FEW_ROWS else compensated_sum(terms)[-1]
    return sums


def shifts(score: FloatArray, n: IntArray, happened: IntArray) -> FloatArray:
    """Return how far logits are to be shifted so that each column expects what happened.

    Parameters
    ----------
    score, n
        Scores above 0 and below 1, and rows of each; columns may end in steps without rows.
    happened
        How many events each column is to expect, more than none and fewer than rows.

    Examples
    --------
    >>> theta = shifts(np.array([[0.2], [0.5]]), np.array([[1], [1]]), np.array([1]))
    >>> shifted(np.array([[0.2], [0.5]]), theta)[0].ravel().round(4)
    array([0.3333, 0.6667])
    """
    rows, expected = n.sum(axis=0), total(n * score)
    odds = expected / total(n * (1.0 - score))
    theta: FloatArray = np.log(happened / (rows - happened)) - np.log(odds)
    low, high = np.full_like(theta, -_FARTHEST), np.full_like(theta, _FARTHEST)
    close = _MISSING * np.minimum(happened, rows - happened) + 1e-15 * rows
    left = np.arange(len(theta))
    for _ in range(_MOST_STEPS):  # pragma: no branch - about six are taken
        at = theta[left]
        event, failure = shifted(score[:, left], at)
        gap = total(n[:, left] * event) - happened[left]
        high[left] = np.where(gap > 0.0, at, high[left])
        low[left] = np.where(gap > 0.0, low[left], at)
        missing = np.abs(gap) > close[left]
        if not missing.any():
            break
        slope = np.maximum(total(n[:, left] * event * failure), 1e-300)
        left, ahead = left[missing], (at - gap / slope)[missing]
        inside = (ahead > low[left]) & (ahead < high[left])
        theta[left] = np.where(inside, ahead, 0.5 * (low[left] + high[left]))
    return theta


def shifted(score: FloatArray, theta: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Return the chances of events and of failures after a shift of logits."""
    odds: FloatArray = score * np.exp(np.minimum(theta, 0.0))
    against: FloatArray = (1.0 - score) * np.exp(-np.maximum(theta, 0.0))
    return odds / (odds + against), against / (odds + against)


def looked_at(ends: BoolArray, variance: FloatArray, most: int = LOOKS) -> BoolArray:
    """Leave out ends of steps, so that about as much variance is between those that stay.

    Parameters
    ----------
    ends
        Where a path, the only one, may be looked at.
    variance
        That of each step before any shift: nothing here depends on outcomes.
    most
        How many stay.
    """
    if np.count_nonzero(ends) <= most:
        return ends
    at = np.flatnonzero(ends)
    share = np.cumsum(variance[:, 0])[at]
    # A little less, lest rounding put the end of all beyond the last part.
    part = np.floor(share / share[-1] * (most * (1.0 - 1e-12)))
    looks = np.zeros_like(ends)
    looks[at[np.append(part[1:] != part[:-1], True)]] = True
    return looks


def observe(
    n: IntArray,
    n1: IntArray,
    moments: tuple[FloatArray, FloatArray],
    forbidden: tuple[IntArray, IntArray],
    ends: BoolArray,
    *,
    slack: float = 0.0,
) -> Paths:
    """Return paths, and how far they stray.

    Parameters
    ----------
    n, n1
        Rows and events of each step.
    moments
        Mean and variance of the number of events in each step, after the shift.
    forbidden
        What impossible outcomes add to each path before anything random, and after.
    ends
        Whether the path is looked at after each step.
    slack
        By how much, in events, sums of means may be off.
    """
    mean, variance = moments
    before, after = forbidden
    happened = n1.sum(axis=0)
    centre, share = compensated_sum(mean), np.cumsum(variance, axis=0)
    share /= np.maximum(share[-1], 1e-300)
    centre += share * (happened - centre[-1])  # what a shift that is not exact has left
    seen = np.cumsum(n1, axis=0) - centre + before - share * (before + after)
    far, columns = np.where(ends, np.abs(seen), 0.0), np.arange(n.shape[1])
    step = far.argmax(axis=0)
    first = np.abs(before) > far[step, columns]
    excursion = np.where(first, before, seen[step, columns])
    reach = np.abs(excursion) * (1.0 - 1e-11) - 1e-14 * n.sum(axis=0) - slack
    step = np.where(first, -1, step)
    return Paths(n, mean, variance, happened, centre, ends, excursion, step, reach)


def follow_few_rows(paths: Paths, chances: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return decimal logarithms of P for paths of few rows, all counts of all paths at once."""
    step, row, column, last = in_rows(paths.n)
    rows, many = int(row.max()) + 1, paths.n.shape[1]
    up, stay = np.zeros((rows, many)), np.ones((rows, many))
    up[row, column], stay[row, column] = (each[step, column] for each in chances)
    low, high = np.full((2, rows, many), [[[-1.0]], [[np.inf]]])
    look = last & paths.ends[step, column]  # ties are looked at after their last rows
    at, of = row[look], column[look]
    low[at, of] = np.floor(paths.centre[step[look], of] - paths.reach[of])
    high[at, of] = np.ceil(paths.centre[step[look], of] + paths.reach[of])
    # Of each path: what is inside the band, and what has left it.
    counts = int(paths.happened.max()) + 1
    mass = np.zeros((2, counts, many))
    mass[0, 0] = SCALE
    place = np.arange(counts, dtype=float)[:, None]
    for k in range(rows):
        most = min(k + 1, counts - 1)
        moved = mass[:, :most] * up[k]
        mass[:, : most + 1] *= stay[k]
        mass[:, 1 : most + 1] += moved
        inside, gone = mass[:, : most + 1]
        out = (place[: most + 1] <= low[k]) | (place[: most + 1] >= high[k])
        gone += np.where(out, inside, 0.0)
        inside[out] = 0.0
    inside, gone = mass[:, paths.happened, np.arange(many)]
    logs = np.where(paths.reach > 0.0, _log10(gone, inside), 0.0)
    # Where no outcomes are too rare for doubles, nothing that has left the band is just that.
    with np.errstate(divide="ignore"):  # a chance may be too small for a double itself
        faintest = np.log10(np.where(up > 0.0, np.minimum(up, stay), 1.0)).sum(axis=0)
    logs[(gone == 0.0) & (inside > 0.0) & (paths.reach > 0.0) & (faintest > _NOTHING)] = -np.inf
    return logs


def _log10(gone: FloatArray, inside: FloatArray) -> FloatArray:
    """Return decimal logarithms of the share that is gone; 0 where no path ends like this."""
    whole = gone + inside
    logs = np.where(whole > 0.0, _NOTHING, 0.0)
    whole = np.where(whole > 0.0, whole, 1.0)
    np.log10(gone, out=logs, where=gone > 0.0)
    logs -= np.where(gone > 0.0, np.log10(whole), 0.0)
    share = gone / whole
    # Where the share is a normal number it has more digits than the difference.
    np.log10(share, out=logs, where=share >= np.finfo(np.float64).tiny)
    return logs


def shape_of(
    path: Callable[[BoolArray], Paths],
    ends: BoolArray,
    variance: FloatArray,
    laws: Callable[[IntArray, float], list[Law]],
    large: float,
) -> tuple[Paths, float, bool]:
    """Return one path where it was looked at, log10 P, and whether this is a large sample's.

    Parameters
    ----------
    path
        Returns the path that is looked at some ends of steps.
    ends
        Where it may be.
    variance
        That of each step before any shift.
    laws
        As for :func:`follow`.
    large
        The variance from which on samples are large.
    """
    paths = path(ends)
    starts = np.append(0, np.flatnonzero(ends[:, 0])[:-1] + 1)
    if is_brownian(np.add.reduceat(paths.variance[:, 0], starts), large):
        return paths, log10_large(paths), True
    looks = looked_at(ends, variance)
    if looks is not ends:
        paths = path(looks)
    if paths.variance.sum() <= _WIDE:
        return paths, follow(paths, laws), False
    wide = _coarser(paths)
    n, mean, variance = wide.n[:, 0], wide.mean[:, 0], wide.variance[:, 0]
    log10 = follow(wide, lambda step, faint: pool_laws(n, mean, variance, step, faint)) + ADDED
    return paths, min(log10, 0.0), True


def _coarser(paths: Paths) -> Paths:
    """Count the events of one path in units of several, so that it has no more variance than that.

    Every step has the law with mean and variance that many times smaller; a path that is within
    half a unit of its reach counts.
    """
    times = float(paths.variance.sum()) / _WIDE
    n = np.ceil(paths.n / times).astype(np.int64)
    mean, variance = paths.mean / times, paths.variance / times
    centre, share = compensated_sum(mean), np.cumsum(variance, axis=0) / _WIDE
    happened = np.rint(centre[-1]).astype(np.int64)
    centre += share * (happened - centre[-1])
    reach = paths.reach / math.sqrt(times) - 0.5
    return paths._replace(
        n=n, mean=mean, variance=variance, happened=happened, centre=centre, reach=reach
    )


def follow(paths: Paths, laws: Callable[[IntArray, float], list[Law]]) -> float:
    """Return a decimal logarithm of P for one path of any number of rows.

    Parameters
    ----------
    paths
        The path.
    laws
        Returns the laws of the number of events in steps, given the numbers of these for each step
        of the path, and what to leave out.
    """
    looks = np.flatnonzero(paths.ends[:, 0])
    reach, k = float(paths.reach[0]), int(paths.happened[0])
    if reach <= 0.0:
        return 0.0
    variance = float(paths.variance.sum())
    centre, rows = paths.centre[looks, 0], np.cumsum(paths.n[:, 0])[looks]
    # Excursions of independent rows are at most about as likely as exp(-2 reach^2 / V).
    faint = FAINT + 4.0 * reach * reach / variance
    steps = laws(np.searchsorted(looks, np.arange(len(paths.n))), faint)
    beyond = math.sqrt(reach * reach + _BEYOND * variance) + _MARGIN
    first = np.maximum(np.maximum(np.ceil(centre - beyond), 0), k - (rows[-1] - rows))
    last = np.minimum(np.minimum(np.floor(centre + beyond), k), rows)
    band = np.floor(centre - reach) + 1, np.ceil(centre + reach)
    first[-1] = last[-1] = k
    gone, inside = _walked(steps, *(each.astype(int).tolist() for each in (*band, first, last)))
    return float(_log10(np.array(gone), np.array(inside)))


def _walked(
    laws: list[Law], low: list[int], high: list[int], first: list[int], last: list[int]
) -> tuple[float, float]:
    """Return what is at the end of a path, having left the band from ``low`` to ``high``, or not.

    Counts are kept from ``first`` to ``last`` alone.
    """
    inside, at = np.array([SCALE]), 0
    gone, gone_at = np.zeros(1), 0
    for (fewest, law), a, b, least, most in zip(laws, low, high, first, last, strict=True):
        moved, at = np.convolve(inside, law), at + fewest
        left = np.zeros(most - least + 1)
        _put(np.convolve(gone, law), gone_at + fewest - least, left)
        start = min(max(a - at, 0), len(moved))
        stop = min(max(b - at, start), len(moved))
        _put(moved[:start], at - least, left)
        _put(moved[stop:], at + stop - least, left)
        inside, at = moved[start:stop], at + start
        if not len(inside):
            inside, at = np.zeros(1), a
        gone, gone_at = left, least
    k = last[-1]
    stayed = inside[k - at] if 0 <= k - at < len(inside) else 0.0
    return float(gone[0]), float(stayed)


def _put(values: FloatArray, start: int, cells: FloatArray) -> None:
    """Add values to cells from ``start`` on, without those that are beyond either end."""
    skipped = max(-start, 0)
    stop = min(start + len(values), len(cells))
    if stop > start + skipped:
        cells[start + skipped : stop] += values[skipped : stop - start]


def is_brownian(variance: FloatArray, large: float = LARGE) -> bool:
    """Tell whether a path with steps of these variances strays as a Brownian bridge does."""
    whole = float(variance.sum())
    return whole >= large and float(variance.max()) <= _LARGEST_STEP * whole


def log10_large(paths: Paths) -> float:
    """Return a decimal logarithm of P for one path of so much variance that it is a bridge.

    Notes
    -----
    A bridge strays by c with a probability of about exp(-2 c^2 / V), which is too small far in the
    tail: paths of counts stray further than that. They get to c, up or down, at the step where that
    is likeliest, and back, with a probability of about exp(-I), I the rate of a rise by c up to
    there and of a fall by c from there on (:mod:`secant._inference.tilt`). So sqrt(I / 2) takes the
    place of c / sqrt(V), if that makes P larger. Rows are taken together, which does so too.
    """
    reach = max(float(paths.reach[0]), 0.0)
    plain = log10_kolmogorov(reach / float(paths.deviation[0]))
    if plain > _NEAR:
        return plain
    looks = looked_at(np.ones(paths.n.shape, np.bool_), paths.variance, _POOLS)
    starts = np.append(0, np.flatnonzero(looks)[:-1] + 1)
    n, mean = np.add.reduceat(paths.n[:, 0], starts), np.add.reduceat(paths.mean[:, 0], starts)
    chance = np.clip(mean / n, np.finfo(float).tiny, 1.0 - 2.0**-53)
    exponents = [_exponent(n, chance, reach, sign) for sign in (1, -1)]
    logs = [log10_kolmogorov(math.sqrt(0.5 * each)) for each in exponents]
    tilted = float(np.log10(np.mean(np.power(10.0, np.subtract(logs, max(logs)))))) + max(logs)
    return max(plain, tilted)


def _exponent(n: IntArray, chance: FloatArray, reach: float, sign: int) -> float:
    """Return the least exponent of a path that goes so far up (or down), and back to 0."""

    @cache
    def exponent(at: int) -> float:
        before, after = Jumps(n[:at], chance[:at]), Jumps(n[at:], chance[at:])
        return rate(before, reach, sign) + rate(after, reach, -sign)

    low, high = 1, len(n) - 1
    while high - low > 2:
        third = (high - low) // 3
        if exponent(low + third) <= exponent(high - third):
            high -= third
        else:
            low += third
    return min(exponent(at) for at in range(low, high + 1))


def log10_kolmogorov(excursion: float) -> float:
    """Return a decimal logarithm of the chance that a Brownian bridge strays as far.

    Examples
    --------
    >>> round(10 ** log10_kolmogorov(1.3581), 4)
    0.05
    """
    x = abs(excursion)
    if math.isinf(x):
        return -math.inf
    if x < 0.2:  # below, the chance is 1 - 1e-12 or more
        return 0.0
    terms = (math.copysign(math.exp(-2.0 * x * x * (k * k - 1)), k % 2 - 0.5) for k in range(1, 40))
    share = math.fsum(terms)
    return min((math.log(2.0 * share) - 2.0 * x * x) / math.log(10), 0.0) if share > 0 else 0.0
