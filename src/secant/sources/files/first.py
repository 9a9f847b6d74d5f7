"""The first look at rows whose number is not known: kept while few, cut into cells once many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant._blocks.refining import join, pick
from secant.sources import rows as row_source
from secant.sources.files import passes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from secant._base.types import BoolArray, IntArray
    from secant._blocks.cell_sums import CellSums
    from secant._blocks.fixed_sums import FixedSums
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Chunk
    from secant.sources.rows import RowSource

__all__ = ["KEEP", "FirstLook", "GroupsLook", "feed", "sorting"]

# Rows of a file that are kept in memory, so that no later question reads them again: 4 MB or 6.
KEEP = 1 << 18


class FirstLook:
    """The rows of one source as they come.

    Parameters
    ----------
    source
        What they are the rows of.
    moments
        Whether blocks are to know the noise of each.
    """

    def __init__(self, source: RowSource, *, moments: bool) -> None:
        self._source, self._moments = source, moments
        self._kept: list[Chunk] | None = []
        self._count = 0
        self._sums: CellSums | FixedSums | None = None

    def add(self, chunk: Chunk) -> None:
        """Take in some rows."""
        self._count += chunk.scores.shape[0]
        if self._kept is not None:
            self._kept.append(chunk)
        if self._sums is not None:
            self._sums.add(chunk)
        elif self._count > row_source.SORT_UP_TO:
            self._sums = self._source.first_sums(moments=self._moments)
            for each in self._kept or ():
                self._sums.add(each)
        if self._count > max(KEEP, row_source.SORT_UP_TO):
            self._kept = None

    def at_once(self, feed: Callable[[object], bool]) -> bool:
        """Have many rows added up by who can do that at once; False if nothing was done."""
        if self._source.rows <= max(KEEP, row_source.SORT_UP_TO):
            return False
        sums = self._source.first_sums(moments=self._moments)
        if not feed(sums):
            return False
        self._sums, self._kept = sums, None
        return True

    def found(self) -> tuple[Blocks, Totals]:
        """Return blocks that hold every row, and the sums over all of them."""
        if self._sums is None:
            return self._source.ties(join(self._kept or []))
        return self._source.summed(self._sums)

    @property
    def rows(self) -> Chunk | None:
        """All rows, if they are few enough to be kept for questions asked later."""
        return join(self._kept) if self._kept else None


class GroupsLook:
    """The rows of groups as they come; groups have numbers in the order in which they are met.

    If more is kept than one pass may collect, groups are left for later, the last ones met first.

    Parameters
    ----------
    cells
        Returns empty sums over cells for a group, given its number and its rows so far.
    """

    def __init__(self, cells: Callable[[int, int], CellSums]) -> None:
        self._cells = cells
        self._kept: list[tuple[Chunk, IntArray]] = []
        self._counts = np.zeros(0, np.int64)
        self.sums: dict[int, CellSums] = {}
        self.later = np.zeros(0, bool)
        self._cut = np.zeros(0, bool)

    def add(self, chunk: Chunk, owner: IntArray) -> None:
        """Take in some rows, and the numbers of their groups."""
        if not owner.shape[0]:
            return
        self._grow(int(owner.max()) + 1)
        self._counts += np.bincount(owner, minlength=self._counts.shape[0])
        self._keep(chunk, owner)
        many = ~self.later & ~self._cut & (self._counts > row_source.SORT_UP_TO)
        if many.any():
            for group in np.flatnonzero(many).tolist():
                self.sums[group] = self._cells(group, int(self._counts[group]))
            self._cut |= many
            kept, self._kept = self._kept, []
            for each in kept:
                self._keep(*each)
        if self._in_memory > passes.COLLECT // 2:
            self._leave()

    @property
    def is_kept(self) -> BoolArray:
        """Of which groups all rows have been kept."""
        return ~self.later & ~self._cut

    def rows(self) -> Iterator[tuple[Chunk, IntArray]]:
        """Give away all rows that were kept, and the numbers of their groups."""
        while self._kept:
            yield self._kept.pop(0)

    def _keep(self, chunk: Chunk, owner: IntArray) -> None:
        """Give rows of groups with cells to these, and keep the others."""
        if self.sums:
            many = np.flatnonzero(self._cut[owner])
            order = many[sorting(owner[many], self._cut.shape[0])]
            feed(self.sums, pick(chunk, order), owner[order])
        few = self.is_kept[owner]
        if few.any():
            self._kept.append((chunk, owner) if few.all() else (pick(chunk, few), owner[few]))

    @property
    def _in_memory(self) -> int:
        return sum(owner.shape[0] for _, owner in self._kept)

    def _leave(self) -> None:
        """Leave groups for later until half of what may be collected is kept."""
        counts = np.where(self.is_kept, self._counts, 0)
        self.later |= self.is_kept & (np.cumsum(counts) > passes.COLLECT // 4)
        kept, self._kept = self._kept, []
        for each in kept:
            self._keep_again(*each)

    def _keep_again(self, chunk: Chunk, owner: IntArray) -> None:
        few = self.is_kept[owner]
        self._kept.append((pick(chunk, few), owner[few]))

    def _grow(self, groups: int) -> None:
        more = groups - self._counts.shape[0]
        if more > 0:
            self._counts = np.append(self._counts, np.zeros(more, np.int64))
            # What is met after groups were left for later is left too: there is no room.
            self.later = np.append(self.later, np.full(more, bool(self.later.any())))
            self._cut = np.append(self._cut, np.zeros(more, bool))


def feed(takers: Mapping[int, passes.Adds], chunk: Chunk, owner: IntArray) -> None:
    """Give each group's rows to its taker; ``owner``, the rows' groups, is ascending."""
    groups = np.array(sorted(takers), np.int64)
    starts = np.searchsorted(owner, groups, side="left").tolist()
    stops = np.searchsorted(owner, groups, side="right").tolist()
    for group, start, stop in zip(groups.tolist(), starts, stops, strict=True):
        # Sums of weights are exact for so many rows at a time.
        for first in range(start, stop, row_source.CHUNK):
            takers[group].add(pick(chunk, slice(first, min(stop, first + row_source.CHUNK))))


def sorting(owner: IntArray, n_groups: int) -> IntArray:
    """Return the order of rows by group, first come first within one."""
    if n_groups <= np.iinfo(np.uint16).max:
        return np.argsort(owner.astype(np.uint16), kind="stable")  # a radix sort, for short numbers
    return np.argsort(owner, kind="stable")
