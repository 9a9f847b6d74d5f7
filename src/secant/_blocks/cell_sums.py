"""Running sums per cell: one pass over the observations fills them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._blocks.grids import Scratch
from secant._blocks.table import Blocks, Moments, Totals, add_totals

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray, NumberArray
    from secant._blocks.grids import Grid
    from secant._input.observations import Chunk

__all__ = ["CellMeans", "CellSums", "row_totals"]

# Mean distances from anchors are told in this part of a cell: finer than rounding can be trusted.
_MEAN_STEPS = 2.0**32


class CellMeans(NamedTuple):
    """The mean score of some cells, and how many observations of either response they hold."""

    mean: FloatArray
    n0: IntArray
    n1: IntArray


@dataclass
class CellSums:
    """Sums per cell of a grid, fed chunk by chunk.

    Slots ``2c`` and ``2c + 1`` belong to the responses 0 and 1 of cell c, so that one
    ``bincount`` a chunk fills both.

    Parameters
    ----------
    grid
        Where the cells are.
    sampling
        Whether observations carry sampling weights.
    moments
        Whether to keep the sums that binned metrics need.
    precise
        Whether cells are so wide that distances from their anchors must be added with care.
    """

    grid: Grid
    sampling: bool
    moments: bool
    precise: bool = False
    count: IntArray = field(init=False)
    offset: FloatArray = field(init=False)
    weight: FloatArray = field(init=False)
    wv: FloatArray = field(init=False)
    wwv: FloatArray = field(init=False)
    ww: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        cells = self.grid.low.shape[0]
        # Cells seen to hold another score than their anchor; without ties, any may.
        self._mixed = np.full(cells, not self.grid.ties)
        self.count = np.zeros(2 * cells, np.int64)
        self.offset = np.zeros(2 * cells)
        if self.sampling:
            self.weight = np.zeros(2 * cells)
        if self.moments:
            self.wv = np.zeros(cells)
            self.wwv = np.zeros(cells)
            self.ww = np.zeros(cells)
        self.parts: list[Totals] = []
        self._scratch = Scratch()

    def add(self, chunk: Chunk) -> None:
        """Add some observations."""
        scores, labels, weights = chunk
        if not scores.size:
            return
        cell, offset = self.grid.locate(scores, self._scratch)
        if self.grid.ties:
            elsewhere = offset != 0
            if elsewhere.any():
                self._mixed[cell[elsewhere]] = True
        slot = np.left_shift(cell, 1, out=cell)
        slot += labels
        self._count(slot, weights)
        self._add_offsets(slot, offset, weights)
        variance = np.subtract(1, scores, out=offset)  # its memory is warm
        variance *= scores
        if self.moments:
            self._add_moments(slot >> 1, variance, weights)
        self.parts.append(row_totals(chunk, variance, sampling=self.sampling))

    def blocks(self) -> Blocks:
        """Return the non-empty cells as blocks."""
        n0, n1 = self.count[::2], self.count[1::2]
        filled = np.flatnonzero(n0 + n1)
        n0, n1 = n0[filled], n1[filled]
        w0: NumberArray = self.weight[::2][filled] if self.sampling else n0
        w1: NumberArray = self.weight[1::2][filled] if self.sampling else n1
        anchor, mixed = self.grid.anchor[filled], self._mixed[filled]
        moments = None
        if self.moments:
            moments = Moments(self.wv[filled], self.wwv[filled], self.ww[filled])
        return Blocks(
            low=np.where(mixed, self.grid.low[filled], anchor),
            high=np.where(mixed, self.grid.high[filled], anchor),
            n0=n0,
            n1=n1,
            w0=w0,
            w1=w1,
            down=np.maximum(w0 * anchor + self.offset[::2][filled] * self.grid.unit, 0),
            up=np.maximum(w1 * (1 - anchor) - self.offset[1::2][filled] * self.grid.unit, 0),
            moments=moments,
        )

    def means(self) -> CellMeans:
        """Return counts and mean scores of the non-empty cells of a dyadic grid, unweighted.

        Rounded a little, so that they are the same in whatever order the sums were added up.
        """
        n0, n1 = self.count[::2], self.count[1::2]
        filled = np.flatnonzero(n0 + n1)
        n0, n1 = n0[filled], n1[filled]
        share = (self.offset[::2] + self.offset[1::2])[filled] / (n0 + n1)
        share = np.clip(np.rint(share * _MEAN_STEPS), 0, _MEAN_STEPS - 1) / _MEAN_STEPS
        return CellMeans(self.grid.anchor[filled] + share * self.grid.unit, n0, n1)

    def totals(self, blocks: Blocks | None = None) -> Totals:
        """Return the sums over everything; ``blocks`` are those of these cells, if at hand."""
        totals = add_totals(self.parts)
        if self.sampling:
            return totals
        # Without sampling weights the cells know the sum of |r - s| already.
        blocks = self.blocks() if blocks is None else blocks
        return replace(totals, wwe=float(blocks.up.sum() + blocks.down.sum()))

    def plus(self, other: CellSums) -> CellSums:
        """Return the sums over both sets of observations, cell by cell of the same grid."""
        both = CellSums(self.grid, sampling=self.sampling or other.sampling, moments=self.moments)
        mine, theirs = self._weighted(both.sampling), other._weighted(both.sampling)
        for name in both.columns():
            setattr(both, name, getattr(mine, name) + getattr(theirs, name))
        both.parts = [add_totals(mine.parts + theirs.parts)]
        return both

    def columns(self) -> dict[str, NumberArray]:
        """Return every column of sums by name."""
        names = ["count", "offset"]
        names += ["weight"] if self.sampling else []
        names += ["wv", "wwv", "ww"] if self.moments else []
        return {name: getattr(self, name) for name in names}

    def _weighted(self, sampling: bool) -> CellSums:  # noqa: FBT001
        """Return the same sums in the form for sampling weights, if that is wanted."""
        if self.sampling or not sampling:
            return self
        weighted = CellSums(self.grid, sampling=True, moments=self.moments)
        for name, column in self.columns().items():
            setattr(weighted, name, column)
        weighted.weight = self.count.astype(np.float64)
        weighted.parts = [self.totals()]
        return weighted

    def _count(self, slot: IntArray, weights: FloatArray | None) -> None:
        if weights is None or self.sampling:
            self.count += np.bincount(slot, minlength=self.count.shape[0])
        else:
            copies = np.bincount(slot, weights, minlength=self.count.shape[0])
            self.count += copies.astype(np.int64)
        if weights is not None and self.sampling:
            _add_exactly(self.weight, slot, weights)

    def _add_offsets(self, slot: IntArray, offset: FloatArray, weights: FloatArray | None) -> None:
        if weights is not None:
            offset *= weights
        if self.precise:
            _add_exactly(self.offset, slot, offset)
        else:
            self.offset += np.bincount(slot, offset, minlength=self.offset.shape[0])

    def _add_moments(
        self, cell: IntArray, variance: FloatArray, weights: FloatArray | None
    ) -> None:
        size = self.wv.shape[0]
        if weights is None:
            weights = np.ones_like(variance)
        wv = weights * variance
        ww = weights * weights if self.sampling else weights
        self.wv += np.bincount(cell, wv, minlength=size)
        self.wwv += np.bincount(cell, ww * variance, minlength=size)
        self.ww += np.bincount(cell, ww, minlength=size)


def _add_exactly(sums: FloatArray, slot: IntArray, values: FloatArray) -> None:
    """Add at most 2^18 values, zero or positive, to their slots without drift.

    Many equal values would drift if simply added up. Rounded to a coarse unit they add without any
    rounding, and the remainders are too small to matter.
    """
    unit = 2.0 ** (math.frexp(float(values.max()))[1] + 52 - 35)
    coarse = values + unit
    coarse -= unit
    sums += np.bincount(slot, coarse, minlength=sums.shape[0])
    sums += np.bincount(slot, values - coarse, minlength=sums.shape[0])


def row_totals(
    chunk: Chunk, variance: FloatArray, *, sampling: bool, known_wwe: float = 0.0
) -> Totals:
    """Return the sums over some rows, of which ``variance`` is s(1 - s).

    Unless rows carry sampling weights the blocks know ``wwe`` and it need not be added up.
    """
    scores, labels, weights = chunk
    rows = scores.shape[0]
    if weights is None:
        return Totals(rows, rows, rows, float(variance.sum()), known_wwe, 0.25)
    if not sampling:
        copies = float(weights.sum())
        wwv = float((weights * variance).sum())
        return Totals(int(copies), copies, copies, wwv, known_wwe, 0.25)
    ww = weights * weights
    row_wwv = ww * variance
    residual = np.abs(labels - scores)
    wwe = float((ww * residual).sum())
    return Totals(
        rows, float(weights.sum()), float(ww.sum()), float(row_wwv.sum()), wwe, float(row_wwv.max())
    )
