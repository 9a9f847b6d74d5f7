"""The predictions of one period, in whatever form they come to a monitor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from secant._blocks.cell_sums import CellMeans
from secant._inference.evalues import GRID, Sums, Tally, sums_of_cells
from secant.errors import InputError

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray
    from secant._blocks.cell_sums import CellSums

__all__ = ["Batch", "CellBatch", "RowBatch", "Summed", "Uncut"]

_CHUNK = 1 << 17


class Batch(Protocol):
    """The predictions of one period, in whatever form."""

    n: int

    def sums(self, edges: FloatArray, tolerance: float) -> Sums:
        """Return the sums over cells between edges."""
        ...


@runtime_checkable
class Uncut(Batch, Protocol):
    """Predictions whose scores can be asked for, so that a monitor may be cut where they lie."""

    grid: int

    def counts(self) -> IntArray:
        """Return how many scores each cell of ``grid`` holds, and last those of exactly 1."""
        ...

    def means(self) -> CellMeans:
        """Return scores, failures and events, in the order of scores."""
        ...


class RowBatch:
    """Rows in memory: scores in [0, 1] and labels 0 or 1."""

    grid = GRID

    def __init__(self, scores: FloatArray, labels: np.ndarray[Any, Any]) -> None:
        self.n = int(scores.shape[0])
        self._scores, self._labels = scores, labels

    def counts(self) -> IntArray:
        """Return how many scores each cell of the grid holds."""
        counts = np.zeros(GRID + 1, np.int64)
        for start in range(0, self.n, _CHUNK):
            piece = np.asarray(self._scores[start : start + _CHUNK], np.float64)
            counts += np.bincount((piece * GRID).astype(np.int64), minlength=GRID + 1)
        return counts

    def means(self) -> CellMeans:
        """Return every score with its outcomes."""
        score, which = np.unique(np.asarray(self._scores, np.float64) + 0.0, return_inverse=True)
        happened = np.asarray(self._labels, np.int64)
        n = np.bincount(which, minlength=score.shape[0])
        n1 = np.bincount(which[happened == 1], minlength=score.shape[0])
        return CellMeans(score, n - n1, n1)

    def sums(self, edges: FloatArray, tolerance: float) -> Sums:
        """Add up all rows."""
        tally = Tally(edges, tolerance)
        tally.add(self._scores, self._labels)
        return tally.sums()


class CellBatch:
    """Sums per cell, as ``Cells`` keeps them."""

    def __init__(self, sums: CellSums, n_cells: int, forbidden: int) -> None:
        self._means = sums.means()
        self._cells = n_cells
        self.n = int(sums.count.sum())
        self.grid = min(self._cells, GRID)
        # Failures in the cell of the score 1, which a state that was read may not have.
        at_one = int(sums.count[-2]) if sums.count.size and sums.grid.anchor[-1] == 1 else 0
        self._impossible = forbidden - at_one, at_one

    def counts(self) -> IntArray:
        """Return how many scores each cell of the grid holds."""
        mean, n0, n1 = self._means
        counts = np.bincount((mean * self.grid).astype(np.int64), n0 + n1, self.grid + 1)
        return counts.astype(np.int64)

    def means(self) -> CellMeans:
        """Return the mean scores of cells."""
        return self._means

    def sums(self, edges: FloatArray, tolerance: float) -> Sums:
        """Return sums that give no more evidence than the rows would.

        Raises
        ------
        InputError
            If an edge lies inside a cell.
        """
        if (edges * self._cells % 1).any():
            needed = next(cells for cells in 2 ** np.arange(17) if not (edges * cells % 1).any())
            msg = (
                f"these Cells have n_cells={self._cells}, and the ranges of this monitor were cut "
                f"where its first predictions lie: n_cells={needed} or more are needed"
            )
            raise InputError(msg)
        return sums_of_cells(self._means, edges, tolerance, self._impossible)


class Summed:
    """Sums that were added up elsewhere, between the edges of the monitor they are meant for."""

    def __init__(self, sums: Sums) -> None:
        self.n = int(sums.n.sum())
        self._sums = sums

    def sums(self, edges: FloatArray, tolerance: float) -> Sums:  # noqa: ARG002  (added up for it)
        """Return the sums."""
        assert edges.shape[0] - 1 == self._sums.n.shape[0]  # noqa: S101
        return self._sums
