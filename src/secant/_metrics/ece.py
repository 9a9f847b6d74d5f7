"""The binned metrics: bins from blocks, the ECE family, what pure noise would give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._blocks.looking import resolve
from secant._input.options import Norm, Strategy, Weighting, check_choice
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray
    from secant._blocks.looking import Refine
    from secant._blocks.table import Blocks, Totals

__all__ = [
    "BinSums",
    "Binning",
    "across_edges",
    "binned",
    "cut_at_edges",
    "debiased",
    "error",
    "noise_floor",
]

# Every bin has its sums, empty or not; so many take 2 GB.
MOST_BINS = 1 << 24
# Cumulative weights closer to a bin's edge than this share of the whole weight lie on it.
_ON_THE_EDGE = 1e-12


@dataclass(frozen=True, slots=True)
class Binning:
    """Which bins, and how they are put together into one number.

    Raises
    ------
    InputError
        If an option is unknown, the options do not go together, or the bins outnumber the
        observations they are to share.
    """

    n_bins: Any = 15
    strategy: Strategy = "uniform"
    norm: Norm = "l1"
    squared: bool = False
    weighting: Weighting = "count"

    def __post_init__(self) -> None:
        if (
            isinstance(self.n_bins, bool)
            or not isinstance(self.n_bins, (int, np.integer))
            or not 1 <= self.n_bins <= MOST_BINS
        ):
            wanted = f" must be a whole number between 1 and {MOST_BINS:,}; got {self.n_bins!r}"
            raise InputError(Argument("n_bins"), wanted)
        check_choice("strategy", self.strategy, Strategy)
        check_choice("norm", self.norm, Norm)
        check_choice("weighting", self.weighting, Weighting)
        if self.squared and self.norm != "l2":
            goes = "=True goes with norm='l2' only; got norm="
            raise InputError(Argument("squared"), goes, repr(self.norm))


@dataclass(frozen=True, slots=True)
class BinSums:
    """Sums per bin; empty bins have weight 0.

    A score that ties across the edge of a quantile bin is shared: row i enters bin j with
    a = w_i times the share of its tie that lies in j.

    Attributes
    ----------
    edges
        The m + 1 limits of the bins; for quantile bins the first score of each, then 1.
    count
        Observations (shares of them at ties).
    rows
        Observations that have any share in the bin.
    weight, weight1, scored
        Sums of a, a r and a s.
    width
        Share of the unit interval that belongs to the bin.
    aa, aav, ae2
        Sums of a^2, a^2 s(1 - s) and a (r - s)^2, where moments were asked for.
    """

    edges: FloatArray
    count: FloatArray
    rows: IntArray
    weight: FloatArray
    weight1: FloatArray
    scored: FloatArray
    width: FloatArray
    aa: FloatArray | None
    aav: FloatArray | None
    ae2: FloatArray | None

    @property
    def filled(self) -> BoolArray:
        """Whether a bin holds anything."""
        return self.rows > 0

    def mean(self, sums: FloatArray) -> FloatArray:
        """Divide sums by the bins' weights; NaN in empty bins."""
        means: FloatArray = np.full(len(sums), np.nan)
        np.divide(sums, self.weight, out=means, where=self.filled)
        return means

    @property
    def gap(self) -> FloatArray:
        """Mean response minus mean score in each bin, 0 where it is empty."""
        return np.where(self.filled, self.mean(self.weight1 - self.scored), 0.0)

    def importance(self, weighting: str) -> FloatArray:
        """Return the factor with which each bin enters a sum over bins."""
        return self.width if weighting == "width" else self.weight / self.weight.sum()


class _Pieces(NamedTuple):
    """Blocks cut at the edges of bins: piece k is this share of this block in this bin."""

    block: IntArray
    bin: IntArray
    share: FloatArray


def cut_at_edges(
    blocks: Blocks, totals: Totals, binnings: Sequence[Binning], refine: Refine | None
) -> Blocks:
    """Refine blocks until none lies across an edge, for several sets of bins in the same looks.

    Raises
    ------
    InputError
        If there are more quantile bins than observations.
    """
    return resolve(blocks, across_edges(totals, binnings), refine)


def across_edges(totals: Totals, binnings: Sequence[Binning]) -> Callable[[Blocks], BoolArray]:
    """Return what marks the blocks that lie across an edge of any of several sets of bins."""
    across = [_across_edges(totals, binning) for binning in binnings]

    def across_any(blocks: Blocks) -> BoolArray:
        found = np.zeros(len(blocks), bool)
        for each in across:
            found |= each(blocks)
        return found

    return across_any


def binned(blocks: Blocks, totals: Totals, binning: Binning, refine: Refine | None) -> BinSums:
    """Sort blocks into bins, refining those that lie across an edge.

    Raises
    ------
    InputError
        If there are more quantile bins than observations.
    """
    blocks = cut_at_edges(blocks, totals, [binning], refine)
    m = int(binning.n_bins)
    if binning.strategy == "uniform":
        pieces, edges = _uniform(blocks, m)
        width = np.full(m, 1 / m)
    else:
        pieces, edges = _quantile(blocks, totals, m)
        width = np.diff(edges)

    def total(column: NumberArray, power: int = 1) -> FloatArray:
        values = column[pieces.block] * pieces.share**power
        return np.asarray(np.bincount(pieces.bin, values, minlength=m), np.float64)

    aa = aav = ae2 = None
    if (moments := blocks.moments) is not None:
        # A residual is s or 1 - s, so (r - s)^2 = |r - s| - s(1 - s).
        squares = np.maximum(blocks.up + blocks.down - moments.wv, 0)
        aa, aav, ae2 = total(moments.ww, 2), total(moments.variance, 2), total(squares)
    return BinSums(
        edges=edges,
        count=total(blocks.n),
        rows=np.bincount(pieces.bin, blocks.n[pieces.block], minlength=m).astype(np.int64),
        weight=total(blocks.weight),
        weight1=total(blocks.w1),
        scored=total(blocks.scored),
        width=width,
        aa=aa,
        aav=aav,
        ae2=ae2,
    )


def error(bins: BinSums, binning: Binning) -> float:
    """Put the gaps of all bins together into one number."""
    gap = np.abs(bins.gap)
    importance = bins.importance(binning.weighting)
    if binning.norm == "max":
        return float(gap.max())
    if binning.norm == "l1":
        return float((importance * gap).sum())
    square = float((importance * gap**2).sum())
    return square if binning.squared else math.sqrt(square)


def noise_floor(bins: BinSums, binning: Binning) -> float | None:
    """Return what perfect calibration would give on average; unknown for the largest gap.

    Exact for the squared norm (Theorem 1 of the paper); for "l1" by the normal approximation
    of each bin; for "l2" the root of the squared one, which the average cannot exceed.
    """
    assert bins.aav is not None  # noqa: S101
    importance = bins.importance(binning.weighting)
    variance = np.divide(
        bins.aav, bins.weight**2, out=np.zeros_like(bins.weight), where=bins.filled
    )
    if binning.norm == "max":
        return None
    if binning.norm == "l1":
        return float((importance * np.sqrt(2 * variance / math.pi)).sum())
    square = float((importance * variance).sum())
    return square if binning.squared else math.sqrt(square)


def debiased(bins: BinSums, binning: Binning) -> tuple[float | None, int]:
    """Return the squared error (or its root) without the noise's share, and the bins left out.

    From each bin's squared gap its own sampling variance is subtracted. A bin of a single row
    says nothing about its variance and drops out whole.
    """
    if binning.norm != "l2":
        return None, 0
    assert bins.aa is not None  # noqa: S101
    assert bins.ae2 is not None  # noqa: S101
    # Weights may be so unequal that all but one row vanish beside it in double precision.
    several = (bins.rows > 1) & (bins.weight**2 - bins.aa > 1e-8 * bins.weight**2)
    weight, aa = bins.weight[several], bins.aa[several]
    gap = bins.gap[several]
    spread = (bins.ae2[several] - weight * gap**2) / (weight - aa / weight)
    importance = bins.importance(binning.weighting)[several]
    square = float((importance * (gap**2 - spread * aa / weight**2)).sum())
    value = square if binning.squared else math.sqrt(max(square, 0.0))
    return value, int(np.count_nonzero(bins.filled & ~several))


def _across_edges(totals: Totals, binning: Binning) -> Callable[[Blocks], BoolArray]:
    """Return what tells which blocks lie across an edge."""
    m = int(binning.n_bins)
    if binning.strategy == "uniform":
        return lambda blocks: _uniform_bin(blocks.low, m) != _uniform_bin(blocks.high, m)
    if m > totals.n:
        msg = f"n_bins={m:,} quantile bins need as many observations; there are {totals.n:,}"
        raise InputError(msg)

    def holds_a_cut(blocks: Blocks) -> BoolArray:
        cuts, tolerance = _quantile_cuts(blocks, totals, m)
        after = np.cumsum(blocks.weight)
        first = np.searchsorted(cuts, after - blocks.weight - tolerance, side="left")
        last = np.searchsorted(cuts, after + tolerance, side="right")
        return first < last

    return holds_a_cut


def _uniform_bin(scores: FloatArray, m: int) -> IntArray:
    """Return the bins of scores; a score on an edge belongs to the bin below it."""
    return np.searchsorted(np.arange(1, m) / m, scores, side="left")


def _uniform(blocks: Blocks, m: int) -> tuple[_Pieces, FloatArray]:
    """Cut at equispaced edges."""
    every = np.arange(len(blocks))
    pieces = _Pieces(every, _uniform_bin(blocks.high, m), np.ones(len(blocks)))
    return pieces, np.arange(m + 1) / m


def _quantile_cuts(blocks: Blocks, totals: Totals, m: int) -> tuple[FloatArray, float]:
    """Return the cumulative weights to cut at, and how close to one counts as on it."""
    weight = float(blocks.weight.sum())
    cuts: FloatArray = np.arange(m + 1, dtype=np.float64)
    cuts *= (totals.n // m) * (weight / totals.n)
    cuts[-1] = weight
    return cuts, _ON_THE_EDGE * weight


def _quantile(blocks: Blocks, totals: Totals, m: int) -> tuple[_Pieces, FloatArray]:
    """Cut so that bins hold floor(n / m) observations of average weight; the last the rest.

    A tie that lies across a cut is shared in proportion.
    """
    cuts, tolerance = _quantile_cuts(blocks, totals, m)
    bounds = np.concatenate([[0.0], np.cumsum(blocks.weight)])
    bounds[-1] = cuts[-1]
    nearest = np.searchsorted((bounds[1:] + bounds[:-1]) / 2, cuts)
    on_edge = np.abs(bounds[nearest] - cuts) <= tolerance
    cuts = np.where(on_edge, bounds[nearest], cuts)

    if on_edge.all():  # every block lies whole in one bin
        left, block, share = bounds[:-1], np.arange(len(blocks)), np.ones(len(blocks))
    else:
        marks = np.union1d(bounds, cuts)
        left = marks[:-1]
        block = np.searchsorted(bounds, left, side="right") - 1
        share = np.minimum(np.diff(marks) / np.diff(bounds)[block], 1.0)
    pieces = _Pieces(block, np.searchsorted(cuts, left, side="right") - 1, share)
    first = np.searchsorted(bounds, cuts[:-1], side="right") - 1
    return pieces, np.append(blocks.low[first], 1.0)
