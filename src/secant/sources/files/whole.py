"""Columns of files read whole into memory, for questions that need every row."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.progress import reporting
from secant.errors import Argument
from secant.sources import rows as row_source
from secant.sources.files.csv import typed
from secant.sources.files.table import FileTable
from secant.sources.files.values import group_codes, kind_of, plain_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["read_columns"]


def read_columns(
    data: Any, wanted: Mapping[Argument, Sequence[str]]
) -> dict[str, np.ndarray[Any, Any]]:
    """Read columns into memory, those of all files one after the other.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.
    wanted
        The names of columns, by the argument that names them.

    Returns
    -------
    dict
        Arrays of numbers or truths; of objects where a column holds text or dates.

    Raises
    ------
    InputError
        If there is no file, it cannot be read, lacks a column, or a value is missing.
    MissingExtraError
        If pyarrow is not installed.
    """
    roles = {
        Argument(argument.name, index=place if len(names) > 1 else None): name
        for argument, names in wanted.items()
        for place, name in enumerate(names)
    }
    table = FileTable(data, roles, None)
    arguments = {name: argument.name for argument, name in roles.items()}
    is_text = dict(zip(arguments, table.are_texts(list(arguments)), strict=True))
    columns = {name: _Column(is_text=is_text[name]) for name in arguments}
    walk = table.walk(list(columns), row_source.CHUNK)
    with reporting(table.doing) as report, closing(walk) as batches:
        for batch in batches:
            for name, column in columns.items():
                column.add(table.complete(batch, arguments[name], name))
            report(batch.first + batch.rows, table.rows or 0)
    return {name: column.values() for name, column in columns.items()}


class _Column:
    """A column that grows: numbers as they are, all else by the numbers of distinct values."""

    def __init__(self, *, is_text: bool) -> None:
        self._is_text = is_text
        self._arrays: list[np.ndarray[Any, Any]] = []
        self._codes: dict[Any, int] = {}

    def add(self, column: Any) -> None:
        if kind_of(column.type) in {"numbers", "booleans"}:
            self._arrays.append(plain_numbers(column))
            return
        keys, codes = group_codes([column])
        known = [self._codes.setdefault(key, len(self._codes)) for key in keys]
        self._arrays.append(np.array(known, np.int64)[codes])

    def values(self) -> np.ndarray[Any, Any]:
        together = np.concatenate(self._arrays or [np.empty(0)])
        if not self._codes:
            return together
        distinct = typed(list(self._codes)) if self._is_text else list(self._codes)
        if isinstance(distinct[0], str) or not self._is_text:
            array = np.empty(len(distinct), object)
            array[:] = distinct
        else:
            array = np.array(distinct)
        values: np.ndarray[Any, Any] = array[together]
        return values
