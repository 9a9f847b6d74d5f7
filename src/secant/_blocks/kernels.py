"""Passes over rows, compiled, on all cores; nothing here imports numba before it is needed.

A score is a whole number of units of 2^-52, rounded once. Sums of whole numbers do not depend on
the order in which they are added, so that neither the order of rows nor chunks nor the number of
threads can change an answer in its last bit.

Everything up to :func:`arrange` is ordinary Python that numba compiles, a type of scores and of
labels at a time. A weight, brought below 1 by a power of two, and its product with the score are
whole numbers of units of 2^-72, in two halves. Counted copies are whole numbers already.
"""

from __future__ import annotations

import itertools
import math
import os
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from secant._base.extras import is_usable, require
from secant._base.forking import COMPILING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.grids import SpreadGrid

_Function = TypeVar("_Function", bound="Callable[..., Any]")

__all__ = [
    "CHUNK",
    "COPIES",
    "FEWEST_ROWS",
    "FINE",
    "FRACTIONS",
    "HALF_BITS",
    "HEAVIEST",
    "HIGHEST",
    "LIGHTEST",
    "LOWEST",
    "MORE_RANGES",
    "NEGATIVE",
    "ONE",
    "OTHER",
    "RANGES",
    "REFUSED",
    "SUM_BITS",
    "UNIT_BITS",
    "VARIANCE",
    "WEIGHED",
    "WEIGHED_SUMS",
    "ZEROS",
    "add_rows",
    "arrange",
    "as_whole",
    "collect",
    "collected",
    "compiled",
    "fold",
    "halves",
    "kind_of",
    "log_loss",
    "no_facts",
    "no_weight_facts",
    "sampled",
    "select",
    "selected",
    "share_out",
    "should_use_numba",
    "sort",
    "survey_weights",
    "takes",
    "threads",
    "undecided_cells",
    "walk_path",
]

# Scores are counted in units of this power of two.
UNIT_BITS = 52
_UNIT = 2.0**-UNIT_BITS
# The double 1.0 as an integer; those in [0, 1] are integers from 0 to this one.
ONE = int(np.float64(1).view(np.int64))
# Whole numbers are kept in two halves, the upper one in units of this.
_UPPER = 2.0**26
_HALF = (1 << 26) - 1
# Rows that one call looks at, at least, and rows for which it pays to wake another thread.
CHUNK = 1 << 17
_A_THREAD = 1 << 16
# Chunks of many rows: enough that no thread has to wait for another.
_CHUNKS = 32
# Ranges of scores that rows are selected from, and collected; rows looked at before any is noted.
RANGES = 4
MORE_RANGES = 6
_AT_A_TIME = 16
# Buckets of a sort, as many as stay in a near cache; in one with a few numbers they are compared.
_BUCKETS = 1 << 14
_A_FEW = 16
# Rows that are checked, then added up; an integer holds so many variances in units of 2^-64.
_TOGETHER = 1 << 10
# Chances that are multiplied at a time, and the least product to go on with: the square is normal.
_FACTORS = 8
_LEAST_PRODUCT = 2.0**-500
# What `add_rows` tells: the smallest and the largest score as integers; anything but zero if a
# label is neither 0 nor 1; rows whose score rules out what happened. Without a scale the sum of
# s(1 - s) in two parts, where it is at least 2^-12 and where it is less, each in two halves.
LOWEST, HIGHEST, OTHER, REFUSED, VARIANCE, FINE = 0, 1, 2, 3, 4, 6
# With one, sums of w^2, w^2 s(1 - s), w^2 (r - s)^2, w^2 of events, w^3 s(1 - s), w (r - s)^2; in
# units of 2^-26, 2^-52 and 2^-82 each.
WEIGHED = REFUSED + 1
WEIGHED_SUMS = ("ww", "variance", "squares", "ww1", "third", "squared_error")
SUM_BITS = 82
_REST = 1.5 * 2.0 ** (52 - SUM_BITS)
_REST_AS_INTEGER = int(np.float64(_REST).view(np.int64))
_SMALL = 2.0**-12
_SMALL_AS_INTEGER = int(np.float64(_SMALL).view(np.int64))
# Halves of weighted sums in cells have so many bits. Adding these numbers and taking them away
# again rounds what is at most 1 to units of 2^-36, and what is left to 2^-72; bits say how many.
HALF_BITS = 36
_UPPER_PART = 2.0 ** (52 - HALF_BITS)
_LOWER_PART = 1.5 * 2.0 ** (52 - 2 * HALF_BITS)
_UPPER_AS_INTEGER = int(np.float64(_UPPER_PART).view(np.int64))
_LOWER_AS_INTEGER = int(np.float64(_LOWER_PART).view(np.int64))
# What is told of weights: bits of the lightest above zero and of the heaviest, less than zero if
# one is negative, more if one is not whole, how many are zero, and their sum if all are whole.
LIGHTEST, HEAVIEST, NEGATIVE, FRACTIONS, ZEROS, COPIES = range(6)
_MOST_BITS = int(np.iinfo(np.int64).max)
_WHOLE = 2.0**52
_WHOLE_AS_INTEGER = int(np.float64(_WHOLE).view(np.int64))

# Rows of a call from which on compiled code looks at them. The size alone decides, so that the same
# call goes the same way every time: its P-value has the same bits. To import numba and to load what
# it has compiled takes .4 s once in a process, as long as numpy takes for 5e7 rows; compiled code
# saves half of a call's time or more, which pays within 25 calls of this size and a few of larger.
FEWEST_ROWS = 1 << 22
# Numbers from which on they are sorted by compiled code among rows that it looks at.
_FEWEST_KEYS = 1 << 13


_TAKES: dict[Callable[..., Any], str] = {}


def takes(arguments: str) -> Callable[[_Function], _Function]:
    """Say what a function to be compiled takes after the arrays of rows, whose kinds vary."""

    def noted(function: _Function) -> _Function:
        _TAKES[function] = arguments
        return function

    return noted


@takes("numbers")
def survey_weights(weights: Any, facts: IntArray) -> None:
    """Tell which weights there are; infinite and missing ones are heavier than any other."""
    lightest, heaviest, least = facts[LIGHTEST], facts[HEAVIEST], facts[NEGATIVE]
    fractions, zeros, copies = facts[FRACTIONS], facts[ZEROS], facts[COPIES]
    for i in range(weights.shape[0]):
        w = np.float64(weights[i] + 0.0)  # not -0.0
        bits = np.float64(w).view(np.int64)
        heaviest, least = max(heaviest, bits), min(least, bits)
        lightest = min(lightest, bits if bits != 0 else _MOST_BITS)
        zeros += np.int64(bits == 0)
        whole = w + _WHOLE
        fractions |= np.int64(whole - _WHOLE != w)
        copies += np.float64(whole).view(np.int64) - _WHOLE_AS_INTEGER
    facts[LIGHTEST], facts[HEAVIEST], facts[NEGATIVE] = lightest, heaviest, least
    facts[FRACTIONS], facts[ZEROS], facts[COPIES] = fractions, zeros, copies


@takes("whole numbers whole whole numbers pairs flags doubles")
def add_rows(  # noqa: C901, PLR0912, PLR0915, PLR0917  (compiled as one)
    scores: Any,
    labels: Any,
    weights: Any,
    scale: Any,
    anchor: Any,
    one: int,
    table: IntArray,
    shift: Any,
    bottom: Any,
    facts: IntArray,
    sums: IntArray,
    mixed: BoolArray,
    steps: FloatArray,
) -> None:
    """Check rows, and add them up, overall and in cells, of which each has two outcomes.

    What is None is compiled away. Sums in a cell may wrap around. Rows that cannot be used are told
    of, and nothing is added up from there on; weights were looked at before.

    Parameters
    ----------
    scores, labels, one
        Rows, and which label stands for 1.
    weights
        None: of a cell its rows and the sum of their scores in units of 2^-52. Counts: copies of
        rows, and the sum of their scores in two halves. Else rows, weights and weighted scores,
        both in halves.
    scale
        Brings weights below 1; None of counts.
    anchor
        A score of each cell: cells that hold another one are marked in ``mixed``.
    table, shift, bottom
        Where cells are, as a ``SpreadGrid`` lays them.
    facts, sums
        Where all of that is added to.
    steps
        The largest that were possible, in ascending order, where rows have a scale.
    """

    def plus(units: Any, rest: Any, value: Any) -> Any:
        # Rounded to units of 2^-52, and what that leaves to units of 2^-82.
        whole = value + 1.0
        units += np.float64(whole).view(np.int64) - ONE
        rest += np.float64((value - (whole - 1.0)) + _REST).view(np.int64) - _REST_AS_INTEGER
        return units, rest

    lowest, highest = facts[LOWEST], facts[HIGHEST]
    other, refused = facts[OTHER], facts[REFUSED]
    least = steps[0]
    for start in range(0, scores.shape[0], _TOGETHER):
        # A part of its own: the compiler then sees that no index is negative. These rows are still
        # in the nearest cache when they are added up.
        some, happened = scores[start : start + _TOGETHER], labels[start : start + _TOGETHER]
        if weights is not None:
            heavy = weights[start : start + _TOGETHER]
        a = b = c = d = e = f = np.int64(0)
        t = u = v = x = y = z = np.int64(0)
        for i in range(some.shape[0]):
            s = np.float64(some[i] + 0.0)  # not -0.0
            bits = np.float64(s).view(np.int64)
            lowest, highest = min(lowest, bits), max(highest, bits)
            label = np.int64(happened[i])
            other |= label if label != one else 0
            refused += np.int64(bits == (0 if label == one else ONE))
            variance = s * (1.0 - s)
            if scale is None:
                large, small = (0.0, variance) if variance < _SMALL else (variance, 0.0)
                coarse = np.float64(large + 1.0).view(np.int64) - ONE
                fine = np.float64(small + _SMALL).view(np.int64) - _SMALL_AS_INTEGER
                if weights is None:
                    a += coarse
                    b += fine
                else:
                    n = np.int64(heavy[i])
                    a += n * (coarse >> 26)
                    b += n * (fine >> 26)
                    t += n * (coarse & _HALF)
                    u += n * (fine & _HALF)
            else:
                w = np.float64(heavy[i]) * scale[0]
                ww, residual = w * w, 1.0 - s if label == one else s
                spread, error = variance * ww, residual * residual
                a, t = plus(a, t, ww)
                b, u = plus(b, u, spread)
                c, v = plus(c, v, ww * error)
                d, x = plus(d, x, ww if label == one else ww - ww)
                e, y = plus(e, y, spread * w)
                f, z = plus(f, z, w * error)
        if scale is None:
            if weights is None:
                a, b, t, u = a >> 26, b >> 26, a & _HALF, b & _HALF
            facts[VARIANCE] += a
            facts[VARIANCE + 1] += t
            facts[FINE] += b
            facts[FINE + 1] += u
        else:
            all_sums = (a, t), (b, u), (c, v), (d, x), (e, y), (f, z)
            for number, (units, rest) in enumerate(all_sums):
                facts[WEIGHED + 3 * number] += units >> 26
                facts[WEIGHED + 3 * number + 1] += units & _HALF
                facts[WEIGHED + 3 * number + 2] += rest
        if lowest < 0 or highest > ONE or other != 0:
            break
        for i in range(some.shape[0]):
            s = np.float64(some[i] + 0.0)
            exact = np.float64(s).view(np.int64)
            bits = max(exact, bottom) - bottom
            entry = table[np.uint64(bits >> shift)]
            cell = (bits >> (entry & 63)) + (entry >> 6)
            slot = np.uint64((cell << 1) + np.int64(np.int64(happened[i]) == one))
            counts = True
            if weights is not None:
                counts = heavy[i] > 0
            if anchor is not None and counts and exact != anchor[np.uint64(cell)]:
                mixed[np.uint64(cell)] = True
            if scale is None:
                unit = np.float64(s + 1.0).view(np.int64) - ONE
                if weights is None:
                    sums[slot, 0] += 1
                    sums[slot, 1] += unit
                else:
                    n = np.int64(heavy[i])
                    sums[slot, 0] += n
                    sums[slot, 1] += n * (unit >> 26)
                    sums[slot, 2] += n * (unit & _HALF)
            else:
                w = np.float64(heavy[i]) * scale[0]
                scored = w * s
                whole, fewer = w + _UPPER_PART, scored + _UPPER_PART
                beyond = (w - (whole - _UPPER_PART)) + _LOWER_PART
                left = (scored - (fewer - _UPPER_PART)) + _LOWER_PART
                sums[slot, 0] += np.int64(counts)
                sums[slot, 1] += np.float64(whole).view(np.int64) - _UPPER_AS_INTEGER
                sums[slot, 2] += np.float64(beyond).view(np.int64) - _LOWER_AS_INTEGER
                sums[slot, 3] += np.float64(fewer).view(np.int64) - _UPPER_AS_INTEGER
                sums[slot, 4] += np.float64(left).view(np.int64) - _LOWER_AS_INTEGER
                step = w * max(s, 1.0 - s)
                if step > least:  # hardly ever
                    k = 0
                    while k + 1 < steps.shape[0] and steps[k + 1] < step:
                        steps[k] = steps[k + 1]
                        k += 1
                    steps[k] = step
                    least = steps[0]
    facts[LOWEST], facts[HIGHEST] = lowest, highest
    facts[OTHER], facts[REFUSED] = other, refused


@takes("tables numbers numbers numbers numbers")
def fold(sums: IntArray, start: IntArray, count: IntArray, high: IntArray, low: IntArray) -> None:
    """Move the sums of all threads to where they cannot overflow: distances from starts of cells.

    Sums have wrapped around; distances from starts have not, so theirs are exact.
    """
    for slot in range(count.shape[0]):
        n = total = np.int64(0)
        for number in range(sums.shape[0]):
            n += sums[number, slot, 0]
            total += sums[number, slot, 1]
        beyond = total - n * start[slot >> 1]
        count[slot] += n
        high[slot] += beyond >> 26
        low[slot] += beyond & _HALF


@takes("numbers numbers numbers numbers flags pairs doubles doubles real")
def undecided_cells(  # noqa: PLR0917  (compiled)
    start: IntArray,
    count: IntArray,
    high: IntArray,
    low: IntArray,
    wanted: BoolArray,
    heights: IntArray,
    path: FloatArray,
    extremes: FloatArray,
    slack: float,
) -> Any:
    """Walk along cells whose sums were folded, and find those that could hold an extreme.

    Notes how high the sum of r - s is before each cell, as two halves and rounded, and its extremes
    there. Keeps those of the wanted cells that could hold a larger one; returns how many rows
    these have, and how many of the wanted cells could not.
    """
    upper = lower = np.int64(0)
    top = bottom = path[0] = 0.0
    heights[0, 0], heights[0, 1] = upper, lower
    for cell in range(start.shape[0]):
        begins, zeros, ones = start[cell], 2 * cell, 2 * cell + 1
        n = count[zeros] + count[ones]
        upper += (count[ones] << 26) - n * (begins >> 26) - high[zeros] - high[ones]
        lower -= n * (begins & _HALF) + low[zeros] + low[ones]
        height = ((upper + (lower >> 26)) * _UPPER + (lower & _HALF)) * _UNIT
        top, bottom = max(top, height), min(bottom, height)
        heights[cell + 1, 0], heights[cell + 1, 1] = upper, lower
        path[cell + 1] = height
    extremes[0], extremes[1] = top, bottom
    top, bottom = top - slack, bottom + slack
    rows = others = np.int64(0)
    for cell in range(start.shape[0]):
        zeros, ones = 2 * cell, 2 * cell + 1
        n0, n1, starts = count[zeros], count[ones], start[cell] * _UNIT
        fall = n0 * starts + (high[zeros] * _UPPER + low[zeros]) * _UNIT
        rise = n1 * (1.0 - starts) - (high[ones] * _UPPER + low[ones]) * _UNIT
        near = (path[cell] + rise >= top) | (path[cell] - fall <= bottom)
        is_open = wanted[cell] & (n0 + n1 > 0)
        wanted[cell] = is_open & near
        rows += (n0 + n1) * np.int64(is_open & near)
        others += np.int64(is_open & (not near))
    return rows, others


@takes("numbers numbers pairs pairs doubles")
def walk_path(
    keys: IntArray, last: IntArray, heights: IntArray, after: IntArray, extremes: FloatArray
) -> Any:
    """Walk along sorted rows of some cells for the extremes of the path; True if rows add up.

    A row is its score's bits, and its response as one more. Each cell has the bits of its last
    possible score, and how high the path is before and after it.
    """
    row, n = 0, keys.shape[0]
    top, bottom = extremes[0], extremes[1]
    for cell in range(last.shape[0]):
        upper, lower = heights[cell, 0], heights[cell, 1]
        while row < n and keys[row] >> 1 <= last[cell]:
            bits = keys[row] >> 1
            unit = np.float64(np.int64(bits).view(np.float64) + 1.0).view(np.int64) - ONE
            while row < n and keys[row] >> 1 == bits:
                upper += ((keys[row] & 1) << 26) - (unit >> 26)
                lower -= unit & _HALF
                row += 1
            height = ((upper + (lower >> 26)) * _UPPER + (lower & _HALF)) * _UNIT
            top, bottom = max(top, height), min(bottom, height)
        carried = lower >> 26
        there = after[cell, 0] + (after[cell, 1] >> 26)
        if upper + carried != there or (lower & _HALF) != (after[cell, 1] & _HALF):
            return False
    extremes[0], extremes[1] = top, bottom
    return row == n


@takes("doubles doubles numbers")
def select(scores: Any, low: FloatArray, high: FloatArray, found: IntArray) -> Any:
    """Return how many rows lie in any of four ranges of scores, having noted which."""
    a, b, c, d = low[0], low[1], low[2], low[3]
    e, f, g, h = high[0], high[1], high[2], high[3]
    count = np.int64(0)
    for start in range(0, scores.shape[0], _AT_A_TIME):
        some = scores[start : start + _AT_A_TIME]
        inside = np.int64(0)
        for i in range(some.shape[0]):
            s = np.float64(some[i])
            lower = ((s >= a) & (s <= e)) | ((s >= b) & (s <= f))
            inside += np.int64(lower | ((s >= c) & (s <= g)) | ((s >= d) & (s <= h)))
        if inside > 0:  # as a rule there is nothing to note
            for i in range(some.shape[0]):
                s = np.float64(some[i])
                lower = ((s >= a) & (s <= e)) | ((s >= b) & (s <= f))
                found[np.uint64(count)] = start + i
                count += np.int64(lower | ((s >= c) & (s <= g)) | ((s >= d) & (s <= h)))
    return count


@takes("whole")
def log_loss(  # noqa: C901  (compiled as one)
    scores: Any, labels: Any, weights: Any, one: int
) -> Any:
    """Return the sum of the logarithms of the chances given to what happened, times weights.

    Without weights one logarithm is taken of the product of many: a product is off by 2^-53 of
    itself for each factor, and its logarithm by as much.
    """
    total, product = 0.0, 1.0
    for start in range(0, scores.shape[0], _FACTORS):
        some, happened = scores[start : start + _FACTORS], labels[start : start + _FACTORS]
        if weights is not None:
            heavy = weights[start : start + _FACTORS]
        chance = 1.0
        if weights is None:
            for i in range(some.shape[0]):
                s = np.float64(some[i])
                chance *= s if np.int64(happened[i]) == one else 1.0 - s
        if weights is not None or chance < _LEAST_PRODUCT:  # it could underflow
            for i in range(some.shape[0]):
                s, w = np.float64(some[i]), 1.0
                if weights is not None:
                    w = np.float64(heavy[i])
                if w > 0.0 and np.int64(happened[i]) == one:
                    total += w * math.log(s) if s > 0.0 else -math.inf
                elif w > 0.0:
                    total += w * math.log1p(-s) if s < 1.0 else -math.inf
            continue
        product *= chance
        if product < _LEAST_PRODUCT:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@takes("whole numbers whole whole flags bits bits numbers")
def collect(  # noqa: PLR0917  (compiled)
    scores: Any,
    labels: Any,
    one: int,
    table: IntArray,
    shift: Any,
    bottom: Any,
    wanted: BoolArray,
    low: Any,
    width: Any,
    keys: IntArray,
) -> Any:
    """Return how many rows lie in wanted cells, all of them in six ranges, having packed them.

    A range is the bits of its lowest score, and how many more follow. A packed row is its score's
    bits, and its response as one more.
    """
    a, b, c, d, e, f = low[0], low[1], low[2], low[3], low[4], low[5]
    u, v, w, x, y, z = width[0], width[1], width[2], width[3], width[4], width[5]
    count = np.int64(0)
    for start in range(0, scores.shape[0], _AT_A_TIME):
        some, happened = scores[start : start + _AT_A_TIME], labels[start : start + _AT_A_TIME]
        inside = np.int64(0)
        for i in range(some.shape[0]):
            s = np.float64(some[i] + 0.0).view(np.uint64)
            lower = (s - a <= u) | (s - b <= v) | (s - c <= w)  # what is smaller wraps around
            inside += np.int64(lower | (s - d <= x) | (s - e <= y) | (s - f <= z))
        if inside > 0:  # as a rule there is nothing to pack
            for i in range(some.shape[0]):
                bits = np.float64(some[i] + 0.0).view(np.int64)
                at = min(max(bits, bottom), ONE) - bottom
                entry = table[np.uint64(at >> shift)]
                keys[np.uint64(count)] = (bits << 1) | np.int64(np.int64(happened[i]) == one)
                count += np.int64(wanted[np.uint64((at >> (entry & 63)) + (entry >> 6))])
    return count


@takes("numbers numbers")
def arrange(  # noqa: C901, PLR0912  (compiled as one)
    weights: Any, more_room: Any, keys: IntArray, room: IntArray
) -> None:
    """Put whole numbers from 0 upward in order, and weights with them if there are any.

    They are shared out among buckets by their leading bits, and so again where many share one: a
    number is moved once or twice as a rule, and never more often than it has bits. There is
    ``room`` for as many of them.
    """
    ends = np.empty(_BUCKETS + 1, np.int64)
    left = np.empty((keys.shape[0] // _A_FEW + 2, 2), np.int64)
    left[0, 0], left[0, 1] = 0, keys.shape[0]
    count = np.int64(keys.shape[0] > 1)
    while count > 0:
        count -= 1
        begin = left[count, 0]
        some = keys[begin : left[count, 1]]
        if weights is not None:
            heavy = weights[begin : left[count, 1]]
        n, least, most = some.shape[0], some[0], some[0]
        for i in range(n):
            least, most = min(least, some[i]), max(most, some[i])
        shift = 0
        while (most - least) >> shift >= min(n, _BUCKETS):
            shift += 1
        n_buckets = ((most - least) >> shift) + 1
        for bucket in range(n_buckets + 1):  # slices that are assigned to take long to compile
            ends[bucket] = 0
        for i in range(n):
            ends[np.uint64(((some[i] - least) >> shift) + 1)] += 1
        for bucket in range(n_buckets):
            ends[bucket + 1] += ends[bucket]
        for i in range(n):
            place = np.uint64((some[i] - least) >> shift)
            there = np.uint64(ends[place])
            room[there] = some[i]
            if weights is not None:
                more_room[there] = heavy[i]
            ends[place] += 1
        for i in range(n):
            some[i] = room[i]
            if weights is not None:
                heavy[i] = more_room[i]
        start = np.int64(0)
        for bucket in range(n_buckets if shift else 0):  # else a bucket holds equal numbers
            stop = ends[bucket]
            if stop - start > _A_FEW:
                left[count, 0], left[count, 1] = begin + start, begin + stop
                count += 1
            else:
                for i in range(start + 1, stop):
                    key, k = some[i], i
                    if weights is not None:
                        weight = heavy[i]
                    while k > start and some[k - 1] > key:
                        some[k] = some[k - 1]
                        if weights is not None:
                            heavy[k] = heavy[k - 1]
                        k -= 1
                    some[k] = key
                    if weights is not None:
                        heavy[k] = weight
            start = stop


def sort(
    keys: IntArray, weights: FloatArray | None = None, *, quick: bool = False
) -> tuple[IntArray, FloatArray | None]:
    """Put whole numbers from 0 upward in order, with compiled code where that pays.

    What is returned may be the arrays themselves. ``quick`` tells that compiled code has looked
    at the rows they come from.
    """
    if (quick and keys.shape[0] >= _FEWEST_KEYS) or should_use_numba(keys.shape[0]):
        kind = "none" if weights is None else "doubles"
        more_room = None if weights is None else np.empty_like(weights)
        compiled(arrange, kind, kind)(weights, more_room, keys, np.empty_like(keys))
    elif weights is None:
        keys.sort()
    else:
        order = np.argsort(keys)
        return keys[order], weights[order]
    return keys, weights


def sampled(scores: np.ndarray[Any, Any], size: int) -> FloatArray:
    """Return about so many of the scores that can be used, from everywhere, in ascending order."""
    some = scores[:: -(-scores.shape[0] // size)].astype(np.float64) + 0.0  # not -0.0
    return np.sort(some[(some >= 0) & (some <= 1)])


def collected(  # noqa: PLR0917  (as the kernel)
    scores: Any,
    labels: Any,
    one: int,
    grid: SpreadGrid,
    wanted: BoolArray,
    ranges: tuple[FloatArray, FloatArray],
) -> IntArray:
    """Return the rows in wanted cells of a grid, which six ranges hold, packed and in order."""
    low, high = (end.view(np.uint64) for end in ranges)
    width = high - low
    pack = compiled(collect, kind_of(scores), kind_of(labels))
    place = grid.table, grid.shift, grid.bottom

    def note(chunk: slice, room: IntArray) -> Any:
        return pack(scores[chunk], labels[chunk], one, *place, wanted, low, width, room)

    keys = _gathered(scores.shape[0], note)
    sort(keys, quick=True)
    return keys


def selected(scores: np.ndarray[Any, Any], low: FloatArray, high: FloatArray) -> IntArray:
    """Return which rows lie in any of four ranges of scores, in no particular order."""
    pick = compiled(select, kind_of(scores))

    def note(chunk: slice, room: IntArray) -> Any:
        count = pick(scores[chunk], low, high, room)
        room[:count] += chunk.start
        return count

    return _gathered(scores.shape[0], note)


def _gathered(rows: int, note: Callable[[slice, IntArray], Any]) -> IntArray:
    """Return what is noted of all rows: ``note`` writes it to a room, and returns how much."""
    found: list[IntArray] = []

    def work(_: int, chunks: Iterator[slice]) -> None:
        room = np.empty(_chunk(rows) + 1, np.int64)
        for chunk in chunks:
            count = note(chunk, room)
            found.append(room[:count].copy())

    share_out(rows, work, threads())
    return np.concatenate(found)


def no_facts() -> IntArray:
    """Return what :func:`add_rows` tells of no rows."""
    facts = np.zeros(WEIGHED + 3 * len(WEIGHED_SUMS), np.int64)
    facts[LOWEST] = _MOST_BITS
    return facts


def no_weight_facts() -> IntArray:
    """Return what :func:`survey_weights` tells of no weights."""
    facts = np.zeros(6, np.int64)
    facts[LIGHTEST] = _MOST_BITS
    return facts


def halves(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Return values up to 1 as whole numbers, upper and lower halves, as :func:`add_rows` does."""
    rounded = values + _UPPER_PART
    rest = (values - (rounded - _UPPER_PART)) + _LOWER_PART
    return rounded.view(np.int64) - _UPPER_AS_INTEGER, rest.view(np.int64) - _LOWER_AS_INTEGER


def as_whole(labels: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], int] | None:
    """Return labels as integers of the same size, not copied, and the one that stands for 1.

    None where they are of another kind.
    """
    kind, size = labels.dtype.kind, labels.dtype.itemsize
    if not labels.dtype.isnative or kind not in "biuf" or size > 8:
        return None
    whole = labels.view(f"i{size}")
    return whole, int(np.ones((), labels.dtype).view(f"i{size}"))


# How and when ------------------------------------------------------------------------------------


def should_use_numba(rows: int) -> bool:
    """Tell whether compiled code is to look at so many rows, where numba can be had."""
    # In this order: numba is not imported for few rows.
    return (
        rows >= FEWEST_ROWS
        and os.environ.get("NUMBA_DISABLE_JIT", "0") in {"", "0"}
        and is_usable("numba")
    )


def _dispatcher(numba: Any, function: Callable[..., Any], *signatures: Any) -> Any:
    try:
        return numba.njit(list(signatures) or None, cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to keep the compiled code: compile it in every process
        return numba.njit(list(signatures) or None, nogil=True)(function)


@cache
def compiled(function: Callable[..., Any], *kinds: str) -> Callable[..., Any]:
    """Return a function compiled for arguments of some kinds: ``"<f8 C"``, ``"none"``."""
    numba = require("numba", "fast", "compiled passes need")
    types = numba.types

    def array(kind: str) -> Any:
        name, layout = kind.split()
        return types.Array(numba.from_dtype(np.dtype(name)), 1, layout, readonly=True)

    names = {
        "none": types.none,
        "whole": types.int64,
        "real": types.float64,
        "flags": types.boolean[::1],
        "numbers": types.int64[::1],
        "pairs": types.int64[:, ::1],
        "tables": types.int64[:, :, ::1],
        "bits": types.uint64[::1],
        "doubles": types.float64[::1],
    }
    arguments = *kinds, *_TAKES[function].split()
    signature = tuple(names[kind] if kind in names else array(kind) for kind in arguments)
    with COMPILING:
        result: Callable[..., Any] = _dispatcher(numba, function, signature)
    return result


def kind_of(array: np.ndarray[Any, Any] | None) -> str:
    """Return what compiled code must know of an array, if there is one."""
    if array is None:
        return "none"
    return f"{array.dtype.str} {'C' if array.flags.c_contiguous else 'A'}"


def threads() -> int:
    """Return how many threads to use: as many as numba would, which NUMBA_NUM_THREADS says."""
    return int(require("numba", "fast", "compiled passes need").config.NUMBA_NUM_THREADS)


def _chunk(rows: int) -> int:
    """Return how many rows a thread takes at a time."""
    return max(CHUNK, rows // _CHUNKS)


def share_out(rows: int, work: Callable[[int, Iterator[slice]], None], most: int) -> None:
    """Have rows looked at in chunks, by so many threads, each with a number of its own.

    ``work`` is called in every thread and takes chunks until none is left.
    """
    size = _chunk(rows)
    starts = itertools.count(0, size)

    def chunks() -> Iterator[slice]:
        while (start := next(starts)) < rows:
            yield slice(start, min(start + size, rows))

    count = min(most, rows // _A_THREAD)  # a thread takes as long to wake as some chunks
    if count <= 1:
        work(0, chunks())
        return
    others = []
    with suppress(RuntimeError):  # at the end of the process threads cannot be had any more
        pool = _pool(os.getpid(), most)
        others += [pool.submit(work, number, chunks()) for number in range(1, count)]
    try:
        work(0, chunks())
    finally:
        # What has not begun by now would find nothing to do.
        begun = [other for other in others if not other.cancel()]
        wait(begun)
    for other in begun:
        other.result()


@cache
def _pool(process: int, most: int) -> ThreadPoolExecutor:  # noqa: ARG001  (a fork has no threads)
    """Return threads that stay, since to start them takes as long as to look at many rows."""
    return ThreadPoolExecutor(max(most - 1, 1), "secant")
