"""Files with an object of JSON in every line."""

from __future__ import annotations

import codecs
import json
import re
import reprlib
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant.errors import InputError
from secant.sources.files.formats import (
    BLOCK,
    COMPARED,
    NUMBERS,
    Format,
    Look,
    arrow,
    open_text,
    sound,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping
    from pathlib import Path

    from secant._base.types import IntArray
    from secant._input.options import Reading
    from secant.errors import Argument

__all__ = ["JsonLines"]

_DEEPEST = 100  # objects and lists within each other
_MOST = 10_000  # keys
_LONGEST = 1 << 25
_LARGEST = 1 << 63
# Bytes from which names and types are taken.
_START = 1 << 20
_AT_ONCE = 1 << 20  # bytes that one thread of Arrow's parses
_SPACE = b" \t\r"
_OPEN, _CLOSE, _LIST, _END, _LINE, _RETURN = b"{}[]\n\r"
# One that is not closed is as long as its line.
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)


class _Block(NamedTuple):
    """Whole lines, where each begins and ends, how many are not blank, how many come before."""

    text: bytes
    starts: IntArray
    stops: IntArray
    rows: int
    before: int

    def head(self, lines: int) -> _Block:
        """Return the first lines."""
        stops = self.stops[:lines]
        head = self._replace(text=self.text[: stops[-1]], starts=self.starts[:lines], stops=stops)
        return head._replace(rows=sum(1 for _ in head.lines()))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Return the lines that are not blank, numbered from 1 in the file."""
        for number, (start, stop) in enumerate(zip(self.starts, self.stops, strict=True)):
            line = self.text[start:stop].strip(_SPACE)
            if line:
                yield self.before + number + 1, line


class JsonLines(Format):
    """Lines of JSON, gzipped or not, whose values have types but for dates, which are texts.

    Arrow's reader ends the process for some lines that are no objects, and for values that are
    deeply nested; it also takes time and memory with the square of depths and of the number of
    keys, unless it is told which columns there are. So it gets only lines that were looked at.
    """

    is_text = True

    def look(self, path: Path, wanted: Collection[str] | None = None) -> Look:
        """Take names from the first objects, and types of the columns that are wanted."""
        with closing(_blocks(path, _START)) as blocks:
            block = next(blocks, None)
        columns: dict[str, list[Any]] = {}
        for number, line in block.lines() if block else ():
            try:
                found = json.loads(line)
            except ValueError as error:
                no_text = isinstance(error, UnicodeDecodeError)
                why = "it is not text in UTF-8" if no_text else str(error).partition(":")[0]
                raise _refused(path, number, f"JSON parse error: {why}") from error
            for name, value in found.items():
                values = columns.setdefault(name, [])
                if value is None or (wanted is not None and name not in wanted):
                    continue
                if not values or _like(value) is _like(values[0]):
                    values.append(value)
            if len(columns) > _MOST:
                many = f"the lines up to it have more than {_MOST:,} keys, and each is a column"
                raise _refused(path, number, many)
        pa = arrow()
        types = {name: _guessed(known) if known else pa.null() for name, known in columns.items()}
        return Look(list(types), types, None, 1)

    def choose(
        self, types: Mapping[str, Any], roles: Mapping[Argument, str], reading: Reading | None
    ) -> dict[str, Any]:
        """Return doubles for numbers and texts for dates; else what the first objects hold."""
        pa = arrow()
        numbers = NUMBERS if reading is None else {*NUMBERS, "y_true"}
        chosen = dict(types)
        for argument, name in roles.items():
            if pa.types.is_integer(chosen[name]) and argument.name in numbers:
                chosen[name] = pa.float64()  # which may follow
            elif argument.name in COMPARED:
                continue
            elif pa.types.is_timestamp(chosen[name]) or pa.types.is_null(chosen[name]):
                chosen[name] = pa.float64() if argument.name in NUMBERS else pa.string()
        return chosen

    def batches(
        self,
        path: Path,
        names: list[str],
        size: int,
        types: Mapping[str, Any],
        section: int | None = None,  # noqa: ARG002  (there is only one)
    ) -> Generator[Any]:
        """Read columns in batches of at most ``size`` rows."""
        wanted = arrow().schema([(name, types[name]) for name in names])
        with closing(_blocks(path)) as blocks:
            for block in blocks:
                for batch in map(sound, _parsed(block, wanted).to_batches()):
                    yield from (batch.slice(i, size) for i in range(0, batch.num_rows, size))

    def explain(
        self, path: Path, types: Mapping[str, Any], roles: Mapping[Argument, str]
    ) -> InputError | None:
        """Read the file once more line by line, to find the first value that is not of its type."""
        arguments = {name: argument.name for argument, name in roles.items()}
        wanted = {name: _expected(kind) for name, kind in types.items() if name in arguments}
        lines = (line for block in _blocks(path) for _, line in block.lines())
        for row, line in enumerate(lines):
            try:
                found = json.loads(line)
            except ValueError:
                return None
            for name, (what, kinds) in wanted.items():
                value = found.get(name)
                if value is not None and type(value) not in kinds:
                    error = InputError(f", not {what}, as the first lines hold")
                    where = {"row": row, "column": name, "place": str(path)}
                    return error.but(argument=arguments[name], value=reprlib.repr(value), **where)
        return None


# Looking at lines before they are parsed ----------------------------------------------------------


def _blocks(path: Path, size: int | None = None) -> Generator[_Block]:
    """Read a file in blocks of whole lines, each of which may be given to Arrow.

    Raises
    ------
    InputError
        If a line is no object, or nested too deeply, or too long.
    """
    number, rest = 0, b""
    with open_text(path) as text:
        while True:
            read = text.read(size or BLOCK)
            end = read.rfind(b"\n") + 1 if read else 0
            rest, whole = (read[end:], rest + read[:end]) if end else (rest + read, b"")
            if not read:
                rest, whole = b"", rest
            if len(rest) > _LONGEST:
                line = number + whole.count(b"\n") + 1
                msg = f"{path}, line {line:,} is longer than {_LONGEST >> 20} MB"
                raise InputError(msg)
            if not number:
                whole = whole.removeprefix(codecs.BOM_UTF8)
            if whole:
                block = _checked(path, whole, number)
                yield block
                number += len(block.stops)
            if not read:
                return


def _checked(path: Path, text: bytes, before: int) -> _Block:
    """Make sure that each line is blank, or begins and ends as one object does that is not deep."""
    array = np.frombuffer(text, np.uint8)
    stops = np.flatnonzero(array == _LINE)
    if not text.endswith(b"\n"):
        stops = np.append(stops, array.shape[0])
    starts = np.append(0, stops[:-1] + 1)
    last = stops - 1 - (array[stops - 1] == _RETURN)
    is_plain = (array[starts] == _OPEN) & (array[last] == _CLOSE)
    opened = np.flatnonzero((array == _OPEN) | (array == _LIST))
    is_deep = np.diff(np.searchsorted(opened, np.append(starts, array.shape[0]))) > _DEEPEST
    blank = 0
    for place in np.flatnonzero(~is_plain | is_deep).tolist():
        line = text[starts[place] : stops[place]].strip(_SPACE)
        blank += not line
        if line and not (line.startswith(b"{") and line.endswith(b"}")):
            raise _refused(path, before + place + 1, "JSON parse error: it is no object, {...}")
        if is_deep[place] and _depth(line) > _DEEPEST:
            deep = f"values are nested deeper than {_DEEPEST}, which no column is"
            raise _refused(path, before + place + 1, deep)
    return _Block(text, starts, stops, len(starts) - blank, before)


def _depth(line: bytes) -> int:
    """Return how many objects and lists are within each other."""
    array = np.frombuffer(_TEXT.sub(b"", line), np.uint8)
    opened = (array == _OPEN) | (array == _LIST)
    closed = (array == _CLOSE) | (array == _END)
    return int(np.cumsum(opened.astype(np.int64) - closed).max(initial=0))


def _refused(path: Path, line: int, why: str) -> InputError:
    return InputError(f"{path} cannot be read: line {line:,}: {why}")


# Parsing ------------------------------------------------------------------------------------------


def _parsed(block: _Block, wanted: Any) -> Any:
    """Return columns of lines that were looked at, one row for each.

    Raises
    ------
    ArrowInvalid
        With the number of the line that cannot be parsed, or is more than one row.
    """
    invalid = arrow().ArrowInvalid
    try:
        table = _table(block, wanted)
    except invalid:
        pass
    else:
        if table.num_rows == block.rows:
            return table
    told, fine, wrong = "", 0, len(block.starts)  # so many lines
    while wrong > fine:
        middle = (fine + wrong) // 2
        head = block.head(middle + 1)
        try:
            rows = _table(head, wanted).num_rows
        except invalid as error:
            told, wrong = re.sub(r" in row \d+$", "", str(error)), middle
            continue
        if rows == head.rows:
            fine = middle + 1
        else:
            told, wrong = "JSON parse error: it is more than one object", middle
    msg = f"line {block.before + wrong + 1:,}: {told}"
    raise invalid(msg)


def _table(block: _Block, wanted: Any = None) -> Any:
    from pyarrow import json as reading  # noqa: PLC0415  (an extra)

    longest = int((block.stops - block.starts).max(initial=0))
    return reading.read_json(
        arrow().BufferReader(block.text),
        reading.ReadOptions(block_size=max(_AT_ONCE, longest + 2)),
        reading.ParseOptions(
            explicit_schema=wanted,
            unexpected_field_behavior="infer" if wanted is None else "ignore",
        ),
    )


def _guessed(values: list[Any]) -> Any:
    """Return the type that Arrow gives a column of values, which are of one kind.

    What is in objects is not looked at: Arrow would take memory with the square of their keys.
    """
    pa = arrow()
    if isinstance(values[0], dict):
        return pa.struct([])
    if isinstance(values[0], list):
        return pa.list_(_guessed(values[0][:1]) if values[0] else pa.null())
    if _like(values[0]) is float:
        is_whole = all(type(value) is int and -_LARGEST <= value < _LARGEST for value in values)
        return pa.int64() if is_whole else pa.float64()
    if isinstance(values[0], bool):
        return pa.bool_()
    first = _type(values[:1])
    return _type(values) if pa.types.is_timestamp(first) else first


def _type(values: list[Any]) -> Any:
    lines = [json.dumps({"": value}).encode() for value in values]
    ends = np.cumsum([len(line) + 1 for line in lines])
    starts = np.append(0, ends[:-1])
    block = _Block(b"\n".join([*lines, b""]), starts, ends - 1, len(lines), 0)
    return _table(block).schema.types[0]


def _like(value: Any) -> type:
    """Return the type of a value, one for all numbers."""
    return float if type(value) is int else type(value)


def _expected(kind: Any) -> tuple[str, set[type]]:
    """Return what values of a type of Arrow are called, and what Python reads them as."""
    types = arrow().types
    if types.is_integer(kind):
        return "a whole number", {int}
    if types.is_floating(kind):
        return "a number", {int, float}
    return ("true or false", {bool}) if types.is_boolean(kind) else ("a text", {str})
