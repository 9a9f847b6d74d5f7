"""Blocks cut finer by rows that pass by once, in chunks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from secant._blocks import kernels
from secant._blocks.cell_sums import CellSums
from secant._blocks.grids import PointGrid, Scratch, rank
from secant._blocks.sorting import Sorting
from secant._blocks.table import Inside, collapse, concatenate, merge, running_sum, with_fixed
from secant._input.observations import pick

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.grids import DyadicGrid, SampledGrid, SpreadGrid
    from secant._blocks.table import Blocks
    from secant._input.observations import Chunk

__all__ = ["Refinement"]

_NOBODY = -1
_SEVERAL = -2
# Rows in order that are made into pieces together.
_TOGETHER = 1 << 18


class Refinement:
    """Finer blocks in the making: feed it every row, then ask for the blocks.

    Rows are put in the order of their scores, and cut into ties where a block has few. The others
    become pieces of several ties, cut where the path is highest and lowest in each, so that
    the ends of pieces are all that a number needs to know as a rule.

    Parameters
    ----------
    blocks
        What to cut finer, in the order of scores.
    light
        The blocks to resolve into ties.
    common
        The score of each block that is counted, not sorted; -1 for none.
    n_pieces
        How many pieces to make of all the blocks that are not light, about.
    grid
        Finds quickly which rows are near a block.
    run
        Rows to keep in memory at a time.
    sampling, counted
        Whether rows carry sampling weights, and whether weights count copies of rows.
    outcome_weights
        What the outcomes 0 and 1 weigh, on top of the weights of rows.
    near
        A few ranges of scores that hold all blocks: compiled code finds quickly what lies in them.
    """

    def __init__(
        self,
        blocks: Blocks,
        light: BoolArray,
        common: FloatArray,
        n_pieces: int,
        grid: DyadicGrid | SampledGrid | SpreadGrid,
        *,
        run: int,
        sampling: bool,
        counted: bool,
        outcome_weights: tuple[float, float] | None = None,
        near: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        self._blocks, self._common, self._grid = blocks, common, grid
        self.near = near
        self._counted = counted
        self._outcome_weights = outcome_weights
        self._moments = blocks.moments is not None
        self._scale = None if blocks.fixed is None else blocks.fixed.scale
        # Distinct scores in a piece of each block.
        self._grain = np.where(light, 1, max(4, int(blocks.n[~light].sum()) // n_pieces))
        self._owner_of_bucket = _owners(grid, blocks)
        self._is_near = self._owner_of_bucket != _NOBODY  # a small table, quicker to look up in
        self._scratch = Scratch()
        weighted = sampling or counted
        quick = near is not None
        self._rows = Sorting(int(blocks.n.sum()), weighted=weighted, run=run, quick=quick)
        self._frequent = CellSums(
            PointGrid(np.unique(common[common >= 0])),
            sampling=sampling,
            moments=self._moments,
            outcome_weights=outcome_weights,
        )

    def add(self, chunk: Chunk) -> None:
        """Take in some rows, whose memory may be used again afterwards."""
        if self.near is not None:
            chunk = pick(chunk, kernels.selected(chunk.scores, *self.near))
        rows, owner = self._inside(chunk)
        if not owner.size:
            return
        is_common = rows.scores == self._common[owner]
        if is_common.any():
            self._frequent.add(pick(rows, is_common))
            rows = pick(rows, ~is_common)
        self._rows.add(rows)

    def blocks(self) -> Blocks:
        """Return the finer blocks."""
        frequent = self._frequent.blocks()
        parts = [self._cut(ties) for ties in self._ties(frequent)]
        return concatenate(parts) if len(parts) != 1 else parts[0]

    def _ties(self, frequent: Blocks) -> Iterator[Blocks]:
        """Return all ties in their order, some at a time, the frequent among the others."""
        reached = 0
        for rows in self._rows.chunks(_TOGETHER):
            ties = collapse(
                *rows[:3],
                counted=self._counted,
                moments=self._moments,
                ordered=True,
                outcome_weights=self._outcome_weights,
                scale=self._scale,
            )
            before = int(np.searchsorted(frequent.low, ties.high[-1]))
            if before > reached:
                ties = concatenate([ties, frequent.select(slice(reached, before))])
                reached = before
            yield ties
        if reached < len(frequent) or not reached:
            yield frequent.select(slice(reached, None))

    def _cut(self, ties: Blocks) -> Blocks:
        """Cut ties in their order into pieces, each inside one block."""
        # How many blocks begin up to each tie: both are in order.
        begin = np.bincount(np.searchsorted(ties.low, self._blocks.low), minlength=len(ties) + 1)
        owner = np.maximum(np.cumsum(begin[:-1]) - 1, 0)
        grain = self._grain[owner]
        if (grain == 1).all():
            return ties
        if self._blocks.fixed is not None and self._scale is None:
            ties = with_fixed(ties)
        place = np.arange(len(ties))
        new = np.append(True, owner[1:] != owner[:-1])
        first = np.maximum.accumulate(np.where(new, place, 0))
        new |= (place - first) % grain == 0
        starts = np.flatnonzero(new)
        heights = running_sum(ties.gain)
        at_end = np.zeros(len(ties) + 1, bool)
        for sign in (1, -1):
            at_end[_highest(sign * heights, starts) + 1] = True
        starts = np.flatnonzero(new | at_end[:-1])
        before = np.concatenate([[0.0], heights])[starts]
        inside = Inside(
            np.maximum(np.maximum.reduceat(heights, starts) - before, 0),
            np.maximum(before - np.minimum.reduceat(heights, starts), 0),
        )
        return replace(merge(ties, starts), inside=inside)

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


def _highest(heights: FloatArray, starts: IntArray) -> IntArray:
    """Return where a path is highest in each piece, at the first of equal places."""
    top = np.repeat(np.maximum.reduceat(heights, starts), np.diff(starts, append=len(heights)))
    at_top = np.flatnonzero(heights == top)
    return at_top[np.searchsorted(at_top, starts)]


def _owners(grid: DyadicGrid | SampledGrid | SpreadGrid, blocks: Blocks) -> IntArray:
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
