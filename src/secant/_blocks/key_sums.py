"""Sums by key and cell: of rows that belong together, of scores that are shifted, of both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._input.keys import group_order
from secant.errors import SecantError

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray, NumberArray
    from secant._blocks.table import Blocks
    from secant._input.observations import Chunk

__all__ = [
    "COARSE",
    "ENDS",
    "Ask",
    "KeyAdder",
    "KeySums",
    "coarsened",
    "equal_cells",
    "in_cells",
    "pooled",
    "shifted_scores",
]

# Ends at which the paths of clusters are read, at most: all distinct scores, or those of as many
# cells of equal weight. Fewer where clusters meet too many cells.
ENDS = 4096
COARSE = 256
# Entries that wait to be pooled, at least.
_WAITING = 1 << 20


class Ask(NamedTuple):
    """One question about the rows of a group: what tells them apart, where they are cut.

    Many are answered in one look at the data. What a source finds by itself, blocks that hold all
    rows and finer ones, is not asked like this.

    Attributes
    ----------
    blocks
        All rows of the group, as finely as they are known: cells end where blocks end.
    group
        The number of the group.
    clusters
        Whether rows of one cluster are told from those of others.
    most
        How many pairs of a cluster and a cell there may be before cells are made fewer: at first
        there are at most ``ENDS``. None keeps every block a cell.
    shift
        How far logits of scores are shifted for sums of what they become; not if 0.
    """

    blocks: Blocks
    group: int = 0
    clusters: bool = False
    most: int | None = None
    shift: float = 0.0


class KeySums(NamedTuple):
    """Sums of the rows of each key in each cell, an entry for every pair that holds any.

    Keys and cells are numbers, cells in the order of scores. Outcomes have no weights here.

    Attributes
    ----------
    key, cell
        Which cluster, 0 where these are not told apart; and which cell.
    n, gain
        How many observations, and the sum of w(r - s).
    shifted, spread
        Sums of w q and of the variances w^2 q(1 - q) of q = expit(logit s + shift), w q(1 - q)
        where weights count copies; None where nothing is shifted.
    """

    key: IntArray
    cell: IntArray
    n: IntArray
    gain: FloatArray
    shifted: FloatArray | None = None
    spread: FloatArray | None = None


def equal_cells(weight: NumberArray, most: int) -> IntArray:
    """Return the cell of each of some consecutive blocks: as many cells of about equal weight.

    Where blocks are no more than that, each is a cell of its own.
    """
    if weight.size <= most:
        return np.arange(weight.size)
    reached = np.cumsum(weight, dtype=np.float64)
    # The middle of a block decides; a little more, lest rounding decide between two cells.
    place = np.floor((reached - weight / 2) / reached[-1] * most + 1e-9)
    place = np.minimum(place, most - 1)  # a last block of next to no weight
    return np.concatenate([[0], np.cumsum(np.diff(place) > 0)])


def pooled(sums: KeySums) -> KeySums:
    """Return sums with one entry for every pair of key and cell, in their order."""
    cells = int(sums.cell.max(initial=0)) + 1
    pair = sums.key * cells + sums.cell
    order = group_order(pair)
    pair = pair[order]
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    added: list[Any] = [
        None if column is None else np.add.reduceat(column[order], starts) for column in sums[2:]
    ]
    return KeySums(*np.divmod(pair[starts], cells), *added)


def coarsened(sums: KeySums, weight: NumberArray, most: int) -> KeySums:
    """Return sums in fewer cells if they have more entries than ``most``.

    Parameters
    ----------
    sums
        One entry for every pair.
    weight
        The weight of each cell.
    most
        How many entries may stay as they are.
    """
    if sums.cell.size <= most or weight.size <= COARSE:
        return sums
    return pooled(sums._replace(cell=equal_cells(weight, COARSE)[sums.cell]))


def in_cells(sums: KeySums, weight: NumberArray, most: int | None) -> KeySums:
    """Return sums of blocks in the cells of a question that says how many ``most`` there may be.

    Parameters
    ----------
    sums
        One entry for every pair of a key and a block.
    weight
        The weight of each block.
    most
        As in :class:`Ask`; None leaves every block a cell.
    """
    if most is None:
        return sums
    cells = equal_cells(weight, ENDS)
    found = pooled(sums._replace(cell=cells[sums.cell]))
    return coarsened(found, np.bincount(cells, weight), most)


def shifted_scores(scores: Any, shift: float) -> tuple[Any, Any]:
    """Return q = expit(logit s + shift), and q(1 - q); scores of 0 and 1 stay what they are.

    Scores may be an array or a tensor.
    """
    happens, fails = min(1.0, math.exp(min(shift, 0.0))), math.exp(-max(shift, 0.0))
    odds, against = scores * happens, (1 - scores) * fails
    q = odds / (odds + against)
    return q, q * (against / (odds + against))


class _Finder:
    """Tells in which cell scores lie, without comparing most of them.

    Parameters
    ----------
    ends
        The largest score of each cell, in ascending order.
    rows
        How many scores will be asked for, about: few are not worth a table.
    """

    def __init__(self, ends: FloatArray, rows: int) -> None:
        self._ends = ends
        buckets = 1 << min(max((4 * ends.size).bit_length(), 6), 20)
        self._first = self._is_sure = None
        if rows >= buckets:
            cell = np.searchsorted(ends, np.arange(buckets + 1) / buckets)
            self._first = cell
            self._is_sure = np.append(cell[1:] == cell[:-1], True)  # of a score of 1 too

    def __call__(self, scores: FloatArray) -> IntArray:
        if self._first is None or self._is_sure is None:
            return np.searchsorted(self._ends, scores)
        bucket = (scores * (self._first.size - 1)).astype(np.int64)  # exact, by a power of two
        if bucket.max() >= self._first.size:  # no score
            return np.searchsorted(self._ends, scores)
        cell = self._first[bucket]
        unsure = np.flatnonzero(~self._is_sure[bucket])
        cell[unsure] = np.searchsorted(self._ends, scores[unsure])
        return cell


class KeyAdder:
    """Adds up rows as one question asks.

    Parameters
    ----------
    ask
        The question; it makes no difference in which order, or in what pieces, rows are added.
    counted
        Whether weights count copies of rows.
    """

    def __init__(self, ask: Ask, *, counted: bool) -> None:
        weight, high = ask.blocks.weight, ask.blocks.high
        cell = equal_cells(weight, weight.size if ask.most is None else ENDS)
        last = np.append(np.flatnonzero(np.diff(cell)), cell.size - 1)
        self._ends = high[last]
        self._weight = np.bincount(cell, weight)
        self._most, self._shift, self._counted = ask.most, ask.shift, counted
        self._clusters = ask.clusters
        self._cell = np.arange(self._ends.size)  # of each end, once cells are fewer
        self._find = _Finder(self._ends, int(ask.blocks.n.sum()))
        # Where rows have no keys cells are few enough to be added up in their places.
        self._whole: list[Any] | None = None
        self._parts: list[KeySums] = []
        self._entries = self._pooled = 0

    def add(self, chunk: Chunk) -> None:
        """Add rows, which know their clusters if the question is about these.

        Where the order is not that of scores, they know their places along it.

        Raises
        ------
        SecantError
            If a score is larger than all that were seen before.
        """
        scores, labels, weights, _, keys, places = chunk
        if not scores.size:
            return
        cell = self._find(scores) if places is None else np.searchsorted(self._ends, places)
        if cell.max() >= self._ends.size:
            msg = "the data were changed while they were assessed: assess them again"
            raise SecantError(msg)
        columns: list[Any] = [labels - scores]
        if self._shift:
            columns += shifted_scores(scores.astype(np.float64, copy=False), self._shift)
        copies = np.ones(scores.size, np.int64)
        if weights is not None:
            squares = weights if self._counted else weights * weights
            columns = [column * weights for column in columns[:2]] + [
                column * squares for column in columns[2:]
            ]
            copies = weights.astype(np.int64) if self._counted else copies
        if not self._clusters or keys is None:
            size = self._ends.size
            repeated = copies if self._counted and weights is not None else None
            added = [np.bincount(cell, column, size) for column in (repeated, *columns)]
            known = self._whole or [0.0] * len(added)
            self._whole = [old + new for old, new in zip(known, added, strict=True)]
            return
        self._parts.append(pooled(KeySums(keys, self._cell[cell], copies, *columns)))
        self._entries += self._parts[-1].cell.size
        if self._entries > 2 * self._pooled + _WAITING:
            self._pool()

    def sums(self) -> KeySums:
        """Return what has been added up."""
        if self._whole is not None:
            there = np.flatnonzero(self._whole[0])
            copies, *columns = (column[there] for column in self._whole)
            self._parts = [KeySums(0 * there, there, copies.astype(np.int64), *columns)]
            self._whole = None
        if not self._parts:
            nothing = np.empty(0, np.int64)
            more = (np.empty(0), np.empty(0)) if self._shift else ()
            return KeySums(nothing, nothing, nothing, np.empty(0), *more)
        self._pool()
        return self._parts[0]

    def _pool(self) -> None:
        joined: list[Any] = [
            None if column[0] is None else np.concatenate(column)
            for column in zip(*self._parts, strict=True)
        ]
        sums = pooled(KeySums(*joined))
        # Pairs only grow in number, so that too many now are too many in the end.
        too_many = self._most is not None and sums.cell.size > self._most
        if self._most is not None and too_many and self._weight.size > COARSE:
            fewer = equal_cells(self._weight, COARSE)
            sums = coarsened(sums, self._weight, self._most)
            self._cell, self._weight = fewer[self._cell], np.bincount(fewer, self._weight)
        self._parts = [sums]
        self._entries = self._pooled = sums.cell.size
