"""Rows that can be walked over again and again, as a source of blocks: arrays, files."""

from __future__ import annotations

import math
from contextlib import closing
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeGuard

import numpy as np

from secant._blocks import kernels
from secant._blocks.cell_sums import CellSums, log_losses, row_totals
from secant._blocks.fixed_sums import FixedSums
from secant._blocks.grids import DyadicGrid, SampledGrid, survey_scores
from secant._blocks.key_sums import KeyAdder
from secant._blocks.looking import ScoreSums, Source
from secant._blocks.refining import Refinement
from secant._blocks.sorting import RUN, PathRows, Sorting
from secant._blocks.table import Blocks, Totals, collapse, in_order, running_sum
from secant._blocks.weighed_sums import CopiedSums, WeighedSums, surveyed
from secant._input.observations import (
    Chunk,
    Observations,
    aligned,
    join,
    observations,
    pick,
    seen_before,
    weights_of,
)
from secant._input.options import AS_USUAL, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from secant._base.types import FloatArray, Forbidden, IntArray
    from secant._blocks.grids import SpreadGrid
    from secant._blocks.key_sums import Ask, KeySums
    from secant._blocks.looking import RowsInOrder
    from secant._input.options import WeightKind

__all__ = ["RowSource", "Rows", "copied", "in_memory", "kept", "of_arrays", "sums_of"]

# Up to this many rows sorting everything is as quick as cutting into cells, and keeps every point.
SORT_UP_TO = 1 << 16
# Rows looked at together: a few arrays of this length stay in a processor's cache.
CHUNK = 1 << 18
# Rows of unresolved blocks that are cut into ties, at least; more of many rows, but never so many
# that memory would grow with them. All others are cut into about so many pieces; whoever asks for
# those to be cut again needs their ties.
COLLECT_UP_TO = 1 << 16
# How often that where another look is a pass over files, which costs more than to sort so many.
COLLECT_OF_FILES = 16
COLLECT_SHARE = 1 / 64
COLLECT_AT_MOST = 1 << 22
PIECES = 1 << 12
_WHERE_PIECES_ARE = 1 / 4
_SAMPLE = 1 << 14
# How often a score is in the sample that is counted apart, not sorted with the others.
_COMMON = 8
_SMALL_SAMPLE = 1 << 12
_CELLS = 4
# Fewer cells where their sums take more of the processor's cache.
_CELLS_WEIGHTED = 2
# Fewer cells where more rows may be collected.
_CELLS_OF_FILES = 2
# So few distinct scores have cells of their own.
_FEW_VALUES = 1024
# Rows of which a small sample is enough.
_SMALL_SAMPLE_UP_TO = 1 << 20


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

    @property
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome; known as well."""
        ...

    def chunks(self, size: int, *, clusters: bool = False) -> Generator[Chunk]:
        """Walk over the rows of positive weight; a chunk is valid until the next one is taken.

        ``clusters`` says that the numbers of their clusters are to come along.
        """
        ...

    def sample(self, size: int) -> FloatArray:
        """Return about so many of the scores, from everywhere, in ascending order."""
        ...

    def recheck(self) -> None:
        """Raise SecantError if the rows are seen to have changed since they were checked."""
        ...


class RowSource(Source):
    """Observations in rows: sorted when few, cut into cells when many.

    Parameters
    ----------
    rows
        The observations.
    log_loss
        Whether the first look sums it; as a rule where rows are not in memory, to be asked later.
    fixed
        What a compiled look at the rows has found already.
    """

    def __init__(
        self, rows: Rows, *, log_loss: bool | None = None, fixed: FixedSums | None = None
    ) -> None:
        self._observations = rows
        self._log_loss = not self.is_in_memory if log_loss is None else log_loss
        self._fixed = fixed

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self._observations.sampling

    @property
    def unweighted(self) -> bool:
        """Whether rows in memory count once each, whatever their outcome."""
        seen = self._observations
        return isinstance(seen, Observations) and seen.weights is None and not seen.outcome_weights

    @property
    def log_loss(self) -> bool:
        """Whether the first look sums the log loss."""
        return self._log_loss

    @property
    def forbidden(self) -> Forbidden:
        """The rows whose score rules out what happened."""
        return self._observations.refused

    @property
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome."""
        return self._observations.left_out

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:
        """Return blocks that hold every observation, and the sums over all of them."""
        if self._observations.rows <= SORT_UP_TO:
            return self.ties(self._all_rows())
        if not moments and (fixed := self._compiled_look()) is not None:
            return fixed.blocks(), fixed.totals()
        sums = self.cell_sums(moments=moments)
        self._feed(sums)
        return self.summed(sums)

    def first_sums(self, *, moments: bool = False) -> CellSums | FixedSums:
        """Return empty sums for a first look at rows of files, to be :meth:`summed` then."""
        fixed = None if moments else self.fixed_sums()
        return self.cell_sums(moments=moments) if fixed is None else fixed

    def summed(self, sums: CellSums | FixedSums) -> tuple[Blocks, Totals]:
        """Return blocks that hold every observation, all of which were added to sums."""
        if isinstance(sums, FixedSums):
            if sums.suffice:
                self._fixed = sums
                return sums.blocks(), sums.totals()
            sums = self.cell_sums()
            self._feed(sums)
        blocks = sums.blocks()
        return blocks, sums.totals(blocks)

    def ties(self, rows: Chunk) -> tuple[Blocks, Totals]:
        """Return a block for each distinct score of all rows, and the sums over them."""
        blocks = self._collapse(rows, moments=True)
        return blocks, self._totals(rows, blocks)

    def heights(self) -> tuple[float, float] | None:
        """Return the extremes of the path of rows in memory without weights.

        They are those of the blocks, bit for bit, without making blocks. None where there are many
        rows, which compiled code did not look at, or of which many would have to be sorted.
        """
        seen = self._observations
        if not isinstance(seen, Observations):
            return None
        if seen.rows > SORT_UP_TO:
            return self._compiled_heights()
        if seen.weights is not None or seen.outcome_weights is not None:
            return None
        (chunk,) = seen.chunks(seen.rows)
        score, happened, _ = in_order(*chunk[:3])
        if (score[1:] == score[:-1]).any():
            steps = collapse(score, happened, None, ordered=True).gain
        else:
            steps = happened - score
        path = running_sum(steps) / seen.rows
        return max(float(path.max()), 0.0), min(float(path.min()), 0.0)

    def _compiled_heights(self) -> tuple[float, float] | None:
        if self._fixed is None or not self.unweighted:
            return None
        cells = self._fixed.undecided()
        if cells is None or cells.rows > self._sorted_at_most:
            return None
        keys = np.empty(0, np.int64)
        if cells.rows:
            seen = self._observations
            assert isinstance(seen, Observations)  # noqa: S101
            whole = kernels.as_whole(seen.labels)
            assert whole is not None  # noqa: S101
            ranges = _ranges(cells.low, cells.high, kernels.MORE_RANGES)
            keys = kernels.collected(seen.scores, *whole, self._fixed.grid, cells.wanted, ranges)
        highest, lowest = cells.decide(keys)
        return highest / self.rows, lowest / self.rows

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
        blocks = self._collapse(rows, moments=True, order=order)
        return blocks, self._totals(rows, blocks)

    def refine(self, blocks: Blocks) -> Blocks:
        """Cut blocks finer: into ties where that takes few rows, else into pieces of some."""
        few = blocks.n.sum() <= COLLECT_UP_TO
        if blocks.fixed is not None and self.is_in_memory and few:
            rows = self._inside(blocks.low, blocks.high)
            return self._collapse(rows, scale=blocks.fixed.scale)
        finer = self.refinement(blocks)
        self._feed(finer)
        return finer.blocks()

    def refinement(self, blocks: Blocks) -> Refinement:
        """Return what makes finer blocks of these when it is fed every row."""
        common, loose = self._common_scores(blocks)
        are_pieces = blocks.inside is not None
        least = COLLECT_UP_TO * (1 if self.is_in_memory else COLLECT_OF_FILES)
        budget: float = max(least, COLLECT_AT_MOST if are_pieces else self._sorted_at_most)
        # So many ties would cost more than to look again at a few pieces of them.
        if not are_pieces and loose.sum() > min(budget, max(COLLECT_UP_TO, self.rows / 2)):
            budget = self._sorted_at_most * _WHERE_PIECES_ARE
        lightest_first = np.argsort(loose, kind="stable")
        light = np.zeros(len(blocks), bool)
        light[lightest_first[np.cumsum(loose[lightest_first]) <= budget]] = True
        return Refinement(
            blocks,
            light,
            common,
            PIECES,
            self._grid if blocks.fixed is None else self._fixed_grid,
            run=self._observations.rows if self.is_in_memory else RUN,
            sampling=self.sampling,
            counted=self._observations.counted,
            outcome_weights=self._observations.outcome_weights,
            near=None if blocks.fixed is None else _ranges(blocks.low, blocks.high),
        )

    @property
    def _sorted_at_most(self) -> float:
        """How many rows may be sorted without a thought."""
        return max(COLLECT_UP_TO, min(COLLECT_SHARE * self.rows, COLLECT_AT_MOST))

    @property
    def rows(self) -> int:
        """How many rows there are, those of weight zero included."""
        return self._observations.rows

    @property
    def at_hand(self) -> bool:
        """Whether looking again takes no reading of files."""
        return self.is_in_memory

    @property
    def is_in_memory(self) -> bool:
        """Whether the rows are in memory already."""
        return isinstance(self._observations, Observations)

    @property
    def lendable(self) -> int:
        """How many rows there are, all of which can be had."""
        return self.rows

    def observations(self) -> Observations:
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

    def in_order(self) -> RowsInOrder:
        """Return what walks over all rows in the order of scores, then of weights.

        Rows that share both are alike but for what happened, so what is drawn for them does
        not depend on the order in which they came. Counted copies of rows are rows of their own.
        What is not in memory is sorted in runs on disk.
        """
        weighted = self.sampling or self._observations.counted
        run = self.rows if self.is_in_memory else RUN
        rows = Sorting(self.rows, weighted=weighted, run=run)
        self._feed(rows)

        def walk() -> Iterator[PathRows]:
            for chunk in rows.chunks(CHUNK):
                scores, weights = chunk.scores, chunk.weights
                if weights is not None and (scores[1:] == scores[:-1]).any():
                    chunk = pick(chunk, np.lexsort((weights, scores)))  # noqa: PLW2901
                yield PathRows(*(copied(chunk) if self._observations.counted else chunk)[:3])

        return walk

    def sums(self, asks: Sequence[Ask]) -> list[KeySums]:
        """Answer questions about these rows, the only group there is."""
        return sums_of(self._observations, asks)

    def score_sums(self) -> ScoreSums:
        """Walk over all rows for the sums that proper scores need and blocks do not have."""
        parts = []
        outcome_weights = self._observations.outcome_weights
        with closing(self._observations.chunks(CHUNK)) as chunks:
            for scores, labels, weights, *_ in chunks:
                residual = np.abs(labels - scores.astype(np.float64, copy=False))
                columns = [residual, log_losses(scores, labels)]
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

    def _compiled_look(self) -> FixedSums | None:
        """Return sums by compiled code, where that pays and rows have no weights."""
        seen = self._observations
        if self._fixed is not None:
            return self._fixed
        if not isinstance(seen, Observations):
            sums = self.fixed_sums()
            if sums is not None:
                self._feed(sums)
                self._fixed = sums if sums.suffice else None
        elif seen.outcome_weights is None:
            columns = _Columns(seen.labels, seen.scores, seen.weights)
            self._fixed = _fixed_sums(columns, counted=seen.counted)
        return self._fixed

    def fixed_sums(self) -> FixedSums | None:
        """Return empty sums for compiled code to fill with rows of files, where that pays."""
        seen = self._observations
        if seen.outcome_weights is not None or not kernels.should_use_numba(seen.rows):
            return None
        kind = FixedSums
        if seen.counted or seen.sampling:
            kind = CopiedSums if seen.counted else WeighedSums
        make = partial(kind, log_loss=self._log_loss)
        return _sums_by(self._sample, seen.rows, _CELLS_OF_FILES, make)

    @property
    def _fixed_grid(self) -> SpreadGrid:
        assert self._fixed is not None  # noqa: S101
        return self._fixed.grid

    def _inside(self, low: FloatArray, high: FloatArray) -> Chunk:
        """Return the rows inside some ranges of scores in order, found by a compiled pass."""
        seen = self._observations
        assert isinstance(seen, Observations)  # noqa: S101
        index = kernels.selected(seen.scores, *_ranges(low, high))
        scores = seen.scores[index].astype(np.float64, copy=False) + 0.0
        owner = np.maximum(np.searchsorted(low, scores, side="right") - 1, 0)
        inside = (scores >= low[owner]) & (scores <= high[owner])
        index, scores = index[inside], scores[inside]
        labels = seen.labels[index].astype(np.int64)
        if seen.weights is None:
            return Chunk(scores, labels, None)
        weights = seen.weights[index].astype(np.float64, copy=False)
        # Equal scores in an order of their own, which is not that of the rows.
        order = np.lexsort((weights, labels, scores))
        order = order[weights[order] > 0]
        return Chunk(scores[order], labels[order], weights[order])

    @cached_property
    def _sample(self) -> FloatArray:
        few = self._observations.rows <= _SMALL_SAMPLE_UP_TO
        return self._observations.sample(_SMALL_SAMPLE if few else _SAMPLE)

    @cached_property
    def _grid(self) -> DyadicGrid | SampledGrid:
        """Equal cells are the quickest to find, and do unless scores crowd or repeat."""
        seen = self._observations
        bits = _cell_bits(seen.rows)
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

    def _feed(self, taker: CellSums | FixedSums | Refinement | Sorting) -> None:
        """Give all rows to who takes them."""
        # Files may have a way of their own.
        feed = getattr(self._observations, "feed", None)
        if feed is not None and feed(taker):
            return
        # Fresh memory costs more than what is done in it: fewer cells allow for smaller chunks.
        size = min(CHUNK, 4 << _cell_bits(self._observations.rows)) if self.is_in_memory else CHUNK
        # Closed at once if something fails: rows may come from a thread that reads ahead.
        with closing(self._observations.chunks(size)) as chunks:
            for chunk in chunks:
                taker.add(chunk)

    def _collapse(
        self,
        rows: Chunk,
        *,
        moments: bool = False,
        order: IntArray | None = None,
        scale: float | None = None,
    ) -> Blocks:
        seen = self._observations
        return collapse(
            *rows[:3],
            counted=seen.counted,
            moments=moments,
            order=order,
            outcome_weights=seen.outcome_weights,
            scale=scale,
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
        return totals if weighted else totals.completed(blocks)


def of_arrays(
    y_true: Any, y_prob: Any, sample_weight: Any = None, reading: Reading = AS_USUAL
) -> RowSource:
    """Return arrays as a source; where compiled code is at hand, they are checked as it goes.

    Raises
    ------
    InputError
        Naming the argument, the offending value and its index.
    """
    plain = reading.pos_label is None and reading.outcome_weights is None
    many = isinstance(y_prob, np.ndarray) and y_prob.shape[:1] > (SORT_UP_TO,)
    if many and plain:
        labels, scores = aligned(y_true, y_prob, sample_weight, drops=reading.drops)
        weights = None if sample_weight is None else weights_of(sample_weight, scores.shape[0])
        found = _fixed_sums(_Columns(labels, scores, weights), counted=reading.counts)
        if found is not None:
            rows = seen_before(
                *(labels, scores, weights),
                found.extent,
                counted=reading.counts,
                n=found.n,
                zeros=found.has_zeros,
                refused=found.refused > 0,
            )
            return RowSource(rows, fixed=found)
    return RowSource(observations(y_true, y_prob, sample_weight, reading))


class _Columns(NamedTuple):
    """Rows in memory, whatever they hold."""

    labels: np.ndarray[Any, Any]
    scores: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any] | None


def _fixed_sums(columns: _Columns, *, counted: bool) -> FixedSums | None:
    """Look at rows with compiled code; None where it does not pay, or something is wrong."""
    labels, scores, weights = columns
    whole = kernels.as_whole(labels)
    if whole is None or not scores.dtype.isnative:
        return None
    rows = scores.shape[0]
    if not kernels.should_use_numba(rows):
        return None
    make: Callable[..., FixedSums] = FixedSums
    if weights is not None:
        kind = CopiedSums if counted else WeighedSums
        told = surveyed(weights) if weights.dtype.isnative else None
        if told is None or not kind.suit_weights(told):
            return None
        make = partial(kind, weights=told)
    cells = _CELLS if weights is None else _CELLS_WEIGHTED
    sums = _sums_by(kernels.sampled(scores, _SMALL_SAMPLE), rows, cells, make)
    if sums is None:
        return None
    sums.add_rows(scores, *whole, weights)
    return sums if sums.usable and sums.suffice else None


def _common_among_many(sample: FloatArray) -> bool:
    """Tell whether one score has many rows and shares its cell with others.

    These cells are not cut at common scores, as those of numpy are: where an extreme is near one,
    all of its rows would be collected.
    """
    _, repeated, longest = survey_scores(sample)
    return bool(sample.size - repeated > _FEW_VALUES and longest * 64 > sample.size)


def _sums_by(
    sample: FloatArray,
    rows: int,
    cells: int = _CELLS,
    make: Callable[..., FixedSums] = FixedSums,
) -> FixedSums | None:
    """Return empty sums in cells by a sample; None where scores look too small for whole sums."""
    if not sample.size or not FixedSums.suit(sample) or _common_among_many(sample):
        return None
    # Compiled code finds fewer cells quicker; rows left to sort grow like (n / cells)^2.
    return make(sample, rows, round(cells * rows**0.6))


def _ranges(
    low: FloatArray, high: FloatArray, most: int = kernels.RANGES
) -> tuple[FloatArray, FloatArray]:
    """Return so many ranges of scores that hold all of some; the widest gaps are between them."""
    cuts = np.sort(np.argsort(low[1:] - high[:-1])[::-1][: most - 1])
    # One again where there are fewer.
    first, last = np.zeros((2, most), np.int64)
    first[1 : cuts.shape[0] + 1], last[: cuts.shape[0]] = cuts + 1, cuts
    last[cuts.shape[0] :] = low.shape[0] - 1
    first[cuts.shape[0] + 1 :] = first[cuts.shape[0]]
    return low[first], high[last]


def _cell_bits(rows: int) -> int:
    """Return how many cells to use, as a power of two.

    Rows left to sort grow like (n / cells)^2, misses of the processor's cache with cells: 2^12
    cells for 1e5 rows, 2^16 for 1e7 and 2^17 for 1e8 were the quickest. With 2^12 it could not be
    told that distinct scores are too many for a finite-sample P-value, but by sorting all rows.
    """
    size = math.log2(rows)
    return max(13, min(20, round(min(0.6 * size + 2, 0.4 * size + 6.6))))


def in_memory(source: object) -> TypeGuard[RowSource]:
    """Tell whether a source is of rows in memory."""
    return isinstance(source, RowSource) and source.is_in_memory


def copied(rows: Chunk) -> Chunk:
    """Repeat rows as often as their weights say."""
    if rows.weights is None:
        return rows
    index = np.repeat(np.arange(rows.weights.shape[0]), rows.weights.astype(np.int64))
    return pick(rows, index)._replace(weights=None)


def _spread_out(sample: FloatArray) -> bool:
    """Tell whether equal cells share the variance of scores fairly, few of which repeat."""
    variance = sample * (1 - sample)
    heaviest = np.bincount((sample * 1024).astype(np.int64), variance).max()
    repeats = np.count_nonzero(sample[1:] == sample[:-1])
    return bool(heaviest * 128 <= variance.sum() and repeats * 50 <= sample.shape[0])


def sums_of(rows: Rows, asks: Sequence[Ask]) -> list[KeySums]:
    """Answer questions about all of some rows, in one walk."""
    adders = [KeyAdder(ask, counted=rows.counted) for ask in asks]
    with closing(rows.chunks(CHUNK, clusters=any(ask.clusters for ask in asks))) as chunks:
        for chunk in chunks:
            for adder in adders:
                adder.add(chunk)
    return [adder.sums() for adder in adders]


def kept(chunk: Chunk) -> Chunk:
    """Copy a chunk, whose memory may be used again for the next one."""
    columns: list[Any] = [None if column is None else column.copy() for column in chunk]
    return Chunk(*columns)
