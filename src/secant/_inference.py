"""Confidence intervals of the cumulative metrics."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from secant import null
    from secant._blocks import Totals

__all__ = ["half_width", "interval", "normalize"]


def normalize(value: float, sigma: float) -> float:
    """Return a metric in units of sigma; 0 stays 0 and anything else is infinite at sigma = 0."""
    if value == 0:
        return 0.0
    return value / sigma if sigma > 0 else math.inf


def half_width(law: null.BrownianLaw, totals: Totals, confidence_level: float) -> float:
    """Return the half-width of the confidence interval of a metric.

    Where every score is 0 or 1 and right, nothing was seen to vary; Hoeffding's inequality bounds
    what may have been missed.
    """
    if (sigma := totals.sigma_hat) > 0:
        return _critical(law, 1 - confidence_level) * sigma
    return math.sqrt(2 * math.log(2 / (1 - confidence_level)) * totals.ww) / totals.weight


def interval(
    value: float, law: null.BrownianLaw, totals: Totals, confidence_level: float
) -> tuple[float, float]:
    """Return the confidence interval of a metric's true value."""
    half = half_width(law, totals, confidence_level)
    return max(0.0, value - half), value + half


@lru_cache(maxsize=64)
def _critical(law: null.BrownianLaw, alpha: float) -> float:
    return law.isf(alpha)
