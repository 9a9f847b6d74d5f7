"""Running sums per cell: one pass over the observations fills them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._blocks.grids import Scratch
from secant._blocks.table import (
    STEPS,
    Spread,
    Totals,
    add_totals,
    from_sums,
    largest_steps,
)

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray, NumberArray
    from secant._blocks.grids import DyadicGrid, PointGrid, SampledGrid
    from secant._blocks.table import Blocks
    from secant._input.observations import Chunk

__all__ = [
    "LEAST_LOST",
    "CellMeans",
    "CellSums",
    "add_exactly",
    "log_losses",
    "row_totals",
    "summed_log_loss",
]

# Mean distances from anchors are told in this part of a cell: finer than rounding can be trusted.
_MEAN_STEPS = 2.0**32
# Rows whose log loss is taken together, chances that are multiplied before a logarithm is taken,
# the least one for which no product underflows, and the least loss of a row, on average, that
# keeps all but 2^-41 of itself.
_PIECE = 1 << 14
_FACTORS = 16
_LEAST_FACTOR = 2.0**-60
LEAST_LOST = 2.0**-12


class CellMeans(NamedTuple):
    """The mean score of some cells, and how many observations of either response they hold."""

    mean: FloatArray
    n0: IntArray
    n1: IntArray


@dataclass
class CellSums:
    """Sums per cell of a grid, fed chunk by chunk.

    Slots ``2c`` and ``2c + 1`` belong to the responses 0 and 1 of cell c, so that one
    ``bincount`` a chunk fills both.

    Parameters
    ----------
    grid
        Where the cells are.
    sampling
        Whether observations carry sampling weights.
    moments
        Whether to keep the sums that binned metrics need.
    precise
        Whether cells are so wide that distances from their anchors must be added with care.
    outcome_weights
        What outcomes weigh. Cells are summed without them, blocks and totals have them.
    log_loss
        Whether to sum it.
    """

    grid: DyadicGrid | PointGrid | SampledGrid
    sampling: bool
    moments: bool
    precise: bool = False
    outcome_weights: tuple[float, float] | None = None
    log_loss: bool = False
    count: IntArray = field(init=False)
    offset: FloatArray = field(init=False)
    weight: FloatArray = field(init=False)
    wv: FloatArray = field(init=False)
    wwv: FloatArray = field(init=False)
    ww: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        cells = self.grid.low.shape[0]
        # Cells seen to hold another score than their anchor; without ties, any may.
        self._mixed = np.full(cells, not self.grid.ties)
        self.count = np.zeros(2 * cells, np.int64)
        self.offset = np.zeros(2 * cells)
        if self.sampling:
            self.weight = np.zeros(2 * cells)
        if self.moments:
            self.wv = np.zeros(2 * cells)
        if self.moments and self.sampling:
            self.wwv = np.zeros(cells)
            self.ww = np.zeros(2 * cells)
        self.parts: list[Totals] = []
        self._steps: tuple[float, ...] = ()
        self._scratch = Scratch()

    def add(self, chunk: Chunk) -> None:
        """Add some observations."""
        if not chunk.scores.size:
            return
        cell, offset = self.grid.locate(chunk.scores, self._scratch)
        if self.grid.ties:
            elsewhere = offset != 0
            if elsewhere.any():
                self._mixed[cell[elsewhere]] = True
        self.add_at(cell, offset, chunk)

    def add_at(self, cell: IntArray, offset: FloatArray, chunk: Chunk) -> None:
        """Add observations in known cells, and sums of ``offset``; neither stays as it is."""
        scores, labels, weights = chunk[:3]
        slot = np.left_shift(cell, 1, out=cell)
        slot += labels
        self._count(slot, weights)
        self._add_offsets(slot, offset, weights)
        variance = np.subtract(1, scores, out=offset)  # its memory is warm
        variance *= scores
        if self.moments:
            self._add_moments(slot, variance, weights)
        self.parts.append(self._totals_of(chunk, variance))

    def blocks(self) -> Blocks:
        """Return the non-empty cells as blocks."""
        filled = self.filled
        w0, w1 = _pair(self.weight if self.sampling else self.count, filled)
        anchor, mixed = self.grid.anchor[filled], self._mixed[filled]
        before, beyond = _pair(self.offset, filled)
        return self.blocks_at(
            filled,
            np.where(mixed, self.grid.low[filled], anchor),
            np.where(mixed, self.grid.high[filled], anchor),
            (
                np.maximum(w0 * anchor + before * self.grid.unit, 0),
                np.maximum(w1 * (1 - anchor) - beyond * self.grid.unit, 0),
            ),
        )

    def blocks_at(
        self, filled: IntArray, low: Any, high: Any, residuals: Any = None, **more: Any
    ) -> Blocks:
        """Return non-empty cells as blocks that lie there; residuals are sums of offsets."""
        spread = None
        if self.moments:
            squares = (self.wwv[filled], _pair(self.ww, filled)) if self.sampling else ()
            spread = Spread(_pair(self.wv, filled), *squares)
        return from_sums(
            *(low, high, _pair(self.count, filled)),
            _pair(self.offset, filled) if residuals is None else residuals,
            weights=_pair(self.weight, filled) if self.sampling else None,
            spread=spread,
            outcome_weights=self.outcome_weights,
            **more,
        )

    @property
    def filled(self) -> IntArray:
        """The cells that hold anything."""
        return np.flatnonzero(self.count[::2] + self.count[1::2])

    def means(self) -> CellMeans:
        """Return counts and mean scores of the non-empty cells of a dyadic grid, unweighted.

        Rounded a little, so that they are the same in whatever order the sums were added up.
        """
        filled = self.filled
        n0, n1 = _pair(self.count, filled)
        share = np.add(*_pair(self.offset, filled)) / (n0 + n1)
        share = np.clip(np.rint(share * _MEAN_STEPS), 0, _MEAN_STEPS - 1) / _MEAN_STEPS
        return CellMeans(self.grid.anchor[filled] + share * self.grid.unit, n0, n1)

    def totals(self, blocks: Blocks | None = None) -> Totals:
        """Return the sums over everything; ``blocks`` are those of these cells, if at hand."""
        totals = add_totals(self.parts)
        if self.sampling or self.outcome_weights is not None:
            return replace(totals, outcome_weights=self.outcome_weights)
        return totals.completed(self.blocks() if blocks is None else blocks)

    def plus(self, other: CellSums) -> CellSums:
        """Return the sums over both sets of observations, cell by cell of the same grid."""
        both = self._like(sampling=self.sampling or other.sampling)
        mine, theirs = self._weighted(both.sampling), other._weighted(both.sampling)
        for name in both.columns():
            setattr(both, name, getattr(mine, name) + getattr(theirs, name))
        both.parts = [add_totals(mine.parts + theirs.parts)]
        return both

    def _like(self, *, sampling: bool) -> CellSums:
        return CellSums(
            self.grid,
            sampling=sampling,
            moments=self.moments,
            outcome_weights=self.outcome_weights,
            log_loss=self.log_loss,
        )

    def columns(self) -> dict[str, NumberArray]:
        """Return every column of sums by name."""
        names = ["count", "offset"]
        names += ["weight"] if self.sampling else []
        names += ["wv"] if self.moments else []
        names += ["wwv", "ww"] if self.moments and self.sampling else []
        return {name: getattr(self, name) for name in names}

    def _weighted(self, sampling: bool) -> CellSums:  # noqa: FBT001
        """Return the same sums in the form for sampling weights, if that is wanted."""
        if self.sampling or not sampling:
            return self
        weighted = self._like(sampling=True)
        for name, column in self.columns().items():
            setattr(weighted, name, column)
        weighted.weight = self.count.astype(np.float64)
        if self.moments:
            weighted.wwv, weighted.ww = self.wv[::2] + self.wv[1::2], weighted.weight
        weighted.parts = [self.totals()]
        return weighted

    def _count(self, slot: IntArray, weights: FloatArray | None) -> None:
        if weights is None or self.sampling:
            self.count += np.bincount(slot, minlength=self.count.shape[0])
        else:
            copies = np.bincount(slot, weights, minlength=self.count.shape[0])
            self.count += copies.astype(np.int64)
        if weights is not None and self.sampling:
            add_exactly(self.weight, slot, weights)

    def _add_offsets(self, slot: IntArray, offset: FloatArray, weights: FloatArray | None) -> None:
        if weights is not None:
            offset *= weights
        if self.precise:
            add_exactly(self.offset, slot, offset)
        else:
            self.offset += np.bincount(slot, offset, minlength=self.offset.shape[0])

    def _add_moments(
        self, slot: IntArray, variance: FloatArray, weights: FloatArray | None
    ) -> None:
        size = self.wv.shape[0]
        wv = variance if weights is None else weights * variance
        self.wv += np.bincount(slot, wv, minlength=size)
        if self.sampling:
            ww = np.ones_like(variance) if weights is None else weights * weights
            self.wwv += np.bincount(slot >> 1, ww * variance, minlength=size // 2)
            self.ww += np.bincount(slot, ww, minlength=size)

    def _totals_of(self, chunk: Chunk, variance: FloatArray) -> Totals:
        totals = row_totals(
            chunk,
            variance,
            sampling=self.sampling,
            outcome_weights=self.outcome_weights,
            log_loss=self.log_loss,
            above=self._steps[-1] if len(self._steps) == STEPS else 0.0,
        )
        self._steps = largest_steps(self._steps, totals.steps or ())
        return totals


def _pair(column: Any, filled: IntArray) -> tuple[Any, Any]:
    """Return the sums of either response in some cells."""
    return column[::2][filled], column[1::2][filled]


def add_exactly(sums: FloatArray, slot: IntArray, values: FloatArray) -> None:
    """Add at most 2^18 values, zero or positive, to their slots without drift.

    Many equal values would drift if simply added up. Rounded to a coarse unit they add without any
    rounding, and the remainders are too small to matter.
    """
    unit = 2.0 ** (math.frexp(float(values.max()))[1] + 52 - 35)
    coarse = values + unit
    coarse -= unit
    sums += np.bincount(slot, coarse, minlength=sums.shape[0])
    sums += np.bincount(slot, values - coarse, minlength=sums.shape[0])


def row_totals(
    chunk: Chunk,
    variance: FloatArray,
    *,
    sampling: bool,
    outcome_weights: tuple[float, float] | None = None,
    log_loss: bool = False,
    above: float = 0.0,
) -> Totals:
    """Return the sums over some rows, of which ``variance`` is s(1 - s).

    Where nothing is weighted, what :func:`completed` finds in blocks is not added up here. Of
    possible steps, those that are at most ``above`` may be left out.
    """
    scores, labels, weights = chunk[:3]
    if not sampling and outcome_weights is None:
        total = _total if weights is None else _Multiplied(weights).total
        n = scores.shape[0] if weights is None else float(weights.sum())
        lost = None
        if log_loss and weights is None:
            lost = summed_log_loss(scores, labels)
        elif log_loss:
            lost = total(log_losses(scores, labels))
        return Totals(int(n), n, n, total(variance), 0.0, 0.0, 0.0, 0.0, lost, ())
    total = _total if sampling or weights is None else _Multiplied(weights).total
    a = weights if sampling and weights is not None else np.ones_like(scores)
    terms = row_terms(scores, labels, a, outcome_weights)
    if log_loss:
        terms["log_loss"] = terms["weight"] * log_losses(scores, labels)
    sums: dict[str, Any] = {name: total(column) for name, column in terms.items()}
    pair = outcome_weights or (1.0, 1.0)
    return Totals(
        n=scores.shape[0] if total is _total else int(total(np.ones_like(scores))),
        **sums,
        steps=_steps(chunk, a, pair, above, copies=total is not _total),
        outcome_weights=outcome_weights,
    )


def row_terms(
    scores: Any, happened: Any, a: Any, outcome_weights: tuple[float, float] | None
) -> dict[str, Any]:
    """Return what the totals of weighted rows add up, by name.

    Parameters
    ----------
    scores, happened, a
        Rows, and their sampling weights, 1 where they have none: arrays of numpy or of torch.
    outcome_weights
        What the outcomes 0 and 1 weigh.
    """
    w, spread = a, scores * (1 - scores) * a * a
    third = spread * a
    if outcome_weights is not None:
        o0, o1 = outcome_weights
        w = a * happened * o1 + a * (1 - happened) * o0
        spread = spread * (o0 * o1)
        third = third * (o0 * o1) * (o0 + o1 - o0 * o1 / (o1 * (1 - scores) + o0 * scores))
    ww, error = w * w, (happened - scores) ** 2
    return {
        "weight": w,
        "ww": ww,
        "variance": spread,
        "squares": ww * error,
        "ww1": ww * happened,
        "third": third,
        "squared_error": w * error,
    }


def _total(column: FloatArray) -> float:
    return float(column.sum())


class _Multiplied(NamedTuple):
    """Adds up columns of rows that stand for several copies."""

    copies: FloatArray

    def total(self, column: FloatArray) -> float:
        return float((self.copies * column).sum())


def log_losses(scores: FloatArray, labels: np.ndarray[Any, Any]) -> FloatArray:
    """Return the log loss of each row, infinite where a score rules out what happened."""
    scores = scores.astype(np.float64, copy=False)
    chance = np.where(labels, scores, 1 - scores)
    # What rounding took from 1 - s is all there is of a score of 1e-20.
    lost = np.where(labels, 0.0, scores - (1 - chance))
    with np.errstate(divide="ignore"):
        lost -= np.log(chance)
    return lost


def summed_log_loss(scores: FloatArray, labels: np.ndarray[Any, Any]) -> float:
    """Return the log loss of all rows together, with one logarithm for sixteen of them."""
    # Small pieces stay in a cache, and in memory that was used before.
    starts = range(0, scores.shape[0], _PIECE)
    pieces = (slice(start, start + _PIECE) for start in starts)
    return math.fsum(_lost(scores[piece], labels[piece]) for piece in pieces)


def _lost(scores: FloatArray, labels: np.ndarray[Any, Any]) -> float:
    """Return the log loss of some rows.

    A product is off by 2^-53 of itself for each of its factors, and its logarithm by as much: too
    much where hardly anything is lost, so that such rows have a logarithm each.
    """
    chance = np.abs((1 - labels) - scores)
    together = chance.shape[0] // _FACTORS * _FACTORS
    if together and chance.min() >= _LEAST_FACTOR:
        products = np.multiply.reduce(chance[:together].reshape(_FACTORS, -1), axis=0)
        lost = -float(np.log(products).sum() + np.log(chance[together:]).sum())
        if lost >= LEAST_LOST * chance.shape[0]:
            return lost
    return float(log_losses(scores, labels).sum())


def _steps(
    chunk: Chunk, a: FloatArray, weights: tuple[float, float], above: float, *, copies: bool
) -> tuple[float, ...]:
    """Return the largest possible steps that are above a limit, at most twelve."""
    o0, o1 = weights
    some = np.flatnonzero(a > above / max(o0, o1))
    scores = chunk.scores[some]
    steps = a[some] * np.maximum(o1 * (1 - scores), o0 * scores)
    if steps.size > STEPS:
        most = np.argpartition(steps, steps.size - STEPS)[-STEPS:]
        some, steps = some[most], steps[most]
    if copies:
        assert chunk.weights is not None  # noqa: S101
        steps = np.repeat(steps, np.minimum(chunk.weights[some], STEPS).astype(np.int64))
    return tuple(np.sort(steps)[::-1].tolist()[:STEPS])
