r"""The file format of cells: text, JSON and numbers under a checksum, nothing to execute.

::

    secant cells\n
    {"version": 2, "n_cells": ...}\n
    compressed columns: numbers of the non-empty cells, then their sums, little-endian
    SHA-256 of everything before

Version 1 had fewer sums. It is read as before; what it cannot answer is None among the totals, and
a state with such gaps is written with them.

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
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from secant._base import checked_json as checked
from secant._base.checked_json import MakesNoSenseError, require
from secant._blocks.cell_sums import CellSums
from secant._blocks.grids import MOST_CELLS, dyadic_grid
from secant._blocks.table import STEPS, Totals
from secant._input.options import Reading
from secant._input.rules import LARGEST_WEIGHT, SMALLEST_WEIGHT
from secant.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.grids import DyadicGrid

__all__ = ["pack", "unpack"]

_MAGIC = b"secant cells\n"
_VERSION = 2
_VERSIONS = (1, 2)
_DIGEST = hashlib.sha256().digest_size
_LONGEST_HEADER = 2048
# Totals that may be missing, as they are in version 1.
_NEWER = ("ww1", "third", "squared_error", "log_loss", "steps")
_LARGEST_CELL = 8 * 12
# What cannot be compressed grows by less than this, and nothing shrinks to less than 1 / 1032.
_LONGEST_FILE = len(_MAGIC) + _LONGEST_HEADER + _DIGEST + (MOST_CELLS + 1) * (_LARGEST_CELL + 1)
_LONGEST_FILE += 1 << 10
_DEFLATE = 1032
_PIECE = 1 << 16
_COUNT = checked.whole(0, 2**62 - 1)
_HEADER = {
    "version": checked.whole(*_VERSIONS),
    "n_cells": checked.whole(1, MOST_CELLS),
    "filled": _COUNT,
    "sampling": checked.boolean,
    "forbidden": _COUNT,
    "totals": checked.anything,
}
# The totals of version 1: wwv and wwe are the sums of w^2 s(1 - s) and w^2 |r - s|.
_TOTALS_1 = {"n": _COUNT} | dict.fromkeys(("weight", "ww", "wwv", "wwe", "largest"), checked.amount)
_TOTALS_2 = {
    "n": _COUNT,
    **dict.fromkeys(("weight", "ww", "variance", "squares"), checked.amount),
    **dict.fromkeys(_NEWER[:-1], checked.optional(checked.amount)),
    "steps": checked.optional(checked.array(checked.amount, range(STEPS + 1), float)),
    "outcome_weights": checked.optional(checked.array(checked.amount, 2, float)),
}
# The same numbers added up in another order differ by far less, after 1e8 additions too; and what
# is lost below the smallest normal double is far less than this times the weight.
_ROUNDING = 1e-7
_UNDERFLOW = 1e-300
# No score that is not 0 has a larger logarithm.
_MOST_LOSS = 745.2


@dataclass(frozen=True, slots=True)
class _Header:
    version: int
    n_cells: int
    filled: int
    sampling: bool
    forbidden: int
    totals: Totals

    def columns(self) -> dict[str, int]:
        """Return how many numbers a cell has of each column."""
        return _columns(self.totals, sampling=self.sampling, version=self.version)


def _columns(totals: Totals, *, sampling: bool, version: int = _VERSION) -> dict[str, int]:
    """Return the columns of a file, and how many numbers a cell has of each: 2, one a response."""
    wv = 1 if totals.outcome_weights is None else 2
    columns = {"count": 2, "offset": 2}
    columns |= {"weight": 2} if sampling else {}
    columns |= {"wv": wv}
    if sampling or version == 1:
        columns |= {"wwv": 1, "ww": 1 if totals.ww1 is None or version == 1 else 2}
    return columns


def pack(sums: CellSums, forbidden: int) -> bytes:
    """Return the content of a file that holds these sums."""
    grid = cast("DyadicGrid", sums.grid)
    filled = np.flatnonzero(sums.count[::2] + sums.count[1::2])
    totals = sums.totals()
    numbers = [grid.cells[filled].astype("<i8").tobytes()]
    for name, width in _columns(totals, sampling=sums.sampling).items():
        column = getattr(sums, name)
        rows = column.reshape(-1, 1 if name == "wwv" else 2)[filled]
        if width < rows.shape[1]:
            rows = rows.sum(axis=1)
        numbers.append(rows.astype(rows.dtype.newbyteorder("<")).tobytes())
    payload = zlib.compress(b"".join(numbers))
    if totals.log_loss == math.inf:  # as the forbidden responses tell
        totals = replace(totals, log_loss=0.0)
    header = {
        "version": _VERSION,
        "n_cells": grid.n_cells,
        "filled": filled.shape[0],
        "sampling": sums.sampling,
        "forbidden": forbidden,
        "totals": {name: value for name, value in asdict(totals).items() if name != "pooled"},
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
        line = bytes(content[len(_MAGIC) : end]) if end > 0 else b""
        found = checked.parse(line.decode("ascii"))
        version = found["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, "its header cannot be read") from error
    if type(version) is int and version not in _VERSIONS:
        msg = f"{path} has version {version} of the format; this secant reads 1 to {_VERSION}"
        raise InputError(msg)
    try:
        header = _checked(found)
    except MakesNoSenseError as error:
        raise _damaged(path, "its header makes no sense") from error
    try:
        sums = _sums(header, content[end + 1 :])
    except (MakesNoSenseError, zlib.error) as error:
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


def _checked(found: Any) -> _Header:
    """Return what a header says, in the types that everything else counts on."""
    known = checked.read_fields(_HEADER, found)
    n_cells = known["n_cells"]
    require(not n_cells & (n_cells - 1) and known["filled"] <= n_cells + 1)
    totals = _totals_1(known) if known["version"] == 1 else _totals_2(known)
    require(max(known["filled"], known["forbidden"]) <= totals.n)
    return _Header(**known | {"totals": totals})


def _totals_1(header: dict[str, Any]) -> Totals:
    """Return what version 1 says; without weights the cells know the rest of it."""
    n, weight, ww, wwv, wwe, largest = checked.read_fields(_TOTALS_1, header["totals"]).values()
    if not header["sampling"]:
        require(wwe == 0 and largest == (0.25 if n else 0))
        wwe = wwv
    else:
        _within(wwv, wwe, ww, _ROUNDING * ww)
    # A residual is s or 1 - s, so (r - s)^2 = |r - s| - s(1 - s).
    return Totals(n, weight, ww, wwv, max(wwe - wwv, 0.0))


def _totals_2(header: dict[str, Any]) -> Totals:
    totals = checked.read_fields(_TOTALS_2, header["totals"])
    gaps = {name for name in _NEWER if totals[name] is None}
    # Nothing but version 1 leaves gaps: of weighted rows all of them.
    require(not gaps or gaps == (set(_NEWER) if header["sampling"] else {"log_loss"}))
    if header["forbidden"] and totals["log_loss"] is not None:
        totals["log_loss"] = math.inf
    if totals["steps"] is not None:
        totals["steps"] = tuple(totals["steps"].tolist())
        require(len(totals["steps"]) == min(totals["n"], STEPS))
    if totals["outcome_weights"] is not None:
        pair = totals["outcome_weights"] = tuple(totals["outcome_weights"].tolist())
        try:
            known = Reading(outcome_weights=pair).outcome_weights
        except InputError as error:
            raise MakesNoSenseError from error
        require(known == pair and not gaps)  # two equal ones are none
    return Totals(**totals)


# The numbers --------------------------------------------------------------------------------------


def _sums(header: _Header, payload: memoryview) -> CellSums:
    """Return the sums that a file holds."""
    size = 8 * header.filled * (1 + sum(header.columns().values()))
    require(size <= _DEFLATE * len(payload))
    numbers = _Numbers(payload)
    cells = np.empty(0, np.int64)
    for start in range(0, header.filled, _PIECE):  # in pieces: a forged file may hold zeros alone
        piece = numbers.take(min(_PIECE, header.filled - start), "<i8")
        require((np.diff(piece) > 0).all() and piece[0] > (cells[-1] if start else -1))
        require(piece[-1] <= header.n_cells)
        cells = np.concatenate([cells, piece])
    columns = {
        name: _column(numbers, header, name).reshape(header.filled, width)
        for name, width in header.columns().items()
    }
    numbers.end()
    _check(header, cells, columns)
    sums = CellSums(
        dyadic_grid(header.n_cells, cells),
        sampling=header.sampling,
        moments=True,
        outcome_weights=header.totals.outcome_weights,
        log_loss=True,
    )
    for name, width in header.columns().items():
        column = columns[name]
        if width == 1 and name != "wwv":  # not told apart by response, and nobody will ask
            column = np.hstack([column, np.zeros_like(column)])
        if name in sums.columns():
            setattr(sums, name, column.ravel())
    sums.parts = [header.totals]
    return sums


def _column(numbers: _Numbers, header: _Header, name: str) -> Any:
    kind, most = ("<i8", header.totals.n) if name == "count" else ("<f8", sys.float_info.max)
    column = numbers.take(header.filled * header.columns()[name], kind)
    require(((column >= 0) & (column <= most)).all() and not np.signbit(column).any())
    return column


class _Numbers:
    """Compressed numbers, of which no more is unpacked than is asked for."""

    def __init__(self, payload: memoryview) -> None:
        self._inflate = zlib.decompressobj()
        self._pieces = self._unpack(payload)
        self._left = b""

    def _unpack(self, payload: memoryview) -> Iterator[bytes]:
        for start in range(0, len(payload), _PIECE):
            require(not self._inflate.eof)
            packed: bytes | memoryview = payload[start : start + _PIECE]
            while packed:
                yield self._inflate.decompress(packed, _PIECE * 8)
                packed = self._inflate.unconsumed_tail
        require(self._inflate.eof and not self._inflate.unused_data)

    def take(self, count: int, kind: str) -> Any:
        """Return the next numbers."""
        size = 8 * count
        found = bytearray(self._left)
        while len(found) < size:
            piece = next(self._pieces, None)
            require(piece is not None)
            found += piece or b""
        self._left = bytes(found[size:])
        return np.frombuffer(found, kind, count).astype(kind[1:])

    def end(self) -> None:
        """Make sure that nothing is left."""
        require(not self._left and not any(self._pieces))


# What the sums of a cell leave possible -----------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """The numbers of a file, a row for each cell that it fills; of two columns, response 0 first.

    Every column is finite and without signs, and counts add up to what the header says. None of
    them knows what outcomes weigh; totals do.
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

    @cached_property
    def mean(self) -> FloatArray:
        """The mean score of each response, the low end of the cell where there is none of it."""
        share = np.minimum(self.offset / np.where(self.weight > 0, self.weight, 1), 1)
        return self.low[:, None] + share / self.header.n_cells

    @cached_property
    def outcome_weights(self) -> FloatArray:
        return np.array(self.header.totals.outcome_weights or (1.0, 1.0))


def _check(header: _Header, cells: IntArray, columns: dict[str, Any]) -> None:
    """Make sure that there could be predictions with these sums, but for rounding."""
    counts = columns["count"]
    n = counts.sum(axis=1)  # no count is above 2^62
    require((n > 0).all() and _exact_sum(n) == header.totals.n)
    weight = columns["weight"] if header.sampling else counts.astype(np.float64)
    wv = columns["wv"]
    wwv = columns["wwv"][:, 0] if "wwv" in columns else wv.sum(axis=1)
    ww = columns.get("ww", weight)
    found = _Found(header, cells, counts, columns["offset"], weight, wv, wwv, ww)
    _check_weights(found)
    _check_scores(found)
    _check_forbidden(found)
    _check_sums(found)
    _check_residuals(found)
    if header.version > 1 and header.totals.third is not None:
        _check_tails(found)
        _check_steps(found)
    if header.totals.log_loss is not None:
        _check_log_loss(found)


def _exact_sum(counts: IntArray) -> int:
    """Add up counts that may have more bits together than an integer of the machine."""
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())


def _within(low: Any, value: Any, high: Any, slack: Any = 0.0) -> None:
    """Require values between others, but for rounding."""
    above, below = low * (1 - _ROUNDING) - slack, high * (1 + _ROUNDING) + slack
    require(np.all((value >= above) & (value <= below)))


def _check_weights(found: _Found) -> None:
    """Compare weights with their number, and the sums of their squares with both."""
    count = found.count
    _within(SMALLEST_WEIGHT * count, found.weight, LARGEST_WEIGHT * count)
    least, most = found.least_squares, found.squares
    if not found.header.sampling:
        least = most = count.astype(np.float64)
    if found.ww.shape[1] == 1:
        least, most = least.sum(axis=1)[:, None], most.sum(axis=1)[:, None]
    _within(least, found.ww, most)


def _check_scores(found: _Found) -> None:
    """Compare distances from the anchor with the cell, sums of s(1 - s) with such scores."""
    low, high, n_cells = found.low[:, None], found.high[:, None], found.header.n_cells
    _within(0, found.offset, found.weight)
    require(not found.offset[found.low == 1].any())
    weight, offset = found.weight, found.offset
    if found.wv.shape[1] == 1:
        weight, offset = weight.sum(axis=1)[:, None], offset.sum(axis=1)[:, None]
    share = np.minimum(offset / np.where(weight > 0, weight, 1), 1)
    distance = weight * share / n_cells
    # s(1 - s) is concave: at most its value at the mean, at least that of the chord over the cell.
    mean = low + share / n_cells
    most = mean * np.maximum(weight * (1 - low) - distance, 0)
    ends = low * (1 - low), high * (1 - high)
    least = weight * ((1 - share) * ends[0] + share * ends[1])
    _within(least, found.wv, most, _ROUNDING * distance + _UNDERFLOW * weight)
    wv, ww = found.wv.sum(axis=1), found.ww.sum(axis=1)
    if not found.header.sampling:
        _within(wv, found.wwv, wv)
        return
    largest = _largest_variance(found)
    _within(np.minimum(*ends)[:, 0] * ww, found.wwv, largest * ww, _UNDERFLOW * ww)
    # Cauchy and Schwarz; and no weight is larger than the root of the sum of squares.
    some = np.maximum(largest, sys.float_info.min) * found.count.sum(axis=1)
    _within(wv / some * wv, found.wwv, np.sqrt(ww) * wv, _UNDERFLOW * ww)


def _largest_variance(found: _Found) -> FloatArray:
    """Return the largest s(1 - s) that a cell can hold."""
    low, high = found.low, found.high
    ends = np.maximum(low * (1 - low), high * (1 - high))
    return np.where((low < 0.5) & (high > 0.5), 0.25, ends)


def _check_forbidden(found: _Found) -> None:
    """Every failure at a score of 1 is forbidden, and some of the events in the lowest cell."""
    forbidden, lowest = found.header.forbidden, found.low == 0
    failures = int(found.count[found.low == 1, 0].sum())
    events = int(found.count[lowest, 1].sum())
    require(failures <= forbidden <= failures + events)
    if events and forbidden == failures + events:  # so all of them have the score 0
        require(not found.offset[lowest, 1].any())


def _check_sums(found: _Found) -> None:
    """Compare totals with the sums of columns, of which outcomes have their weights."""
    totals, o = found.header.totals, found.outcome_weights
    pairs = [
        (totals.weight, (o * found.weight).ravel()),
        (totals.variance, o[0] * o[1] * found.wwv),
    ]
    if totals.ww1 is None or found.header.version == 1:
        pairs.append((totals.ww, found.ww.ravel()))
    else:
        squares = o**2 * found.ww
        pairs += [(totals.ww, squares.ravel()), (totals.ww1, squares[:, 1])]
    for total, column in pairs:
        whole = math.fsum(column)
        _within(whole, total, whole, _UNDERFLOW * totals.ww)


def _check_residuals(found: _Found) -> None:
    """Compare the sums of (r - s)^2: a failure is off by its score, an event by the rest to 1."""
    totals, o = found.header.totals, found.outcome_weights
    low, high, mean = found.low[:, None], found.high[:, None], found.mean
    # At least that of the mean distance, at most what the mean shares between the ends of the cell.
    far = np.hstack([high, 1 - low])
    distance = np.hstack([mean[:, :1], 1 - mean[:, 1:]])
    near = np.hstack([low, 1 - high])
    chord = distance * (near + far) - near * far
    if totals.squared_error is not None:
        w = o * found.weight
        least, most = math.fsum((w * distance**2).ravel()), math.fsum((w * chord).ravel())
        _within(least, totals.squared_error, most, _ROUNDING * totals.weight)
        if totals.outcome_weights is None:
            known = math.fsum((w * distance).ravel()) - math.fsum(found.wv.ravel())
            _within(known, totals.squared_error, known, _ROUNDING * totals.weight)
            if not found.header.sampling:
                _within(totals.squared_error, totals.squares, totals.squared_error)
    if found.ww.shape[1] == 2:
        ww = o**2 * found.ww
        least, most = math.fsum((ww * near**2).ravel()), math.fsum((ww * far**2).ravel())
    elif found.header.sampling:
        ww = found.ww[:, 0]
        least = math.fsum(ww * near.min(axis=1) ** 2)
        most = math.fsum(ww * far.max(axis=1) ** 2)
    else:  # version 1: the cells know it, and files do not say
        return
    _within(least, totals.squares, most, _ROUNDING * totals.ww)


def _check_tails(found: _Found) -> None:
    """Compare third moments: between what equal weights would give, and one that has it all."""
    totals, o = found.header.totals, found.outcome_weights
    assert totals.third is not None  # noqa: S101
    if not found.header.sampling and totals.outcome_weights is None:
        _within(totals.variance, totals.third, totals.variance)
        return
    wwv, wv = found.wwv, found.wv.sum(axis=1)
    # Cauchy and Schwarz again, and the largest weight again.
    least = math.fsum(wwv * (wwv / np.maximum(wv, sys.float_info.min)))
    most = math.fsum(wwv * np.sqrt(found.ww.sum(axis=1)))
    if not found.header.sampling:
        least = most = math.fsum(wwv)
    # The factor of outcomes' weights lies between the two.
    scale = o[0] * o[1]
    slack = _UNDERFLOW * scale * o.max() * (1 + math.sqrt(totals.ww))
    _within(least * scale * o.min(), totals.third, most * scale * o.max(), slack)


def _check_steps(found: _Found) -> None:
    """Compare the largest possible steps with the weights there are."""
    totals, o = found.header.totals, found.outcome_weights
    steps = np.array(totals.steps)
    require((np.diff(steps) <= 0).all())
    if not found.header.filled:
        return
    if not found.header.sampling and totals.outcome_weights is None:
        require((steps == 1).all())
        return
    low, high = found.low, found.high
    n, weight = found.count.sum(axis=1), found.weight.sum(axis=1)
    # One has at least the mean weight of its cell; no score makes less of it than this.
    least = weight / n * np.maximum(o[1] * (1 - high), o[0] * low)
    most = np.sqrt(found.ww.sum(axis=1)) * np.maximum(o[1] * (1 - low), o[0] * high)
    if not found.header.sampling:
        most = np.maximum(o[1] * (1 - low), o[0] * high)
    _within(least.max(), steps[0], max(most.max(), 1.0 if steps[0] == 1 else 0.0))
    require(steps[-1] > 0)
    _within(0, (steps**2).sum(), max(o) ** 2 * found.ww.sum(), float(len(steps)))


def _check_log_loss(found: _Found) -> None:
    """Compare the logarithms, which are convex: at least those of the mean scores."""
    totals = found.header.totals
    log_loss = totals.log_loss
    assert log_loss is not None  # noqa: S101
    if found.header.forbidden:
        require(log_loss == math.inf)
        return
    w = found.outcome_weights * found.weight
    said = np.hstack([1 - found.mean[:, :1], found.mean[:, 1:]])
    worst = np.hstack([1 - found.high[:, None], found.low[:, None]])
    with np.errstate(divide="ignore", invalid="ignore"):
        # Rounding may make nothing of what is said of a few.
        least = np.where(w > 0, -np.log(np.minimum(said + _ROUNDING, 1)) * w, 0)
        most = np.where(w > 0, np.minimum(-np.log(worst), _MOST_LOSS) * w, 0)
    _within(math.fsum(least.ravel()), log_loss, math.fsum(most.ravel()), _ROUNDING * totals.weight)
