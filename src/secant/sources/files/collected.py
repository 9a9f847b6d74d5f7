"""The rows of small groups, put in their places as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant._input.observations import Chunk, Observations
from secant.errors import SecantError
from secant.sources.rows import RowSource
from secant.sources.small import blocks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.table import Blocks, Totals
    from secant._input.options import Reading

__all__ = ["Collected"]


class Collected:
    """Room for every row of some groups, whose sizes are known.

    Parameters
    ----------
    groups
        The groups to collect, ascending.
    counts
        The number of rows of every group, these and others.
    reading
        What weights mean.
    """

    def __init__(self, groups: Sequence[int], counts: IntArray, reading: Reading) -> None:
        self._groups = np.array(groups, np.int64)
        self._is_ours = np.zeros(counts.shape[0], bool)
        self._is_ours[self._groups] = True
        sizes = counts[self._groups]
        self._end = np.zeros(counts.shape[0], np.int64)
        self._end[self._groups] = np.cumsum(sizes)
        self._start = self._end.copy()
        self._start[self._groups] -= sizes
        self._next = self._start.copy()
        total = int(sizes.sum())
        self._scores = np.empty(total)
        self._labels = np.empty(total, np.int8)
        self._weights: FloatArray | None = None
        self._reading = reading

    def add(self, chunk: Chunk, owner: IntArray) -> None:
        """Take in rows sorted by group, less those of groups that are not collected."""
        ours = np.flatnonzero(self._is_ours[owner])
        if not ours.size:
            return
        owner = owner[ours]
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        lengths = np.diff(starts, append=owner.shape[0])
        place = self._next[owner] + np.arange(owner.shape[0]) - np.repeat(starts, lengths)
        self._next[owner[starts]] += lengths
        if (self._next > self._end).any():
            msg = "the files were changed while they were assessed: assess them again"
            raise SecantError(msg)
        self._scores[place] = chunk.scores[ours]
        self._labels[place] = chunk.labels[ours]
        if chunk.weights is not None:
            if self._weights is None:
                self._weights = np.empty_like(self._scores)
            self._weights[place] = chunk.weights[ours]

    def blocks(self) -> dict[int, tuple[Blocks, Totals]]:
        """Return ties and sums of every group that has rows."""
        found = self._groups[self._next[self._groups] > self._start[self._groups]].tolist()
        pieces = (slice(self._start[group], self._next[group]) for group in found)
        sources = [RowSource(self._observations(rows), log_loss=True) for rows in pieces]
        return dict(zip(found, blocks_of(sources), strict=True))

    @property
    def size(self) -> int:
        """How many rows there is room for."""
        return int(self._scores.shape[0])

    def rows(self, group: int) -> Chunk | None:
        """Return the rows of a group, if they were collected."""
        if not self._is_ours[group]:
            return None
        rows = slice(self._start[group], self._next[group])
        weights = None if self._weights is None else self._weights[rows]
        return Chunk(self._scores[rows], self._labels[rows], weights)

    def _observations(self, rows: slice) -> Observations:
        scores = self._scores[rows]
        weights = None if self._weights is None else self._weights[rows]
        n = scores.shape[0]
        if weights is not None and self._reading.counts:
            n = int(weights.sum())
        return Observations(
            labels=self._labels[rows],
            scores=scores,
            weights=weights,
            counted=self._reading.counts,
            n=n,
            lowest=float(scores.min()),
            highest=float(scores.max()),
            forbidden=(),
            has_zero_weights=False,
            outcome_weights=self._reading.outcome_weights,
        )
