"""The walks of :mod:`secant._inference.lattice`, compiled: one after another, cell by cell."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.extras import require
from secant._inference.lattice import SCALE

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._base.types import FloatArray, IntArray
    from secant._inference.lattice import Run

__all__ = ["absorbed", "walk"]


def absorbed(run: Run, function: Callable[..., None] | None = None) -> FloatArray:
    """Return the mass that each walk absorbs, as ``lattice.absorbed_in_numpy`` does."""
    walks = run.low.shape[1]
    gone = np.zeros(walks)
    nothing = np.zeros((1, walks), np.int64)
    rests = run.door is not None
    (function or _compiled())(
        *map(
            np.ascontiguousarray,
            (
                run.offset,
                run.places,
                run.chances,
                run.first,
                run.low,
                run.high,
                run.hold if rests else nothing,
                run.door if rests else nothing,
            ),
        ),
        rests,
        SCALE,
        gone,
    )
    return gone


@cache
def _compiled() -> Callable[..., None]:
    numba = require("numba", "fast", "compiled P-values need")
    compiled: Any
    try:
        compiled = numba.njit(cache=True, nogil=True)(walk)
    except RuntimeError:  # nowhere to keep the compiled code: compile it in every process
        compiled = numba.njit(nogil=True)(walk)
    function: Callable[..., None] = compiled
    return function


def walk(  # noqa: C901, PLR0912, PLR0915, PLR0917  (compiled: no calls, no objects)
    offset: IntArray,
    places: IntArray,
    chances: FloatArray,
    first: IntArray,
    low: IntArray,
    high: IntArray,
    hold: IntArray,
    door: IntArray,
    rests: bool,  # noqa: FBT001
    scale: float,
    gone: FloatArray,
) -> None:
    """Add the mass that walks absorb to ``gone``, as ``lattice.Run`` says.

    Both sides of a path take each step in turn.

    ``offset`` tells where the places of each step begin, ``chances`` has a row for each place.
    """
    steps, walks = low.shape
    ways = 2 if rests and walks > 1 else 1
    paths = walks // ways
    room = 2
    for walk in range(walks):
        for k in range(steps):
            room = max(room, high[k, walk] - low[k, walk] + 1)
    cells = np.zeros((ways, 2, room))
    base, alive = np.zeros(ways, np.int64), np.zeros(ways, np.int64)
    rest, crossed = np.zeros(ways), np.zeros(ways)
    for path in range(paths):
        for way in range(ways):
            # Cell i is that of the place base + 1 + i.
            if rests:
                base[way], alive[way], rest[way] = 0, 0, scale
            else:
                base[way], alive[way], cells[way, 0, 0] = -1, 1, scale
        for k in range(steps):
            begin, end = offset[k], offset[k + 1]
            for way in range(ways):
                walk = path + way * paths
                old, new = cells[way, k % 2], cells[way, (k + 1) % 2]
                size, width = high[k, walk] - low[k, walk] - 1, alive[way]
                drop = low[k, walk] - base[way] - first[k, walk]
                new[:size] = 0.0
                below = above = 0.0
                for a in range(begin, end):
                    p = chances[a, walk]
                    if p == 0.0:
                        continue
                    # What stays below the running minimum, what is alive, what has crossed.
                    shift = places[a] - drop
                    start = min(max(-shift, 0), width)
                    stop = max(min(size - shift, width), start)
                    mass = 0.0
                    for i in range(start):
                        mass += old[i]
                    below += p * mass
                    source, target = old[start:stop], new[start + shift : stop + shift]
                    for i in range(source.shape[0]):
                        target[i] += p * source[i]
                    mass = 0.0
                    for i in range(stop, width):
                        mass += old[i]
                    above += p * mass
                if rests:
                    stays = 0.0
                    for a in range(begin, end):
                        p, move = chances[a, walk], first[k, walk] + places[a]
                        if move <= hold[k, walk]:
                            stays += p
                            continue
                        at = door[k, walk] + move - low[k, walk] - 1
                        if at < 0:
                            below += p * rest[way]
                        elif at >= size:
                            above += p * rest[way]
                        else:
                            new[at] += p * rest[way]
                    rest[way] = rest[way] * stays + below
                    gone[walk] += above
                else:
                    gone[walk] += above + below
                crossed[way] = above
                base[way], alive[way] = low[k, walk], size
            if ways == 2:
                rest[0] -= crossed[1]
                rest[1] -= crossed[0]
