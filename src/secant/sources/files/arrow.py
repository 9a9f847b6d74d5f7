"""Files whose columns know their types: Parquet, Feather, streams of Arrow."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from secant.errors import InputError
from secant.sources.files.formats import Format, arrow, look_of, sound
from secant.sources.files.sizes import check_batches, check_pages
from secant.sources.files.values import kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    from secant.sources.files.formats import Look, ReadSections

__all__ = ["Feather", "Parquet"]

_BUFFER = 1 << 20
# Rows from which a Parquet file is decoded by a thread of Arrow's, which never waits for the lock
# of the interpreter but takes a while to set up, and how many batches it is ahead; more take
# memory and gain little.
_LARGE = 1 << 20
_AHEAD = 2
# It decodes a row group whole, which may say of any number of rows that they are the same.
_WHOLE = 1 << 24
_MARK = b"\xff" * 4  # begins every message of a stream


class Parquet(Format):
    """Columns in row groups, with their number of rows."""

    start = b"PAR1"

    def reads_ahead(self, rows: int | None) -> bool:
        """Tell whether a file is large enough."""
        return rows is not None and rows >= _LARGE

    def look(self, path: Path, wanted: Collection[str] | None = None) -> Look:
        """Read the file's own description."""
        with self._open(path) as file:
            metadata = file.metadata
            check_pages(path, wanted)
            groups = range(metadata.num_row_groups)
            rows = tuple(metadata.row_group(number).num_rows for number in groups)
            counted = sum(rows)
            if counted != metadata.num_rows:
                msg = f"{path} says that it holds {metadata.num_rows:,} rows, but has {counted:,}"
                raise InputError(msg)
            return look_of(file.schema_arrow, metadata.num_rows, metadata.num_row_groups, rows)

    def batches(
        self,
        path: Path,
        names: list[str],
        size: int,
        types: Mapping[str, Any],
        section: int | None = None,
    ) -> Generator[Any]:
        """Read columns in batches of at most ``size`` rows, of all or one of the row groups.

        Texts come as categories, so that one that is long and repeated is in memory once.
        """
        texts = [name for name, kind in types.items() if kind_of(kind) == "text"]
        with self._open(path, texts) as file:
            metadata = file.metadata
            groups = map(metadata.row_group, range(metadata.num_row_groups))
            is_fine = all(group.num_rows <= _WHOLE for group in groups)
            if section is None and is_fine and self.reads_ahead(metadata.num_rows):
                batches = self._scan(path, names, size, texts)
            else:
                chosen = None if section is None else [section]
                batches = file.iter_batches(batch_size=size, row_groups=chosen, columns=names)
            yield from map(sound, batches)

    @contextmanager
    def sections(self, path: Path) -> Iterator[ReadSections]:
        """Open a file to read some row groups at a time, in the thread that asks for them."""
        with self._open(path) as file:

            def read(names: list[str], size: int, sections: Sequence[int]) -> Iterator[Any]:
                batches = file.iter_batches(
                    batch_size=size, row_groups=list(sections), columns=names, use_threads=False
                )
                return map(sound, batches)

            yield read

    @staticmethod
    def _scan(path: Path, names: list[str], size: int, texts: list[str]) -> Iterator[Any]:
        from pyarrow import dataset, fs  # noqa: PLC0415  (an extra)

        # As a stream, for the reason given below.
        options = dataset.ParquetFragmentScanOptions(
            use_buffered_stream=True, buffer_size=_BUFFER, pre_buffer=False
        )
        how = dataset.ParquetReadOptions(dictionary_columns=texts)
        kind = dataset.ParquetFileFormat(read_options=how)
        file = kind.make_fragment(os.fspath(path), fs.LocalFileSystem())
        scanner = file.scanner(
            columns=names,
            batch_size=size,
            batch_readahead=_AHEAD,
            fragment_scan_options=options,
            use_threads=False,  # more than one thread decodes more than memory should hold
        )
        yield from scanner.to_batches()

    @staticmethod
    def _open(path: Path, texts: list[str] | None = None) -> Any:
        from pyarrow import parquet  # noqa: PLC0415  (an extra)

        # Read as a stream: buffering row groups whole, the default, takes as much memory as the
        # largest of them.
        return parquet.ParquetFile(
            path, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=texts
        )


class Feather(Format):
    """Record batches of Arrow, as a file (Feather) or a stream."""

    start = b"ARROW1"

    def look(self, path: Path, wanted: Collection[str] | None = None) -> Look:  # noqa: ARG002
        """Read the file's own description."""
        with self._open(path, None) as (reader, file):
            check_batches(path, is_file=file is None)
            if file is None:
                # Old versions of pyarrow count by reading, which we do anyway.
                rows = reader.count_rows() if hasattr(reader, "count_rows") else None
                return look_of(reader.schema, rows, reader.num_record_batches)
            return look_of(reader.schema, None, 1)

    def batches(
        self,
        path: Path,
        names: list[str],
        size: int,
        types: Mapping[str, Any],  # noqa: ARG002  (Arrow knows its types)
        section: int | None = None,
    ) -> Generator[Any]:
        """Read columns in batches of at most ``size`` rows, of all or one of the file's own."""
        with self._open(path, names) as (reader, stream):
            if stream is None:
                numbers = range(reader.num_record_batches) if section is None else [section]
                batches: Iterator[Any] = (reader.get_batch(number) for number in numbers)
            else:
                batches = iter(reader)
            for batch in map(sound, batches):
                yield from (batch.slice(i, size) for i in range(0, batch.num_rows, size))
            if stream is not None:
                _check_end(path, stream)

    @contextmanager
    def _open(self, path: Path, names: list[str] | None) -> Iterator[tuple[Any, Any]]:
        """Open a file for some of its columns; what it is read from comes along for a stream."""
        pa = arrow()
        # Not mapped into memory: a file cut short meanwhile would end the whole process.
        with pa.OSFile(os.fspath(path)) as file:
            magic = file.read(6)
            if magic[:4] == b"FEA1":
                msg = f"{path} is a Feather file of version 1; write it anew as version 2"
                raise InputError(msg)
            is_file = magic == b"ARROW1"
            open_one = pa.ipc.open_file if is_file else pa.ipc.open_stream
            file.seek(0)
            try:
                reader = open_one(file)
            except pa.ArrowInvalid as error:
                if is_file:
                    raise
                msg = f"{path} cannot be read: it is no Feather file, and no stream of Arrow"
                raise InputError(msg) from error
            if names is not None:
                fields = [reader.schema.get_field_index(name) for name in names]
                file.seek(0)
                reader = open_one(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
            yield reader, None if is_file else file


def _check_end(path: Path, stream: Any) -> None:
    """Refuse a stream without an end, or with something after it: rows may be missing."""
    end = stream.tell()
    if end < stream.size():
        msg = f"{path} goes on after the end of a stream of Arrow; are several joined in one file?"
        raise InputError(msg)
    stream.seek(0)
    is_old = stream.read(4) != _MARK  # as it was written before 2019
    stream.seek(max(0, end - 8))
    if not is_old and stream.read(8) != _MARK + bytes(4):
        msg = f"{path} cannot be read: it is a stream of Arrow that was cut short"
        raise InputError(msg)
