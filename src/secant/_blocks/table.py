"""Blocks: sums over consecutive ranges of scores, the one table every number comes from.

Put all observations in the order of their scores and cut that order into blocks. A block of
one distinct score is a *tie*: nothing more can be learnt about it. A wider one is a *cell*: its
sums are exact, but what happens inside it is known only within limits. A number that needs to look
inside says which cells matter, the source cuts those finer, and nobody ever sorts everything.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._blocks import kernels
from secant._blocks.kernels import HALF_BITS, halves
from secant._blocks.sorting import packed, unpacked
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray

    # Sums of the rows with response 0, and of those with response 1.
    _Pair = tuple[Any, Any]

__all__ = [
    "ADDED_TOGETHER",
    "FIXED_BITS",
    "STEPS",
    "Blocks",
    "Fixed",
    "Inside",
    "Moments",
    "Spread",
    "Totals",
    "add_totals",
    "changed",
    "collapse",
    "concatenate",
    "fixed_running_sum",
    "from_sums",
    "in_order",
    "largest_steps",
    "merge",
    "running_sum",
    "with_fixed",
]


# Variance, in units of an average squared weight: at most the expected events, or failures.
_FEW_EVENTS = 10
# How many of the largest possible steps are kept.
STEPS = 12
# Places up to which a table is taken apart there, and not sorted.
_FEW_PLACES = 64
# Scores as whole numbers are counted in units of 2^-52, their sums in two halves of so many bits.
FIXED_BITS = 26
_UNIT = 2.0**-52
_ONE = int(np.float64(1).view(np.int64))
# How many values are added one after the other before a sum is put aside.
ADDED_TOGETHER = 256


@dataclass(frozen=True)
class Moments:
    """What the noise of a metric needs to know of each block.

    ``wv`` is the sum of w s(1 - s), ``variance`` that of the variances of the steps w(r - s) under
    perfect calibration, ``ww0`` and ``ww1`` those of w^2 by response.
    """

    wv: FloatArray
    variance: FloatArray
    ww0: NumberArray
    ww1: NumberArray

    @cached_property
    def ww(self) -> NumberArray:
        """Sum of w^2 in each block."""
        return self.ww0 + self.ww1


@dataclass(frozen=True)
class Inside:
    """How far the cumulative difference goes inside each block, where that is known.

    ``rise`` and ``fall`` are the farthest that it lies above and below its start, at most ``up``
    and ``down``.
    """

    rise: FloatArray
    fall: FloatArray


@dataclass(frozen=True)
class Fixed:
    """What each block adds to the sum of w(r - s), in whole units: ``high`` 2^bits plus ``low``.

    Whole numbers add up to the same in any order, and so however scores are cut into blocks.
    ``scale`` is the power of two that brings weights below 1; None where rows have none.
    """

    high: IntArray
    low: IntArray
    scale: float | None = None

    @property
    def bits(self) -> int:
        """How many bits the lower half has."""
        return FIXED_BITS if self.scale is None else HALF_BITS

    @property
    def unit(self) -> float:
        """What one unit is."""
        return _UNIT if self.scale is None else 2.0 ** (-2 * HALF_BITS) / self.scale

    def rounded(self) -> FloatArray:
        """Return the sums as doubles, which the same sums always give."""
        high = self.high + (self.low >> self.bits)
        low = self.low & ((1 << self.bits) - 1)
        sums: FloatArray = (high * 2.0**self.bits + low) * self.unit
        return sums


@dataclass(frozen=True)
class Blocks:
    """Sums per block, in the order of scores; no block is empty.

    Attributes
    ----------
    low, high
        A block holds every observation with ``low <= score <= high``; a tie has ``low == high``.
    n0, n1
        Observations with response 0 and 1.
    w0, w1
        Their weights (the counts themselves when nothing is weighted).
    down, up
        Sums of the negative and the positive parts of w(r - s): ``down`` is what responses 0
        take from the cumulative difference, ``up`` what responses 1 add.
    moments
        Sums for the noise of binned metrics, where they were asked for.
    inside
        How far the path goes inside blocks, where rows were seen in their order.
    least, most
        Limits of the scores in each block, where the order is another: then ``low`` and ``high``
        are keys along that order, and a tie may hold several scores.
    fixed
        Sums of scores as whole numbers, where they were summed so.
    """

    low: FloatArray
    high: FloatArray
    n0: IntArray
    n1: IntArray
    w0: NumberArray
    w1: NumberArray
    down: FloatArray
    up: FloatArray
    moments: Moments | None = None
    inside: Inside | None = None
    least: FloatArray | None = None
    most: FloatArray | None = None
    fixed: Fixed | None = None

    def __len__(self) -> int:
        return int(self.low.shape[0])

    @cached_property
    def n(self) -> IntArray:
        """Observations in each block."""
        return self.n0 + self.n1

    @cached_property
    def weight(self) -> NumberArray:
        """Weight of each block."""
        return self.w0 + self.w1

    @cached_property
    def gain(self) -> FloatArray:
        """What each block adds to the sum of w(r - s)."""
        return self.up - self.down

    @property
    def total_gain(self) -> float:
        """The sum of w(r - s) over all blocks."""
        if self.fixed is None:
            return float(self.gain.sum())
        units = (int(self.fixed.high.sum()) << self.fixed.bits) + int(self.fixed.low.sum())
        return float(units * self.fixed.unit)

    @cached_property
    def open(self) -> BoolArray:
        """Whether a block may hold several distinct scores."""
        return self.low < self.high

    @property
    def rise(self) -> FloatArray:
        """How far, at most, the sum of w(r - s) lies above its start inside each block."""
        return self.up if self.inside is None else self.inside.rise

    @property
    def fall(self) -> FloatArray:
        """How far, at most, the sum of w(r - s) lies below its start inside each block."""
        return self.down if self.inside is None else self.inside.fall

    @property
    def scored(self) -> FloatArray:
        """Sum of w s in each block."""
        return self.w1 - self.up + self.down

    @property
    def lowest(self) -> FloatArray:
        """No score in a block is smaller."""
        return self.low if self.least is None else self.least

    @property
    def highest(self) -> FloatArray:
        """No score in a block is larger."""
        return self.high if self.most is None else self.most

    @property
    def mean_score(self) -> FloatArray:
        """The mean score of each block."""
        return np.clip(self.scored / self.weight, self.lowest, self.highest)

    def select(self, index: Any) -> Blocks:
        """Return the blocks at an index, mask or slice."""
        selected: Blocks = _map(lambda column: column[index], self)
        return selected

    def replace(self, coarse: BoolArray, finer: Blocks) -> Blocks:
        """Put finer blocks in the place of the marked ones, which hold the same observations."""
        old = self.select(coarse)
        if not _same_sums(old, finer):
            raise changed(int(finer.n.sum()), int(old.n.sum()))
        places = np.flatnonzero(coarse)
        if len(places) <= _FEW_PLACES:
            return _put_in(self, places, finer)
        return concatenate([self.select(~coarse), finer])


class Spread(NamedTuple):
    """What moments of blocks are made of: sums without the weights of outcomes.

    Attributes
    ----------
    wv
        Sums of w s(1 - s) by outcome.
    wwv, ww
        Sums of w^2 s(1 - s), and of w^2 by outcome, where rows have weights that are no counts.
    v
        A factor that is missing from the sums with s(1 - s): all of it where a block has one score.
    """

    wv: _Pair
    wwv: FloatArray | None = None
    ww: _Pair | None = None
    v: Any = 1.0


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all observations; what was not summed is None.

    The weight w of an observation is its sampling weight a times the weight of its outcome, o0 or
    o1. For counted copies of rows (frequency weights) every copy is an observation. A *step* is
    what an observation adds to the cumulative difference, w(r - s).

    Attributes
    ----------
    n
        Number of observations.
    weight, ww, ww1
        Sums of w and w^2, and of w^2 over the events alone.
    variance
        Sum of the variances of the steps under perfect calibration: a^2 o0 o1 s(1 - s).
    squares
        Sum of the squares of the steps, w^2 (r - s)^2.
    third
        Sum of a^3 o0 o1 s(1 - s) (o0 + o1 - o0 o1 / (o1 (1 - s) + o0 s)), which bounds the third
        absolute moments of the steps; w^3 s(1 - s) where outcomes have no weights.
    squared_error, log_loss
        Sums of w (r - s)^2, and of w times the negative logarithm of the probability given to what
        happened. Arrays do not sum the second in their first look.
    steps
        The largest steps that were possible, max(a o1 (1 - s), a o0 s), at most twelve, in
        descending order; where nothing is weighted their limit, 1. An engine gives bounds of them.
    outcome_weights
        (o0, o1), or None where outcomes have no weights.
    pooled
        Sum of w^2 (r - p)^2 around mean responses p, where outcomes have weights; set when blocks
        are resolved as far as that takes, 0 before.
    """

    n: int
    weight: float
    ww: float
    variance: float
    squares: float
    ww1: float | None = None
    third: float | None = None
    squared_error: float | None = None
    log_loss: float | None = None
    steps: tuple[float, ...] | None = None
    outcome_weights: tuple[float, float] | None = None
    pooled: float = 0.0

    @property
    def sigma(self) -> float:
        """Standard deviation of the last cumulative difference under perfect calibration."""
        return math.sqrt(self.variance) / self.weight

    @property
    def equal_weights(self) -> bool:
        """Whether every observation has the same weight, so that weights make no difference."""
        if self.outcome_weights is not None:
            return False
        return self.ww * self.n <= self.weight**2 * (1 + 1e-12)  # Cauchy and Schwarz

    @property
    def few_events(self) -> bool:
        """Whether so few events, or failures, are expected that the Brownian limit is far off."""
        return self.outcome_weights is None and 0 < self.variance * self.n < _FEW_EVENTS * self.ww

    @property
    def rho3(self) -> float:
        """How far the largest steps are from vanishing beside the rest: 1/sqrt(V) unweighted.

        The Brownian limit is an approximation whose error is of this order (Berry and Esseen).
        """
        if self.third is None:
            raise _not_summed("the third moments of weights")
        if self.variance == 0:
            return math.inf
        return self.third / self.variance / math.sqrt(self.variance)

    @property
    def sigma_hat(self) -> float:
        """Standard deviation estimated from the residuals themselves, at least ``sigma``."""
        return math.sqrt(max(self.squares, self.variance, self.pooled)) / self.weight

    @classmethod
    def plain(
        cls,
        n: int,
        n1: int,
        variance: float,
        residual: float,
        log_loss: float | None = None,
    ) -> Totals:
        """Return the sums over n observations without weights, n1 of them events.

        Parameters
        ----------
        n, n1
            How many observations there are, and events among them.
        variance, residual
            The sums of s(1 - s) and of |r - s|.
        log_loss
            As of totals.
        """
        # A residual is s or 1 - s, so (r - s)^2 = |r - s| - s(1 - s).
        squares = max(residual - variance, 0.0)
        count, steps = float(n), (1.0,) * min(n, STEPS)
        return cls(
            *(n, count, count, variance, squares, float(n1)),
            *(variance, squares, log_loss, steps),
        )

    def completed(self, blocks: Blocks) -> Totals:
        """Fill in what blocks know, where nothing is weighted: all but the sum of s(1 - s)."""
        residual = float(blocks.up.sum() + blocks.down.sum())
        events = int(blocks.n1.sum())
        return Totals.plain(self.n, events, self.variance, residual, self.log_loss)

    def agrees(self, other: Totals) -> bool:
        """Tell whether these can be sums of the same observations, added up in another order."""
        pairs = (
            (self.weight, other.weight),
            (self.ww, other.ww),
            (self.variance, other.variance),
            # A sum of small differences is known no better than what they are differences of.
            (self.squares + self.variance, other.squares + other.variance),
        )
        return self.n == other.n and all(math.isclose(a, b, rel_tol=1e-9) for a, b in pairs)


def changed(found: int, expected: int) -> SecantError:
    """Return the error for data that are not what they were at the first look."""
    msg = (
        "the data were changed after they were assessed: a second look at the same scores "
        f"found {found:,} observations in place of {expected:,}, or other ones; or each look at "
        "them gives other rows, as a view with random() does: keep those in a table first"
    )
    return SecantError(msg)


def _not_summed(what: str) -> SecantError:
    return SecantError(f"{what} were not summed: the state comes from an earlier version of secant")


def add_totals(parts: Iterable[Totals]) -> Totals:
    """Add up the totals of disjoint sets of observations."""
    parts = list(parts)
    if not parts:
        return Totals(0, *(0.0,) * 8, steps=())

    def total(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return None if None in values else math.fsum(values)

    steps = [part.steps for part in parts if part.steps is not None]
    return Totals(
        n=sum(part.n for part in parts),
        **{name: total(name) for name in _SUMS},
        steps=largest_steps(*steps) if len(steps) == len(parts) else None,
        outcome_weights=parts[0].outcome_weights,
    )


_SUMS = ("weight", "ww", "variance", "squares", "ww1", "third", "squared_error", "log_loss")


def largest_steps(*steps: Iterable[float]) -> tuple[float, ...]:
    """Return the twelve largest of some steps in descending order."""
    return tuple(heapq.nlargest(STEPS, (step for some in steps for step in some)))


def from_sums(
    low: Any,
    high: Any,
    n: _Pair,
    residuals: _Pair,
    *,
    weights: _Pair | None = None,
    spread: Spread | None = None,
    outcome_weights: tuple[float, float] | None = None,
    **more: Any,
) -> Blocks:
    """Return the blocks of sums by outcome; here, and nowhere else, outcomes get their weights.

    Parameters
    ----------
    low, high
        Where blocks begin and end.
    n, residuals
        How many observations there are, and the sums of w|r - s|.
    weights
        Their weights, if these are not the counts themselves.
    spread
        What moments are made of, where they are wanted.
    outcome_weights
        What the outcomes 0 and 1 weigh, on top of the weights of rows.
    more
        Other columns of blocks, as they are.
    """
    n0, n1 = n
    w0, w1 = weights or n
    down, up = residuals
    moments = None
    if spread is not None:
        wv0, wv1 = spread.wv
        ww0, ww1 = spread.ww or (w0, w1)
        wv = (wv0 + wv1) * spread.v
        moments = Moments(wv, wv if spread.wwv is None else spread.wwv * spread.v, ww0, ww1)
        if outcome_weights is not None:
            o0, o1 = outcome_weights
            moments = Moments(
                wv=(o0 * wv0 + o1 * wv1) * spread.v,
                variance=o0 * o1 * moments.variance,
                ww0=o0 * o0 * ww0,
                ww1=o1 * o1 * ww1,
            )
    if outcome_weights is not None:
        o0, o1 = outcome_weights
        w0, w1, down, up = o0 * w0, o1 * w1, o0 * down, o1 * up
    return Blocks(low, high, n0, n1, w0, w1, down, up, moments, **more)


def _same_sums(old: Blocks, new: Blocks) -> bool:
    """Tell whether two tables can be of the same observations."""
    if old.n0.sum() != new.n0.sum() or old.n1.sum() != new.n1.sum():
        return False
    pairs = [(a.sum(), b.sum()) for a, b in ((old.weight, new.weight), (old.gain, new.gain))]
    slack = 1e-9 * float(old.weight.sum())
    return all(abs(a - b) <= slack for a, b in pairs)


def _alike(parts: list[Blocks]) -> list[Blocks]:
    """Return tables all of which know what any knows: whole sums, how far paths go in blocks."""
    if any(part.fixed is not None for part in parts):
        # Ties know by themselves, but for weights of rows.
        counted = all(part.fixed is None or part.fixed.scale is None for part in parts)
        known = all(part.fixed is not None or (counted and not part.open.any()) for part in parts)
        parts = [with_fixed(part) if known else replace(part, fixed=None) for part in parts]
    if any(part.inside is not None for part in parts):
        return [replace(part, inside=Inside(part.rise, part.fall)) for part in parts]
    return parts


def with_fixed(blocks: Blocks) -> Blocks:
    """Return ties of rows without weights with their sums as whole numbers."""
    if blocks.fixed is not None:
        return blocks
    score = (blocks.low + 1.0).view(np.int64) - _ONE  # rounded once: 1 + s counts in these units
    high, low = score >> FIXED_BITS, score & ((1 << FIXED_BITS) - 1)
    gain = (blocks.n1 << FIXED_BITS) - blocks.n * high
    return replace(blocks, fixed=Fixed(gain, -blocks.n * low))


def fixed_running_sum(fixed: Fixed) -> FloatArray:
    """Return prefix sums of w(r - s), each rounded once: those of the same rows are the same."""
    return Fixed(np.cumsum(fixed.high), np.cumsum(fixed.low), fixed.scale).rounded()


def _put_in(blocks: Blocks, places: IntArray, finer: Blocks) -> Blocks:
    """Put finer blocks in a few places of a table: nothing is sorted, for all is in order."""
    starts = np.searchsorted(finer.low, blocks.low[places]).tolist()
    stops = [*starts[1:], len(finer)]
    before = [0, *(places + 1).tolist()]

    def joined(column: Any, new: Any) -> Any:
        pieces = []
        for last, place, start, stop in zip(before, places, starts, stops, strict=False):
            pieces += [column[last:place], new[start:stop]]
        return np.concatenate([*pieces, column[before[-1] :]])

    put: Blocks = _map(joined, *_alike([blocks, finer]))
    return put


def concatenate(parts: list[Blocks]) -> Blocks:
    """Join disjoint blocks into one table in the order of scores."""
    parts = _alike([part for part in parts if len(part)] or parts[:1])
    order = np.argsort(np.concatenate([part.low for part in parts]), kind="stable")
    # Column by column: tables may be large, and this holds no second copy of them.
    merged: Blocks = _map(lambda *columns: np.concatenate(columns)[order], *parts)
    return merged


def running_sum(values: FloatArray) -> FloatArray:
    """Return prefix sums, in two levels where they are many, so that rounding stays small."""
    n = values.shape[0]
    if n <= ADDED_TOGETHER**2 // 8:
        return values.cumsum()
    padded = np.zeros(-(-n // ADDED_TOGETHER) * ADDED_TOGETHER)
    padded[:n] = values
    rows = padded.reshape(-1, ADDED_TOGETHER).cumsum(axis=1)
    rows[1:] += np.cumsum(rows[:-1, -1])[:, None]
    return rows.ravel()[:n]


def merge(blocks: Blocks, starts: IntArray) -> Blocks:
    """Join neighbouring blocks: a new one begins at each of ``starts``, the first of which is 0."""
    ends = np.append(starts[1:], len(blocks)) - 1
    sums = replace(blocks, inside=None)  # how far the path goes does not add up
    # Without weights some columns are one, and the ends of blocks are no sums.
    done: dict[int, Any] = {id(end): end[starts] for end in (blocks.low, blocks.high)}

    def join(column: Any) -> Any:
        if id(column) not in done:
            done[id(column)] = np.add.reduceat(column, starts)
        return done[id(column)]

    joined: Blocks = _map(join, sums)
    joined = replace(joined, low=blocks.low[starts], high=blocks.high[ends])
    if blocks.least is None or blocks.most is None:
        return joined
    least = np.minimum.reduceat(blocks.least, starts)
    return replace(joined, least=least, most=np.maximum.reduceat(blocks.most, starts))


def collapse(
    scores: FloatArray,
    labels: IntArray,
    weights: FloatArray | None,
    *,
    counted: bool = False,
    moments: bool = False,
    order: IntArray | None = None,
    ordered: bool = False,
    edges: IntArray | None = None,
    outcome_weights: tuple[float, float] | None = None,
    scale: float | None = None,
) -> Blocks:
    """Sort observations and make one block of each distinct score.

    Parameters
    ----------
    scores, labels, weights
        The observations; ``weights`` may be None.
    counted
        Whether weights count copies of rows.
    moments
        Whether to keep the sums that binned metrics need.
    order
        The order to put the rows in, each a block of its own, instead of collapsing ties.
    ordered
        Whether the rows are in the order of their scores already.
    edges
        Rows at which a block begins in any case: the first ones of groups that lie one after
        another, each in the order of its scores.
    outcome_weights
        What the outcomes 0 and 1 weigh, on top of ``weights``.
    scale
        Brings weights below 1, where they are to be added up as whole numbers too.
    """
    rows = scores, labels, weights
    score, happened, weight = rows if ordered else in_order(*rows, order)
    starts: IntArray | None = None
    if order is None:
        new = score[1:] != score[:-1]
        if edges is not None:
            new[edges[edges > 0] - 1] = True
        if not new.all():
            starts = np.concatenate([[0], np.flatnonzero(new) + 1])

    def total(column: Any) -> Any:
        return column if starts is None else np.add.reduceat(column, starts)

    each = score
    score = score if starts is None else score[starts]
    weights_of: _Pair | None = None
    squares: _Pair | None = None
    if weight is None or counted:
        copies = np.ones_like(happened) if weight is None else weight.astype(np.int64)
        n, n1 = total(copies), total(happened if weight is None else copies * happened)
    else:
        n, n1 = total(np.ones_like(happened)), total(happened)
        of_events, of_others = weight * happened, weight * (1 - happened)
        weights_of = total(of_others), total(of_events)
        squares = (total(of_others * weight), total(of_events * weight)) if moments else None
    n0 = n - n1
    w0, w1 = weights_of or (n0, n1)
    spread: Spread | None = None
    if moments:
        ww = None if squares is None else squares[0] + squares[1]
        spread = Spread((w0, w1), ww, squares, score * (1 - score))
    return from_sums(
        score,
        score,
        (n0, n1),
        (w0 * score, w1 * (1 - score)),
        weights=weights_of,
        spread=spread,
        outcome_weights=outcome_weights,
        fixed=None if scale is None else _whole(total, each, happened, weight, scale),
    )


def _whole(
    total: Callable[[Any], Any], scores: FloatArray, happened: IntArray, weights: Any, scale: float
) -> Fixed:
    """Return sums of w(r - s) of rows in order, in whole numbers."""
    scaled = weights * scale
    pairs = zip(halves(scaled), halves(scaled * scores), strict=True)
    high, low = (total(happened * whole - scored) for whole, scored in pairs)
    return Fixed(high, low, scale)


def in_order(
    scores: FloatArray,
    labels: IntArray,
    weights: FloatArray | None,
    order: IntArray | None = None,
) -> tuple[FloatArray, IntArray, FloatArray | None]:
    """Put rows into an order, that of their scores if none is given; no score is -0.0."""
    if order is None and weights is None:
        keys, _ = kernels.sort(packed(scores, labels))
        return *unpacked(keys), None
    if order is None:
        order = np.argsort(scores)
    happened = labels[order].astype(np.int64, copy=False)
    return scores[order] + 0.0, happened, None if weights is None else weights[order]


def _map(function: Callable[..., Any], *tables: Any) -> Any:
    """Apply a function column by column to tables of one type."""
    first = tables[0]
    columns: dict[str, Any] = {}
    for field in fields(first):
        parts = [getattr(table, field.name) for table in tables]
        if parts[0] is None or field.name == "scale":
            columns[field.name] = parts[0]
        elif isinstance(parts[0], (Moments, Inside, Fixed)):
            columns[field.name] = _map(function, *parts)
        else:
            columns[field.name] = function(*parts)
    return type(first)(**columns)
