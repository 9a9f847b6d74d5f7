r"""The file format of cells: text, JSON and numbers under a checksum, nothing to execute.

::

    secant cells\n
    {"version": 1, "n_cells": ...}\n
    compressed columns: numbers of the non-empty cells, then their sums, little-endian
    SHA-256 of everything before

A file may come from anywhere, so everything in it is checked before it is believed.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks.cell_sums import CellSums
from secant._blocks.grids import dyadic_grid
from secant._blocks.table import Totals, add_totals
from secant._input.options import is_whole
from secant.errors import InputError

if TYPE_CHECKING:
    import os

__all__ = ["pack", "unpack"]

_MAGIC = b"secant cells\n"
_VERSION = 1
_DIGEST = hashlib.sha256().digest_size


def pack(sums: CellSums, forbidden: int) -> bytes:
    """Return the content of a file that holds these sums."""
    n_cells = (sums.count.shape[0] >> 1) - 1
    filled = np.flatnonzero(sums.count[::2] + sums.count[1::2])
    numbers = [filled.astype("<i8").tobytes()]
    for column in sums.columns().values():
        rows = column.reshape(n_cells + 1, -1)[filled]
        numbers.append(rows.astype(rows.dtype.newbyteorder("<")).tobytes())
    payload = zlib.compress(b"".join(numbers))
    header = {
        "version": _VERSION,
        "n_cells": n_cells,
        "filled": filled.shape[0],
        "sampling": sums.sampling,
        "forbidden": forbidden,
        "totals": asdict(add_totals(sums.parts)),
    }
    content = _MAGIC + json.dumps(header).encode() + b"\n" + payload
    return content + hashlib.sha256(content).digest()


def unpack(path: str | os.PathLike[str]) -> tuple[CellSums, int]:
    """Read a file and return the sums and the number of forbidden responses.

    Raises
    ------
    InputError
        If the file is not one of these, has another version, or is damaged.
    """
    content = Path(path).read_bytes()
    if not content.startswith(_MAGIC):
        msg = f"{path} is not a file of secant.Cells"
        raise InputError(msg)
    content, digest = content[:-_DIGEST], content[-_DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        raise _damaged(path, "it was cut short or changed")
    line, _, payload = content[len(_MAGIC) :].partition(b"\n")
    try:
        header = json.loads(line)
        version = header["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, "its header cannot be read") from error
    if version != _VERSION or not isinstance(version, int):
        msg = f"{path} has version {version!r} of the format; this secant reads {_VERSION}"
        raise InputError(msg)
    if not _header_is_sound(header):
        raise _damaged(path, "its header makes no sense")
    sums = CellSums(dyadic_grid(header["n_cells"]), sampling=header["sampling"], moments=True)
    sums.parts = [Totals(**header["totals"])]
    if not _fill(sums, payload, header):
        raise _damaged(path, "its numbers make no sense")
    return sums, header["forbidden"]


def _header_is_sound(header: dict[str, Any]) -> bool:
    try:
        cells = dyadic_grid(header["n_cells"]).low.shape[0]
        totals = header["totals"]
        names = [field.name for field in fields(Totals)]
        return bool(
            is_whole(header["filled"], 0, cells)
            and isinstance(header["sampling"], bool)
            and is_whole(header["forbidden"], 0, totals["n"])
            and sorted(totals) == sorted(names)
            and is_whole(totals["n"], 0, 2**62)
            and all(isinstance(totals[name], (int, float)) for name in names)
            and all(0 <= totals[name] < math.inf for name in names)
            and (totals["weight"] > 0 or not totals["n"])
        )
    except (KeyError, TypeError, InputError):
        return False


def _fill(sums: CellSums, payload: bytes, header: dict[str, Any]) -> bool:
    """Put the numbers of a file into empty sums; False if they cannot be what was saved."""
    n_cells, filled = header["n_cells"], header["filled"]
    columns = [column.reshape(n_cells + 1, -1) for column in sums.columns().values()]
    expected = 8 * filled * (1 + sum(column.shape[1] for column in columns))
    inflate = zlib.decompressobj()
    try:
        numbers = inflate.decompress(payload, expected + 1)  # and no more, whatever it holds
    except zlib.error:
        return False
    if len(numbers) != expected or (expected and not inflate.eof):
        return False
    cells = np.frombuffer(numbers, "<i8", filled)
    if filled and (cells[0] < 0 or cells[-1] > n_cells or (np.diff(cells) <= 0).any()):
        return False
    start = cells.nbytes
    for column in columns:
        size = filled * column.shape[1]
        values = np.frombuffer(numbers, column.dtype.newbyteorder("<"), size, start)
        if not (np.isfinite(values) & (values >= 0)).all():
            return False
        column[cells] = values.reshape(filled, column.shape[1])
        start += values.nbytes
    counts = sums.count[::2] + sums.count[1::2]
    complete = np.count_nonzero(counts) == filled and counts.sum() == header["totals"]["n"]
    return bool(complete)


def _damaged(path: str | os.PathLike[str], how: str) -> InputError:
    return InputError(f"{path} is a damaged file of secant.Cells: {how}")
