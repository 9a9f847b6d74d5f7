"""Files as they should be, files that are damaged, and what is to be said of them.

Nothing here is stored: each file is made by code that says what is wrong with it.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from helpers import optional, packed

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
    "text.csv.gz": lambda: packed(csv_text().encode()),
    "lines.jsonl": _json_lines,
}


class Damaged(NamedTuple):
    """A file that must be refused: its name, what is wrong with it, and how that is told."""

    name: str
    why: str
    content: bytes
    told: str


def damaged() -> list[Damaged]:
    """Return one file for each way of being wrong that was met, or is to be expected."""
    return [
        *_broken_arrow(),
        *_broken_parquet(),
        *_broken_text(),
        *_broken_lines(),
        *_broken_gzip(),
    ]


def _joined(**columns: Any) -> bytes:
    """Return a stream whose columns are made of raw buffers, which nobody has checked."""
    pa = optional("pyarrow")
    arrays = {"y": pa.array(Y), "p": pa.array(P), "g": pa.array(G), "word": pa.array(["no"] * N)}
    batch = pa.record_batch(arrays | columns)
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, batch.schema) as stream:
        stream.write_batch(batch)
    return buffer.getvalue()


def _broken_arrow() -> list[Damaged]:
    pa = optional("pyarrow")
    text = b"north" * N
    plain = np.arange(N + 1, dtype=np.int32)
    far, back = plain.copy(), plain.copy()
    far[5], back[5] = 1 << 30, 40

    def texts(offsets: Any, content: bytes) -> Any:
        buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(content)]
        return pa.Array.from_buffers(pa.string(), N, buffers)

    def category(codes: Any) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), ["a", "b"], safe=False)

    stream = WHOLE["stream.arrow"]()
    unread = "cannot be read: "
    return [
        Damaged("a.arrow", "texts beyond the file", _joined(g=texts(far, text)), unread),
        Damaged(
            "a.arrow", "texts that end before they begin", _joined(g=texts(back, text)), unread
        ),
        Damaged("a.arrow", "texts that are none", _joined(g=texts(plain, b"\xff" * N)), unread),
        Damaged("a.arrow", "words of no number", _joined(g=category([7] * N)), unread),
        Damaged("a.arrow", "words below the first", _joined(g=category([-5] * N)), unread),
        Damaged("a.arrow", "outcomes of no number", _joined(y=category([1 << 30] * N)), unread),
        Damaged("a.arrow", "two streams", stream + stream, "goes on after the end of a stream"),
        Damaged("a.arrow", "no end", stream[:-8], "cannot be read: it is a stream of Arrow that"),
        Damaged("a.arrow", "half a batch", stream[: len(stream) // 2], unread),
        Damaged("a.feather", "no footer", WHOLE["plain.feather"]()[:-10], unread),
        Damaged("a.feather", "more after it", WHOLE["plain.feather"]() + b"more", unread),
        Damaged("a.feather", "nothing else", b"ARROW1\0\0", unread),
        Damaged("a.feather", "version 1", b"FEA1" + bytes(40), "is a Feather file of version 1"),
    ]


def _broken_parquet() -> list[Damaged]:
    whole = WHOLE["plain.parquet"]()
    spoilt = bytearray(whole)
    place = whole.index(b"north")
    spoilt[place : place + 5] = b"\xff" * 5
    length = int.from_bytes(whole[-8:-4], "little")
    return [
        Damaged("a.parquet", "no footer", whole[:-8], "cannot be read: "),
        Damaged(
            "a.parquet",
            "a footer that is longer than the file",
            whole[:-8] + (1 << 30).to_bytes(4, "little") + b"PAR1",
            "cannot be read: ",
        ),
        Damaged(
            "a.parquet",
            "a footer of zeros",
            whole[: -8 - length] + bytes(length) + whole[-8:],
            "cannot be read: ",
        ),
        Damaged("a.parquet", "a text that is none", bytes(spoilt), "cannot be read: "),
        Damaged(
            "a.parquet",
            "pages of zeros",
            whole[:4] + bytes(len(whole) - 12 - length) + whole[-8 - length :],
            "cannot be ",
        ),
    ]


def _broken_text() -> list[Damaged]:
    text = csv_text()
    lines = text.split("\n")

    def changed(place: int, line: str) -> bytes:
        return "\n".join([*lines[:place], line, *lines[place + 1 :]]).encode()

    return [
        Damaged(
            "a.csv",
            "a quote that is not closed, in a column nobody uses",
            changed(12, '1,yes,0.5,north,north,"oh'),
            "line 13: a quote is not closed",
        ),
        Damaged(
            "a.csv",
            "a field that goes on in the next line",
            changed(12, '1,yes,0.5,north,north,"one\ntwo"'),
            "line 13: a quote is not closed",
        ),
        Damaged("a.csv", "a stray quote", changed(12, '1,yes,0.5,"no"rth,north,x'), "line 13: a q"),
        Damaged("a.csv", "a field too few", changed(12, "1,yes,0.5,north"), "cannot be read: CSV"),
        Damaged(
            "a.csv", "a field too many", changed(12, "1,yes,0.5,a,b,c,d"), "cannot be read: CSV"
        ),
        Damaged("a.csv", "no number", changed(12, "1,yes,O.5,a,b,c"), "row 11, column 'p': y_prob"),
        Damaged("a.csv", "other letters", text.encode("utf-16"), "is text in UTF-16"),
    ]


def _broken_lines() -> list[Damaged]:
    rows = _json_lines().splitlines()
    text = b"\n".join(rows)

    def noted(note: bytes) -> bytes:
        return text.replace(b'"note 7"', note)

    first, eighth = "cannot be read: line 1: ", "cannot be read: line 8: "
    deep = eighth + "values are nested deeper than 100"
    keys = b"".join(b'{"y": 1, "p": 0.5, "word": "yes", "k%d": 1}\n' % i for i in range(25_000))
    return [
        Damaged("a.jsonl", "half an object", text[:-9], "line 120: JSON parse error: it is no obj"),
        Damaged("a.jsonl", "a name twice", rows[0].replace(b'"word"', b'"y"'), first),
        Damaged("a.jsonl", "a list", b"[1]\n" + text, first + "JSON parse error: it is no object"),
        Damaged("a.jsonl", "a null at the start", b"null\n" + text, first + "JSON parse error"),
        Damaged("a.jsonl", "a null at the end", text + b"\nnull", "line 121: JSON parse error: it"),
        Damaged("a.jsonl", "nothing but a null", b"null", first + "JSON parse error: it is no obj"),
        Damaged("a.jsonl", "lists of lists", noted(b"[" * 20_000 + b"]" * 20_000), deep),
        Damaged(
            "a.jsonl", "objects of objects", noted(b'{"":' * 12_000 + b"1" + b"}" * 12_000), deep
        ),
        Damaged("a.jsonl", "lists that never end", noted(b"[" * 20_000), deep),
        Damaged("a.jsonl", "two objects in a line", text.replace(b"}\n{", b"}{", 1), first),
        Damaged("a.jsonl", "an object in two lines", noted(b'"\n"'), eighth),
        Damaged("a.jsonl", "a key of its own in each line", keys, "have more than 10,000 keys"),
    ]


def _broken_gzip() -> list[Damaged]:
    whole = packed(csv_text().encode())
    return [
        Damaged("a.csv.gz", "cut short", whole[:-9], "cannot be read: Truncated"),
        Damaged("a.csv.gz", "without its sum", whole[:-8], "cannot be read: Truncated"),
        Damaged("a.csv.gz", "with another sum", whole[:-8] + b"abcd" + whole[-4:], "cannot be r"),
        Damaged("a.csv.gz", "with more after it", whole + b"more than that", "cannot be read: "),
        Damaged("a.csv.gz", "a second half cut", whole + whole[:-20], "cannot be read: Truncated"),
        Damaged("a.csv.gz", "not packed", csv_text().encode(), "cannot be read: "),
    ]


# What means something in a text.
_WORDS = [
    *(b"null", b"null\n", b"true", b"NaN", b"-1e999", b"{}\n", b"[]\n", b'{"a":1}', b'"p":'),
    *(b"[" * 200, b'{"":' * 200, b"\\ud800", b"\\", b"\xef\xbb\xbf", b'""', b"#", b"\r\n"),
]


def damage(rng: np.random.Generator, content: bytes) -> bytes:
    """Return a file with a few bytes changed, put in, taken out or repeated, or cut short."""
    made = bytearray(content)
    for _ in range(1 if rng.random() < 0.7 else 3):
        where = int(rng.integers(0, max(1, len(made))))
        length = int(rng.integers(1, 9)) if rng.random() < 0.8 else int(rng.integers(1, 200))
        kind = rng.integers(0, 8)
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
        elif kind == 6:
            made[where:where] = _WORDS[int(rng.integers(0, len(_WORDS)))]
        elif rng.random() < 0.3:
            del made[where:]
        else:
            made += made[where : where + length]
    return bytes(made)
