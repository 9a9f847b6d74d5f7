"""Walks over the rows of files: read ahead, checked, gathered into chunks."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.progress import reporting
from secant._base.types import Forbidden
from secant._input.batches import Checks
from secant._input.clusters import is_missing, missing_id
from secant._input.keys import key_numbers
from secant._input.observations import Chunk, join, pick
from secant.errors import InputError
from secant.sources.files.prefetch import prefetched
from secant.sources.files.values import group_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from secant._base.types import FloatArray, IntArray, NumberArray
    from secant._input.columns import Columns
    from secant.sources.files.predictions import Predictions
    from secant.sources.files.table import Batch, File

__all__ = ["ForbiddenRows", "Walk", "WalkedRows", "side_by_side", "usable"]

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
    clusters
        Whether rows are to come with the numbers of their clusters.
    places
        Finds the places of rows along another order than that of scores, where there is one.
    """

    def __init__(
        self,
        table: Predictions,
        total: int,
        number_groups: Callable[[list[Any], IntArray], IntArray] | None = None,
        files: Sequence[File] | None = None,
        *,
        again: bool = False,
        clusters: bool = False,
        places: Callable[[Batch], NumberArray] | None = None,
    ) -> None:
        self._table, self._total, self._again = table, total, again
        self._number_groups, self._files = number_groups, files
        self._places = places
        self._ids: dict[Any, int] | None = {} if clusters else None
        self.checks = Checks(table.columns.reading)
        self.refused = ForbiddenRows()
        self.refused_in: dict[int, ForbiddenRows] = {}
        self._left_out = 0

    def chunks(self, size: int) -> Generator[Chunk]:
        """Walk over the rows of positive weight, each checked, at most ``size`` at a time.

        Raises
        ------
        InputError
            If rows cannot be used: the file, the row there, the column and the value.
        """
        with closing(side_by_side([self], size)) as read:
            for (chunk,) in read:
                if chunk is not None:
                    yield chunk

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
    def in_groups(self) -> bool:
        """Whether rows come with the numbers of their groups."""
        return self._number_groups is not None

    @property
    def total(self) -> int:
        """About how many rows there are; 0 where nobody knows yet."""
        return self._total

    @property
    def _columns(self) -> Columns:
        """The columns to read."""
        columns = self._table.columns
        return columns._replace(
            by=() if self._number_groups is None else columns.by,
            clusters=None if self._ids is None else columns.clusters,
            order_by=None if self._places is None else columns.order_by,
        )

    def checked(self, batch: Batch) -> Chunk | None:
        """Return the rows of a batch that have weight; None where every row is left out.

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

    def _checked(self, batch: Batch) -> Chunk:
        table = self._table
        labels, scores, weights, words = table.values(batch)
        refused = np.zeros(0, np.int64)
        try:
            if self._again:
                labels = self.checks.again(labels, scores, words)
            else:
                labels, refused = self.checks.batch(labels, scores, weights, words)
        except InputError as error:
            raise table.refused(batch, error) from error
        place = None if self._places is None else self._places(batch)
        group = None if self._number_groups is None else self._number_groups(*table.keys(batch))
        cluster = None if self._ids is None else _cluster_numbers(table, batch, self._ids)
        if refused.size:
            numbers = refused if batch.kept is None else batch.kept[refused]
            self._note(numbers + batch.first, None if group is None else group[refused])
        return _of_positive_weight(Chunk(scores, labels, weights, group, cluster, place))

    def _note(self, numbers: IntArray, groups: IntArray | None) -> None:
        """Remember refused rows by their numbers in all files, and which groups they are in."""
        self.refused.add(numbers)
        if groups is not None and groups.ndim == 1:  # not those of levels
            for group in np.unique(groups).tolist():
                self.refused_in.setdefault(group, ForbiddenRows()).add(numbers[groups == group])

    def _finish(self) -> None:
        self._table.left_out = self._left_out
        try:
            weighted = self._table.columns.sample_weight is not None
            self.checks.finish(weighted=weighted, left_out=self._left_out)
        except InputError as error:
            raise self._table.told(self._table.refused_whole(error)) from error


class WalkedRows:
    """What all rows of files have in common."""

    def __init__(self, table: Predictions) -> None:
        self.table = table
        reading = table.columns.reading
        self.counted, self.sampling = reading.counts, table.columns.sampling
        self.outcome_weights = reading.outcome_weights

    def recheck(self) -> None:
        """Raise SecantError if a file is seen to have changed since it was first looked at."""
        self.table.recheck()


def side_by_side(
    walks: Sequence[Walk], size: int, together: int | None = None
) -> Generator[list[Chunk | None]]:
    """Walk over the same files for several walks at once: a batch is read once, checked for each.

    Parameters
    ----------
    walks
        Which columns to read, and how to check them.
    size
        Rows to be read at a time, at most.
    together
        Rows to be handed over at a time, at most, if not as many: those of small files and row
        groups are joined.

    Yields
    ------
    list
        The rows that each walk is to see next, if any.
    """
    table = walks[0].table.beside([walk.table for walk in walks[1:]])
    names = list(dict.fromkeys(name for walk in walks for name in walk.names))
    files: list[File] | None = []
    for walk in walks:
        files = None if files is None or walk.files is None else [*files, *walk.files]

    def rows() -> Generator[tuple[int, list[Chunk | None]]]:
        """Read and check what the walks need; this may run in a thread of its own."""
        with closing(table.walk(names, size, files)) as batches:
            for batch in batches:
                yield batch.first + batch.rows, [walk.checked(batch) for walk in walks]

    read = rows() if table.reads_ahead else prefetched(rows())
    total = max(walk.total for walk in walks)
    held: list[list[Chunk | None]] = []
    first = last = 0  # rows of files up to what is held, and with it
    with reporting(table.doing) as report, closing(read):
        for done, checked in read:
            if held and done - first > (together or size):
                yield _joined(held)
                held, first = [], last
            held.append(checked)
            last = done
            total = total or walks[0].table.about_rows(done)
            report(done, total)
        if held:
            yield _joined(held)
    for walk in walks:
        walk.finish()


def _joined(held: list[list[Chunk | None]]) -> list[Chunk | None]:
    each = ([chunk for chunk in chunks if chunk is not None] for chunks in zip(*held, strict=True))
    return [join(chunks) if chunks else None for chunks in each]


def _of_positive_weight(chunk: Chunk) -> Chunk:
    """Return the rows that count, their labels in a type that can be added up."""
    if chunk.weights is not None and not chunk.weights.all():
        chunk = pick(chunk, chunk.weights > 0)
    if not np.can_cast(chunk.labels.dtype, np.int64):
        chunk = chunk._replace(labels=chunk.labels.astype(np.int64))
    return chunk


def _cluster_numbers(table: Predictions, batch: Batch, numbers: dict[Any, int]) -> IntArray:
    """Return the number of each row's cluster; ids that are new get the next one.

    Raises
    ------
    InputError
        If the id of a cluster is missing: the file, the row there, the column.
    """
    names = table.columns.clusters
    assert names is not None  # noqa: S101
    keys, codes = group_codes([table.complete(batch, "clusters", name) for name in names])
    for code, key in enumerate(keys):
        if is_missing(key):
            error = missing_id("NaN" if key is None else repr(key), int(np.argmax(codes == code)))
            raise table.refused(batch, error)
    return key_numbers(keys, codes, numbers)


def usable(scores: FloatArray) -> FloatArray:
    """Return the scores in [0, 1], sorted; some score if there are none."""
    inside = np.sort(scores[(scores >= 0) & (scores <= 1)])
    return inside if inside.size else np.array([0.5])
