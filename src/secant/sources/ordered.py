"""Rows along another order than that of their scores, as a source of blocks."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks.cell_sums import row_totals
from secant._blocks.looking import Source
from secant._blocks.ordered_sums import KeyCells, edges_of, pairs_of
from secant._blocks.sorting import PathRows
from secant._blocks.table import concatenate
from secant._input.observations import join, pick
from secant.errors import SecantError
from secant.sources import rows as row_source
from secant.sources.rows import RowSource, copied, kept, sums_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from secant._base.types import BoolArray, FloatArray, Forbidden, IntArray, NumberArray
    from secant._blocks.key_sums import Ask, KeySums
    from secant._blocks.looking import RowsInOrder
    from secant._blocks.ordered_sums import Pairs
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Chunk, Observations

__all__ = ["OrderedSource"]

# Cells that many rows are cut into at first, and keys looked at to place them.
_CELLS = 1 << 14
_SAMPLE = 1 << 16
# Pieces that a block of too many rows is cut into.
_PIECES = 1 << 12


class OrderedSource(Source):
    """Observations along an axis: sorted when few, cut into cells of keys when many.

    Parameters
    ----------
    rows
        The observations, which have ``keys`` and an ``axis``.
    refused
        The rows whose score rules out what happened, if not those that ``rows`` knows.
    by_score
        The same rows in the order of their scores, if not these.
    """

    at_hand = True
    has_pairs = True

    def __init__(
        self,
        rows: Observations,
        refused: Forbidden | None = None,
        by_score: RowSource | None = None,
    ) -> None:
        assert rows.axis is not None  # noqa: S101
        self.axis = rows.axis
        self._rows = rows
        self._refused = rows.refused if refused is None else refused
        alone = replace(rows, keys=None, axis=None)
        self._by_score = RowSource(alone) if by_score is None else by_score
        self._cells: KeyCells | None = None

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self._rows.sampling

    @property
    def forbidden(self) -> Forbidden:
        """The rows whose score rules out what happened."""
        return self._refused

    @property
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome."""
        return self._rows.left_out

    @property
    def rows(self) -> int:
        """How many rows there are, those of weight zero included."""
        return self._rows.rows

    @property
    def by_score(self) -> RowSource:
        """The same rows in the order of their scores."""
        return self._by_score

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:  # noqa: ARG002  (always)
        """Return blocks that hold every observation, and the sums over all of them."""
        seen = self._rows
        if seen.rows <= row_source.SORT_UP_TO:
            rows = self._all_rows
            blocks = self.pairs.blocks()
            totals = row_totals(
                rows,
                rows.scores * (1 - rows.scores),
                sampling=seen.sampling,
                outcome_weights=seen.outcome_weights,
            )
            weighted = seen.sampling or seen.outcome_weights is not None
            return blocks, totals if weighted else totals.completed(blocks)
        cells = self._key_cells(edges_of(self._sample(), _CELLS))
        with closing(seen.chunks(row_source.CHUNK)) as chunks:
            for chunk in chunks:
                cells.add(chunk, _places(chunk))
        self._cells = cells
        blocks = cells.blocks()
        return blocks, cells.totals(blocks)

    def refine(self, blocks: Blocks) -> Blocks:
        """Cut blocks finer: into ties where that takes few rows, else into pieces of some."""
        share = row_source.COLLECT_SHARE * self.rows
        budget = max(row_source.COLLECT_UP_TO, min(share, row_source.COLLECT_AT_MOST))
        lightest_first = np.argsort(blocks.n, kind="stable")
        light = np.zeros(len(blocks), bool)
        light[lightest_first[np.cumsum(blocks.n[lightest_first]) <= budget]] = True
        parts: list[Blocks] = []
        if light.any():
            parts.append(self._ties(blocks.select(light)))
        if not light.all():
            parts.append(self._pieces(blocks.select(~light)))
        return concatenate(parts)

    def in_order(self) -> RowsInOrder:
        """Return what walks over all rows in the order of keys, of scores, of weights."""
        rows, ends = self._ordered
        return lambda: [PathRows(*rows[:3], ends)]

    @cached_property
    def pairs(self) -> Pairs:
        """The observations by key and score."""
        return self._pairs(self._all_rows)

    def score_counts(self) -> tuple[NumberArray, FloatArray]:
        """Return how many observations there are of each score, or in narrow cells of scores."""
        if self._cells is not None:
            return self._cells.by_score
        ties = self.pairs.ties
        return ties.n, ties.low

    def sums(self, asks: Sequence[Ask]) -> list[KeySums]:
        """Answer questions about these rows, the only group there is."""
        return sums_of(self._rows, asks)

    def recheck(self) -> None:
        """Raise SecantError if the arrays are seen to have changed since they were checked."""
        self._rows.recheck()

    def _pairs(self, rows: Chunk) -> Pairs:
        seen = self._rows
        key, o = _places(rows), seen.outcome_weights
        return pairs_of(key, rows, counted=seen.counted, outcome_weights=o)

    def _key_cells(self, edges: NumberArray) -> KeyCells:
        seen = self._rows
        return KeyCells(
            edges,
            sampling=seen.sampling,
            counted=seen.counted,
            outcome_weights=seen.outcome_weights,
        )

    def _sample(self) -> NumberArray:
        keys = self._rows.keys
        assert keys is not None  # noqa: S101
        some: Any = keys[:: -(-keys.shape[0] // _SAMPLE)]
        return np.sort(some)

    def _inside(self, blocks: Blocks) -> Generator[Chunk]:
        """Walk over the rows that some blocks hold."""
        with closing(self._rows.chunks(row_source.CHUNK)) as chunks:
            for chunk in chunks:
                yield pick(chunk, _within(blocks, _places(chunk)))

    def _ties(self, blocks: Blocks) -> Blocks:
        found = [kept(chunk) for chunk in self._inside(blocks) if chunk.scores.size]
        if not found:
            raise _changed()
        return self._pairs(join(found)).blocks()

    def _pieces(self, blocks: Blocks) -> Blocks:
        """Cut blocks at keys that share their rows fairly; one more walk finds them."""
        each = max(1, int(blocks.n.sum()) // (1 << 20))
        found: list[Any] = [_places(chunk)[::each].copy() for chunk in self._inside(blocks)]
        sample: Any = np.sort(np.concatenate(found))
        edges = edges_of(sample, _PIECES * max(1, len(blocks) // 16))
        # Where blocks begin cells begin, and end where they end.
        edges = np.unique(np.concatenate([edges, blocks.low]))
        cells = self._key_cells(edges)
        for chunk in self._inside(blocks):
            cells.add(chunk, _places(chunk))
        return cells.blocks()

    @cached_property
    def _all_rows(self) -> Chunk:
        """All rows in memory, as they come."""
        with closing(self._rows.chunks(self.rows)) as chunks:
            return join([kept(chunk) for chunk in chunks])

    @cached_property
    def _ordered(self) -> tuple[Chunk, IntArray]:
        rows = copied(self._all_rows) if self._rows.counted else self._all_rows
        by = [column for column in (rows.weights, rows.scores, rows.place) if column is not None]
        rows = pick(rows, np.lexsort(by))
        places = _places(rows)
        return rows, np.append(np.flatnonzero(places[1:] != places[:-1]), places.size - 1)


def _places(chunk: Chunk) -> NumberArray:
    assert chunk.place is not None  # noqa: S101
    return chunk.place


def _within(blocks: Blocks, keys: NumberArray) -> BoolArray:
    owner = np.maximum(np.searchsorted(blocks.low, keys, side="right") - 1, 0)
    return (keys >= blocks.low[owner]) & (keys <= blocks.high[owner])


def _changed() -> SecantError:
    return SecantError("the data were changed after they were assessed: assess them again")
