"""What columns files have, before any is chosen."""

from __future__ import annotations

from typing import Any

from secant.sources._formats import FORMATS, arrow, readable
from secant.sources._paths import find

__all__ = ["column_kinds"]


def column_kinds(data: Any) -> dict[str, str]:
    """Return the columns of the first of some files, and what they hold.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.

    Returns
    -------
    dict
        From the name of a column to ``"float"``, ``"whole"`` (also booleans) or ``"other"``.

    Raises
    ------
    InputError
        If there is no such file, or it cannot be read.
    """
    path, kind, partition = find(data)[0]
    with readable(path):
        look = FORMATS[kind].look(path)
    kinds = {name: _kind(look.types[name]) for name in look.names}
    return kinds | {name: "other" for name in partition if name not in kinds}


def _kind(of: Any) -> str:
    types = arrow().types
    if types.is_floating(of) or types.is_decimal(of):
        return "float"
    return "whole" if types.is_integer(of) or types.is_boolean(of) else "other"
