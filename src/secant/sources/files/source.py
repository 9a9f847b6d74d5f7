"""Files as a source: Parquet, CSV and Feather, streamed in batches with constant memory."""

from __future__ import annotations

from contextlib import closing
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.types import Forbidden
from secant._base.writing import write_whole
from secant._blocks.refining import pick
from secant.errors import Argument, SecantError
from secant.sources import rows as row_source
from secant.sources.files.clusters import clustered_rows
from secant.sources.files.formats import BLOCK, arrow, look
from secant.sources.files.groups import FileGroups
from secant.sources.files.ordered import open_ordered, open_ordered_groups
from secant.sources.files.paths import find
from secant.sources.files.predictions import Predictions
from secant.sources.files.values import group_codes, usual
from secant.sources.files.walking import Walk, gathered, usable
from secant.sources.files.whole import read_columns
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Mapping

    from secant._base.types import FloatArray, IntArray
    from secant._input.columns import Columns
    from secant._input.observations import Chunk
    from secant.sources.apart import Apart
    from secant.sources.ordered import OrderedSource

    # Columns by name, and whether there are no more rows.
    FirstRows = tuple[dict[str, IntArray], bool]

__all__ = [
    "FileRows",
    "column_kinds",
    "first_rows",
    "open_file_groups",
    "open_files",
    "read_columns",
    "write_parquet",
]

# A gzipped table is about so much smaller than its text.
_GZIP = 4


def open_files(data: Any, columns: Columns) -> RowSource | OrderedSource:
    """Return the rows of files as a source of blocks.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.
    columns
        The columns to read.

    Raises
    ------
    InputError
        If the files cannot be used; what their rows hold is checked when they are read.
    MissingExtraError
        If pyarrow is not installed.
    """
    table = Predictions(data, columns)
    source = RowSource(FileRows(table))
    return source if columns.order_by is None else open_ordered(table, source)


def open_file_groups(data: Any, columns: Columns) -> FileGroups | Apart:
    """Return the rows of files in groups.

    Parameters
    ----------
    data, columns
        As in :func:`open_files`; ``columns.by`` says what to group by.

    Raises
    ------
    InputError, MissingExtraError
        As :func:`open_files`.
    """
    table = Predictions(data, columns)
    return FileGroups(table) if columns.order_by is None else open_ordered_groups(table)


def column_kinds(data: Any) -> dict[str, str]:
    """Return the columns of the first of some files, each ``"float"``, ``"whole"`` or ``"other"``.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.

    Raises
    ------
    InputError
        If there is no file, or it cannot be read.
    MissingExtraError
        If pyarrow is not installed.
    """
    types = arrow().types
    path, kind, _ = find(data)[0]

    def of(column: Any) -> str:
        if types.is_floating(column) or types.is_decimal(column):
            return "float"
        return "whole" if types.is_integer(column) or types.is_boolean(column) else "other"

    return {name: of(column) for name, column in look(path, kind).types.items()}


def first_rows(data: Any, choose: Callable[[list[str]], list[str]], most: int) -> FirstRows:
    """Return the first rows of some columns of the first of some files.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.
    choose
        Names the columns, given all there are.
    most
        How many rows, at most.
    """
    found = find(data)
    path, kind, _ = found[0]
    seen = look(path, kind)
    names = [name for name in choose(seen.names) if seen.names.count(name) == 1]
    if not names:
        return {}, True
    roles = {Argument("clusters", index=i): name for i, name in enumerate(names)}
    types = kind.choose({name: seen.types[name] for name in names}, roles, None)
    with closing(kind.batches(path, names, most, types)) as batches:
        batch, more = next(batches, None), next(batches, None)
    if batch is None:
        return {}, True
    columns = {name: group_codes([usual(batch.column(name))])[1] for name in names}
    return columns, more is None and len(found) == 1


def write_parquet(
    path: str | os.PathLike[str], columns: Mapping[str, np.ndarray[Any, Any]]
) -> None:
    """Write columns to a Parquet file, whole or not at all.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """
    table = arrow().table(dict(columns))
    from pyarrow import parquet  # noqa: PLC0415  (an extra)

    buffer = BytesIO()
    parquet.write_table(table, buffer)
    write_whole(path, buffer.getvalue())


class FileRows:
    """The observations of files, checked in every walk over them.

    Before the first walk ``rows`` may be an estimate where the format does not tell, but one that
    is right about whether rows are few or many.
    """

    def __init__(self, table: Predictions) -> None:
        self._table = table
        self._rows = table.rows
        self._seen: Walk | None = None

    @property
    def rows(self) -> int:
        """How many rows there are, those of weight zero included."""
        if self._rows is None:
            self._rows = _estimated_rows(self._table)
        return self._rows

    @property
    def lowest(self) -> float:
        """A lower limit of the scores: the smallest of them once all have been seen."""
        return 0.0 if self._seen is None else self._seen.checks.lowest

    @property
    def highest(self) -> float:
        """An upper limit of the scores: the largest of them once all have been seen."""
        return 1.0 if self._seen is None else self._seen.checks.highest

    @property
    def counted(self) -> bool:
        """Whether weights count copies of rows."""
        return self._table.columns.reading.counts

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self._table.columns.sampling

    @property
    def outcome_weights(self) -> tuple[float, float] | None:
        """What the outcomes 0 and 1 weigh, on top of the weights of rows."""
        return self._table.columns.reading.outcome_weights

    @property
    def refused(self) -> Forbidden:
        """The rows whose score rules out what happened, numbered through all files."""
        return Forbidden(0, ()) if self._seen is None else self._seen.refused.found

    def chunks(self, size: int) -> Generator[Chunk]:
        """Walk over the rows of positive weight; a chunk is valid until the next one is taken."""
        size = max(1, min(size, row_source.CHUNK))
        walk = Walk(self._table, self.rows, again=self._seen is not None)
        with closing(gathered(walk.chunks(size), size)) as chunks:
            for chunk, _ in chunks:
                rows = chunk.scores.shape[0]
                yield from (pick(chunk, slice(i, i + size)) for i in range(0, rows, size))
        if self._seen is None:
            self._seen, self._rows = walk, walk.checks.rows
        elif walk.checks.rows != self._seen.checks.rows:
            msg = "the files were changed while they were assessed: assess them again"
            raise SecantError(msg)

    def with_clusters(self, size: int) -> Generator[tuple[Chunk, IntArray]]:  # noqa: ARG002  (its own)
        """Walk over the rows of positive weight, with the number of each one's cluster."""
        with closing(clustered_rows(self._table, self.rows)) as found:
            for chunk, _, clusters in found:
                yield chunk, clusters

    def sample(self, size: int) -> FloatArray:
        """Return about so many of the scores, from everywhere, in ascending order."""
        table = self._table
        scores = [table.scores(batch) for batch in table.sample([table.columns.y_prob], size)]
        return usable(np.concatenate(scores) if scores else np.empty(0))

    def recheck(self) -> None:
        """Raise SecantError if a file is seen to have changed since it was first looked at."""
        self._table.recheck()


def _estimated_rows(table: Predictions) -> int:
    """Count the rows if they are few; estimate their number from the files' sizes if not."""
    seen = block = 0
    names = [table.columns.y_prob]
    with closing(table.walk(names, BLOCK)) as batches:
        for batch in batches:
            block = block or batch.rows
            seen += batch.rows
            if seen > row_source.SORT_UP_TO:
                break
        else:
            return seen
    is_small = table.files[0].path.suffix.lower() == ".gz"
    text = table.bytes * (_GZIP if is_small else 1)
    return max(seen, round(text * block / BLOCK))
