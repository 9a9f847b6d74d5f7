r"""The file format of cells: text, JSON and numbers under a checksum, nothing to execute.

::

    secant cells\n
    {"version": 1, "n_cells": ...}\n
    compressed columns: numbers of the non-empty cells, then their sums, little-endian
    SHA-256 of everything before

A file may come from anywhere, and a checksum is no signature: whoever changes the content can write
the one that fits. So everything is checked before it is believed: sizes before memory is taken
for them, then every sum against what the other sums leave possible.
"""

from __future__ import annotations

import hashlib
import json
import math
import stat
import sys
import zlib
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from secant._blocks.cell_sums import CellSums
from secant._blocks.grids import MOST_CELLS, DyadicGrid, FilledGrid
from secant._blocks.table import Totals, add_totals
from secant._input.options import is_whole
from secant._input.rules import LARGEST_WEIGHT, SMALLEST_WEIGHT
from secant.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from secant._base.types import FloatArray, IntArray

__all__ = ["pack", "unpack"]

_MAGIC = b"secant cells\n"
_VERSION = 1
_DIGEST = hashlib.sha256().digest_size
_KEYS = {"version", "n_cells", "filled", "sampling", "forbidden", "totals"}
_LONGEST_HEADER = 2048
# Columns of sums, and how many of them a cell has.
_COLUMNS = {"count": 2, "offset": 2, "weight": 2, "wv": 1, "wwv": 1, "ww": 1}
_LARGEST_CELL = 8 * (1 + sum(_COLUMNS.values()))
# What cannot be compressed grows by less than this, and nothing shrinks to less than 1 / 1032.
_LONGEST_FILE = len(_MAGIC) + _LONGEST_HEADER + _DIGEST + (MOST_CELLS + 1) * (_LARGEST_CELL + 1)
_LONGEST_FILE += 1 << 10
_DEFLATE = 1032
_PIECE = 1 << 16
_MOST = 2**62 - 1
# The same numbers added up in another order differ by far less, after 1e8 additions too; and what
# is lost below the smallest normal double is far less than this times the weight.
_ROUNDING = 1e-7
_UNDERFLOW = 1e-300


@dataclass(frozen=True, slots=True)
class _Header:
    n_cells: int
    filled: int
    sampling: bool
    forbidden: int
    totals: Totals

    def columns(self) -> dict[str, int]:
        """Return how many numbers a cell has of each column."""
        return {name: k for name, k in _COLUMNS.items() if self.sampling or name != "weight"}


class _MakesNoSenseError(Exception):
    """Something in a file cannot be what was saved."""


def pack(sums: CellSums, forbidden: int) -> bytes:
    """Return the content of a file that holds these sums."""
    grid = cast("DyadicGrid | FilledGrid", sums.grid)
    filled = np.flatnonzero(sums.count[::2] + sums.count[1::2])
    numbers = [grid.cells[filled].astype("<i8").tobytes()]
    for name, column in sums.columns().items():
        rows = column.reshape(-1, _COLUMNS[name])[filled]
        numbers.append(rows.astype(rows.dtype.newbyteorder("<")).tobytes())
    payload = zlib.compress(b"".join(numbers))
    header = {
        "version": _VERSION,
        "n_cells": grid.n_cells,
        "filled": filled.shape[0],
        "sampling": sums.sampling,
        "forbidden": forbidden,
        "totals": asdict(add_totals(sums.parts)),
    }
    content = _MAGIC + json.dumps(header).encode() + b"\n" + payload
    return content + hashlib.sha256(content).digest()


def unpack(path: str | os.PathLike[str]) -> tuple[CellSums, int]:
    """Read a file and return the sums, over the cells it fills, and the forbidden responses.

    Raises
    ------
    InputError
        If the file is not one of these, has another version, or is damaged.
    """
    content = _read(path)
    content, digest = content[:-_DIGEST], content[-_DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        raise _damaged(path, "it was cut short or changed")
    end = bytes(content[: len(_MAGIC) + _LONGEST_HEADER]).find(b"\n", len(_MAGIC))
    try:
        found = _parsed(bytes(content[len(_MAGIC) : end]) if end > 0 else b"")
        version = found["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, "its header cannot be read") from error
    if type(version) is int and version != _VERSION:
        msg = f"{path} has version {version} of the format; this secant reads {_VERSION}"
        raise InputError(msg)
    try:
        header = _checked(found)
    except (_MakesNoSenseError, KeyError, TypeError) as error:
        raise _damaged(path, "its header makes no sense") from error
    try:
        sums = _sums(header, content[end + 1 :])
    except (_MakesNoSenseError, zlib.error) as error:
        raise _damaged(path, "its numbers make no sense") from error
    return sums, header.forbidden


def _damaged(path: str | os.PathLike[str], how: str) -> InputError:
    return InputError(f"{path} is a damaged file of secant.Cells: {how}")


def _read(path: str | os.PathLike[str]) -> memoryview:
    """Read a file, if it is one: a pipe would block and a device never end."""
    about = Path(path).stat()
    if not stat.S_ISREG(about.st_mode):
        raise InputError(f"{path} is not a file of secant.Cells: it is no file")
    with Path(path).open("rb") as file:
        content = file.read(len(_MAGIC))
        if content != _MAGIC:
            raise InputError(f"{path} is not a file of secant.Cells")
        if about.st_size > _LONGEST_FILE:
            raise _damaged(path, f"no such file is as long as {about.st_size:,} bytes")
        return memoryview(content + file.read(about.st_size))


# The header ---------------------------------------------------------------------------------------


def _parsed(line: bytes) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            msg = "a name twice"
            raise ValueError(msg)
        return found

    def none(constant: str) -> Any:
        raise ValueError(constant)  # NaN and Infinity, which JSON does not have

    return json.loads(line.decode("ascii"), object_pairs_hook=once, parse_constant=none)


def _checked(found: Any) -> _Header:
    """Return what a header says, in the types that everything else counts on."""
    _require(found.keys() == _KEYS and type(found["version"]) is int)
    n_cells, totals = found["n_cells"], found["totals"]
    _require(is_whole(n_cells, 1, MOST_CELLS) and not n_cells & (n_cells - 1))
    _require(is_whole(found["filled"], 0, n_cells + 1))
    _require(isinstance(found["sampling"], bool))
    names = [field.name for field in fields(Totals)]
    _require(isinstance(totals, dict) and sorted(totals) == sorted(names))
    _require(is_whole(totals["n"], found["filled"], _MOST))
    _require(is_whole(found["forbidden"], 0, totals["n"]))
    for name in names:
        value = totals[name]
        _require(type(value) in {int, float} and 0 <= value <= sys.float_info.max)
        _require(math.copysign(1, value) > 0)
    sums = {name: float(totals[name]) for name in names[1:]}
    return _Header(
        n_cells=n_cells,
        filled=found["filled"],
        sampling=found["sampling"],
        forbidden=found["forbidden"],
        totals=Totals(n=totals["n"], **sums),
    )


def _require(holds: object) -> None:
    if not holds:
        raise _MakesNoSenseError


# The numbers --------------------------------------------------------------------------------------


def _sums(header: _Header, payload: memoryview) -> CellSums:
    """Return the sums that a file holds."""
    size = 8 * header.filled * (1 + sum(header.columns().values()))
    _require(size <= _DEFLATE * len(payload))
    numbers = _Numbers(payload)
    cells = np.empty(0, np.int64)
    for start in range(0, header.filled, _PIECE):  # in pieces: a forged file may hold zeros alone
        piece = numbers.take(min(_PIECE, header.filled - start), "<i8")
        _require((np.diff(piece) > 0).all() and piece[0] > (cells[-1] if start else -1))
        _require(piece[-1] <= header.n_cells)
        cells = np.concatenate([cells, piece])
    columns = {
        name: _column(numbers, header, name).reshape(header.filled, width)
        for name, width in header.columns().items()
    }
    numbers.end()
    _check(header, cells, columns)
    sums = CellSums(FilledGrid(header.n_cells, cells), sampling=header.sampling, moments=True)
    for name, column in columns.items():
        setattr(sums, name, column.ravel())
    sums.parts = [header.totals]
    return sums


def _column(numbers: _Numbers, header: _Header, name: str) -> Any:
    kind, most = ("<i8", header.totals.n) if name == "count" else ("<f8", sys.float_info.max)
    column = numbers.take(header.filled * _COLUMNS[name], kind)
    _require(((column >= 0) & (column <= most)).all() and not np.signbit(column).any())
    return column


class _Numbers:
    """Compressed numbers, of which no more is unpacked than is asked for."""

    def __init__(self, payload: memoryview) -> None:
        self._inflate = zlib.decompressobj()
        self._pieces = self._unpack(payload)
        self._left = b""

    def _unpack(self, payload: memoryview) -> Iterator[bytes]:
        for start in range(0, len(payload), _PIECE):
            _require(not self._inflate.eof)
            packed: bytes | memoryview = payload[start : start + _PIECE]
            while packed:
                yield self._inflate.decompress(packed, _PIECE * 8)
                packed = self._inflate.unconsumed_tail
        _require(self._inflate.eof and not self._inflate.unused_data)

    def take(self, count: int, kind: str) -> Any:
        """Return the next numbers."""
        size = 8 * count
        found = bytearray(self._left)
        while len(found) < size:
            piece = next(self._pieces, None)
            _require(piece is not None)
            found += piece or b""
        self._left = bytes(found[size:])
        return np.frombuffer(found, kind, count).astype(kind[1:])

    def end(self) -> None:
        """Make sure that nothing is left."""
        _require(not self._left and not any(self._pieces))


# What the sums of a cell leave possible -----------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """The numbers of a file, a row for each cell that it fills; of two columns, response 0 first.

    Every column is finite and without signs, and counts add up to what the header says.
    """

    header: _Header
    cells: IntArray
    count: IntArray
    offset: FloatArray
    weight: FloatArray
    wv: FloatArray
    wwv: FloatArray
    ww: FloatArray

    @cached_property
    def low(self) -> FloatArray:
        return self.cells / self.header.n_cells

    @cached_property
    def high(self) -> FloatArray:
        return np.minimum((self.cells + 1) / self.header.n_cells, 1.0)

    @cached_property
    def squares(self) -> FloatArray:
        """The most that squares of weights can add up to: one has it all."""
        return self.weight**2

    @cached_property
    def least_squares(self) -> FloatArray:
        """The least that squares of weights can add up to: all are equal."""
        return self.squares / np.maximum(self.count, 1)


def _check(header: _Header, cells: IntArray, columns: dict[str, Any]) -> None:
    """Make sure that there could be predictions with these sums, but for rounding."""
    counts = columns["count"]
    n = counts.sum(axis=1)  # no count is above 2^62
    _require((n > 0).all() and _exact_sum(n) == header.totals.n)
    once = {name: columns[name][:, 0] for name in ("wv", "wwv", "ww")}
    weight = columns["weight"] if header.sampling else counts.astype(np.float64)
    found = _Found(header, cells, counts, columns["offset"], weight, **once)
    _check_weights(found)
    _check_scores(found)
    _check_forbidden(found)
    totals = header.totals
    sums = (weight, found.ww, found.wwv)
    for total, column in zip((totals.weight, totals.ww, totals.wwv), sums, strict=True):
        whole = math.fsum(column.ravel())
        _within(whole, total, whole, _UNDERFLOW * totals.ww)
    _check_residuals(found)
    _check_largest(found)


def _exact_sum(counts: IntArray) -> int:
    """Add up counts that may have more bits together than an integer of the machine."""
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())


def _within(low: Any, value: Any, high: Any, slack: Any = 0.0) -> None:
    """Require values between others, but for rounding."""
    above, below = low * (1 - _ROUNDING) - slack, high * (1 + _ROUNDING) + slack
    _require(np.all((value >= above) & (value <= below)))


def _check_weights(found: _Found) -> None:
    """Compare weights with their number, and the sums of their squares with both."""
    count = found.count
    _within(SMALLEST_WEIGHT * count, found.weight, LARGEST_WEIGHT * count)
    if found.header.sampling:
        _within(found.least_squares.sum(axis=1), found.ww, found.squares.sum(axis=1))
    else:
        _within(count.sum(axis=1), found.ww, count.sum(axis=1))


def _check_scores(found: _Found) -> None:
    """Compare distances from the anchor with the cell, sums of s(1 - s) with such scores."""
    low, high, wv, wwv, ww = found.low, found.high, found.wv, found.wwv, found.ww
    _within(0, found.offset, found.weight)
    _require(not found.offset[low == 1].any())
    weight = found.weight.sum(axis=1)
    share = np.minimum(found.offset.sum(axis=1) / weight, 1)
    distance = weight * share / found.header.n_cells
    # s(1 - s) is concave: at most its value at the mean, at least that of the chord over the cell.
    mean = low + share / found.header.n_cells
    most = mean * np.maximum(weight * (1 - low) - distance, 0)
    ends = low * (1 - low), high * (1 - high)
    least = weight * ((1 - share) * ends[0] + share * ends[1])
    _within(least, wv, most, _ROUNDING * distance + _UNDERFLOW * weight)
    if not found.header.sampling:
        _within(wv, wwv, wv)
        return
    largest = np.where((low < 0.5) & (high > 0.5), 0.25, np.maximum(*ends))
    _within(np.minimum(*ends) * ww, wwv, largest * ww, _UNDERFLOW * ww)
    # Cauchy and Schwarz; and no weight is larger than the root of the sum of squares.
    some = np.maximum(largest, sys.float_info.min) * found.count.sum(axis=1)
    _within(wv / some * wv, wwv, np.sqrt(ww) * wv, _UNDERFLOW * ww)


def _check_forbidden(found: _Found) -> None:
    """Every failure at a score of 1 is forbidden, and some of the events in the lowest cell."""
    forbidden, lowest = found.header.forbidden, found.low == 0
    failures = int(found.count[found.low == 1, 0].sum())
    events = int(found.count[lowest, 1].sum())
    _require(failures <= forbidden <= failures + events)
    if events and forbidden == failures + events:  # so all of them have the score 0
        _require(not found.offset[lowest, 1].any())


def _check_residuals(found: _Found) -> None:
    """Compare the sum of w^2 |r - s|: a failure is off by its score, an event by the rest to 1."""
    totals = found.header.totals
    if not found.header.sampling:  # the cells know it, and files do not say
        _require(totals.wwe == 0)
        return
    # How much of w^2 the failures have.
    some = np.maximum(found.least_squares[:, 0], found.ww - found.squares[:, 1])
    most = np.minimum(found.squares[:, 0], found.ww - found.least_squares[:, 1])
    low, high, ww = found.low, found.high, found.ww
    at_least = np.minimum(*(low * ww0 + (1 - high) * (ww - ww0) for ww0 in (some, most)))
    at_most = np.maximum(*(high * ww0 + (1 - low) * (ww - ww0) for ww0 in (some, most)))
    slack = _ROUNDING * totals.ww
    _within(math.fsum(at_least), totals.wwe, math.fsum(at_most), slack)
    _within(totals.wwv, totals.wwe, totals.ww, slack)


def _check_largest(found: _Found) -> None:
    """Compare the largest w^2 s(1 - s), its limit of 1/4 where rows came without weights."""
    largest = found.header.totals.largest
    if not found.header.filled:
        _require(largest == 0)
    elif not found.header.sampling:
        _require(largest == 0.25)
    else:
        most = 0.25 if largest == 0.25 else float(found.wwv.max())
        _within((found.wwv / found.count.sum(axis=1)).max(), largest, most, _UNDERFLOW)
