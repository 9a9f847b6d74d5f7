"""Walks between barriers on a lattice of cells: how much of their mass is absorbed, in numpy.

A walk is described by integers alone, but for the chances of its steps, so that where a barrier
stands is decided once and is the same in every implementation. Only positive numbers are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray

__all__ = ["PRODUCT", "SCALE", "STEP", "Run", "absorbed_in_numpy", "log10_share"]

# The mass that a walk starts with, so that the far cells of a tiny P-value are normal numbers.
SCALE = 2.0**900
# Nanoseconds, about, that numpy takes for a step of a walk among many and for a product.
STEP, PRODUCT = 1_000.0, 0.7
# Walks from which their cells are moved all at once.
_MANY = 64


@dataclass(frozen=True)
class Run:
    """Walks of equally many steps, a column each, in integers but for the chances.

    In step k a walk moves up by ``first[k]`` cells and one of the ``places`` from ``offset[k]`` to
    ``offset[k + 1]``, with the probabilities in these rows of ``chances``. Then cells above
    ``low[k]`` and below ``high[k]`` are alive. What is at ``high[k]`` or above is absorbed. What is
    at ``low[k]`` or below is absorbed too where ``door`` is None; otherwise it comes to rest at the
    running minimum, where such a walk starts. Mass at rest that moves by at most ``hold[k]`` cells
    stays so; the rest of it moves from the cell ``door[k]``. Where there are doors and several
    walks, the second half are the falls of the paths in the first half: what one of the two
    absorbs is taken from what rests in the other.
    """

    offset: IntArray
    places: IntArray
    chances: FloatArray
    first: IntArray
    low: IntArray
    high: IntArray
    hold: IntArray | None = None
    door: IntArray | None = None

    @property
    def before(self) -> IntArray:
        """What ``low`` was before each step."""
        start = 0 if self.door is not None else -1
        return np.vstack([np.full_like(self.low[:1], start), self.low[:-1]])

    @property
    def work(self) -> float:
        """About how many nanoseconds numpy takes for it."""
        width = int((self.high - self.low).max())
        return STEP * self.low.size + PRODUCT * self.chances.size * width


def absorbed_in_numpy(run: Run) -> FloatArray:
    """Return the mass that each walk absorbs, out of ``SCALE``."""
    steps, walks = run.low.shape
    layout = _laid_out(run)
    cells, rest, gone = np.zeros((walks, 2)), np.zeros(walks), np.zeros(walks)
    rests, half = run.door is not None, walks // 2
    if run.door is not None and run.hold is not None:
        rest[:] = SCALE
        step = np.repeat(np.arange(steps), np.diff(run.offset))
        leaves = run.first[step] + run.places[:, None] > run.hold[step]
        leaving = np.where(leaves, run.chances, 0.0)
        staying = np.add.reduceat(np.where(leaves, 0.0, run.chances), run.offset[:-1])
        landing = (layout.rows + 1 + run.door - run.before)[step] + run.places[:, None]
    else:
        cells[:, 1] = SCALE
    for k in range(steps):
        part = slice(run.offset[k], run.offset[k + 1])
        new = np.zeros((walks, int(layout.size[k])))
        _spread(cells, run.places[part], run.chances[part], new)
        if rests:
            new.ravel()[landing[part]] += rest * leaving[part]
            rest *= staying[k]
        sums = np.add.reduceat(new.ravel(), layout.cuts[k])
        below, above = sums[::3], sums[2::3]
        cells = layout.alive_after(k, new)
        gone += above
        if not rests:
            gone += below
            continue
        rest += below
        if half:
            rest[:half] -= above[half:]
            rest[half:] -= above[:half]
    return gone


@dataclass(frozen=True)
class _Layout:
    """Where cells stand in arrays, a row for each step.

    Before a step its first column is the place of ``run.before``, which is never alive; after it
    there is an empty column on both sides. The columns from ``bottom`` to ``top`` stay alive and
    are moved down by ``start``; ``cuts`` are where sums below, inside and above begin, a row of a
    step after the other, and ``rows`` where each row does.
    """

    size: IntArray
    alive: list[int]
    rows: IntArray
    start: IntArray
    bottom: IntArray
    top: IntArray
    cuts: IntArray

    def alive_after(self, k: int, new: FloatArray) -> FloatArray:
        """Return the cells that are alive after a step."""
        start, bottom, top, alive = self.start[k], self.bottom[k], self.top[k], self.alive[k + 1]
        if len(new) > _MANY:
            column = np.arange(alive)
            source = column + start[:, None]
            inside = (source >= bottom[:, None]) & (source < top[:, None])
            source += self.rows[k][:, None]
            return np.where(inside, new.ravel().take(source, mode="clip"), 0.0)
        cells = np.zeros((len(new), alive))
        ends = zip(start.tolist(), bottom.tolist(), top.tolist(), strict=True)
        for walk, (begin, low, high) in enumerate(ends):
            cells[walk, low - begin : high - begin] = new[walk, low:high]
        return cells


def _laid_out(run: Run) -> _Layout:
    steps, walks = run.low.shape
    far = run.places[run.offset[1:] - 1]
    start = run.low - run.before - run.first + 1
    least, most = start.min(axis=1).tolist(), (run.high - run.low).max(axis=1).tolist()
    alive = [2]
    for reach, lowest, width in zip(far.tolist(), least, most, strict=True):
        alive.append(max(2, min(alive[-1] + reach + 1 - lowest, width)))
    size = np.array(alive[:-1]) + far + 2
    rows = np.arange(walks) * size[:, None]
    bottom = np.clip(start + 1, 1, size[:, None] - 1)
    top = np.clip(start + run.high - run.low, bottom, size[:, None] - 1)
    cuts = np.stack([rows, rows + bottom, rows + top], axis=2).reshape(steps, -1)
    return _Layout(size, alive, rows, start, bottom, top, cuts)


def _spread(cells: FloatArray, places: IntArray, chances: FloatArray, new: FloatArray) -> None:
    """Add to ``new``, from column 1 on, what moves from ``cells`` by each of some places."""
    walks, alive = cells.shape
    taps = len(places)
    if walks <= 2 and taps > 8 and places[-1] == taps - 1:
        for walk in range(walks):
            law = np.convolve(cells[walk], chances[:, walk])
            new[walk, 1 : 1 + len(law)] += law
    elif taps <= alive:
        moved = np.empty_like(cells)
        for place, chance in zip((1 + places).tolist(), chances[:, :, None], strict=True):
            np.multiply(cells, chance, out=moved)
            landing = new[:, place : place + alive]
            np.add(landing, moved, out=landing)
    else:
        for cell in range(alive):
            new[:, 1 + cell + places] += cells[:, cell, None] * chances.T


def log10_share(mass: FloatArray) -> FloatArray:
    """Return decimal logarithms of shares of what walks start with, at most 0; -inf of nothing."""
    logs, share = np.full(mass.shape, -np.inf), mass / SCALE
    np.log10(mass, where=mass > 0.0, out=logs)
    logs -= math.log10(SCALE)
    # Where the share is a normal number it has more digits than the difference.
    np.log10(share, where=share >= np.finfo(np.float64).tiny, out=logs)
    capped: FloatArray = np.minimum(logs, 0.0)
    return capped
