"""Pieces of files read abreast: every thread decodes, checks and adds up rows of its own.

What one thread decodes and another adds up leaves the cache on its way, and the two wait for each
other. Here threads meet twice: when they take the next piece, and at the end. Sums are whole
numbers, so that it does not matter who added up what.

Rows that need to be looked at in their order (one is not usable, outcomes are words) are left to
the ordinary walk, which says what is wrong with them, and where.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._base.progress import reporting
from secant._blocks import kernels
from secant._input.observations import Chunk, join
from secant._input.rules import forbidden_rows
from secant.errors import InputError, SecantError
from secant.sources.files.prefetch import THREAD
from secant.sources.files.values import kind_of, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.fixed_sums import FixedSums
    from secant._blocks.refining import Refinement
    from secant.sources.files.predictions import Predictions
    from secant.sources.files.table import Batch, Piece
    from secant.sources.files.walking import Walk

__all__ = ["KEEP_OUTCOMES", "MOST", "PIECE", "SIZE", "Abreast", "read"]

# Rows that a thread takes at a time, at least: row groups next to each other.
PIECE = 1 << 20
# Rows of a batch: what was decoded is still in a cache when it is added up.
SIZE = 1 << 17
# Threads, at most: each has sums of its own, of up to 10 MB, and a batch.
MOST = 8
# Rows whose outcomes are kept as bits, 32 MB, so that a second pass reads the scores alone.
KEEP_OUTCOMES = 1 << 28
# Rows near blocks that a thread has found before it hands them over.
_HAND_OVER = 1 << 16


class Abreast:
    """Files without weights whose outcomes are 0 and 1, read by several threads.

    Parameters
    ----------
    table
        The files.
    """

    def __init__(self, table: Predictions) -> None:
        self._table = table
        self._is_checked = False
        self._outcomes: _Outcomes | None = None
        self._extents: list[_Extent] = []

    def add_up(self, sums: FixedSums, walk: Walk) -> bool:
        """Add all rows to sums and tell a walk what was seen; False if nothing was done."""
        pieces = self._pieces()
        if not pieces:
            return False
        keeps = sum(piece.rows for piece in pieces) <= KEEP_OUTCOMES
        columns = self._table.columns
        takers = [_Adding(self._table, sums.beside(), keeps=keeps) for _ in _threads(pieces)]
        try:
            read(self._table, [columns.y_true, columns.y_prob], pieces, takers)
        except SecantError:
            return False
        for taker in takers:
            sums.join(taker.sums)
        refused = [rows for taker in takers for rows in taker.refused]
        walk.saw(sum(taker.rows for taker in takers), sums.extent, refused)
        self._outcomes = _Outcomes.of(takers) if keeps else None
        self._extents = sorted(extent for taker in takers for extent in taker.extents)
        self._is_checked = True
        return True

    def refine(self, finer: Refinement, walk: Walk) -> bool:
        """Give the rows near blocks to who cuts these finer; False if nothing was done.

        Raises
        ------
        SecantError, InputError
            If the files were changed, or cannot be read.
        """
        if not self._is_checked or finer.near is None:
            return False
        self._table.recheck()
        every, columns, lock = self._pieces(), self._table.columns, threading.Lock()
        pieces = self._near(every, *finer.near)
        names = [columns.y_prob] if self._outcomes else [columns.y_true, columns.y_prob]
        parts = self._table, self._outcomes, finer, finer.near, lock
        takers = [_Selecting(*parts) for _ in _threads(pieces)]
        read(self._table, names, pieces, takers)
        for taker in takers:
            taker.hand_over()
        passed_over = sum(piece.rows for piece in every) - sum(piece.rows for piece in pieces)
        walk.saw(passed_over + sum(taker.rows for taker in takers), None, [])
        return True

    def forget(self) -> None:
        """Forget the outcomes: they are read again if anything is asked later."""
        self._outcomes = None

    def _near(self, pieces: list[Piece], low: FloatArray, high: FloatArray) -> list[Piece]:
        """Return the pieces with scores in some ranges: few, where rows are in their order."""
        near = [
            extent.first
            for extent in self._extents
            if ((extent.lowest <= high) & (extent.highest >= low)).any()
        ]
        ends = [end for piece in pieces for end in (piece.first, piece.first + piece.rows)]
        before = np.searchsorted(near, ends).reshape(-1, 2)
        return [pieces[number] for number in np.flatnonzero(before[:, 0] < before[:, 1])]

    def _pieces(self) -> list[Piece]:
        """Return the files in pieces; none where rows are to be read in their order."""
        table, names = self._table, self._table.columns
        reading = names.reading
        weighted = names.sample_weight is not None or reading.outcome_weights is not None
        if weighted or reading.pos_label is not None:
            return []
        for file in table.files:
            if names.y_prob in file.folder or kind_of(file.types[names.y_true]) == "text":
                return []
        return table.pieces(PIECE)


def _threads(pieces: Sequence[Piece]) -> range:
    return range(max(1, min(kernels.threads(), MOST, len(pieces))))


class _Extent(NamedTuple):
    """The number of the row that a batch began with, and its smallest and its largest score."""

    first: int
    lowest: float
    highest: float


class _Adding:
    """Checks rows and adds them up."""

    def __init__(self, table: Predictions, sums: FixedSums, *, keeps: bool) -> None:
        self._table, self.sums, self._keeps = table, sums, keeps
        self.rows = 0
        self.refused: list[IntArray] = []
        self.extents: list[_Extent] = []
        self.outcomes: list[tuple[int, np.ndarray[tuple[int], np.dtype[np.uint8]]]] = []

    def __call__(self, batch: Batch) -> None:
        if not batch.rows:
            return
        labels, scores, _, words = self._table.values(batch)
        if words is not None or not self.sums.add_unchecked(Chunk(scores, labels, None)):
            msg = "rows are to be looked at in their order"
            raise InputError(msg)
        lowest, highest, refused = self.sums.latest
        self.extents.append(_Extent(batch.first, lowest, highest))
        if refused:
            rows = forbidden_rows(labels, scores, None)
            self.refused.append(np.array(rows, np.int64) + batch.first)
        if self._keeps:
            self.outcomes.append((batch.first, np.packbits(labels.astype(bool, copy=False))))
        self.rows += batch.rows


class _Outcomes(NamedTuple):
    """The outcomes of all rows, a bit each.

    ``first`` are the numbers of the rows that batches began with, ``begin`` the places of their
    bits.
    """

    first: IntArray
    begin: IntArray
    bits: np.ndarray[tuple[int], np.dtype[np.uint8]]

    @classmethod
    def of(cls, takers: Sequence[_Adding]) -> _Outcomes:
        """Put together what threads have kept."""
        kept = sorted(
            (each for taker in takers for each in taker.outcomes), key=lambda each: each[0]
        )
        sizes = np.array([bits.shape[0] for _, bits in kept])
        first = np.array([first for first, _ in kept])
        return cls(first, np.cumsum(sizes) - sizes, np.concatenate([bits for _, bits in kept]))

    def of_rows(self, rows: IntArray) -> IntArray:
        """Return those of some rows, by their numbers."""
        batch = np.searchsorted(self.first, rows, side="right") - 1
        place = rows - self.first[batch]
        byte = self.bits[self.begin[batch] + (place >> 3)]
        return ((byte >> (7 - (place & 7)).astype(np.uint8)) & 1).astype(np.int64)


class _Selecting:
    """Finds rows near blocks, in a thread, and hands some over at a time."""

    def __init__(
        self,
        table: Predictions,
        outcomes: _Outcomes | None,
        finer: Refinement,
        near: tuple[FloatArray, FloatArray],
        lock: threading.Lock,
    ) -> None:
        self._table, self._outcomes = table, outcomes
        self._finer, self._near, self._lock = finer, near, lock
        self._found: list[Chunk] = []
        self._count = self.rows = 0
        self._room = np.empty(SIZE + 1, np.int64)

    def __call__(self, batch: Batch) -> None:
        table = self._table
        scores = numbers(table.complete(batch, "y_prob", table.columns.y_prob))
        select = kernels.compiled(kernels.select, kernels.kind_of(scores))
        index = self._room[: select(scores, *self._near, self._room)]
        self.rows += batch.rows
        if not index.size:
            return
        if self._outcomes is None:
            labels = table.values(batch)[0][index].astype(np.int64)
        else:
            labels = self._outcomes.of_rows(index + batch.first)
        self._found.append(Chunk(scores[index], labels, None))
        self._count += index.size
        if self._count > _HAND_OVER:
            self.hand_over()

    def hand_over(self) -> None:
        """Give the rows found to who cuts blocks finer."""
        found, self._found, self._count = self._found, [], 0
        if found:
            with self._lock:
                self._finer.add(join(found))


def read(
    table: Predictions,
    names: Sequence[str],
    pieces: Sequence[Piece],
    takers: Sequence[Callable[[Batch], None]],
) -> None:
    """Read pieces of files, each in one of as many threads as there are takers, for its taker.

    The first taker is called in this thread, and with a batch before any other is: what it has to
    compile is compiled once.

    Raises
    ------
    SecantError, InputError
        As :meth:`FileTable.walk`; and whatever a taker raises.
    """
    team = _Team(table, names, pieces)
    total = sum(piece.rows for piece in pieces)
    mine, others = team.work(takers[0]), []
    try:
        with reporting(table.doing) as report, closing(mine):
            next(mine, None)
            with suppress(RuntimeError):  # at the end of the process threads cannot be had any more
                for taker in takers[1:]:
                    other = threading.Thread(target=team.work_aside, args=(taker,), name=THREAD)
                    other.start()
                    others.append(other)
            for _ in mine:
                report(team.done, total)
        for other in others:
            other.join()
    finally:
        team.stop.set()  # what is left if this was interrupted
        for other in others:
            other.join()
    if team.errors:
        raise team.errors[0]


class _Team:
    """Threads that share pieces of files out among themselves."""

    def __init__(self, table: Predictions, names: Sequence[str], pieces: Sequence[Piece]) -> None:
        self._table, self._names, self._left = table, names, deque(pieces)
        self.stop = threading.Event()
        self.errors: list[BaseException] = []
        self.done = 0  # rows, about: for a bar

    def work(self, take: Callable[[Batch], None]) -> Generator[None]:
        """Read pieces for a taker until none is left, and say so after each batch."""
        with closing(self._table.walk_pieces(self._names, SIZE, self._pieces())) as batches:
            for batch in batches:
                if self.stop.is_set():
                    return
                take(batch)
                self.done += batch.rows
                yield

    def work_aside(self, take: Callable[[Batch], None]) -> None:
        """Do the same in another thread; an error ends all of them."""
        try:
            for _ in self.work(take):
                pass
        except BaseException as error:  # noqa: BLE001  (it is raised again where threads meet)
            self.errors.append(error)
            self.stop.set()

    def _pieces(self) -> Iterator[Piece]:
        with suppress(IndexError):
            while not self.stop.is_set():
                yield self._left.popleft()
