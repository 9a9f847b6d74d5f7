"""Files as a source: Parquet, CSV and Feather, streamed in batches with constant memory."""

from __future__ import annotations

from contextlib import closing
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.types import Forbidden
from secant._base.writing import write_whole
from secant._blocks.fixed_sums import FixedSums
from secant._blocks.key_sums import KeyAdder
from secant._blocks.refining import Refinement, pick
from secant._input.observations import Observations
from secant.errors import Argument, InputError, SecantError
from secant.sources import rows as row_source
from secant.sources.files.abreast import Abreast
from secant.sources.files.clusters import ClusterWalk, clustered_rows
from secant.sources.files.first import FirstLook
from secant.sources.files.formats import arrow, look, readable
from secant.sources.files.groups import FileGroups
from secant.sources.files.held import HeldSource, collected
from secant.sources.files.ordered import open_ordered, open_ordered_groups
from secant.sources.files.passes import Clusters, SideBySide, Taker
from secant.sources.files.paths import find
from secant.sources.files.predictions import Predictions
from secant.sources.files.values import group_codes, kind_of, usual
from secant.sources.files.walking import Walk, gathered, usable
from secant.sources.files.whole import read_columns
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.key_sums import Ask, KeySums
    from secant._blocks.table import Blocks, Totals
    from secant._input.columns import Columns
    from secant._input.observations import Chunk
    from secant.sources.apart import Apart
    from secant.sources.files.passes import Adds, Look
    from secant.sources.ordered import OrderedSource

    # Columns by name, and whether there are no more rows.
    FirstRows = tuple[dict[str, IntArray], bool]

__all__ = [
    "FileRows",
    "column_kinds",
    "first_rows",
    "open_file_groups",
    "open_files",
    "open_side_by_side",
    "read_columns",
    "two_valued",
    "write_parquet",
]


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
    rows = FileRows(table)
    if columns.order_by is not None:
        return open_ordered(table, RowSource(rows))
    return HeldSource(rows) if columns.clusters is None else RowSource(rows)


def open_file_groups(data: Any, columns: Columns) -> SideBySide | Apart:
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
    if columns.order_by is not None:
        return open_ordered_groups(table)
    return SideBySide([FileGroups(table)])


def open_side_by_side(
    data: Any, several: Sequence[tuple[str, Columns]], *, moments: bool = False
) -> SideBySide:
    """Return all rows of files for each of several columns of scores, then the groups of each.

    All of them are read in the same passes. There are groups where columns say what to group by.

    Parameters
    ----------
    data
        As in :func:`open_files`.
    several
        The columns to read, after what messages call the argument that names the scores.
    moments
        Whether blocks of all rows are to know the noise of each.

    Raises
    ------
    InputError, MissingExtraError
        As :func:`open_files`.
    """
    tables = []
    for name, columns in several:
        called = {"y_prob": name}
        try:
            tables.append(Predictions(data, columns, called))
        except InputError as error:
            raise error.renamed(called) from error
    looks: list[Look] = [Whole(table, moments=moments) for table in tables]
    looks += [FileGroups(table) for table in tables if table.columns.by]
    return SideBySide(looks)


def column_kinds(data: Any) -> dict[str, str]:
    """Return the columns of the first of some files, each of one of four kinds.

    These are ``"float"``, ``"whole"``, ``"text"`` and ``"other"``.

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
        if types.is_integer(column) or types.is_boolean(column):
            return "whole"
        return "text" if kind_of(column) == "text" else "other"

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
    batch, names, every = _first_batch(data, choose, most)
    return {name: group_codes([usual(batch.column(name))])[1] for name in names}, every


def two_valued(data: Any, names: list[str], most: int) -> list[str]:
    """Return which of some columns may have two values, missing ones aside.

    Rows beyond the first are not looked at: where there are more, a column of one value may have
    another there, as one that rows are sorted by has.
    """
    batch, names, whole = _first_batch(data, lambda _: names, most)
    keys = {name: group_codes([usual(batch.column(name))])[0] for name in names}
    few = {2} if whole else {1, 2}
    return [name for name in names if sum(key is not None for key in keys[name]) in few]


def _first_batch(
    data: Any, choose: Callable[[list[str]], list[str]], most: int
) -> tuple[Any, list[str], bool]:
    """Return the first rows of some columns, the names of these, and whether those are all rows."""
    found = find(data)
    path, kind, _ = found[0]
    seen = look(path, kind)
    names = [name for name in choose(seen.names) if seen.names.count(name) == 1]
    if not names:
        return None, [], True
    roles = {Argument("clusters", index=i): name for i, name in enumerate(names)}
    types = kind.choose({name: seen.types[name] for name in names}, roles, None)
    with readable(path), closing(kind.batches(path, names, most, types)) as batches:
        batch, more = next(batches, None), next(batches, None)
    if batch is None:
        return None, [], True
    return batch, names, more is None and len(found) == 1


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
        self._abreast = Abreast(table)
        self._kept: Chunk | None = None

    @property
    def rows(self) -> int:
        """How many rows there are, those of weight zero included."""
        if self._rows is None:
            self._rows = self._table.estimated_rows()
        return self._rows

    @property
    def are_counted(self) -> bool:
        """Whether the files say how many rows there are."""
        return self._table.rows is not None

    @property
    def in_memory(self) -> bool:
        """Whether all rows are kept, so that none is read again."""
        return self._kept is not None

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
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome, once all have been seen."""
        return self._table.left_out

    @property
    def refused(self) -> Forbidden:
        """The rows whose score rules out what happened, numbered through all files."""
        return Forbidden(0, ()) if self._seen is None else self._seen.refused.found

    def chunks(self, size: int) -> Generator[Chunk]:
        """Walk over the rows of positive weight; a chunk is valid until the next one is taken."""
        size = max(1, min(size, row_source.CHUNK))
        if self._kept is not None:
            yield from _cut(self._kept, size)
            return
        walk = self.walk()
        with closing(gathered(walk.chunks(size), size)) as chunks:
            for chunk, _ in chunks:
                yield from _cut(chunk, size)
        self.walked(walk)

    def observations(self, most: int) -> Observations | None:
        """Read all rows into memory; None if there turn out to be more than so many."""
        walk = self.walk()
        room = most if self._table.rows is None else self._table.rows
        with closing(walk.chunks(row_source.CHUNK)) as chunks:
            rows = collected((chunk for chunk, _ in chunks), room)
        if rows is None:
            return None
        self.walked(walk)
        scores, labels, weights = rows
        return Observations(
            labels,
            scores,
            weights,
            counted=self.counted,
            n=int(weights.sum()) if weights is not None and self.counted else scores.shape[0],
            lowest=self.lowest,
            highest=self.highest,
            forbidden=(),
            has_zero_weights=False,
            outcome_weights=self.outcome_weights,
        )

    def keep(self, rows: Chunk | None) -> None:
        """Keep all rows in memory, so that they are not read again; None keeps none."""
        self._kept = rows

    def feed(self, taker: object) -> bool:
        """Give all rows to who takes them in several threads; False if nothing was done."""
        walk = self.walk()
        if isinstance(taker, FixedSums):
            fed = self._abreast.add_up(taker, walk)
        else:
            fed = isinstance(taker, Refinement) and self._abreast.refine(taker, walk)
        if fed:
            self.walked(walk)
        return fed

    def forget(self) -> None:
        """Forget what was kept for the passes of one assessment."""
        self._abreast.forget()

    def walk(self) -> Walk:
        """Return a walk over all rows, which are checked if they have not been before."""
        return Walk(self._table, self._rows or 0, again=self._seen is not None)

    def walked(self, walk: Walk) -> None:
        """Make sure that every walk sees the same rows.

        Raises
        ------
        SecantError
            If there are more of them, or fewer.
        """
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


def _cut(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """Cut rows into pieces of at most a size."""
    return (pick(chunk, slice(i, i + size)) for i in range(0, chunk.scores.shape[0], size))


class Whole:
    """All rows of files, as one of several looks at them.

    Parameters
    ----------
    table
        The files.
    moments
        Whether blocks are to know the noise of each.
    """

    keys: Sequence[None] = (None,)
    by: tuple[str, ...] = ()
    empty: tuple[Any, ...] = ()

    @property
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome, once all have been seen."""
        return self._table.left_out

    def __init__(self, table: Predictions, *, moments: bool = False) -> None:
        self._table, self._moments = table, moments
        self._rows = FileRows(table)
        self._source = RowSource(self._rows)

    def first(self) -> Taker:
        """Return what takes in all rows; then there are :meth:`found`."""
        self._first = FirstLook(self._source, moments=self._moments)
        return _Every(self._rows, self._first)

    def found(self) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of all rows."""
        first = self._first
        del self._first
        self._rows.keep(first.rows)
        return [first.found()]

    def feeding(self, takers: Mapping[int, Adds]) -> Taker:
        """Return what hands all rows to the one taker."""
        return _Every(self._rows, takers[0])

    def release(self) -> None:
        """Forget the outcomes: they are read again if anything is asked later."""
        self._rows.forget()

    def adders(self, asks: Sequence[Ask]) -> Clusters:
        """Return what adds up rows by cluster and cell."""
        (ask,) = asks
        walk = ClusterWalk(self._table, self._rows.rows, again=True)
        return _ClusterRows(walk, KeyAdder(ask, counted=self._rows.counted))

    def source(self, number: int) -> RowSource:  # noqa: ARG002  (there is one)
        """Return the rows by themselves, for questions asked later."""
        return self._source


class _Every(Taker):
    """Hands every row to one who adds them up."""

    def __init__(self, rows: FileRows, to: Adds) -> None:
        super().__init__(rows.walk())
        self._rows, self._to = rows, to

    def alone(self) -> bool:
        if isinstance(self._to, FirstLook):
            return self._rows.are_counted and self._to.at_once(self._rows.feed)
        return self._rows.feed(self._to)

    def add(self, chunk: Chunk, owner: None) -> None:  # noqa: ARG002  (rows have no groups)
        self._to.add(chunk)

    def finish(self) -> None:
        self._rows.walked(self.walk)


class _ClusterRows(Clusters):
    """Adds up all rows by cluster and cell."""

    def __init__(self, walk: ClusterWalk, adder: KeyAdder) -> None:
        super().__init__(walk)
        self._adder = adder

    def add(self, chunk: Chunk, owner: IntArray) -> None:
        self._adder.add(chunk, owner[:, 1])

    def sums(self) -> list[KeySums]:
        return [self._adder.sums()]
