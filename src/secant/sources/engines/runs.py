"""Which rows to ask an engine for: ranges of scores, and how finely to cut them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.table import Blocks

__all__ = ["bits_to_drop", "lie_within", "listed", "listed_bits", "runs"]

# Ranges are joined over gaps that hold so few rows, or as many as are wanted anyway.
SPARE_ROWS = 1 << 12
# Cells of lists are counted in doubles, exactly.
_BITS = 52
# Rounding must leave two bits of a double's 53, and cannot drop a single one.
_MOST_DROPPED = 51
_LEAST_DROPPED = 2


def runs(wanted: Blocks, known: Blocks) -> tuple[FloatArray, FloatArray, int]:
    """Return a few ranges of scores that hold the blocks wanted, and the rows in them.

    Parameters
    ----------
    wanted
        Some of the blocks.
    known
        All blocks of the group.

    Returns
    -------
    low, high, rows
        The ends of the ranges, both included. Between the blocks wanted they may take in others,
        at most doubling the rows or adding a few thousand.
    """
    place = np.searchsorted(known.low, wanted.low)
    before = np.concatenate([[0], np.cumsum(known.n)])
    gaps = before[place[1:]] - before[place[:-1] + 1]
    rows = int(wanted.n.sum())
    smallest_first = np.argsort(gaps, kind="stable")
    spare = np.cumsum(gaps[smallest_first])
    joined = smallest_first[spare <= max(rows, SPARE_ROWS)]
    apart = np.ones(len(gaps), bool)
    apart[joined] = False
    low = wanted.low[np.concatenate([[True], apart])]
    high = wanted.high[np.concatenate([apart, [True]])]
    return low, high, rows + int(gaps[joined].sum())


def listed_bits(wanted: list[Blocks]) -> int:
    """Return the finest cells, 2^-bits wide, of which these blocks meet about one each."""
    low = np.concatenate([blocks.low for blocks in wanted])
    high = np.concatenate([blocks.high for blocks in wanted])
    bits = _BITS
    while (_cell(high, bits) - _cell(low, bits) + 1).sum() > 2 * len(low):
        bits -= 1
    return bits


def listed(wanted: Blocks, known: Blocks, bits: int) -> tuple[FloatArray, int]:
    """Return the numbers of the cells, 2^-bits wide, that blocks meet, and the rows in them.

    Blocks that those cells meet in part are counted whole.
    """
    first, last = _cell(wanted.low, bits), _cell(wanted.high, bits)
    sizes = (last - first + 1).astype(np.int64)
    begins = np.cumsum(sizes) - sizes
    cells = np.unique(np.repeat(first - begins, sizes) + np.arange(sizes.sum()))
    met = np.searchsorted(cells, _cell(known.low, bits)) < np.searchsorted(
        cells, _cell(known.high, bits), side="right"
    )
    return cells, int(known.n[met].sum())


def _cell(scores: FloatArray, bits: int) -> FloatArray:
    return np.floor(scores * 2.0**bits)


def bits_to_drop(blocks: Blocks, cells: int) -> int:
    """Return how far to round scores so that blocks fall into about so many cells, at most.

    Doubles are counted like integers. The block that holds most of them is cut at least in two.
    """
    span = (blocks.high + 0.0).view(np.int64) - (blocks.low + 0.0).view(np.int64)
    most = min(int(span.max()).bit_length() - 2, _MOST_DROPPED)
    dropped = 0
    while dropped < most and ((span >> dropped) + 1).sum() > cells:
        dropped += 1
    return dropped if dropped >= _LEAST_DROPPED else 0


def lie_within(finer: Blocks, wider: Blocks) -> BoolArray:
    """Tell which blocks lie within one of some wider ones."""
    owner: IntArray = np.searchsorted(wider.low, finer.low, side="right") - 1
    inside: BoolArray = (owner >= 0) & (finer.high <= wider.high[owner])
    return inside
