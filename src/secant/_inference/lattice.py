"""Walks between barriers on a lattice of cells: how much of their mass is absorbed.

A walk is described by integers alone, but for the chances of its steps, so that where a barrier
stands is decided once and is the same in both implementations: in numpy, many walks together, and
compiled, one after another. Only positive numbers are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._base.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from secant._base.types import FloatArray, IntArray, NumberArray

__all__ = [
    "PRODUCT",
    "SCALE",
    "STEP",
    "Laws",
    "Run",
    "absorbed_compiled",
    "absorbed_in_numpy",
    "between",
    "log10_share",
    "rounded",
]

# The mass that a walk starts with, so that the far cells of a tiny P-value are normal numbers.
SCALE = 2.0**900
# Nanoseconds, about, that numpy takes for a step of a walk among many and for a product.
STEP, PRODUCT = 1_000.0, 0.7
# Walks from which their cells are moved all at once.
_MANY = 64


class Laws(NamedTuple):
    """How far walks move in each step, a column for each walk.

    In step k a walk moves up by ``first[k]`` and by one of the ``places``, in ascending order, from
    ``offset[k]`` to ``offset[k + 1]``, with the probabilities in these rows of ``chances``.
    """

    offset: IntArray
    places: NumberArray
    chances: FloatArray
    first: NumberArray

    @property
    def step(self) -> IntArray:
        """The step of each place."""
        return np.repeat(np.arange(len(self.first)), np.diff(self.offset))

    def mirrored(self, most: NumberArray) -> Laws:
        """Return the laws of what is left of ``most`` in each step."""
        turned = (self.offset[:-1] + self.offset[1:] - 1)[self.step] - np.arange(len(self.places))
        far = self.places[self.offset[1:] - 1]
        places = far[self.step] - self.places[turned]
        return Laws(self.offset, places, self.chances[turned], most - self.first - far[:, None])


@dataclass(frozen=True)
class Run:
    """Walks of equally many steps, a column each, that start at 0.

    After step k what is at ``high[k]`` or above is absorbed. What is at ``low[k]`` or below is
    absorbed too, unless walks ``rest``: then it comes to ``low[k]``, the running minimum, where
    such a walk starts. Where several walks rest, the second half are the falls of the paths in the
    first half: what one of the two absorbs is taken from what rests in the other.
    """

    laws: Laws
    low: IntArray
    high: IntArray
    rests: bool = False

    @property
    def before(self) -> IntArray:
        """What ``low`` was before each step; a walk that does not rest starts above it."""
        start = np.full_like(self.low[:1], 0 if self.rests else -1)
        return np.concatenate([start, self.low[:-1]])

    @property
    def work(self) -> float:
        """About how many nanoseconds numpy takes for it."""
        width = int((self.high - self.low).max())
        return STEP * self.low.size + PRODUCT * self.laws.chances.size * width


def between(laws: Laws, low: NumberArray, high: NumberArray, *, rests: bool = False) -> Run:
    """Describe walks between barriers at any height; the running minimum is rounded upwards."""
    lowest = (np.ceil if rests else np.floor)(low).astype(np.int64)
    highest = np.maximum(np.ceil(high).astype(np.int64), lowest + 1)
    return Run(laws, lowest, highest, rests)


def rounded(laws: Laws, low: FloatArray, high: FloatArray, *, rests: bool) -> Run:
    """Describe the same of one walk whose moves need not be whole numbers of cells.

    A move goes to the two cells nearest to it, in such shares that its mean stays. How far it goes
    below or beyond both barriers does not matter.
    """
    run, step = between(laws, low, high, rests=rests), laws.step
    lowest, highest = run.low[:, 0], run.high[:, 0]
    least = np.maximum(lowest - np.append(1, highest[:-1]) - 1, 0)
    most = np.maximum(highest - np.append(-1, lowest[:-1]), least)
    place = np.clip(laws.first[step, 0] + laws.places, least[step], most[step])
    whole = np.floor(place).astype(np.int64)
    above = place - whole
    chance = laws.chances[:, 0]
    step, cell = np.tile(step, 2), np.concatenate([whole, whole + 1])
    mass = np.concatenate([chance * (1.0 - above), chance * above])
    order = np.lexsort((cell, step))
    order = order[mass[order] > 0.0]
    step, cell = step[order], cell[order]
    new = np.append(True, (cell[1:] != cell[:-1]) | (step[1:] != step[:-1])).nonzero()[0]
    mass, step, cell = np.add.reduceat(mass[order], new), step[new], cell[new]
    offset = np.searchsorted(step, np.arange(len(lowest) + 1))
    first = cell[offset[:-1]]
    split = Laws(offset, cell - first[step], mass[:, None], first[:, None])
    return Run(split, run.low, run.high, rests)


def absorbed_in_numpy(run: Run) -> FloatArray:
    """Return the mass that each walk absorbs, out of ``SCALE``."""
    offset, places, chances, _ = run.laws
    steps, walks = run.low.shape
    # The first cell kept is that of ``low``; what has moved has an empty cell on both sides.
    start = run.low - run.before - run.laws.first + 1
    width, far = run.high - run.low, places[offset[1:] - 1]
    kept = [1 if run.rests else 2]
    ends = far.tolist(), start.min(axis=1).tolist(), width.max(axis=1).tolist()
    for reach, least, most in zip(*ends, strict=True):
        kept.append(max(1, min(kept[-1] + reach + 1 - least, most)))
    size = (np.array(kept[:-1]) + far + 2)[:, None]
    rows = np.arange(walks) * size
    bottom = np.clip(start + 1, 1, size - 1)
    top = np.clip(start + width, bottom, size - 1)
    cuts = np.stack([rows, rows + bottom, rows + top], axis=2).reshape(steps, -1)
    cells, gone = np.zeros((walks, kept[0])), np.zeros(walks)
    cells[:, -1] = SCALE
    half = walks // 2
    for k in range(steps):
        part = slice(offset[k], offset[k + 1])
        new = np.zeros((walks, int(size[k, 0])))
        _spread(cells, places[part], chances[part], new)
        sums = np.add.reduceat(new.ravel(), cuts[k])
        below, above = sums[::3], sums[2::3]
        cells = _moved(new, kept[k + 1], start[k], bottom[k], top[k])
        gone += above
        if not run.rests:
            gone += below
            continue
        cells[:, 0] = below
        if half:
            cells[:half, 0] -= above[half:]
            cells[half:, 0] -= above[:half]
    return gone


def _moved(
    new: FloatArray, kept: int, start: IntArray, bottom: IntArray, top: IntArray
) -> FloatArray:
    """Return so many cells from ``start``, those outside of ``bottom`` and ``top`` empty."""
    if len(new) > _MANY:
        source = np.arange(kept) + start[:, None]
        inside = (source >= bottom[:, None]) & (source < top[:, None])
        source += np.arange(len(new))[:, None] * new.shape[1]
        return np.where(inside, new.ravel().take(source, mode="clip"), 0.0)
    cells = np.zeros((len(new), kept))
    ends = zip(start.tolist(), bottom.tolist(), top.tolist(), strict=True)
    for walk, (begin, low, high) in enumerate(ends):
        cells[walk, low - begin : high - begin] = new[walk, low:high]
    return cells


def _spread(cells: FloatArray, places: NumberArray, chances: FloatArray, new: FloatArray) -> None:
    """Add to ``new``, from column 1 on, what moves from ``cells`` by each of some places."""
    walks, alive = cells.shape
    taps = len(places)
    if walks <= 2 and taps > 2 * walks and places[-1] < 4 * taps:
        for walk in range(walks):
            law = np.zeros(places[-1] + 1)
            law[places] = chances[:, walk]
            moved = np.convolve(cells[walk], law)
            new[walk, 1 : 1 + len(moved)] += moved
        return
    moved = np.empty_like(cells)
    for place, chance in zip((1 + places).tolist(), chances[:, :, None], strict=True):
        np.multiply(cells, chance, out=moved)
        landing = new[:, place : place + alive]
        np.add(landing, moved, out=landing)


def absorbed_compiled(run: Run, function: Callable[..., None] | None = None) -> FloatArray:
    """Return the same by compiled code."""
    gone = np.zeros(run.low.shape[1])
    arrays: Iterable[Any] = *run.laws, run.low, run.high
    (function or _compiled())(*map(np.ascontiguousarray, arrays), run.rests, SCALE, gone)
    return gone


@cache
def _compiled() -> Callable[..., None]:
    numba = require("numba", "fast", "compiled P-values need")
    compiled: Any
    try:
        compiled = numba.njit(cache=True, nogil=True)(one_by_one)
    except RuntimeError:  # nowhere to keep the compiled code: compile it in every process
        compiled = numba.njit(nogil=True)(one_by_one)
    function: Callable[..., None] = compiled
    return function


def one_by_one(  # noqa: C901, PLR0917  (compiled: no calls, no objects)
    offset: IntArray,
    places: IntArray,
    chances: FloatArray,
    first: IntArray,
    low: IntArray,
    high: IntArray,
    rests: bool,  # noqa: FBT001
    scale: float,
    gone: FloatArray,
) -> None:
    """Add the mass that walks absorb to ``gone``; both sides of a path take each step in turn."""
    steps, walks = low.shape
    ways = 2 if rests and walks > 1 else 1
    paths = walks // ways
    room = 2
    for walk in range(walks):
        for k in range(steps):
            room = max(room, high[k, walk] - low[k, walk])
    cells = np.zeros((ways, 2, room))
    base, alive, crossed = np.zeros(ways, np.int64), np.zeros(ways, np.int64), np.zeros(ways)
    for path in range(paths):
        for way in range(ways):
            # Cell i is that of the place base + i.
            base[way], alive[way] = (0, 1) if rests else (-1, 2)
            cells[way, 0, 0] = 0.0
            cells[way, 0, alive[way] - 1] = scale
        for k in range(steps):
            for way in range(ways):
                walk = path + way * paths
                old, new = cells[way, k % 2], cells[way, (k + 1) % 2]
                size, width = high[k, walk] - low[k, walk], alive[way]
                drop = low[k, walk] - base[way] - first[k, walk]
                new[:size] = 0.0
                below = above = 0.0
                for a in range(offset[k], offset[k + 1]):
                    p = chances[a, walk]
                    if p == 0.0:
                        continue
                    # What comes to the running minimum, what is alive, what has crossed.
                    shift = places[a] - drop
                    start = min(max(1 - shift, 0), width)
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
                new[0] = below if rests else 0.0
                crossed[way] = above if rests else above + below
                gone[walk] += crossed[way]
                base[way], alive[way] = low[k, walk], size
            if ways == 2:
                cells[0, (k + 1) % 2, 0] -= crossed[1]
                cells[1, (k + 1) % 2, 0] -= crossed[0]


def log10_share(mass: FloatArray) -> FloatArray:
    """Return decimal logarithms of shares of what walks start with, at most 0; -inf of nothing."""
    logs, share = np.full(mass.shape, -np.inf), mass / SCALE
    np.log10(mass, where=mass > 0.0, out=logs)
    logs -= math.log10(SCALE)
    # Where the share is a normal number it has more digits than the difference.
    np.log10(share, where=share >= np.finfo(np.float64).tiny, out=logs)
    capped: FloatArray = np.minimum(logs, 0.0)
    return capped
