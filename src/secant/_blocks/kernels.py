"""Passes over rows, compiled, on all cores; nothing here imports numba before it is needed.

A score is a whole number of units of 2^-52, rounded once. Sums of whole numbers do not depend on
the order in which they are added, so that neither the order of rows nor chunks nor the number of
threads can change an answer in its last bit.

:func:`check`, :func:`add`, :func:`add_ties`, :func:`lose` and :func:`select` are ordinary Python
that numba compiles, a type of scores and of labels at a time.
"""

from __future__ import annotations

import itertools
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray

__all__ = [
    "CHUNK",
    "FINE",
    "HIGHEST",
    "LOWEST",
    "ONE",
    "OTHER",
    "RANGES",
    "REFUSED",
    "UNIT_BITS",
    "VARIANCE",
    "add",
    "add_ties",
    "as_whole",
    "check",
    "compiled",
    "is_ready",
    "kind_of",
    "lose",
    "nothing_told",
    "pays",
    "select",
    "selected",
    "share_out",
    "threads",
]

# Scores are counted in units of this power of two.
UNIT_BITS = 52
_UNITS = 2.0**UNIT_BITS
# The double 1.0 as an integer; those in [0, 1] are integers from 0 to this one.
ONE = int(np.float64(1).view(np.int64))
_HALF = (1 << 26) - 1
# Rows that one call looks at: few enough to stay in a cache until they are looked at again.
CHUNK = 1 << 16
_A_THREAD = 1 << 17
# Ranges of scores that rows are selected from, and rows looked at before any is noted.
RANGES = 4
_AT_A_TIME = 64
# Rows whose variances, in units of 2^-64, an integer holds.
_TOGETHER = 1 << 10
# Chances that are multiplied at a time, and the least product to go on with: the square is normal.
_FACTORS = 8
_LEAST_PRODUCT = 2.0**-500
# What `check` tells: the smallest and the largest score as integers; anything but zero if a label
# is neither 0 nor 1; rows whose score rules out what happened; the sum of s(1 - s) in two parts,
# where it is at least 2^-12 and where it is less, each as its upper and its lower half.
LOWEST, HIGHEST, OTHER, REFUSED, VARIANCE, FINE = 0, 1, 2, 3, 4, 6
_TOLD = 8
_SMALL = 2.0**-12
_SMALL_AS_INTEGER = int(np.float64(_SMALL).view(np.int64))

# Rows that numpy alone is to have seen in this process before numba is imported (.4 s), and before
# something is compiled (2 s) that is not yet on disk. A program that assesses less never waits.
IMPORT_AFTER = 1 << 22
COMPILE_AFTER = 1 << 25
# Rows of one call from which compiled code pays that is there already.
FEWEST_ROWS = 1 << 13


def check(scores: Any, labels: Any, one: int, told: IntArray) -> None:
    """Look at rows for what cannot be used, and add up s(1 - s)."""
    lowest, highest = told[LOWEST], told[HIGHEST]
    other, refused = told[OTHER], told[REFUSED]
    for start in range(0, scores.shape[0], _TOGETHER):
        # A part of its own: the compiler then sees that no index is negative.
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
    told[LOWEST], told[HIGHEST] = lowest, highest
    told[OTHER], told[REFUSED] = other, refused


def add(  # noqa: PLR0917  (compiled)
    scores: Any, labels: Any, one: int, table: IntArray, shift: int, first: int, sums: IntArray
) -> None:
    """Count rows and add up their scores in cells; a sum may wrap around."""
    last, rest = table.shape[0] - 1, (1 << shift) - 1
    for i in range(scores.shape[0]):
        s = np.float64(scores[i] + 0.0)
        bits = np.float64(s).view(np.int64)
        entry = table[np.uint64(min(max((bits >> shift) - first, 0), last))]
        cell = (entry >> 6) + ((bits & rest) >> (entry & 63))
        slot = np.uint64((cell << 1) | (np.int64(labels[i]) == one))
        sums[slot, 0] += 1
        sums[slot, 1] += np.int64(s * _UNITS + 0.5)


def add_ties(  # noqa: PLR0917  (compiled)
    scores: Any,
    labels: Any,
    one: int,
    table: IntArray,
    shift: int,
    first: int,
    sums: IntArray,
    anchor: IntArray,
    mixed: BoolArray,
) -> None:
    """Do the same, and mark the cells that hold another score than their anchor."""
    last, rest = table.shape[0] - 1, (1 << shift) - 1
    for i in range(scores.shape[0]):
        s = np.float64(scores[i] + 0.0)
        bits = np.float64(s).view(np.int64)
        entry = table[np.uint64(min(max((bits >> shift) - first, 0), last))]
        cell = np.uint64((entry >> 6) + ((bits & rest) >> (entry & 63)))
        if bits != anchor[cell]:
            mixed[cell] = True
        slot = np.uint64((np.int64(cell) << 1) | (np.int64(labels[i]) == one))
        sums[slot, 0] += 1
        sums[slot, 1] += np.int64(s * _UNITS + 0.5)


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


def selected(
    scores: np.ndarray[Any, Any], low: FloatArray, high: FloatArray, spare: int = 0
) -> IntArray:
    """Return which rows lie in any of four ranges of scores, in no particular order."""
    pick = compiled(select, kind_of(scores))
    most = max(threads() - spare, 1)
    room = np.empty((most, CHUNK + 1), np.int64)
    found: list[IntArray] = []

    def work(number: int, chunks: Iterator[slice]) -> None:
        mine = room[number]
        for chunk in chunks:
            count = pick(scores[chunk], low, high, mine)
            found.append(mine[:count] + chunk.start)

    share_out(scores.shape[0], work, most)
    return np.concatenate(found)


def nothing_told() -> IntArray:
    """Return what :func:`check` tells of no rows."""
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


@cache
def _is_installed() -> bool:
    return find_spec("numba") is not None


def pays(rows: int, *kinds: str) -> bool:
    """Tell whether compiled code is to look at so many rows, whose arrays are of some kinds.

    Numba takes half a second to be imported, and longer to compile. It is imported once a process
    has seen :data:`IMPORT_AFTER` rows, and compiles after :data:`COMPILE_AFTER`, unless what it has
    compiled lies on disk.
    """
    if rows < FEWEST_ROWS or not _is_installed():
        return False
    if is_ready(*kinds):
        return True
    before = _rows_seen(rows)
    if "numba" not in sys.modules and max(before, rows // 8) < IMPORT_AFTER:
        return False
    return max(before, rows // 8) >= COMPILE_AFTER or _is_on_disk()


_ready: set[tuple[str, ...]] = set()
_rows_before = [0]


def is_ready(*kinds: str) -> bool:
    """Tell whether code for arrays of some kinds was compiled, or loaded, in this process."""
    return kinds in _ready


def _rows_seen(more: int) -> int:
    """Return how many rows were seen before, and count some more."""
    before = _rows_before[0]
    _rows_before[0] = before + more
    return before


@cache
def _is_on_disk() -> bool:
    """Tell whether something was compiled before by this version, and kept."""
    numba = require("numba", "fast", "compiled passes need")
    where = Path(_dispatcher(numba, add).stats.cache_path or "")
    return any(where.glob("kernels.add-*.nbi"))


def _dispatcher(numba: Any, function: Callable[..., Any], *signatures: Any) -> Any:
    try:
        return numba.njit(list(signatures) or None, cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to keep the compiled code: compile it in every process
        return numba.njit(list(signatures) or None, nogil=True)(function)


@cache
def compiled(function: Callable[..., Any], *kinds: str) -> Callable[..., Any]:
    """Return a function of this module compiled for arrays of some kinds: ``"<f8 C"``."""
    numba = require("numba", "fast", "compiled passes need")
    types = numba.types
    whole, table = types.int64, types.int64[::1]

    def array(kind: str) -> Any:
        name, layout = kind.split()
        return types.Array(numba.from_dtype(np.dtype(name)), 1, layout, readonly=True)

    rows = [array(kind) for kind in kinds]
    arguments = {
        check: (*rows, whole, table),
        add: (*rows, whole, types.int32[::1], whole, whole, types.int64[:, ::1]),
        add_ties: (
            *rows,
            *(
                whole,
                types.int32[::1],
                whole,
                whole,
                types.int64[:, ::1],
                table,
                types.boolean[::1],
            ),
        ),
        lose: (*rows, whole),
        select: (*rows, types.float64[::1], types.float64[::1], table),
    }
    done = _dispatcher(numba, function, arguments[function])
    _ready.add(kinds)
    result: Callable[..., Any] = done
    return result


def kind_of(array: np.ndarray[Any, Any]) -> str:
    """Return what compiled code must know of an array."""
    return f"{array.dtype.str} {'C' if array.flags.c_contiguous else 'A'}"


def threads() -> int:
    """Return how many threads to use: as many as numba would, which NUMBA_NUM_THREADS says."""
    return int(require("numba", "fast", "compiled passes need").config.NUMBA_NUM_THREADS)


def share_out(rows: int, work: Callable[[int, Iterator[slice]], None], most: int) -> None:
    """Have rows looked at in chunks, by so many threads, each with a number of its own.

    ``work`` is called in every thread and takes chunks until none is left.
    """
    starts = itertools.count(0, CHUNK)

    def chunks() -> Iterator[slice]:
        while (start := next(starts)) < rows:
            yield slice(start, min(start + CHUNK, rows))

    count = min(most, rows // _A_THREAD)  # a thread takes as long to start as some chunks
    if count <= 1:
        work(0, chunks())
        return
    with ThreadPoolExecutor(count - 1) as pool:
        others = [pool.submit(work, number, chunks()) for number in range(1, count)]
        work(0, chunks())
        for other in others:
            other.result()
