"""Running sums per cell in whole numbers, filled by compiled passes: the same in any order."""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from secant._blocks import kernels
from secant._blocks.cell_sums import LEAST_LOST, summed_log_loss
from secant._blocks.grids import Scratch, SpreadGrid, survey_scores
from secant._blocks.kernels import FINE, HIGHEST, LOWEST, ONE, OTHER, REFUSED, UNIT_BITS, VARIANCE
from secant._blocks.table import FIXED_BITS, STEPS, Fixed, Totals, changed, from_sums

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.table import Blocks
    from secant._input.observations import Chunk

__all__ = ["FixedSums", "Latest", "Undecided", "Weights"]

# Rows that are added up before sums are folded: no sum inside a cell can wrap around unnoticed.
_FOLD_BITS = 24
# Memory for sums of all threads together: each has its own.
_MOST_BYTES = 1 << 26
# A sample with more repeated scores than this share is of scores that repeat.
_REPEATED = 1 / 50
# Where s(1 - s) is less on average, units of 2^-52 are too coarse.
_LEAST_VARIANCE = 2.0**-16
# Where nine in ten scores lie so close together, relative to them, shifts find too few cells.
_NARROW = 2.0**-8
_LOW = (1 << FIXED_BITS) - 1
# Rounding moves the limits of the path inside a cell by less than this, for each row there is.
_SLACK = 2.0**-43


class Undecided(NamedTuple):
    """Cells that could hold an extreme of the path, and what is known without looking inside.

    Attributes
    ----------
    wanted
        Which of all cells they are.
    low, high
        They hold the scores from ``low`` to ``high``.
    rows
        How many rows they have together.
    before, after
        How high the sum of r - s is before and after each cell, in two halves.
    extremes
        The largest and the smallest of these sums at the ends of any cells.
    """

    wanted: BoolArray
    low: FloatArray
    high: FloatArray
    rows: int
    before: IntArray
    after: IntArray
    extremes: FloatArray

    def decide(self, keys: IntArray) -> tuple[float, float]:
        """Return the largest and the smallest sum, given all rows of the cells in order.

        Parameters
        ----------
        keys
            The bits of each score, and the response as one more bit.

        Raises
        ------
        SecantError
            If these are not the rows that were there before.
        """
        last, found = self.high.view(np.int64), self.extremes.copy()
        if not kernels.compiled(kernels.walk_path)(keys, last, self.before, self.after, found):
            raise changed(keys.shape[0], self.rows)
        highest, lowest = found.tolist()
        return highest, lowest


class Weights(NamedTuple):
    """What a compiled pass tells of weights: usable ones, or there would be nothing to tell.

    Attributes
    ----------
    usual, heaviest
        What half of all weights above zero exceed, about, and the largest.
    zeros
        How many are zero.
    copies
        Their sum where all are whole numbers and few enough to be counted; else None.
    """

    usual: float
    heaviest: float
    zeros: int
    copies: int | None


class Latest(NamedTuple):
    """The smallest and the largest of some scores, and how many rule out what happened."""

    lowest: float
    highest: float
    refused: int


class FixedSums:
    """Sums per cell over observations without weights, in units of 2^-52.

    Parameters
    ----------
    sample
        Some of the scores, in ascending order.
    rows
        How many rows there will be, about.
    n_cells
        How many cells to aim at.
    log_loss
        Whether to sum it.
    weights
        What a look at all weights has told; None where there are none, or come with the rows.
    """

    # How many words a cell and outcome has.
    _words: ClassVar[int] = 2

    @staticmethod
    def suit_weights(_: Any) -> bool:
        """Tell whether weights can be added up so."""
        return False

    def __init__(
        self,
        sample: FloatArray,
        rows: int,
        n_cells: int,
        *,
        log_loss: bool = False,
        weights: Weights | None = None,
    ) -> None:
        # Whether rows have no weight, and are no observations.
        self.has_zeros = weights is not None and weights.zeros > 0
        bits = min(_FOLD_BITS, max(rows, 1).bit_length())
        # A cell as wide as 2^w holds at most 2^(w + 52) units a row, and sums stay below 2^62.
        self._fold_at = 1 << bits
        self.grid = SpreadGrid(sample, n_cells, 62 - UNIT_BITS - bits)
        self._start = (self.grid.low + 1.0).view(np.int64) - ONE
        self._anchor = self._anchors(sample)
        self._log_loss: list[float] | None = [] if log_loss else None
        self.clear()

    def clear(self) -> None:
        """Begin anew, with nothing added up."""
        cells = self.grid.n_buckets
        self._count, high, low = np.zeros((3, 2 * cells), np.int64)
        self._fixed = Fixed(high, low)
        self.facts = kernels.no_facts()
        self._mixed = np.full(cells, self._anchor is None)
        self._log_loss = None if self._log_loss is None else []
        self._open = np.zeros((0, 2 * cells, self._words), np.int64)
        self._since = self._added = 0
        self._latest: list[IntArray] = []

    @staticmethod
    def suit(sample: FloatArray) -> bool:
        """Tell whether units, and cells, look fine enough for scores like these, in order."""
        tenth = sample.shape[0] // 20
        low, high = sample[tenth], sample[-1 - tenth]
        if low < high < low * (1 + _NARROW):
            return False
        variance, _, _ = survey_scores(sample)
        return bool(variance >= 2 * _LEAST_VARIANCE)

    def _anchors(self, sample: FloatArray) -> IntArray | None:
        """Return the score that each cell may hold alone, as an integer; None if few repeat."""
        _, repeats, _ = survey_scores(sample)
        if repeats <= _REPEATED * sample.shape[0]:
            return None
        repeated = np.flatnonzero(sample[1:] == sample[:-1])
        anchor = self.grid.low.copy()
        anchor[self.grid.bucket(sample[repeated], Scratch())] = sample[repeated]
        return anchor.view(np.int64)

    def add(self, chunk: Chunk) -> None:
        """Add some observations that were checked."""
        is_usable = self.add_unchecked(chunk)
        assert is_usable  # noqa: S101

    def add_unchecked(self, chunk: Chunk) -> bool:
        """Add some observations; False if any so far could not be used, nor what was added."""
        whole = kernels.as_whole(chunk.labels)
        if whole is None:
            return False
        self.add_rows(chunk.scores, *whole, chunk.weights)
        if not self.usable:
            return False
        if self._log_loss is not None:
            self._log_loss.append(self._lost(chunk, *whole))
        return True

    def _lost(self, chunk: Chunk, labels: IntArray, one: int) -> float:
        """Return the log loss of some observations."""
        columns = chunk.scores, labels, chunk.weights
        log_loss = kernels.compiled(kernels.log_loss, *map(kernels.kind_of, columns))
        lost = -float(log_loss(*columns, one))
        if chunk.weights is not None or lost >= LEAST_LOST * chunk.scores.shape[0]:
            return lost
        return summed_log_loss(chunk.scores, chunk.labels)

    def beside(self) -> Self:
        """Return empty sums over the same cells, for another thread, to be joined to these."""
        other = copy(self)
        other.clear()
        return other

    def join(self, other: Self) -> None:
        """Add what another thread has added up."""
        other._fold()
        self._count += other._count
        self._added += other._added
        mine, theirs = self._fixed, other._fixed
        self._fixed = Fixed(mine.high + theirs.high, mine.low + theirs.low)
        self._merge_facts(other.facts)
        self._mixed |= other._mixed
        if self._log_loss is not None:
            self._log_loss += other._log_loss or []

    def add_rows(
        self,
        scores: np.ndarray[Any, Any],
        labels: np.ndarray[Any, Any],
        one: int,
        weights: np.ndarray[Any, Any] | None = None,
    ) -> None:
        """Add rows, whatever they hold: facts say what is wrong with them, but for weights."""
        for start in range(0, scores.shape[0], self._fold_at):
            part = slice(start, start + self._fold_at)
            some = None if weights is None else weights[part]
            self._add_part(scores[part], labels[part], some, one)

    def _add_part(self, scores: Any, labels: Any, weights: Any, one: int) -> None:
        rows = scores.shape[0]
        if self._since + rows > self._fold_at:
            self._fold()
        self._since += rows
        self._added += rows
        afforded = max(_MOST_BYTES // (8 * math.prod(self._open.shape[1:])), 1)
        most = min(kernels.threads(), -(-rows // kernels.CHUNK), afforded)
        if (already := self._open.shape[0]) < most:
            more = np.zeros((most - already, *self._open.shape[1:]), np.int64)
            self._open = np.concatenate([self._open, more]) if already else more
        besides = self._scale, self._anchor
        kinds = map(kernels.kind_of, (scores, labels, weights, *besides))
        add = kernels.compiled(kernels.add_rows, *kinds)
        grid = one, self.grid.table, self.grid.shift, self.grid.bottom
        more_facts = [kernels.no_facts() for _ in range(most)]
        steps = np.zeros((most, STEPS))

        def work(number: int, chunks: Iterator[slice]) -> None:
            mine = more_facts[number], self._open[number], self._mixed, steps[number]
            for chunk in chunks:
                some = None if weights is None else weights[chunk]
                add(scores[chunk], labels[chunk], some, *besides, *grid, *mine)

        kernels.share_out(rows, work, most)
        self._keep(steps)
        for facts in more_facts:
            self._merge_facts(facts)
        self._latest = more_facts

    @property
    def _scale(self) -> FloatArray | None:
        """What brings weights below 1, where they are no counts."""
        return None

    def _keep(self, steps: FloatArray) -> None:
        """Remember the largest possible steps that each thread met."""

    def _merge_facts(self, facts: IntArray) -> None:
        mine = self.facts
        mine[LOWEST] = min(mine[LOWEST], facts[LOWEST])
        mine[HIGHEST] = max(mine[HIGHEST], facts[HIGHEST])
        mine[OTHER] |= facts[OTHER]
        mine[REFUSED:] += facts[REFUSED:]

    def _fold(self) -> None:
        """Move open sums to where they cannot overflow."""
        if not self._since:
            return
        fold = kernels.compiled(kernels.fold)
        fold(self._open, self._start, self._count, self._fixed.high, self._fixed.low)
        self._open = np.zeros_like(self._open[:0])
        self._since = 0

    @property
    def usable(self) -> bool:
        """Whether every row was usable, as scores in [0, 1] and labels 0 and 1."""
        facts = self.facts
        return bool(facts[LOWEST] >= 0 and facts[HIGHEST] <= ONE and not facts[OTHER])

    @property
    def extent(self) -> tuple[float, float]:
        """The smallest and the largest score."""
        lowest, highest = self.facts[[LOWEST, HIGHEST]].view(np.float64).tolist()
        return lowest, highest

    @property
    def n(self) -> int:
        """How many observations there are."""
        return self._added

    @property
    def latest(self) -> Latest:
        """The facts about the rows that were added last."""
        lowest = min(facts[LOWEST] for facts in self._latest)
        highest = max(facts[HIGHEST] for facts in self._latest)
        refused = sum(int(facts[REFUSED]) for facts in self._latest)
        return Latest(float(lowest.view(np.float64)), float(highest.view(np.float64)), refused)

    @property
    def refused(self) -> int:
        """How many rows have a score that rules out what happened."""
        return int(self.facts[REFUSED])

    @property
    def variance(self) -> float:
        """Sum of s(1 - s)."""
        coarse, fine = (
            (int(self.facts[at]) << 26) + int(self.facts[at + 1]) for at in (VARIANCE, FINE)
        )
        return ((coarse << 12) + fine) / 2**64

    @property
    def suffice(self) -> bool:
        """Whether units are fine enough for these scores."""
        return self.variance >= _LEAST_VARIANCE * self.n

    def undecided(self) -> Undecided | None:
        """Return the cells that could hold an extreme of the path; None if there are no others.

        Then nothing but ties will be left of all blocks, which are added up in another way.
        """
        self._fold()
        cells = self._start.shape[0]
        heights = np.empty((cells + 1, 2), np.int64)
        path, extremes, wanted = np.empty(cells + 1), np.empty(2), self._mixed.copy()
        sums = self._start, self._count, self._fixed.high, self._fixed.low
        find = kernels.compiled(kernels.undecided_cells)
        rows, others = find(*sums, wanted, heights, path, extremes, _SLACK * self.n)
        if not others:
            return None
        place = np.flatnonzero(wanted)
        return Undecided(
            wanted,
            self.grid.low[place],
            self.grid.last(place),
            int(rows),
            heights[place],
            heights[place + 1],
            extremes,
        )

    def blocks(self) -> Blocks:
        """Return the non-empty cells as blocks."""
        self._fold()
        n0, n1 = self._count[::2], self._count[1::2]
        filled = np.flatnonzero(n0 + n1)
        n0, n1 = n0[filled], n1[filled]
        start = self._start[filled]
        high, rest = self._fixed.high, self._fixed.low
        h0, h1, r0, r1 = (part[filled] for part in (high[::2], high[1::2], rest[::2], rest[1::2]))
        n = n0 + n1
        scored = n * (start >> FIXED_BITS) + h0 + h1
        fixed = Fixed((n1 << FIXED_BITS) - scored, -(n * (start & _LOW) + r0 + r1))
        unit = 2.0**-UNIT_BITS
        begins = start * unit
        down = n0 * begins + (h0 * 2.0**FIXED_BITS + r0) * unit
        up = n1 * (1 - begins) - (h1 * 2.0**FIXED_BITS + r1) * unit
        residuals = down, np.maximum(up, 0)
        return from_sums(*self._ends(filled), (n0, n1), residuals, fixed=fixed)

    def _ends(self, cells: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return where cells begin and end: those that hold one score are ties."""
        low, high, mixed = self.grid.low[cells], self.grid.high[cells], self._mixed[cells]
        alone = low if self._anchor is None else self._anchor.view(np.float64)[cells]
        return np.where(mixed, low, alone), np.where(mixed, high, alone)

    def totals(self) -> Totals:
        """Return the sums over everything, each rounded once."""
        self._fold()
        n0, n1 = (int(self._count[k::2].sum()) for k in (0, 1))
        s0, s1 = (self._scored(k) for k in (0, 1))
        residual = (s0 + (n1 << UNIT_BITS) - s1) / 2**UNIT_BITS
        lost = None if self._log_loss is None else math.fsum(self._log_loss)
        return Totals.plain(n0 + n1, n1, self.variance, residual, lost)

    def _scored(self, response: int) -> int:
        """Return the sum of the scores of a response, in units."""
        count, start = self._count[response::2], self._start
        high = count * (start >> FIXED_BITS) + self._fixed.high[response::2]
        low = count * (start & _LOW) + self._fixed.low[response::2]
        return (int(high.sum()) << FIXED_BITS) + int(low.sum())
