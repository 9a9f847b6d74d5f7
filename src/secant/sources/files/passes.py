"""One pass over files for all who asked: a batch is read once and handed to each of them.

A *look* is what is to be known of the files: all rows, or the rows of every group, of one column of
scores. Several looks side by side are answered like the groups of one table, so that whatever is
asked for takes the passes of one of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import closing
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from secant._blocks.refining import join
from secant._blocks.sorting import RUN
from secant.sources import rows as row_source
from secant.sources.files.walking import side_by_side
from secant.sources.rows import kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from secant._base.types import IntArray
    from secant._blocks.key_sums import Ask, KeySums
    from secant._blocks.looking import RowsInOrder
    from secant._blocks.sorting import PathRows
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Chunk
    from secant.sources.files.walking import Walk
    from secant.sources.rows import RowSource

__all__ = ["COLLECT", "Adds", "Clusters", "Look", "SideBySide", "Taker", "run", "turns"]

# What one pass may collect, in rows, for all groups together: about 256 MB.
COLLECT = 1 << 23


class Adds(Protocol):
    """What takes in the rows of one group."""

    def add(self, chunk: Chunk) -> None:
        """Take in some rows."""
        ...


class Taker(ABC):
    """Somebody who wants to see all rows once.

    Parameters
    ----------
    walk
        Which columns to read, and how to check them.
    size
        RowsInOrder to be handed over together, at most; small files and row groups are joined.
    """

    def __init__(self, walk: Walk, size: int | None = None) -> None:
        self.walk, self._size = walk, size or row_source.CHUNK
        self._held: list[tuple[Chunk, IntArray | None]] = []
        self._count = 0

    @abstractmethod
    def add(self, chunk: Chunk, owner: Any) -> None:
        """Take in some rows, and the numbers of their groups where the walk numbers them."""

    def alone(self) -> bool:
        """See all rows at once, if nobody else wants to; False if nothing was done."""
        return False

    def finish(self) -> None:  # noqa: B027  (not everybody minds)
        """Take note that there are no more."""

    def gather(self, chunk: Chunk, owner: IntArray | None) -> None:
        """Hold rows back until they are worth to be looked at."""
        rows = chunk.scores.shape[0]
        if self._count + rows > self._size:
            self.flush()
        self._held.append((chunk, owner))
        self._count += rows

    def flush(self) -> None:
        """Take in what was held back."""
        held, self._held, self._count = self._held, [], 0
        if held:
            self.add(join([chunk for chunk, _ in held]), _joined([owner for _, owner in held]))


def _joined(owners: list[IntArray | None]) -> IntArray | None:
    known = [owner for owner in owners if owner is not None]
    return np.concatenate(known) if known else None


def run(takers: Sequence[Taker]) -> None:
    """Read the files once, for all of the takers."""
    if len(takers) == 1 and takers[0].alone():
        return
    walks = [taker.walk for taker in takers]
    with closing(side_by_side(walks, row_source.CHUNK)) as batches:
        for checked in batches:
            for taker, rows in zip(takers, checked, strict=True):
                if rows is not None:
                    taker.gather(*rows)
    for taker in takers:
        taker.flush()
        taker.finish()


class Look(Protocol):
    """What is to be known of files: several groups of rows, or one of all of them."""

    @property
    def keys(self) -> Sequence[Any]: ...  # noqa: D102  (as Groups has them)
    @property
    def by(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def empty(self) -> tuple[Any, ...]: ...  # noqa: D102
    @property
    def left_out(self) -> int: ...  # noqa: D102

    def first(self) -> Taker:
        """Return what takes in all rows; then there are :meth:`found`."""
        ...

    def found(self) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of every group."""
        ...

    def feeding(self, takers: Mapping[int, Adds]) -> Taker:
        """Return what hands the rows of some groups to the taker of each."""
        ...

    def adders(self, asks: Sequence[Ask]) -> Clusters:
        """Return what adds up rows by cluster and cell, for every group."""
        ...

    def source(self, number: int) -> RowSource:
        """Return one group by itself."""
        ...

    def release(self) -> None:
        """Forget what was kept for the passes of one assessment."""
        ...


class Clusters(Taker):
    """Adds up rows by cluster and cell."""

    @abstractmethod
    def sums(self) -> list[KeySums]:
        """Return the sums of every group."""


class SideBySide:
    """Several looks at the same files, as the groups of one table.

    Parameters
    ----------
    looks
        What to look at; ``keys`` are those of all, ``by`` and ``empty`` those of the last.
    """

    def __init__(self, looks: Sequence[Look]) -> None:
        self.looks = looks
        self._starts = [0]
        self._lent: dict[int, Chunk] = {}

    @property
    def keys(self) -> list[Any]:
        """What the groups are called, look by look."""
        return [key for look in self.looks for key in look.keys]

    @property
    def by(self) -> tuple[str, ...]:
        """What the last look groups by."""
        return self.looks[-1].by

    @property
    def empty(self) -> tuple[Any, ...]:
        """The groups of the last look that have no weight."""
        return self.looks[-1].empty

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
        run([look.first() for look in self.looks])
        found = [look.found() for look in self.looks]
        self._starts = [0, *accumulate(map(len, found))]
        return [each for of_look in found for each in of_look]

    def refine(self, wanted: Mapping[int, Blocks]) -> dict[int, Blocks]:
        """Return finer blocks for the groups numbered, from one pass unless they are too many."""
        finer: dict[int, Blocks] = {}
        costs = [min(int(blocks.n.sum()), RUN) for blocks in wanted.values()]
        for numbers in turns(wanted, costs):
            takers = {i: self.source(i).refinement(wanted[i]) for i in numbers}
            self._feed(takers)
            finer |= {i: taker.blocks() for i, taker in takers.items()}
        return finer

    def in_order(self, numbers: Sequence[int]) -> dict[int, RowsInOrder]:
        """Return what walks over the rows of groups in order.

        They are read in one pass unless they are too many, and lent to each :meth:`source`, which
        forgets them once they were asked for.
        """
        absent = [number for number in numbers if not self.source(number).has_rows]
        if absent:
            takers, room = {}, COLLECT
            for number in absent:
                room -= self.source(number).rows
                if room >= 0:  # the others read their own
                    takers[number] = _Rows()
            self._feed(takers)
            self._lent = {number: join(taker.chunks) for number, taker in takers.items()}
        return {number: partial(self._walk, number) for number in numbers}

    def _walk(self, number: int) -> Iterable[PathRows]:
        return self.source(number).in_order()()

    def source(self, number: int) -> RowSource:
        """Return one group by itself, for questions asked later."""
        look, start, _ = next(share for share in self._shares() if number < share[2])
        source = look.source(number - start)
        if number in self._lent:
            source.lend(self._lent[number])
        return source

    def release(self) -> None:
        """Forget what looks have kept for the passes of one assessment."""
        for look in self.looks:
            look.release()

    def sums(self, asks: Sequence[Ask]) -> list[KeySums]:
        """Answer questions about all groups, in their order, from one pass."""
        takers = [
            look.adders([ask._replace(group=ask.group - start) for ask in asks[start:stop]])
            for look, start, stop in self._shares()
        ]
        run(takers)
        return [sums for taker in takers for sums in taker.sums()]

    def _feed(self, takers: Mapping[int, Adds]) -> None:
        """Hand the rows of groups to the taker of each, in one pass."""
        feeding = []
        for look, start, stop in self._shares():
            share = {i - start: taker for i, taker in takers.items() if start <= i < stop}
            if share:
                feeding.append(look.feeding(share))
        run(feeding)

    def _shares(self) -> Iterator[tuple[Look, int, int]]:
        """Return each look, and where the numbers of its groups begin and end."""
        return zip(self.looks, self._starts, self._starts[1:], strict=False)


class _Rows:
    """Keeps the rows of one group."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []

    def add(self, chunk: Chunk) -> None:
        self.chunks.append(kept(chunk))


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
