"""Blocks along another order than that of scores: sums over ranges of keys.

A tie along such an order may hold several scores. So blocks carry sums of scores by outcome, and
never a number of rows times a score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks.cell_sums import CellSums, add_exactly
from secant._blocks.grids import PointGrid
from secant._blocks.sorting import packed, unpacked
from secant._blocks.table import collapse, merge

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray, NumberArray
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Chunk

__all__ = ["KeyCells", "Pairs", "edges_of", "pairs_of"]

# Keys that several rows share, each of which has its rows sorted by itself.
_FEW_KEYS = 4096
# Cells of scores, for what needs the scores whatever their order.
_SCORE_CELLS = 4096


@dataclass(frozen=True)
class Pairs:
    """Observations by key and score, in their order.

    ``ties`` has a block for every pair that there is, which lies at its score, and ``key`` the key
    of each.
    """

    key: NumberArray
    ties: Blocks

    @cached_property
    def ends(self) -> IntArray:
        """The last pair of each key."""
        return np.append(np.flatnonzero(self.key[1:] != self.key[:-1]), len(self.key) - 1)

    def blocks(self) -> Blocks:
        """Return one block for every distinct key."""
        joined = merge(self.ties, np.append(0, self.ends[:-1] + 1))
        key: Any = self.key[self.ends]
        return replace(joined, low=key, high=key, least=joined.low, most=joined.high)


def pairs_of(
    keys: NumberArray,
    rows: Chunk,
    *,
    counted: bool,
    outcome_weights: tuple[float, float] | None = None,
) -> Pairs:
    """Put rows in the order of their keys and scores, and add up those that share both.

    Parameters
    ----------
    keys, rows
        The key of each row, and the rows; all of positive weight.
    counted
        Whether weights count copies of rows.
    outcome_weights
        What the outcomes 0 and 1 weigh, on top of the weights of rows.
    """
    scores, labels, weights = rows[:3]
    if weights is None:
        key, score, happened = _in_order(keys, rows)
    else:
        order = np.lexsort((weights, labels, scores, keys))
        key, score, happened = keys[order], scores[order] + 0.0, labels[order].astype(np.int64)
        weights = weights[order]
    edges = np.flatnonzero(key[1:] != key[:-1]) + 1
    ties = collapse(
        *(score, happened, weights),
        counted=counted,
        moments=True,
        ordered=True,
        edges=edges,
        outcome_weights=outcome_weights,
    )
    new = score[1:] != score[:-1]
    new[edges - 1] = True
    return Pairs(key[np.append(True, new)], ties)


def _in_order(keys: NumberArray, rows: Chunk) -> tuple[Any, FloatArray, IntArray]:
    """Return keys, scores and responses in their order."""
    order = np.argsort(keys)
    key, bits = keys[order], packed(rows.scores, rows.labels)[order]
    ends = np.append(np.flatnonzero(key[1:] != key[:-1]), len(key) - 1)
    size = np.diff(ends, prepend=-1)
    shared = np.flatnonzero(size > 1)
    if len(shared) <= _FEW_KEYS:
        for start, stop in zip((ends - size + 1)[shared], ends[shared] + 1, strict=True):
            bits[start:stop].sort()
    else:
        # Who shares a key is put in the order of scores, and then back to its key, sixteen bits
        # of its number at a time: those are sorted without comparing.
        place = np.repeat(np.arange(len(ends)), size)
        among = np.flatnonzero((size > 1)[place])
        inside = np.argsort(bits[among])
        for shift in range(0, len(ends).bit_length(), 16):
            digit = (place[among[inside]] >> shift).astype(np.uint16)
            inside = inside[np.argsort(digit, kind="stable")]
        bits[among] = bits[among[inside]]
    return key, *unpacked(bits)


def edges_of(sample: NumberArray, n_cells: int) -> NumberArray:
    """Return where cells begin that share a sample fairly; a key that is common has its own.

    Parameters
    ----------
    sample
        Some keys, in ascending order.
    n_cells
        How many cells to aim at.
    """
    each = max(1, -(-sample.size // n_cells))
    edges = sample[::each]
    common = edges[1:][edges[1:] == edges[:-1]]
    if common.dtype.kind == "f":
        after = np.nextafter(common, np.inf)
    else:
        after = common[common < np.iinfo(common.dtype).max] + 1
    return np.unique(np.concatenate([edges, after]))


class KeyCells:
    """Sums over cells of keys in the making: feed it every row, then ask for the blocks.

    Parameters
    ----------
    edges
        Where cells begin, in ascending order; what comes before the first belongs to it.
    sampling, counted
        Whether rows carry sampling weights, and whether weights count copies of rows.
    outcome_weights
        What the outcomes 0 and 1 weigh, on top of the weights of rows.
    """

    def __init__(
        self,
        edges: NumberArray,
        *,
        sampling: bool,
        counted: bool,
        outcome_weights: tuple[float, float] | None,
    ) -> None:
        self._edges, self._counted = edges, counted
        self._sums = CellSums(
            PointGrid(edges),
            sampling=sampling,
            moments=True,
            precise=True,
            outcome_weights=outcome_weights,
        )
        size = edges.shape[0]
        kind: Any = edges.dtype
        whole = kind.kind in "iu"
        most, least = (np.iinfo(kind).max, np.iinfo(kind).min) if whole else (np.inf, -np.inf)
        self._low, self._high = np.full(size, most, kind), np.full(size, least, kind)
        self._least, self._most = np.full(size, 2.0), np.full(size, -1.0)
        self._by_score = np.zeros((2, _SCORE_CELLS + 1))

    def add(self, chunk: Chunk, keys: NumberArray) -> None:
        """Take in some rows, at most 2^18, whose memory may be used again afterwards."""
        scores, labels, weights = chunk[:3]
        if not scores.shape[0]:
            return
        cell = np.maximum(np.searchsorted(self._edges, keys, side="right") - 1, 0)
        np.minimum.at(self._low, cell, keys)
        np.maximum.at(self._high, cell, keys)
        np.minimum.at(self._least, cell, scores)
        np.maximum.at(self._most, cell, scores)
        if not self._sums.sampling:
            place = (scores * _SCORE_CELLS).astype(np.int64)
            many = weights if self._counted and weights is not None else np.ones_like(scores)
            for sums, values in zip(self._by_score, (many, many * scores), strict=True):
                add_exactly(sums, place, values)
        self._sums.add_at(cell, np.abs(labels.astype(np.float64) - scores), chunk)

    @property
    def by_score(self) -> tuple[FloatArray, FloatArray]:
        """How many observations cells of scores hold, and their mean scores."""
        n, scored = self._by_score
        held = n > 0
        return n[held], np.clip(scored[held] / n[held], 0.0, 1.0)

    def blocks(self) -> Blocks:
        """Return the cells that hold anything."""
        held = self._sums.filled
        ends = self._low[held], self._high[held]
        return self._sums.blocks_at(held, *ends, least=self._least[held], most=self._most[held])

    def totals(self, blocks: Blocks) -> Totals:
        """Return the sums over all rows."""
        return self._sums.totals(blocks)
