"""Rows put in the order of their scores, in runs on disk where memory is short."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._blocks import kernels
from secant._input.observations import Chunk
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import FloatArray, IntArray

__all__ = ["RUN", "PathRows", "Sorting", "on_disk", "packed", "unpacked"]

# Rows that are sorted together where memory is short: 32 MB of them, or 64 with weights.
RUN = 1 << 22


class _Run(NamedTuple):
    """Rows in order: packed scores and responses, and weights."""

    keys: IntArray
    weights: FloatArray | None

    def part(self, start: int, stop: int) -> _Run:
        weights = None if self.weights is None else self.weights[start:stop]
        return _Run(self.keys[start:stop], weights)


class PathRows(NamedTuple):
    """Consecutive rows in the order of the path, in which those of a tie are ordered by contents.

    ``ends`` are the last rows of ties, which no piece cuts; equal scores are ties without it.
    Frequency weights are rows repeated.
    """

    scores: FloatArray
    labels: np.ndarray[Any, Any]
    weights: FloatArray | None = None
    ends: IntArray | None = None


class Sorting:
    """Rows on their way into the order of their scores.

    Parameters
    ----------
    most
        At most so many rows will come.
    weighted
        Whether they come with weights.
    run
        Rows to keep in memory; more go to a temporary file, a sorted run at a time.
    quick
        Whether compiled code has looked at the rows they come from.
    """

    def __init__(self, most: int, *, weighted: bool, run: int, quick: bool = False) -> None:
        size = min(most, run)
        self._quick = quick
        self._keys = np.empty(size, np.int64)
        self._weights = np.empty(size) if weighted else None
        self._filled = 0
        self._runs: list[_Run] = []

    def add(self, rows: Chunk) -> None:
        """Take in some rows, whose memory may be used again afterwards."""
        keys = packed(rows.scores, rows.labels)
        taken = 0
        while taken < keys.shape[0]:
            if self._filled == self._keys.shape[0]:
                self._put_aside()
            count = min(keys.shape[0] - taken, self._keys.shape[0] - self._filled)
            here, there = slice(self._filled, self._filled + count), slice(taken, taken + count)
            self._keys[here] = keys[there]
            if self._weights is not None:
                assert rows.weights is not None  # noqa: S101
                self._weights[here] = rows.weights[there]
            self._filled += count
            taken += count

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Return all rows in the order of scores, about so many at a time; a tie is never cut.

        It may be asked for more than once.
        """
        last = self._sorted()
        runs = [*self._runs, last]
        parts = _merged(runs, size, quick=self._quick) if len(runs) > 1 else _slices(last, size)
        for keys, weights in parts:
            yield Chunk(*unpacked(keys), weights)

    def _sorted(self) -> _Run:
        """Return the rows in memory in order, without another copy of what has no weights."""
        weights = None if self._weights is None else self._weights[: self._filled]
        return _Run(*kernels.sort(self._keys[: self._filled], weights, quick=self._quick))

    def _put_aside(self) -> None:
        """Move the rows in memory to a file."""
        run = self._sorted()
        weights = None if run.weights is None else on_disk(run.weights)
        self._runs.append(_Run(on_disk(run.keys), weights))
        self._filled = 0


def packed(scores: FloatArray, labels: IntArray) -> IntArray:
    """Return numbers in the order of scores, then of responses; the lowest bit is the response.

    Doubles from 0.0 upward sort as their bits do, and those up to 1.0 leave the highest two unused:
    with the response as the lowest bit, one sort of integers carries both along.
    """
    keys = (scores + 0.0).view(np.int64)  # a copy, without -0.0
    keys <<= 1
    keys += labels
    return keys


def unpacked(keys: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the scores and responses that numbers stand for."""
    return (keys >> 1).view(np.float64), keys & 1


def on_disk(*parts: Any) -> Any:
    """Write numbers to a file that is gone as soon as nothing refers to it, and map it.

    Raises
    ------
    SecantError
        If there is no room for them.
    """
    try:
        with tempfile.TemporaryFile(prefix="secant-") as file:
            for part in parts:
                part.tofile(file)
            file.flush()
            return np.memmap(file, parts[0].dtype, "r")
    except OSError as problem:
        size, where = sum(part.nbytes for part in parts), tempfile.gettempdir()
        msg = f"{size:,} bytes could not be put aside in {where} while sorting: {problem}"
        raise SecantError(msg) from problem


def _slices(run: _Run, size: int) -> Iterator[_Run]:
    """Cut a run into parts of about a size; equal scores stay together."""
    start, count = 0, run.keys.shape[0]
    while start < count:
        stop = min(start + size, count)
        stop = int(np.searchsorted(run.keys, run.keys[stop - 1] | 1, side="right"))
        yield run.part(start, stop)
        start = stop


def _merged(runs: list[_Run], size: int, *, quick: bool) -> Iterator[_Run]:
    """Merge runs a part at a time: everything up to a score of which all runs have few rows."""
    each = max(1, size // len(runs))
    starts = [0] * len(runs)
    while True:
        left = [k for k, run in enumerate(runs) if starts[k] < run.keys.shape[0]]
        if not left:
            return
        ends = (min(starts[k] + each, runs[k].keys.shape[0]) - 1 for k in left)
        pivot = min(runs[k].keys[end] for k, end in zip(left, ends, strict=True)) | 1
        parts = []
        for k in left:
            stop = int(np.searchsorted(runs[k].keys, pivot, side="right"))
            parts.append(runs[k].part(starts[k], stop))
            starts[k] = stop
        keys = np.concatenate([part.keys for part in parts])
        weights = None
        if runs[0].weights is not None:
            weights = np.concatenate([part.weights for part in parts if part.weights is not None])
        yield _Run(*kernels.sort(keys, weights, quick=quick))
