"""One pass over files for all who asked: a batch is read once and handed to each of them.

Several columns of scores side by side, each of all rows or of the rows of every group, are answered
like the groups of one table, so that whatever is asked for takes the passes of one of them.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

from secant._blocks.key_sums import KeyAdder
from secant._blocks.looking import Groups
from secant._blocks.sorting import RUN
from secant._input.observations import join
from secant.sources import rows as row_source
from secant.sources.files.first import feed
from secant.sources.files.walking import side_by_side
from secant.sources.rows import kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from secant._blocks.key_sums import Ask, KeySums
    from secant._blocks.looking import RowsInOrder
    from secant._blocks.sorting import PathRows
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Chunk
    from secant.sources.files.groups import FileGroups
    from secant.sources.files.walking import Walk
    from secant.sources.rows import RowSource

__all__ = ["COLLECT", "Adds", "SideBySide", "run", "turns"]

# What one pass may collect, in rows, for all groups together: about 256 MB.
COLLECT = 1 << 23
# Chunks looked at together, so that each of many groups has more than a few rows in them.
_CHUNKS = 4


class Adds(Protocol):
    """What takes in the rows of one group."""

    def add(self, chunk: Chunk) -> None:
        """Take in some rows."""
        ...


def run(walks: Sequence[Walk], takers: Sequence[Callable[[Chunk], None]]) -> None:
    """Read the files once, for all of the takers, each of which sees what its walk checks."""
    in_groups = any(walk.in_groups for walk in walks)
    together = row_source.CHUNK * (_CHUNKS if in_groups else 1)
    with closing(side_by_side(walks, row_source.CHUNK, together)) as batches:
        for chunks in batches:
            for take, chunk in zip(takers, chunks, strict=True):
                if chunk is not None:
                    take(chunk)


class SideBySide(Groups):
    """Several columns of scores in the same files, and their groups, as the groups of one table.

    Parameters
    ----------
    looks
        What to look at. Once that was done ``keys`` are those of all, ``by`` and ``empty`` those
        of the last.
    """

    def __init__(self, looks: Sequence[FileGroups]) -> None:
        self.looks = looks
        self.by = looks[-1].by
        self._starts = [0]

    @property
    def left_out(self) -> int:
        """How many rows the last look left out for want of a score or an outcome."""
        return self.looks[-1].left_out

    @property
    def families(self) -> list[slice]:
        """The groups of each look, which are tested together."""
        stops = self._starts[1:]
        return [slice(*ends) for ends in zip(self._starts, stops, strict=False)]

    def blocks(self) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of every group, from one pass."""
        found = [self.looks[0].at_once() if len(self.looks) == 1 else None]
        if found == [None]:
            walks = [look.walk() for look in self.looks]
            run(walks, [look.take for look in self.looks])
            found = [look.found(walk) for look, walk in zip(self.looks, walks, strict=True)]
        self._starts = [0, *accumulate(len(of_look or ()) for of_look in found)]
        self.keys = [key for look in self.looks for key in look.keys]
        self.empty = self.looks[-1].empty
        return [each for of_look in found for each in of_look or ()]

    def refine(self, wanted: Mapping[int, Blocks]) -> dict[int, Blocks]:
        """Return finer blocks for the groups numbered, from one pass unless they are too many."""
        finer: dict[int, Blocks] = {}
        costs = [min(int(blocks.n.sum()), RUN) for blocks in wanted.values()]
        for numbers in turns(wanted, costs):
            takers = {i: self.source(i).refinement(wanted[i]) for i in numbers}
            self._feed(takers)
            finer |= {i: taker.blocks() for i, taker in takers.items()}
        return finer

    def in_order(self, numbers: Sequence[int]) -> Mapping[int, RowsInOrder]:
        """Return what walks over the rows of groups in order.

        Those that are not at hand are read in one pass unless they are too many.
        """
        takers, room = {}, COLLECT
        for number in numbers:
            look, place = self._place(number)
            if look.kept(place) is None:
                room -= look.count(place)
                if room >= 0:  # the others read their own
                    takers[number] = _Rows()
        self._feed(takers)
        for number, taker in takers.items():
            look, place = self._place(number)
            look.lend(place, join(taker.chunks))
        return {number: partial(self._walk, number) for number in numbers}

    def _walk(self, number: int) -> Iterable[PathRows]:
        return self.source(number).in_order()()

    def source(self, number: int) -> RowSource:
        """Return one group by itself, for questions asked later."""
        look, place = self._place(number)
        return look.source_of(place)

    def release(self) -> None:
        """Forget what looks have kept for the passes of one assessment."""
        for look in self.looks:
            look.release()

    def sums(self, asks: Sequence[Ask]) -> list[KeySums]:
        """Answer questions about groups, all of them from one pass."""
        counted = self.looks[0].table.columns.reading.counts
        adders = [KeyAdder(ask, counted=counted) for ask in asks]
        takers: dict[int, _Several] = {}
        for ask, adder in zip(asks, adders, strict=True):
            takers.setdefault(ask.group, _Several()).adders.append(adder)
        self._feed(takers, clusters=any(ask.clusters for ask in asks))
        return [adder.sums() for adder in adders]

    def _feed(self, takers: Mapping[int, Adds], *, clusters: bool = False) -> None:
        """Hand the rows of groups to the taker of each, in one pass."""
        of_looks: list[dict[int, Adds]] = [{} for _ in self.looks]
        for number, taker in takers.items():
            look, place = self._place(number)
            rows = None if clusters else look.kept(place)
            if rows is None:
                of_looks[self.looks.index(look)][place] = taker
            else:
                feed({place: taker}, rows)
        shares = [share for share in zip(self.looks, of_looks, strict=True) if share[1]]
        if not shares:
            return
        look, first = shares[0]
        if len(shares) == 1 and not clusters and not look.by and look.feed(first[0]):
            return
        walks = [look.walk(share, clusters=clusters) for look, share in shares]
        run(walks, [partial(look.route, share) for look, share in shares])
        for (look, _), walk in zip(shares, walks, strict=True):
            look.walked(walk)

    def _place(self, number: int) -> tuple[FileGroups, int]:
        """Return the look that a group belongs to, and its number there."""
        look, start = next(
            (look, start)
            for look, start, stop in zip(self.looks, self._starts, self._starts[1:], strict=False)
            if number < stop
        )
        return look, look.number(number - start)


class _Rows:
    """Keeps the rows of one group."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []

    def add(self, chunk: Chunk) -> None:
        self.chunks.append(kept(chunk))


class _Several:
    """Hands rows to several adders."""

    def __init__(self) -> None:
        self.adders: list[KeyAdder] = []

    def add(self, chunk: Chunk) -> None:
        for adder in self.adders:
            adder.add(chunk)


def turns(numbers: Iterable[int], costs: list[int]) -> Iterator[list[int]]:
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
