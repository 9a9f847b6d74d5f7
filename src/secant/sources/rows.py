"""Rows that can be walked over again and again, as a source of blocks: arrays, files."""

from __future__ import annotations

import math
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np

from secant._blocks.cell_sums import CellSums, row_totals
from secant._blocks.cluster_sums import Adder
from secant._blocks.grains import Grinding
from secant._blocks.grids import DyadicGrid, SampledGrid
from secant._blocks.refining import Refinement, join, pick
from secant._blocks.sorting import RUN
from secant._blocks.table import Blocks, Totals, collapse, completed
from secant._input.observations import Chunk, Observations, observations
from secant._input.options import Reading

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from secant._base.types import FloatArray, Forbidden, IntArray
    from secant._blocks.cluster_sums import ClusterSums
    from secant._blocks.grains import Grains, Ties
    from secant._blocks.grids import BucketGrid
    from secant._input.options import WeightKind

__all__ = ["RowSource", "Rows", "ScoreSums", "in_memory", "kept"]

# Up to this many rows sorting everything is as quick as cutting into cells, and keeps every point.
SORT_UP_TO = 1 << 16
# Rows looked at together: a few arrays of this length stay in a processor's cache.
CHUNK = 1 << 18
# Rows of unresolved blocks that are cut into ties, at least; more of many rows, but never so many
# that memory would grow with them. All others are cut into about so many pieces; whoever asks for
# those to be cut again needs their ties.
COLLECT_UP_TO = 1 << 16
COLLECT_SHARE = 1 / 64
COLLECT_AT_MOST = 1 << 22
PIECES = 1 << 12
_WHERE_PIECES_ARE = 1 / 4
_SAMPLE = 1 << 14
# How often a score is in the sample that is counted apart, not sorted with the others.
_COMMON = 8


class Rows(Protocol):
    """Checked observations, wherever they lie: scores in [0, 1], labels 0 or 1, weights positive.

    ``rows`` counts them, rows of weight zero included; ``lowest`` and ``highest`` bound the scores;
    ``counted`` tells whether weights count copies of rows.
    """

    @property
    def rows(self) -> int: ...  # noqa: D102
    @property
    def lowest(self) -> float: ...  # noqa: D102
    @property
    def highest(self) -> float: ...  # noqa: D102
    @property
    def counted(self) -> bool: ...  # noqa: D102
    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        ...

    @property
    def outcome_weights(self) -> tuple[float, float] | None:
        """What the outcomes 0 and 1 weigh, on top of the weights of rows."""
        ...

    @property
    def refused(self) -> Forbidden:
        """The rows whose score rules out what happened; known after a first walk."""
        ...

    def chunks(self, size: int) -> Generator[Chunk]:
        """Walk over the rows of positive weight; a chunk is valid until the next one is taken."""
        ...

    def sample(self, size: int) -> FloatArray:
        """Return about so many of the scores, from everywhere, in ascending order."""
        ...

    def recheck(self) -> None:
        """Raise SecantError if the rows are seen to have changed since they were checked."""
        ...


@runtime_checkable
class ClusteredRows(Protocol):
    """Rows that belong together in clusters."""

    def with_clusters(self, size: int) -> Generator[tuple[Chunk, IntArray]]:
        """Walk over the rows of positive weight, with the number of each one's cluster."""
        ...


class ScoreSums(NamedTuple):
    """Sums of w|r - s| and of w times the log loss, which may be infinite."""

    residual: float
    log_loss: float


class RowSource:
    """Observations in rows: sorted when few, cut into cells when many.

    Parameters
    ----------
    rows
        The observations.
    log_loss
        Whether the first look sums it; as a rule where rows are not in memory, to be asked later.
    """

    def __init__(self, rows: Rows, *, log_loss: bool | None = None) -> None:
        self._observations = rows
        self._log_loss = not self.is_in_memory if log_loss is None else log_loss

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self._observations.sampling

    @property
    def forbidden(self) -> Forbidden:
        """The rows whose score rules out what happened."""
        return self._observations.refused

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:
        """Return blocks that hold every observation, and the sums over all of them."""
        if self._observations.rows <= SORT_UP_TO:
            rows = self._all_rows()
            blocks = self._collapse(rows, moments=True)
            return blocks, self._totals(rows, blocks)
        sums = self.cell_sums(moments=moments)
        self._feed(sums)
        blocks = sums.blocks()
        return blocks, sums.totals(blocks)

    def cell_sums(self, *, moments: bool = False) -> CellSums:
        """Return empty sums over cells made for these rows."""
        return CellSums(
            self._grid,
            sampling=self.sampling,
            moments=moments or self._observations.outcome_weights is not None,
            outcome_weights=self._observations.outcome_weights,
            log_loss=self._log_loss,
        )

    def shuffled(self, rng: np.random.Generator) -> tuple[Blocks, Totals]:
        """Return one block a row, equal scores in random order, as the paper has it."""
        rows = self._all_rows()
        shuffle = rng.permutation(rows.scores.shape[0])
        order = shuffle[np.argsort(rows.scores[shuffle], kind="stable")]
        blocks = self._collapse(rows, order=order)
        return blocks, self._totals(rows, blocks)

    def refine(self, blocks: Blocks) -> Blocks:
        """Cut blocks finer: into ties where that takes few rows, else into pieces of some."""
        finer = self.refinement(blocks)
        self._feed(finer)
        return finer.blocks()

    def refinement(self, blocks: Blocks) -> Refinement:
        """Return what makes finer blocks of these when it is fed every row."""
        common, loose = self._common_scores(blocks)
        share = COLLECT_SHARE * self._observations.rows
        are_pieces = blocks.inside is not None
        budget = max(COLLECT_UP_TO, COLLECT_AT_MOST if are_pieces else min(share, COLLECT_AT_MOST))
        if not are_pieces and loose.sum() > budget:
            budget *= _WHERE_PIECES_ARE  # they have to be looked into again
        lightest_first = np.argsort(loose, kind="stable")
        light = np.zeros(len(blocks), bool)
        light[lightest_first[np.cumsum(loose[lightest_first]) <= budget]] = True
        return Refinement(
            blocks,
            light,
            common,
            PIECES,
            self._grid,
            run=self._observations.rows if self.is_in_memory else RUN,
            sampling=self.sampling,
            counted=self._observations.counted,
            outcome_weights=self._observations.outcome_weights,
        )

    def grinds(self, number: int) -> bool:
        """Tell whether ties can be had pooled into grains: rows can be put in order."""
        return number == 0

    def grains(self, sizes: Mapping[int, float]) -> dict[int, Ties | Grains]:
        """Return the grains of these rows, the only group there is."""
        found = {}
        for number, size in sizes.items():
            grinding = self.grinding(size, self.rows if self.is_in_memory else RUN)
            self._feed(grinding)
            found[number] = grinding.grains()
        return found

    def grinding(self, size: float, run: int) -> Grinding:
        """Return what makes grains when it is fed every row, so many of them in memory."""
        return Grinding(size, self.rows, counted=self._observations.counted, run=run)

    @property
    def rows(self) -> int:
        """How many rows there are, those of weight zero included."""
        return self._observations.rows

    @property
    def is_in_memory(self) -> bool:
        """Whether the rows are in memory already."""
        return isinstance(self._observations, Observations)

    def in_memory(self) -> Observations:
        """Return the rows themselves, read into memory where they are elsewhere."""
        if isinstance(self._observations, Observations):
            return self._observations
        rows = self._all_rows()
        kind: WeightKind = "frequency" if self._observations.counted else "sampling"
        return observations(
            rows.labels,
            rows.scores,
            rows.weights,
            Reading(kind, outcome_weights=self._observations.outcome_weights),
        )

    def sorted_rows(self) -> Chunk:
        """Return every score, response and weight in the order of scores, then of weights.

        Rows that share both are alike but for what happened, so what is drawn for them does
        not depend on the order in which they came. Counted copies of rows are rows of their own.
        """
        rows = self._all_rows()
        if self._observations.counted:
            rows = copied(rows)
        keys = (rows.scores,) if rows.weights is None else (rows.weights, rows.scores)
        return pick(rows, np.lexsort(keys))

    def cluster_sums(self, tables: Sequence[Blocks], limit: int) -> list[ClusterSums]:
        """Return the sums by cluster and cell of these rows, the only group there is."""
        (blocks,) = tables
        adder = Adder(blocks, limit, counted=self._observations.counted)
        assert isinstance(self._observations, ClusteredRows)  # noqa: S101
        with closing(self._observations.with_clusters(CHUNK)) as chunks:
            for chunk, clusters in chunks:
                adder.add(chunk, clusters)
        return [adder.sums()]

    def score_sums(self) -> ScoreSums:
        """Walk over all rows for the sums that proper scores need and blocks do not have."""
        parts = []
        outcome_weights = self._observations.outcome_weights
        with closing(self._observations.chunks(CHUNK)) as chunks, np.errstate(divide="ignore"):
            for scores, labels, weights in chunks:
                # The chance given to what happened: s after an event, else 1 - s.
                chance = np.abs((1 - labels) - scores.astype(np.float64, copy=False))
                columns = [1 - chance, -np.log(chance)]
                if weights is not None:
                    columns = [weights * column for column in columns]
                if outcome_weights is not None:
                    of_outcome = np.where(labels, *reversed(outcome_weights))
                    columns = [of_outcome * column for column in columns]
                parts.append([float(column.sum()) for column in columns])
        return ScoreSums(*map(math.fsum, zip(*parts, strict=True)))

    def recheck(self) -> None:
        """Raise SecantError if the arrays are seen to have changed since they were checked."""
        self._observations.recheck()

    @cached_property
    def _sample(self) -> FloatArray:
        return self._observations.sample(_SAMPLE)

    @cached_property
    def _grid(self) -> BucketGrid:
        """Equal cells are the quickest to find, and do unless scores crowd or repeat."""
        seen = self._observations
        # Rows left to sort grow like (n / cells)^2, misses of the processor's cache with cells:
        # 2^16 cells for 1e7 rows and 2^17 for 1e8 were the quickest.
        bits = max(14, min(20, round(0.4 * math.log2(seen.rows) + 6.6)))
        if _spread_out(self._sample):
            return DyadicGrid(bits)
        return SampledGrid(seen.sample(1 << bits), seen.lowest, seen.highest, 1 << bits)

    def _common_scores(self, blocks: Blocks) -> tuple[FloatArray, FloatArray]:
        """Guess the commonest score of each block and how many rows have another one.

        A block without a common score gets -1, which no row equals.
        """
        values, counts = np.unique(self._sample, return_counts=True)
        before = np.concatenate([[0], np.cumsum(counts)])
        start = np.searchsorted(values, blocks.low, side="left")
        stop = np.searchsorted(values, blocks.high, side="right")
        sampled = before[stop] - before[start]
        common = np.full(len(blocks), -1.0)
        loose = blocks.n.astype(np.float64)
        for number in np.flatnonzero(sampled > stop - start):  # the sample has a score twice
            best = start[number] + int(np.argmax(counts[start[number] : stop[number]]))
            if counts[best] < _COMMON:
                continue
            common[number] = values[best]
            loose[number] *= 1 - counts[best] / sampled[number]
        return common, loose

    def _all_rows(self) -> Chunk:
        # Copies: how many chunks there are is known only when the last one has been taken.
        with closing(self._observations.chunks(self._observations.rows)) as chunks:
            return join([kept(chunk) for chunk in chunks])

    def _feed(self, taker: CellSums | Refinement | Grinding) -> None:
        # Closed at once if something fails: rows may come from a thread that reads ahead.
        with closing(self._observations.chunks(CHUNK)) as chunks:
            for chunk in chunks:
                taker.add(chunk)

    def _collapse(
        self, rows: Chunk, *, moments: bool = False, order: IntArray | None = None
    ) -> Blocks:
        seen = self._observations
        return collapse(
            *rows,
            counted=seen.counted,
            moments=moments,
            order=order,
            outcome_weights=seen.outcome_weights,
        )

    def _totals(self, rows: Chunk, blocks: Blocks) -> Totals:
        seen = self._observations
        totals = row_totals(
            rows,
            rows.scores * (1 - rows.scores),
            sampling=seen.sampling,
            outcome_weights=seen.outcome_weights,
            log_loss=self._log_loss,
        )
        weighted = seen.sampling or seen.outcome_weights is not None
        return totals if weighted else completed(totals, blocks)


def in_memory(source: object) -> TypeGuard[RowSource]:
    """Tell whether a source is of rows in memory."""
    return isinstance(source, RowSource) and source.is_in_memory


def copied(rows: Chunk) -> Chunk:
    """Repeat rows as often as their weights say."""
    if rows.weights is None:
        return rows
    index = np.repeat(np.arange(rows.weights.shape[0]), rows.weights.astype(np.int64))
    return Chunk(rows.scores[index], rows.labels[index], None)


def _spread_out(sample: FloatArray) -> bool:
    """Tell whether equal cells share the variance of scores fairly, few of which repeat."""
    variance = sample * (1 - sample)
    heaviest = np.bincount((sample * 1024).astype(np.int64), variance).max()
    repeats = np.count_nonzero(sample[1:] == sample[:-1])
    return bool(heaviest * 128 <= variance.sum() and repeats * 50 <= sample.shape[0])


def kept(chunk: Chunk) -> Chunk:
    """Copy a chunk, whose memory may be used again for the next one."""
    scores, labels, weights = chunk
    return Chunk(scores.copy(), labels.copy(), None if weights is None else weights.copy())
