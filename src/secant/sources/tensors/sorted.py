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
from secant._blocks.cell_sums import row_terms
from secant._blocks.key_sums import KeySums, shifted_scores
from secant._blocks.table import (
    STEPS,
    Spread,
    Totals,
    add_totals,
    collapse,
    from_sums,
    largest_steps,
)
from secant._input.observations import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.table import Blocks

__all__ = ["PIECE", "SortedRows", "sort_rows"]

# Rows added up together: their running sums take memory.
PIECE = 1 << 24
_LIMB = 2.0**29


def sort_rows(
    scores: Any,
    labels: Any,
    weights: Any,
    *,
    counted: bool,
    outcome_weights: tuple[float, float] | None = None,
) -> SortedRows:
    """Put rows in the order of their scores; a score and its label make one integer."""
    torch = require("torch", "torch", "tensors need")
    whole = torch.int32 if scores.dtype == torch.float32 else torch.int64
    # Floats from 0.0 upward sort as their bits do, and those up to 1.0 leave the highest unused.
    keys = (scores + 0.0).view(whole)  # no -0.0
    keys = (keys << 1).add_(labels)
    if weights is None:
        return SortedRows(torch, keys.sort().values, None, False, outcome_weights)  # noqa: FBT003
    # Stable: what is equal stays as it came, so that sums are the same in every run.
    keys, order = keys.sort(stable=True)
    return SortedRows(torch, keys, weights[order].double(), counted, outcome_weights)


@dataclass(frozen=True)
class SortedRows:
    """Rows in the order of scores, then of labels; a key is the bits of a score, then the label."""

    torch: Any
    keys: Any
    weights: Any
    counted: bool
    outcome_weights: tuple[float, float] | None = None

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self.weights is not None and not self.counted

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.keys.shape[0])

    def place(self, low: FloatArray, high: FloatArray) -> tuple[IntArray, IntArray]:
        """Return where ranges of scores begin and end among the rows."""
        kind: Any = np.float32 if self.keys.dtype == self.torch.int32 else np.float64
        whole: Any = np.int32 if kind is np.float32 else np.int64
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
        at = self.keys[self.torch.from_numpy(inside).to(self.keys.device)] >> 1 << 1
        ends = self.torch.searchsorted(self.keys, self.torch.cat([at, at + 2])).cpu().numpy()
        edges = np.sort(np.concatenate([start, stop, ends]))
        edges = edges[np.append(True, edges[1:] != edges[:-1])]
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

    def ties(self, start: IntArray, stop: IntArray, *, moments: bool) -> Blocks:
        """Return ranges of rows as one block a score."""
        rows = stop - start
        ends = np.cumsum(rows)
        place = np.arange(int(ends[-1])) + np.repeat(start - ends + rows, rows)
        index = self.torch.from_numpy(place).to(self.keys.device)
        return collapse(
            *self.on_host(index)[:3],
            counted=self.counted,
            moments=moments,
            outcome_weights=self.outcome_weights,
        )

    def on_host(self, index: Any) -> Chunk:
        """Return some rows in the host's memory."""
        scores, labels = self._scores(index)
        weights = None if self.weights is None else self.weights[index].cpu().numpy()
        return Chunk(scores.cpu().numpy(), labels.cpu().numpy().astype(np.int64), weights)

    def totals(self, blocks: Blocks, *, log_loss: bool = False) -> Totals:
        """Return the sums over all rows, of which ``blocks`` are."""
        parts = [self._totals(piece, log_loss=log_loss) for piece in self._pieces()]
        totals = add_totals(parts)
        plain = not self.sampling and self.outcome_weights is None
        return totals.completed(blocks) if plain else totals

    def _totals(self, piece: slice, *, log_loss: bool) -> Totals:
        scores, labels = self._scores(piece)
        weights = None if self.weights is None else self.weights[piece]
        ones = self.torch.ones_like(scores)
        copies = weights if weights is not None and self.counted else ones
        a = weights if weights is not None and not self.counted else ones
        columns = row_terms(scores, labels, a, self.outcome_weights)
        if log_loss:
            chance = self.torch.where(labels == 1, scores, 1 - scores)
            columns["log_loss"] = -columns["weight"] * chance.log()
        sums: Any = {name: float((copies * column).sum()) for name, column in columns.items()}
        o0, o1 = self.outcome_weights or (1.0, 1.0)
        steps = a * self.torch.maximum(o1 * (1 - scores), o0 * scores)
        highest, where = steps.topk(min(STEPS, len(steps)))
        times = copies[where].clamp(max=STEPS).long().tolist()
        largest = [step for step, n in zip(highest.tolist(), times, strict=True) for _ in range(n)]
        return Totals(
            n=int(copies.sum()),
            **sums,
            steps=largest_steps(largest),
            outcome_weights=self.outcome_weights,
        )

    def _scores(self, index: Any) -> tuple[Any, Any]:
        keys = self.keys[index]
        bits = self.torch.float32 if keys.dtype == self.torch.int32 else self.torch.float64
        return (keys >> 1).view(bits).double(), keys & 1

    def _pieces(self) -> Iterator[slice]:
        return (slice(at, min(at + PIECE, self.rows)) for at in range(0, self.rows, PIECE))

    def _blocks(self, edges: IntArray, wanted: BoolArray, *, moments: bool) -> Blocks:
        torch = self.torch
        ends = torch.from_numpy(edges).to(self.keys.device)
        low = self._scores(ends[:-1])[0].cpu().numpy()[wanted]
        high = self._scores(ends[1:] - 1)[0].cpu().numpy()[wanted]
        sums = {name: column[wanted] for name, column in self.sums(edges, moments=moments).items()}

        def pair(name: str) -> Any:
            return sums[f"{name}0"], sums[f"{name}1"]

        spread = None
        if moments:
            squares = (sums["wwv"], pair("ww")) if self.sampling else ()
            spread = Spread(pair("wv"), *squares)
        return from_sums(
            low,
            high,
            pair("n"),
            (sums["down"], sums["up"]),
            weights=pair("w") if self.sampling else None,
            spread=spread,
            outcome_weights=self.outcome_weights,
        )

    def key_sums(self, blocks: Blocks, shift: float) -> KeySums:
        """Return the sums of blocks that hold all rows, and those of shifted scores."""
        start, stop = self.place(blocks.low, blocks.high)
        sums = self.sums(np.append(start, stop[-1]), moments=False, shift=shift)
        moved = (sums["wq"], sums["wwq" if self.sampling else "wqq"]) if shift else ()
        key, gain = np.zeros(len(blocks), np.int64), sums["up"] - sums["down"]
        return KeySums(key, np.arange(len(blocks)), sums["n0"] + sums["n1"], gain, *moved)

    def sums(self, edges: IntArray, *, moments: bool, shift: float = 0.0) -> dict[str, Any]:
        """Return the sums between edges by name, without the weights of outcomes."""
        scale = 1.0
        if self.weights is not None:  # a power of two, which changes no digit
            scale = 2.0 ** math.frexp(float(self.weights.max()))[1]
        whole, names = self._running(edges, scale, moments=moments, shift=shift)
        n, n1 = (np.diff(column) for column in whole[:2])
        found: dict[str, Any] = {"n0": n - n1, "n1": n1}
        for number, name in enumerate(names):
            upper, lower = (np.diff(whole[2 + 2 * number + i]) for i in (0, 1))
            power = 2 if name.startswith("ww") else 1
            found[name] = (upper + lower / _LIMB) / _LIMB * scale**power
        return found

    def _running(
        self, edges: IntArray, scale: float, **which: Any
    ) -> tuple[list[IntArray], list[str]]:
        """Return running sums of integers at edges, two for each real column after two counts."""
        found: list[list[IntArray]] = []
        before: list[int] = []
        for piece in self._pieces():
            counts, reals = self._columns(piece, scale, **which)
            limbs = []
            for real in reals.values():
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
        return joined, list(reals)

    def _columns(
        self, piece: slice, scale: float, *, moments: bool, shift: float
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return what is counted, and what is added up: numbers in [0, 1]."""
        scores, labels = self._scores(piece)
        happened = labels.double()
        failed = 1 - happened
        weights = self.torch.ones_like(scores)
        counts = [self.torch.ones_like(labels), labels]
        if self.weights is not None:
            weights = self.weights[piece] / scale
        if self.counted:
            copies = self.weights[piece]
            counts = [copies, copies * happened]
        reals = {"down": weights * scores * failed, "up": weights * (1 - scores) * happened}
        if self.sampling:
            reals |= {"w0": weights * failed, "w1": weights * happened}
        if moments:
            wv = weights * scores * (1 - scores)
            reals |= {"wv0": wv * failed, "wv1": wv * happened}
        if moments and self.sampling:
            square = weights * weights
            reals |= {"wwv": weights * wv, "ww0": square * failed, "ww1": square * happened}
        if shift:
            q, spread = shifted_scores(scores, shift)
            reals["wq"], spread = weights * q, weights * spread
            reals |= {"wwq": weights * spread} if self.sampling else {"wqq": spread}
        return counts, reals
