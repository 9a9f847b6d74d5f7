"""Which format a file is of, by the end of its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secant.errors import InputError
from secant.sources.files.arrow import Feather, Parquet
from secant.sources.files.csv import Csv

if TYPE_CHECKING:
    from pathlib import Path

    from secant.sources.files.formats import Format

__all__ = ["format_of"]

# Ends of names, in lower case.
_ENDINGS: dict[Format, tuple[str, ...]] = {
    Parquet(): (".parquet", ".pq"),
    Csv(): (".csv", ".csv.gz", ".tsv", ".tsv.gz"),
    Feather(): (".feather", ".arrow", ".ipc"),
}


def format_of(path: Path) -> Format:
    """Return the format of a file.

    Raises
    ------
    InputError
        If its name ends in none of those that are known.
    """
    name = path.name.lower()
    for kind, endings in _ENDINGS.items():
        if name.endswith(endings):
            return kind
    known = ", ".join(end for endings in _ENDINGS.values() for end in endings)
    msg = f"{path} is of no format that secant knows by its name; files end in {known}"
    raise InputError(msg)
