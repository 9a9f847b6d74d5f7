"""A look for columns that tell which rows belong together, which nobody has named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from secant._input.clusters import SAMPLE, repeated, telling
from secant.errors import SecantError
from secant.sources.tables import is_files, is_frame, names_of, table_of, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

__all__ = ["repeated_units"]


def repeated_units(data: Any, used: Collection[str | None]) -> str | None:
    """Say which column looks like the id of units that have several rows each; None if none does.

    Only the first rows are looked at, of tables in memory and of files; an engine is not asked.

    Parameters
    ----------
    data
        As in :func:`open_source`.
    used
        The columns that are used, and so are no such thing.
    """

    def unused(names: Sequence[str]) -> list[str]:
        return [name for name in telling(names) if name not in used]

    if is_files(data):
        columns, every = _of_files(data, unused)
    elif isinstance(data, Mapping) or is_frame(data):
        table = table_of(data)
        names = unused([str(name) for name in names_of(table)])
        whole = [(name, values_of(table, name)) for name in names if name in names_of(table)]
        # A mapping may hold anything beside what is used.
        arrays = {name: values for name, values in whole if _is_column(values)}
        columns = {name: values[:SAMPLE] for name, values in arrays.items()}
        every = all(len(values) <= SAMPLE for values in arrays.values())
    else:
        return None
    found = (repeated(name, values, all_rows=every) for name, values in columns.items())
    return next((each for each in found if each is not None), None)


def _of_files(
    data: Any, choose: Callable[[Sequence[str]], list[str]]
) -> tuple[dict[str, Any], bool]:
    """Return the first rows of some columns; none where these cannot be read, and need not be."""
    from secant.sources.files.formats import arrow  # noqa: PLC0415  (pyarrow is an extra)
    from secant.sources.files.source import first_rows  # noqa: PLC0415

    try:
        return first_rows(data, choose, SAMPLE)
    except (SecantError, arrow().ArrowException):
        return {}, True


def _is_column(values: Any) -> bool:
    """Tell whether something is a list, or a column of one of the libraries."""
    typed = hasattr(values, "dtype") or hasattr(values, "type")
    return isinstance(values, list) or (typed and getattr(values, "ndim", 1) == 1)
