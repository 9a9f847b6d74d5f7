"""Which field of a CSV it was that could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant.errors import InputError
from secant.sources.files.formats import Csv, arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from secant.errors import Argument

__all__ = ["find_bad_field"]

_MISSING = {"na", "n/a", "null", "none", "nil", "-", "?", "."}
_ROWS = 1 << 14


def find_bad_field(path: Path, types: Mapping[str, Any], roles: Mapping[Argument, str]) -> None:
    """Read the file once more as text, and refuse the first field that is not of its type.

    Raises
    ------
    InputError
        Naming the row, the column and the field, if there is one.
    """
    pa = arrow()
    reads = {name: _reader(pa, kind) for name, kind in types.items() if kind != pa.string()}
    arguments = {name: argument.name for argument, name in roles.items()}
    as_text = dict.fromkeys(reads, pa.string())
    start = 0
    for batch in Csv().batches(path, list(reads), _ROWS, as_text, threads=False):
        columns = [batch.column(name).to_pylist() for name in reads]
        for row, fields in enumerate(zip(*columns, strict=True)):
            for name, field in zip(reads, fields, strict=True):
                if field is not None and not reads[name](field):
                    raise _refused(path, start + row, name, arguments[name], field)
        start += batch.num_rows


def _reader(pa: Any, kind: Any) -> Callable[[str], bool]:
    if kind == pa.bool_():
        return lambda field: field.strip().lower() in {"0", "1", "true", "false"}
    return _is_number


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field  # which Python allows in numbers, and nobody else


def _refused(path: Path, row: int, name: str, argument: str, field: str) -> InputError:
    complaint = ", not a number"
    if field.strip().lower() in _MISSING:
        complaint = "; a missing value cannot be assessed, and secant drops no rows"
    return InputError(
        complaint, argument=argument, value=repr(field), row=row, column=name, place=str(path)
    )
