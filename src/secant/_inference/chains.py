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
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import FloatArray, IntArray
    from secant._inference.step_laws import Steps

__all__ = ["AT_ONCE", "SCALE", "Chain", "absorbed", "either", "of_either"]

# The mass a chain starts with. With 1 the far cells of a small P-value would be subnormal numbers:
# slow on many processors, and zero where some library has set them to be.
SCALE = 2.0**900

# Products up to which a step is quicker in one call than in one for each number of successes.
AT_ONCE = 1 << 15

# Cells by which a run of single steps may drift before its buffer is laid out afresh.
_DRIFT = 1 << 16


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

    def part(self, steps: slice, stride: int = 1) -> Chain:
        """Return the chain of one path, where several stand one after another."""
        hold, entry = (None if each is None else each[steps] for each in (self.hold, self.entry))
        low, high = self.low[steps], self.high[steps]
        return Chain(self.steps.part(steps), low, high, stride, hold, entry)


def absorbed(chain: Chain) -> FloatArray:
    """Return the mass absorbed, out of ``SCALE``, for each column."""
    if chain.entry is None:
        return _Band(chain).absorbed()
    state = _Rise(chain)
    for _ in state.steps():
        pass
    return np.array(state.gone)


def either(rise: Chain, fall: Chain) -> FloatArray:
    """Return the mass, out of ``SCALE``, of paths that one chain absorbs or the other.

    The two follow one path: what it rises by above its minimum, and falls by below its maximum.

    Parameters
    ----------
    rise, fall
        With one column, where nothing is rounded. Or with four, rounded down, up, down and up: the
        first two absorb what rises, or falls, at all; the others what does so after the opposite.

    Returns
    -------
    ndarray
        The mass; or a lower and an upper bound of it.

    Notes
    -----
    Both chains start anew when one of them absorbs: a path that has just risen by c for the first
    time, and has not fallen by c before, is at its maximum; so the chain that waits for a fall has
    it at rest, and is left without it. What is absorbed then has not done the opposite before.

    With rounding, a(k) and b(k) the chances to rise and to fall first, by step k at the latest, and
    u(j, k) that the path rises by c between j and k, a(k) is the chance to rise by k less the sum
    over j of u(j, k) times what b gains at j. That sum grows with all of b and of u, as u(j, k)
    becomes less when j grows. So an upper bound of a comes from lower bounds of b and u, and the
    other way round; the same holds of b.
    """
    states = up, down = _Rise(rise, each=True), _Rise(fall, each=True)
    for _ in zip(up.steps(), down.steps(), strict=True):
        rising, falling = up.news(), down.news()
        up.lose(falling)
        down.lose(rising)
    return of_either(np.array([state.gone for state in states]))


def of_either(gone: FloatArray) -> FloatArray:
    """Return the mass of a path, or its bounds, from what both chains have absorbed of it."""
    rise_and_fall: FloatArray = gone.sum(axis=-2)
    if gone.shape[-1] == 1:
        return rise_and_fall
    # Less what has done the opposite before, as bounded from the other side.
    return rise_and_fall[..., :2] - rise_and_fall[..., :1:-1]


def _runs(chain: Chain) -> Iterator[tuple[int, int]]:
    """Cut the steps into runs of single observations, not too long, and other steps."""
    single = np.diff(chain.steps.offset) == 0
    longest = max(64, _DRIFT // chain.stride)
    cuts = np.flatnonzero(~(single[1:] & single[:-1])) + 1
    edges = [0, *cuts.tolist(), len(single)]
    for start, stop in pairwise(edges):
        for first in range(start, stop, longest):
            yield first, min(first + longest, stop)


class _Band:
    """Mass between two absorbing barriers."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.origin = 0
        self.cells: FloatArray = np.array([SCALE])
        self.gone = 0.0

    def absorbed(self) -> FloatArray:
        """Take all steps, and return the mass that has left."""
        offset = self.chain.steps.offset
        for start, stop in _runs(self.chain):
            if offset[start] == offset[stop]:
                self.walk(start, stop)
            else:
                self.leap(start)
        return np.array([self.gone])

    def walk(self, first: int, last: int) -> None:
        """Take the steps ``first`` to ``last``, of one observation each, in place."""
        chain, steps, part = self.chain, self.chain.steps, slice(first, last)
        start, stop, gone = 0, self.cells.shape[0], self.gone
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
        self.gone = gone

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
    """Mass above its running minimum; cells hold all columns side by side.

    ``each`` says that what has left is wanted after each step.
    """

    def __init__(self, chain: Chain, *, each: bool = False) -> None:
        assert chain.entry is not None  # noqa: S101  (what makes it rise)
        assert chain.hold is not None  # noqa: S101
        self.chain, self.entry, self.hold, self.each = chain, chain.entry, chain.hold, each
        self.columns = int(self.entry.shape[1])
        self.origin = int(chain.low[0]) + 1
        self.cells: FloatArray = np.empty((0, self.columns))
        self.resting = [SCALE] * self.columns
        if each:  # columns for what has done the opposite first: nothing has, so far
            self.resting[2:] = [0.0] * (self.columns - 2)
        self.gone = [0.0] * self.columns
        self.known = [0.0, 0.0]

    def steps(self) -> Iterator[None]:
        """Take one step after the other."""
        offset = self.chain.steps.offset
        for start, stop in _runs(self.chain):
            if offset[start] == offset[stop]:
                yield from self.walk(start, stop)
            else:
                self.leap(start)
                yield

    def news(self) -> list[float]:
        """Return what has left since this was asked before, and was not here at second hand."""
        gone, before = self.gone, self.known
        self.known = gone[:1] if len(gone) == 1 else [gone[0] - gone[3], gone[1] - gone[2]]
        return [now - then for now, then in zip(self.known, before, strict=False)]

    def lose(self, first: list[float]) -> None:
        """Set apart what the opposite chain has absorbed: it is at rest here."""
        if len(first) == 1:
            self.resting[0] -= first[0]
        else:
            self.resting[2] += first[0]
            self.resting[3] += first[1]

    def walk(self, first: int, last: int) -> Iterator[None]:
        """Do what :meth:`_Band.walk` does."""
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
        moves = steps.stay[part].tolist(), steps.move[part].tolist()
        for stay, move, floor, ceiling, door in zip(*moves, low, high, doors, strict=True):
            if width := stop - start:
                alive, moved = buffer[start:stop], scratch[:width]
                multiply(alive, move, moved)
                multiply(alive, stay, alive)
                kept = max(min(ceiling - start - jump, width), 0)
                if kept < width:
                    across = moved[kept:]
                    if self.each:
                        self._leave(across)
                    else:
                        add(over[: width - kept], across, over[: width - kept])
                landing = buffer[start + jump : start + jump + kept]
                add(landing, moved[:kept], landing)
                stop = min(stop + jump, ceiling)
            # Mass that leaves its minimum, and then mass that comes to one.
            for column, cell in enumerate(door):
                leaving = self.resting[column] * move
                self.resting[column] *= stay
                if cell < ceiling:
                    stop = max(stop, cell - column + columns)
                    buffer[cell] += leaving
                else:
                    self.gone[column] += leaving
                if start < floor:
                    arriving = buffer[start + column : min(floor, stop) : columns]
                    self.resting[column] += sum(arriving.tolist())
            start = max(start, floor)
            stop = max(stop, start)
            yield
        self.cells = buffer[start:stop].reshape(-1, columns).copy()
        self.origin += start // columns
        self._leave(over)

    def _leave(self, across: FloatArray) -> None:
        """Count what is across as gone."""
        for column, mass in enumerate(across.reshape(-1, self.columns).sum(axis=0).tolist()):
            self.gone[column] += mass

    def leap(self, k: int) -> None:
        """Take step k, of several observations, by convolutions."""
        chain, steps, stride = self.chain, self.chain.steps, self.chain.stride
        pmf = steps.pmf[steps.offset[k] : steps.offset[k + 1]]
        taps, first = pmf.shape[0], int(steps.first[k])
        low, high = int(chain.low[k]), int(chain.high[k])
        # Where mass at rest goes with the fewest successes, and where the lowest cell would.
        doors = (self.entry[k] + (first - 1) * stride).tolist()
        bottom = self.origin + first * stride if len(self.cells) else min(doors)
        base = min(bottom - 1, low)
        top = max(bottom + len(self.cells), max(doors) + 1) + (taps - 1) * stride
        spread = np.zeros((max(top, high) - base, self.columns))
        _convolve(self.cells, pmf, stride, spread[bottom - base :])
        held = _clip(int(self.hold[k]) + 1 - first, taps)
        for column, door in enumerate(doors):
            mass = self.resting[column]
            self.resting[column] = mass * float(pmf[:held].sum())
            landing = spread[door - base + held * stride :: stride, column][: taps - held]
            landing += mass * pmf[held:]
        arriving = spread[: low + 1 - base].sum(axis=0).tolist()
        crossing = spread[high - base :].sum(axis=0).tolist()
        for column in range(self.columns):
            self.resting[column] += arriving[column]
            self.gone[column] += crossing[column]
        self.origin, self.cells = low + 1, spread[low + 1 - base : high - base]


def _inside(bottom: int, size: int, low: int, high: int) -> tuple[int, int]:
    """Return where, among ``size`` cells from ``bottom``, those above low and below high are."""
    below = _clip(low + 1 - bottom, size)
    return below, max(below, _clip(high - bottom, size))


def _clip(index: int, size: int) -> int:
    return min(max(index, 0), size)


def _convolve(cells: FloatArray, pmf: FloatArray, stride: int, out: FloatArray) -> None:
    """Add to ``out`` every column convolved with a law whose atoms are ``stride`` cells apart."""
    width, columns = cells.shape
    taps = pmf.shape[0]
    reach = (taps - 1) * stride
    if columns == 1 and (width + reach) * taps <= AT_ONCE:
        padded = np.zeros(width + 2 * reach)
        padded[reach : reach + width] = cells[:, 0]
        # Row i has the cells from which i can be reached; rows overlap in memory.
        sight = (padded.itemsize, stride * padded.itemsize)
        origins: FloatArray = np.ndarray((width + reach, taps), np.float64, padded, 0, sight)
        out[: width + reach, 0] += origins @ pmf[::-1]
    elif taps <= stride * columns:
        scratch = np.empty_like(cells)
        for j, probability in enumerate(pmf.tolist()):
            landing = out[j * stride : j * stride + width]
            np.multiply(cells, probability, scratch)
            np.add(landing, scratch, landing)
    else:
        for phase in range(min(stride, width)):
            for column in range(columns):
                law = np.convolve(cells[phase::stride, column], pmf)
                out[phase::stride, column][: law.shape[0]] += law
