"""Blocks: sums over consecutive ranges of scores, the one table every number comes from.

Put all observations in the order of their scores and cut that order into blocks. A block of
one distinct score is a *tie*: nothing more can be learnt about it. A wider one is a *cell*: its
sums are exact, but what happens inside it is known only within limits. A number that needs to look
inside says which cells matter, the source cuts those finer, and nobody ever sorts everything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray

__all__ = [
    "Blocks",
    "Moments",
    "Totals",
    "add_totals",
    "collapse",
    "concatenate",
    "merge",
]


# Variance, in units of an average squared weight: at most the expected events, or failures.
_FEW_EVENTS = 10


@dataclass(frozen=True)
class Moments:
    """What the noise of a binned metric needs to know of each block (v = s(1 - s)).

    ``wv``, ``wwv`` and ``ww`` are the sums of w v, w^2 v and w^2.
    """

    wv: FloatArray
    wwv: FloatArray
    ww: NumberArray


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
    rise, fall
        How far inside a block the path can rise above its start, and fall below it, where a source
        knows better than that it is by ``up`` and ``down``.
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
    rise: FloatArray | None = None
    fall: FloatArray | None = None

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

    @cached_property
    def open(self) -> BoolArray:
        """Whether a block may hold several distinct scores."""
        return self.low < self.high

    @property
    def scored(self) -> FloatArray:
        """Sum of w s in each block."""
        return self.w1 - self.up + self.down

    def select(self, index: Any) -> Blocks:
        """Return the blocks at an index, mask or slice."""
        selected: Blocks = _map(lambda column: column[index], self)
        return selected

    def replace(self, coarse: BoolArray, finer: Blocks) -> Blocks:
        """Put finer blocks in the place of the marked ones, which hold the same observations."""
        old = self.select(coarse)
        if not _same_sums(old, finer):
            msg = (
                "the data were changed after they were assessed: a second look at the same scores "
                f"found {finer.n.sum():,} observations in place of {old.n.sum():,}, or other ones"
            )
            raise SecantError(msg)
        return concatenate([self.select(~coarse), finer])


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all observations.

    ``ww``, ``wwv`` and ``wwe`` are the sums of w^2, w^2 s(1 - s) and w^2 |r - s|, and
    ``largest`` is the largest single w^2 s(1 - s), or its limit of 1/4 where nothing is weighted.
    For counted copies of rows (frequency weights) every copy has weight one.
    """

    n: int
    weight: float
    ww: float
    wwv: float
    wwe: float
    largest: float

    @property
    def sigma(self) -> float:
        """Standard deviation of the last cumulative difference under perfect calibration."""
        return math.sqrt(self.wwv) / self.weight

    @property
    def equal_weights(self) -> bool:
        """Whether every observation has the same weight, so that weights make no difference."""
        return self.ww * self.n <= self.weight**2 * (1 + 1e-12)  # Cauchy and Schwarz

    @property
    def few_events(self) -> bool:
        """Whether so few events, or failures, are expected that the Brownian limit is far off."""
        return 0 < self.wwv * self.n < _FEW_EVENTS * self.ww

    @property
    def sigma_hat(self) -> float:
        """Standard deviation estimated from the residuals themselves, at least ``sigma``.

        A residual is s or 1 - s, so (r - s)^2 = |r - s| - s(1 - s).
        """
        return math.sqrt(max(self.wwe - self.wwv, self.wwv)) / self.weight

    def agrees(self, other: Totals) -> bool:
        """Tell whether these can be sums of the same observations, added up in another order."""
        pairs = (
            (self.weight, other.weight),
            (self.ww, other.ww),
            (self.wwv, other.wwv),
            (self.wwe, other.wwe),
        )
        return self.n == other.n and all(math.isclose(a, b, rel_tol=1e-9) for a, b in pairs)


def add_totals(parts: Iterable[Totals]) -> Totals:
    """Add up the totals of disjoint sets of observations."""
    columns = list(
        zip(*((p.n, p.weight, p.ww, p.wwv, p.wwe, p.largest) for p in parts), strict=True)
    )
    if not columns:
        return Totals(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    n, weight, ww, wwv, wwe, largest = columns
    return Totals(
        sum(n), math.fsum(weight), math.fsum(ww), math.fsum(wwv), math.fsum(wwe), max(largest)
    )


def _same_sums(old: Blocks, new: Blocks) -> bool:
    """Tell whether two tables can be of the same observations."""
    if old.n0.sum() != new.n0.sum() or old.n1.sum() != new.n1.sum():
        return False
    pairs = [(a.sum(), b.sum()) for a, b in ((old.weight, new.weight), (old.gain, new.gain))]
    slack = 1e-9 * float(old.weight.sum())
    return all(abs(a - b) <= slack for a, b in pairs)


def concatenate(parts: list[Blocks]) -> Blocks:
    """Join disjoint blocks into one table in the order of scores."""
    order = np.argsort(np.concatenate([part.low for part in parts]), kind="stable")
    # Column by column: tables may be large, and this holds no second copy of them.
    merged: Blocks = _map(lambda *columns: np.concatenate(columns)[order], *parts)
    return merged


def merge(blocks: Blocks, starts: IntArray) -> Blocks:
    """Join neighbouring blocks: a new one begins at each of ``starts``, the first of which is 0."""
    ends = np.append(starts[1:], len(blocks)) - 1
    joined: Blocks = _map(lambda column: np.add.reduceat(column, starts), blocks)
    low, high = blocks.low[starts], blocks.high[ends]
    return replace(joined, low=low, high=high, rise=None, fall=None)


def collapse(
    scores: FloatArray,
    labels: IntArray,
    weights: FloatArray | None,
    *,
    counted: bool = False,
    moments: bool = False,
    order: IntArray | None = None,
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
    """
    ordered, happened, weight = _in_order(scores, labels, weights, order)
    starts: IntArray | None = None
    if order is None:
        new = ordered[1:] != ordered[:-1]
        if not new.all():
            starts = np.concatenate([[0], np.flatnonzero(new) + 1])

    def total(column: Any) -> Any:
        return column if starts is None else np.add.reduceat(column, starts)

    score = ordered if starts is None else ordered[starts]
    if weight is None or counted:
        copies = np.ones_like(happened) if weight is None else weight.astype(np.int64)
        n, n1 = total(copies), total(happened if weight is None else copies * happened)
        n0 = n - n1
        w, w0, w1, ww = n, n0, n1, n
    else:
        n, n1 = total(np.ones_like(happened)), total(happened)
        n0 = n - n1
        w, w1, ww = total(weight), total(weight * happened), total(weight * weight)
        w0 = w - w1
    sums: Moments | None = None
    if moments:
        v = score * (1 - score)
        wv = w * v
        sums = Moments(wv, wv if ww is w else ww * v, ww)
    return Blocks(
        low=score,
        high=score,
        n0=n0,
        n1=n1,
        w0=w0,
        w1=w1,
        down=w0 * score,
        up=w1 * (1 - score),
        moments=sums,
    )


def _in_order(
    scores: FloatArray, labels: IntArray, weights: FloatArray | None, order: IntArray | None
) -> tuple[FloatArray, IntArray, FloatArray | None]:
    """Put rows into an order, that of their scores if none is given; no score is -0.0."""
    if order is None and weights is None:
        # Doubles from 0.0 upward sort as their bits do, and those up to 1.0 leave the highest two
        # unused: with the response as the lowest bit, one sort of integers carries both along.
        rows = (scores + 0.0).view(np.int64)
        rows <<= 1
        rows += labels
        rows.sort()
        return (rows >> 1).view(np.float64), rows & 1, None
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
        if any(part is None for part in parts):
            columns[field.name] = None
        elif isinstance(parts[0], Moments):
            columns[field.name] = _map(function, *parts)
        else:
            columns[field.name] = function(*parts)
    return type(first)(**columns)
