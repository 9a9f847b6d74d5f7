"""All that a monitor remembers between two batches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks.cell_sums import CellMeans
from secant._inference.evalues import (
    FINE,
    GRID,
    WHOLE,
    Evidence,
    cuts,
    log_evalues,
    log_prior,
    sums_of_cells,
)
from secant._inference.monitor_batches import Uncut
from secant._input.periods import next_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from secant._base.types import FloatArray, IntArray
    from secant._inference.evalues import Sums
    from secant._inference.monitor_batches import Batch
    from secant._input.periods import Time

__all__ = ["ENOUGH", "Record", "State", "Table", "Waiting"]

ENOUGH = 160
"""Scores that must have been seen before ranges are cut."""


@dataclass(frozen=True)
class Table:
    """Rows, events and the sum of scores, in ``FINE`` cells."""

    n: IntArray
    events: IntArray
    scored: FloatArray

    @classmethod
    def empty(cls) -> Table:
        """Return a table of nothing."""
        return cls(np.zeros(FINE, np.int64), np.zeros(FINE, np.int64), np.zeros(FINE))

    @classmethod
    def added(cls, tables: Iterable[Table]) -> Table:
        """Return the sums over several batches."""
        together = [cls.empty(), *tables]
        return cls(
            sum((each.n for each in together[1:]), together[0].n),
            sum((each.events for each in together[1:]), together[0].events),
            sum((each.scored for each in together[1:]), together[0].scored),
        )


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

    @property
    def totals(self) -> tuple[int, int, float, float]:
        """What tells this batch from another."""
        return self.n, self.events, self.scored, self.hits


@dataclass(frozen=True)
class Waiting:
    """Scores and outcomes of batches that came before ranges could be cut: fewer than 160 rows."""

    batch: IntArray
    rows: CellMeans
    grid: int = GRID

    @classmethod
    def none(cls) -> Waiting:
        """Return that none are waiting."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, CellMeans(np.zeros(0), nothing, nothing))

    @property
    def n(self) -> int:
        """How many scores are waiting."""
        return int(self.rows.n0.sum() + self.rows.n1.sum())

    def and_(self, number: int, batch: Uncut) -> Waiting:
        """Return these and the rows of one more batch."""
        rows = batch.means()
        joined = (np.concatenate(pair) for pair in zip(self.rows, rows, strict=True))
        which = np.concatenate([self.batch, np.full(rows.mean.shape[0], number)])
        return Waiting(which, CellMeans(*joined), min(self.grid, batch.grid))

    def edges(self, batch: Uncut) -> FloatArray:
        """Return where to cut when this batch arrives."""
        grid = min(self.grid, batch.grid)
        counts = _coarser(batch.counts(), grid)
        place = (self.rows.mean * grid).astype(np.int64)
        np.add.at(counts, place, self.rows.n0 + self.rows.n1)
        return cuts(counts)

    def tables(self, edges: FloatArray, batches: int) -> list[Table]:
        """Return the tables of the batches that waited."""
        made = []
        for number in range(batches):
            ours = self.batch == number
            rows = CellMeans(*(column[ours] for column in self.rows))
            sums = sums_of_cells(rows, edges, 0.0, (0, 0))
            made.append(Table(sums.n, sums.events, sums.scored))
        return made


def _to_be_cut(batch: Batch) -> Uncut:
    """Return a batch whose scores can be asked for; sums are only made for edges that exist."""
    assert isinstance(batch, Uncut)  # noqa: S101
    return batch


def _coarser(counts: IntArray, grid: int) -> IntArray:
    if counts.shape[0] - 1 == grid:
        return counts.copy()
    return np.append(counts[:-1].reshape(grid, -1).sum(1), counts[-1])


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
    waiting
        Rows seen before that.
    """

    alpha: float
    tolerance: float
    records: tuple[Record, ...]
    evidence: Evidence
    edges: FloatArray | None
    waiting: Waiting

    @classmethod
    def new(cls, alpha: float, tolerance: float) -> State:
        """Return a monitor that has seen nothing."""
        return cls(alpha, tolerance, (), Evidence.none(), None, Waiting.none())

    @cached_property
    def prior(self) -> FloatArray:
        """Logarithms of what components start with."""
        return log_prior(self.tolerance)

    @property
    def last(self) -> Time | None:
        """The last period."""
        return self.records[-1].time if self.records else None

    def after(self, batch: Batch, time: Any) -> State:
        """Return the state after one more batch.

        Raises
        ------
        InputError
            If its period does not come after the last.
        """
        time = next_time(time, self.last)
        edges, waiting, records = self.edges, self.waiting, self.records
        uncut = _to_be_cut(batch) if edges is None else None
        if uncut is not None and waiting.n + batch.n >= ENOUGH:
            edges = waiting.edges(uncut)
            tables = waiting.tables(edges, len(records))
            waited = zip(records, tables, strict=True)
            records = tuple(replace(record, table=table) for record, table in waited)
            waiting = Waiting.none()
        elif uncut is not None and batch.n:
            waiting = waiting.and_(len(records), uncut)
        sums = batch.sums(WHOLE if edges is None else edges, self.tolerance)
        evidence = self.evidence.after(log_evalues(sums))
        record = self._record(time, sums, evidence, cut=edges is not None)
        return replace(
            self, records=(*records, record), evidence=evidence, edges=edges, waiting=waiting
        )

    def _record(self, time: Time, sums: Sums, evidence: Evidence, *, cut: bool) -> Record:
        heaviest = int(evidence.heaviest(self.prior))
        n, events, scored, hits = sums.totals
        log_evidence = float(evidence.log_mixture(self.prior))
        if not n:  # nothing has changed but rounding
            log_evidence = self.records[-1].log_evidence if self.records else 0.0
        return Record(
            time=time,
            n=n,
            events=events,
            scored=scored,
            hits=hits,
            impossible=sums.impossible,
            sloped=sums.sloped is not None or not n,
            log_evidence=log_evidence,
            heaviest=heaviest,
            start=int(evidence.start[heaviest]),
            table=Table(sums.n, sums.events, sums.scored) if cut else None,
        )
