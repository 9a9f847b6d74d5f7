"""Groups that lie apart from each other, a source each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant._blocks.looking import Groups
from secant._input.keys import key_order
from secant._input.observations import split
from secant.sources.small import blocks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from secant._base.types import IntArray
    from secant._blocks.key_sums import Ask, KeySums
    from secant._blocks.looking import RowsInOrder, Source
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Observations

__all__ = ["Apart", "apart"]


class Apart(Groups):
    """Groups that lie apart from each other, a source each.

    Parameters
    ----------
    keys, sources
        What the groups are called in the data, and where they are.
    by
        The names of what the data are grouped by.
    empty
        The keys of groups without weight, which have no source.
    left_out
        How many rows lacked a score or an outcome, of all groups.
    """

    def __init__(
        self,
        keys: Sequence[Any],
        sources: Sequence[Source],
        by: tuple[str, ...] = (),
        empty: tuple[Any, ...] = (),
        left_out: int = 0,
    ) -> None:
        self.keys, self.by, self.empty = keys, by, empty
        self._sources, self._left_out = sources, left_out

    @property
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome, of all groups."""
        return self._left_out

    def blocks(self) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of every group."""
        return blocks_of(self._sources)

    def refine(self, wanted: Mapping[int, Blocks]) -> dict[int, Blocks]:
        """Return finer blocks for the groups numbered."""
        return {number: self._sources[number].refine(blocks) for number, blocks in wanted.items()}

    def source(self, number: int) -> Source:
        """Return one group by itself."""
        return self._sources[number]

    def release(self) -> None:
        """Let sources forget the rows that they hold."""
        for source in self._sources:
            source.release()

    def sums(self, asks: Sequence[Ask]) -> list[KeySums]:
        """Answer questions about groups, one after the other."""
        return [self._sources[ask.group].sums([ask])[0] for ask in asks]

    def in_order(self, numbers: Sequence[int]) -> dict[int, RowsInOrder]:
        """Return what walks over the rows of groups in order, without those that cannot be had."""
        found = {number: self._sources[number].in_order() for number in numbers}
        return {number: rows for number, rows in found.items() if rows is not None}


def apart(
    seen: Observations,
    keys: Sequence[Any],
    codes: IntArray,
    by: tuple[str, ...],
    source: Callable[[Observations, int], Source],
) -> Apart:
    """Return rows in memory in groups, in the order of keys.

    Parameters
    ----------
    seen
        The rows.
    keys, codes
        Row i is in group ``keys[codes[i]]``.
    by
        The names of what they are grouped by.
    source
        Makes a source of the rows of a group and its number.
    """
    pieces = split(seen, codes, len(keys))
    full, sources, empty = [], [], []
    for number in key_order(keys):
        if (piece := pieces[number]) is None:
            empty.append(keys[number])
        else:
            full.append(keys[number])
            sources.append(source(piece, number))
    return Apart(full, sources, by, tuple(empty), seen.left_out)
