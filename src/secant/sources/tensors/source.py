"""Tensors on a device as a source of blocks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from secant._blocks.key_sums import in_cells
from secant._blocks.looking import Source
from secant._blocks.sorting import PathRows
from secant._input.observations import pick
from secant.sources.tensors.reading import Unchanged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import Forbidden
    from secant._blocks.key_sums import Ask, KeySums
    from secant._blocks.looking import RowsInOrder, ScoreSums
    from secant._blocks.table import Blocks, Totals
    from secant.sources.tensors.reading import Columns, TensorRows
    from secant.sources.tensors.sorted import SortedRows

__all__ = ["BLOCKS", "FETCH_UP_TO", "FINER_BLOCKS", "TensorSource"]

# Blocks of a first look, more than the distinct scores beyond which P-values ask for all of them;
# and blocks of a second one.
BLOCKS = 1 << 13
FINER_BLOCKS = 1 << 11
# Rows of unresolved blocks that come to the host.
FETCH_UP_TO = 1 << 15


class TensorSource(Source):
    """Rows on a device, sorted there by plain operations of torch.

    Parameters
    ----------
    given
        The tensors.
    check
        Whether to look at their values now, and not when they are first asked for.
    """

    sampling, left_out = False, 0

    def __init__(self, given: Columns, *, check: bool = True) -> None:
        self._given, self._unchanged = given, Unchanged(given)
        self.sampling = given.weights is not None and not given.reading.counts
        self.left_out = given.left_out
        if check:
            self._rows  # noqa: B018  (raises what is wrong with them)

    @cached_property
    def _rows(self) -> TensorRows:
        return self._given.checked()

    @property
    def forbidden(self) -> Forbidden:
        """The rows whose score rules out what happened."""
        return self._rows.refused

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:
        """Return blocks that hold every observation, and the sums over all of them."""
        everything = np.array([0]), np.array([self._sorted.rows])
        moments = moments or self._rows.outcome_weights is not None
        blocks = self._sorted.blocks(*everything, BLOCKS, moments=moments)
        return blocks, self._sorted.totals(blocks)

    def refine(self, blocks: Blocks) -> Blocks:
        """Cut blocks finer: into ties where they hold few rows, else into narrower blocks."""
        start, stop = self._sorted.place(blocks.low, blocks.high)
        moments = blocks.moments is not None
        if int((stop - start).sum()) <= FETCH_UP_TO:
            return self._sorted.ties(start, stop, moments=moments)
        return self._sorted.blocks(start, stop, FINER_BLOCKS, moments=moments)

    def in_order(self) -> RowsInOrder:
        """Return what walks over all rows in the order of scores, then of weights."""
        rows = self._sorted.on_host(slice(None))
        keys = (rows.scores,) if rows.weights is None else (rows.weights, rows.scores)
        ordered = PathRows(*pick(rows, np.lexsort(keys))[:3])
        return lambda: [ordered]

    def sums(self, asks: Sequence[Ask]) -> list[KeySums]:
        """Answer questions about these rows, the only group there is; they have no clusters."""
        found = ((ask, self._sorted.key_sums(ask.blocks, ask.shift)) for ask in asks)
        return [in_cells(sums, ask.blocks.weight, ask.most) for ask, sums in found]

    def score_sums(self) -> ScoreSums:
        """Return the sums that proper scores need and blocks do not have."""
        return self._rows.score_sums()

    def recheck(self) -> None:
        """Raise SecantError if a tensor was written to since it was checked."""
        self._unchanged.recheck()

    @cached_property
    def _sorted(self) -> SortedRows:
        return self._rows.in_order()
