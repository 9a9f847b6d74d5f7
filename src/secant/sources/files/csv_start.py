"""How a file of text begins: with a line of names in UTF-8, separated as its ending says."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from secant.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["START", "check_start"]

# So many bytes are looked at, more than all but the longest lines of names.
START = 1 << 16
# First bytes of what is no text, and what to do with it.
_OTHERS = {
    b"\xff\xfe": "is text in UTF-16; save it anew in UTF-8 (in Excel: CSV UTF-8)",
    b"\xfe\xff": "is text in UTF-16; save it anew in UTF-8 (in Excel: CSV UTF-8)",
    b"\x1f\x8b": "is gzipped; give it a name that ends in .gz",
    b"PK\x03\x04": "is a zip archive or a workbook; save what is in it as CSV",
    b"PAR1": "is a Parquet file; give it a name that ends in .parquet",
    b"ARROW1": "is a Feather file; give it a name that ends in .feather",
}
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_ENDINGS = {",": ".csv", "\t": ".tsv"}


def check_start(path: Path, start: bytes, separator: str) -> None:
    """Refuse a file whose first line cannot be the names of columns, and say what to do.

    Parameters
    ----------
    path
        The file, for the message.
    start
        Its first bytes, up to ``START``.
    separator
        What is expected between columns.

    Raises
    ------
    InputError
        If it is no text in UTF-8, or columns are separated by something else.
    """
    for first, what in _OTHERS.items():
        if start.startswith(first):
            raise InputError(f"{path} {what}")
    line = _first_line(path, start)
    if separator in line:
        return
    for other, name in _SEPARATORS.items():
        if other in line:
            raise InputError(
                f"{path} has {name} in its first line, where {_SEPARATORS[separator]} are "
                f"expected between columns; {_remedy(other, separator)}"
            )


def _first_line(path: Path, start: bytes) -> str:
    """Return the first line that is not empty."""
    bare = start.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
    line = (bare.splitlines() or [b""])[0]
    if b"\0" in line:
        msg = f"{path} has zero bytes in its first line, as text in UTF-16 has; save it in UTF-8"
        raise InputError(msg)
    try:
        # Not final: a line that is longer than what was read may end within a character.
        return codecs.getincrementaldecoder("utf-8")().decode(line)
    except UnicodeDecodeError as error:
        msg = (
            f"{path} is not text in UTF-8: its first line holds the byte "
            f"0x{line[error.start]:02x}; save it anew in UTF-8"
        )
        raise InputError(msg) from error


def _remedy(found: str, expected: str) -> str:
    if found in _ENDINGS:
        return f"give it a name that ends in {_ENDINGS[found]}"
    points = " (and points in numbers)" if found == ";" else ""
    return f"write it anew with {_SEPARATORS[expected]}{points}"
