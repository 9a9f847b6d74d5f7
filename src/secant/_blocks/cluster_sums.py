"""Sums by cluster and cell of scores: what is left of rows that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant.errors import SecantError

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray, NumberArray
    from secant._blocks.table import Blocks
    from secant._input.observations import Chunk

__all__ = ["COARSE", "ENDS", "Adder", "ClusterSums", "coarsened", "equal_cells", "pooled"]

# Ends at which the paths of clusters are read, at most: all distinct scores, or those of as many
# cells of equal weight. Fewer where clusters meet too many cells.
ENDS = 4096
COARSE = 256
# Entries that wait to be pooled, at least.
_WAITING = 1 << 20


class ClusterSums(NamedTuple):
    """Sums of the rows of each cluster in each cell, an entry for every pair that holds any.

    ``cluster`` and ``cell`` are numbers, cells in the order of scores; ``n`` counts observations,
    and ``gain`` is the sum of w(r - s).
    """

    cluster: IntArray
    cell: IntArray
    n: IntArray
    gain: FloatArray


def equal_cells(weight: NumberArray, most: int) -> IntArray:
    """Return the cell of each of some consecutive blocks: as many cells of about equal weight.

    Where blocks are no more than that, each is a cell of its own.
    """
    if weight.size <= most:
        return np.arange(weight.size)
    reached = np.cumsum(weight, dtype=np.float64)
    # The middle of a block decides; a little more, lest rounding decide between two cells.
    place = np.floor((reached - weight / 2) / reached[-1] * most + 1e-9)
    place = np.minimum(place, most - 1)  # a last block of next to no weight
    return np.concatenate([[0], np.cumsum(np.diff(place) > 0)])


def pooled(sums: ClusterSums) -> ClusterSums:
    """Return sums with one entry for every pair of cluster and cell, in their order."""
    order = np.lexsort((sums.cell, sums.cluster))
    cluster, cell = sums.cluster[order], sums.cell[order]
    new = (cluster[1:] != cluster[:-1]) | (cell[1:] != cell[:-1])
    starts = np.concatenate([[0], np.flatnonzero(new) + 1])
    added = (np.add.reduceat(column[order], starts) for column in (sums.n, sums.gain))
    return ClusterSums(cluster[starts], cell[starts], *added)


def coarsened(sums: ClusterSums, weight: NumberArray, limit: int) -> ClusterSums:
    """Return sums in fewer cells if they have more entries than ``limit``.

    Parameters
    ----------
    sums
        One entry for every pair.
    weight
        The weight of each cell.
    limit
        How many entries may stay as they are.
    """
    if sums.cell.size <= limit or weight.size <= COARSE:
        return sums
    return pooled(sums._replace(cell=equal_cells(weight, COARSE)[sums.cell]))


class Adder:
    """Adds up rows by cluster and cell.

    Parameters
    ----------
    blocks
        All rows, ties or cells in the order of scores: where paths can be read.
    limit
        How many pairs of a cluster and a cell there may be before cells are made fewer; it makes
        no difference in which order, or in what pieces, rows are added.
    counted
        Whether weights count copies of rows.
    """

    def __init__(self, blocks: Blocks, limit: int, *, counted: bool) -> None:
        cell = equal_cells(blocks.weight, ENDS)
        last = np.append(np.flatnonzero(np.diff(cell)), len(blocks) - 1)
        self._ends = blocks.high[last]
        self._weight = np.bincount(cell, blocks.weight)
        self._limit, self._counted = limit, counted
        self._cell = np.arange(self._ends.size)  # of each end, once cells are fewer
        self._parts: list[ClusterSums] = []
        self._entries = self._pooled = 0

    def add(self, chunk: Chunk, cluster: IntArray, keys: NumberArray | None = None) -> None:
        """Add rows, with the number of each one's cluster.

        Where the order is not that of scores, ``keys`` are the places of rows along it.

        Raises
        ------
        SecantError
            If a score is larger than all that were seen before.
        """
        if not cluster.size:
            return
        cell = np.searchsorted(self._ends, chunk.scores if keys is None else keys)
        if cell.max() >= self._ends.size:
            msg = "the data were changed while they were assessed: assess them again"
            raise SecantError(msg)
        gain: Any = chunk.labels - chunk.scores
        copies = np.ones_like(cluster)
        if chunk.weights is not None:
            gain = gain * chunk.weights
            copies = chunk.weights.astype(np.int64) if self._counted else copies
        rows = ClusterSums(cluster, self._cell[cell], copies, gain)
        self._parts.append(pooled(rows))
        self._entries += self._parts[-1].cell.size
        if self._entries > 2 * self._pooled + _WAITING:
            self._pool()

    def sums(self) -> ClusterSums:
        """Return what has been added up."""
        if not self._parts:
            nothing = np.empty(0, np.int64)
            return ClusterSums(nothing, nothing, nothing, np.empty(0))
        self._pool()
        return self._parts[0]

    def _pool(self) -> None:
        columns = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        sums = pooled(ClusterSums(*columns))
        # Pairs only grow in number, so that too many now are too many in the end.
        if sums.cell.size > self._limit and self._weight.size > COARSE:
            fewer = equal_cells(self._weight, COARSE)
            sums = coarsened(sums, self._weight, self._limit)
            self._cell, self._weight = fewer[self._cell], np.bincount(fewer, self._weight)
        self._parts = [sums]
        self._entries = self._pooled = sums.cell.size
