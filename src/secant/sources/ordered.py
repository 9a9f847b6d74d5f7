"""Rows along another order than that of their scores, as a source of blocks."""

from __future__ import annotations

from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks.cell_sums import row_totals
from secant._blocks.key_sums import KeyAdder
from secant._blocks.looking import Source
from secant._blocks.ordered_sums import KeyCells, edges_of, pairs_of
from secant._blocks.refining import join, pick
from secant._blocks.sorting import PathRows
from secant._blocks.table import concatenate
from secant._input.observations import Chunk
from secant.errors import SecantError
from secant.sources import rows as row_source
from secant.sources.rows import RowSource, kept

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from secant._base.types import BoolArray, FloatArray, Forbidden, IntArray, NumberArray
    from secant._blocks.key_sums import Ask, KeySums
    from secant._blocks.looking import RowsInOrder
    from secant._blocks.ordered_sums import Pairs
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Observations

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
        self._by_score = RowSource(rows) if by_score is None else by_score
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
            rows = self._all_rows[0]
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
        with closing(seen.with_keys(row_source.CHUNK)) as chunks:
            for chunk, keys in chunks:
                cells.add(chunk, keys)
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
        return lambda: [PathRows(*rows, ends)]

    @cached_property
    def pairs(self) -> Pairs:
        """The observations by key and score."""
        rows, keys = self._all_rows
        return self._pairs(keys, rows)

    def score_counts(self) -> tuple[NumberArray, FloatArray]:
        """Return how many observations there are of each score, or in narrow cells of scores."""
        if self._cells is not None:
            return self._cells.by_score
        ties = self.pairs.ties
        return ties.n, ties.low

    def sums(self, asks: Sequence[Ask]) -> list[KeySums]:
        """Answer questions about these rows, the only group there is."""
        adders = [KeyAdder(ask, counted=self._rows.counted) for ask in asks]
        beside = self._rows.with_keys(row_source.CHUNK)
        chunks = self.by_score.with_clusters(asks)
        with closing(chunks), closing(beside):
            for (chunk, clusters), (_, places) in zip(chunks, beside, strict=True):
                for ask, adder in zip(asks, adders, strict=True):
                    adder.add(chunk, clusters if ask.clusters else None, places)
        return [adder.sums() for adder in adders]

    def recheck(self) -> None:
        """Raise SecantError if the arrays are seen to have changed since they were checked."""
        self._rows.recheck()

    def _pairs(self, keys: NumberArray, rows: Chunk) -> Pairs:
        seen = self._rows
        return pairs_of(keys, rows, counted=seen.counted, outcome_weights=seen.outcome_weights)

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

    def _inside(self, blocks: Blocks) -> Generator[tuple[Chunk, NumberArray]]:
        """Walk over the rows that some blocks hold."""
        with closing(self._rows.with_keys(row_source.CHUNK)) as chunks:
            for chunk, keys in chunks:
                inside = _within(blocks, keys)
                yield pick(chunk, inside), keys[inside]

    def _ties(self, blocks: Blocks) -> Blocks:
        found = [(kept(chunk), keys) for chunk, keys in self._inside(blocks) if keys.size]
        if not found:
            raise _changed()
        rows = join([chunk for chunk, _ in found])
        keys = np.concatenate([keys for _, keys in found])
        return self._pairs(keys, rows).blocks()

    def _pieces(self, blocks: Blocks) -> Blocks:
        """Cut blocks at keys that share their rows fairly; one more walk finds them."""
        each = max(1, int(blocks.n.sum()) // (1 << 20))
        found: list[Any] = [keys[::each].copy() for _, keys in self._inside(blocks)]
        sample: Any = np.sort(np.concatenate(found))
        edges = edges_of(sample, _PIECES * max(1, len(blocks) // 16))
        # Where blocks begin cells begin, and end where they end.
        edges = np.unique(np.concatenate([edges, blocks.low]))
        cells = self._key_cells(edges)
        for chunk, keys in self._inside(blocks):
            cells.add(chunk, keys)
        return cells.blocks()

    @cached_property
    def _all_rows(self) -> tuple[Chunk, Any]:
        """All rows in memory, as they come, with their keys."""
        with closing(self._rows.with_keys(self.rows)) as chunks:
            found = [(kept(chunk), keys) for chunk, keys in chunks]
        return join([chunk for chunk, _ in found]), np.concatenate([keys for _, keys in found])

    @cached_property
    def _ordered(self) -> tuple[Chunk, IntArray]:
        rows, keys = self._all_rows
        if self._rows.counted and rows.weights is not None:
            index = np.repeat(np.arange(keys.size), rows.weights.astype(np.int64))
            rows, keys = Chunk(rows.scores[index], rows.labels[index], None), keys[index]
        by = (rows.scores, keys) if rows.weights is None else (rows.weights, rows.scores, keys)
        order = np.lexsort(by)
        keys = keys[order]
        return pick(rows, order), np.append(np.flatnonzero(keys[1:] != keys[:-1]), keys.size - 1)


def _within(blocks: Blocks, keys: NumberArray) -> BoolArray:
    owner = np.maximum(np.searchsorted(blocks.low, keys, side="right") - 1, 0)
    return (keys >= blocks.low[owner]) & (keys <= blocks.high[owner])


def _changed() -> SecantError:
    return SecantError("the data were changed after they were assessed: assess them again")
