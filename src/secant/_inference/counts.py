"""How many events a set of independent rows has: the law of the number, and P of the number seen.

Rows are coins with chances of their own. The law of their number is put together from laws of
parts, neighbours first: only positive numbers are multiplied and added, so that chances of 1e-200
have all their digits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from secant._inference.lattice import SCALE, log10_share
from secant._inference.path import guarded
from secant._inference.tilt import Jumps, rate, tail
from secant._inference.walk import binomial

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray

    # The fewest events, and the probabilities of so many and more.
    Law = tuple[int, FloatArray]

__all__ = [
    "ADDED",
    "FAINT",
    "coin_laws",
    "far_from",
    "in_rows",
    "log10_both_tails",
    "pool_laws",
    "saddlepoint",
    "side_by_side",
]

# What is rarer than exp(-FAINT) of the most likely count is left out, where nothing else counts.
FAINT = 45.0
# Added to logarithms of P where laws are matched, not proved.
ADDED = math.log10(1.01)
# Rows whose law is computed at once; larger ties have theirs in closed form.
_TOGETHER = 32
# Laws of no more counts are kept whole.
_SHORT = 64
# Means and variances of pools that hold chances on both sides of 1/2 may ask for more than this.
_MOST_CHANCE = 0.95
# Doubles below this one are not trusted with a logarithm.
_LEAST = 1e-290


def coin_laws(
    event: FloatArray, failure: FloatArray, n: IntArray, step: IntArray, faint: float
) -> list[Law]:
    """Return the law of the number of events in each step.

    Parameters
    ----------
    event, failure, n
        The chances of both outcomes of each tie, and its rows.
    step
        The step of each tie, in ascending order from 0; none is left out.
    faint
        What is rarer than exp(-faint) of the most likely count is left out.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> coin_laws(half, half, np.array([1, 1]), np.array([0, 0]), 45.0)
    [(0, array([0.25, 0.5 , 0.25]))]
    """
    parts: list[list[Law]] = [[] for _ in range(int(step[-1]) + 1)]
    few = n <= _TOGETHER
    copies = n[few]
    chances = np.repeat(event[few], copies), np.repeat(failure[few], copies)
    for which, law in _of_rows(*chances, np.repeat(step[few], copies)):
        parts[which].append((0, law))
    for i in np.flatnonzero(~few).tolist():
        chance, size = float(min(event[i], failure[i])), int(n[i])
        rare = bool(event[i] <= failure[i])
        parts[step[i]].append(binomial(size * chance, chance, size, rare=rare, faint=faint))
    return [merged(each, faint) for each in parts]


def _of_rows(
    event: FloatArray, failure: FloatArray, step: IntArray
) -> list[tuple[int, FloatArray]]:
    """Return laws of a few rows each, with the step they are in."""
    if not len(step):
        return []
    at = np.arange(len(step))
    inside = at - np.searchsorted(step, step)
    first = np.flatnonzero(inside % _TOGETHER == 0)
    part = np.cumsum(inside % _TOGETHER == 0) - 1
    size = np.diff(first, append=len(step))
    longest = int(size.max())
    chances = np.zeros((2, longest, len(first)))
    chances[1] = 1.0
    chances[:, at - first[part], part] = event, failure
    laws = side_by_side(*chances)
    columns = np.ascontiguousarray(laws.T)
    each = zip(step[first].tolist(), size.tolist(), columns, strict=True)
    return [(which, law[: count + 1]) for which, count, law in each]


def side_by_side(event: FloatArray, failure: FloatArray, start: float = 1.0) -> FloatArray:
    """Return the laws of as many sums as there are columns, a row of chances for each coin."""
    rows, many = event.shape
    laws = np.zeros((rows + 1, many))
    laws[0] = start
    for row in range(rows):
        moved = laws[: row + 1] * event[row]
        laws[: row + 1] *= failure[row]
        laws[1 : row + 2] += moved
    return laws


def in_rows(n: IntArray) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
    """Return steps, a column for each path, row by row.

    Returns
    -------
    step, row, column
        Of each row its step, its number and its path.
    last
        Whether it is the last row of its step.
    """
    columns, steps = np.nonzero(n.T)
    copies = n[steps, columns]
    ends = np.cumsum(copies)
    column, step = np.repeat(columns, copies), np.repeat(steps, copies)
    number = np.arange(len(step))
    row = number - np.searchsorted(column, column)
    return step, row, column, number == np.repeat(ends - 1, copies)


def pool_laws(
    n: IntArray, mean: FloatArray, variance: FloatArray, step: IntArray, faint: float
) -> list[Law]:
    """Return binomial laws with the mean and variance of the number of events in each step.

    Parameters
    ----------
    n, mean, variance
        Rows of each cell, mean and variance of their events.
    step, faint
        As for :func:`coin_laws`.
    """
    starts = np.flatnonzero(np.diff(step, prepend=-1))
    n, mean, variance = (np.add.reduceat(each, starts) for each in (n, mean, variance))
    rare = mean <= 0.5 * n
    rarer = np.where(rare, mean, n - mean)
    chance = np.maximum(1.0 - variance / np.maximum(rarer, 1e-300), rarer / n)
    chance = np.minimum(chance, _MOST_CHANCE)
    each = zip(rarer.tolist(), chance.tolist(), n.tolist(), rare.tolist(), strict=True)
    return [
        binomial(m, c, size, rare=is_rare, faint=faint)
        if m > 0.0
        else (0 if is_rare else size, np.ones(1))
        for m, c, size, is_rare in each
    ]


def merged(laws: list[Law], faint: float) -> Law:
    """Return the law of the sum of independent counts, neighbours taken together first."""
    while len(laws) > 1:
        pairs = zip(laws[::2], laws[1::2], strict=False)
        sums = [_trimmed(a[0] + b[0], np.convolve(a[1], b[1]), faint) for a, b in pairs]
        laws = sums + laws[2 * len(sums) :]
    return laws[0]


def _trimmed(first: int, law: FloatArray, faint: float) -> Law:
    if len(law) <= _SHORT:
        return first, law
    kept = np.flatnonzero(law > law.max() * math.exp(-faint))
    return first + int(kept[0]), law[kept[0] : kept[-1] + 1]


def far_from(happened: NumberArray, expected: FloatArray, n: NumberArray) -> FloatArray:
    """Return how far from what is expected a number is as far as the one that happened."""
    far: FloatArray = guarded(np.abs(happened - expected), np.maximum(expected, n - expected))
    return far


def log10_both_tails(laws: list[Law], expected: float, far: float, faint: float) -> float:
    """Return a decimal logarithm of the chance that events are so far from what is expected."""
    first, law = laws[0]
    first, law = merged([(first, law * SCALE), *laws[1:]], faint)
    away = np.abs(np.arange(first, first + len(law)) - expected) >= far
    return float(log10_share(law[away].sum()))


def saddlepoint(jumps: Jumps, expected: float, far: float) -> float:
    """Return the same for large samples, from the cumulant function of the rows."""
    above = math.ceil(expected + far) - expected
    below = expected - math.floor(expected - far)
    if min(above, below) <= 0.0:
        return 0.0
    pairs = [(total, sign) for total, sign in ((above, 1), (below, -1))]
    pairs = [(total, sign) for total, sign in pairs if total <= jumps.most(sign) * (1 + 1e-12)]
    p = sum(tail(jumps, total, sign, 1.0) for total, sign in pairs)
    if p >= _LEAST:
        return min(math.log10(p), 0.0)
    logs = [-rate(jumps, total, sign) for total, sign in pairs]
    return float(np.logaddexp.reduce(logs)) / math.log(10) if logs else -math.inf
