"""Grids: monotone maps from scores to cells.

Every grid cuts the scores in order, so that cells are consecutive ranges of scores and equal
scores share a cell. Nothing else is needed for exact answers; where the cuts fall only decides
how much is left to do afterwards.

The cell ``c`` holds the scores from ``low[c]`` to ``high[c]``. Each has an *anchor*, one of the
scores it can hold. Distances from it are what gets summed: a sum of a million equal scores would
drift by rounding, a million times the anchor plus a sum of tiny distances does not. They are
counted in units of ``unit``. Where ``ties`` is true an anchor may be a score that many observations
share, so that it pays to watch for cells which hold nothing else.

Grids that find cells by an arithmetic formula have ``bucket`` too, a monotone map from scores to
numbers. What either returns may lie in scratch memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks import kernels
from secant._input.options import is_whole
from secant.errors import InputError

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray

__all__ = [
    "DyadicGrid",
    "PointGrid",
    "SampledGrid",
    "Scratch",
    "SpreadGrid",
    "dyadic_grid",
    "rank",
    "survey_scores",
]

MOST_CELLS = 1 << 24
_FEW_EDGES = 16
# Scores below those that carry this share of a sample are not worth cells of their own.
_TAIL = 1 / 8192


class Scratch:
    """Memory used again for every chunk of rows.

    Fresh arrays of this size are given back to the system and faulted in again page by page,
    which costs as much as the arithmetic.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray[Any, Any]] = {}

    def floats(self, name: str, size: int) -> FloatArray:
        """Return some doubles, whatever they hold."""
        array: FloatArray = self._get(name, size, np.float64)
        return array

    def ints(self, name: str, size: int) -> IntArray:
        """Return some integers, whatever they hold."""
        array: IntArray = self._get(name, size, np.int64)
        return array

    def _get(self, name: str, size: int, kind: Any) -> Any:
        array = self._arrays.get(name)
        if array is None or array.shape[0] < size:
            array = self._arrays[name] = np.empty(size, kind)
        return array[:size]


def dyadic_grid(n_cells: Any, cells: IntArray | None = None) -> DyadicGrid:
    """Return the grid of a number of cells, which must be a power of two, or some of its cells."""
    if not is_whole(n_cells, 1, MOST_CELLS) or n_cells & (n_cells - 1):
        msg = f"n_cells must be a power of two between 1 and {MOST_CELLS:,}; got {n_cells!r}"
        raise InputError(msg)
    return DyadicGrid(int(n_cells).bit_length() - 1, cells)


class DyadicGrid:
    """Cells [c / 2^bits, (c + 1) / 2^bits), and one more that holds the score 1 alone.

    Multiplying by a power of two is exact, so every machine and every engine puts a score into
    the same cell: states made anywhere can be added.

    Parameters
    ----------
    bits
        How fine the grid is.
    cells
        The numbers of some of the cells, in ascending order: what a file says takes memory for
        what it holds, not for how fine it says its grid is. All of them by default.
    """

    def __init__(self, bits: int, cells: IntArray | None = None) -> None:
        self.bits = bits
        self.n_cells = 1 << bits
        self.n_buckets = self.n_cells + 1
        self._some = cells
        self.unit = 1 / self.n_cells
        self.low = self.anchor = self.cells / self.n_cells
        self.high = np.minimum(np.nextafter(self.low + self.unit, 0), 1.0)
        self.ties = False

    @property
    def cells(self) -> IntArray:
        """The numbers of the cells."""
        return np.arange(self.n_cells + 1) if self._some is None else self._some

    def bucket(self, scores: FloatArray, scratch: Scratch) -> IntArray:
        """Return the cells of scores."""
        scaled = np.multiply(scores, self.n_cells, out=scratch.floats("scaled", len(scores)))
        return self._to_integers(scaled, scratch)

    @staticmethod
    def _to_integers(whole: FloatArray, scratch: Scratch) -> IntArray:
        cell = scratch.ints("cell", len(whole))
        # By way of int32, because that conversion is vectorised.
        narrow = scratch.ints("narrow", len(whole)).view(np.int32)[: len(whole)]
        np.copyto(narrow, whole, casting="unsafe")
        np.copyto(cell, narrow)
        return cell

    def locate(self, scores: FloatArray, scratch: Scratch) -> tuple[IntArray, FloatArray]:
        """Find the cells of scores."""
        offset = np.multiply(scores, self.n_cells, out=scratch.floats("offset", len(scores)))
        whole = np.floor(offset, out=scratch.floats("scaled", len(scores)))
        offset -= whole
        cell = self._to_integers(whole, scratch)
        return cell if self._some is None else np.searchsorted(self._some, cell), offset


class SampledGrid:
    """Cells adapted to where a sample of the scores lies, however skewed.

    The leading bits of a non-negative double, read as an integer, grow with the double: they
    number narrow buckets that are finest where scores are small. A table joins buckets into cells
    that hold about equal shares of the sample.

    Parameters
    ----------
    sample
        Scores in ascending order, a fair sample of all of them.
    lowest, highest
        The smallest and the largest of all scores.
    n_cells
        How many cells to aim at.
    """

    # More buckets separate scores better but fall out of the processor's cache, and take as long to
    # share out among cells as rows do if these are few.
    _MOST_BUCKETS = 1 << 17
    _BUCKETS_A_CELL = 4

    def __init__(self, sample: FloatArray, lowest: float, highest: float, n_cells: int) -> None:
        share = _shares(sample)
        bottom, top = map(int, _as_integers(np.array([_tail(sample, share), highest])))
        most = min(self._MOST_BUCKETS, self._BUCKETS_A_CELL * n_cells)
        self._shift = max(0, (top - bottom).bit_length() - most.bit_length() + 1)
        self._first = bottom >> self._shift
        self.n_buckets = (top >> self._shift) - self._first + 1

        bucket = np.clip(self.bucket(sample, Scratch()), 0, self.n_buckets - 1)
        held = np.asarray(np.bincount(bucket, share, self.n_buckets), np.float64)
        new = self._first_of_cell(held, n_cells)
        if highest == 1:  # the top bucket holds the score 1 alone: certain, so without variance
            new[-1] = True
        self._cell_of_bucket = np.cumsum(new) - 1
        edges = ((np.flatnonzero(new) + self._first) << self._shift).view(np.float64)
        edges[0] = lowest + 0.0  # not -0.0
        self.low = edges
        self.high = _below_next(edges, last=highest)
        self.anchor, self.ties = self._anchors(sample, self._cell_of_bucket[bucket])
        self.unit = 1.0

    @staticmethod
    def _first_of_cell(share: FloatArray, n_cells: int) -> BoolArray:
        """Mark the buckets that begin a cell: each 1 / n_cells of the sample, and heavy ones."""
        before = np.cumsum(share) - share
        new: BoolArray = np.diff(np.floor(before * n_cells), prepend=-1) > 0
        new |= share * n_cells >= 1
        return new

    def _anchors(self, sample: FloatArray, cell: IntArray) -> tuple[FloatArray, bool]:
        """Anchor cells at a score the sample has more than once, if there is one."""
        repeated = np.flatnonzero(sample[1:] == sample[:-1])
        anchor = self.low.copy()
        anchor[cell[repeated]] = sample[repeated]
        return anchor, bool(repeated.size)

    def bucket(self, scores: FloatArray, scratch: Scratch) -> IntArray:
        """Return the bucket numbers of scores, to be clipped to 0 .. n_buckets - 1."""
        number = scratch.ints("bucket", len(scores))
        np.right_shift(scores.view(np.int64), self._shift, out=number)
        number -= self._first
        return number

    def locate(self, scores: FloatArray, scratch: Scratch) -> tuple[IntArray, FloatArray]:
        """Find the cells of scores."""
        cell, offset = scratch.ints("cell", len(scores)), scratch.floats("offset", len(scores))
        self._cell_of_bucket.take(self.bucket(scores, scratch), out=cell, mode="clip")
        self.anchor.take(cell, out=offset, mode="clip")
        np.subtract(scores, offset, out=offset)
        return cell, offset


class SpreadGrid:
    """Cells spread by a sample of the scores, found by shifts alone.

    The leading bits of a double number coarse buckets, as in :class:`SampledGrid`; a small table
    says which cell is the first of a bucket, and how many of the bits below choose among its cells.

    Parameters
    ----------
    sample
        Scores in ascending order, a fair sample of all of them.
    n_cells
        How many cells to aim at.
    widest
        How wide a cell may be at most, as the exponent of a power of two.
    """

    # The table must stay in the cache that is nearest to the processor.
    _MOST_COARSE = 1 << 10
    _SHIFT_BITS = 6
    _SHIFT = (1 << _SHIFT_BITS) - 1
    # How much more than their share cells may hold before they are halved.
    _ROOT = 2.0**0.5

    def __init__(self, sample: FloatArray, n_cells: int, widest: int) -> None:
        share = _shares(sample)
        bottom = int(_as_integers(np.minimum(_tail(sample, share), 2.0**widest)))
        # A double's bits are counted from here, and shifted, to number coarse buckets.
        shift = max(0, (kernels.ONE - bottom).bit_length() - self._MOST_COARSE.bit_length() + 1)
        first = max((bottom >> shift) - 1, 0) if shift else bottom
        self.shift, self.bottom = shift, first << shift
        count = ((kernels.ONE - self.bottom) >> shift) + 1
        bucket = np.maximum(_as_integers(sample) - self.bottom, 0) >> shift
        held = np.bincount(bucket, share, count)
        begins = np.arange(count) << shift
        ends = (np.append(begins, count << shift) + self.bottom).view(np.float64)
        ends[0] = 0.0
        # Buckets are halved until their cells hold no more than their share, and are no wider.
        size, power = np.frexp(np.maximum(held * n_cells / self._ROOT, np.diff(ends) / 2.0**widest))
        fine = np.clip(np.where(size == 0.5, power - 1, power), 0, shift).astype(np.int64)
        # The score 1 is alone; the first bucket has any exponents, whose lower bits say nothing.
        fine[-1] = 0
        fine[0] = 0 if self.bottom else fine[0]
        cells, left = 1 << fine, shift - fine
        before = np.cumsum(cells) - cells
        self.n_buckets = int(cells.sum())
        # How far they are shifted to number cells, and what is then added.
        self.table = ((before - (begins >> left)) << self._SHIFT_BITS) | left
        # The smallest score of each cell.
        inside = np.arange(self.n_buckets) - np.repeat(before, cells)
        low = np.repeat(begins + self.bottom, cells) + (inside << np.repeat(left, cells))
        low[0] = 0
        self.low: FloatArray = low.view(np.float64)

    @property
    def high(self) -> FloatArray:
        """The largest score of each cell."""
        return _below_next(self.low, last=1.0)

    def last(self, cells: IntArray) -> FloatArray:
        """Return the largest score of some cells."""
        following = np.minimum(cells + 1, self.n_buckets - 1)
        return np.where(cells == following, 1.0, np.nextafter(self.low[following], 0.0))

    def bucket(self, scores: FloatArray, scratch: Scratch) -> IntArray:  # noqa: ARG002  (few scores)
        """Return the cells of scores."""
        bits = np.maximum(_as_integers(scores), self.bottom) - self.bottom
        entry = self.table[bits >> self.shift]
        found: IntArray = (bits >> (entry & self._SHIFT)) + (entry >> self._SHIFT_BITS)
        return found


class PointGrid:
    """A grid for scores known to be among a few distinct ones, in ascending order."""

    def __init__(self, scores: NumberArray) -> None:
        self.low = self.high = self.anchor = scores
        self.unit = 1.0
        self.ties = False

    def locate(
        self,
        scores: FloatArray,
        scratch: Scratch,  # noqa: ARG002  (few scores)
    ) -> tuple[IntArray, FloatArray]:
        """Find the cells of scores."""
        return np.searchsorted(self.low, scores), np.zeros_like(scores)


def _shares(sample: FloatArray) -> FloatArray:
    """Return what each score of a sample shall count when scores are shared out among cells.

    A cell must be looked into when the cumulative difference may turn inside it, which depends on
    its variance; some share by count keeps cells of tiny variance small too.
    """
    variance = sample * (1 - sample)
    share = np.full(sample.shape[0], 0.25 / sample.shape[0])
    if (total := variance.sum()) > 0:
        share += 0.75 * variance / total
    return share


def _tail(sample: FloatArray, share: FloatArray) -> float:
    """Return the score up to which a sample in order carries next to nothing."""
    place = np.searchsorted(np.cumsum(share), _TAIL)
    return float(sample[min(place, sample.shape[0] - 1)])


def survey_scores(sample: FloatArray) -> tuple[float, int, int]:
    """Tell of scores in order what s(1 - s) is on average, how many repeat, and the longest tie."""
    starts = np.flatnonzero(np.append(True, sample[1:] != sample[:-1]))
    ties = np.diff(starts, append=sample.size)
    return float((sample * (1 - sample)).mean()), sample.size - starts.size, int(ties.max())


def rank(edges: FloatArray, scores: FloatArray) -> IntArray:
    """Count the edges that each score has reached; edges are ascending."""
    if edges.shape[0] > _FEW_EDGES:
        return np.searchsorted(edges, scores, side="right")
    # A search in random order stumbles at every branch; comparing with each edge does not.
    reached = np.zeros(scores.shape[0], np.int64)
    for edge in edges:
        reached += scores >= edge
    return reached


def _below_next(edges: FloatArray, last: float) -> FloatArray:
    """Return the largest double below the next edge, and ``last`` for the last cell."""
    return np.append(np.nextafter(edges[1:], -np.inf), last)


def _as_integers(scores: FloatArray) -> IntArray:
    """Return what each double is when they are counted upward from 0.0; -0.0 counts as 0.0."""
    return (scores + 0.0).view(np.int64)
