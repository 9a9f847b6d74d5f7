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
_BROKEN = struct.error, LookupError, ValueError, OverflowError, OSError, RecursionError, TypeError
_DICTIONARY, _BATCH = 2, 3  # kinds of messages
_EARLY = b"ARROW:experimental_compression"  # how the first writers said that buffers are packed
_BLOCK = 3  # numbers of 64 bits that tell where a message lies
# Numbers of fields: of a Parquet file's description, of its row groups, columns, and chunks.
_GROUPS, _COLUMNS, _CHUNK = 4, 1, 3
_PATH, _CODEC, _SIZE, _STARTS = 3, 4, 7, (9, 11)
_DENSE = {2, 4, 6}  # GZIP, BROTLI, ZSTD: what can make a page hundreds of times smaller
_PLAIN, _PACKED = 2, 3  # of a page
_LARGEST = 1 << 31  # bytes of a page, as the format has it
_HEADER, _MOST = 1 << 9, 1 << 24  # bytes of a page's header: as a rule, and at most


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


def check_pages(path: Path, wanted: Collection[str] | None) -> None:
    """Refuse a Parquet file if a page of a wanted column unpacks to more than memory should hold.

    A file that is no small part of the largest page there can be is left alone. Descriptions are
    read here, since pyarrow's way to that of one column ends the process where it contradicts
    itself.

    Raises
    ------
    InputError
        With what it unpacks to, and how to write it.
    """
    if path.stat().st_size * _TIMES >= _LARGEST:
        return
    with path.open("rb") as file:
        for packed, plain in _pages(file, wanted):
            way = "write it in smaller pages (in pyarrow: data_page_size)"
            _check(path, "a page of a column", packed, plain, way)


def _pages(file: BinaryIO, wanted: Collection[str] | None) -> Iterator[tuple[int, int]]:
    """Return the packed and the plain size of each page of each column that is packed densely."""
    names = None if wanted is None else {name.encode() for name in wanted}
    with suppress(*_BROKEN):
        file.seek(-8, 2)
        (size,) = struct.unpack("<I", file.read(4))
        file.seek(-8 - size, 2)
        for group in _Compact(file.read(size)).struct()[_GROUPS]:
            for column in group[_COLUMNS]:
                chunk = column[_CHUNK]
                if chunk[_CODEC] in _DENSE and (names is None or chunk[_PATH][0] in names):
                    starts = [chunk.get(field, 0) for field in _STARTS]
                    start = min(place for place in starts if place > 0)
                    yield from _pages_between(file, start, start + chunk[_SIZE])


def _pages_between(file: BinaryIO, start: int, stop: int) -> Iterator[tuple[int, int]]:
    packed = 0
    while start < stop and packed >= 0:
        for most in (_HEADER, _MOST):
            file.seek(start)
            header = _Compact(file.read(most))
            with suppress(IndexError):
                sizes = header.struct()
                break
        else:
            return  # which Arrow will say
        packed, plain = sizes[_PACKED], sizes[_PLAIN]
        yield packed, plain
        start += header.place + packed


class _Compact:
    """What the compact protocol of Thrift writes: structures of fields by number."""

    def __init__(self, content: bytes) -> None:
        self._content, self.place = content, 0

    def struct(self) -> dict[int, Any]:
        """Return the fields of a structure."""
        found: dict[int, Any] = {}
        content, field = self._content, 0
        while head := content[self.place]:
            self.place += 1
            field = field + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            found[field] = kind == 1 if kind <= 2 else self._value(kind)  # a truth is its kind
        self.place += 1
        return found

    def _value(self, kind: int) -> Any:
        if kind in {4, 5, 6}:
            return self._signed()
        if kind == 8:
            start = self._whole() + self.place
            start, self.place = self.place, start
            return self._content[start : self.place]
        if kind == 12:
            return self.struct()
        if kind in {9, 10}:
            head = self._content[self.place]
            self.place += 1
            count = head >> 4 if head >> 4 < 15 else self._whole()
            return [self._value(head & 15) for _ in range(count)]
        if kind == 11:
            count = self._whole()
            kinds = self._content[self.place] if count else 0
            self.place += count > 0
            return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(count)]
        sizes = {1: 1, 2: 1, 3: 1, 7: 8}
        if kind not in sizes or self.place > len(self._content):
            raise IndexError
        self.place += sizes[kind]
        return None

    def _signed(self) -> int:
        number = self._whole()
        return (number >> 1) ^ -(number & 1)

    def _whole(self) -> int:
        """Return a number of seven bits a byte, the least first."""
        number = 0
        for shift in range(0, 64, 7):
            byte = self._content[self.place]
            self.place += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise IndexError
