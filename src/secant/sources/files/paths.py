"""Which files a path, a glob, a folder or a list of them stands for."""

from __future__ import annotations

import glob
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from secant.errors import Argument, InputError
from secant.sources.files.endings import format_of
from secant.sources.files.standard_input import StandardInput, standard_input

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant.sources.files.formats import Format

__all__ = ["NULL_PARTITION", "Found", "find", "folder_names"]

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
# What tables leave in their folders that keep files of earlier versions beside the current ones,
# and what reads the current ones.
_LAKES = {
    "_delta_log": ("Delta Lake", "polars.scan_delta(folder)"),
    ".hoodie": ("Hudi", "duckdb, Spark or hudi-rs (HudiTable(folder).read_snapshot())"),
    "metadata/version-hint.text": ("Iceberg", "polars.scan_iceberg(...) or pyiceberg"),
    "metadata/*.metadata.json": ("Iceberg", "polars.scan_iceberg(...) or pyiceberg"),
}


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
        If there are none, if one is of no known format or there twice, or if formats are mixed.
    """
    items = data if isinstance(data, (list, tuple)) else [data]
    paths = [path for item in items for path in _expanded(os.fsdecode(item))]
    _refuse_lakes(paths)
    _refuse_doubles(paths)
    found = [Found(path, format_of(path), dict(folder_names(path))) for path in paths]
    first = found[0]
    for other in found:
        if other.kind is not first.kind:
            mixed = f" has files of several formats, {first.path} and {other.path}"
            raise InputError(Argument("data"), mixed, hint="; name those of one format")
    return found


def _refuse_doubles(paths: list[Path]) -> None:
    """Refuse a file that is named twice, by whatever names: its rows would count twice."""
    twice = "; its rows would count twice"
    path, times = Counter(paths).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path} is named more than once in ", Argument("data"), hint=twice)
    seen: dict[tuple[int, int], Path] = {}
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue  # which reading it will say
        known = seen.setdefault((status.st_dev, status.st_ino), path)
        if known is not path:
            one = f" has {known} and {path}, which are two names of one file"
            raise InputError(Argument("data"), one, hint=twice)


def _expanded(name: str) -> list[Path]:
    if name == "-":
        return [standard_input()]
    if not _without_scheme(name):
        empty = " is an empty path; name a file or a folder (the current one is .)"
        raise InputError(Argument("data"), empty)
    path = _home(_without_scheme(name))
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


def _without_scheme(name: str) -> str:
    """Return the path in an address of a file of this machine."""
    if not name.startswith("file:"):
        return name
    rest = name.removeprefix("file:")
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        rest = slash + path if host in {"", "localhost"} else name
    return unquote(rest)


def _home(name: str) -> Path:
    """Return a path whose ~ is somebody's home, and whose letters can be told to anybody."""
    if "\0" in name or not _is_text(name):
        strange = f" names {name!a}, which is no text in UTF-8; rename that file"
        raise InputError(Argument("data"), strange)
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        nobody = f" names {name!r}, and there is no such user (a file so called is ./{name})"
        raise InputError(Argument("data"), nobody) from error


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


# Folders ------------------------------------------------------------------------------------------


def _inside(folder: Path) -> list[Path]:
    """Return the files in a folder and those below it, but for notes that writers leave there.

    A link to a folder is followed unless its files are among the others already, as those of
    ``latest`` are where that is a link to the last of several folders.
    """
    if folder.suffix == ".zarr":  # one file, to those who write it
        format_of(folder)
    seen: set[tuple[int, int]] = set()
    links: list[Path] = []
    files = list(_walk(folder, seen, links))
    while links:
        files += _walk(links.pop(0), seen, links)
    if not files:
        msg = f"the folder {folder} holds no files to read"
        raise InputError(msg)
    for file in files:
        _home(str(file))
    return sorted(files)


def _walk(folder: Path, seen: set[tuple[int, int]], links: list[Path]) -> Iterator[Path]:
    status = folder.stat()
    if (status.st_dev, status.st_ino) in seen:
        return
    seen.add((status.st_dev, status.st_ino))
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")) and "=" not in entry.name:
            continue  # _SUCCESS, _metadata, .crc: never data, by convention
        if not entry.is_dir():
            yield entry
        elif entry.is_symlink():
            links.append(entry)
        else:
            yield from _walk(entry, seen, links)


def _refuse_lakes(paths: list[Path]) -> None:
    """Refuse files of tables that keep those of earlier versions beside the current ones.

    They may lie there, however deep, by their names or by what links lead to.
    """
    folders: dict[Path, None] = {}
    for path in paths:
        if not isinstance(path, StandardInput):
            folders |= dict.fromkeys(
                [path.parent, *([_real(path).parent] if path.is_symlink() else [])]
            )
    looked_at: set[Path] = set()
    for folder in folders:
        by_name = [] if ".." in folder.parts else [folder, folder.absolute()]
        for way in (*by_name, _real(folder)):
            for parent in (way, *way.parents):
                if parent not in looked_at:
                    looked_at.add(parent)
                    _refuse_lake(parent)


def _real(path: Path) -> Path:
    """Return a path without links, wherever they lead."""
    return Path(os.path.realpath(path))


def _refuse_lake(folder: Path) -> None:
    for mark, (what, reader) in _LAKES.items():
        if glob.glob(mark, root_dir=folder):  # noqa: PTH207  (which says nothing of what it may not see)
            raise InputError(
                f"{folder} is a table of {what}, which keeps rows that were deleted or changed "
                "beside the current ones",
                hint=f"; in Python, pass what gives the current ones as data: {reader}",
            )


def folder_names(path: Path) -> list[tuple[str, str | None]]:
    """Return the columns that the names of a file's folders hold (``year=2026``), with values."""
    pairs = (part.split("=", 1) for part in path.parts[:-1] if "=" in part)
    return [
        (_unescaped(name), None if value == NULL_PARTITION else _unescaped(value))
        for name, value in pairs
        if name
    ]


def _unescaped(text: str) -> str:
    """Return a text without escapes; as it is if they are no UTF-8, so that no two become one."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text
