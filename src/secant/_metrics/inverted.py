"""Scores that look like chances of the opposite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from secant._blocks.table import Blocks, Totals

__all__ = ["inverted"]

# How many standard deviations below 0 the relation of scores and outcomes must be, and by how much
# the Brier score of 1 - score must be smaller.
_SURELY = 5.0
_FAR_BETTER = 0.05
_ROUNDING = 1e-12


def inverted(blocks: Blocks, totals: Totals) -> bool:
    """Tell whether events are rarer where scores are higher, and 1 - score fits far better.

    A base rate that has moved makes 1 - score fit better too, but it does not turn the relation
    around; noise may turn it around a little.
    """
    weight = totals.weight
    rate, mean = float(blocks.w1.sum()) / weight, float(blocks.scored.sum()) / weight
    both = rate - float(blocks.up.sum()) / weight  # the mean of score times outcome
    # Mean of (2r - 1)(2s - 1): the Brier score of 1 - s less that of s.
    gained = 4 * both - 2 * rate - 2 * mean + 1
    if gained >= -_FAR_BETTER:
        return False
    inside = blocks.scored / blocks.weight - mean
    variance = float((blocks.weight * inside**2).sum()) / weight
    # Rounding may move a rate beyond 1, and a covariance of 0 below it.
    noise = math.sqrt(max(rate * (1 - rate), 0.0) * variance * totals.ww) / weight
    return both - rate * mean < -_SURELY * noise - _ROUNDING
