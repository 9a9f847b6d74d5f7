"""Which files a path, a glob, a folder or a list of them stands for."""

from __future__ import annotations

import glob
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Found", "find", "typed"]

# Formats by the ends of names, lower case.
KINDS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
}
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class Found(NamedTuple):
    """A file, its format, and the columns that the names of its folders hold (``year=2026``)."""

    path: Path
    kind: str
    partition: dict[str, str | None]


def find(data: Any) -> list[Found]:
    """Return the files that ``data`` stands for, each once, those of a folder or glob sorted.

    Raises
    ------
    InputError
        If there are none, if one is of no known format, or if formats are mixed.
    """
    items = data if isinstance(data, (list, tuple)) else [data]
    paths = [path for item in items for path in _expanded(os.fsdecode(item))]
    path, times = Counter(paths).most_common(1)[0]
    if times > 1:
        twice = f"{path} is named more than once in "
        raise InputError(twice, Argument("data"), "; its rows would count twice")
    found = [Found(path, _kind(path), _partition(path)) for path in paths]
    first = found[0]
    for other in found:
        if other.kind != first.kind:
            mixed = f" has files of several formats, {first.path} and {other.path}"
            raise InputError(Argument("data"), mixed, hint="; name those of one format")
    return found


def typed(texts: list[str | None]) -> list[Any]:
    """Return distinct texts as numbers, if every one is a number written in the usual way.

    The names of folders and the fields of a CSV have no type. ``"07"`` stays a text; so does
    everything beside it.
    """
    words = [text for text in texts if text is not None]
    if words and all(_is_whole(word) for word in words):
        return [None if text is None else int(text) for text in texts]
    if words and all(word in {"True", "False", "true", "false"} for word in words):
        return [None if text is None else text.lower() == "true" for text in texts]
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return list(texts)
    plain = all(_is_whole(word.partition(".")[0].removeprefix("-")) for word in words)
    if not plain or len(set(numbers)) < len(words):
        return list(texts)
    return [None if text is None else float(text) for text in texts]


def _is_whole(word: str) -> bool:
    digits = word.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and str(int(digits)) == digits and word != "-0"


def _expanded(name: str) -> list[Path]:
    path = Path(name).expanduser()
    if path.is_dir():
        return _inside(path)
    if path.exists():
        return [path]
    if "://" in name:
        raise InputError(
            Argument("data"),
            f" names {name!r}, and secant reads files of this machine alone",
            hint=" (and, in Python, tables of DuckDB, Polars and others, which read such files)",
        )
    if not glob.has_magic(name):
        missing = f" names {name!r}, and there is no such file or folder"
        raise InputError(Argument("data"), missing)
    matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207  (absolute patterns too)
    if not matches:
        msg = f"no file matches {name!r}"
        raise InputError(msg)
    # A pattern with ** matches a folder as well as the files in it.
    files = [file for match in matches for file in (_inside(match) if match.is_dir() else [match])]
    return list(dict.fromkeys(files))


def _inside(folder: Path) -> list[Path]:
    """Return the files in a folder and those below it, but for notes that writers leave there."""
    files = sorted(_walk(folder))
    if not files:
        msg = f"the folder {folder} holds no files to read"
        raise InputError(msg)
    return files


def _walk(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.name.startswith((".", "_")) and "=" not in entry.name:
            continue  # _SUCCESS, _metadata, .crc: never data, by convention
        if entry.is_dir():
            yield from _walk(entry)
        else:
            yield entry


def _kind(path: Path) -> str:
    name = path.name.lower()
    for end, kind in KINDS.items():
        if name.endswith(end):
            return kind
    known = ", ".join(KINDS)
    msg = f"{path} is of no format that secant knows by its name; files end in {known}"
    raise InputError(msg)


def _partition(path: Path) -> dict[str, str | None]:
    pairs = (part.split("=", 1) for part in path.parts[:-1] if "=" in part)
    return {
        unquote(name): None if value == _NULL_PARTITION else unquote(value)
        for name, value in pairs
        if name
    }
