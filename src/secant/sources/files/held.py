"""Files of a few million rows: read once, and held in memory until they are assessed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from secant._blocks.cell_sums import summed_log_loss
from secant._blocks.sorting import RUN
from secant._input.observations import Chunk
from secant.sources import rows as row_source
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    from collections.abc import Iterable

    from secant._base.types import Forbidden
    from secant._blocks.table import Blocks, Totals
    from secant.sources.files.groups import FileRows

__all__ = ["HOLD", "HeldSource", "collected"]

# Rows that are held: as many as are sorted together in memory, 38 MB of them or 72 with weights.
HOLD = RUN


class HeldSource(RowSource):
    """Rows of files, in memory from the first look at them until they are released.

    To read a row costs as much as to look at it a few times. What is asked after the assessment is
    answered from the files, since a result that keeps millions of rows could not be kept itself.

    Parameters
    ----------
    rows
        The rows.
    """

    def __init__(self, rows: FileRows) -> None:
        super().__init__(rows)
        self._files = rows
        self._is_new = True

    @property
    def forbidden(self) -> Forbidden:
        """The rows whose score rules out what happened, numbered through all files."""
        return self._files.refused

    @property
    def at_hand(self) -> bool:
        """Whether looking again takes no reading of files: not once rows are released."""
        return False

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:
        """Return blocks that hold every observation, and the sums over all of them."""
        if self._is_new and row_source.SORT_UP_TO < self._files.rows <= HOLD:
            self._observations = self._files.observations(HOLD) or self._files
        self._is_new = False
        blocks, totals = super().blocks(moments=moments)
        if totals.log_loss is None:  # what looks at rows in memory leaves to later
            totals = replace(totals, log_loss=self._lost())
        return blocks, totals

    def release(self) -> None:
        """Forget the rows: they are read again if anything is asked later."""
        self._observations = self._files
        self._files.forget()

    def _lost(self) -> float:
        """Return the log loss of all rows, which have no weights."""
        chunks = self._observations.chunks(row_source.CHUNK)
        return math.fsum(summed_log_loss(chunk.scores, chunk.labels) for chunk in chunks)


def collected(chunks: Iterable[Chunk], room: int) -> Chunk | None:
    """Return all rows in one piece; None if there are more than there is ``room`` for."""
    # Memory that is not written to is not taken.
    scores, labels = np.empty(room), np.empty(room, np.int8)
    weights = None
    count = 0
    for chunk in chunks:
        rows = slice(count, count + chunk.scores.shape[0])
        if rows.stop > room:
            return None
        scores[rows], labels[rows] = chunk.scores, chunk.labels
        if chunk.weights is not None:
            weights = np.empty(room) if weights is None else weights
            weights[rows] = chunk.weights
        count = rows.stop
    return Chunk(scores[:count], labels[:count], None if weights is None else weights[:count])
