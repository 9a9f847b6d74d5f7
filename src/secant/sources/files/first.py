"""The first look at rows whose number is not known: kept while few, cut into cells once many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.observations import pick
from secant.sources import rows as row_source
from secant.sources.files.spool import Spool, in_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from secant._base.types import BoolArray
    from secant._blocks.cell_sums import CellSums
    from secant._blocks.fixed_sums import FixedSums
    from secant._input.observations import Chunk
    from secant.sources.files.passes import Adds

__all__ = ["KEEP", "FirstLook", "feed"]

# Rows of a file that are kept in memory, so that no later question reads them again: 4 MB or 6.
KEEP = 1 << 18


class FirstLook:
    """The rows of groups as they come; groups have numbers in the order in which they are met.

    All rows are kept until they are too many; then those of groups of which there are few.

    Parameters
    ----------
    make
        Returns empty sums for a group, given its number, its rows so far, and all rows so far.

    Attributes
    ----------
    counts
        How many rows of each group have weight.
    is_cut
        The groups that have so many rows that they are summed in cells.
    sums
        The sums of those.
    spool
        The rows that are kept.
    """

    def __init__(self, make: Callable[[int, int, int], CellSums | FixedSums]) -> None:
        self._make = make
        self._seen = 0
        self.counts = np.zeros(0, np.int64)
        self.is_cut = np.zeros(0, bool)
        self.sums: dict[int, CellSums | FixedSums] = {}
        self.spool = Spool(in_groups=True)

    @property
    def keeps_all(self) -> bool:
        """Whether no row has been let go."""
        return self._seen <= max(KEEP, row_source.SORT_UP_TO)

    @property
    def is_kept(self) -> BoolArray:
        """Of which groups all rows are kept."""
        return np.ones_like(self.is_cut) if self.keeps_all else ~self.is_cut

    def add(self, chunk: Chunk) -> None:
        """Take in some rows."""
        if not chunk.scores.size:
            return
        group: Any = chunk.group
        if group is None:
            group = np.zeros(chunk.scores.size, np.int32)
            chunk = chunk._replace(group=group)
        kept_all = self.keeps_all
        self._seen += group.size
        counts = np.bincount(group, minlength=self.counts.size)
        counts[: self.counts.size] += self.counts
        self.counts = counts
        self.is_cut = np.append(self.is_cut, np.zeros(counts.size - self.is_cut.size, bool))
        new = ~self.is_cut & (counts > row_source.SORT_UP_TO)
        if new.any():
            self._cut(new, kept_all=kept_all)
        cut = self.is_cut[group]
        if cut.any():
            feed(self.sums, chunk if len(counts) == 1 else in_groups(pick(chunk, cut)))
        if kept_all and not self.keeps_all:
            self.spool.drop(self.is_cut)
        if self.keeps_all or not cut.any():
            self.spool.add(chunk)
        elif not cut.all():
            self.spool.add(pick(chunk, ~cut))

    def _cut(self, new: BoolArray, *, kept_all: bool) -> None:
        """Cut groups into cells, whose rows so far are kept."""
        for number in np.flatnonzero(new).tolist():
            self.sums[number] = self._make(number, int(self.counts[number]), self._seen)
        sums = {number: self.sums[number] for number in np.flatnonzero(new).tolist()}
        for chunk in self.spool.among(new):
            feed(sums, chunk)
        if not kept_all:
            self.spool.drop(new)
        self.is_cut |= new


def feed(takers: Mapping[int, Adds], chunk: Chunk) -> None:
    """Give each group's rows, which lie group by group, to its takers."""
    groups = np.array(sorted(takers), np.int64)
    owner: Any = chunk.group
    starts = np.searchsorted(owner, groups, side="left").tolist()
    stops = np.searchsorted(owner, groups, side="right").tolist()
    for group, start, stop in zip(groups.tolist(), starts, stops, strict=True):
        # Sums of weights are exact for so many rows at a time.
        for first in range(start, stop, row_source.CHUNK):
            takers[group].add(pick(chunk, slice(first, min(stop, first + row_source.CHUNK))))
