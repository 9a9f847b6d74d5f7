"""Which of two models loses more to miscalibration, tested row by row.

What a model loses is the MCB of its Brier score: the mean of (r - s)^2 - (r - g)^2, with g its own
isotonic recalibration. Fitted to the outcomes themselves, g makes that too large by an
amount that depends on how many steps it has. The amount is measured on outcomes drawn from a
smoothed g and taken off. What is left is a mean over rows, and the difference of two models a
mean of paired differences. See docs/comparing.md for what was measured.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._inference.draws import same_every_time
from secant._metrics.scores import BRIER, pool_starts

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray

__all__ = ["FEWEST_EVENTS", "MOST_ROWS", "Paired", "in_loss", "not_worse", "paired"]

# Rows up to which two isotonic fits and their redraws take about a second. Where there are more,
# the limits of the difference in ECCE-R are narrow.
MOST_ROWS = 1 << 18
# Events, and failures, from which on the correction for the fits can be relied on: of two models
# that lost the same and ranked rows differently, with ten expected events 14% were told apart at
# 5%, with thirty 8%, with a hundred 3%.
FEWEST_EVENTS = 50
# Draws from which the excess of a fit is estimated; of many rows fewer tell it as well.
_DRAWS = 10
_FEW_DRAWS = 4
_MANY_ROWS = 100_000


class Paired(NamedTuple):
    """What two models lose to miscalibration, in units of the Brier score.

    ``mcb`` are the models' own as fitted, ``difference`` is the first less the second with the
    excess of both fits taken off, ``error`` its standard error and ``pvalue`` two-sided.
    """

    mcb: tuple[float, float]
    difference: float
    error: float
    pvalue: float


def paired(
    happened: FloatArray, a: FloatArray, b: FloatArray, weights: FloatArray | None
) -> Paired:
    """Test whether two models lose the same to miscalibration on the same outcomes."""
    w = np.ones(len(happened)) if weights is None else weights / weights.max()
    first, second = (_Fit(happened, scores, w) for scores in (a, b))
    difference = (first.mcb - first.excess) - (second.mcb - second.excess)
    each = first.gains - second.gains
    mean = (w @ each) / w.sum()
    # How much a row's difference moves with its outcome; its variance if either model were right.
    moves = 2 * ((first.forecast - a) - (second.forecast - b))
    seen = float((w**2) @ (each - mean) ** 2)
    supposed = (float((w * moves) ** 2 @ (s * (1 - s))) for s in (a, b))
    error = math.sqrt(max(seen, *supposed)) / float(w.sum())
    return Paired((first.mcb, second.mcb), difference, error, _pvalue(difference, error, len(a)))


def in_loss(
    happened: FloatArray,
    a: FloatArray,
    b: FloatArray,
    weights: FloatArray | None,
    *,
    logarithmic: bool = False,
) -> tuple[float, float, float]:
    """Return how much more b loses than a on average, its standard error and the two-sided P.

    The loss is that of the Brier score, or log loss: infinite where an outcome was ruled out, which
    settles the matter unless it was ruled out by both.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 1, 1, 0] * 10)
    >>> difference, error, p = in_loss(y, np.abs(y - 0.1), np.linspace(0.2, 0.8, 40), None)
    >>> round(difference, 3), round(error, 3), round(p, 6)
    (0.272, 0.028, 0.0)
    """
    w = np.ones(len(happened)) if weights is None else weights
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (
            -np.log(np.where(happened > 0, s, 1 - s)) if logarithmic else (happened - s) ** 2
            for s in (a, b)
        )
        each = other - one
    ruled_out = math.inf in (one.max(), other.max())
    if ruled_out:
        if one.max() == other.max():
            return math.nan, math.nan, 1.0
        return (math.inf if other.max() == math.inf else -math.inf), 0.0, 0.0
    difference = float(w @ each) / float(w.sum())
    error = math.sqrt(float(w**2 @ (each - difference) ** 2)) / float(w.sum())
    return difference, error, _pvalue(difference, error, len(each))


def not_worse(pvalues: list[float], pairs: int) -> list[float]:
    """Adjust P-values of one model against others by Holm's method, among so many pairs.

    The one was picked for being first, which any could have been: all pairs count. Those that were
    not tested could only make room.

    Examples
    --------
    >>> not_worse([0.01, 0.2], 3)
    [0.03, 0.4]
    """
    order = np.argsort(pvalues, kind="stable")
    found, least = [0.0] * len(pvalues), 0.0
    for rank, place in enumerate(order.tolist()):
        least = max(least, min(1.0, (pairs - rank) * pvalues[place]))
        found[place] = least
    return found


def _pvalue(difference: float, error: float, n: int) -> float:
    """Return the two-sided P-value, never below what n coins can show."""
    least = min(1.0, 2.0 ** (1 - n))
    if abs(difference) <= 1e-14:  # rounding
        return 1.0
    if error == 0:
        return least
    return max(least, math.erfc(abs(difference) / error / math.sqrt(2)))


class _Fit:
    """A model's isotonic recalibration, and what it gains on each row."""

    def __init__(self, happened: FloatArray, scores: FloatArray, w: FloatArray) -> None:
        # By weight within a tie, so that nothing depends on the order of rows.
        equal = w[0] == w[-1] and not np.ptp(w)
        self._order = np.argsort(scores, kind="stable") if equal else np.lexsort((w, scores))
        self._w = w[self._order]
        ordered = scores[self._order]
        new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        self._starts: IntArray = np.flatnonzero(new)
        self._tie = np.cumsum(new) - 1
        self._weight = np.add.reduceat(self._w, self._starts)
        w1 = self._events(happened[self._order])
        pools, forecast = self._pooled(w1)
        sizes = np.diff(np.append(pools, len(w1)))
        self.forecast = np.empty(len(w))
        self.forecast[self._order] = np.repeat(forecast, sizes)[self._tie]
        self.gains = (happened - scores) ** 2 - (happened - self.forecast) ** 2
        self.mcb = float(w @ self.gains) / float(w.sum())
        self.excess = self._excess(self._smooth(pools, forecast))

    def _events(self, happened: FloatArray) -> FloatArray:
        """Return the weight of events in each tie; rows are in the order of scores."""
        events: FloatArray = np.add.reduceat(self._w * happened, self._starts)
        return events

    def _pooled(self, w1: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the first tie of each pool, and how often the event happened there."""
        pools = pool_starts(np.maximum(self._weight - w1, 0), w1)
        rate: FloatArray = np.add.reduceat(w1, pools) / np.add.reduceat(self._weight, pools)
        return pools, np.clip(rate, 0, 1)

    def _smooth(self, pools: IntArray, forecast: FloatArray) -> FloatArray:
        """Return chances of ties that rise evenly from the middle of one pool to that of the next.

        From the staircase itself a fit would have fewer steps than from what it stands for.
        """
        end = np.cumsum(self._weight)
        start = end - self._weight
        last = np.append(pools[1:], len(end)) - 1
        chance: FloatArray = np.interp((start + end) / 2, (start[pools] + end[last]) / 2, forecast)
        return chance

    def _excess(self, chance: FloatArray) -> float:
        """Return how much better than true chances a fit to outcomes drawn from them seems."""
        rng = same_every_time(None)
        rows = chance[self._tie]
        draws = _DRAWS if len(rows) <= _MANY_ROWS else _FEW_DRAWS
        total = 0.0
        for _ in range(draws):
            w1 = self._events(rng.random(len(rows)) < rows)
            w0 = np.maximum(self._weight - w1, 0)
            pools = pool_starts(w0, w1)
            left = BRIER.least(np.add.reduceat(w0, pools), np.add.reduceat(w1, pools))
            total += float(w1 @ (1 - chance) ** 2 + w0 @ chance**2 - left.sum())
        return total / draws / float(self._weight.sum())
