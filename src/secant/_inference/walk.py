r"""P-values by one walk on a lattice: exact for few steps, upper bounds where steps are pooled.

With K_k events and A_k the sum of scores among the observations up to step k, the path is
X_k = K_k - A_k. ECCE-MAD reaches c when K leaves the band A - c < K < A + c; ECCE-R reaches c when
X rises by c above its running minimum, or falls by c below its running maximum. Under perfect
calibration K is a sum of independent counts, so its law is followed cell by cell, step by step, and
what crosses a barrier is taken out and added to P. Only positive numbers are added: a P-value of
1e-200 has the digits of one of .3.

The rise is followed as the height of K - min X on a lattice. Between two events K - min X stays
where it is, so a lattice that has the fractional part of every A_k rounds nothing. A fall is a rise
of the failures. Both run side by side: a path that has just risen by c is at its maximum, so the
walk that waits for a fall has it at rest, and is left without it: P(rise or fall) from one run.

A step is known by the expected number of its rarer outcome and the chance of each. Its law is the
binomial one with that mean and chance: exactly that of a tie; of several scores in one step the law
with the same mean and variance.
"""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._base import extras
from secant._base.progress import reporting
from secant._inference.lattice import (
    PRODUCT,
    SCALE,
    STEP,
    Laws,
    Run,
    absorbed_compiled,
    absorbed_in_numpy,
    between,
    log10_share,
)
from secant._inference.path import compensated_sum, guarded, r_and_mad

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from secant._base.types import BoolArray, FloatArray, IntArray

    # Distinct scores in ascending order; observations and events at each.
    Table = tuple[FloatArray, IntArray, IntArray]

__all__ = [
    "Paths",
    "binomial",
    "binomials_of_one",
    "costs",
    "exact_runs",
    "log10_of_one",
    "log10_pvalues",
    "observe",
    "observe_along",
    "runner",
]

# Observations of a tie up to which its whole law is computed.
_WHOLE = 32
# Tails of a law that are rarer than exp(-_FAINT) times the P-value are left out.
_FAINT = 60.0
# Minus the logarithm of the smallest P-value that a walk can find: it takes no wider laws to tell
# that a P-value is smaller, however many observations a tie has.
_LEAST = (1074.0 + math.log2(SCALE)) * math.log(2.0)
# Cells of all walks that are run together.
_TOGETHER = 1 << 15
# Nanoseconds in numpy, for all that is asked at once, beyond which loading numba pays.
_WORTH_COMPILING = 1e9


@dataclass(frozen=True)
class Paths:
    """The random steps of several paths, a column each, shorter ones filled up with empty steps.

    Attributes
    ----------
    laws
        The number of events in each step.
    n
        Observations of a step.
    reached
        A_k, the expected number of events up to the end of each step.
    range, deviation
        What max X - min X and max |X| must reach to be as extreme as observed.
    """

    laws: Laws
    n: IntArray
    reached: FloatArray
    range: FloatArray
    deviation: FloatArray

    @property
    def missed(self) -> FloatArray:
        """The expected number of failures up to the end of each step."""
        return np.cumsum(self.n, axis=0) - self.reached


def observe(tables: Sequence[Table], faint: float = math.inf) -> Paths:
    """Return the paths of tables of ties, and what they reach.

    "At least as extreme" is as large as observed less a guard of 1e-12 of it and four units in the
    last place of the expected events, or failures if these are more: sums are compensated, and one
    and the same A_k serves the observed path and all others. What is rarer than exp(-faint) is left
    out of the laws of large ties.
    """
    lengths = np.array([len(score) for score, _, _ in tables])
    column = np.repeat(np.arange(len(tables)), lengths)
    starts = np.cumsum(lengths) - lengths
    row = np.arange(len(column)) - starts[column]
    score, n, n1 = (np.concatenate(each) for each in zip(*tables, strict=True))
    shape = int(lengths.max()), len(tables)
    # A score of 1 is an event for certain, and moves the path by what is missing from that.
    certain = score >= 1.0
    terms, happened = np.zeros(shape), np.zeros(shape, np.int64)
    terms[row, column] = np.where(certain, 0.0, n * score)
    happened[row, column] = np.where(certain, n1 - n, n1)
    reached = compensated_sum(terms)
    x = np.cumsum(happened, axis=0) - reached
    expected = np.bincount(column, n * score, len(tables))
    expected = np.maximum(expected, np.bincount(column, n, len(tables)) - expected)
    random = (score > 0.0) & ~certain
    before: IntArray = np.cumsum(random) - random
    at = (before - before[starts][column])[random], column[random]
    shape = int(np.bincount(column, random, len(tables)).max()), len(tables)

    def laid_out(values: Any, fill: Any = 0) -> Any:
        laid = np.full(shape, fill, np.asarray(values).dtype)
        laid[at] = values
        return laid

    counts = laid_out(n[random])
    return Paths(
        _binomials(laid_out(score[random], 0.5), counts, faint),
        counts,
        np.maximum.accumulate(laid_out(reached[row[random], column[random]]), axis=0),
        *guarded(r_and_mad(x.T).T, expected),
    )


def observe_along(
    score: FloatArray, n: IntArray, n1: IntArray, ends: IntArray, faint: float = math.inf
) -> Paths:
    """Return the path along another order than that of scores, in which steps hold several scores.

    Parameters
    ----------
    score, n, n1
        Scores, observations and events, in the order of the path.
    ends
        The last entry of each step. Its law is that of a sum of binomial counts.
    faint
        As for :func:`observe`.
    """
    certain = score >= 1.0
    terms = np.where(certain, 0.0, n * score)
    reached = compensated_sum(terms)[ends]
    x = np.cumsum(np.where(certain, n1 - n, n1))[ends] - reached
    random = (score > 0.0) & ~certain
    step = np.searchsorted(ends, np.arange(len(score)))
    laws: list[tuple[int, FloatArray]] = [(0, np.ones(1))] * len(ends)
    for k, s, count in zip(*(each[random].tolist() for each in (step, score, n)), strict=True):
        chance = min(s, 1.0 - s)
        fewest, pmf = binomial(count * chance, chance, count, rare=s < 0.5, faint=faint)
        laws[k] = laws[k][0] + fewest, np.convolve(laws[k][1], pmf)
    expected = float((n * score).sum())
    expected = max(expected, float(n.sum()) - expected)
    span, deviation = guarded(r_and_mad(x)[:, None], expected)
    counts = np.bincount(step, n * random, len(ends)).astype(np.int64)
    return Paths(_of_one(laws), counts[:, None], reached[:, None], span, deviation)


def binomials_of_one(
    means: FloatArray, chances: FloatArray, sizes: IntArray, rarer: BoolArray, faint: float
) -> Laws:
    """Return binomial laws of the steps of one path, whose sizes mean / chance need not be whole.

    Parameters
    ----------
    means, chances
        How many of its rarer outcome a step expects, and the chance of it of each observation.
    sizes
        Observations of each step.
    rarer
        Whether events are rarer than failures.
    faint
        What is rarer than exp(-faint) is left out.
    """
    each = zip(*(column.tolist() for column in (means, chances, sizes, rarer)), strict=True)
    return _of_one([binomial(*step, rare=rare, faint=faint) for *step, rare in each])


def _of_one(laws: list[tuple[int, FloatArray]]) -> Laws:
    first, chances = zip(*laws, strict=True)
    sizes = [len(each) for each in chances]
    places = np.concatenate([np.arange(size) for size in sizes])
    columns = np.concatenate(chances)[:, None], np.array(first)[:, None]
    return Laws(np.cumsum([0, *sizes]), places, *columns)


# --- exact P-values -------------------------------------------------------------------------------


def log10_pvalues(
    tables: Sequence[Table], faint: Callable[[int], float] | None = None
) -> FloatArray:
    """Return decimal logarithms of the exact P-values of ECCE-R and ECCE-MAD, a row each.

    Parameters
    ----------
    tables
        The ties of each path, in the order of scores.
    faint
        Minus the logarithm, about, of the smaller P-value of a table by its number; asked for where
        large ties make whole laws dear.

    Returns
    -------
    ndarray
        -inf where a P-value is 0, or beyond what doubles can hold.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([0.5, 0.6]), np.array([1, 1]), np.array([0, 0])
    >>> (10.0 ** log10_pvalues([two])).round(12)  # 0.5 * 0.4: two failures
    array([[0.2, 0.2]])
    """
    if not tables:
        return np.zeros((0, 2))
    found = np.zeros((len(tables), 2))
    sizes = _sizes(tables)
    # A single table is walked over in numpy, where a signal can end it.
    absorbed = absorbed_in_numpy if len(tables) == 1 else runner(float(sizes.work.sum()))
    # Tables of about the same length together, so that little of what is laid out stays empty.
    order = np.argsort(sizes.steps, kind="stable")
    longest = 1.5 * sizes.steps[order] + 2
    until = np.searchsorted(sizes.steps[order], longest, side="right")
    count = np.maximum(_TOGETHER // sizes.width[order], 1)
    done = 0
    with reporting("Computing P-values") as report:
        while done < len(order):
            some = order[done : min(done + int(count[done]), int(until[done]))].tolist()
            tail = 0.0
            if faint is not None:
                tail = max((faint(i) for i in some if sizes.largest[i] > _WHOLE), default=0.0)
            laid_out = observe([tables[i] for i in some], _FAINT + min(tail, _LEAST))
            found[some] = _of_some(laid_out, absorbed)
            done += len(some)
            report(done, len(order))
    return found


def log10_of_one(paths: Paths) -> tuple[float, float]:
    """Return the same of one path that is observed already."""
    r, mad = _of_some(paths, absorbed_in_numpy)[0].tolist()
    return r, mad


class _Sizes(NamedTuple):
    """Of tables: steps, cells of a walk, observations of the largest tie, nanoseconds in numpy."""

    steps: IntArray
    width: IntArray
    largest: IntArray
    work: FloatArray


def _sizes(tables: Sequence[Table]) -> _Sizes:
    score, n = (np.concatenate([table[column] for table in tables]) for column in (0, 1))
    steps = np.array([len(table[0]) for table in tables])
    starts = np.cumsum(steps) - steps
    deviation = np.sqrt(np.add.reduceat(n * score * (1.0 - score), starts))
    width = ((steps + 1) * (3.0 * deviation + 2.0)).astype(np.int64)
    taps = np.minimum(n + 1.0, 20.0 * np.sqrt(n) + 20.0)
    # The first step leaves from one cell.
    products = taps[starts] + (np.add.reduceat(taps, starts) - taps[starts]) * width
    work = 3.0 * (STEP * steps + PRODUCT * products)
    return _Sizes(steps, width, np.maximum.reduceat(n, starts), work)


def costs(tables: Sequence[Table]) -> FloatArray:
    """Return about how many nanoseconds numpy takes for the exact P-values of each table."""
    return _sizes(tables).work if tables else np.zeros(0)


def _of_some(paths: Paths, absorbed: Callable[[Run], FloatArray]) -> FloatArray:
    reach = np.stack([paths.range, paths.deviation], axis=1)
    if not paths.n.any():
        return np.where(reach <= 0.0, 0.0, -np.inf)
    rise, band = exact_runs(paths)
    mass = np.stack([absorbed(rise).reshape(2, -1).sum(axis=0), absorbed(band)], axis=1)
    return log10_share(np.where(reach <= 0.0, SCALE, mass))


def runner(work: float) -> Callable[[Run], FloatArray]:
    """Return what runs walks that take so many nanoseconds in numpy: compiled where that pays."""
    switched_off = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}
    pays = work >= _WORTH_COMPILING and not switched_off and extras.is_usable("numba")
    return absorbed_compiled if pays else absorbed_in_numpy


# --- describing walks -----------------------------------------------------------------------------


def exact_runs(paths: Paths) -> tuple[Run, Run]:
    """Describe walks in which nothing is rounded: of ECCE-R, and of ECCE-MAD."""
    offset, places, chances, first = paths.laws
    falls = paths.laws.mirrored(paths.n)
    chances = np.concatenate([chances, falls.chances], axis=1)
    first = np.concatenate([first, falls.first], axis=1)
    reached = np.concatenate([paths.reached, paths.missed], axis=1)
    low, high, stride = _lattice(reached, np.tile(paths.range, 2))
    both = Laws(offset, places * stride, chances, first * stride)
    band = between(paths.laws, paths.reached - paths.deviation, paths.reached + paths.deviation)
    return between(both, low, high, rests=True), band


def _lattice(reached: FloatArray, reach: FloatArray) -> tuple[IntArray, IntArray, int]:
    """Lay out points with the fractional parts of all A_k beside each whole number.

    Returns
    -------
    low
        The number of A_k.
    high
        That of the first point at which a path has risen enough after each step.
    stride
        How many points there are to a whole number.
    """
    at = np.concatenate([np.zeros((1, reached.shape[1])), reached])
    whole = np.floor(at)
    part = at - whole
    order = np.argsort(part, axis=0)
    parts = np.take_along_axis(part, order, axis=0)
    ranks = np.zeros(part.shape, np.int64)
    np.cumsum(parts[1:] > parts[:-1], axis=0, out=ranks[1:])
    stride = int(ranks[-1].max()) + 1
    rank = np.empty_like(ranks)
    np.put_along_axis(rank, order, ranks, axis=0)
    goal = reached + reach
    goal_whole = np.floor(goal)
    above = np.vstack([ranks, ranks[-1:] + 1])
    goal -= goal_whole
    if len(goal) <= _WHOLE:  # all pairs at once are quicker than path by path
        place = (parts[:, None] < goal).sum(axis=0)
    else:
        each = zip(parts.T, goal.T, strict=True)
        place = np.stack(list(itertools.starmap(np.searchsorted, each)), axis=1)
    numbers = stride * whole.astype(np.int64) + rank
    high = stride * goal_whole.astype(np.int64) + np.take_along_axis(above, place, axis=0)
    return numbers[1:], high, stride


def _binomials(score: FloatArray, sizes: IntArray, faint: float) -> Laws:
    """Return the laws of ties, a column for each path."""
    first = np.zeros(sizes.shape, np.int64)
    laws = [np.zeros((0, sizes.shape[1]))]
    for k, (event, n) in enumerate(zip(score, sizes, strict=True)):
        other = 1.0 - event
        whole = n <= _WHOLE
        most = int(n[whole].max(initial=0))
        j = np.arange(most + 1)
        rest = np.maximum(n[:, None] - j, 0)
        law = _BINOMIAL[np.minimum(n, _WHOLE), : most + 1] * event[:, None] ** j
        law *= other[:, None] ** rest
        long = []
        for path in np.flatnonzero(~whole).tolist():
            chance, size = float(min(event[path], other[path])), int(n[path])
            rare = bool(event[path] < 0.5)
            law_of_path = binomial(size * chance, chance, size, rare=rare, faint=faint)
            long.append((path, *law_of_path))
        if long:
            taps = max(len(pmf) for _, _, pmf in long)
            law = np.pad(law, ((0, 0), (0, max(0, taps - law.shape[1]))))
        for path, fewest, pmf in long:
            law[path] = 0.0
            law[path, : len(pmf)] = pmf
            first[k, path] = fewest
        laws.append(law.T)
    places = np.concatenate([np.arange(len(law)) for law in laws])
    return Laws(np.cumsum([len(law) for law in laws]), places, np.concatenate(laws), first)


_BINOMIAL = np.array(
    [[float(math.comb(n, j)) for j in range(_WHOLE + 1)] for n in range(_WHOLE + 1)]
)


def binomial(
    mean: float, chance: float, n: int, *, rare: bool, faint: float
) -> tuple[int, FloatArray]:
    """Return a law of events, binomial in what is rarer: the fewest, and probabilities."""
    size, odds = mean / chance, chance / (1.0 - chance)
    if abs(size - round(size)) <= 1e-9 * size:
        size = float(round(size))
    most = min(n, math.ceil(size))
    if faint == math.inf:
        low, high = 0, most
    elif mean < 8.0:
        low, high, log_tail = 0, 0, 0.0
        while log_tail > -faint and high < most:
            high += 1
            log_tail += math.log(mean / high)
    else:  # by Bernstein's inequality
        far = faint / 3.0 + math.sqrt(faint * faint / 9.0 + 2.0 * faint * mean * (1.0 - chance))
        low, high = max(0, math.floor(mean - far)), min(most, math.ceil(mean + far))
    mode = min(max(math.floor((size + 1.0) * chance), low), high)
    up, down = np.arange(mode, high, dtype=float), np.arange(mode, low, -1, dtype=float)
    above = np.cumprod(np.maximum(size - up, 0.0) / (up + 1.0) * odds)
    below = np.cumprod(down / (size - down + 1.0) / odds)
    pmf = np.concatenate([below[::-1], [1.0], above])
    pmf /= pmf.sum()
    return (low, pmf) if rare else (n - high, pmf[::-1])
