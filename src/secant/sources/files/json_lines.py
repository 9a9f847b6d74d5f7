"""Files with an object of JSON in every line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from secant.sources.files.formats import BLOCK, NUMBERS, Format, arrow, look_of, open_text, sound

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    from secant._input.options import Reading
    from secant.errors import Argument
    from secant.sources.files.formats import Look

__all__ = ["JsonLines"]


class JsonLines(Format):
    """Lines of JSON, gzipped or not, whose values have types but for dates, which are texts."""

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
            elif argument.name == "order_by":
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

    @contextmanager
    def _open(self, path: Path, wanted: Any) -> Iterator[tuple[Any, Any]]:
        from pyarrow import json  # noqa: PLC0415  (an extra)

        with open_text(path) as text:
            how = {
                "read_options": json.ReadOptions(block_size=BLOCK),
                "parse_options": json.ParseOptions(
                    explicit_schema=wanted,
                    unexpected_field_behavior="infer" if wanted is None else "ignore",
                ),
            }
            if hasattr(json, "open_json"):
                reader = json.open_json(text, **how)
                yield reader.schema, reader
            else:  # of old versions, which read a file whole
                table = json.read_json(text, **how)
                yield table.schema, table.to_batches()
