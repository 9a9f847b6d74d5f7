"""Passes over rows with weights, compiled: the same in any order, as those of :mod:`kernels` are.

A weight, brought below 1 by a power of two, and its product with the score are whole numbers of
units of 2^-72, in two halves: rounded to 2^-36, and what that leaves. Sums of whole numbers do not
depend on the order in which they are added. Counted copies of rows are whole numbers already.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks import kernels
from secant._blocks.kernels import FINE, HIGHEST, LOWEST, ONE, OTHER, REFUSED, VARIANCE, takes

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray

__all__ = [
    "COPIES",
    "FRACTIONS",
    "HALF_BITS",
    "HEAVIEST",
    "LIGHTEST",
    "NEGATIVE",
    "SUMS",
    "SUM_BITS",
    "ZEROS",
    "arrange_weighed",
    "halves",
    "heed",
    "lose_weighed",
    "nothing_heeded",
    "nothing_weighed",
    "sort_weighed",
    "tally",
    "weigh",
]

# Halves of a sum have so many bits. Adding these numbers and taking them away again rounds what is
# at most 1 to units of 2^-36, and what is left to units of 2^-72; their bits say how many.
HALF_BITS = 36
_UPPER = 2.0 ** (52 - HALF_BITS)
_LOWER = 1.5 * 2.0 ** (52 - 2 * HALF_BITS)
_UPPER_AS_INTEGER = int(np.float64(_UPPER).view(np.int64))
_LOWER_AS_INTEGER = int(np.float64(_LOWER).view(np.int64))
# The same for sums over all rows, which many may add up to: units of 2^-52, and of 2^-82.
SUM_BITS = 82
_REST = 1.5 * 2.0 ** (52 - SUM_BITS)
_REST_AS_INTEGER = int(np.float64(_REST).view(np.int64))
_QUARTER = (1 << 26) - 1
_SMALL = 2.0**-12
_SMALL_AS_INTEGER = int(np.float64(_SMALL).view(np.int64))
# Buckets of a sort, as many as stay in a near cache; in one with a few numbers they are compared.
_BUCKETS = 1 << 14
_A_FEW = 16
# Rows that are checked, then added up.
_TOGETHER = 1 << 10
# What `heed` tells of weights: bits of the lightest above zero and of the heaviest, less than zero
# if one is negative, more if one is not whole, how many are zero, and their sum if all are whole.
LIGHTEST, HEAVIEST, NEGATIVE, FRACTIONS, ZEROS, COPIES = range(6)
_MOST = int(np.iinfo(np.int64).max)
_WHOLE = 2.0**52
_WHOLE_AS_INTEGER = int(np.float64(_WHOLE).view(np.int64))
# What `weigh` tells, after what `look` tells: sums of w^2, w^2 s(1 - s), w^2 (r - s)^2, w^2 of
# events, w^3 s(1 - s), w (r - s)^2; in units of 2^-26, 2^-52 and 2^-82 each.
SUMS = ("ww", "variance", "squares", "ww1", "third", "squared_error")
_FIRST = REFUSED + 1


def nothing_heeded() -> IntArray:
    """Return what :func:`heed` tells of no weights."""
    told = np.zeros(6, np.int64)
    told[LIGHTEST] = _MOST
    return told


def nothing_weighed() -> IntArray:
    """Return what :func:`weigh` tells of no rows."""
    told = np.zeros(_FIRST + 3 * len(SUMS), np.int64)
    told[LOWEST] = _MOST
    return told


def halves(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Return values up to 1 as whole numbers, upper and lower halves, as :func:`weigh` does."""
    rounded = values + _UPPER
    rest = (values - (rounded - _UPPER)) + _LOWER
    return rounded.view(np.int64) - _UPPER_AS_INTEGER, rest.view(np.int64) - _LOWER_AS_INTEGER


@takes("numbers")
def heed(weights: Any, told: IntArray) -> None:
    """Tell which weights there are; infinite and missing ones are heavier than any other."""
    lightest, heaviest, least = told[LIGHTEST], told[HEAVIEST], told[NEGATIVE]
    fractions, zeros, copies = told[FRACTIONS], told[ZEROS], told[COPIES]
    for i in range(weights.shape[0]):
        w = np.float64(weights[i] + 0.0)  # not -0.0
        bits = np.float64(w).view(np.int64)
        heaviest, least = max(heaviest, bits), min(least, bits)
        lightest = min(lightest, bits if bits != 0 else _MOST)
        zeros += np.int64(bits == 0)
        whole = w + _WHOLE
        fractions |= np.int64(whole - _WHOLE != w)
        copies += np.float64(whole).view(np.int64) - _WHOLE_AS_INTEGER
    told[LIGHTEST], told[HEAVIEST], told[NEGATIVE] = lightest, heaviest, least
    told[FRACTIONS], told[ZEROS], told[COPIES] = fractions, zeros, copies


@takes("whole numbers whole whole numbers pairs numbers flags real doubles")
def weigh(  # noqa: PLR0915, PLR0917  (compiled)
    scores: Any,
    labels: Any,
    weights: Any,
    one: int,
    table: IntArray,
    shift: Any,
    bottom: Any,
    told: IntArray,
    sums: IntArray,
    anchor: IntArray,
    mixed: BoolArray,
    scale: float,
    steps: FloatArray,
) -> None:
    """Check rows, whose weights were, and add up what is weighted, overall and in cells.

    A cell and outcome has its rows, their weights and weighted scores, the last two in halves.
    ``steps`` are the largest that were possible, in ascending order. Otherwise as :func:`look`.
    """
    lowest, highest = told[LOWEST], told[HIGHEST]
    other, refused = told[OTHER], told[REFUSED]
    least = steps[0]
    for start in range(0, scores.shape[0], _TOGETHER):
        some, happened = scores[start : start + _TOGETHER], labels[start : start + _TOGETHER]
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
            w = np.float64(heavy[i]) * scale
            ww, residual = w * w, 1.0 - s if label == one else s
            spread, error = s * (1.0 - s) * ww, residual * residual
            # Each value is rounded to units, and what that leaves to finer ones.
            value = ww
            whole = value + 1.0
            a += np.float64(whole).view(np.int64) - ONE
            t += np.float64((value - (whole - 1.0)) + _REST).view(np.int64) - _REST_AS_INTEGER
            value = spread
            whole = value + 1.0
            b += np.float64(whole).view(np.int64) - ONE
            u += np.float64((value - (whole - 1.0)) + _REST).view(np.int64) - _REST_AS_INTEGER
            value = ww * error
            whole = value + 1.0
            c += np.float64(whole).view(np.int64) - ONE
            v += np.float64((value - (whole - 1.0)) + _REST).view(np.int64) - _REST_AS_INTEGER
            value = ww if label == one else ww - ww
            whole = value + 1.0
            d += np.float64(whole).view(np.int64) - ONE
            x += np.float64((value - (whole - 1.0)) + _REST).view(np.int64) - _REST_AS_INTEGER
            value = spread * w
            whole = value + 1.0
            e += np.float64(whole).view(np.int64) - ONE
            y += np.float64((value - (whole - 1.0)) + _REST).view(np.int64) - _REST_AS_INTEGER
            value = w * error
            whole = value + 1.0
            f += np.float64(whole).view(np.int64) - ONE
            z += np.float64((value - (whole - 1.0)) + _REST).view(np.int64) - _REST_AS_INTEGER
        for number, (units, rest) in enumerate(((a, t), (b, u), (c, v), (d, x), (e, y), (f, z))):
            told[_FIRST + 3 * number] += units >> 26
            told[_FIRST + 3 * number + 1] += units & _QUARTER
            told[_FIRST + 3 * number + 2] += rest
        if lowest < 0 or highest > ONE or other != 0:
            break
        for i in range(some.shape[0]):
            s = np.float64(some[i] + 0.0)
            w = np.float64(heavy[i]) * scale
            exact = np.float64(s).view(np.int64)
            bits = max(exact, bottom) - bottom
            entry = table[np.uint64(bits >> shift)]
            cell = (bits >> (entry & 63)) + (entry >> 6)
            slot = np.uint64((cell << 1) + np.int64(np.int64(happened[i]) == one))
            if anchor.shape[0] and w > 0.0 and exact != anchor[np.uint64(cell)]:
                mixed[np.uint64(cell)] = True
            scored = w * s
            whole, fewer = w + _UPPER, scored + _UPPER
            beyond = (w - (whole - _UPPER)) + _LOWER
            left = (scored - (fewer - _UPPER)) + _LOWER
            sums[slot, 0] += np.int64(w > 0.0)
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
    told[LOWEST], told[HIGHEST] = lowest, highest
    told[OTHER], told[REFUSED] = other, refused


@takes("whole numbers whole whole numbers pairs numbers flags")
def tally(  # noqa: PLR0917  (compiled)
    scores: Any,
    labels: Any,
    copies: Any,
    one: int,
    table: IntArray,
    shift: Any,
    bottom: Any,
    told: IntArray,
    sums: IntArray,
    anchor: IntArray,
    mixed: BoolArray,
) -> None:
    """Do what :func:`look` does, of rows that are there several times, some of them never.

    A cell and outcome has its rows, and the sum of their scores in units of 2^-52 in two halves.
    """
    lowest, highest = told[LOWEST], told[HIGHEST]
    other, refused = told[OTHER], told[REFUSED]
    for start in range(0, scores.shape[0], _TOGETHER):
        some, happened = scores[start : start + _TOGETHER], labels[start : start + _TOGETHER]
        times = copies[start : start + _TOGETHER]
        for i in range(some.shape[0]):
            s = np.float64(some[i] + 0.0)  # not -0.0
            bits = np.float64(s).view(np.int64)
            lowest, highest = min(lowest, bits), max(highest, bits)
            label = np.int64(happened[i])
            other |= label if label != one else 0
            refused += np.int64(bits == (0 if label == one else ONE))
        if lowest < 0 or highest > ONE or other != 0:
            break
        for i in range(some.shape[0]):
            s, n = np.float64(some[i] + 0.0), np.int64(times[i])
            exact = np.float64(s).view(np.int64)
            bits = max(exact, bottom) - bottom
            entry = table[np.uint64(bits >> shift)]
            cell = (bits >> (entry & 63)) + (entry >> 6)
            slot = np.uint64((cell << 1) + np.int64(np.int64(happened[i]) == one))
            if anchor.shape[0] and n > 0 and exact != anchor[np.uint64(cell)]:
                mixed[np.uint64(cell)] = True
            unit = np.float64(s + 1.0).view(np.int64) - ONE
            sums[slot, 0] += n
            sums[slot, 1] += n * (unit >> 26)
            sums[slot, 2] += n * (unit & _QUARTER)
            variance = s * (1.0 - s)
            if variance < _SMALL:
                unit = np.float64(variance + _SMALL).view(np.int64) - _SMALL_AS_INTEGER
                told[FINE] += n * (unit >> 26)
                told[FINE + 1] += n * (unit & _QUARTER)
            else:
                unit = np.float64(variance + 1.0).view(np.int64) - ONE
                told[VARIANCE] += n * (unit >> 26)
                told[VARIANCE + 1] += n * (unit & _QUARTER)
    told[LOWEST], told[HIGHEST] = lowest, highest
    told[OTHER], told[REFUSED] = other, refused


@takes("whole")
def lose_weighed(scores: Any, labels: Any, weights: Any, one: int) -> Any:
    """Return the sum of weights times logarithms of the chances given to what happened."""
    total = 0.0
    for i in range(scores.shape[0]):
        s, w = np.float64(scores[i]), np.float64(weights[i])
        if w > 0.0:
            happened = np.int64(labels[i]) == one
            if s == (0.0 if happened else 1.0):
                return -math.inf
            total += w * (math.log(s) if happened else math.log1p(-s))
    return total


@takes("numbers doubles numbers doubles")
def arrange_weighed(  # noqa: C901, PLR0912  (compiled as one)
    keys: IntArray, weights: FloatArray, room: IntArray, more_room: FloatArray
) -> None:
    """Put whole numbers from 0 upward in order, as :func:`kernels.arrange` does, with weights."""
    ends = np.empty(_BUCKETS + 1, np.int64)
    left = np.empty((keys.shape[0] // _A_FEW + 2, 2), np.int64)
    left[0, 0], left[0, 1] = 0, keys.shape[0]
    count = np.int64(keys.shape[0] > 1)
    while count > 0:
        count -= 1
        begin = left[count, 0]
        some, heavy = keys[begin : left[count, 1]], weights[begin : left[count, 1]]
        n, least, most = some.shape[0], some[0], some[0]
        for i in range(n):
            least, most = min(least, some[i]), max(most, some[i])
        shift = 0
        while (most - least) >> shift >= min(n, _BUCKETS):
            shift += 1
        n_buckets = ((most - least) >> shift) + 1
        for bucket in range(n_buckets + 1):
            ends[bucket] = 0
        for i in range(n):
            ends[np.uint64(((some[i] - least) >> shift) + 1)] += 1
        for bucket in range(n_buckets):
            ends[bucket + 1] += ends[bucket]
        for i in range(n):
            place = np.uint64((some[i] - least) >> shift)
            there = np.uint64(ends[place])
            room[there], more_room[there] = some[i], heavy[i]
            ends[place] += 1
        for i in range(n):
            some[i], heavy[i] = room[i], more_room[i]
        start = np.int64(0)
        for bucket in range(n_buckets if shift else 0):
            stop = ends[bucket]
            if stop - start > _A_FEW:
                left[count, 0], left[count, 1] = begin + start, begin + stop
                count += 1
            else:
                for i in range(start + 1, stop):
                    key, weight, k = some[i], heavy[i], i
                    while k > start and some[k - 1] > key:
                        some[k], heavy[k] = some[k - 1], heavy[k - 1]
                        k -= 1
                    some[k], heavy[k] = key, weight
            start = stop


def sort_weighed(
    keys: IntArray, weights: FloatArray, *, quick: bool = False
) -> tuple[IntArray, FloatArray]:
    """Put whole numbers from 0 upward in order, and weights with them, as ``kernels.sort`` does.

    What is returned may be the arrays themselves, in another order.
    """
    if kernels.sorts(keys.shape[0], quick=quick):
        room = np.empty_like(keys), np.empty_like(weights)
        kernels.compiled(arrange_weighed)(keys, weights, *room)
        return keys, weights
    order = np.argsort(keys)
    return keys[order], weights[order]
