"""The same chains as :mod:`secant._inference.chains`, compiled.

:func:`absorb` is ordinary Python that numba compiles when it is first needed; nothing here imports
numba before. Two arrays take turns, so that a step reads one and writes the other and the compiler
sees that it may work on several cells at once.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.extras import require
from secant._inference.chains import SCALE, Chain

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._base.types import FloatArray, IntArray

__all__ = ["absorb", "absorbed", "run"]


def absorbed(chain: Chain, marks: IntArray) -> FloatArray:
    """Return the mass absorbed, out of ``SCALE``, up to each of some steps, for each column."""
    return run(_compiled(), chain, marks)


def run(function: Callable[..., None], chain: Chain, marks: IntArray) -> FloatArray:
    """Run :func:`absorb`, compiled or not, on a chain."""
    steps, entry, hold = chain.steps, chain.entry, chain.hold
    rises = entry is not None
    if entry is None or hold is None:
        entry, hold = np.zeros((len(steps), 1), np.int64), np.zeros(len(steps), np.int64)
    told = np.zeros((len(marks), entry.shape[1]))
    function(
        steps.stay,
        steps.move,
        steps.first,
        steps.offset,
        steps.pmf,
        chain.low,
        chain.high,
        chain.stride,
        rises,
        hold,
        entry,
        SCALE,
        marks,
        told,
    )
    return told


@cache
def _compiled() -> Callable[..., None]:
    numba = require("numba", "fast", "compiled P-values need")
    compiled: Any
    try:
        compiled = numba.njit(cache=True, nogil=True)(absorb)
    except RuntimeError:  # nowhere to keep the compiled code: compile it in every process
        compiled = numba.njit(nogil=True)(absorb)
    function: Callable[..., None] = compiled
    return function


def absorb(  # noqa: C901, PLR0912, PLR0915, PLR0917  # compiled: no calls, no objects
    stay: FloatArray,
    move: FloatArray,
    first: IntArray,
    offset: IntArray,
    pmf: FloatArray,
    low: IntArray,
    high: IntArray,
    stride: int,
    rises: bool,  # noqa: FBT001
    hold: IntArray,
    entry: IntArray,
    scale: float,
    marks: IntArray,
    told: FloatArray,
) -> None:
    """Tell the mass that a chain absorbs up to each mark, as ``chains.Chain`` says."""
    columns = entry.shape[1]
    steps, passed = marks[-1] + 1, 0
    gone = np.zeros(columns)
    jump = stride * columns
    room = columns
    for k in range(steps):
        room = max(room, (high[k] - low[k] - 1) * columns)
    old, new = np.zeros(room), np.zeros(room)
    from_below, from_above = np.zeros(room + columns), np.zeros(room + columns)
    resting, below = np.zeros(columns), np.zeros(columns)
    if rises:
        resting[:] = scale
        origin, width = low[0] + 1, 0
    else:
        old[0] = scale
        origin, width = 0, 1

    for k in range(steps):
        # Cell i of the new array was cell i + drop of the old one. The new array ends at `limit`.
        bottom = max(origin, low[k] + 1)
        drop = (bottom - origin) * columns
        limit = max(high[k] - bottom, 0) * columns
        below[:] = 0.0
        taps = offset[k + 1] - offset[k]
        if taps == 0:
            p, q = move[k], stay[k]
            # The cells below `one` come from cells that stay, those from `two` on from cells that
            # move, those between from both or from neither.
            one = min(max(width - drop, 0), limit)
            two = min(max(jump - drop, 0), limit)
            end = max(min(width + jump - drop, limit), two)
            source, target = old[drop : drop + min(one, two)], new[: min(one, two)]
            for i in range(target.shape[0]):
                target[i] = q * source[i]
            target = new[one:two]
            for i in range(target.shape[0]):
                target[i] = 0.0
            start = two + drop - jump
            both = max(min(one, end) - two, 0)
            source, other = old[two + drop : two + drop + both], old[start : start + both]
            target = new[two : two + both]
            for i in range(target.shape[0]):
                target[i] = q * source[i] + p * other[i]
            source, target = old[start + both : start + end - two], new[two + both : end]
            for i in range(target.shape[0]):
                target[i] = p * source[i]
            for i in range(min(drop, width)):
                below[i % columns] += q * old[i]
            for i in range(min(drop - jump, width)):
                below[i % columns] += p * old[i]
            for i in range(max(limit + drop - jump, 0), width):
                gone[i % columns] += p * old[i]
            width = max(one, end)
        else:
            # Running sums over the cells from which anything can leave at either end.
            lowest = drop - first[k] * jump
            highest = limit + drop - (first[k] + taps - 1) * jump
            for i in range(min(lowest, width)):
                from_below[i + columns] = from_below[i] + old[i]
            from_above[width : width + columns] = 0.0
            for i in range(width - 1, max(highest, 0) - 1, -1):
                from_above[i] = from_above[i + columns] + old[i]
            new[:limit] = 0.0
            for j in range(taps):
                p = pmf[offset[k] + j]
                shift = (first[k] + j) * jump - drop
                start = min(max(-shift, 0), width)
                stop = max(min(limit - shift, width), start)
                source, target = old[start:stop], new[start + shift : stop + shift]
                for i in range(target.shape[0]):
                    target[i] += p * source[i]
                for column in range(columns):
                    below[column] += p * from_below[start + column]
                    gone[column] += p * from_above[stop + column]
            width = limit

        if not rises:
            gone[0] += below[0]
        else:
            for column in range(columns):
                mass = resting[column]
                resting[column] = below[column]
                for j in range(taps if taps > 0 else 2):
                    if taps > 0:
                        count, leaving = first[k] + j, mass * pmf[offset[k] + j]
                    else:
                        count, leaving = j, mass * (move[k] if j > 0 else stay[k])
                    cell = (entry[k, column] + (count - 1) * stride - bottom) * columns + column
                    if cell < 0 or count <= hold[k]:
                        resting[column] += leaving
                    elif cell >= limit:
                        gone[column] += leaving
                    else:
                        while width <= cell:
                            new[width : width + columns] = 0.0
                            width += columns
                        new[cell] += leaving
        old, new = new, old
        origin = bottom
        if k == marks[passed]:
            told[passed] = gone
            passed += 1
