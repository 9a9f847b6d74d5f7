"""Rows on a device in the order of their scores, with plain operations of torch.

Whatever is added up is added as integers, so that the sums do not depend on the order in which a
device happens to add: a number in [0, 1] is two integers of 29 bits, which is exact to 2^-58.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.extras import require
from secant._blocks.table import Blocks, Moments, Totals, add_totals, collapse
from secant._input.observations import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray

__all__ = ["SortedRows", "sort_rows"]

# Rows added up together: their running sums take memory.
_PIECE = 1 << 24
_LIMB = 2.0**29


def sort_rows(scores: Any, labels: Any, weights: Any, *, counted: bool) -> SortedRows:
    """Put rows in the order of their scores; a score and its label make one integer."""
    torch = require("torch", "torch", "tensors need")
    whole = torch.int32 if scores.dtype == torch.float32 else torch.int64
    # Floats from 0.0 upward sort as their bits do, and those up to 1.0 leave the highest unused.
    keys = (scores + 0.0).view(whole)  # no -0.0
    keys = (keys << 1).add_(labels)
    if weights is None:
        return SortedRows(torch, keys.sort().values, None, counted=False)
    # Stable: what is equal stays as it came, so that sums are the same in every run.
    keys, order = keys.sort(stable=True)
    return SortedRows(torch, keys, weights[order].double(), counted=counted)


@dataclass(frozen=True)
class SortedRows:
    """Rows in the order of scores, then of labels; a key is the bits of a score, then the label."""

    torch: Any
    keys: Any
    weights: Any
    counted: bool

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.keys.shape[0])

    def place(self, low: FloatArray, high: FloatArray) -> tuple[IntArray, IntArray]:
        """Return where ranges of scores begin and end among the rows."""
        kind = np.float32 if self.keys.dtype == self.torch.int32 else np.float64
        whole = np.int32 if kind is np.float32 else np.int64
        first, last = ((end.astype(kind) + 0).view(whole) << 1 for end in (low, high))
        both = self.torch.from_numpy(np.concatenate([first, last + 2])).to(self.keys.device)
        start, stop = np.split(self.torch.searchsorted(self.keys, both).cpu().numpy(), 2)
        return start, stop

    def cuts(self, start: IntArray, stop: IntArray, pieces: int) -> tuple[IntArray, BoolArray]:
        """Cut ranges of rows into about so many pieces, never inside a tie.

        Every range of several scores is cut at least once. Returns where pieces begin, the end of
        the last, and which of them belong to the ranges.
        """
        rows = stop - start
        each = np.maximum(np.ceil(rows * (pieces / max(int(rows.sum()), 1))), 2).astype(np.int64)
        owner = np.repeat(np.arange(rows.shape[0]), each)
        number = np.arange(owner.shape[0]) - (np.cumsum(each) - each)[owner]
        inside = start[owner] + number * rows[owner] // each[owner]
        # A tie that holds a cut is cut off on both sides.
        at = self.keys[self.torch.from_numpy(np.unique(inside)).to(self.keys.device)] >> 1 << 1
        ends = self.torch.searchsorted(self.keys, self.torch.cat([at, at + 2])).cpu().numpy()
        edges = np.unique(np.concatenate([start, stop, ends]))
        range_of = np.searchsorted(start, edges[:-1], side="right") - 1
        wanted = (range_of >= 0) & (edges[:-1] < stop[np.maximum(range_of, 0)])
        return edges, wanted

    def blocks(self, start: IntArray, stop: IntArray, pieces: int, *, moments: bool) -> Blocks:
        """Return ranges of rows as about so many blocks."""
        edges, wanted = self.cuts(start, stop, pieces)
        return self._blocks(edges, wanted, moments=moments)

    def cells(self, n_cells: int) -> tuple[IntArray, IntArray]:
        """Return the cells of equal width that hold rows, and where each begins; then the end."""
        found = [(self._scores(piece)[0] * n_cells).long() for piece in self._pieces()]
        cell, rows = self.torch.cat(found).unique_consecutive(return_counts=True)
        return cell.cpu().numpy(), np.concatenate([[0], np.cumsum(rows.cpu().numpy())])

    def between(self, edges: IntArray, *, moments: bool) -> Blocks:
        """Return the rows between edges, which begin with the first row, as blocks."""
        return self._blocks(edges, np.ones(len(edges) - 1, bool), moments=moments)

    def ties(self, start: IntArray, stop: IntArray, *, moments: bool) -> Blocks:
        """Return ranges of rows as one block a score."""
        rows = stop - start
        ends = np.cumsum(rows)
        place = np.arange(int(ends[-1])) + np.repeat(start - ends + rows, rows)
        index = self.torch.from_numpy(place).to(self.keys.device)
        return collapse(*self.on_host(index), counted=self.counted, moments=moments)

    def on_host(self, index: Any) -> Chunk:
        """Return some rows in the host's memory."""
        scores, labels = self._scores(index)
        weights = None if self.weights is None else self.weights[index].cpu().numpy()
        return Chunk(scores.cpu().numpy(), labels.cpu().numpy().astype(np.int64), weights)

    def totals(self) -> Totals:
        """Return the sums over all rows."""
        return add_totals(self._totals(piece) for piece in self._pieces())

    def _totals(self, piece: slice) -> Totals:
        scores, labels = self._scores(piece)
        rows = scores.shape[0]
        variance = scores * (1 - scores)
        residual = (labels - scores).abs()
        if self.weights is None:
            return Totals(rows, rows, rows, _sum(variance), _sum(residual), 0.25)
        weights = self.weights[piece]
        if self.counted:
            copies = _sum(weights)
            wwv, wwe = _sum(weights * variance), _sum(weights * residual)
            return Totals(int(copies), copies, copies, wwv, wwe, 0.25)
        ww = weights * weights
        wwv = ww * variance
        largest = float(wwv.max())
        return Totals(rows, _sum(weights), _sum(ww), _sum(wwv), _sum(ww * residual), largest)

    def _scores(self, index: Any) -> tuple[Any, Any]:
        keys = self.keys[index]
        bits = self.torch.float32 if keys.dtype == self.torch.int32 else self.torch.float64
        return (keys >> 1).view(bits).double(), keys & 1

    def _pieces(self) -> Iterator[slice]:
        return (slice(at, min(at + _PIECE, self.rows)) for at in range(0, self.rows, _PIECE))

    def _blocks(self, edges: IntArray, wanted: BoolArray, *, moments: bool) -> Blocks:
        torch = self.torch
        ends = torch.from_numpy(edges).to(self.keys.device)
        low = self._scores(ends[:-1])[0].cpu().numpy()[wanted]
        high = self._scores(ends[1:] - 1)[0].cpu().numpy()[wanted]
        scale = 1.0
        if self.weights is not None:  # a power of two, which changes no digit
            scale = 2.0 ** math.frexp(float(self.weights.max()))[1]
        whole, parts = self._running(edges, scale, moments=moments)

        def reals(number: int) -> FloatArray:
            upper, lower = (np.diff(whole[2 + 2 * number + i])[wanted] for i in (0, 1))
            sums: FloatArray = (upper + lower / _LIMB) / _LIMB
            return sums

        n, n1 = (np.diff(column)[wanted] for column in whole[:2])
        n0 = n - n1
        down, up = reals(0) * scale, reals(1) * scale
        sampling = self.weights is not None and not self.counted
        w0, w1 = (reals(2) * scale, reals(3) * scale) if sampling else (n0, n1)
        sums = None
        if moments:
            wv = reals(parts - 1) * scale
            sums = Moments(wv, wv, n)
            if sampling:
                sums = Moments(wv, reals(4) * scale**2, reals(5) * scale**2)
        return Blocks(low, high, n0, n1, w0, w1, down, up, sums)

    def _running(
        self, edges: IntArray, scale: float, *, moments: bool
    ) -> tuple[list[IntArray], int]:
        """Return running sums of integers at edges: counts, then two for each real column."""
        found: list[list[IntArray]] = []
        before: list[int] = []
        for piece in self._pieces():
            counts, reals = self._columns(piece, scale, moments=moments)
            limbs = []
            for real in reals:
                upper = (real * _LIMB).floor()
                limbs += [upper, ((real * _LIMB - upper) * _LIMB).round()]
            columns = [column.long().cumsum(0) for column in (*counts, *limbs)]
            here = edges[(edges > piece.start) & (edges <= piece.stop)] - piece.start - 1
            index = self.torch.from_numpy(here).to(self.keys.device)
            before = before or [0] * len(columns)
            found.append([c[index].cpu().numpy() + b for c, b in zip(columns, before, strict=True)])
            before = [int(c[-1]) + b for c, b in zip(columns, before, strict=True)]
        first = [np.zeros(int(edges[0] == 0), np.int64)]
        joined = [np.concatenate(first + list(column)) for column in zip(*found, strict=True)]
        return joined, (len(joined) - 2) // 2

    def _columns(self, piece: slice, scale: float, *, moments: bool) -> tuple[list[Any], list[Any]]:
        """Return what is counted, and what is added up: numbers in [0, 1]."""
        scores, labels = self._scores(piece)
        happened = labels.double()
        weights = 1.0 if self.weights is None else self.weights[piece] / scale
        down, up = weights * (scores * (1 - happened)), weights * ((1 - scores) * happened)
        counts, reals = [self.torch.ones_like(labels), labels], [down, up]
        if self.weights is not None and self.counted:
            copies = self.weights[piece]
            counts = [copies, copies * happened]
        elif self.weights is not None:
            reals += [weights * (1 - happened), weights * happened]
        if moments:
            variance = scores * (1 - scores)
            if self.weights is not None and not self.counted:
                reals += [weights**2 * variance, weights**2]
            reals.append(weights * variance)
        return counts, reals


def _sum(column: Any) -> float:
    return float(column.sum())
