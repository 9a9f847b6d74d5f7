"""Markov chains with barriers, in numpy: how much probability reaches the barrier.

Under perfect calibration the number of successes is a Markov chain on the integers: at each tie it
grows by a binomial count. Both finite-sample P-values follow such a chain cell by cell, keep what
lies between two barriers, and add up what leaves. Only positive numbers are ever added, so a small
P-value has the relative accuracy of a large one.

A chain is described by integers alone (:class:`Chain`), so that where a barrier stands is decided
once, before any probability is computed, and is the same in every implementation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._types import FloatArray, IntArray

__all__ = ["SCALE", "Chain", "Steps", "absorbed"]

# The mass a chain starts with. With 1 the far cells of a P-value of 1e-300 would be subnormal,
# which costs digits and a hundred times the time.
SCALE = 2.0**900

# Cells by which a stretch of single steps may drift before its buffer is laid out afresh.
_DRIFT = 1 << 16


@dataclass(frozen=True, slots=True)
class Steps:
    """What the success count does at each tie.

    Attributes
    ----------
    stay, move
        Probabilities of no success and of a success, for steps of one observation.
    first, offset, pmf
        For all other steps: ``pmf[offset[k]:offset[k + 1]]`` are the probabilities of ``first[k]``,
        ``first[k] + 1``, ... successes. A step of one observation has none.
    """

    stay: FloatArray
    move: FloatArray
    first: IntArray
    offset: IntArray
    pmf: FloatArray

    def __len__(self) -> int:
        return int(self.stay.shape[0])


@dataclass(frozen=True, slots=True)
class Chain:
    """A success count on cells ``1/stride`` apart, between a floor and a ceiling.

    A success moves a cell up by ``stride``. After step k the cells above ``low[k]`` and below
    ``high[k]`` are alive; neither limit ever goes down. What is at ``high[k]`` or above is
    absorbed. What is at ``low[k]`` or below

    - is absorbed too where ``entry`` is None; the chain then starts in cell 0;
    - otherwise comes to rest at the running minimum, where the chain also starts. Mass at rest
      stays so with up to ``hold[k]`` successes at step k (none, if that is one observation); with
      j more than that it goes to the cell ``entry[k] + (j - 1) * stride``.

    ``entry`` has one column for each way of rounding; columns do not mix.
    """

    steps: Steps
    low: IntArray
    high: IntArray
    stride: int = 1
    hold: IntArray | None = None
    entry: IntArray | None = None


def absorbed(chain: Chain) -> FloatArray:
    """Return the mass absorbed, out of ``SCALE``, for each column."""
    state: _Band | _Rise
    if chain.entry is None or chain.hold is None:
        state = _Band(chain)
    else:
        state = _Rise(chain, chain.entry, chain.hold)
    for start, stop in _stretches(chain):
        if chain.steps.offset[start] == chain.steps.offset[stop]:
            state.walk(start, stop)
        else:
            state.leap(start)
    return state.total()


def _stretches(chain: Chain) -> Iterator[tuple[int, int]]:
    """Cut the steps into stretches of single observations, not too long, and other steps."""
    single = np.diff(chain.steps.offset) == 0
    longest = max(64, _DRIFT // chain.stride)
    cuts = np.flatnonzero(~(single[1:] & single[:-1])) + 1
    edges = [0, *cuts.tolist(), len(single)]
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        for first in range(start, stop, longest):
            yield first, min(first + longest, stop)


class _Band:
    """Mass between two absorbing barriers."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.origin = 0
        self.cells: FloatArray = np.array([SCALE])
        self.gone = 0.0

    def total(self) -> FloatArray:
        return np.array([self.gone])

    def walk(self, first: int, last: int) -> None:
        """Take the steps ``first`` to ``last``, of one observation each, in place."""
        chain, steps, part = self.chain, self.chain.steps, slice(first, last)
        start, stop, gone = 0, self.cells.shape[0], 0.0
        low = (chain.low[part] + 1 - self.origin).tolist()
        high = (chain.high[part] - self.origin).tolist()
        buffer = np.zeros(max(high[-1], stop) + 1)
        buffer[:stop] = self.cells
        scratch = np.empty_like(buffer)
        multiply, add = np.multiply, np.add
        for stay, move, floor, ceiling in zip(
            steps.stay[part].tolist(), steps.move[part].tolist(), low, high, strict=True
        ):
            alive, moved = buffer[start:stop], scratch[: stop - start]
            multiply(alive, move, moved)
            multiply(alive, stay, alive)
            landing = buffer[start + 1 : stop + 1]
            add(landing, moved, landing)
            stop += 1
            while start < floor and start < stop:
                gone += buffer.item(start)
                start += 1
            while stop > ceiling and stop > start:
                stop -= 1
                gone += buffer.item(stop)
                buffer[stop] = 0.0
        self.cells = buffer[start:stop].copy()
        self.origin += start
        self.gone += gone

    def leap(self, k: int) -> None:
        """Take step k, of several observations, by one convolution."""
        chain, steps = self.chain, self.chain.steps
        pmf = steps.pmf[steps.offset[k] : steps.offset[k + 1]]
        if not self.cells.size:
            return
        spread = np.convolve(self.cells, pmf)
        bottom = self.origin + int(steps.first[k])
        below, above = _inside(bottom, spread.shape[0], int(chain.low[k]), int(chain.high[k]))
        self.gone += float(spread[:below].sum() + spread[above:].sum())
        self.origin, self.cells = bottom + below, spread[below:above]


class _Rise:
    """Mass above its running minimum; cells hold all columns side by side."""

    def __init__(self, chain: Chain, entry: IntArray, hold: IntArray) -> None:
        self.chain, self.entry, self.hold = chain, entry, hold
        self.columns = int(entry.shape[1])
        self.origin = int(chain.low[0]) + 1
        self.cells: FloatArray = np.empty((0, self.columns))
        self.resting = [SCALE] * self.columns
        self.gone = [0.0] * self.columns

    def total(self) -> FloatArray:
        return np.array(self.gone)

    def walk(self, first: int, last: int) -> None:
        """Take the steps ``first`` to ``last``, of one observation each, in place."""
        chain, steps, part, columns = self.chain, self.chain.steps, slice(first, last), self.columns
        jump, start, stop = chain.stride * columns, 0, self.cells.size
        low = ((chain.low[part] + 1 - self.origin) * columns).tolist()
        high = ((chain.high[part] - self.origin) * columns).tolist()
        doors = ((self.entry[part] - self.origin) * columns + np.arange(columns)).tolist()
        buffer = np.zeros(max(high[-1], stop))
        buffer[:stop] = self.cells.ravel()
        scratch = np.empty_like(buffer)
        over = np.zeros(jump)
        multiply, add = np.multiply, np.add
        for stay, move, floor, ceiling, door in zip(
            steps.stay[part].tolist(), steps.move[part].tolist(), low, high, doors, strict=True
        ):
            if width := stop - start:
                alive, moved = buffer[start:stop], scratch[:width]
                multiply(alive, move, moved)
                multiply(alive, stay, alive)
                kept = max(min(ceiling - start - jump, width), 0)
                if kept < width:
                    across = over[: width - kept]
                    add(across, moved[kept:], across)
                landing = buffer[start + jump : start + jump + kept]
                add(landing, moved[:kept], landing)
                stop = min(stop + jump, ceiling)
            # Mass that leaves its minimum, and then mass that comes to one.
            for column, cell in enumerate(door):
                leaving = self.resting[column] * move
                self.resting[column] *= stay
                if cell >= ceiling:
                    self.gone[column] += leaving
                elif cell < floor:
                    self.resting[column] += leaving
                else:
                    stop = max(stop, cell - column + columns)
                    buffer[cell] += leaving
                if start < floor:
                    arriving = buffer[start + column : min(floor, stop) : columns]
                    self.resting[column] += sum(arriving.tolist())
            start = max(start, floor)
            stop = max(stop, start)
        self.cells = buffer[start:stop].reshape(-1, columns).copy()
        self.origin += start // columns
        for column, mass in enumerate(over.reshape(-1, columns).sum(axis=0).tolist()):
            self.gone[column] += mass

    def leap(self, k: int) -> None:
        """Take step k, of several observations, by convolutions."""
        chain, steps, stride = self.chain, self.chain.steps, self.chain.stride
        pmf = steps.pmf[steps.offset[k] : steps.offset[k + 1]]
        first, low, high = int(steps.first[k]), int(chain.low[k]), int(chain.high[k])
        spread = _spread(self.cells, pmf, stride)
        bottom = self.origin + first * stride
        below, above = _inside(bottom, spread.shape[0], low, high)
        alive = np.zeros((high - low - 1, self.columns))
        if below < above:
            alive[bottom + below - low - 1 : bottom + above - low - 1] = spread[below:above]
        for column, entry in enumerate(self.entry[k].tolist()):
            mass = self.resting[column]
            # Where mass at rest would go with the smallest number of successes; then every stride.
            door = entry + (first - 1) * stride
            resting = max(-((door - low - 1) // stride), int(self.hold[k]) + 1 - first)
            resting = _clip(resting, pmf.shape[0])
            staying = max(_clip(-((door - high) // stride), pmf.shape[0]), resting)
            self.resting[column] = mass * float(pmf[:resting].sum())
            self.resting[column] += float(spread[:below, column].sum())
            self.gone[column] += mass * float(pmf[staying:].sum())
            self.gone[column] += float(spread[above:, column].sum())
            if resting < staying:
                landing = door + resting * stride - low - 1
                alive[landing::stride, column][: staying - resting] += mass * pmf[resting:staying]
        self.origin, self.cells = low + 1, alive


def _inside(bottom: int, size: int, low: int, high: int) -> tuple[int, int]:
    """Return where, among ``size`` cells from ``bottom``, those above low and below high are."""
    below = _clip(low + 1 - bottom, size)
    return below, max(below, _clip(high - bottom, size))


def _clip(index: int, size: int) -> int:
    return min(max(index, 0), size)


def _spread(cells: FloatArray, pmf: FloatArray, stride: int) -> FloatArray:
    """Convolve every column with a law whose atoms lie ``stride`` cells apart."""
    width, columns = cells.shape
    taps = pmf.shape[0]
    spread = np.zeros((width + stride * (taps - 1), columns))
    if taps <= stride * columns:
        for j, probability in enumerate(pmf.tolist()):
            spread[j * stride : j * stride + width] += probability * cells
    else:
        for phase in range(min(stride, width)):
            for column in range(columns):
                spread[phase::stride, column] = np.convolve(cells[phase::stride, column], pmf)
    return spread
