"""Files with an object of JSON in every line."""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from io import BufferedReader
from typing import TYPE_CHECKING, Any

from secant.errors import InputError
from secant.sources.files.formats import (
    BLOCK,
    COMPARED,
    NUMBERS,
    Format,
    arrow,
    look_of,
    open_text,
    sound,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    from secant._input.options import Reading
    from secant.errors import Argument
    from secant.sources.files.formats import Look

__all__ = ["JsonLines"]


class JsonLines(Format):
    """Lines of JSON, gzipped or not, whose values have types but for dates, which are texts."""

    is_text = True

    def look(self, path: Path) -> Look:
        """Take names and types from the first objects."""
        with self._open(path, None) as (schema, _):
            return look_of(schema, None, 1)

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
        with self._open(path, wanted) as (_, reader):
            for batch in map(sound, reader):
                yield from (batch.slice(i, size) for i in range(0, batch.num_rows, size))

    def explain(
        self, path: Path, types: Mapping[str, Any], roles: Mapping[Argument, str]
    ) -> InputError | None:
        """Read the file once more line by line, to find the first value that is not of its type."""
        arguments = {name: argument.name for argument, name in roles.items()}
        wanted = {name: _expected(kind) for name, kind in types.items() if name in arguments}
        with open_text(path) as text, suppress(ValueError):  # of what is no JSON at all
            for row, line in enumerate(filter(bytes.strip, BufferedReader(text))):
                found = json.loads(line)
                for name, (what, kinds) in wanted.items():
                    value = found.get(name)
                    if value is not None and type(value) not in kinds:
                        error = InputError(f", not {what}, as the first lines hold")
                        where = {"row": row, "column": name, "place": str(path)}
                        return error.but(argument=arguments[name], value=repr(value), **where)
        return None

    @contextmanager
    def _open(self, path: Path, wanted: Any) -> Iterator[tuple[Any, Any]]:
        from pyarrow import json as reading  # noqa: PLC0415  (an extra)

        with open_text(path) as text:
            how = {
                "read_options": reading.ReadOptions(block_size=BLOCK),
                "parse_options": reading.ParseOptions(
                    explicit_schema=wanted,
                    unexpected_field_behavior="infer" if wanted is None else "ignore",
                ),
            }
            if hasattr(reading, "open_json"):
                reader = reading.open_json(text, **how)
                yield reader.schema, reader
            else:  # of old versions, which read a file whole
                table = reading.read_json(text, **how)
                yield table.schema, table.to_batches()


def _expected(kind: Any) -> tuple[str, set[type]]:
    """Return what values of a type of Arrow are called, and what Python reads them as."""
    types = arrow().types
    if types.is_integer(kind):
        return "a whole number", {int}
    if types.is_floating(kind):
        return "a number", {int, float}
    return ("true or false", {bool}) if types.is_boolean(kind) else ("a text", {str})
