"""What packed parts of files unpack to, which is looked at before they are unpacked.

Arrow makes room for what a batch of rows (Feather) or a page of a column (Parquet) says that it
unpacks to, and unpacks it at once: a file of a few kilobytes can fill any memory.
"""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from secant._base.types import IntArray

__all__ = ["check_batches", "check_pages"]

# Bytes that any file may unpack at once, and by how much a larger part may grow: columns of
# numbers shrink to a tenth at best, unless nearly all rows are the same.
_ROOM = 1 << 28
_TIMES = 256
# Where a description does not say what its format asks for; Arrow's own error is the better one.
_BROKEN = struct.error, IndexError, ValueError, OverflowError, OSError
_DICTIONARY, _BATCH = 2, 3  # kinds of messages
_EARLY = b"ARROW:experimental_compression"  # how the first writers said that buffers are packed
_BLOCK = 3  # numbers of 64 bits that tell where a message lies
# What can make a page more than a few hundred times smaller.
_DENSE = {"GZIP", "ZSTD", "BROTLI"}
_HEADER = 1 << 9  # bytes, as a rule
_MOST = 1 << 24


def _check(path: Path, what: str, packed: int, plain: int, way: str) -> None:
    if plain > max(_ROOM, _TIMES * packed):
        raise InputError(
            f"{path} has {what} that unpacks from {packed:,} bytes to {plain:,}, more than memory "
            "should hold at once",
            hint=f"; {way}",
        )


# Batches of Arrow ---------------------------------------------------------------------------------


def check_batches(path: Path, *, is_file: bool) -> None:
    """Refuse a file or a stream of Arrow one of whose batches unpacks to more than memory holds.

    Raises
    ------
    InputError
        With what it unpacks to, and how to write it.
    """
    with path.open("rb") as file:
        for packed, plain in _batches_of_file(file) if is_file else _batches_of_stream(file):
            way = "write it in smaller batches (in pyarrow: max_chunksize)"
            _check(path, "a batch of rows", packed, plain, way)


def _batches_of_file(file: BinaryIO) -> Iterator[tuple[int, int]]:
    """Return the packed and the plain size of each batch that the footer names."""
    with suppress(*_BROKEN):
        file.seek(-10, 2)
        (size,) = struct.unpack("<i", file.read(4))
        file.seek(-10 - size, 2)
        footer = _Table.first(file.read(size))
        for batches in (2, 3):  # dictionaries and rows
            for start, length, _ in footer.numbers(batches, _BLOCK):
                yield _sizes(file, int(start), int(length) & 0xFFFFFFFF)


def _batches_of_stream(file: BinaryIO) -> Iterator[tuple[int, int]]:
    """Return the same of a stream, message by message."""
    start = packed = 0
    with suppress(*_BROKEN):
        while packed >= 0:
            file.seek(start)
            prefix, size = struct.unpack("<ii", file.read(8))
            length = 8 + size if prefix == -1 else 4 + prefix  # before 2019
            if length <= 8:
                return
            packed, plain = _sizes(file, start, length)
            yield packed, plain
            start += length + packed


def _sizes(file: BinaryIO, start: int, length: int) -> tuple[int, int]:
    """Return the packed and the plain size of a message; that is 0 where nothing is packed."""
    file.seek(start)
    head = file.read(length)
    message = _Table.first(head[8 if head[:4] == b"\xff" * 4 else 4 :])
    size, kind, plain = message.number(3, "<q"), message.number(1, "<B"), 0
    if kind not in {_DICTIONARY, _BATCH}:
        return size, plain
    batch = message.table(2)
    if kind == _DICTIONARY:
        batch = batch.table(1)
    if not (batch.has(3) or _EARLY in head):
        return size, plain
    for place, packed in batch.numbers(2, 2):
        if packed:
            file.seek(start + length + int(place))
            (says,) = struct.unpack("<q", file.read(8))
            plain += int(packed) if says < 0 else says  # it is not, if that makes it no smaller
    return size, plain


class _Table:
    """A table of FlatBuffers: fields by number, each of which may be left out."""

    def __init__(self, content: bytes, start: int) -> None:
        self._content, self._start = content, start
        self._fields = start - self._unpack("<i", start)

    @classmethod
    def first(cls, content: bytes) -> _Table:
        """Return the table that all others hang from."""
        return cls(content, struct.unpack_from("<I", content)[0])

    def has(self, field: int) -> bool:
        """Tell whether a field is there."""
        return self._place(field) > 0

    def number(self, field: int, kind: str) -> int:
        """Return a number; 0 where it is left out."""
        place = self._place(field)
        return self._unpack(kind, place) if place else 0

    def table(self, field: int) -> _Table:
        """Return a table within this one."""
        return _Table(self._content, self._follow(field))

    def numbers(self, field: int, each: int) -> IntArray:
        """Return a list of so many numbers of 64 bits each; none where it is left out."""
        if not self.has(field):
            return np.empty((0, each), np.int64)
        start = self._follow(field)
        count = self._unpack("<I", start)
        return np.frombuffer(self._content, "<i8", each * count, start + 4).reshape(-1, each)

    def _follow(self, field: int) -> int:
        place = self._place(field)
        return place + self._unpack("<I", place)

    def _place(self, field: int) -> int:
        """Return where a field is; 0 where it is left out."""
        where = 4 + 2 * field
        if where >= self._unpack("<H", self._fields):
            return 0
        offset = self._unpack("<H", self._fields + where)
        return self._start + offset if offset else 0

    def _unpack(self, kind: str, place: int) -> int:
        if place < 0:
            raise IndexError
        return int(struct.unpack_from(kind, self._content, place)[0])


# Pages of Parquet ---------------------------------------------------------------------------------


def check_pages(path: Path, metadata: Any, wanted: Collection[str] | None) -> None:
    """Refuse a Parquet file if a page of a wanted column unpacks to more than memory should hold.

    Raises
    ------
    InputError
        With what it unpacks to, and how to write it.
    """
    top = [metadata.schema.column(n).path.partition(".")[0] for n in range(metadata.num_columns)]
    columns = [number for number, name in enumerate(top) if wanted is None or name in wanted]
    with path.open("rb") as file:
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for chunk in map(group.column, columns):
                if chunk.compression in _DENSE:
                    for packed, plain in _pages(file, chunk):
                        way = "write it in smaller pages (in pyarrow: data_page_size)"
                        _check(path, "a page of a column", packed, plain, way)


def _pages(file: BinaryIO, chunk: Any) -> Iterator[tuple[int, int]]:
    """Return the packed and the plain size of each page of a column."""
    starts = chunk.dictionary_page_offset or 0, chunk.data_page_offset
    start = min((place for place in starts if place > 0), default=0)
    stop = start + chunk.total_compressed_size
    while start < stop:
        for most in (_HEADER, _MOST):
            file.seek(start)
            header = _Header(file.read(most))
            try:
                plain, packed = header.sizes()
            except IndexError:
                continue
            break
        else:
            return  # which Arrow will say
        if packed < 0:
            return
        yield packed, plain
        start += header.place + packed


class _Header:
    """The header of a page, in the compact protocol of Thrift."""

    def __init__(self, content: bytes) -> None:
        self._content, self.place = content, 0

    def sizes(self) -> tuple[int, int]:
        """Return what a page unpacks to and how large it is; then ``place`` is the header's end."""
        found = self._struct()
        return found.get(2, 0), found.get(3, 0)

    def _struct(self) -> dict[int, int]:
        """Return the whole numbers among the fields."""
        found: dict[int, int] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            value = self._value(head & 15)
            if value is not None:
                found[field] = value
        return found

    def _value(self, kind: int, *, listed: bool = False) -> int | None:
        """Pass a value; return it if it is a whole number."""
        if kind in {1, 2} and not listed:  # a truth, which is its kind
            return None
        if kind in {1, 2, 3}:
            self._byte()
        elif kind in {4, 5, 6}:
            return self._signed()
        elif kind == 7:
            self.place += 8
        elif kind == 8:
            length = self._whole()
            self.place += length
        elif kind in {9, 10}:
            head = self._byte()
            for _ in range(head >> 4 if head >> 4 < 15 else self._whole()):
                self._value(head & 15, listed=True)
        elif kind == 12:
            self._struct()
        else:
            raise IndexError
        return None

    def _byte(self) -> int:
        self.place += 1
        return self._content[self.place - 1]

    def _whole(self) -> int:
        """Return a number of seven bits a byte, the least first."""
        number = 0
        for shift in range(0, 64, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise IndexError

    def _signed(self) -> int:
        number = self._whole()
        return (number >> 1) ^ -(number & 1)
