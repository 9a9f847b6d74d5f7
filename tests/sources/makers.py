"""The same predictions in every home: one maker for each kind of data that secant reads.

A maker takes columns (numpy arrays by name, None in ``segment`` where a key is missing) and an
empty folder, and returns what a user passes as ``data``. A kind added to ``MAKERS`` takes part in
every test of the suite. Where a library is missing the maker skips, by ``helpers.optional``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helpers import optional

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np

    Columns = dict[str, np.ndarray]
    Maker = Callable[[Columns, Path], Any]

# The columns' names in the data, by the argument they are passed as.
NAMES = {
    "y_true": "happened",
    "y_prob": "forecast",
    "sample_weight": "weight",
    "by": "segment",
}


def arguments(columns: Columns, data: Any) -> dict[str, Any]:
    """Return what to pass to ``assess`` or ``assess_by``: names and data, or the arrays."""
    given = {role: name for role, name in NAMES.items() if name in columns}
    if data is None:
        return {role: columns[name] for role, name in given.items()}
    return {**given, "data": data}


# In memory ----------------------------------------------------------------------------------------


def _arrays(columns: Columns, folder: Path) -> None:
    return None


def _mapping(columns: Columns, folder: Path) -> Any:
    return dict(columns)


def _pandas(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return optional("pandas").DataFrame(columns)


def _polars(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return optional("polars").DataFrame(_lists(columns))


def _pyarrow(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return arrow(columns)


def arrow(columns: Columns) -> Any:
    """Return a pyarrow table."""
    return optional("pyarrow").table(_lists(columns))


def _lists(columns: Columns) -> dict[str, Any]:
    """Columns of Python objects (segments) as lists, whose None a library knows as null."""
    return {
        name: column.tolist() if column.dtype == object else column
        for name, column in columns.items()
    }


MAKERS: dict[str, Maker] = {
    "arrays": _arrays,
    "mapping": _mapping,
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
}
