"""Blocks of many small sources at once: a loop over groups of ten rows takes longer than its sums.

The rows of all of them are put one after another and sorted together; the blocks of a source are
then a part of one table.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from secant._blocks.cell_sums import log_losses
from secant._blocks.table import Blocks, Moments, Totals, collapse
from secant._input.keys import group_order
from secant._input.observations import Chunk
from secant.sources.rows import RowSource, in_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import IntArray
    from secant._blocks.looking import Source

__all__ = ["blocks_of"]

# Rows of a source up to which what is done around the sums takes longer than they do.
_FEW = 512
# Rows that are put in order together.
_TOGETHER = 1 << 20


def blocks_of(sources: Sequence[Source]) -> list[tuple[Blocks, Totals]]:
    """Return what :meth:`Source.blocks` does of each source."""
    small = {number: source for number, source in enumerate(sources) if _is_small(source)}
    found: dict[int, tuple[Blocks, Totals]] = {}
    turn = np.cumsum([source.rows for source in small.values()], dtype=np.int64) // _TOGETHER
    for some in np.split(np.array([*small], np.int64), np.flatnonzero(np.diff(turn)) + 1):
        if some.size:
            found |= zip(some.tolist(), _together([small[i] for i in some.tolist()]), strict=True)
    return [found.get(number) or source.blocks() for number, source in enumerate(sources)]


def _is_small(source: Source) -> TypeGuard[RowSource]:
    """Tell whether a source has few rows, in memory and all of one weight."""
    return in_memory(source) and source.rows <= _FEW and source.unweighted


def _together(sources: Sequence[RowSource]) -> list[tuple[Blocks, Totals]]:
    sizes = np.array([source.rows for source in sources])
    rows, edges = _sorted([source.observations() for source in sources], sizes)
    blocks = collapse(*rows[:3], moments=True, ordered=True, edges=edges)
    # Every tie begins at a row, and every source at a tie.
    firsts = np.searchsorted(np.cumsum(blocks.n) - blocks.n, edges)
    totals = _totals(rows, edges, blocks, firsts, [source.log_loss for source in sources])
    return list(zip(_parts(blocks, [*firsts.tolist(), len(blocks)]), totals, strict=True))


def _sorted(seen: Sequence[Any], sizes: IntArray) -> tuple[Chunk, IntArray]:
    """Return all rows, source by source and in the order of scores, and where sources begin."""
    scores = np.concatenate([each.scores for each in seen]).astype(np.float64) + 0.0  # no -0.0
    labels = np.concatenate([each.labels for each in seen]).astype(np.int64)
    order = np.argsort(scores)
    order = order[group_order(np.repeat(np.arange(len(seen)), sizes)[order])]
    return Chunk(scores[order], labels[order]), np.cumsum(sizes) - sizes


def _totals(
    rows: Chunk, edges: IntArray, blocks: Blocks, firsts: IntArray, log_loss: list[bool]
) -> list[Totals]:
    """Return the sums over each source."""
    variance = np.add.reduceat(rows.scores * (1 - rows.scores), edges)
    residual = np.add.reduceat(blocks.up, firsts) + np.add.reduceat(blocks.down, firsts)
    lost: list[float | None] = [None] * len(log_loss)
    if any(log_loss):
        sums = np.add.reduceat(log_losses(rows.scores, rows.labels), edges).tolist()
        lost = [each if asked else None for each, asked in zip(sums, log_loss, strict=True)]
    columns = (
        np.add.reduceat(blocks.n, firsts).tolist(),
        np.add.reduceat(blocks.n1, firsts).tolist(),
        variance.tolist(),
        residual.tolist(),
        lost,
    )
    return list(map(Totals.plain, *columns))


def _parts(blocks: Blocks, bounds: list[int]) -> list[Blocks]:
    """Cut a table of ties without weights into those between each two bounds."""
    assert blocks.moments is not None  # noqa: S101
    score, n0, n1, down, up = blocks.low, blocks.n0, blocks.n1, blocks.down, blocks.up
    wv, spread = blocks.moments.wv, blocks.moments.variance
    n, gain, closed = blocks.n, blocks.gain, blocks.open

    def part(start: int, stop: int) -> Blocks:
        rows = slice(start, stop)
        at, zeros, ones, count = score[rows], n0[rows], n1[rows], n[rows]
        moments = Moments(wv[rows], spread[rows], zeros, ones)
        piece = Blocks(at, at, zeros, ones, zeros, ones, down[rows], up[rows], moments)
        # What each would compute when it is first asked, known for all of them.
        vars(piece).update(n=count, weight=count, gain=gain[rows], open=closed[rows])
        return piece

    return [part(*ends) for ends in pairwise(bounds)]
