"""Ties in their order, pooled where too many of them have next to nothing to add.

Where events are rare, millions of rows with as many scores expect a few hundred events in all. What
P-values there need is how likely events are along the path, not every row: so neighbouring ties are
pooled into grains of a few thousandths of an event, some ten thousand of them whatever the number
of rows. Which ties share a grain depends on scores and counts alone, so that every source, and
every order of rows, has the same grains to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._blocks.sorting import Sorting

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._input.observations import Chunk

__all__ = [
    "MANY_TIES",
    "Grains",
    "Grinding",
    "Running",
    "Ties",
    "grain_size",
    "grind",
    "grind_along",
]

# Distinct scores that are kept as they are; and the share of the variance that a grain has, at
# least, of more of them.
MANY_TIES = 1 << 16
# Rows in order that are looked at together.
_TOGETHER = 1 << 16


class Ties(NamedTuple):
    """Distinct scores in ascending order; observations and successes at each."""

    score: FloatArray
    n: IntArray
    n1: IntArray


@dataclass(frozen=True)
class Grains:
    """Ties whose scores are neither 0 nor 1, pooled with their neighbours.

    Attributes
    ----------
    n
        Observations of each grain.
    rare
        The mean chance of the rarer outcome in it: of s, or of 1 - s where s is above a half.
    square
        The mean of the squares of these chances, so that two rare outcomes in one grain are known
        to be as likely as they are.
    low, high
        The lowest and the highest score in it.
    reached
        The sum of all scores up to its end.
    highest, lowest
        The largest and the smallest value of the path at the end of any tie.
    expected
        The sum of all scores.
    ends, across
        Along another order than that of scores: the last grain of each step, since several may
        share a place there; and whether a grain pools several steps, so that the path is not looked
        at inside it. In the order of scores each grain is a step.
    """

    n: IntArray
    rare: FloatArray
    square: FloatArray
    low: FloatArray
    high: FloatArray
    reached: FloatArray
    highest: float
    lowest: float
    expected: float
    ends: IntArray | None = None
    across: BoolArray | None = None


def grain_size(variance: float) -> float:
    """Return how much of the rarer outcome grains expect, from the sum of s(1 - s).

    It is a power of two, so that sums rounded in another order give the same.
    """
    exponent = math.frexp(variance * (1 + 1e-9))[1] - 16
    return math.ldexp(1.0, max(exponent, -1074))


def grind(ties: Ties, size: float) -> Ties | Grains:
    """Pool ties that are in memory, if they are very many."""
    mill = _Mill(size)
    mill.add(ties)
    return mill.grains()


def grind_along(ties: Ties, ends: IntArray, size: float) -> Grains:
    """Pool ties along another order than that of scores.

    Steps of one side of 1/2 that expect little of the rarer outcome are pooled with their
    neighbours. Of a step that expects more, ties of neighbouring scores are pooled within it.

    Parameters
    ----------
    ties
        In the order of the path, then of scores.
    ends
        The last tie of each step.
    size
        As :func:`grain_size` has it.
    """
    score, n, n1 = ties
    certain = score >= 1.0
    reached = np.add(*Running().add(np.where(certain, 0.0, n * score)))
    path = (np.cumsum(np.where(certain, n1 - n, n1)) - reached)[ends]
    random = (score > 0.0) & ~certain
    step = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1))[random]
    score, n = score[random], n[random]
    chance = np.minimum(score, 1.0 - score)
    rare = n.astype(np.float64) * chance
    below = score < 0.5
    starts = np.flatnonzero(np.diff(step, prepend=-1))
    last = np.append(starts[1:], len(step)) - 1
    step = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(step)))
    first = _first_of_grains(step, starts, rare, below, size)
    begin = np.flatnonzero(first)
    end = np.append(begin[1:], len(first)) - 1
    total = np.add.reduceat(n, begin)
    mean, square = _between(
        np.add.reduceat(rare, begin) / total,
        np.add.reduceat(rare * chance, begin) / total,
        np.minimum.reduceat(chance, begin),
        np.maximum.reduceat(chance, begin),
    )
    return Grains(
        n=total,
        rare=mean,
        square=square,
        low=np.minimum.reduceat(score, begin),
        high=np.maximum.reduceat(score, begin),
        reached=reached[random][end],
        highest=max(float(path.max()), 0.0),
        lowest=min(float(path.min()), 0.0),
        expected=float(reached[-1]) + int(ties.n[certain].sum()),
        ends=np.flatnonzero(end == last[step[end]]),
        across=step[begin] != step[end],
    )


def _between(
    mean: FloatArray, square: FloatArray, least: FloatArray, largest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return means of chances and of their squares where no rounding puts them out of bounds."""
    mean = np.clip(mean, least, largest)
    return mean, np.clip(square, mean * mean, mean * largest)


def _first_of_grains(
    step: IntArray, starts: IntArray, rare: FloatArray, below: BoolArray, size: float
) -> BoolArray:
    """Mark ties with which a grain begins, along another order; see :func:`grind_along`.

    ``step`` numbers the steps of ties, and ``starts`` is where they begin.
    """
    part = np.floor(np.cumsum(rare) / size)
    one_side = np.logical_and.reduceat(below, starts) == np.logical_or.reduceat(below, starts)
    small = one_side & (np.add.reduceat(rare, starts) <= size)
    # A small step is in the part where it ends, with all its ties.
    part = np.where(small[step], part[np.append(starts[1:], len(step)) - 1][step], part)
    before, after = step[:-1], step[1:]
    same = (part[1:] == part[:-1]) & (below[1:] == below[:-1])
    light = rare <= size
    light = light[1:] & light[:-1] & ~small[before]
    same &= (small[before] & small[after]) | (light & (before == after))
    return np.append(True, ~same)


class Grinding:
    """Grains in the making: feed it every row, then ask for the grains.

    Parameters
    ----------
    size
        As :func:`grain_size` has it.
    rows
        At most so many rows will come.
    counted
        Whether they come with weights that count copies of them.
    run
        Rows to keep in memory; more go to a temporary file.
    """

    def __init__(self, size: float, rows: int, *, counted: bool, run: int) -> None:
        self._mill = _Mill(size)
        self._rows = Sorting(rows, weighted=counted, run=run)

    def add(self, chunk: Chunk) -> None:
        """Take in some rows, whose memory may be used again afterwards."""
        self._rows.add(chunk)

    def grains(self) -> Ties | Grains:
        """Return the grains, or the ties where these are few enough."""
        for rows in self._rows.chunks(_TOGETHER):
            self._mill.add(ties_of(rows))
        return self._mill.grains()


def ties_of(rows: Chunk) -> Ties:
    """Count rows in order by their score."""
    scores, labels, weights = rows
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    if weights is None:
        n = np.diff(starts, append=len(scores))
        return Ties(scores[starts], n, np.add.reduceat(labels, starts))
    copies = weights.astype(np.int64)
    return Ties(
        scores[starts], np.add.reduceat(copies, starts), np.add.reduceat(copies * labels, starts)
    )


class Running:
    """Prefix sums as if in twice the precision, that go on from one batch of terms to the next."""

    def __init__(self) -> None:
        self.sum, self.lost = 0.0, 0.0

    def add(self, terms: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sums up to each term, and what rounding has taken from each."""
        sums = np.cumsum(np.concatenate([[self.sum], terms]))
        before, sums = sums[:-1], sums[1:]
        # What each addition rounded off, exactly (Knuth).
        share = sums - before
        lost = (before - (sums - share)) + (terms - share)
        lost[0] += self.lost
        lost = np.cumsum(lost)
        self.sum, self.lost = float(sums[-1]), float(lost[-1])
        return sums, lost


class _Mill:
    """Ties come in their order, some at a time, and leave as grains.

    Where a grain ends shows when the next tie comes, so the last one is remembered: its sums as the
    first row of ``_last``, in the order of :meth:`_columns`.
    """

    def __init__(self, size: float) -> None:
        self._size = size
        self._whole: list[Ties] | None = []
        self._ties = self._observed = self._trials = self._certain = 0
        self._scores, self._rare, self._squares = Running(), Running(), Running()
        self._highest, self._lowest = 0.0, 0.0
        self._last: tuple[FloatArray, ...] | None = None
        self._starts: list[FloatArray] = []
        self._ends: list[tuple[FloatArray, ...]] = []

    def add(self, ties: Ties) -> None:
        self._ties += len(ties.score)
        if self._whole is not None:
            self._whole.append(ties)
            if self._ties > MANY_TIES:
                self._whole = None
        # A score of 1 is a success for certain, and moves the path by what is missing from that.
        certain = ties.score >= 1.0
        sums, lost = self._scores.add(np.where(certain, 0.0, ties.n * ties.score))
        reached = sums + lost
        observed = np.where(certain, ties.n1 - ties.n, ties.n1)
        x = self._observed + np.cumsum(observed) - reached
        self._observed += int(observed.sum())
        self._certain += int(ties.n[certain].sum())
        self._highest = max(self._highest, float(x.max()))
        self._lowest = min(self._lowest, float(x.min()))
        random = (ties.score > 0.0) & (ties.score < 1.0)
        if random.any():
            self._pool(ties.score[random], ties.n[random], reached[random])

    def _pool(self, score: FloatArray, n: IntArray, reached: FloatArray) -> None:
        chance = np.minimum(score, 1.0 - score)
        rare = n.astype(np.float64) * chance
        sums, lost = self._rare.add(rare)
        squares = self._squares.add(rare * chance)
        trials = self._trials + np.cumsum(n)
        self._trials = int(trials[-1])
        part = np.where(rare <= self._size, np.floor(sums / self._size), -1.0)
        columns = [score, part, reached, trials.astype(np.float64), sums, lost, *squares]
        if self._last is None:
            self._last = np.array([score[0]]), np.array([-2.0]), *(np.zeros(1) for _ in columns[2:])
        columns = [np.concatenate(pair) for pair in zip(self._last, columns, strict=True)]
        score, part = columns[:2]
        new = _apart(part, score < 0.5)
        self._starts.append(score[1:][new])
        self._ends.append(tuple(column[:-1][new] for column in columns))
        self._last = tuple(column[-1:] for column in columns)

    def grains(self) -> Ties | Grains:
        """Return the grains, or the ties where these are few enough."""
        if self._whole is not None:
            return Ties(*map(np.concatenate, zip(*self._whole, strict=True)))
        assert self._last is not None  # noqa: S101  (only 0 and 1 are not random)
        self._ends.append(self._last)
        high, _, *sums = map(np.concatenate, zip(*self._ends, strict=True))
        low, high, reached = np.concatenate(self._starts), high[1:], sums[0]
        n, rare, lost, square, lost_too = (np.diff(each) for each in sums[1:])
        near = np.minimum(low, 1.0 - low), np.minimum(high, 1.0 - high)
        rare, square = _between(
            (rare + lost) / n, (square + lost_too) / n, np.minimum(*near), np.maximum(*near)
        )
        return Grains(
            n=n.astype(np.int64),
            rare=rare,
            square=square,
            low=low,
            high=high,
            reached=reached[1:],
            highest=self._highest,
            lowest=self._lowest,
            expected=self._scores.sum + self._scores.lost + self._certain,
        )


def _apart(part: FloatArray, below: BoolArray) -> BoolArray:
    """Tell of each tie but the first whether it is in another grain than the one before it."""
    other: BoolArray = (part[1:] != part[:-1]) | (part[1:] < 0.0) | (below[1:] != below[:-1])
    return other
