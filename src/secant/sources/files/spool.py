"""Rows that wait until they are looked at: in memory while few, in temporary files once many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks.sorting import on_disk
from secant._input.keys import group_order
from secant._input.observations import Chunk, join, pick

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import BoolArray

__all__ = ["IN_MEMORY", "Spool", "in_groups"]

# Rows that are kept in memory: 80 MB of them in groups, or 200 with weights, clusters and places.
IN_MEMORY = 1 << 22
# Smaller than what rows come in; what is not here stays as it is.
_KINDS: dict[str, Any] = {"labels": np.uint8, "group": np.int32}


class Spool:
    """Rows that wait.

    Parameters
    ----------
    in_groups
        Whether rows that go to files are put in the order of their groups, so that those of a few
        are found without reading all.
    """

    def __init__(self, *, in_groups: bool) -> None:
        self._in_groups = in_groups
        self._held: list[Chunk] = []
        self._runs: list[Chunk] = []
        self._count = 0
        self._is_sorted = False

    @property
    def size(self) -> int:
        """How many rows wait."""
        return self._count + sum(run.scores.size for run in self._runs)

    def add(self, chunk: Chunk) -> None:
        """Take in some rows, whose memory may be used again afterwards.

        Raises
        ------
        SecantError
            If they are too many for the disk.
        """
        if chunk.scores.size:
            self._held.append(_compact(chunk))
            self._count += chunk.scores.size
        if self._count > IN_MEMORY:
            rows = join(self._held)
            rows = in_groups(rows) if self._in_groups else rows
            self._held, self._count = [], 0
            self._runs.append(_mapped([rows]))

    def drop(self, gone: BoolArray) -> None:
        """Forget the rows of some groups that are in memory; nobody asks for the others again."""
        held, self._held, self._count = self._held, [], 0
        for chunk in held:
            self.add(pick(chunk, ~gone[chunk.group]))

    def among(self, groups: BoolArray) -> Iterator[Chunk]:
        """Return the rows of some groups, group by group in each of the chunks."""
        for run in self._runs:
            for group in np.flatnonzero(groups).tolist():
                yield pick(run, _slice(run, group, group + 1))
        for chunk in self._held:
            yield in_groups(pick(chunk, groups[chunk.group]))

    def rows(self) -> Chunk:
        """Return all rows as they came, in memory or mapped from files."""
        return _mapped([*self._runs, *self._held]) if self._runs else join(self._held)

    def of(self, groups: slice) -> Chunk | None:
        """Return the rows of some consecutive groups, group by group; None if there are none.

        No more rows are to come.
        """
        if not self._is_sorted and self._held:
            self._held = [in_groups(join(self._held))]
        self._is_sorted = True
        runs = [*self._runs, *self._held]
        found = [pick(run, _slice(run, groups.start, groups.stop)) for run in runs]
        found = [chunk for chunk in found if chunk.scores.size]
        if not found:
            return None
        return found[0] if len(found) == 1 else in_groups(join(found))


def _mapped(parts: list[Chunk]) -> Chunk:
    """Return rows that were written to files, one part after the other."""
    columns: list[Any] = [
        None if column[0] is None else on_disk(*column) for column in zip(*parts, strict=True)
    ]
    return Chunk(*columns)


def in_groups(chunk: Chunk) -> Chunk:
    """Return rows in the order of their groups, first come first within one."""
    group: Any = chunk.group
    return pick(chunk, group_order(group))


def _slice(run: Chunk, first: int, last: int) -> slice:
    group: Any = run.group
    return slice(*np.searchsorted(group, [first, last]).tolist())


def _compact(chunk: Chunk) -> Chunk:
    columns: dict[str, Any] = {
        name: np.array(column, _KINDS.get(name))
        for name, column in chunk._asdict().items()
        if column is not None
    }
    return Chunk(**columns)
