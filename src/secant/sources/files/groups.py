"""Groups of rows in files, all of which are read in the same walks."""

from __future__ import annotations

from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from secant._base.progress import reporting
from secant._base.types import Forbidden
from secant._blocks.cluster_sums import Adder
from secant._blocks.refining import pick
from secant._blocks.sorting import RUN
from secant._input.rules import NO_ROWS, NO_WEIGHT
from secant.errors import InputError, SecantError
from secant.sources import rows as row_source
from secant.sources.files.clusters import clustered_rows
from secant.sources.files.collected import Collected
from secant.sources.files.keys import KeyBook
from secant.sources.files.prefetch import prefetched
from secant.sources.files.walking import Walk, gathered, usable
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.cluster_sums import ClusterSums
    from secant._blocks.grains import Grains, Ties
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Chunk
    from secant.sources.files.predictions import Predictions

__all__ = ["FileGroups"]

# What one walk may collect, in rows, for all groups together: about 256 MB.
COLLECT = 1 << 23
# Chunks looked at together, so that each of many groups has more than a few rows in them.
_CHUNKS = 4
_SAMPLE = 1 << 18
_FEW = 256  # scores that are too few to sample a group by


class FileGroups:
    """The groups of rows in files.

    A first walk over the columns that name groups finds them and their sizes. The rows of a small
    group are collected, since all its ties are needed; those of a large one are cut into cells. If
    too much would be collected at once, groups take turns.

    Parameters
    ----------
    table
        The files; its columns say what to group by.

    Attributes
    ----------
    keys, by, empty
        As :class:`Groups` has them, ``empty`` being known after the first look.
    """

    def __init__(self, table: Predictions) -> None:
        self.by = table.columns.by
        self.empty: tuple[Any, ...] = ()
        self._table = table
        self._book = KeyBook()
        with reporting("Finding groups") as report, closing(prefetched(_keys(table))) as found:
            for keys, codes in found:
                report(self._book.learn(keys, codes), table.rows or 0)
        self._every, self._counts = self._book.close(table.are_texts(self.by))
        self.keys = self._every
        self._with_weight = np.arange(len(self.keys))
        self._refused: dict[int, Forbidden] = {}
        self._extent: tuple[int, float, float] | None = None

    def blocks(self) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of every group, in the order of ``keys``."""
        found: dict[int, tuple[Blocks, Totals]] = {}
        costs = np.minimum(self._counts, row_source.SORT_UP_TO)
        for groups in _turns(range(len(self._every)), costs.tolist()):
            found |= self._look(groups)
        if not found:
            nothing = NO_WEIGHT if self._every else NO_ROWS
            raise self._table.refused_whole(InputError(nothing))
        self.keys = [self._every[group] for group in sorted(found)]
        self.empty = tuple(key for group, key in enumerate(self._every) if group not in found)
        self._with_weight = np.array(sorted(found))
        return [found[group] for group in sorted(found)]

    def refine(self, wanted: Mapping[int, Blocks]) -> dict[int, Blocks]:
        """Return finer blocks for the groups numbered."""
        finer: dict[int, Blocks] = {}
        costs = [min(int(blocks.n.sum()), RUN) for blocks in wanted.values()]
        for numbers in _turns(wanted, costs):
            takers = {
                int(self._with_weight[number]): self.source(number).refinement(wanted[number])
                for number in numbers
            }
            with closing(self.chunks(self.walk(takers), takers)) as chunks:
                for chunk, groups in chunks:
                    _feed(takers, chunk, groups)
            finer |= {number: takers[self._with_weight[number]].blocks() for number in numbers}
        return finer

    def grinds(self, number: int) -> bool:
        """Tell whether the ties of a group can be had pooled into grains."""
        return number < len(self.keys)

    def grains(self, sizes: Mapping[int, float]) -> dict[int, Ties | Grains]:
        """Return the grains of the groups numbered, from one walk."""
        # All groups together keep in memory what one would; the rest waits on disk.
        run = max(RUN // len(sizes), row_source.SORT_UP_TO)
        takers = {
            int(self._with_weight[number]): self.source(number).grinding(size, run)
            for number, size in sizes.items()
        }
        with closing(self.chunks(self.walk(takers), takers)) as chunks:
            for chunk, groups in chunks:
                _feed(takers, chunk, groups)
        return {number: takers[int(self._with_weight[number])].grains() for number in sizes}

    def source(self, number: int) -> RowSource:
        """Return one group by itself, for questions asked later."""
        return RowSource(GroupRows(self, int(self._with_weight[number])))

    def cluster_sums(self, tables: Sequence[Blocks], limit: int) -> list[ClusterSums]:
        """Return the sums by cluster and cell of every group, from one walk."""
        counted = self._table.columns.reading.counts
        adders = {
            int(group): Adder(blocks, limit, counted=counted)
            for group, blocks in zip(self._with_weight, tables, strict=True)
        }
        found = clustered_rows(self._table, int(self._counts.sum()), self._book.numbers)
        with closing(found) as chunks:
            for chunk, owner, clusters in chunks:
                order = _sorting(owner, len(self._every))
                edges = np.flatnonzero(np.diff(owner[order], prepend=-1, append=len(self._every)))
                for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
                    rows = order[start:stop]
                    adders[int(owner[rows[0]])].add(pick(chunk, rows), clusters[rows])
        return [adder.sums() for adder in adders.values()]

    # For one group by itself ------------------------------------------------------------------

    @property
    def table(self) -> Predictions:
        """The files."""
        return self._table

    def count(self, group: int) -> int:
        """Return the number of rows of a group."""
        return int(self._counts[group])

    def refused(self, group: int) -> Forbidden:
        """Return the rows of a group whose score rules out what happened."""
        return self._refused.get(group, Forbidden(0, ()))

    def sample(self, group: int) -> FloatArray:
        """Return some of the scores of a group in ascending order; of all groups if too few."""
        scores, groups = self._sample
        start, stop = np.searchsorted(groups, [group, group + 1])
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
        wanted = np.zeros(len(self._every), bool)
        wanted[list(groups)] = True
        size = size or _CHUNKS * row_source.CHUNK
        with closing(gathered(walk.chunks(min(size, row_source.CHUNK)), size)) as chunks:
            for chunk, owner in chunks:
                assert owner is not None  # noqa: S101
                ours = np.flatnonzero(wanted[owner])
                order = ours[_sorting(owner[ours], len(self._every))]
                yield pick(chunk, order), owner[order]

    # Looks at all of them ---------------------------------------------------------------------

    def _look(self, groups: list[int]) -> dict[int, tuple[Blocks, Totals]]:
        """Return blocks and sums of some groups, less those without weight."""
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
                _feed(sums, chunk, owner)
                collected.add(chunk, owner)
        self._compare(walk)
        found = collected.blocks()
        for group, cells in sums.items():
            if cells.parts:
                blocks = cells.blocks()
                found[group] = blocks, cells.totals(blocks)
        return found

    def _compare(self, walk: Walk) -> None:
        """Make sure that every walk sees the same rows, and note what was refused."""
        if self._extent not in (None, walk.checks.extent):
            msg = "the files were changed while they were assessed: assess them again"
            raise SecantError(msg)
        self._extent = walk.checks.extent
        self._refused = {group: rows.found for group, rows in walk.refused_in.items()}

    @cached_property
    def _sample(self) -> tuple[FloatArray, IntArray]:
        """Some scores and their groups, by group."""
        table = self._table
        names = [table.columns.y_prob, *self.by]
        scores, groups = [np.empty(0)], [np.empty(0, np.int64)]
        for batch in table.sample(list(dict.fromkeys(names)), _SAMPLE):
            scores.append(table.scores(batch))
            groups.append(self._book.numbers(*table.keys(batch)))
        together = np.concatenate(groups)
        order = np.argsort(together, kind="stable")
        return np.concatenate(scores)[order], together[order]


class GroupRows:
    """The observations of one group among those of files, which were checked before."""

    lowest = 0.0
    highest = 1.0

    def __init__(self, groups: FileGroups, group: int) -> None:
        self._groups, self._group = groups, group

    @property
    def rows(self) -> int:
        """How many rows there are, those of weight zero included."""
        return self._groups.count(self._group)

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


class _Taker(Protocol):
    def add(self, chunk: Chunk) -> None: ...


def _feed(takers: Mapping[int, _Taker], chunk: Chunk, owner: IntArray) -> None:
    """Give each group's rows to its taker; ``owner``, the rows' groups, is ascending."""
    groups = np.array(sorted(takers), np.int64)
    starts = np.searchsorted(owner, groups, side="left").tolist()
    stops = np.searchsorted(owner, groups, side="right").tolist()
    for group, start, stop in zip(groups.tolist(), starts, stops, strict=True):
        # Sums of weights are exact for so many rows at a time.
        for first in range(start, stop, row_source.CHUNK):
            takers[group].add(pick(chunk, slice(first, min(stop, first + row_source.CHUNK))))


def _keys(table: Predictions) -> Iterator[tuple[list[Any], IntArray]]:
    for batch in table.walk(table.columns.by, row_source.CHUNK):
        yield table.keys(batch)


def _turns(numbers: Iterable[int], costs: list[int]) -> Iterator[list[int]]:
    """Split groups into lists that cost at most ``COLLECT`` each, or hold one group."""
    turn: list[int] = []
    spent = 0
    for number, cost in zip(numbers, costs, strict=True):
        if turn and spent + cost > COLLECT:
            yield turn
            turn, spent = [], 0
        turn.append(number)
        spent += cost
    if turn:
        yield turn


def _sorting(owner: IntArray, n_groups: int) -> IntArray:
    """Return the order of rows by group, first come first within one."""
    if n_groups <= np.iinfo(np.uint16).max:
        return np.argsort(owner.astype(np.uint16), kind="stable")  # a radix sort, for short numbers
    return np.argsort(owner, kind="stable")
