"""P-values and confidence intervals of the cumulative metrics."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from secant._binomial import log_two_sided

if TYPE_CHECKING:
    from secant import null
    from secant._blocks import Blocks, Totals

__all__ = ["half_width", "interval", "normalize", "pvalue"]

_LOG_10 = math.log(10)


def normalize(value: float, sigma: float) -> float:
    """Return a metric in units of sigma; 0 stays 0 and anything else is infinite at sigma = 0."""
    if value == 0:
        return 0.0
    return value / sigma if sigma > 0 else math.inf


def pvalue(
    value: float, law: null.BrownianLaw, blocks: Blocks, totals: Totals, method: str
) -> tuple[float, str]:
    """Return the decimal logarithm of the P-value of a metric, and how it was obtained.

    Predictions that share one score make a path of a single step, whose law is binomial; the
    Brownian limit would be wasteful there however many they are.
    """
    if method == "auto" and len(blocks) == 1 and not blocks.open[0] and _equally_weighted(totals):
        log_p = log_two_sided(int(blocks.n1[0]), int(blocks.n[0]), float(blocks.low[0]))
        return log_p / _LOG_10, "exact"
    x = normalize(value, totals.sigma)
    return law.logsf(x) / _LOG_10, "asymptotic"


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


def _equally_weighted(totals: Totals) -> bool:
    """Tell whether every observation has the same weight (equality of Cauchy and Schwarz)."""
    return totals.ww * totals.n <= totals.weight**2 * (1 + 1e-12)
