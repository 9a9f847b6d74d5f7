"""Where cells are when a score's own bits tell its cell, as on a GPU.

The bits of a float from 0.0 upward, read as an integer, grow with it: its exponent and the leading
bits of its mantissa number a bin. A table says at which cell a bin begins and how many of the
bits below tell places inside one cell. Inside a bin the bits are linear in the score, so a sum of
scores is a sum of integers. Below 2^-40 there is one bin, in which scores are added as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray

__all__ = ["CellTable", "Kind"]

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
    def bins(self) -> int:
        """How many bins there are: all below 2^-40, forty octaves, and 1."""
        return (40 << self.leading) + 2


class CellTable:
    """Cells that hold about equal shares of a sample of scores.

    Parameters
    ----------
    kind
        What scores are.
    sample
        Some scores.
    n_cells
        How many cells to spread, besides one for each bin.
    within
        A table whose cells these cells shall not cross.
    """

    def __init__(
        self, kind: Kind, sample: Any, n_cells: int, within: CellTable | None = None
    ) -> None:
        self.kind = kind
        found = self._bin(sample.view(kind.bits))
        scores = sample.astype(np.float64)
        variance = scores * (1 - scores)
        share = np.full(len(scores), (1 - _BY_VARIANCE) / len(scores))
        share += _BY_VARIANCE * variance / max(float(variance.sum()), 1e-300)
        held = np.bincount(found, share, kind.bins) * n_cells
        # frexp gives the exponent of the power of two at or below, and one.
        finer = np.clip(np.frexp(held)[1] - 1, 0, kind.lower)
        if within is not None:
            finer = np.maximum(finer, kind.lower - within.width)
        finer[[0, -1]] = 0
        sizes = 1 << finer.astype(np.int64)
        self.width = kind.lower - finer.astype(np.int64)
        self.begin = np.cumsum(sizes) - sizes
        self.cells = int(sizes.sum())
        self.entries = (self.begin << 6 | self.width).astype(np.uint32)

    def cell(self, scores: Any) -> IntArray:
        """Return the cell of each score."""
        bits = scores.view(self.kind.bits)
        found = self._bin(bits)
        low = (bits & self.kind.bits((1 << self.kind.lower) - 1)).astype(np.int64)
        return self.begin[found] + np.where(found > 0, low >> self.width[found], 0)

    def rest(self, score: Any) -> int:
        """Return the place of one score inside its cell."""
        bits = score.reshape(1).view(self.kind.bits)
        found = int(self._bin(bits)[0])
        return int(bits[0]) & ((1 << int(self.width[found])) - 1) if found else 0

    def _bin(self, bits: Any) -> IntArray:
        upper = (bits >> self.kind.bits(self.kind.lower)).astype(np.int64)
        return np.maximum(upper - self.kind.first + 1, 0)

    @cached_property
    def bin(self) -> IntArray:
        """The bin of each cell."""
        return np.repeat(np.arange(self.kind.bins), np.diff(self.begin, append=self.cells))

    @cached_property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest score that each cell can hold."""
        kind, of = self.kind, self.bin
        first = (of - 1 + kind.first) << kind.lower
        low = first + ((np.arange(self.cells) - self.begin[of]) << self.width[of])
        high = low + (1 << self.width[of]) - 1
        low[0], high[0] = 0, (kind.first << kind.lower) - 1
        high[-1] = low[-1]  # the score 1 alone
        found = [ends.astype(kind.bits).view(kind.floats).astype(np.float64) for ends in (low, high)]
        return found[0], found[1]

    @cached_property
    def unit(self) -> FloatArray:
        """What the lowest bit of a score in each cell is worth; 0 in the first cell."""
        kind, of = self.kind, self.bin
        exponent = ((of - 1) >> kind.leading) - 40 - kind.mantissa
        unit = np.ldexp(1.0, exponent)
        unit[0] = 0.0
        return unit
