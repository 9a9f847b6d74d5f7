"""One file of each format: what it says of itself, and its rows in batches."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from secant._base.extras import require
from secant.errors import InputError
from secant.sources.files.csv_start import START, check_start

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

__all__ = ["CSV_BLOCK", "FORMATS", "Look", "arrow", "look", "readable"]

CSV_BLOCK = 1 << 22
_BUFFER = 1 << 20
# Rows from which a Parquet file is decoded by a thread of Arrow's, which never waits for the lock
# of the interpreter but takes a while to set up, and how many batches it is ahead; more take
# memory and gain little.
_LARGE = 1 << 20
_AHEAD = 2


class Look(NamedTuple):
    """What a file says of itself.

    ``rows`` is None where only reading tells; ``pieces`` counts the parts of a file that can be
    read without those before them.
    """

    names: list[str]
    types: dict[str, Any]
    rows: int | None
    pieces: int


def arrow() -> Any:
    """Return pyarrow.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    return require("pyarrow", "files", "reading files needs")


def look(path: Path, kind: str) -> Look:
    """Return what a file says of itself.

    Raises
    ------
    InputError
        If it is empty or cannot be read.
    """
    with readable(path):
        if not path.stat().st_size:
            msg = f"{path} is empty: it holds not one byte"
            raise InputError(msg)
        return FORMATS[kind].look(path)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say which file it was that could not be read."""
    try:
        yield
    except (arrow().ArrowException, OSError, EOFError) as error:
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        first_line = first_line.replace("Row #", "line ")
        if "invalid UTF8" in first_line:
            first_line += "; save the file anew in UTF-8"
        msg = f"{path} cannot be read: {first_line}"
        raise InputError(msg) from error


class Format(Protocol):
    """How files of one format are read."""

    def reads_ahead(self, rows: int | None) -> bool:
        """Tell whether a file's next batches are made while the last one is being worked on."""
        ...

    def look(self, path: Path) -> Look:
        """Return what a file says of itself."""
        ...

    def batches(
        self,
        path: Path,
        names: list[str],
        size: int,
        types: Mapping[str, Any],
        piece: int | None = None,
    ) -> Generator[Any]:
        """Read columns in batches of at most ``size`` rows.

        ``types`` are for formats that know none; ``piece`` reads one of the file's pieces alone.
        """
        ...


class Parquet:
    """Columns in row groups, with their number of rows."""

    def reads_ahead(self, rows: int | None) -> bool:
        """Tell whether a file is large enough."""
        return rows is not None and rows >= _LARGE

    def look(self, path: Path) -> Look:
        """Read the file's own description."""
        with self._open(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
            return _look(schema, metadata.num_rows, metadata.num_row_groups)

    def batches(
        self,
        path: Path,
        names: list[str],
        size: int,
        types: Mapping[str, Any],  # noqa: ARG002  (a Parquet file knows its types)
        piece: int | None = None,
    ) -> Generator[Any]:
        """Read columns in batches of at most ``size`` rows, of all or one of the row groups."""
        with self._open(path) as file:
            if piece is None and self.reads_ahead(file.metadata.num_rows):
                yield from self._scan(path, names, size)
            else:
                groups = None if piece is None else [piece]
                yield from file.iter_batches(batch_size=size, row_groups=groups, columns=names)

    @staticmethod
    def _scan(path: Path, names: list[str], size: int) -> Iterator[Any]:
        from pyarrow import dataset, fs  # noqa: PLC0415  (an extra)

        # As a stream, for the reason given below.
        options = dataset.ParquetFragmentScanOptions(
            use_buffered_stream=True, buffer_size=_BUFFER, pre_buffer=False
        )
        file = dataset.ParquetFileFormat().make_fragment(str(path), fs.LocalFileSystem())
        scanner = file.scanner(
            columns=names,
            batch_size=size,
            batch_readahead=_AHEAD,
            fragment_scan_options=options,
            use_threads=False,  # more than one thread decodes more than memory should hold
        )
        yield from scanner.to_batches()

    @staticmethod
    def _open(path: Path) -> Any:
        from pyarrow import parquet  # noqa: PLC0415  (an extra)

        # Read as a stream: buffering row groups whole, the default, takes as much memory as the
        # largest of them.
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)


class Feather:
    """Record batches of Arrow, as a file (Feather) or a stream."""

    def reads_ahead(self, rows: int | None) -> bool:  # noqa: ARG002  (of no size)
        """Return that none does."""
        return False

    def look(self, path: Path) -> Look:
        """Read the file's own description."""
        with self._open(path, None) as (reader, is_file):
            if is_file:
                # Old versions of pyarrow count by reading, which we do anyway.
                rows = reader.count_rows() if hasattr(reader, "count_rows") else None
                return _look(reader.schema, rows, reader.num_record_batches)
            return _look(reader.schema, None, 1)

    def batches(
        self,
        path: Path,
        names: list[str],
        size: int,
        types: Mapping[str, Any],  # noqa: ARG002  (Arrow knows its types)
        piece: int | None = None,
    ) -> Generator[Any]:
        """Read columns in batches of at most ``size`` rows, of all or one of the file's own."""
        with self._open(path, names) as (reader, is_file):
            if is_file:
                numbers = range(reader.num_record_batches) if piece is None else [piece]
                batches: Iterator[Any] = (reader.get_batch(number) for number in numbers)
            else:
                batches = iter(reader)
            for batch in batches:
                yield from (batch.slice(i, size) for i in range(0, batch.num_rows, size))

    @contextmanager
    def _open(self, path: Path, names: list[str] | None) -> Iterator[tuple[Any, bool]]:
        pa = arrow()
        # Not mapped into memory: a file cut short meanwhile would end the whole process.
        with pa.OSFile(str(path)) as file:
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
            yield reader, is_file


class Csv:
    """Text with commas (``.csv``) or tabs (``.tsv``), gzipped or not, whose first line is names."""

    def reads_ahead(self, rows: int | None) -> bool:  # noqa: ARG002  (of no size)
        """Return that none does."""
        return False

    def look(self, path: Path) -> Look:
        """Read the names, and guess types from the first rows."""
        with self._text(path) as text:
            check_start(path, text.read(START), self._separator(path))
        with self._open(path, None, {}, threads=False) as reader:
            return _look(reader.schema, None, 1)

    def batches(
        self,
        path: Path,
        names: list[str],
        size: int,
        types: Mapping[str, Any],
        piece: int | None = None,  # noqa: ARG002  (there is only one)
        *,
        threads: bool = True,
    ) -> Generator[Any]:
        """Read columns in batches of at most ``size`` rows; one thread knows lines by number."""
        with self._open(path, names, types, threads=threads) as reader:
            for batch in reader:
                yield from (batch.slice(i, size) for i in range(0, batch.num_rows, size))

    @contextmanager
    def _open(
        self,
        path: Path,
        names: list[str] | None,
        types: Mapping[str, Any],
        *,
        threads: bool = True,
    ) -> Iterator[Any]:
        from pyarrow import csv  # noqa: PLC0415  (an extra)

        with self._text(path) as text:
            yield csv.open_csv(
                text,
                read_options=csv.ReadOptions(block_size=CSV_BLOCK, use_threads=threads),
                parse_options=csv.ParseOptions(delimiter=self._separator(path)),
                # Only an empty field is missing: NA is a word, and may be the name of a group.
                convert_options=csv.ConvertOptions(
                    include_columns=names,
                    column_types=dict(types),
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )

    @staticmethod
    def _text(path: Path) -> Any:
        gzipped = path.name.lower().endswith(".gz")
        return arrow().input_stream(str(path), compression="gzip" if gzipped else None)

    @staticmethod
    def _separator(path: Path) -> str:
        return "\t" if path.name.lower().endswith((".tsv", ".tsv.gz")) else ","


def _look(schema: Any, rows: int | None, pieces: int) -> Look:
    types = dict(zip(schema.names, schema.types, strict=True))
    return Look(list(schema.names), types, rows, pieces)


FORMATS: dict[str, Format] = {"parquet": Parquet(), "feather": Feather(), "csv": Csv()}
