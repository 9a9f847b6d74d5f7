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
from secant._inference.chains import SCALE, Chain, of_either

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from secant._base.types import FloatArray, IntArray

__all__ = ["absorb", "absorbed", "either", "many", "run"]


def absorbed(chain: Chain) -> FloatArray:
    """Return the mass absorbed, out of ``SCALE``, for each column."""
    (gone,) = run(_compiled(), [chain])
    return np.asarray(gone)


def either(rise: Chain, fall: Chain) -> FloatArray:
    """Return the mass that one chain absorbs or the other; see ``chains.either``."""
    return of_either(run(_compiled(), [rise, fall]))


def many(ways: Sequence[Chain], bounds: IntArray, strides: IntArray) -> FloatArray:
    """Return the mass that chains absorb of many paths that stand one after another.

    Parameters
    ----------
    ways
        A chain, or two of the same paths as for :func:`either`; their own stride is not asked for.
    bounds
        Where paths begin, and where the last one ends.
    strides
        How many cells a success moves each.

    Returns
    -------
    ndarray
        A number for each path, each chain and each column.
    """
    return run(_compiled(), ways, bounds, strides)


def run(
    function: Callable[..., None],
    ways: Sequence[Chain],
    bounds: IntArray | None = None,
    strides: IntArray | None = None,
) -> FloatArray:
    """Run :func:`absorb`, compiled or not, on the chains of one path, or as in :func:`many`."""
    count, alone = len(ways[0].steps), bounds is None
    if bounds is None or strides is None:
        bounds, strides = np.array([0, count]), np.array([ways[0].stride])
    nowhere = np.zeros((count, 1), np.int64)
    entry = np.stack([nowhere if way.entry is None else way.entry for way in ways])
    told = np.zeros((len(strides), len(ways), entry.shape[2]))
    function(
        *(np.stack([getattr(way.steps, name) for way in ways]) for name in ("stay", "move")),
        np.stack([way.steps.first for way in ways]),
        ways[0].steps.offset,
        np.stack([way.steps.pmf for way in ways]),
        np.stack([way.low for way in ways]),
        np.stack([way.high for way in ways]),
        np.stack([nowhere[:, 0] if way.hold is None else way.hold for way in ways]),
        entry,
        ways[0].entry is not None,
        bounds,
        strides,
        SCALE,
        told,
    )
    return told.reshape(told.shape[1:]) if alone else told


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
    hold: IntArray,
    entry: IntArray,
    rises: bool,  # noqa: FBT001
    bounds: IntArray,
    strides: IntArray,
    scale: float,
    told: FloatArray,
) -> None:
    """Tell the mass that chains absorb, as ``chains.Chain`` says, path by path.

    The first axis of arrays is for the chains of one path, one or two; see ``chains.either``.
    """
    ways, columns = entry.shape[0], entry.shape[2]
    for path in range(strides.shape[0]):
        begin, end, stride = bounds[path], bounds[path + 1], strides[path]
        jump = stride * columns
        room = columns
        for way in range(ways):
            for k in range(begin, end):
                room = max(room, (high[way, k] - low[way, k] - 1) * columns)
        cells = np.zeros((ways, 2, room))
        from_below, from_above = np.zeros(room + columns), np.zeros(room + columns)
        gone, resting, below = (
            np.zeros((ways, columns)),
            np.zeros((ways, columns)),
            np.zeros(columns),
        )
        known = np.zeros((ways, 2))
        origins, widths = np.zeros(ways, np.int64), np.zeros(ways, np.int64)
        for way in range(ways):
            if rises:
                resting[way] = scale
                if ways == 2:
                    resting[way, 2:] = 0.0
                origins[way] = low[way, begin] + 1
            else:
                cells[way, 0, 0] = scale
                widths[way] = 1

        for k in range(begin, end):
            taps = offset[k + 1] - offset[k]
            for way in range(ways):
                old, new = cells[way, (k - begin) % 2], cells[way, (k - begin + 1) % 2]
                origin, width = origins[way], widths[way]
                # Cell i of the new array was cell i + drop of the old one. The new array ends at
                # `limit`.
                bottom = max(origin, low[way, k] + 1)
                drop = (bottom - origin) * columns
                limit = max(high[way, k] - bottom, 0) * columns
                below[:] = 0.0
                if taps == 0:
                    p, q = move[way, k], stay[way, k]
                    # The cells below `one` come from cells that stay, those from `two` on from
                    # cells that move, those between from both or from neither.
                    one = min(max(width - drop, 0), limit)
                    two = min(max(jump - drop, 0), limit)
                    stop = max(min(width + jump - drop, limit), two)
                    source, target = old[drop : drop + min(one, two)], new[: min(one, two)]
                    for i in range(target.shape[0]):
                        target[i] = q * source[i]
                    target = new[one:two]
                    for i in range(target.shape[0]):
                        target[i] = 0.0
                    start = two + drop - jump
                    both = max(min(one, stop) - two, 0)
                    source, other = old[two + drop : two + drop + both], old[start : start + both]
                    target = new[two : two + both]
                    for i in range(target.shape[0]):
                        target[i] = q * source[i] + p * other[i]
                    source, target = old[start + both : start + stop - two], new[two + both : stop]
                    for i in range(target.shape[0]):
                        target[i] = p * source[i]
                    for i in range(min(drop, width)):
                        below[i % columns] += q * old[i]
                    for i in range(min(drop - jump, width)):
                        below[i % columns] += p * old[i]
                    for i in range(max(limit + drop - jump, 0), width):
                        gone[way, i % columns] += p * old[i]
                    width = max(one, stop)
                else:
                    least = first[way, k]
                    # Running sums over the cells from which anything can leave at either end.
                    lowest = drop - least * jump
                    highest = limit + drop - (least + taps - 1) * jump
                    for i in range(min(lowest, width)):
                        from_below[i + columns] = from_below[i] + old[i]
                    from_above[width : width + columns] = 0.0
                    for i in range(width - 1, max(highest, 0) - 1, -1):
                        from_above[i] = from_above[i + columns] + old[i]
                    new[:limit] = 0.0
                    for j in range(taps):
                        p = pmf[way, offset[k] + j]
                        shift = (least + j) * jump - drop
                        start = min(max(-shift, 0), width)
                        stop = max(min(limit - shift, width), start)
                        source, target = old[start:stop], new[start + shift : stop + shift]
                        for i in range(target.shape[0]):
                            target[i] += p * source[i]
                        for column in range(columns):
                            below[column] += p * from_below[start + column]
                            gone[way, column] += p * from_above[stop + column]
                    width = limit

                if not rises:
                    gone[way, 0] += below[0]
                else:
                    for column in range(columns):
                        mass = resting[way, column]
                        resting[way, column] = below[column]
                        for j in range(taps if taps > 0 else 2):
                            if taps > 0:
                                count = first[way, k] + j
                                leaving = mass * pmf[way, offset[k] + j]
                            else:
                                count, leaving = j, mass * (move[way, k] if j > 0 else stay[way, k])
                            cell = entry[way, k, column] + (count - 1) * stride - bottom
                            cell = cell * columns + column
                            if cell < 0 or count <= hold[way, k]:
                                resting[way, column] += leaving
                            elif cell >= limit:
                                gone[way, column] += leaving
                            else:
                                while width <= cell:
                                    new[width : width + columns] = 0.0
                                    width += columns
                                new[cell] += leaving
                origins[way], widths[way] = bottom, width

            if ways == 2:
                # What one chain absorbs first is at rest in the other, which is left without it.
                for way in range(2):
                    for side in range(1 if columns == 1 else 2):
                        now = gone[way, side]
                        if columns > 1:
                            now -= gone[way, 3 - side]
                        news = now - known[way, side]
                        known[way, side] = now
                        if columns == 1:
                            resting[1 - way, 0] -= news
                        else:
                            resting[1 - way, 2 + side] += news
        told[path] = gone
