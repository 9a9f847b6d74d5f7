"""Walks over the rows of files: read ahead, checked, gathered into chunks."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._base.progress import reporting
from secant._base.types import Forbidden
from secant._input.batches import Batch, Checks
from secant._input.observations import Chunk
from secant.errors import InputError
from secant.sources.files.prefetch import prefetched

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from secant._base.types import FloatArray, IntArray
    from secant.sources.files.table import FileTable, Part, Stretch

    Keys = tuple[list[Any], IntArray]

__all__ = ["ForbiddenRows", "Piece", "Walk", "as_chunk", "gathered", "usable"]

# So many forbidden rows are remembered by number; all are counted.
_REMEMBERED = 1 << 16


class Piece(NamedTuple):
    """Checked rows: scores, outcomes of 0 and 1, weights, and the number of each row's group."""

    scores: FloatArray
    labels: np.ndarray[Any, Any]
    weights: FloatArray | None
    groups: IntArray | None


class ForbiddenRows:
    """The rows whose score rules out what happened, added up."""

    def __init__(self) -> None:
        self._count = 0
        self._rows: list[int] = []

    def add(self, rows: IntArray) -> None:
        """Add rows by their numbers."""
        self._count += rows.shape[0]
        self._rows += rows[: _REMEMBERED - len(self._rows)].tolist()

    @property
    def found(self) -> Forbidden:
        """How many there are, and the first of them."""
        return Forbidden(self._count, tuple(self._rows))


class Walk:
    """One walk over files.

    Parameters
    ----------
    table
        The files.
    total
        About how many rows there are, for the progress bar.
    number_groups
        Gives the groups of rows numbers; None where rows have no groups.
    parts
        The files to walk over, if not all.
    again
        Whether an earlier walk has checked every row: the files have not changed since then, or
        the walk says so, and most checks are spared.
    """

    def __init__(
        self,
        table: FileTable,
        total: int,
        number_groups: Callable[[list[Any], IntArray], IntArray] | None = None,
        parts: Sequence[Part] | None = None,
        *,
        again: bool = False,
    ) -> None:
        self._table, self._total, self._again = table, total, again
        self._number_groups, self._parts = number_groups, parts
        columns = table.columns
        self.checks = Checks(columns.reading)
        self._weighted = columns.sample_weight is not None
        self.refused = ForbiddenRows()
        self.refused_in: dict[int, ForbiddenRows] = {}

    def pieces(self, size: int) -> Generator[Piece]:
        """Walk over the rows in pieces of at most ``size``, and check each.

        Raises
        ------
        InputError
            If rows cannot be used: the file, the row there, the column and the value.
        """
        files = len(self._table.parts if self._parts is None else self._parts)
        doing = "Reading" if files == 1 else f"Reading {files:,} files"
        read = self._read(size)
        if not self._table.reads_ahead:
            read = prefetched(read)
        with reporting(doing) as report, closing(read):
            for done, piece in read:
                yield piece
                report(done, self._total)
        if self._parts is None and not self._again:
            self._finish()

    def _read(self, size: int) -> Generator[tuple[int, Piece]]:
        """Read and check what a walk needs; this may run in a thread of its own."""
        table = self._table
        grouped = self._number_groups is not None
        columns = table.columns if grouped else table.columns._replace(by=())
        with closing(table.walk(columns.names, size, self._parts)) as stretches:
            for stretch in stretches:
                keys = table.keys(stretch) if grouped else None
                yield (
                    stretch.first + stretch.rows,
                    self._checked(stretch, table.batch(stretch), keys),
                )

    def _checked(self, stretch: Stretch, batch: Batch, keys: Keys | None) -> Piece:
        nothing = np.zeros(0, np.int64)
        try:
            if self._again:
                labels, refused = self.checks.again(batch), nothing
            else:
                labels, refused = self.checks.batch(batch)
        except InputError as error:
            raise self._table.refused(stretch, error) from error
        groups = None
        if keys is not None and self._number_groups is not None:
            groups = self._number_groups(*keys)
        if refused.size:
            self.refused.add(refused + stretch.first)
            if groups is not None:
                owners = groups[refused]
                for group in np.unique(owners).tolist():
                    rows = refused[owners == group] + stretch.first
                    self.refused_in.setdefault(group, ForbiddenRows()).add(rows)
        return Piece(batch.scores, labels, batch.weights, groups)

    def _finish(self) -> None:
        try:
            self.checks.finish(weighted=self._weighted)
        except InputError as error:
            raise self._table.refused_whole(error) from error


def gathered(pieces: Generator[Piece], size: int) -> Generator[Piece]:
    """Join small pieces, as many small files or row groups make, up to ``size`` rows."""
    held: list[Piece] = []
    count = 0
    with closing(pieces):
        for piece in pieces:
            rows = piece.scores.shape[0]
            if held and count + rows > size:
                yield _joined(held)
                held, count = [], 0
            held.append(piece)
            count += rows
        if held:
            yield _joined(held)


def _joined(pieces: list[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    columns = zip(*pieces, strict=True)
    return Piece(*(None if c[0] is None else np.concatenate(c) for c in columns))  # type: ignore[arg-type]


def as_chunk(piece: Piece) -> tuple[Chunk, IntArray | None]:
    """Return the rows of positive weight, and their groups."""
    scores, labels, weights, groups = piece
    if weights is not None and not weights.all():
        counted = weights > 0
        scores, labels, weights = scores[counted], labels[counted], weights[counted]
        groups = None if groups is None else groups[counted]
    if not np.can_cast(labels.dtype, np.int64):
        labels = labels.astype(np.int64)
    return Chunk(scores, labels, weights), groups


def usable(scores: FloatArray) -> FloatArray:
    """Return the scores in [0, 1], sorted; some score if there are none."""
    inside = np.sort(scores[(scores >= 0) & (scores <= 1)])
    return inside if inside.size else np.array([0.5])
