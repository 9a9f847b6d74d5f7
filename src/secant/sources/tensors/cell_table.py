"""Where cells are when a score's own bits tell its cell, as on a GPU.

The bits of a float from 0.0 upward, read as an integer, grow with it: its exponent and the leading
bits of its mantissa number a bin. A table says at which cell a bin begins and how many of the
bits below tell places inside one cell. Inside a bin the bits are linear in the score, so a sum of
scores is a sum of integers. From one half on it is the distance from 1 that counts, which is exact:
bins are as fine near 1 as near 0. Below 2^-40 there is one bin, in which scores are added as they
are; the score 1 has a bin to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray

__all__ = ["CellTable", "Kind", "bin_of", "shares"]

# The share of cells that is spread by variance; the rest is spread by count.
_BY_VARIANCE = 0.25


@dataclass(frozen=True)
class Kind:
    """A kind of floats, and how many bits of a mantissa tell a bin."""

    floats: Any
    bits: Any
    mantissa: int
    bias: int
    leading: int

    @classmethod
    def of(cls, scores: np.dtype[Any], leading: int) -> Kind:
        """Return the kind of scores of a type, float32 or float64."""
        if scores == np.float32:
            return cls(np.float32, np.uint32, 23, 127, leading)
        return cls(np.float64, np.uint64, 52, 1023, leading)

    @property
    def lower(self) -> int:
        """How many bits lie below those that tell a bin."""
        return self.mantissa - self.leading

    @property
    def first(self) -> int:
        """What the upper bits of 2^-40 are as a number."""
        return (self.bias - 40) << self.leading

    @property
    def half(self) -> int:
        """The bits of one half."""
        return (self.bias - 1) << self.mantissa

    @property
    def middle(self) -> int:
        """The bin that begins at one half."""
        return (39 << self.leading) + 1

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return self.middle + ((self.mantissa + 1) << self.leading) + 1

    def order(self, scores: Any) -> IntArray:
        """Return integers that grow with scores as they are numbered in bins."""
        bits = scores.view(self.bits).astype(np.int64)
        mirrored = 2 * self.half - (self.floats(1) - scores).view(self.bits).astype(np.int64)
        number: IntArray = np.where(bits < self.half, bits, mirrored)
        return number

    def scores(self, number: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the scores of numbers, and their distances from 1; the latter are exact."""
        below = np.minimum(number, self.half).astype(self.bits).view(self.floats)
        above = np.clip(2 * self.half - number, 0, self.half).astype(self.bits).view(self.floats)
        upper = number >= self.half
        distance = above.astype(np.float64)
        score = np.where(upper, 1 - distance, below.astype(np.float64))
        return score, np.where(upper, distance, 1 - score)


class CellTable:
    """Cells that hold about equal shares.

    Parameters
    ----------
    kind
        What scores are.
    held
        What share of the cells each bin deserves.
    n_cells
        How many cells to spread, besides one for each bin.
    within
        A table whose cells these cells shall not cross.
    """

    def __init__(
        self, kind: Kind, held: FloatArray, n_cells: int, within: CellTable | None = None
    ) -> None:
        self.kind = kind
        # frexp gives the exponent of the power of two at or below, and one.
        finer = np.clip(np.frexp(held * n_cells)[1].astype(np.int64) - 1, 0, kind.lower)
        if within is not None:
            finer = np.maximum(finer, kind.lower - within.width)
        finer[[0, -1]] = 0
        sizes = 1 << finer
        self.width: IntArray = kind.lower - finer
        self.width[[0, -1]] = 0  # nothing is added up there
        self.begin = np.cumsum(sizes) - sizes
        self.cells = int(sizes.sum())
        self.entries = (self.begin << 6 | self.width).astype(np.uint32)

    def cell(self, scores: Any) -> IntArray:
        """Return the cell of each score."""
        found, low = self._place(scores)
        cell: IntArray = self.begin[found] + (low >> self.width[found])
        return cell

    def rest(self, score: Any) -> int:
        """Return the place of one score inside its cell."""
        found, low = self._place(score.reshape(1))
        return int(low[0]) & ((1 << int(self.width[found[0]])) - 1)

    def _place(self, scores: Any) -> tuple[IntArray, IntArray]:
        """Return the bin of each score, and its place there."""
        kind = self.kind
        number = kind.order(scores)
        found = bin_of(kind, number)
        inside = (found > 0) & (found < kind.bins - 1)
        return found, np.where(inside, number & ((1 << kind.lower) - 1), 0)

    @cached_property
    def bin(self) -> IntArray:
        """The bin of each cell."""
        return np.repeat(np.arange(self.kind.bins), np.diff(self.begin, append=self.cells))

    @cached_property
    def start(self) -> IntArray:
        """The number at which each cell begins."""
        kind, of = self.kind, self.bin
        first = (of - 1 + kind.first) << kind.lower
        number = first + ((np.arange(self.cells) - self.begin[of]) << self.width[of])
        number[0], number[-1] = 0, 2 * kind.half
        start: IntArray = number
        return start

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest score that each cell can hold."""
        kind = self.kind
        last = np.append(self.start[1:] - 1, 2 * kind.half)
        last[-2] = 2 * kind.half - 1
        # Near 1 numbers are finer than scores, whose distances from 1 are multiples of a step.
        steps = 2.0 ** (kind.mantissa + 1)
        found = []
        for number, towards in ((self.start, np.floor), (last, np.ceil)):
            score, distance = kind.scores(number)
            found.append(np.where(number < kind.half, score, 1 - towards(distance * steps) / steps))
        return found[0], found[1]

    @cached_property
    def unit(self) -> FloatArray:
        """What the lowest bit of a score's number is worth in each cell; 0 at both ends."""
        kind, of = self.kind, self.bin
        octave = (of - 1) >> kind.leading  # from 2^-40 upward, and on beyond one half
        exponent = np.where(of < kind.middle, octave - 40, 37 - octave)
        unit: FloatArray = np.ldexp(1.0, exponent - kind.mantissa)
        unit[[0, -1]] = 0.0
        return unit


def bin_of(kind: Kind, number: IntArray) -> IntArray:
    """Return the bins of scores' numbers."""
    found: IntArray = np.clip((number >> kind.lower) - kind.first + 1, 0, kind.bins - 1)
    return found


def shares(kind: Kind, sample: Any) -> FloatArray:
    """Return the share of cells that each bin deserves by a sample of scores."""
    found = bin_of(kind, kind.order(sample))
    scores = sample.astype(np.float64)
    variance = scores * (1 - scores)
    share = (1 - _BY_VARIANCE) / len(scores) + variance * (
        _BY_VARIANCE / max(float(variance.sum()), 1e-300)
    )
    held: FloatArray = np.bincount(found, share, kind.bins).astype(np.float64)
    return held
