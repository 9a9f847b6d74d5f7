"""Walks over the rows of files: read ahead, checked, gathered into chunks."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.progress import reporting
from secant._base.types import Forbidden
from secant._blocks.refining import join, pick
from secant._input.batches import Checks
from secant._input.observations import Chunk
from secant.errors import InputError
from secant.sources.files.prefetch import prefetched

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from secant._base.types import FloatArray, IntArray
    from secant._input.columns import Columns
    from secant.sources.files.predictions import Predictions
    from secant.sources.files.table import Batch, File

__all__ = ["ForbiddenRows", "Walk", "gathered", "usable"]

# So many forbidden rows are remembered by number; all are counted.
_REMEMBERED = 1 << 16


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
    files
        The files to walk over, if not all.
    again
        Whether an earlier walk has checked every row: the files have not changed since then, or
        the walk says so, and most checks are spared.
    """

    def __init__(
        self,
        table: Predictions,
        total: int,
        number_groups: Callable[[list[Any], IntArray], IntArray] | None = None,
        files: Sequence[File] | None = None,
        *,
        again: bool = False,
    ) -> None:
        self._table, self._total, self._again = table, total, again
        self._number_groups, self._files = number_groups, files
        self.checks = Checks(table.columns.reading)
        self.refused = ForbiddenRows()
        self.refused_in: dict[int, ForbiddenRows] = {}
        self._left_out = 0

    def chunks(self, size: int) -> Generator[tuple[Chunk, IntArray | None]]:
        """Walk over the rows of positive weight, each checked, at most ``size`` at a time.

        Yields
        ------
        chunk, groups
            Rows, and the number of each one's group, if asked for.

        Raises
        ------
        InputError
            If rows cannot be used: the file, the row there, the column and the value.
        """
        with closing(side_by_side([self], size)) as read:
            for (checked,) in read:
                if checked is not None:
                    yield checked

    @property
    def table(self) -> Predictions:
        """The files."""
        return self._table

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return self._columns.names

    @property
    def files(self) -> Sequence[File] | None:
        """The files to walk over, if not all."""
        return self._files

    @property
    def total(self) -> int:
        """About how many rows there are; 0 where nobody knows yet."""
        return self._total

    @property
    def _columns(self) -> Columns:
        """The columns to read."""
        columns = self._table.columns._replace(clusters=None, order_by=None)
        return columns._replace(by=()) if self._number_groups is None else columns

    def _owners(self, batch: Batch) -> IntArray | None:
        """Return the groups that rows are in, if asked for."""
        if self._number_groups is None:
            return None
        return self._number_groups(*self._table.keys(batch))

    def checked(self, batch: Batch) -> tuple[Chunk, IntArray | None] | None:
        """Return the rows of a batch that have weight, and the numbers of their groups.

        None where every row is left out.

        Raises
        ------
        InputError
            As :meth:`chunks`.
        """
        rows, batch = batch.rows, self._table.complete_rows(batch)
        self._left_out += rows - batch.rows
        try:
            return self._checked(batch) if batch.rows else None
        except InputError as error:
            raise self._table.told(error) from error

    def saw(
        self, rows: int, extent: tuple[float, float] | None, refused: Sequence[IntArray]
    ) -> None:
        """Take note of what others saw who read the files in another order.

        Parameters
        ----------
        rows
            How many rows there are.
        extent
            The smallest and the largest score; None where they are known.
        refused
            The rows whose score rules out what happened, in any order.
        """
        self.checks.rows = rows
        if extent is not None:
            self.checks.lowest, self.checks.highest = extent
        if refused:
            self.refused.add(np.sort(np.concatenate(refused)))

    def finish(self) -> None:
        """Check what only all rows together can tell, unless this was done before."""
        if self._files is None and not self._again:
            self._finish()

    def _checked(self, batch: Batch) -> tuple[Chunk, IntArray | None]:
        labels, scores, weights, words = self._table.values(batch)
        refused = np.zeros(0, np.int64)
        try:
            if self._again:
                labels = self.checks.again(labels, scores, words)
            else:
                labels, refused = self.checks.batch(labels, scores, weights, words)
        except InputError as error:
            raise self._table.refused(batch, error) from error
        groups = self._owners(batch)
        if refused.size:
            places = refused if batch.kept is None else batch.kept[refused]
            self._note(refused, places + batch.first, groups)
        return _of_positive_weight(Chunk(scores, labels, weights), groups)

    def _note(self, refused: IntArray, numbers: IntArray, groups: IntArray | None) -> None:
        """Remember rows of a batch by their numbers in all files, and which groups they are in."""
        self.refused.add(numbers)
        if groups is not None:
            owners = groups[refused]
            for group in np.unique(owners).tolist():
                self.refused_in.setdefault(group, ForbiddenRows()).add(numbers[owners == group])

    def _finish(self) -> None:
        self._table.left_out = self._left_out
        try:
            weighted = self._table.columns.sample_weight is not None
            self.checks.finish(weighted=weighted, left_out=self._left_out)
        except InputError as error:
            raise self._table.told(self._table.refused_whole(error)) from error


def side_by_side(
    walks: Sequence[Walk], size: int
) -> Generator[list[tuple[Chunk, IntArray | None] | None]]:
    """Walk over the same files for several walks at once: a batch is read once, checked for each.

    Yields
    ------
    list
        What :meth:`Walk.checked` returns, for each walk.
    """
    table = walks[0].table.beside([walk.table for walk in walks[1:]])
    names = list(dict.fromkeys(name for walk in walks for name in walk.names))
    files: list[File] | None = []
    for walk in walks:
        files = None if files is None or walk.files is None else [*files, *walk.files]

    def rows() -> Generator[tuple[int, list[tuple[Chunk, IntArray | None] | None]]]:
        """Read and check what the walks need; this may run in a thread of its own."""
        with closing(table.walk(names, size, files)) as batches:
            for batch in batches:
                yield batch.first + batch.rows, [walk.checked(batch) for walk in walks]

    read = rows() if table.reads_ahead else prefetched(rows())
    total = max(walk.total for walk in walks)
    with reporting(table.doing) as report, closing(read):
        for done, checked in read:
            yield checked
            total = total or walks[0].table.about_rows(done)
            report(done, total)
    for walk in walks:
        walk.finish()


def gathered(
    chunks: Generator[tuple[Chunk, IntArray | None]], size: int
) -> Generator[tuple[Chunk, IntArray | None]]:
    """Join small chunks, as many small files or row groups make, up to ``size`` rows."""
    held: list[tuple[Chunk, IntArray | None]] = []
    count = 0
    with closing(chunks):
        for chunk, groups in chunks:
            rows = chunk.scores.shape[0]
            if held and count + rows > size:
                yield _joined(held)
                held, count = [], 0
            held.append((chunk, groups))
            count += rows
        if held:
            yield _joined(held)


def _joined(held: list[tuple[Chunk, IntArray | None]]) -> tuple[Chunk, IntArray | None]:
    if len(held) == 1:
        return held[0]
    groups = [groups for _, groups in held if groups is not None]
    return join([chunk for chunk, _ in held]), np.concatenate(groups) if groups else None


def _of_positive_weight(chunk: Chunk, groups: IntArray | None) -> tuple[Chunk, IntArray | None]:
    """Return the rows that count, their labels in a type that can be added up."""
    if chunk.weights is not None and not chunk.weights.all():
        counted = chunk.weights > 0
        chunk = pick(chunk, counted)
        groups = None if groups is None else groups[counted]
    if not np.can_cast(chunk.labels.dtype, np.int64):
        chunk = chunk._replace(labels=chunk.labels.astype(np.int64))
    return chunk, groups


def usable(scores: FloatArray) -> FloatArray:
    """Return the scores in [0, 1], sorted; some score if there are none."""
    inside = np.sort(scores[(scores >= 0) & (scores <= 1)])
    return inside if inside.size else np.array([0.5])
