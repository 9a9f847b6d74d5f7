"""Groups of rows in files, all of which are read in the same walks."""

from __future__ import annotations

from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.types import Forbidden
from secant._blocks.key_sums import KeyAdder
from secant._blocks.refining import pick
from secant._input.rules import NO_ROWS, NO_WEIGHT
from secant.errors import InputError, SecantError
from secant.sources import rows as row_source
from secant.sources.files.clusters import ClusterWalk
from secant.sources.files.collected import Collected
from secant.sources.files.first import KEEP, GroupsLook, feed, sorting
from secant.sources.files.keys import KeyBook
from secant.sources.files.passes import Clusters, Taker, turns
from secant.sources.files.walking import Walk, gathered, usable
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.cell_sums import CellSums
    from secant._blocks.key_sums import Ask, KeySums
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Chunk
    from secant.sources.files.passes import Adds
    from secant.sources.files.predictions import Predictions
    from secant.sources.files.walking import ForbiddenRows

__all__ = ["FileGroups"]

# Chunks looked at together, so that each of many groups has more than a few rows in them.
_CHUNKS = 4
_SAMPLE = 1 << 18
_FEW = 256  # scores that are too few to sample a group by


class FileGroups:
    """The groups of rows in files.

    A first walk finds them. The rows of a small group are collected, since all its ties are needed;
    those of a large one are cut into cells. If too much would be collected at once, groups take
    turns.

    Parameters
    ----------
    table
        The files; its columns say what to group by.

    Attributes
    ----------
    keys, by, empty
        As :class:`Groups` has them; what groups there are is known after the first look.
    """

    def __init__(self, table: Predictions) -> None:
        self.by = table.columns.by
        self.keys: list[Any] = []
        self.empty: tuple[Any, ...] = ()
        self._table = table
        self._book = KeyBook()
        self._every: list[Any] = []
        self._counts = np.zeros(0, np.int64)
        self._with_weight = np.zeros(0, np.int64)
        self._refused: dict[int, Forbidden] = {}
        self._extent: tuple[int, float, float] | None = None
        self._first: _First | None = None
        self._kept: Collected | None = None

    def first(self) -> Taker:
        """Return what takes in all rows; then there are :meth:`found`."""
        self._first = _First(self, Walk(self._table, 0, self._book.learn))
        return self._first

    def found(self) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of every group, in the order of ``keys``."""
        assert self._first is not None  # noqa: S101
        walk, look, self._first = self._first.walk, self._first.look, None
        self._every, self._counts = self._book.close(self._table.are_texts(self.by))
        number = self._book.number
        self._compare(walk, {int(number[met]): rows for met, rows in walk.refused_in.items()})
        found = self._looked(look, number)
        later = np.sort(number[: len(look.later)][look.later]).tolist()
        costs = np.minimum(self._counts, row_source.SORT_UP_TO)[later]
        for groups in turns(later, costs.tolist()):
            found |= self._look(groups)
        if not found:
            nothing = NO_WEIGHT if self._every else NO_ROWS
            raise self._table.told(self._table.refused_whole(InputError(nothing)))
        self.keys = [self._every[group] for group in sorted(found)]
        self.empty = tuple(key for group, key in enumerate(self._every) if group not in found)
        self._with_weight = np.array(sorted(found))
        return [found[group] for group in sorted(found)]

    def feeding(self, takers: Mapping[int, Adds]) -> Taker:
        """Return what hands the rows of some groups to the taker of each."""
        return _Feeding(self, {int(self._with_weight[i]): taker for i, taker in takers.items()})

    def adders(self, asks: Sequence[Ask]) -> Clusters:
        """Return what adds up rows by cluster and cell, for every group."""
        walk = ClusterWalk(self._table, int(self._counts.sum()), self._book.numbers, again=True)
        counted = self._table.columns.reading.counts
        return _Clusters(
            walk,
            {int(self._with_weight[ask.group]): KeyAdder(ask, counted=counted) for ask in asks},
        )

    def source(self, number: int) -> RowSource:
        """Return one group by itself, for questions asked later."""
        return RowSource(GroupRows(self, int(self._with_weight[number])))

    def release(self) -> None:
        """Forget nothing: what is kept is little."""

    # For one group by itself ------------------------------------------------------------------

    @property
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome, of all groups."""
        return self._table.left_out

    @property
    def table(self) -> Predictions:
        """The files."""
        return self._table

    def count(self, group: int) -> int:
        """Return the number of rows of a group."""
        return int(self._counts[group])

    def kept(self, group: int) -> Chunk | None:
        """Return the rows of a group, if they are in memory."""
        return None if self._kept is None else self._kept.rows(group)

    def refused(self, group: int) -> Forbidden:
        """Return the rows of a group whose score rules out what happened."""
        return self._refused.get(group, Forbidden(0, ()))

    def sample(self, group: int) -> FloatArray:
        """Return some of the scores of a group in ascending order; of all groups if too few."""
        return self.sample_of(int(self._met[group]))

    def sample_of(self, met: int) -> FloatArray:
        """Return the same of the group before which so many were met."""
        scores, groups = self._sample
        start, stop = np.searchsorted(groups, [met, met + 1])
        return usable(scores[start:stop] if stop - start >= _FEW else scores)

    def walk(self, groups: Iterable[int]) -> Walk:
        """Return a walk over the files that can hold rows of some groups, checked before."""
        keys = {self._every[group] for group in groups}
        files = self._table.files_with(self.by, keys)
        return Walk(self._table, int(self._counts.sum()), self._book.numbers, files)

    def chunks(
        self, walk: Walk, groups: Iterable[int], size: int | None = None
    ) -> Generator[tuple[Chunk, IntArray]]:
        """Walk over the rows of some groups, in chunks sorted by group; the groups come along."""
        groups = list(groups)
        size = size or _CHUNKS * row_source.CHUNK
        with closing(gathered(walk.chunks(min(size, row_source.CHUNK)), size)) as chunks:
            for chunk, owner in chunks:
                assert owner is not None  # noqa: S101
                yield self.ours(groups, chunk, owner)

    def ours(self, groups: Sequence[int], chunk: Chunk, owner: IntArray) -> tuple[Chunk, IntArray]:
        """Return the rows of some groups, sorted by group; the groups come along."""
        wanted = np.zeros(len(self._every), bool)
        wanted[groups] = True
        rows = np.flatnonzero(wanted[owner])
        order = rows[sorting(owner[rows], len(self._every))]
        return pick(chunk, order), owner[order]

    # Looks at all of them ---------------------------------------------------------------------

    def cells(self, met: int, count: int, total: int, seen: int) -> CellSums:
        """Return cells for a group that turns out to be large, of which so many rows were met.

        Parameters
        ----------
        met
            How many groups were met before it.
        count
            How many rows it has among those seen.
        total, seen
            How many rows there are, about, and how many have been seen.
        """
        rows = max(count, round(count * max(total, seen) / seen))
        return RowSource(_Unfinished(self, met, rows)).cell_sums()

    def _looked(self, look: GroupsLook, number: IntArray) -> dict[int, tuple[Blocks, Totals]]:
        """Return what a first look has found, less groups without weight."""
        kept = number[: len(look.later)][look.is_kept]
        collected = Collected(np.sort(kept).tolist(), self._counts, self._table.columns.reading)
        for chunk, met in look.rows():
            owner = number[met]
            order = sorting(owner, len(self._every))
            collected.add(pick(chunk, order), owner[order])
        if collected.size <= KEEP:
            self._kept = collected
        found = collected.blocks()
        for group, cells in look.sums.items():
            blocks = cells.blocks()
            found[int(number[group])] = blocks, cells.totals(blocks)
        return found

    def _look(self, groups: list[int]) -> dict[int, tuple[Blocks, Totals]]:
        """Return blocks and sums of some groups, less those without weight, from a walk more."""
        small = [group for group in groups if self._counts[group] <= row_source.SORT_UP_TO]
        columns = self._table.columns
        collected = Collected(small, self._counts, columns.reading)
        sums = {
            group: RowSource(GroupRows(self, group)).cell_sums()
            for group in groups
            if self._counts[group] > row_source.SORT_UP_TO
        }
        walk = Walk(self._table, int(self._counts.sum()), self._book.numbers)
        with closing(self.chunks(walk, groups)) as chunks:
            for chunk, owner in chunks:
                feed(sums, chunk, owner)
                collected.add(chunk, owner)
        self._compare(walk, walk.refused_in)
        found = collected.blocks()
        for group, cells in sums.items():
            if cells.parts:
                blocks = cells.blocks()
                found[group] = blocks, cells.totals(blocks)
        return found

    def _compare(self, walk: Walk, refused: Mapping[int, ForbiddenRows]) -> None:
        """Make sure that every walk sees the same rows, and note what was refused."""
        if self._extent not in (None, walk.checks.extent):
            msg = "the files were changed while they were assessed: assess them again"
            raise SecantError(msg)
        self._extent = walk.checks.extent
        self._refused = {group: rows.found for group, rows in refused.items()}

    @cached_property
    def _met(self) -> IntArray:
        """How many groups were met before each of those in their order."""
        return np.argsort(self._book.number)

    @cached_property
    def _sample(self) -> tuple[FloatArray, IntArray]:
        """Some scores and their groups, in the order in which these were met."""
        table = self._table
        names = [table.columns.y_prob, *self.by]
        scores, groups = [np.empty(0)], [np.empty(0, np.int64)]
        for batch in table.sample(list(dict.fromkeys(names)), _SAMPLE):
            scores.append(table.scores(batch))
            keys, codes = table.keys(batch)
            groups.append(self._book.met(keys)[codes])
        together = np.concatenate(groups)
        order = np.argsort(together, kind="stable")
        return np.concatenate(scores)[order], together[order]


class GroupRows:
    """The observations of one group among those of files, which were checked before."""

    lowest = 0.0
    highest = 1.0
    left_out = 0

    def __init__(self, groups: FileGroups, group: int) -> None:
        self._groups, self._group = groups, group

    @property
    def rows(self) -> int:
        """How many rows there are, those of weight zero included."""
        return self._groups.count(self._group)

    @property
    def in_memory(self) -> bool:
        """Whether all rows are kept, so that none is read again."""
        return self._groups.kept(self._group) is not None

    @property
    def counted(self) -> bool:
        """Whether weights count copies of rows."""
        return self._groups.table.columns.reading.counts

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self._groups.table.columns.sampling

    @property
    def outcome_weights(self) -> tuple[float, float] | None:
        """What the outcomes 0 and 1 weigh, on top of the weights of rows."""
        return self._groups.table.columns.reading.outcome_weights

    @property
    def refused(self) -> Forbidden:
        """The rows whose score rules out what happened, numbered through all files."""
        return self._groups.refused(self._group)

    def chunks(self, size: int) -> Generator[Chunk]:
        """Walk over the rows of positive weight; a chunk is valid until the next one is taken."""
        size = max(1, min(size, row_source.CHUNK))
        rows = self._groups.kept(self._group)
        if rows is not None:
            yield from (pick(rows, slice(i, i + size)) for i in range(0, len(rows.scores), size))
            return
        walk = self._groups.walk([self._group])
        with closing(self._groups.chunks(walk, [self._group], size)) as chunks:
            for chunk, _ in chunks:
                yield chunk

    def sample(self, size: int) -> FloatArray:
        """Return about so many of the scores in ascending order."""
        scores = self._groups.sample(self._group)
        return scores[:: max(1, scores.shape[0] // size)]

    def recheck(self) -> None:
        """Raise SecantError if a file is seen to have changed since it was first looked at."""
        self._groups.table.recheck()


class _Unfinished(GroupRows):
    """The observations of a group while they are being met: what cells are made from."""

    def __init__(self, groups: FileGroups, met: int, rows: int) -> None:
        super().__init__(groups, met)
        self._about = rows

    @property
    def rows(self) -> int:
        """How many rows there are, about."""
        return self._about

    def sample(self, size: int) -> FloatArray:
        """Return about so many of the scores in ascending order."""
        scores = self._groups.sample_of(self._group)
        return scores[:: max(1, scores.shape[0] // size)]


class _First(Taker):
    """Takes in the rows of all groups, which are not known before."""

    def __init__(self, groups: FileGroups, walk: Walk) -> None:
        super().__init__(walk, _CHUNKS * row_source.CHUNK)
        self._groups, self._seen = groups, 0
        self.look = GroupsLook(self._cells)

    def add(self, chunk: Chunk, owner: IntArray) -> None:
        self._seen += owner.shape[0]
        self.look.add(chunk, owner)

    def _cells(self, met: int, count: int) -> CellSums:
        total = self._groups.table.about_rows(self._seen)
        return self._groups.cells(met, count, total, self._seen)


class _Feeding(Taker):
    """Hands the rows of some groups to the taker of each."""

    def __init__(self, groups: FileGroups, takers: Mapping[int, Adds]) -> None:
        super().__init__(groups.walk(takers), _CHUNKS * row_source.CHUNK)
        self._groups, self._takers = groups, takers

    def add(self, chunk: Chunk, owner: IntArray) -> None:
        feed(self._takers, *self._groups.ours(list(self._takers), chunk, owner))


class _Clusters(Clusters):
    """Adds up the rows of every group by cluster and cell."""

    def __init__(self, walk: ClusterWalk, adders: dict[int, KeyAdder]) -> None:
        super().__init__(walk)
        self._adders = adders

    def add(self, chunk: Chunk, owner: IntArray) -> None:
        groups, clusters = owner[:, 0], owner[:, 1]
        order = np.argsort(groups, kind="stable")
        edges = np.flatnonzero(np.diff(groups[order], prepend=-1)).tolist()
        for start, stop in zip(edges, [*edges[1:], order.shape[0]], strict=True):
            rows = order[start:stop]
            self._adders[int(groups[rows[0]])].add(pick(chunk, rows), clusters[rows])

    def sums(self) -> list[KeySums]:
        return [adder.sums() for adder in self._adders.values()]
