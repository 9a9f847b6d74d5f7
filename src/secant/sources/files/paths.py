"""Which files a path, a glob, a folder or a list of them stands for."""

from __future__ import annotations

import glob
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from secant.errors import Argument, InputError
from secant.sources.files.endings import format_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant.sources.files.formats import Format

__all__ = ["Found", "find"]

_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class Found(NamedTuple):
    """A file, its format, and the columns that the names of its folders hold (``year=2026``)."""

    path: Path
    kind: Format
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
    found = [Found(path, format_of(path), _partition(path)) for path in paths]
    first = found[0]
    for other in found:
        if other.kind is not first.kind:
            mixed = f" has files of several formats, {first.path} and {other.path}"
            raise InputError(Argument("data"), mixed, hint="; name those of one format")
    return found


def _expanded(name: str) -> list[Path]:
    path = Path(name)
    with suppress(RuntimeError):  # ~nobody is a name like any other
        path = path.expanduser()
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


def _partition(path: Path) -> dict[str, str | None]:
    pairs = (part.split("=", 1) for part in path.parts[:-1] if "=" in part)
    return {
        unquote(name): None if value == _NULL_PARTITION else unquote(value)
        for name, value in pairs
        if name
    }
