"""Proper scores beside the cumulative metrics, taken apart by a monotone recalibration.

The recalibrated forecast is the isotonic regression of outcomes on scores: among all forecasts that
rise with the score, the best one for these very outcomes, by the Brier score and by log loss alike.
It gives each score the slope there of the greatest convex minorant of cumulative outcomes
against cumulative weight, and is constant over *pools* of neighbouring scores.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from secant._blocks.looking import resolve
from secant._blocks.table import running_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray
    from secant._blocks.looking import Refine
    from secant._blocks.table import Blocks

__all__ = [
    "BRIER",
    "LOG_LOSS",
    "Rule",
    "Taken",
    "brier_sum",
    "log_loss_sum",
    "pool_starts",
    "pools",
    "resolved",
    "taken_apart",
]

# Points are dropped by comparison with their neighbours while that rids us of this share of them.
_WORTHWHILE = 1 / 8


class Rule(NamedTuple):
    """A proper score: what it is called, and what the best constant forecast costs.

    ``least`` is the sum of losses of some observations when each is forecast to happen as often as
    they did, given the weight of outcomes 0 and 1 among them.
    """

    name: Literal["Brier score", "log loss"]
    least: Callable[[FloatArray, FloatArray], FloatArray]


class Taken(NamedTuple):
    """A score taken apart, per unit of weight; what is known within limits has both of them."""

    value: float
    uncertainty: float
    recalibrated: tuple[float, float]


def _least_squares(w0: FloatArray, w1: FloatArray) -> FloatArray:
    return w0 * (w1 / (w0 + w1))


def _least_entropy(w0: FloatArray, w1: FloatArray) -> FloatArray:
    both = w0 + w1

    def part(weight: FloatArray) -> FloatArray:
        some = weight > 0  # 0 log 0 = 0
        lost: FloatArray = np.zeros_like(weight)
        lost[some] = -weight[some] * np.log(weight[some] / both[some])
        return lost

    return part(w0) + part(w1)


BRIER = Rule("Brier score", _least_squares)
LOG_LOSS = Rule("log loss", _least_entropy)


def brier_sum(ties: Blocks) -> float:
    """Return the sum of w(r - s)^2 over ties."""
    return float((ties.down * ties.low + ties.up * (1 - ties.low)).sum())


def log_loss_sum(scores: FloatArray, w0: NumberArray, w1: NumberArray) -> float:
    """Return the sum of -w log(chance given to what happened); infinite where that was 0."""
    lost = 0.0
    for weight, chance in ((w1, np.log), (w0, lambda s: np.log1p(-s))):
        some = np.flatnonzero(weight)  # 0 log 0 = 0
        with np.errstate(divide="ignore"):
            lost -= float((weight[some] * chance(scores[some])).sum())
    return lost + 0.0


def taken_apart(rule: Rule, total: float, blocks: Blocks, *, exact: bool = False) -> Taken:
    """Take a score apart, whose sum over all observations is known.

    Nothing is looked into: the minorant of the blocks' ends is that of forecasts constant
    over blocks, and one that may take each block's outcomes in the best order, those without
    the event first, lies below any that the scores inside can give. ``exact`` says that blocks
    are resolved as far as the minorant needs.
    """
    w0, w1 = blocks.w0.astype(np.float64), blocks.w1.astype(np.float64)
    weight = float(w0.sum() + w1.sum())
    most = _recalibrated(rule, w0, w1)
    least = most
    if not exact and blocks.open.any():
        least = min(most, _recalibrated(rule, *_best_order(blocks)))
    whole = float(rule.least(w0.sum(keepdims=True), w1.sum(keepdims=True))[0])
    # No recalibration loses against what it starts from, but for rounding.
    least, most = (min(each, whole, total) for each in (least, most))
    return Taken(total / weight, whole / weight, (least / weight, most / weight))


def resolved(blocks: Blocks, refine: Refine | None) -> Blocks:
    """Look into the blocks in which the minorant could turn, until it is known exactly."""
    return resolve(blocks, _could_hold_a_turn, refine)


def pools(blocks: Blocks) -> IntArray:
    """Return the first block of each range of scores that is recalibrated to one forecast."""
    return pool_starts(blocks.w0.astype(np.float64), blocks.w1.astype(np.float64))


def _recalibrated(rule: Rule, w0: FloatArray, w1: FloatArray) -> float:
    """Return the sum of losses of the recalibrated forecast."""
    starts = pool_starts(w0, w1)
    return math.fsum(rule.least(np.add.reduceat(w0, starts), np.add.reduceat(w1, starts)))


def pool_starts(w0: FloatArray, w1: FloatArray) -> IntArray:
    """Return where pools begin, given the weight of outcomes 0 and 1 in the order of scores."""
    return _minorant(*_graph(w0, w1))[:-1]


def _graph(w0: FloatArray, w1: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return cumulative weight and cumulative outcomes, the origin first."""
    x, y = np.zeros((2, len(w0) + 1))
    x[1:], y[1:] = running_sum(w0 + w1), running_sum(w1)
    return x, y


def _best_order(blocks: Blocks) -> tuple[FloatArray, FloatArray]:
    """Return weights of outcomes 0 and 1 with each open block's outcomes 0 before its others."""
    mixed = blocks.open & (blocks.w0 > 0) & (blocks.w1 > 0)
    first = np.arange(len(blocks)) + np.cumsum(mixed) - mixed
    w0, w1 = np.zeros((2, len(blocks) + int(mixed.sum())))
    w0[first], w1[first + mixed] = blocks.w0, blocks.w1
    return w0, w1


def _could_hold_a_turn(blocks: Blocks) -> BoolArray:
    """Mark the blocks inside which the graph could come below the minorant of the blocks' ends.

    Inside a block the graph is nowhere below the corner where all weight without the event
    comes first; where that corner is not below the minorant, nothing inside is.
    """
    w0, w1 = blocks.w0.astype(np.float64), blocks.w1.astype(np.float64)
    x, y = _graph(w0, w1)
    turns = _minorant(x, y)
    corner = x[:-1] + w0
    marked: BoolArray = y[:-1] < np.interp(corner, x[turns], y[turns])
    return marked & (w0 > 0) & (w1 > 0)


def _minorant(x: FloatArray, y: FloatArray) -> IntArray:
    """Return the places of the vertices of the greatest convex minorant of points in order of x.

    A point that is not below the line between two others is no vertex. Its neighbours rid us of
    most points; then the lowest point below each line between two vertices is a vertex, and what is
    not below the new lines is none. Both look at all points at once. Where weights are whole
    numbers nothing is rounded up to 9e7 observations.
    """
    left = np.arange(len(x))
    while left.size > 2:
        across, up = np.diff(x[left]), np.diff(y[left])
        above = up[:-1] * across[1:] >= up[1:] * across[:-1]
        dropped = np.count_nonzero(above)
        if not dropped:
            return left
        left = left[np.concatenate([[True], ~above, [True]])]
        if dropped < _WORTHWHILE * above.size:
            break
    return _vertices(x, y, left)


def _vertices(x: FloatArray, y: FloatArray, left: IntArray) -> IntArray:
    """Return the places of the vertices among some points, which the ends are."""
    vertices, left = left[[0, -1]], left[1:-1]
    while left.size:
        line = np.searchsorted(vertices, left) - 1
        a, b = vertices[line], vertices[line + 1]
        depth = (y[b] - y[a]) * (x[left] - x[a]) - (y[left] - y[a]) * (x[b] - x[a])
        below = depth > 0
        left, line, depth = left[below], line[below], depth[below]
        if not left.size:
            break
        starts = np.flatnonzero(np.diff(line, prepend=-1))
        deepest = np.repeat(np.maximum.reduceat(depth, starts), np.diff(starts, append=left.size))
        found = np.flatnonzero(depth == deepest)
        found = found[np.diff(line[found], prepend=-1) > 0]  # one of equals
        vertices = np.sort(np.concatenate([vertices, left[found]]))
        left = np.delete(left, found)
    return vertices
