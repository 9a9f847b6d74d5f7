"""Blocks cut finer by rows that pass by once, in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant._blocks.cell_sums import CellSums
from secant._blocks.grids import NestedGrid, PointGrid, Scratch, rank
from secant._blocks.table import collapse, concatenate
from secant._input.observations import Chunk

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.grids import BucketGrid, Grid
    from secant._blocks.table import Blocks

__all__ = ["Refinement", "join", "pick"]

_NOBODY = -1
_SEVERAL = -2


class Refinement:
    """Finer blocks in the making: feed it every row, then ask for the blocks.

    Parameters
    ----------
    blocks
        What to cut finer, in the order of scores.
    light
        The blocks to resolve into ties, whose rows are collected; the others are cut into cells.
    common
        The score of each block that is counted, not collected; -1 for none.
    n_cells
        How many cells to spend on all the blocks that are not light.
    grid
        Finds quickly which rows are near a block.
    sampling, counted
        Whether rows carry sampling weights, and whether weights count copies of rows.
    outcome_weights
        What the outcomes 0 and 1 weigh, on top of the weights of rows.
    """

    def __init__(
        self,
        blocks: Blocks,
        light: BoolArray,
        common: FloatArray,
        n_cells: int,
        grid: BucketGrid,
        *,
        sampling: bool,
        counted: bool,
        outcome_weights: tuple[float, float] | None = None,
    ) -> None:
        self._blocks, self._light, self._common, self._grid = blocks, light, common, grid
        self._counted = counted
        self._moments = blocks.moments is not None
        self._outcome_weights = outcome_weights
        self._owner_of_bucket = _owners(grid, blocks)
        self._is_near = self._owner_of_bucket != _NOBODY  # a small table, quicker to look up in
        self._scratch = Scratch()
        self._collected: list[Chunk] = []
        points = PointGrid(common[light & (common >= 0)])
        self._frequent = self._sums(points, sampling=sampling)
        self._cells: CellSums | None = None
        if not light.all():
            heavy = blocks.select(~light)
            each = max(4, n_cells // len(heavy))
            nested = NestedGrid(heavy.low, heavy.high, 1 << (each.bit_length() - 1))
            self._cells = self._sums(nested, sampling=sampling)

    def _sums(self, grid: Grid, *, sampling: bool) -> CellSums:
        return CellSums(
            grid,
            sampling=sampling,
            moments=self._moments,
            outcome_weights=self._outcome_weights,
        )

    def add(self, chunk: Chunk) -> None:
        """Take in some rows, whose memory may be used again afterwards."""
        rows, owner = self._inside(chunk)
        if not owner.size:
            return
        if self._cells is not None:
            light = self._light[owner]
            self._cells.add(pick(rows, ~light))
            rows, owner = pick(rows, light), owner[light]
        is_common = rows.scores == self._common[owner]
        self._frequent.add(pick(rows, is_common))
        self._collected.append(pick(rows, ~is_common))

    def blocks(self) -> Blocks:
        """Return the finer blocks."""
        parts = [self._frequent.blocks()]
        if self._cells is not None:
            parts.append(self._cells.blocks())
        if self._collected:
            rows = join(self._collected)
            parts.append(
                collapse(
                    *rows,
                    counted=self._counted,
                    moments=self._moments,
                    outcome_weights=self._outcome_weights,
                )
            )
        filled = [part for part in parts if len(part)]
        return concatenate(filled) if len(filled) > 1 else (filled or parts)[0]

    def _inside(self, chunk: Chunk) -> tuple[Chunk, IntArray]:
        """Return the rows inside the blocks, with the number of the block that holds each."""
        blocks = self._blocks
        bucket = self._grid.bucket(chunk.scores, self._scratch)
        near = np.flatnonzero(self._is_near.take(bucket, mode="clip"))
        rows = pick(chunk, near)
        owner = self._owner_of_bucket.take(bucket[near], mode="clip")
        several = np.flatnonzero(owner == _SEVERAL)
        owner[several] = np.maximum(rank(blocks.low, rows.scores[several]) - 1, 0)
        inside = (rows.scores >= blocks.low[owner]) & (rows.scores <= blocks.high[owner])
        return (rows, owner) if inside.all() else (pick(rows, inside), owner[inside])


def _owners(grid: BucketGrid, blocks: Blocks) -> IntArray:
    """Tell for every bucket which block it meets, if any, or that it meets several."""
    last = grid.n_buckets - 1
    first, final = (
        np.clip(grid.bucket(end, Scratch()), 0, last) for end in (blocks.low, blocks.high)
    )
    meets = np.cumsum(
        np.bincount(first, minlength=last + 2) - np.bincount(final + 1, minlength=last + 2)
    )[:-1]
    owner = np.searchsorted(final, np.arange(last + 1))
    owner[meets == 0] = _NOBODY
    owner[meets > 1] = _SEVERAL
    return owner


def pick(chunk: Chunk, index: IntArray | BoolArray | slice) -> Chunk:
    """Return the rows at an index, mask or slice."""
    scores, labels, weights = chunk
    return Chunk(scores[index], labels[index], None if weights is None else weights[index])


def join(chunks: list[Chunk]) -> Chunk:
    """Put chunks one after the other."""
    if len(chunks) == 1:
        return chunks[0]
    scores, labels, weights = zip(*chunks, strict=True)
    return Chunk(
        np.concatenate(scores),
        np.concatenate(labels),
        None if weights[0] is None else np.concatenate(weights),
    )
