"""What a monitor takes, and all that it remembers between two batches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._blocks.cell_sums import CellMeans
from secant._inference.evalues import (
    FINE,
    GRID,
    WHOLE,
    Evidence,
    Tally,
    cuts,
    log_evalues,
    log_prior,
    sums_of_cells,
)
from secant._input.periods import next_time
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.cell_sums import CellSums
    from secant._inference.evalues import Sums
    from secant._input.periods import Time

__all__ = [
    "ENOUGH",
    "NO_ROWS",
    "Batch",
    "CellBatch",
    "Record",
    "RowBatch",
    "State",
    "Summed",
    "Table",
]

ENOUGH = 160
"""Scores that must have been seen before ranges are cut."""
NO_ROWS = CellMeans(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
"""What waits to be cut once ranges are."""

_CHUNK = 1 << 17


# The predictions of one period, in whatever form they come ----------------------------------------


class RowBatch:
    """Rows in memory: scores in [0, 1] and labels 0 or 1."""

    grid = GRID

    def __init__(self, scores: FloatArray, labels: np.ndarray[Any, Any]) -> None:
        self.n = int(scores.shape[0])
        self._scores, self._labels = scores, labels

    def counts(self, grid: int) -> IntArray:
        """Return how many scores each cell of a grid holds, and last those of exactly 1."""
        counts = np.zeros(grid + 1, np.int64)
        for start in range(0, self.n, _CHUNK):
            piece = np.asarray(self._scores[start : start + _CHUNK], np.float64)
            counts += np.bincount((piece * grid).astype(np.int64), minlength=grid + 1)
        return counts

    def means(self) -> CellMeans:
        """Return every score with its outcomes, in the order of scores."""
        score, which = np.unique(np.asarray(self._scores, np.float64) + 0.0, return_inverse=True)
        happened = np.asarray(self._labels, np.int64)
        n = np.bincount(which, minlength=score.shape[0])
        n1 = np.bincount(which[happened == 1], minlength=score.shape[0])
        return CellMeans(score, n - n1, n1)

    def sums(self, edges: FloatArray, tolerance: float) -> Sums:
        """Add up all rows, in cells between edges."""
        tally = Tally(edges, tolerance)
        tally.add(self._scores, self._labels)
        return tally.sums()


class CellBatch:
    """Sums per cell: counts and mean scores of cells of equal width.

    Parameters
    ----------
    means, n_cells
        What cells hold, and how many there are.
    impossible
        Events with a score of 0, and failures with a score of 1.
    """

    def __init__(self, means: CellMeans, n_cells: int, impossible: tuple[int, int]) -> None:
        self._means, self._cells, self._impossible = means, n_cells, impossible
        self.n = int((means.n0 + means.n1).sum())
        self.grid = min(n_cells, GRID)

    @classmethod
    def of(cls, sums: CellSums, n_cells: int, forbidden: int) -> CellBatch:
        """Return sums as ``Cells`` keeps them."""
        # Failures in the cell of the score 1, which a state that was read may not have.
        at_one = int(sums.count[-2]) if sums.count.size and sums.grid.anchor[-1] == 1 else 0
        return cls(sums.means(), n_cells, (forbidden - at_one, at_one))

    def counts(self, grid: int) -> IntArray:
        """Return how many scores each cell of a grid holds, and last those of exactly 1."""
        return _counts(self._means, grid)

    def means(self) -> CellMeans:
        """Return the mean scores of cells with their outcomes."""
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


Batch = RowBatch | CellBatch | Summed


def _counts(rows: CellMeans, grid: int) -> IntArray:
    place = (rows.mean * grid).astype(np.int64)
    return np.bincount(place, rows.n0 + rows.n1, grid + 1).astype(np.int64)


def joined(parts: Iterable[CellMeans]) -> CellMeans:
    """Return the rows of several batches, one batch after the other."""
    return CellMeans(*map(np.concatenate, zip(NO_ROWS, *parts, strict=True)))


# What is remembered -------------------------------------------------------------------------------


class Table(NamedTuple):
    """Rows, events and the sum of scores, in ``FINE`` cells."""

    n: IntArray
    events: IntArray
    scored: FloatArray

    @classmethod
    def of(cls, sums: Sums) -> Table | None:
        """Return the sums of a batch, if they are by cell."""
        return cls(sums.n, sums.events, sums.scored) if sums.n.size == FINE else None

    @classmethod
    def added(cls, tables: Iterable[Table]) -> Table:
        """Return the sums over several batches."""
        nothing = np.zeros(FINE, np.int64), np.zeros(FINE, np.int64), np.zeros(FINE)
        sums: Any = map(sum, zip(nothing, *tables, strict=True))
        return cls(*sums)


@dataclass(frozen=True)
class Record:
    """One batch as it is remembered.

    Attributes
    ----------
    time
        Its period.
    n, events, scored, hits
        Its rows, the events among them, the sum of scores, and that of events' scores.
    impossible
        Events with a score of 0, and failures with a score of 1.
    sloped
        Whether slopes could be looked at.
    log_evidence
        Logarithm of the evidence after it.
    heaviest, start
        The component that had won most by then, and the batch with which its best start began.
    table
        Its sums by cell; None before ranges are cut.
    rows
        Until then, while there are fewer than 160 in all, its scores and outcomes.
    """

    time: Time
    n: int
    events: int
    scored: float
    hits: float
    impossible: tuple[int, int]
    sloped: bool
    log_evidence: float
    heaviest: int
    start: int
    table: Table | None
    rows: CellMeans

    @property
    def totals(self) -> tuple[int, int, float, float]:
        """What tells this batch from another."""
        return self.n, self.events, self.scored, self.hits

    def cut(self, edges: FloatArray) -> Record:
        """Return it with a table in place of its rows."""
        sums = sums_of_cells(self.rows, edges, 0.0, (0, 0))
        return replace(self, table=Table.of(sums), rows=NO_ROWS)


@dataclass(frozen=True)
class State:
    """A monitor between two batches.

    Attributes
    ----------
    alpha, tolerance
        Its settings.
    records
        The batches so far.
    evidence
        What components have won.
    edges
        Edges of the ``FINE`` cells; None until enough scores have been seen.
    grid
        How finely they can be cut at most: as the cells seen so far are.
    """

    alpha: float
    tolerance: float
    records: tuple[Record, ...]
    evidence: Evidence
    edges: FloatArray | None
    grid: int

    @classmethod
    def new(cls, alpha: float, tolerance: float) -> State:
        """Return a monitor that has seen nothing."""
        return cls(alpha, tolerance, (), Evidence.none(), None, GRID)

    @cached_property
    def prior(self) -> FloatArray:
        """Logarithms of what components start with."""
        return log_prior(self.tolerance)

    @property
    def last(self) -> Time | None:
        """The last period."""
        return self.records[-1].time if self.records else None

    @property
    def waiting(self) -> int:
        """How many scores have been seen while ranges are not cut."""
        return sum(record.n for record in self.records) if self.edges is None else 0

    def after(self, batch: Batch, time: Any) -> State:
        """Return the state after one more batch.

        Raises
        ------
        InputError
            If its period does not come after the last.
        """
        time = next_time(time, self.last)
        edges, grid, records, rows = self.edges, self.grid, self.records, NO_ROWS
        if edges is None:
            assert not isinstance(batch, Summed)  # noqa: S101  (added up between edges)
            grid = min(grid, batch.grid) if batch.n else grid
            if self.waiting + batch.n < ENOUGH:
                rows = batch.means()
            else:
                waiting = joined(record.rows for record in records)
                edges, grid = cuts(_counts(waiting, grid) + batch.counts(grid)), GRID
                records = tuple(record.cut(edges) for record in records)
        sums = batch.sums(WHOLE if edges is None else edges, self.tolerance)
        evidence = self.evidence.after(log_evalues(sums))
        record = self._record(time, rows, sums, evidence)
        return replace(self, records=(*records, record), evidence=evidence, edges=edges, grid=grid)

    def _record(self, time: Time, rows: CellMeans, sums: Sums, evidence: Evidence) -> Record:
        heaviest, n = int(evidence.heaviest(self.prior)), sums.totals[0]
        log_evidence = float(evidence.log_mixture(self.prior))
        if not n:  # nothing has changed but rounding
            log_evidence = self.records[-1].log_evidence if self.records else 0.0
        return Record(
            time,
            *sums.totals,
            sums.impossible,
            sloped=sums.sloped is not None or not n,
            log_evidence=log_evidence,
            heaviest=heaviest,
            start=int(evidence.start[heaviest]),
            table=Table.of(sums),
            rows=rows,
        )
