"""Files as they should be, files that are damaged, and what is to be said of them.

Nothing here is stored: each file is made by code that says what is wrong with it.
"""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from helpers import optional

if TYPE_CHECKING:
    from collections.abc import Callable

N = 120
_rng = np.random.default_rng(11)
P = _rng.random(N).round(4)
Y = (_rng.random(N) < P).astype(np.int64)
G = [None if i % 17 == 5 else ["north", "süd", "e,st", 'w"est'][i % 4] for i in range(N)]
UNUSED = [f"note {i}" for i in range(N)]


def table() -> Any:
    """Return outcomes, scores, words and groups in the types that files of Arrow have."""
    pa = optional("pyarrow")
    return pa.table(
        {
            "y": Y,
            "word": ["yes" if y else "no" for y in Y],
            "p": P,
            "g": G,
            "c": pa.array(G).dictionary_encode(),
            "unused": UNUSED,
        }
    )


def _parquet(**options: Any) -> bytes:
    buffer = io.BytesIO()
    optional("pyarrow.parquet").write_table(table(), buffer, row_group_size=50, **options)
    return buffer.getvalue()


def _feather(**options: Any) -> bytes:
    buffer = io.BytesIO()
    optional("pyarrow.feather").write_feather(table(), buffer, chunksize=50, **options)
    return buffer.getvalue()


def _stream() -> bytes:
    buffer = io.BytesIO()
    with optional("pyarrow").ipc.new_stream(buffer, table().schema) as stream:
        stream.write_table(table(), max_chunksize=50)
    return buffer.getvalue()


def _quoted(value: Any) -> str:
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if set(text) & {'"', ",", "\n"} else text


def csv_text() -> str:
    """Return the table as text, quoted where it must be."""
    rows = zip(*(column.to_pylist() for column in table().columns), strict=True)
    lines = [",".join(map(_quoted, row)) for row in (table().column_names, *rows)]
    return "\n".join([*lines, ""])


def _json_lines() -> bytes:
    return "".join(json.dumps(row) + "\n" for row in table().to_pylist()).encode()


# By the ends of their names.
WHOLE: dict[str, Callable[[], bytes]] = {
    "plain.parquet": lambda: _parquet(compression="none"),
    "packed.parquet": lambda: _parquet(compression="zstd", data_page_version="2.0"),
    "plain.feather": lambda: _feather(compression="uncompressed"),
    "packed.feather": lambda: _feather(compression="lz4"),
    "stream.arrow": _stream,
    "text.csv": lambda: csv_text().encode(),
    "text.csv.gz": lambda: gzip.compress(csv_text().encode(), mtime=0),
    "lines.jsonl": _json_lines,
}


class Damaged(NamedTuple):
    """A file that must be refused: its name, what it holds, and how the refusal goes on."""

    name: str
    content: bytes
    told: str


def damage(rng: np.random.Generator, content: bytes) -> bytes:
    """Return a file with a few bytes changed, put in, taken out or repeated, or cut short."""
    made = bytearray(content)
    for _ in range(1 if rng.random() < 0.7 else 3):
        where = int(rng.integers(0, max(1, len(made))))
        length = int(rng.integers(1, 9)) if rng.random() < 0.8 else int(rng.integers(1, 200))
        kind = rng.integers(0, 7)
        if kind == 0 and made:
            made[where % len(made)] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            made[where : where + length] = rng.integers(0, 256, length, np.uint8).tobytes()
        elif kind == 2:
            made[where : where + length] = bytes(
                [0, 255][int(rng.integers(0, 2))] for _ in range(length)
            )
        elif kind == 3:
            del made[where : where + length]
        elif kind == 4:
            made[where:where] = made[where : where + length] or b'"'
        elif kind == 5:
            made[where:where] = bytes(rng.choice(list(b'",\n\r\x00{}[]\\0.:'), length))
        elif rng.random() < 0.3:
            del made[where:]
        else:
            made += made[where : where + length]
    return bytes(made)
