"""Files as a source: Parquet, CSV and Feather, streamed in batches with constant memory."""

from __future__ import annotations

from contextlib import closing
from io import BytesIO
from typing import TYPE_CHECKING, Any

from secant._base.writing import write_whole
from secant.errors import Argument, InputError
from secant.sources.files.formats import arrow, look, readable
from secant.sources.files.groups import FileGroups, FileRows
from secant.sources.files.held import HeldSource
from secant.sources.files.ordered import open_ordered, open_ordered_groups
from secant.sources.files.passes import SideBySide
from secant.sources.files.paths import find
from secant.sources.files.predictions import Predictions
from secant.sources.files.values import group_codes, kind_of, usual
from secant.sources.files.whole import read_columns
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from secant._base.types import IntArray
    from secant._input.columns import Columns
    from secant.sources.apart import Apart
    from secant.sources.ordered import OrderedSource

    # Columns by name, and whether there are no more rows.
    FirstRows = tuple[dict[str, IntArray], bool]

__all__ = [
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
    rows = FileRows(FileGroups(table))
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
    looks = [FileGroups(table, by=(), moments=moments) for table in tables]
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
