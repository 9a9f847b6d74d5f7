"""Tables that come as streams of Arrow batches, turned into something that can be read again.

Every answer takes several passes, and a stream is over after one. What is in memory anyway becomes
a table there. Everything else (tables of Delta Lake and Iceberg, datasets of pyarrow and of Hugging
Face, readers of record batches) is written batch by batch to a temporary file, the columns that are
named alone, and read like any other file; the file goes when whatever reads it is gone.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from secant._base.extras import require
from secant._base.leftovers import beginning
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Spooled", "readable", "single_named", "staying"]

_Reader = TypeVar("_Reader")

# Rows of a batch where we say how many.
_BATCH = 1 << 16


class Spooled(os.PathLike[str]):
    """A temporary file of batches, which is removed when nobody refers to it any more."""

    def __init__(self, schema: Any, batches: Iterable[Any]) -> None:
        folder = tempfile.mkdtemp(prefix=beginning(tempfile.gettempdir()))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._path = str(Path(folder, "stream.arrow"))
        with _pyarrow().ipc.new_stream(self._path, schema) as stream:
            for batch in batches:
                stream.write(batch)

    def __fspath__(self) -> str:
        return self._path


class _Stream(NamedTuple):
    """What batches hold, and how to get those of some columns."""

    names: Sequence[str]
    read: Callable[[Sequence[str]], tuple[Any, Iterable[Any]]]


def readable(data: Any, names: Sequence[str], check: Callable[[Sequence[str]], None]) -> Any:
    """Return what can be read again and again: a file, a table, or ``data`` itself.

    Parameters
    ----------
    data
        What the user passed.
    names
        The columns that will be read.
    check
        Refuses a table that lacks one of them, given the columns that it has.
    """
    if isinstance(data, Mapping):
        _refuse_splits(data)
    if isinstance(data, (str, os.PathLike, Mapping, list, tuple)):
        return data
    data = single_named(data, names)
    stream = _stream(data)
    if stream is not None:
        check(stream.names)
        return Spooled(*stream.read(names))
    if _has(data, "__arrow_c_stream__") and not _is_frame(data):
        try:
            return single_named(_pyarrow().table(data), names)
        except (TypeError, ValueError) as error:
            if "released" in str(error):
                raise _used_up(data) from error
            return data  # a column, not a table
    return data


def single_named(data: Any, names: Sequence[str] = ()) -> Any:
    """Return a frame of pandas or Arrow without the columns that share a name, if there are any.

    Parameters
    ----------
    data
        What the user passed.
    names
        The columns that will be read.

    Raises
    ------
    InputError
        If one of these shares its name with another.
    """
    if _has(data, "iloc", "columns"):
        every = list(getattr(data, "columns", ()))
    elif _has(data, "column_names", "combine_chunks"):
        every = data.column_names
    else:
        return data
    many = Counter(every)
    if len(many) == len(every):
        return data
    for name in names:
        if many[name] > 1:
            shared = f" has {many[name]} columns called {name!r}; give each a name of its own"
            raise InputError(Argument("data"), shared, column=name)
    once = [place for place, name in enumerate(every) if many[name] == 1]
    return data.iloc[:, once] if hasattr(data, "iloc") else data.select(once)


def staying(source: _Reader, data: Any) -> _Reader:
    """Return a source, as long as which the temporary file that it reads stays."""
    if isinstance(data, Spooled):
        weakref.finalize(source, id, data)  # which refers to the file until then
    return source


def _stream(data: Any) -> _Stream | None:
    """Return the batches of what is no frame and does not lie in memory."""
    if _has(data, "to_pyarrow_dataset"):  # Delta Lake: the files of its current version
        data = data.to_pyarrow_dataset()
    if _has(data, "scan", "snapshots"):  # Iceberg: the rows of its current snapshot
        data = data.scan()
    if _has(data, "to_arrow_batch_reader", "select"):
        return _Stream(
            _names_of_scan(data), lambda names: _reader(data.select(*names).to_arrow_batch_reader())
        )
    if _has(data, "with_format", "select_columns", "iter"):  # Hugging Face
        # A stream of theirs may not know its columns before it has read a row.
        every = data.column_names or list(next(iter(data), {}))
        return _Stream(every, lambda names: _hugging_face(data, names))
    if _has(data, "to_batches", "scanner"):  # pyarrow.dataset
        return _Stream(data.schema.names, lambda names: _reader(_scanned(data, names)))
    if _has(data, "read_next_batch"):  # a reader, whose columns come all
        return _Stream(data.schema.names, lambda _: (data.schema, _unread(data)))
    return None


def _unread(reader: Any) -> Iterable[Any]:
    """Return the batches of what can be read once, and was not."""
    rows = 0
    for batch in reader:
        rows += len(batch)
        yield batch
    if not rows:
        raise _used_up(reader)


def _used_up(data: Any) -> InputError:
    once = "holds no rows; it gives them once: where it was read before, make another"
    return InputError(Argument("data"), f" ({type(data).__name__}) {once}")


def _refuse_splits(data: Mapping[Any, Any]) -> None:
    """Refuse a mapping of tables, as of a set for training and one for tests."""
    tables = [
        name for name, each in data.items() if _has(each, "columns") or _has(each, "column_names")
    ]
    if tables and len(tables) == len(data):
        shown = ", ".join(repr(name) for name in tables[:8]) + (", ..." if len(tables) > 8 else "")
        several = f" ({type(data).__name__}) is a mapping of tables, {shown}; pass one of them, "
        several += f"such as data[{tables[0]!r}]"
        raise InputError(Argument("data"), several)


def _names_of_scan(scan: Any) -> Sequence[str]:
    return [field.name for field in scan.projection().fields]


def _scanned(dataset: Any, names: Sequence[str]) -> Any:
    return dataset.scanner(columns=list(names)).to_reader()


def _reader(reader: Any) -> tuple[Any, Iterable[Any]]:
    return reader.schema, reader


def _hugging_face(data: Any, names: Sequence[str]) -> tuple[Any, Iterable[Any]]:
    chosen = data.select_columns(list(names)).with_format("arrow")
    tables = iter(chosen.iter(batch_size=_BATCH))
    first = next(tables, None)
    if first is None:
        return _pyarrow().schema([(name, _pyarrow().float64()) for name in names]), ()

    def all_of_them() -> Iterable[Any]:
        yield from first.to_batches()
        for table in tables:
            yield from table.to_batches()

    return first.schema, all_of_them()


def _has(data: Any, *methods: str) -> bool:
    """Tell whether something is made with these methods; columns may pass for attributes."""
    return all(hasattr(type(data), method) for method in methods)


def _is_frame(data: Any) -> bool:
    narwhals = require("narwhals", "frames", "data frames and tables of engines need")
    return narwhals.from_native(data, pass_through=True) is not data


def _pyarrow() -> Any:
    return require("pyarrow", "files", "streams of Arrow batches need")
