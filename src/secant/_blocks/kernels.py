"""Passes over rows, compiled, on all cores; nothing here imports numba before it is needed.

A score is a whole number of units of 2^-52, rounded once. Sums of whole numbers do not depend on
the order in which they are added, so that neither the order of rows nor chunks nor the number of
threads can change an answer in its last bit.

:func:`look`, :func:`select` and what stands between them are ordinary Python that numba compiles,
a type of scores and of labels at a time.
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.grids import SpreadGrid

_Function = TypeVar("_Function", bound="Callable[..., Any]")

__all__ = [
    "CHUNK",
    "FEWEST_ROWS",
    "FINE",
    "HIGHEST",
    "LOWEST",
    "MORE_RANGES",
    "ONE",
    "OTHER",
    "RANGES",
    "REFUSED",
    "UNIT_BITS",
    "VARIANCE",
    "arrange",
    "as_whole",
    "collect",
    "collected",
    "compiled",
    "drawn",
    "finish",
    "fold",
    "kind_of",
    "lay",
    "look",
    "lose",
    "nothing_told",
    "pays",
    "select",
    "selected",
    "settle",
    "share_out",
    "sort",
    "sorts",
    "survey",
    "takes",
    "threads",
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
# The share of a sample whose scores are too small for cells of their own; and how much more than
# their share cells may hold before they are halved.
_TAIL = 1 / 8192
_ROOT = 2.0**0.5
# What `look` tells: the smallest and the largest score as integers; anything but zero if a label
# is neither 0 nor 1; rows whose score rules out what happened; the sum of s(1 - s) in two parts,
# where it is at least 2^-12 and where it is less, each as its upper and its lower half.
LOWEST, HIGHEST, OTHER, REFUSED, VARIANCE, FINE = 0, 1, 2, 3, 4, 6
_TOLD = 8
_SMALL = 2.0**-12
_SMALL_AS_INTEGER = int(np.float64(_SMALL).view(np.int64))

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


@takes("whole numbers")
def draw(scores: Any, step: int, keys: IntArray) -> Any:
    """Return how many of every so-manieth score can be used, having noted their bits."""
    count = np.int64(0)
    for i in range(0, scores.shape[0], step):
        bits = np.float64(scores[i] + 0.0).view(np.int64)
        keys[count] = bits
        count += np.int64(0 <= bits <= ONE)
    return count


@takes("doubles")
def survey(sample: FloatArray) -> Any:
    """Tell of scores in order what s(1 - s) is on average, how many repeat, and the longest tie."""
    total, repeated, tied, longest = 0.0, 0, 1, 1
    for i in range(sample.shape[0]):
        total += sample[i] * (1.0 - sample[i])
        tied = tied + 1 if i > 0 and sample[i] == sample[i - 1] else 1
        repeated += 1 if tied > 1 else 0
        longest = max(longest, tied)
    return total / sample.shape[0], repeated, longest


@takes("doubles real real whole numbers numbers")
def lay(  # noqa: C901, PLR0917  (compiled as one)
    sample: FloatArray, n_cells: float, widest: float, most: int, table: IntArray, low: IntArray
) -> Any:
    """Lay cells by a sample in order: buckets, at most about so many, and the cells in each.

    Returns
    -------
    shift, bottom, buckets, cells
        Bits are counted from ``bottom`` on and shifted, to number so many buckets. There are so
        many cells, and ``low`` has the bits of the lowest score of each if it has room.
    """
    n, total = sample.shape[0], 0.0
    for i in range(n):
        total += sample[i] * (1.0 - sample[i])
    # What each score shall count: a cell must be looked into when the cumulative difference may
    # turn inside it, which depends on its variance; some share by count keeps all cells small.
    share = np.full(n, 0.25 / n)
    for i in range(n):
        if total > 0:
            share[i] += 0.75 * (sample[i] * (1.0 - sample[i]) / total)
    # There is one bucket for scores below those that carry some share of the sample.
    reached, tail = share[0], 0
    while tail < n - 1 and reached < _TAIL:
        tail += 1
        reached += share[tail]
    bottom: Any = np.float64(min(sample[tail], widest)).view(np.int64)
    shift = 0
    while (ONE - bottom) >> shift >= most:
        shift += 1
    first = max((bottom >> shift) - 1, 0) if shift > 0 else bottom
    bottom = first << shift
    buckets = ((ONE - bottom) >> shift) + 1
    held = np.zeros(buckets)
    for i in range(n):
        bits: Any = np.float64(sample[i]).view(np.int64)
        held[max(bits - bottom, 0) >> shift] += share[i]
    before = np.int64(0)
    for bucket in range(buckets):
        begins = bucket << shift
        start = np.int64(bottom + begins).view(np.float64) if bucket > 0 else 0.0
        stop = np.int64(bottom + begins + (1 << shift)).view(np.float64)
        fine, wide = 0, 1.0
        # The score 1 is alone; the first bucket has any exponents, whose lower bits say nothing.
        while fine < shift and bucket < buckets - 1 and (bucket > 0 or bottom == 0):
            if held[bucket] * n_cells <= wide * _ROOT and stop - start <= wide * widest:
                break
            fine, wide = fine + 1, 2.0 * wide
        left = shift - fine
        table[bucket] = ((before - (begins >> left)) << 6) | left
        for cell in range(1 << fine):
            if before < low.shape[0]:
                low[before] = bottom + begins + (cell << left)
            before += 1
    low[0] = 0
    return shift, bottom, buckets, before


@takes("whole numbers whole whole numbers pairs numbers flags")
def look(  # noqa: PLR0917  (compiled)
    scores: Any,
    labels: Any,
    one: int,
    table: IntArray,
    shift: Any,
    bottom: Any,
    told: IntArray,
    sums: IntArray,
    anchor: IntArray,
    mixed: BoolArray,
) -> None:
    """Check rows, add up s(1 - s), count rows and add up their scores in cells.

    A sum may wrap around. Where there are anchors, cells that hold another score are marked. Rows
    that cannot be used are told of, and nothing is added up from there on.
    """
    lowest, highest = told[LOWEST], told[HIGHEST]
    other, refused = told[OTHER], told[REFUSED]
    for start in range(0, scores.shape[0], _TOGETHER):
        # A part of its own: the compiler then sees that no index is negative. These rows are still
        # in the nearest cache when they are added up.
        some, happened = scores[start : start + _TOGETHER], labels[start : start + _TOGETHER]
        coarse = fine = np.int64(0)
        for i in range(some.shape[0]):
            s = np.float64(some[i] + 0.0)  # not -0.0
            bits = np.float64(s).view(np.int64)
            lowest, highest = min(lowest, bits), max(highest, bits)
            label = np.int64(happened[i])
            other |= label if label != one else 0
            refused += np.int64(bits == (0 if label == one else ONE))
            v = s * (1.0 - s)
            large, small = (0.0, v) if v < _SMALL else (v, 0.0)
            coarse += np.float64(large + 1.0).view(np.int64) - ONE
            fine += np.float64(small + _SMALL).view(np.int64) - _SMALL_AS_INTEGER
        told[VARIANCE] += coarse >> 26
        told[VARIANCE + 1] += coarse & _HALF
        told[FINE] += fine >> 26
        told[FINE + 1] += fine & _HALF
        if lowest < 0 or highest > ONE or other != 0:
            break
        # Twice, for sums are quicker without a branch among them.
        if anchor.shape[0]:
            for i in range(some.shape[0]):
                s = np.float64(some[i] + 0.0)
                exact = np.float64(s).view(np.int64)
                bits = max(exact, bottom) - bottom
                entry = table[np.uint64(bits >> shift)]
                cell = (bits >> (entry & 63)) + (entry >> 6)
                if exact != anchor[np.uint64(cell)]:
                    mixed[np.uint64(cell)] = True
                slot = np.uint64((cell << 1) + np.int64(np.int64(happened[i]) == one))
                sums[slot, 0] += 1
                sums[slot, 1] += np.float64(s + 1.0).view(np.int64) - ONE
        else:
            for i in range(some.shape[0]):
                s = np.float64(some[i])
                bits = max(np.float64(s).view(np.int64), bottom) - bottom
                entry = table[np.uint64(bits >> shift)]
                cell = (bits >> (entry & 63)) + (entry >> 6)
                slot = np.uint64((cell << 1) + np.int64(np.int64(happened[i]) == one))
                sums[slot, 0] += 1
                sums[slot, 1] += np.float64(s + 1.0).view(np.int64) - ONE
    told[LOWEST], told[HIGHEST] = lowest, highest
    told[OTHER], told[REFUSED] = other, refused


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


@takes("tables numbers numbers numbers numbers flags pairs doubles doubles real")
def settle(  # noqa: PLR0917  (compiled)
    sums: IntArray,
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
    """Fold sums of threads, walk along cells, and find those that could hold an extreme.

    Notes how high the sum of r - s is before each cell, as two halves and rounded, and its extremes
    there. Keeps those of the wanted cells that could hold a larger one; returns how many rows
    these have, and how many of the wanted cells could not.
    """
    upper = lower = np.int64(0)
    top = bottom = path[0] = 0.0
    heights[0, 0], heights[0, 1] = upper, lower
    for cell in range(start.shape[0]):
        begins = start[cell]
        for slot in (2 * cell, 2 * cell + 1):
            n = total = np.int64(0)
            for number in range(sums.shape[0]):
                n += sums[number, slot, 0]
                total += sums[number, slot, 1]
            beyond = total - n * begins
            count[slot] += n
            high[slot] += beyond >> 26
            low[slot] += beyond & _HALF
        zeros, ones = 2 * cell, 2 * cell + 1
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
def finish(
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
def lose(scores: Any, labels: Any, one: int) -> Any:
    """Return the sum of the logarithms of the chances given to what happened.

    One logarithm is taken of the product of many: a product is off by 2^-53 of itself for each
    factor, and its logarithm by as much.
    """
    total, product = 0.0, 1.0
    for start in range(0, scores.shape[0], _FACTORS):
        some, happened = scores[start : start + _FACTORS], labels[start : start + _FACTORS]
        chance = 1.0
        for i in range(some.shape[0]):
            s = np.float64(some[i])
            chance *= s if np.int64(happened[i]) == one else 1.0 - s
        if chance < _LEAST_PRODUCT:  # it could underflow
            for i in range(some.shape[0]):
                s = np.float64(some[i])
                each = s if np.int64(happened[i]) == one else 1.0 - s
                total += math.log(each) if each > 0.0 else -math.inf
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
def arrange(keys: IntArray, room: IntArray) -> None:  # noqa: C901, PLR0912  (compiled as one)
    """Put whole numbers from 0 upward in order; ``room`` is for as many of them.

    They are shared out among buckets by their leading bits, and so again where many share one: a
    number is moved once or twice as a rule, and never more often than it has bits.
    """
    ends = np.empty(_BUCKETS + 1, np.int64)
    left = np.empty((keys.shape[0] // _A_FEW + 2, 2), np.int64)
    left[0, 0], left[0, 1] = 0, keys.shape[0]
    count = np.int64(keys.shape[0] > 1)
    while count > 0:
        count -= 1
        begin = left[count, 0]
        some = keys[begin : left[count, 1]]
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
            room[np.uint64(ends[place])] = some[i]
            ends[place] += 1
        for i in range(n):
            some[i] = room[i]
        start = np.int64(0)
        for bucket in range(n_buckets if shift else 0):  # else a bucket holds equal numbers
            stop = ends[bucket]
            if stop - start > _A_FEW:
                left[count, 0], left[count, 1] = begin + start, begin + stop
                count += 1
            else:
                for i in range(start + 1, stop):
                    key, k = some[i], i
                    while k > start and some[k - 1] > key:
                        some[k] = some[k - 1]
                        k -= 1
                    some[k] = key
            start = stop


def sort(keys: IntArray, *, quick: bool = False) -> None:
    """Put whole numbers from 0 upward in order, in place, with compiled code where that pays.

    ``quick`` tells that compiled code has looked at the rows they come from.
    """
    if sorts(keys.shape[0], quick=quick):
        compiled(arrange)(keys, np.empty_like(keys))
    else:
        keys.sort()


def sorts(numbers: int, *, quick: bool) -> bool:
    """Tell whether compiled code is to sort so many numbers, as :func:`sort` has it."""
    return (quick and numbers >= _FEWEST_KEYS) or pays(numbers)


def drawn(scores: np.ndarray[Any, Any], size: int) -> FloatArray:
    """Return about so many of the scores that can be used, from everywhere, in ascending order."""
    step = -(-scores.shape[0] // size)
    keys, room = np.empty((2, size + 1), np.int64)
    count = compiled(draw, kind_of(scores))(scores, step, keys)
    compiled(arrange)(keys[:count], room)
    return keys[:count].view(np.float64)


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
    found: list[IntArray] = []

    def work(_: int, chunks: Iterator[slice]) -> None:
        room = np.empty(_chunk(scores.shape[0]) + 1, np.int64)
        for chunk in chunks:
            count = pack(scores[chunk], labels[chunk], one, *place, wanted, low, width, room)
            found.append(room[:count].copy())

    share_out(scores.shape[0], work, threads())
    keys = np.concatenate(found)
    sort(keys, quick=True)
    return keys


def selected(scores: np.ndarray[Any, Any], low: FloatArray, high: FloatArray) -> IntArray:
    """Return which rows lie in any of four ranges of scores, in no particular order."""
    pick = compiled(select, kind_of(scores))
    most = threads()
    room = np.empty((most, _chunk(scores.shape[0]) + 1), np.int64)
    found: list[IntArray] = []

    def work(number: int, chunks: Iterator[slice]) -> None:
        mine = room[number]
        for chunk in chunks:
            count = pick(scores[chunk], low, high, mine)
            found.append(mine[:count] + chunk.start)

    share_out(scores.shape[0], work, most)
    return np.concatenate(found)


def nothing_told() -> IntArray:
    """Return what :func:`look` tells of no rows."""
    told = np.zeros(_TOLD, np.int64)
    told[LOWEST] = np.iinfo(np.int64).max
    return told


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


def pays(rows: int) -> bool:
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
    """Return a function compiled for arrays of some kinds: ``"<f8 C"``."""
    numba = require("numba", "fast", "compiled passes need")
    types = numba.types

    def array(kind: str) -> Any:
        name, layout = kind.split()
        return types.Array(numba.from_dtype(np.dtype(name)), 1, layout, readonly=True)

    rows = [array(kind) for kind in kinds]
    names = {
        "whole": types.int64,
        "real": types.float64,
        "flags": types.boolean[::1],
        "numbers": types.int64[::1],
        "pairs": types.int64[:, ::1],
        "tables": types.int64[:, :, ::1],
        "bits": types.uint64[::1],
        "doubles": types.float64[::1],
    }
    arguments = *rows, *(names[name] for name in _TAKES[function].split())
    result: Callable[..., Any] = _dispatcher(numba, function, arguments)
    return result


def kind_of(array: np.ndarray[Any, Any]) -> str:
    """Return what compiled code must know of an array."""
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
