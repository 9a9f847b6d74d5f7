"""Confidence intervals of the cumulative metrics."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from secant import null

if TYPE_CHECKING:
    from secant._blocks.table import Blocks, Totals

__all__ = [
    "at_level",
    "critical",
    "detectable",
    "half_width",
    "interval",
    "least_log_pvalue",
    "normalize",
    "spread",
]

# Events that may have been missed where few are expected. With none added, limits of 95% held the
# truth in as little as 37% of samples there; with one in 94%, with two in 97%.
_UNSEEN = 2
# Relative error within which two sums are the same.
_GUARD = 1e-12
# The value below which a standard normal variable stays 99 times in 100.
_NORMAL_99 = 2.3263478740408408


def at_level(pvalue: float, alpha: float) -> bool:
    """Tell whether a P-value is small enough; 1 - 0.9 is a little less than 0.1."""
    return bool(pvalue <= alpha * (1 + _GUARD))


def normalize(value: float, sigma: float) -> float:
    """Return a metric in units of sigma; 0 stays 0 and anything else is infinite at sigma = 0."""
    if value == 0:
        return 0.0
    return value / sigma if sigma > 0 else math.inf


def spread(totals: Totals) -> float:
    """Return the standard deviation of the last cumulative difference, whatever the truth is.

    Where few events are expected, those that are in truth more frequent may not have shown at all:
    the variance of two more is added. It is 0 where every score is 0 or 1 and right.
    """
    sigma = totals.sigma_hat
    if totals.few_events:
        sigma = math.hypot(sigma, math.sqrt(_UNSEEN * totals.ww / totals.n) / totals.weight)
    return sigma


def half_width(law: null.BrownianLaw, totals: Totals, confidence_level: float) -> float:
    """Return the half-width of the confidence interval of a metric.

    Where every score is 0 or 1 and right, nothing was seen to vary; Hoeffding's inequality bounds
    what may have been missed.
    """
    if (sigma := spread(totals)) > 0:
        return critical(law, 1 - confidence_level) * sigma
    return math.sqrt(2 * math.log(2 / (1 - confidence_level)) * totals.ww) / totals.weight


def interval(
    value: float, law: null.BrownianLaw, totals: Totals, confidence_level: float
) -> tuple[float, float]:
    """Return the confidence interval of a metric's true value."""
    half = half_width(law, totals, confidence_level)
    return max(0.0, value - half), min(value + half, 1.0)


def detectable(sigma: float, n: float, confidence_level: float, z: float = _NORMAL_99) -> float:
    """Return the ECCE-R that n observations show with the chance that a normal variable is below z.

    On the range that attains a true ECCE-R of x, the observed difference is about normal around x,
    and it is found once it exceeds the critical value a. Its variance is at most that under perfect
    calibration plus x / n, what x n further events bring: x = a + z sqrt(sigma^2 + x / n).
    """
    a = critical(null.range, 1 - confidence_level) * sigma
    return a + z * z / (2 * n) + z * math.sqrt(sigma**2 + a / n + (z / (2 * n)) ** 2)


def least_log_pvalue(blocks: Blocks) -> float:
    """Return the logarithm of the smallest P-value of ECCE-R that any outcome could have had.

    No range can be off by more than all predictions together when nothing happens, or everything:
    those two outcomes are the most extreme. Perfect calibration gives them the chances computed
    here, and none at all to one that contradicts a score of 0 or 1.
    """
    certain = (blocks.high <= 0) | (blocks.low >= 1)
    ties = blocks.select(~certain)
    nothing, everything = ties.scored.sum(), (ties.weight - ties.scored).sum()
    of_certain = blocks.select(certain)
    ones, zeros = of_certain.scored.sum(), (of_certain.weight - of_certain.scored).sum()
    most = max(nothing, everything) * (1 - _GUARD)  # sums that differ by rounding are equal
    if max(nothing + ones, everything + zeros) * (1 - _GUARD) > max(nothing, everything):
        return -math.inf
    # The middle of an open block will do: many observations have tiny probabilities.
    score = (ties.low + ties.high) / 2
    chances = []
    if nothing >= most:
        chances.append(float((ties.n * np.log1p(-score)).sum()))
    if everything >= most:
        chances.append(float((ties.n * np.log(score)).sum()))
    return float(np.logaddexp.reduce(chances))


@lru_cache(maxsize=64)
def critical(law: null.BrownianLaw, alpha: float) -> float:
    """Return the value that a normalised metric exceeds with probability alpha."""
    return law.isf(alpha)
