"""Which rows to ask an engine for: ranges of scores, and how finely to cut them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant.sources.engines.expressions import BITS, END, END_BITS, FAR_END, leading_bits

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.table import Blocks

__all__ = ["finer_bits", "lie_within", "listed", "listed_bits", "runs"]

# Cells of lists are counted in doubles, exactly.
_BITS = 52


def runs(wanted: Blocks, known: Blocks, most: float) -> tuple[FloatArray, FloatArray, int]:
    """Return a few ranges of scores that hold the blocks wanted, and the rows in them.

    Parameters
    ----------
    wanted
        Some of the blocks.
    known
        All blocks of the group.
    most
        How many other rows the ranges may take in between the blocks wanted.

    Returns
    -------
    low, high, rows
        The ends of the ranges, both included.
    """
    place = np.searchsorted(known.low, wanted.low)
    before = np.concatenate([[0], np.cumsum(known.n)])
    gaps = before[place[1:]] - before[place[:-1] + 1]
    rows = int(wanted.n.sum())
    smallest_first = np.argsort(gaps, kind="stable")
    spare = np.cumsum(gaps[smallest_first])
    joined = smallest_first[spare <= most]
    apart = np.ones(len(gaps), bool)
    apart[joined] = False
    low = wanted.low[np.concatenate([[True], apart])]
    high = wanted.high[np.concatenate([apart, [True]])]
    return low, high, rows + int(gaps[joined].sum())


def listed_bits(wanted: list[Blocks], most: int) -> int:
    """Return the finest cells, 2^-bits wide, of which blocks meet so many, or two each."""
    low = np.concatenate([blocks.low for blocks in wanted])
    high = np.concatenate([blocks.high for blocks in wanted])
    bits = _BITS
    while (_cell(high, bits) - _cell(low, bits) + 1).sum() > max(2 * len(low), most):
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


def finer_bits(wanted: list[Blocks], cells: int) -> int | None:
    """Return the bits of the grid that cuts blocks into so many cells, or the widest in two.

    None if it takes every distinct score to do that.
    """
    low = np.concatenate([blocks.low for blocks in wanted]) + 0.0
    high = np.concatenate([blocks.high for blocks in wanted]) + 0.0
    best = None
    for bits in range(1, _BITS):
        pieces = _place(high, bits) - _place(low, bits) + 1
        if best is not None and pieces.sum() > cells:
            return best
        # Where the number of cells is an estimate, three are at least two.
        if pieces.max() > 2:
            best = bits
    return best


def _place(scores: FloatArray, bits: int) -> IntArray:
    """Return about which cell of a grid scores lie in, counted from 0."""
    upper = scores > 0.5
    end = np.where(upper, 1 - scores, scores)
    if bits >= END_BITS + 2:
        kept = leading_bits(bits)
        edges = np.array([0.0, FAR_END, END]).view(np.int64)
        far = np.clip(end.view(np.int64), edges[0], edges[1]) >> (BITS - kept[1])
        near = np.clip(end.view(np.int64), edges[1], edges[2]) - edges[1] >> (BITS - kept[0])
        place = far + near + (np.maximum(end - END, 0) * 2.0**bits).astype(np.int64)
    else:
        place = (end * 2.0**bits).astype(np.int64)
    # Above one half they are counted from the other end.
    middle = int(_place(np.array([0.5]), bits)[0]) if upper.any() else 0
    counted: IntArray = np.where(upper, 2 * middle - place, place)
    return counted


def lie_within(finer: Blocks, wider: Blocks) -> BoolArray:
    """Tell which blocks lie within one of some wider ones."""
    owner: IntArray = np.searchsorted(wider.low, finer.low, side="right") - 1
    inside: BoolArray = (owner >= 0) & (finer.high <= wider.high[owner])
    return inside
