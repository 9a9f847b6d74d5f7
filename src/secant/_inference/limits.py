"""Confidence intervals of the cumulative metrics."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from secant import null

if TYPE_CHECKING:
    from secant._base.types import BoolArray
    from secant._blocks.table import Blocks, Totals
    from secant._inference.clusters import Flips

__all__ = [
    "across_pools",
    "around",
    "at_level",
    "critical",
    "detectable",
    "half_width",
    "interval",
    "least_log_pvalue",
    "noise",
    "normalize",
    "pooled",
    "range_limits",
    "unseen",
]

# Events of equal weight that are counted as unseen whatever the level.
_UNSEEN = 3
# Ranges of equal weight, in each of which responses vary around one mean.
_POOLS = 16
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


def unseen(totals: Totals, quantile: float, alpha: float) -> float:
    r"""Return how far the last cumulative difference may be off for events that did not show.

    Of k observations, none of which was an event, each may have had a chance of
    1 - (alpha / 2)^(1 / k) all the same: so much stays unseen with probability alpha / 2. If the
    smallest of their possible steps is m_k, what is missing is up to k m_k times that; and at least
    sqrt(k) m_k / 2 times the quantile of the noise. The largest of these over the twelve largest
    steps counts. Equal weights have as many largest steps as there are observations. Where steps
    were not summed, as for the differences of two groups, those of average size stand in for them,
    if few events are expected.
    """
    if totals.steps is None and not totals.few_events:
        return 0.0
    unlikely = math.log(alpha / 2)
    if totals.steps is None or totals.equal_weights:
        n, step = totals.n, math.sqrt(totals.ww / totals.n)
        most = max(quantile * math.sqrt(min(n, _UNSEEN)) / 2, -n * math.expm1(unlikely / n))
        return most * step / totals.weight
    steps = np.array(totals.steps, np.float64)
    k = np.arange(1.0, len(steps) + 1)
    missed = np.maximum(quantile * np.sqrt(k) / 2, -k * np.expm1(unlikely / k))
    return float((missed * steps).max(initial=0.0)) / totals.weight


def noise(totals: Totals, quantile: float, alpha: float) -> float:
    """Return what noise exceeds with probability alpha, whatever the truth is.

    The quantile is that of its law. Where every score is 0 or 1 and right, nothing was seen to
    vary; Hoeffding's inequality bounds what may have been missed.
    """
    if (sigma_hat := totals.sigma_hat) > 0:
        return math.hypot(quantile * sigma_hat, unseen(totals, quantile, alpha))
    return math.sqrt(2 * math.log(2 / alpha) * totals.ww) / totals.weight


def half_width(
    law: null.BrownianLaw, totals: Totals, alpha: float, flips: Flips | None = None
) -> float:
    """Return the half-width of the confidence interval of a metric, clustered or not.

    A cluster's share of real miscalibration counts as noise: signs are flipped as they are, not
    around what was found. Taking anything off first made limits too narrow.
    """
    quantile = critical(law, alpha)
    alone = noise(totals, quantile, alpha)
    if flips is None:
        return alone
    # What may not have shown at all has no sign to be flipped.
    return max(math.hypot(flips.quantile(law, alpha), unseen(totals, quantile, alpha)), alone)


def pooled(blocks: Blocks) -> float:
    """Return the sum of w^2 (r - p)^2, p being the mean response in ranges of equal weight.

    Where outcomes have weights, how much weight a range holds is a matter of chance too: responses
    vary around how often they happen there, not around the scores.
    """
    moments = blocks.moments
    assert moments is not None  # noqa: S101
    before = np.cumsum(blocks.weight) - blocks.weight / 2
    pool = np.minimum(before * (_POOLS / blocks.weight.sum()), _POOLS - 1).astype(np.int64)
    w, w1, ww0, ww1 = (
        np.bincount(pool, column, minlength=_POOLS)
        for column in (blocks.weight, blocks.w1, moments.ww0, moments.ww1)
    )
    p = np.divide(w1, w, out=np.zeros(_POOLS), where=w > 0)
    return float((ww1 * (1 - p) ** 2 + ww0 * p**2).sum())


def across_pools(blocks: Blocks) -> BoolArray:
    """Mark the blocks to resolve so that :func:`pooled` does not depend on where cells end."""
    after = np.cumsum(blocks.weight)
    cuts = np.arange(1, _POOLS) * (after[-1] / _POOLS)
    found = np.zeros(len(blocks), bool)
    found[np.minimum(np.searchsorted(after, cuts), len(blocks) - 1)] = True
    return found & blocks.open


def range_limits(blocks: Blocks, totals: Totals, confidence_level: float) -> tuple[float, float]:
    """Return limits for the miscalibration of blocks that were chosen in advance, weighted.

    The sum of w(r - s) over them is about normal, with the variance of responses around their mean
    or that under perfect calibration, whichever is larger; what may not have shown is added, as if
    the heaviest rows of all were among these.
    """
    from statistics import NormalDist  # noqa: PLC0415  (loads more than all of this)

    moments = blocks.moments
    assert moments is not None  # noqa: S101
    weight, alpha = float(blocks.weight.sum()), 1 - confidence_level
    p = float(blocks.w1.sum()) / weight
    seen = float((moments.ww1 * (1 - p) ** 2 + moments.ww0 * p**2).sum())
    sigma = math.sqrt(max(seen, float(moments.variance.sum())))
    quantile = NormalDist().inv_cdf(1 - alpha / 2)
    missed = unseen(totals, quantile, alpha) * totals.weight
    return around(blocks, math.hypot(quantile * sigma, missed) / weight)


def around(blocks: Blocks, half: float) -> tuple[float, float]:
    """Return limits for the miscalibration of blocks, so far from what was found at most."""
    weight = float(blocks.weight.sum())
    gap, score = float(blocks.gain.sum()) / weight, float(blocks.scored.sum()) / weight
    score = min(max(score, 0.0), 1.0)
    # The truth lies between nothing and everything happening, whatever the noise.
    return max(gap - half, -score), min(gap + half, 1 - score)


def interval(
    value: float,
    law: null.BrownianLaw,
    totals: Totals,
    alpha: float,
    flips: Flips | None = None,
) -> tuple[float, float]:
    """Return the confidence interval of a metric's true value, clustered or not."""
    half = half_width(law, totals, alpha, flips)
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
    ties, ones, zeros = blocks, 0.0, 0.0
    if blocks.highest.min() <= 0 or blocks.lowest.max() >= 1:
        certain = (blocks.highest <= 0) | (blocks.lowest >= 1)
        ties, of_certain = blocks.select(~certain), blocks.select(certain)
        ones, zeros = of_certain.scored.sum(), (of_certain.weight - of_certain.scored).sum()
    scored = ties.scored
    nothing, everything = scored.sum(), (ties.weight - scored).sum()
    most = max(nothing, everything) * (1 - _GUARD)  # sums that differ by rounding are equal
    if max(nothing + ones, everything + zeros) * (1 - _GUARD) > max(nothing, everything):
        return -math.inf
    # The middle of an open block will do: many observations have tiny probabilities.
    score = (ties.low + ties.high) / 2 if ties.least is None else ties.mean_score
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
