"""Evidence against calibration that may be looked at after every batch.

Under calibration the chance of an event, given everything before, is its score (or lies within the
tolerance of it). A *component* is one way in which that can be wrong: events among the scores of a
range are more frequent, or rarer, by one tilt; or all scores are too extreme, or too moderate. It
bets on its own way being true and multiplies its stake by e after every batch, where e has
expectation at most 1 under calibration, whatever happened before. So has the mixture of all
components, started after any number of batches, and by Ville's inequality it ever reaches 1 / alpha
with probability at most alpha.

Sums over a batch are made of whole numbers (units of 2^-46), so that they are the same to the last
bit however the rows of the batch are ordered and cut into pieces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from secant._base.types import FloatArray, IntArray, NumberArray
    from secant._blocks.cell_sums import CellMeans

__all__ = [
    "COMPONENTS",
    "FINE",
    "GRID",
    "SLOPES",
    "TILTS",
    "WHOLE",
    "Component",
    "Evidence",
    "Sums",
    "Tally",
    "component",
    "cuts",
    "log_evalues",
    "log_prior",
    "sums_of_cells",
    "tilt_terms",
]

# Tilts of the log odds, and powers of the odds. Both come in pairs of opposite directions.
_STEPS = 0.0125 * 2.0 ** np.arange(8)
TILTS: FloatArray = np.concatenate([-_STEPS[::-1], _STEPS])
SLOPES: FloatArray = np.exp(np.outer([-1.0, 1.0], [0.05, 0.1, 0.2, 0.4]).ravel())
_LEVELS = 5  # 1, 2, 4, 8 and 16 ranges
_CELLS = 1 << (_LEVELS - 1)
_RANGES = (1 << _LEVELS) - 1
COMPONENTS = _RANGES * TILTS.size + SLOPES.size
_SLOPES_SHARE = 0.25

FINE = 64
"""Cells whose sums are kept of every batch: ranges are made of them, and the curve is drawn."""
GRID = 1 << 16
"""Cuts stand at multiples of one over this, as the edges of ``Cells`` do."""
WHOLE: FloatArray = np.array([0.0, 1.0])
"""The only edges there are until enough scores have been seen."""

_SCALE, _SLOPE_SCALE = 2.0**46, 2.0**40
_CHUNK = 1 << 13  # terms of so many rows add up below 2^63
_LOW_BITS = (1 << 32) - 1


# Where ranges lie ---------------------------------------------------------------------------------


def cuts(counts: IntArray) -> FloatArray:
    """Return the edges of ``FINE`` cells that hold about equal numbers of scores.

    Of edges with the same number of scores below them, the one next to the quantile is taken.

    Parameters
    ----------
    counts
        Scores in each of the cells of equal width, a power of two of them over [0, 1), and last
        those of exactly 1.
    """
    grid = counts.shape[0] - 1
    below = np.concatenate([[0], np.cumsum(counts[:-1])])
    wanted = np.arange(1, FINE) * (int(counts.sum()) / FINE)
    right = np.clip(np.searchsorted(below, wanted), 1, grid)
    nearer = wanted - below[right - 1] < below[right] - wanted
    inner = np.where(nearer, right - 1, right) / grid
    return np.concatenate([[0.0], inner, [1.0]])


@dataclass(frozen=True, slots=True)
class Component:
    """One way of being off: a range of cells and a direction."""

    first: int
    last: int
    direction: str


def component(number: int) -> Component:
    """Return what a component bets on; cells are ``FINE`` ones, ``last`` excluded."""
    tilted = _RANGES * TILTS.size
    if number >= tilted:
        flatter = SLOPES[number - tilted] < 1
        return Component(0, FINE, "too extreme" if flatter else "too moderate")
    which, tilt = divmod(number, TILTS.size)
    level = (which + 1).bit_length() - 1
    width = FINE >> level
    first = (which + 1 - (1 << level)) * width
    return Component(first, first + width, "too low" if TILTS[tilt] > 0 else "too high")


def log_prior(tolerance: float) -> FloatArray:
    """Return the logarithms of the stakes that components start with; they add up to 1.

    Every level of ranges has the same; slopes have a quarter, and with a tolerance nothing.
    """
    share = _SLOPES_SHARE if tolerance == 0 else 0.0
    levels = [np.full(1 << level, (1 - share) / _LEVELS / (1 << level)) for level in range(_LEVELS)]
    ranges = np.repeat(np.concatenate(levels) / TILTS.size, TILTS.size)
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(np.append(ranges, np.full(SLOPES.size, share / SLOPES.size)))
    return logs


# Sums over a batch --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sums:
    """What a batch adds up to, in cells between edges.

    Attributes
    ----------
    n, events, scored
        Rows of each cell, events among them, and the sum of their scores.
    tilted
        For every tilt and cell the sum of log(1 + u (exp d - 1)), or a bound above it.
    sloped
        For every slope the log-likelihood ratio; None where it cannot be had.
    impossible
        Events with a score of 0, and failures with a score of 1.
    sum_of_scores, sum_of_hits
        The sum of all scores, and of those of events.
    """

    n: IntArray
    events: IntArray
    scored: FloatArray
    tilted: FloatArray
    sloped: FloatArray | None
    impossible: tuple[int, int]
    sum_of_scores: float
    sum_of_hits: float

    @property
    def totals(self) -> tuple[int, int, float, float]:
        """Sums over the whole batch, whatever the cells; another batch would have others."""
        return int(self.n.sum()), int(self.events.sum()), self.sum_of_scores, self.sum_of_hits


def tilt_terms(scores: FloatArray, tolerance: float, out: FloatArray | None = None) -> FloatArray:
    """Return log(1 + u (exp d - 1)) for every tilt d (rows) and score (columns).

    u is the chance nearest to what the tilt bets on that the tolerance allows.
    """
    factor = np.expm1(TILTS)[:, None]
    half = TILTS.size // 2
    out = np.empty((TILTS.size, scores.shape[0])) if out is None else out
    np.multiply(np.maximum(scores - tolerance, 0.0), factor[:half], out=out[:half])
    np.multiply(np.minimum(scores + tolerance, 1.0), factor[half:], out=out[half:])
    out += 1.0
    return np.log(out, out=out)


def slope_terms(scores: FloatArray, happened: IntArray, out: FloatArray) -> FloatArray:
    """Return the log-likelihood ratio of expit(b logit s) against s, for every slope and row.

    Scores of 0 and 1, which no slope moves, are left out.
    """
    inside = (scores > 0) & (scores < 1)
    safe = np.where(inside, scores, 0.5)
    logit = np.log(safe) - np.log1p(-safe)
    against = np.where(happened, -logit, logit)  # softplus of it is -log of the chance
    np.multiply(SLOPES[:, None], against, out=out)
    _softplus(out)
    np.subtract(_softplus(against), out, out=out)
    return out


def _softplus(x: FloatArray) -> FloatArray:
    """Put log(1 + exp x) in the place of x."""
    small = np.log1p(np.exp(-np.abs(x)))
    np.maximum(x, 0.0, out=x)
    x += small
    return x


class Tally:
    """Adds up a batch, row after row.

    Parameters
    ----------
    edges
        Edges of cells, at multiples of 1 / ``GRID``, from 0 to 1.
    tolerance
        How far a chance may lie from its score.
    evidence
        Whether to add up what evidence needs; a batch is recognised without.
    """

    def __init__(self, edges: FloatArray, tolerance: float, *, evidence: bool = True) -> None:
        self._cells = edges.shape[0] - 1
        self._tolerance = tolerance
        self._cell_of = _cell_of(edges)
        self._tilts = TILTS.size if evidence else 0
        self._slopes = SLOPES.size if evidence and tolerance == 0 else 0
        shape = 2 + self._tilts + self._slopes, self._cells
        self._high, self._low = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self._n, self._events = np.zeros(self._cells, np.int64), np.zeros(self._cells, np.int64)
        self._impossible = [0, 0]
        self._terms = np.empty((shape[0], _CHUNK))

    def add(self, scores: FloatArray, labels: np.ndarray[Any, Any]) -> None:
        """Add rows: scores in [0, 1], labels 0 or 1."""
        for start in range(0, scores.shape[0], _CHUNK):
            piece = slice(start, start + _CHUNK)
            self._add(np.asarray(scores[piece], np.float64), np.asarray(labels[piece], np.int64))

    def sums(self) -> Sums:
        """Return what has been added up so far."""
        each = _joined(self._high, self._low)
        overall = _joined(self._high.sum(1), self._low.sum(1))
        tilts = slice(2, 2 + self._tilts)
        return Sums(
            n=self._n.copy(),
            events=self._events.copy(),
            scored=each[0] / _SCALE,
            tilted=each[tilts] / _SCALE,
            sloped=overall[tilts.stop :] / _SLOPE_SCALE if self._slopes else None,
            impossible=(self._impossible[0], self._impossible[1]),
            sum_of_scores=float(overall[0] / _SCALE),
            sum_of_hits=float(overall[1] / _SCALE),
        )

    def _add(self, scores: FloatArray, happened: IntArray) -> None:
        cell = self._cell_of[(scores * GRID).astype(np.int64)]
        order = np.argsort(cell, kind="stable")
        scores, happened, cell = scores[order], happened[order], cell[order]
        terms = self._terms[:, : scores.shape[0]]
        terms[0] = scores
        np.multiply(scores, happened, out=terms[1])
        terms[:2] *= _SCALE
        if self._tilts:
            tilted = tilt_terms(scores, self._tolerance, terms[2 : 2 + self._tilts])
            tilted *= _SCALE
        if self._slopes:
            sloped = slope_terms(scores, happened, terms[2 + self._tilts :])
            sloped *= _SLOPE_SCALE
        starts = np.flatnonzero(np.diff(cell, prepend=-1))
        filled = cell[starts]
        whole = np.add.reduceat(np.rint(terms, out=terms).astype(np.int64), starts, axis=1)
        self._high[:, filled] += whole >> 32
        self._low[:, filled] += whole & _LOW_BITS
        self._n[filled] += np.diff(starts, append=scores.shape[0])
        self._events[filled] += np.add.reduceat(happened, starts)
        self._impossible[0] += int(happened[scores == 0].sum())
        self._impossible[1] += int((1 - happened[scores == 1]).sum())


def _joined(high: IntArray, low: IntArray) -> FloatArray:
    """Put two halves together: both are whole numbers below 2^53, so that this is rounded once."""
    return high.astype(np.float64) * 2.0**32 + low.astype(np.float64)


def sums_of_cells(
    cells: CellMeans, edges: FloatArray, tolerance: float, impossible: tuple[int, int]
) -> Sums:
    """Return sums of which only counts and mean scores of narrow cells are known.

    A term of a tilt is concave in the score, so that the term of the mean, times the number of
    rows, is no less than their sum: what comes out is no more evidence than the rows would give.
    Slopes cannot be had.

    Parameters
    ----------
    cells
        Mean score, failures and events of cells; no edge lies inside one.
    edges, tolerance
        As in :class:`Tally`.
    impossible
        As in :class:`Sums`.
    """
    mean, n0, n1 = cells
    cell = _cell_of(edges)[(mean * GRID).astype(np.int64)].astype(np.int64)
    n = n0 + n1

    def added(column: NumberArray) -> FloatArray:
        sums: Any = np.bincount(cell, column, minlength=edges.shape[0] - 1)
        return np.asarray(sums, np.float64)

    terms = tilt_terms(mean, tolerance)
    return Sums(
        n=added(n).astype(np.int64),
        events=added(n1).astype(np.int64),
        scored=added(n * mean),
        tilted=np.array([added(n * each) for each in terms]),
        sloped=None,
        impossible=impossible,
        sum_of_scores=math.fsum(n * mean),
        sum_of_hits=math.fsum(n1 * mean),
    )


def _cell_of(edges: FloatArray) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the cell of every multiple of 1 / ``GRID``; a score of 1 is in the last."""
    places: IntArray = (edges * GRID).astype(np.int64)
    widths = places[1:] - places[:-1]
    cells = np.repeat(np.arange(widths.shape[0], dtype=np.uint8), widths)
    return np.append(cells, cells.dtype.type(widths.shape[0] - 1))


# Evidence -----------------------------------------------------------------------------------------


def log_evalues(sums: Sums) -> FloatArray:
    """Return log e of a batch for every component; 0 for those that it cannot feed.

    Leading axes of ``tilted`` (tilts and cells come last), ``events`` and ``sloped`` are kept.
    """
    gain = TILTS[:, None] * sums.events[..., None, :] - sums.tilted
    lead, cells = gain.shape[:-2], gain.shape[-1]
    ranges = np.zeros((*lead, _RANGES, TILTS.size))
    for level in range(_LEVELS if cells == FINE else 1):
        joined = gain.reshape(*lead, TILTS.size, 1 << level, cells >> level).sum(-1)
        ranges[..., (1 << level) - 1 : (2 << level) - 1, :] = np.swapaxes(joined, -1, -2)
    slopes = np.zeros((*lead, SLOPES.size)) if sums.sloped is None else sums.sloped
    return np.concatenate([ranges.reshape(*lead, -1), slopes], axis=-1)


@dataclass(frozen=True)
class Evidence:
    """What components have won so far, each started after any number of batches.

    Attributes
    ----------
    batches
        Batches seen.
    won
        L of every component: the logarithm of what it has won, over all starts.
    best
        B of every component: the same for its best start alone.
    start
        The batch, from 1, with which that start began.
    """

    batches: int
    won: FloatArray
    best: FloatArray
    start: IntArray

    @classmethod
    def none(cls, *streams: int) -> Evidence:
        """Return the evidence before the first batch, for one stream or several at once."""
        shape = *streams, COMPONENTS
        nothing = np.full(shape, -np.inf)
        return cls(0, nothing, nothing.copy(), np.zeros(shape, np.int64))

    def after(self, log_e: FloatArray) -> Evidence:
        """Return the evidence after one more batch."""
        number = self.batches + 1
        log_pi = -math.log(number) - math.log(number + 1)
        return Evidence(
            number,
            np.logaddexp(self.won, log_pi) + log_e,
            np.maximum(self.best, log_pi) + log_e,
            np.where(log_pi > self.best, number, self.start),
        )

    def log_mixture(self, prior: FloatArray) -> FloatArray:
        """Return log M: the mixture of all components and starts, those to come included."""
        weighed = prior + self.won
        largest = weighed.max(-1)
        with np.errstate(invalid="ignore"):  # before the first batch
            sums = np.exp(weighed - largest[..., None]).sum(-1)
            started = np.where(largest == -np.inf, -np.inf, largest + np.log(sums))
        return np.logaddexp(started, -math.log(self.batches + 1))

    def heaviest(self, prior: FloatArray) -> IntArray:
        """Return the component that has won most."""
        heaviest: IntArray = np.argmax(prior + self.won, axis=-1)
        return heaviest
