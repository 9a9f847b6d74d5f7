"""What ``data=`` may be: a mapping of arrays, a data frame, a table of an engine, or files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from secant._base.extras import require
from secant.errors import Argument, InputError
from secant.sources.streams import single_named

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "is_files",
    "is_frame",
    "is_kept",
    "is_lazy",
    "is_list",
    "listed",
    "names_of",
    "table_of",
    "values_of",
]


def is_files(data: Any) -> bool:
    """Tell whether ``data`` is a path, or a list of paths."""
    if is_list(data):
        return bool(data) and all(isinstance(item, (str, os.PathLike)) for item in data)
    return isinstance(data, (str, os.PathLike))


def is_kept(data: Any) -> bool:
    """Tell whether ``data`` is a table whose rows an engine keeps."""
    frame = None if is_files(data) or isinstance(data, Mapping) else _frame(data)
    return frame is not None and is_lazy(frame)


def is_frame(data: Any) -> bool:
    """Tell whether ``data`` is a data frame in memory."""
    frame = _frame(data)
    return frame is not None and not is_lazy(frame)


def _frame(data: Any) -> Any:
    """Return what narwhals makes of a frame or a table of an engine; None if it is neither."""
    data = single_named(data)
    frame = _narwhals().from_native(data, pass_through=True)
    return None if frame is data else frame


def _narwhals() -> Any:
    return require("narwhals", "frames", "data frames and tables of engines need")


def table_of(data: Any, names: Sequence[str] = ()) -> Any:
    """Return a mapping of arrays, or what narwhals makes of a frame; ``names`` will be read."""
    if isinstance(data, Mapping):
        return data
    try:
        return _narwhals().from_native(single_named(data, names), pass_through=False)
    except TypeError as error:
        raise InputError(
            Argument("data"),
            " must be a data frame, a table of an engine, a stream of Arrow batches, a mapping of "
            f"arrays, a path or a list of paths; got {type(data).__name__}",
        ) from error


def is_lazy(table: Any) -> bool:
    """Tell whether the rows of a table are an engine's."""
    return not isinstance(table, Mapping) and not hasattr(table, "to_numpy")


def names_of(table: Any) -> Sequence[str]:
    """Return the names of a table's columns."""
    return list(table) if isinstance(table, Mapping) else table.columns


def values_of(table: Any, name: str) -> Any:
    """Return a column as its library has it."""
    return table[name] if isinstance(table, Mapping) else table[name].to_native()


def is_list(value: Any) -> bool:
    """Tell whether several things were given."""
    return isinstance(value, (list, tuple))


def listed(value: Any) -> Sequence[Any]:
    """Return one thing or several as several."""
    return value if is_list(value) else [value]
