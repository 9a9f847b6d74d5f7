"""Rows of files, as one or in groups, all of which are read in the same walks."""

from __future__ import annotations

from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.types import Forbidden
from secant._blocks.fixed_sums import FixedSums
from secant._blocks.refining import Refinement
from secant._input.observations import as_observations, pick, split
from secant.errors import SecantError
from secant.sources import rows as row_source
from secant.sources.files import first
from secant.sources.files.abreast import Abreast
from secant.sources.files.first import FirstLook, feed
from secant.sources.files.held import collected
from secant.sources.files.keys import KeyBook
from secant.sources.files.spool import in_groups
from secant.sources.files.walking import Walk, WalkedRows, usable
from secant.sources.rows import RowSource
from secant.sources.small import blocks_of

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.cell_sums import CellSums
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Chunk, Observations
    from secant.sources.files.passes import Adds
    from secant.sources.files.predictions import Predictions
    from secant.sources.files.spool import Spool

__all__ = ["FileGroups", "FileRows"]

_SAMPLE = 1 << 18
_FEW = 256  # scores that are too few to sample a group by
# Rows of small groups that are put in order together.
_TOGETHER = 1 << 20


class FileGroups:
    """The rows of files, in groups where columns say what to group by, else as one.

    A first walk finds the groups. The rows of a small one wait in a spool, since all its ties are
    needed; those of a large one are cut into cells. Inside, groups are numbered as they are met.

    Parameters
    ----------
    table
        The files.
    by
        What to group by, if not as its columns say.
    moments
        Whether blocks of rows that are not in groups are to know the noise of each.

    Attributes
    ----------
    keys, by, empty
        As :class:`Groups` has them; what groups there are is known after the first look.
    """

    def __init__(
        self, table: Predictions, *, by: tuple[str, ...] | None = None, moments: bool = False
    ) -> None:
        self.table, self._moments = table, moments
        self.by = table.columns.by if by is None else by
        self.keys: list[Any] = [] if self.by else [None]
        self.empty: tuple[Any, ...] = ()
        self._book = KeyBook()
        self._every: list[Any] = [None]
        self._with_weight = [0]
        self._rows = table.rows
        self._seen: Walk | None = None
        self._abreast = Abreast(table)
        self._first = FirstLook(self._sums)
        self._lent: dict[int, Chunk] = {}
        self._spool: Spool | None = None
        self._is_kept = np.zeros(0, bool)
        self._sources: dict[int, RowSource] = {}

    @property
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome, of all groups; known after the first look."""
        return self.table.left_out

    # Passes over all of them ------------------------------------------------------------------

    def take(self, chunk: Chunk) -> None:
        """Take in some rows, whose groups need not be known before."""
        self._first.add(chunk)

    def found(self, walk: Walk) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of every group, in the order of ``keys``.

        ``walk`` has given all rows to :meth:`take`.
        """
        self.walked(walk)
        numbers = [0]
        if self.by:
            self._every, numbers = self._book.close(self.table.are_texts(self.by))
        look, self._first = self._first, FirstLook(self._sums)  # whose sums are not kept
        found = {number: self.source_of(number).summed(sums) for number, sums in look.sums.items()}
        self._spool, self._is_kept = look.spool, look.is_kept
        found |= dict(self._small(look))
        self._with_weight = [number for number in numbers if number in found]
        self.keys = [self._every[number] for number in self._with_weight]
        self.empty = tuple(self._every[number] for number in numbers if number not in found)
        return [found[number] for number in self._with_weight]

    def at_once(self) -> list[tuple[Blocks, Totals]] | None:
        """Return the same of many rows without groups, read by several threads, if they can be."""
        many = self.table.rows is not None and self.table.rows > max(
            first.KEEP, row_source.SORT_UP_TO
        )
        if self.by or not many:
            return None
        source = self.source_of(0)
        sums = source.first_sums(moments=self._moments)
        return [source.summed(sums)] if self.feed(sums) else None

    def walk(self, numbers: Collection[int] | None = None, *, clusters: bool = False) -> Walk:
        """Return a walk over the files that can hold rows of some groups, or over all of them."""
        files = None
        if self.by and numbers is not None:
            keys = {self._every[number] for number in numbers}
            files = self.table.files_with(self.by, keys)
        again = self._seen is not None
        coder = self._book.numbers if again else self._book.learn
        total = self._rows or 0
        more: dict[str, Any] = {"again": again, "clusters": clusters}
        return Walk(self.table, total, coder if self.by else None, files, **more)

    def walked(self, walk: Walk) -> None:
        """Make sure that every walk sees the same rows.

        Raises
        ------
        SecantError
            If there are more of them, or fewer.
        """
        if self._seen is None:
            self._seen, self._rows = walk, walk.checks.rows
        elif walk.files is None and walk.checks.rows != self._seen.checks.rows:
            msg = "the files were changed while they were assessed: assess them again"
            raise SecantError(msg)

    def number(self, place: int) -> int:
        """Return the number of a group inside, given its place among ``keys``."""
        return self._with_weight[place]

    def route(self, takers: Mapping[int, Adds], chunk: Chunk) -> None:
        """Give rows to the takers of their groups, by the numbers inside."""
        if not self.by:
            chunk = chunk._replace(group=np.zeros(chunk.scores.size, np.int8))
        else:
            wanted = np.zeros(len(self._every), bool)
            wanted[list(takers)] = True
            chunk = in_groups(pick(chunk, wanted[chunk.group]))
        feed(takers, chunk)

    def feed(self, taker: object) -> bool:
        """Give all rows to who takes them in several threads; False if nothing was done."""
        walk = self.walk()
        if isinstance(taker, FixedSums):
            fed = self._abreast.add_up(taker, walk)
        else:
            fed = isinstance(taker, Refinement) and self._abreast.refine(taker, walk)
        if fed:
            self.walked(walk)
        return fed

    def lend(self, number: int, rows: Chunk) -> None:
        """Keep the rows of a group until all are released."""
        self._lent[number] = rows

    def release(self) -> None:
        """Forget what was kept for the passes of one assessment, unless it is little."""
        self._abreast.forget()
        self._lent = {}
        if self._spool is not None and self._spool.size > max(first.KEEP, row_source.SORT_UP_TO):
            self._spool = None

    # One group by itself ----------------------------------------------------------------------

    def source_of(self, number: int) -> RowSource:
        """Return one group by itself, given its number inside."""
        if not self.by:
            return self._sources.setdefault(number, RowSource(FileRows(self, number)))
        return RowSource(FileRows(self, number))

    def count(self, number: int) -> int:
        """Return the number of rows of a group, those of weight zero included."""
        if self.by:
            return int(self._book.counts[number])
        if self._rows is None:
            self._rows = self.table.estimated_rows()
        return self._rows

    def kept(self, number: int) -> Chunk | None:
        """Return the rows of a group, if they are in memory."""
        if number in self._lent:
            return self._lent[number]
        if self._spool is None or not self._is_kept[number]:
            return None
        return self._spool.of(slice(number, number + 1))

    def refused(self, number: int) -> Forbidden:
        """Return the rows of a group whose score rules out what happened."""
        if self._seen is None:
            return Forbidden(0, ())
        if not self.by:
            return self._seen.refused.found
        found = self._seen.refused_in.get(number)
        return Forbidden(0, ()) if found is None else found.found

    @property
    def extent(self) -> tuple[float, float]:
        """Limits of the scores: those of all groups once they have been seen."""
        return (0.0, 1.0) if self._seen is None else self._seen.checks.extent[1:]

    def sample(self, number: int, size: int) -> FloatArray:
        """Return about so many scores of a group in ascending order; of all groups if too few."""
        if not self.by:
            table = self.table
            scores = [table.scores(batch) for batch in table.sample([table.columns.y_prob], size)]
            return usable(np.concatenate(scores) if scores else np.empty(0))
        every, groups = self._sample
        start, stop = np.searchsorted(groups, [number, number + 1])
        some = usable(every[start:stop] if stop - start >= _FEW else every)
        return some[:: max(1, some.shape[0] // size)]

    def _sums(self, number: int, count: int, seen: int) -> CellSums | FixedSums:
        """Return sums for a group that turns out to be large, of which so many rows were met."""
        if not self.by:
            return self.source_of(0).first_sums(moments=self._moments)
        rows = max(count, round(count * max(self.table.about_rows(seen), seen) / seen))
        return RowSource(FileRows(self, number, rows)).cell_sums()

    def _small(self, look: FirstLook) -> Iterator[tuple[int, tuple[Blocks, Totals]]]:
        """Return the groups that are not cut, each with its ties and its sums."""
        counts = np.where(look.is_cut, 0, look.counts)
        turn = (np.cumsum(counts) - counts) // _TOGETHER
        starts = np.flatnonzero(np.diff(turn, prepend=-1)).tolist()
        for start, stop in zip(starts, [*starts[1:], counts.size], strict=True):
            rows = look.spool.of(slice(start, stop))
            if rows is not None and look.is_cut[start:stop].any():
                rows = pick(rows, ~look.is_cut[rows.group])
            if rows is None or not rows.scores.size:
                continue
            group: Any = rows.group
            first = np.diff(group, prepend=-1) > 0
            pieces = split(self._observations(rows), np.cumsum(first) - 1, int(first.sum()))
            sources = [RowSource(piece, log_loss=True) for piece in pieces if piece is not None]
            yield from zip(group[first].tolist(), blocks_of(sources), strict=True)

    def _observations(self, rows: Chunk) -> Observations:
        return as_observations(rows, self.table.columns.reading)

    @cached_property
    def _sample(self) -> tuple[FloatArray, IntArray]:
        """Some scores and their groups, in the order in which these were met."""
        table = self.table
        names = [table.columns.y_prob, *self.by]
        scores, groups = [np.empty(0)], [np.empty(0, np.int64)]
        for batch in table.sample(list(dict.fromkeys(names)), _SAMPLE):
            scores.append(table.scores(batch))
            keys, codes = table.keys(batch)
            groups.append(self._book.met(keys)[codes])
        together = np.concatenate(groups)
        order = np.argsort(together, kind="stable")
        return np.concatenate(scores)[order], together[order]


class FileRows(WalkedRows):
    """The rows of one group in files, or all of them, checked in the first walk over them.

    Before that ``rows`` may be an estimate where the format does not tell, but one that is right
    about whether rows are few or many.

    Parameters
    ----------
    groups
        The files.
    number
        The number of the group.
    about
        How many rows there are, about, while they are being met.
    """

    def __init__(self, groups: FileGroups, number: int = 0, about: int | None = None) -> None:
        super().__init__(groups.table)
        self._groups, self._number, self._about = groups, number, about

    @property
    def rows(self) -> int:
        """How many rows there are, those of weight zero included."""
        return self._groups.count(self._number) if self._about is None else self._about

    @property
    def in_memory(self) -> bool:
        """Whether all rows are kept, so that none is read again."""
        return self._groups.kept(self._number) is not None

    @property
    def lowest(self) -> float:
        """A lower limit of the scores."""
        return self._groups.extent[0]

    @property
    def highest(self) -> float:
        """An upper limit of the scores."""
        return self._groups.extent[1]

    @property
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome, where there are no groups."""
        return 0 if self._groups.by else self._groups.left_out

    @property
    def refused(self) -> Forbidden:
        """The rows whose score rules out what happened, numbered through all files."""
        return self._groups.refused(self._number)

    def chunks(self, size: int, *, clusters: bool = False) -> Generator[Chunk]:
        """Walk over the rows of positive weight; a chunk is valid until the next one is taken."""
        size = max(1, min(size, row_source.CHUNK))
        kept = None if clusters else self._groups.kept(self._number)
        if kept is not None:
            yield from _cut(kept, size)
            return
        walk = self._groups.walk([self._number], clusters=clusters)
        with closing(walk.chunks(size)) as chunks:
            for chunk in chunks:
                if chunk.group is not None:
                    chunk = pick(chunk, chunk.group == self._number)  # noqa: PLW2901
                yield from _cut(chunk, size)
        self._groups.walked(walk)

    def observations(self, most: int) -> Observations | None:
        """Read all rows into memory; None if there turn out to be more than so many."""
        table = self._groups.table
        walk = self._groups.walk()
        with closing(walk.chunks(row_source.CHUNK)) as chunks:
            rows = collected(chunks, most if table.rows is None else table.rows)
        if rows is None:
            return None
        self._groups.walked(walk)
        return as_observations(rows, table.columns.reading, self._groups.extent)

    def feed(self, taker: object) -> bool:
        """Give all rows to who takes them in several threads; False if nothing was done."""
        return not self._groups.by and self._groups.feed(taker)

    def forget(self) -> None:
        """Forget what was kept for the passes of one assessment."""
        self._groups.release()

    def sample(self, size: int) -> FloatArray:
        """Return about so many of the scores, from everywhere, in ascending order."""
        return self._groups.sample(self._number, size)


def _cut(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """Cut rows into pieces of at most a size."""
    return (pick(chunk, slice(i, i + size)) for i in range(0, chunk.scores.shape[0], size))
