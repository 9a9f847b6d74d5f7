"""Quotes in files of text: checked line by line, since one that is not closed swallows rows.

A reader of CSV takes all that follows a quote for one field until the next quote, over the ends of
lines, and drops without a word what it has no end for. So every line must be whole by itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from secant.errors import InputError
from secant.sources.files.formats import BLOCK, pandas_reader

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CheckedText"]

_BOM = b"\xef\xbb\xbf"
# Bytes looked at together, which stay in a processor's cache.
_AT_ONCE = 1 << 18
_LONGEST = BLOCK
_QUOTE, _LINE, _RETURN = b'"\n\r'


class CheckedText:
    """Text whose quotes are checked as it is read.

    Parameters
    ----------
    path
        The file, for the message.
    text
        Its bytes, to be read from the beginning.
    separator
        What stands between fields.
    """

    def __init__(self, path: Path, text: Any, separator: str) -> None:
        self._path, self._text = path, text
        self._separator = ord(separator)
        other = f"[^{separator}\\r\\n]"
        field = rf'(?:"(?:[^"\r\n]|"")*"|[^"{separator}\r\n]{other}*)?'
        self._whole = re.compile(rf"{field}(?:{separator}{field})*".encode())
        self._rest = b""  # of a line whose end has not been read
        self._lines = 0
        self._started = False

    def read(self, size: int) -> bytes:
        """Return the next bytes, none at the end.

        Raises
        ------
        InputError
            If quotes in a line are not closed, or stand where they mean nothing.
        """
        block: bytes = self._text.read(size)
        if not block:
            self._check(self._rest)
            self._rest = b""
        for start in range(0, len(block), _AT_ONCE):
            piece = block[start : start + _AT_ONCE]
            if not self._started:
                self._started, piece = True, piece.removeprefix(_BOM)
            end = piece.rfind(b"\n") + 1 or piece.rfind(b"\r") + 1
            if end:
                self._check(self._rest + piece[:end])
                self._rest = b""
            self._rest += piece[end:]
            if len(self._rest) > _LONGEST:
                msg = f"{self._path}, line {self._lines + 1:,} is longer than {_LONGEST >> 20} MB"
                raise InputError(msg)
        return block

    def finish(self) -> None:
        """Read what is left."""
        while self.read(_AT_ONCE):
            pass

    def _check(self, text: bytes) -> None:
        """Check whole lines."""
        array = np.frombuffer(text, np.uint8)
        if b'"' in text and not self._is_plain(array):
            start = 0
            for line in text.splitlines(keepends=True):
                if b'"' in line and not self._whole.fullmatch(line.rstrip(b"\r\n")):
                    raise self._refused(line, self._lines + _count_lines(array[:start]) + 1)
                start += len(line)
        self._lines += _count_lines(array)

    def _is_plain(self, array: np.ndarray[Any, Any]) -> bool:
        """Tell whether every quote opens or closes a field, or is doubled: no more is to be asked.

        Others can be all right as well, within a field that is not quoted.
        """
        around = np.full(array.shape[0] + 2, _LINE, np.uint8)  # as if lines stood around
        around[1:-1] = array
        is_quote, is_end = around == _QUOTE, (around == _LINE) | (around == _RETURN)
        marks = np.flatnonzero(is_quote | is_end)
        ends = np.flatnonzero(is_end[marks])
        if ((ends - np.arange(len(ends))) & 1).any():  # so many quotes come before a line's end
            return False
        places = marks[is_quote[marks]]
        may_stand_beside = np.zeros(256, bool)
        may_stand_beside[[_LINE, _RETURN, _QUOTE, self._separator]] = True
        before, after = around[places[::2] - 1], around[places[1::2] + 1]
        return bool(may_stand_beside[before].all() and may_stand_beside[after].all())

    def _refused(self, line: bytes, number: int) -> InputError:
        shown = line.rstrip(b"\r\n").decode(errors="replace")
        shown = f"{shown[:60]}..." if len(shown) > 60 else shown
        return InputError(
            f"{self._path}, line {number:,}: a quote is not closed in that line, or stands where "
            f"it means nothing: {shown!r}",
            hint="; rows after it would be lost. A quote in a field is written twice, and a field "
            "ends in the line where it begins; where it is to hold a line break, write a file of "
            f"Parquet, or in Python pass as data what reads it: {pandas_reader(self._path)}",
        )


def _count_lines(array: np.ndarray[Any, Any]) -> int:
    count = np.count_nonzero(array == _LINE)
    returns = array == _RETURN
    if returns.any():  # each of which ends a line, unless it belongs to an end that follows
        count += np.count_nonzero(returns) - np.count_nonzero(returns[:-1] & (array[1:] == _LINE))
    return int(count)
