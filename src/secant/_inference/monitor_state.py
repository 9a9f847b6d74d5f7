r"""All that a monitor remembers, and the file that holds it.

The file is JSON, text that holds nothing to execute; its last field is the SHA-256 of what stands
before it. Doubles are written with all their digits, so that a monitor which is saved and loaded
goes on with the same numbers. A file may come from anywhere, so everything in it is checked before
it is believed.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, runtime_checkable

import numpy as np

from secant._blocks.cell_sums import CellMeans
from secant._inference.evalues import (
    COMPONENTS,
    FINE,
    GRID,
    WHOLE,
    Evidence,
    Sums,
    Tally,
    cuts,
    log_evalues,
    log_prior,
    sums_of_cells,
)
from secant._input.options import is_whole
from secant._input.periods import Time, from_text, next_time, to_text
from secant.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.cell_sums import CellSums

__all__ = ["Batch", "CellBatch", "Record", "RowBatch", "State", "Summed", "Table", "pack", "unpack"]

ENOUGH = 160
"""Scores that must have been seen before ranges are cut."""

_WHAT = "secant monitor"
_VERSION = 1
_MOST_BYTES = 1 << 28
_MOST_ROWS = 2**53
_CHUNK = 1 << 17


# Batches ------------------------------------------------------------------------------------------


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


# What is remembered -------------------------------------------------------------------------------


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


# The file -----------------------------------------------------------------------------------------


def pack(state: State) -> bytes:
    """Return the content of a file that holds a state."""
    evidence, waiting = state.evidence, state.waiting
    fields = {
        "what": _WHAT,
        "version": _VERSION,
        "alpha": state.alpha,
        "tolerance": state.tolerance,
        "batches": [_packed(record) for record in state.records],
        "edges": None if state.edges is None else state.edges.tolist(),
        "waiting": {
            "grid": waiting.grid,
            "batch": waiting.batch.tolist(),
            **{name: column.tolist() for name, column in waiting.rows._asdict().items()},
        },
        "won": evidence.won.tolist() if evidence.batches else None,
        "best": evidence.best.tolist() if evidence.batches else None,
        "start": evidence.start.tolist() if evidence.batches else None,
    }
    text = json.dumps(fields, allow_nan=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'{text[:-1]}, "sha256": "{digest}"}}\n'.encode()


def _packed(record: Record) -> dict[str, Any]:
    kind, text = to_text(record.time)
    table = record.table
    return {
        "kind": kind,
        "time": text,
        "n": record.n,
        "events": record.events,
        "scored": record.scored,
        "hits": record.hits,
        "impossible": list(record.impossible),
        "sloped": record.sloped,
        "log_evidence": record.log_evidence,
        "heaviest": record.heaviest,
        "start": record.start,
        "table": None
        if table is None
        else [table.n.tolist(), table.events.tolist(), table.scored.tolist()],
    }


def unpack(path: str | os.PathLike[str]) -> State:
    """Read a file that holds a state.

    Raises
    ------
    InputError
        If the file is not one of these, has another version, or is damaged.
    """
    with Path(path).open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        msg = f"{path} is larger than the state of any monitor of secant"
        raise InputError(msg)
    try:
        fields = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise _other(path) from error
    if not isinstance(fields, dict) or fields.get("what") != _WHAT:
        raise _other(path)
    version = fields.get("version")
    if not is_whole(version, _VERSION, _VERSION):
        msg = f"{path} has version {version!r} of the format; this secant reads {_VERSION}"
        raise InputError(msg)
    text, _, _ = content.rpartition(b', "sha256": ')
    if fields.get("sha256") != hashlib.sha256(text + b"}").hexdigest():
        raise _damaged(path, "it was cut short or changed")
    try:
        return _state(fields)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise _damaged(path, "its numbers make no sense") from error


def _state(fields: dict[str, Any]) -> State:
    alpha, tolerance = _number(fields["alpha"]), _number(fields["tolerance"])
    _believe(0 < alpha < 1 and 0 <= tolerance < 1)
    edges = fields["edges"]
    if edges is not None:
        edges = _floats(edges, FINE + 1)
        on_grid = not (edges * GRID % 1).any() and not (np.diff(edges) < 0).any()
        _believe(on_grid and edges[0] == 0 and edges[-1] == 1)
    records: list[Record] = []
    for number, packed in enumerate(fields["batches"]):
        record = _record(packed, number, cut=edges is not None)
        _believe(next_time(record.time, records[-1].time if records else None) == record.time)
        records.append(record)
    evidence = Evidence.none()
    if records:
        start = _counts(fields["start"], COMPONENTS)
        _believe((start >= 1).all() and (start <= len(records)).all())
        won, best = _floats(fields["won"], COMPONENTS), _floats(fields["best"], COMPONENTS)
        evidence = Evidence(len(records), won, best, start)
    state = State(alpha, tolerance, tuple(records), evidence, edges, _waiting(fields, records))
    if records:
        told, truly = records[-1].log_evidence, float(evidence.log_mixture(state.prior))
        _believe(math.isclose(told, truly, rel_tol=1e-9, abs_tol=1e-9))
        _believe((state.waiting.n == 0) if edges is not None else (state.waiting.n < ENOUGH))
    return state


def _record(packed: dict[str, Any], number: int, *, cut: bool) -> Record:
    n, events = packed["n"], packed["events"]
    _believe(is_whole(n, 0, _MOST_ROWS) and is_whole(events, 0, n))
    scored, hits = _number(packed["scored"]), _number(packed["hits"])
    _believe(0 <= hits <= scored + 1e-6 <= n + 2e-6)
    zero, one = packed["impossible"]
    _believe(is_whole(zero, 0, events) and is_whole(one, 0, n - events))
    heaviest, start = packed["heaviest"], packed["start"]
    _believe(is_whole(heaviest, 0, COMPONENTS - 1) and is_whole(start, 1, number + 1))
    _believe(isinstance(packed["sloped"], bool))
    table = None
    if cut:
        rows, happened, scores = packed["table"]
        table = Table(_counts(rows, FINE), _counts(happened, FINE), _floats(scores, FINE))
        _believe(table.n.sum() == n and table.events.sum() == events)
        _believe((table.events <= table.n).all() and (table.scored >= 0).all())
        _believe((table.scored <= table.n + 1e-6).all())
    else:
        _believe(packed["table"] is None)
    return Record(
        from_text(packed["kind"], packed["time"]),
        n,
        events,
        scored,
        hits,
        (zero, one),
        packed["sloped"],
        _number(packed["log_evidence"]),
        heaviest,
        start,
        table,
    )


def _waiting(fields: dict[str, Any], records: list[Record]) -> Waiting:
    packed = fields["waiting"]
    size, grid = len(packed["batch"]), packed["grid"]
    _believe(size < ENOUGH and is_whole(grid, 1, GRID) and not grid & (grid - 1))
    batch, mean = _counts(packed["batch"], size), _floats(packed["mean"], size)
    n0, n1 = _counts(packed["n0"], size), _counts(packed["n1"], size)
    _believe(((mean >= 0) & (mean <= 1) & (n0 + n1 > 0) & (batch < max(len(records), 1))).all())
    waiting = Waiting(batch, CellMeans(mean, n0, n1), grid)
    if fields["edges"] is None:
        for number, record in enumerate(records):
            ours = batch == number
            _believe(((n0 + n1)[ours].sum(), n1[ours].sum()) == (record.n, record.events))
    return waiting


def _number(value: Any) -> float:
    _believe(isinstance(value, (int, float)) and not isinstance(value, bool))
    _believe(math.isfinite(value))
    return float(value)


def _floats(values: Any, size: int) -> FloatArray:
    _believe(isinstance(values, list) and len(values) == size)
    return np.array([_number(value) for value in values], np.float64)


def _counts(values: Any, size: int) -> IntArray:
    _believe(isinstance(values, list) and len(values) == size)
    _believe(all(is_whole(value, 0, _MOST_ROWS) for value in values))
    return np.array(values, np.int64)


def _believe(sound: Any) -> None:
    if not sound:
        raise ValueError


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _other(path: str | os.PathLike[str]) -> InputError:
    return InputError(f"{path} is not the state of a secant.Monitor")


def _damaged(path: str | os.PathLike[str], how: str) -> InputError:
    return InputError(f"{path} is a damaged state of a secant.Monitor: {how}")
