"""Sums by combinations of levels and cells of scores: what a search for segments starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.looking import Source
    from secant._input.features import Levels
    from secant._input.observations import Chunk

    # Features and the level of each.
    Conditions = tuple[tuple[int, int], ...]

__all__ = ["Adder", "Grouping", "RowSegments", "Searchable", "Sums"]

# Features, by number, whose levels are combined.
Grouping = tuple[int, ...]


class Sums(NamedTuple):
    """Sums of one grouping: an axis for the levels of each feature, then one for cells.

    ``n`` counts observations, ``w`` is their weight and ``gain`` the sum of w(r - s). Without an
    axis for cells, ``n1`` counts events, ``wwv`` and ``wwwv`` are the sums of w^2 s(1 - s) and
    w^3 s(1 - s), of counted copies of rows that of w s(1 - s).
    """

    n: IntArray
    w: FloatArray
    gain: FloatArray
    n1: IntArray
    wwv: FloatArray
    wwwv: FloatArray


class Adder:
    """Adds up rows for several groupings.

    Parameters
    ----------
    sizes
        How many levels each feature has. A row's level may be one more: a value not searched.
    groupings
        The features to combine.
    cells
        The number of cells of scores.
    sampling, counted
        Whether rows carry sampling weights, or weights that count copies.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        groupings: Sequence[Grouping],
        cells: int,
        *,
        sampling: bool = False,
        counted: bool = False,
    ) -> None:
        self._sizes, self._groupings, self._cells = sizes, groupings, cells
        self._sampling, self._counted = sampling, counted
        # Floats from the start: of no rows at all np.bincount makes integers, with weights too.
        self._fine: list[list[Any]] = [[0.0, 0.0, 0.0] for _ in groupings]
        self._coarse: list[list[Any]] = [[0.0, 0.0, 0.0] for _ in groupings]

    def add(self, chunk: Chunk, levels: Sequence[Any], cell: Any) -> None:
        """Add rows, with the level of each in every feature, and its cell."""
        happened = np.flatnonzero(chunk.labels)
        residual = chunk.labels - chunk.scores
        variance = chunk.scores * (1 - chunk.scores)
        weight = chunk.weights
        if weight is not None:
            residual = residual * weight
            variance = variance * (weight * weight if self._sampling else weight)
        cubes = None if not self._sampling or weight is None else variance * weight
        copies = weight if self._counted else None
        for number, grouping in enumerate(self._groupings):
            code, size = self.codes(levels, grouping)
            place = code * self._cells + cell
            fine, coarse = self._fine[number], self._coarse[number]
            every = size * self._cells
            fine[0] += np.bincount(place, copies, minlength=every)
            if self._sampling:
                fine[1] += np.bincount(place, weight, minlength=every)
            fine[2] += np.bincount(place, residual, minlength=every)
            part = None if copies is None else copies[happened]
            coarse[0] += np.bincount(code[happened], part, minlength=size)
            coarse[1] += np.bincount(code, variance, minlength=size)
            if cubes is not None:
                coarse[2] += np.bincount(code, cubes, minlength=size)

    def codes(self, levels: Sequence[Any], grouping: Grouping) -> tuple[Any, int]:
        """Return the number of each row's combination of levels, and how many there are."""
        first, *others = grouping
        code, size = levels[first].astype(np.int32), self._sizes[first] + 1
        for feature in others:
            code *= self._sizes[feature] + 1
            code += levels[feature]
            size *= self._sizes[feature] + 1
        return code, size

    def sums(self) -> list[Sums]:
        """Return what has been added up, less the values not searched."""
        return [
            self._shaped(grouping, *fine, *coarse)
            for grouping, fine, coarse in zip(
                self._groupings, self._fine, self._coarse, strict=True
            )
        ]

    def _shaped(self, grouping: Grouping, *columns: Any) -> Sums:
        kept = tuple(slice(self._sizes[feature]) for feature in grouping)
        shape = [self._sizes[feature] + 1 for feature in grouping]

        def cut(column: Any, *cells: int) -> Any:
            return column.reshape(*shape, *cells)[kept]

        n, w, gain, n1, wwv, wwwv = columns
        n, gain = (cut(column, self._cells) for column in (n, gain))
        w = cut(w, self._cells) if self._sampling else n.astype(np.float64)
        wwv = cut(wwv)
        wwwv = cut(wwwv) if self._sampling else wwv
        return Sums(n.astype(np.int64), w, gain, cut(n1).astype(np.int64), wwv, wwwv)


class Searchable:
    """Data that answer what a search for segments asks, wherever they are.

    Attributes
    ----------
    levels
        Those of each feature.
    rows
        How many rows there are.
    sampling, counted
        Whether rows carry sampling weights, and whether weights count copies of rows.
    heaviest
        The largest sampling weight, 1 without any; known after the first sums.
    at_hand
        Whether all rows are in memory, so that outcomes can be drawn for them.
    """

    levels: list[Levels]
    rows: int
    sampling: bool
    counted: bool
    heaviest = 1.0
    at_hand = False

    def sums(self, groupings: Sequence[Grouping]) -> Iterator[Sums]:
        """Return the sums of groupings, one after the other: one pass over the data."""
        raise NotImplementedError

    def inside(
        self, conditions: Conditions, groupings: Sequence[Grouping]
    ) -> dict[Grouping, FloatArray]:
        """Return the weight of the rows that meet conditions, by levels and cells: one pass."""
        raise NotImplementedError

    def source(self, conditions: Conditions, n: int) -> Source:
        """Return the rows that meet conditions, of which there are n observations."""
        raise NotImplementedError

    def in_order(self) -> tuple[Chunk, list[IntArray], IntArray]:
        """Return rows at hand in an order that their contents determine, their levels and cells.

        Levels are told apart by how many rows they have, so that names do not matter.
        """
        raise NotImplementedError

    def cells_for_draws(self, most: int) -> int:
        """Cut scores at hand anew, into at most so many cells; return their number."""
        raise NotImplementedError


class RowSegments(Searchable):
    """Rows that can be walked over again and again: arrays, files."""

    def pieces(self, conditions: Conditions = ()) -> Iterator[tuple[Chunk, Sequence[Any], Any]]:
        """Walk over the rows that meet conditions, with their levels and their cells."""
        raise NotImplementedError

    cells: int  # of scores

    def inside(
        self, conditions: Conditions, groupings: Sequence[Grouping]
    ) -> dict[Grouping, FloatArray]:
        """Return the weight of the rows that meet conditions, by levels and cells."""
        found = zip(groupings, self.added(groupings, conditions), strict=True)
        return {grouping: sums.w for grouping, sums in found}

    def added(self, groupings: Sequence[Grouping], conditions: Conditions = ()) -> list[Sums]:
        """Return the sums of groupings over the rows that meet conditions, from one walk."""
        sizes = [len(levels) for levels in self.levels]
        kind = {"sampling": self.sampling, "counted": self.counted}
        adder = Adder(sizes, groupings, self.cells, **kind)
        for piece in self.pieces(conditions):
            adder.add(*piece)
        return adder.sums()
