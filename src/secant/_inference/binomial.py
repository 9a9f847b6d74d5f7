"""Binomial tails and confidence limits for a success probability, with nothing but numpy.

Everything rests on one function, the lower tail of a Beta(a, b) law in log odds. Written in the
log odds u = log(x / (1 - x)) the density is

    D(u) = x^a (1 - x)^b / B(a, b),

which is log-concave, smooth and decays at least exponentially on both sides. So the tail is D(u)
times a well-behaved integral (a Mills ratio), which a fixed Gauss-Legendre rule gives to rounding
for any size of a and b; the logarithm of D itself comes from Loader's saddle-point form [1]_, which
has no cancellation. Log-concavity also makes Newton's method converge from anywhere.

References
----------
.. [1] C. Loader (2000). "Fast and accurate computation of binomial probabilities."
.. [2] C. J. Clopper, E. S. Pearson (1934). "The use of confidence or fiducial limits illustrated in
   the case of the binomial." Biometrika 26(4). https://doi.org/10.1093/biomet/26.4.404
.. [3] E. B. Wilson (1927). "Probable inference, the law of succession, and statistical inference."
   Journal of the American Statistical Association 22(158).
   https://doi.org/10.1080/01621459.1927.10502953
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from secant._base.types import FloatArray

__all__ = ["clopper_pearson", "expit", "log_upper_tail", "lower_limit", "wilson"]

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)

# The Mills integral: nodes of its rule, where it is cut off (exp(-38) is below rounding), and the
# smallest first parameter for which that many nodes resolve it. Smaller ones are shifted up there.
_NODES = 32
_CUTOFF = 38.0
# Log odds that far below hold nothing: exp of more is beyond doubles.
_FARTHEST = 700.0
_SMALLEST_A = 16

# Limits with smaller log odds (below 1e-304) are returned as zero, as is that of a smaller count.
_VANISHING_LOG_ODDS = -700.0
_VANISHING_COUNT = 1e-300


def clopper_pearson(
    successes: ArrayLike, n: ArrayLike, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the exact (Clopper-Pearson) confidence limits of a success probability.

    Parameters
    ----------
    successes, n : array-like
        Successes and trials, 0 <= successes <= n and n > 0; counts need not be whole.
    confidence_level : float
        Probability that the interval holds the truth, at least; in (0, 1).

    Returns
    -------
    low, high : ndarray
        Limits of the interval; exactly 0 without successes and exactly 1 without failures.

    Notes
    -----
    The limits are the quantile (1 - c)/2 of Beta(k, n - k + 1) and (1 + c)/2 of Beta(k + 1, n - k).

    Examples
    --------
    >>> low, high = clopper_pearson([0, 7], [10, 10], 0.95)
    >>> low.round(5), high.round(5)
    (array([0.     , 0.34755]), array([0.3085 , 0.93326]))
    """
    k, total = _as_floats(successes, n)
    log_tail = np.full(k.shape, math.log(0.5 * (1.0 - confidence_level)))
    # The upper limit is the lower one with failures for successes. Log odds change their sign
    # exactly, so neither limit loses digits near 0 or 1.
    low = expit(_log_odds_limit(k, total, log_tail))
    high = expit(-_log_odds_limit(total - k, total, log_tail))
    return low, high


def wilson(
    successes: ArrayLike, n: ArrayLike, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's score confidence limits of a success probability.

    Parameters
    ----------
    successes, n : array-like
        Successes and trials, 0 <= successes <= n and n > 0; counts need not be whole.
    confidence_level : float
        Probability that the interval holds the truth, about; in (0, 1).

    Returns
    -------
    low, high : ndarray
        Limits of the interval; exactly 0 without successes and exactly 1 without failures.

    Notes
    -----
    The limits solve (k - n p)^2 = z^2 n p (1 - p), with z the normal quantile of the level.

    Examples
    --------
    >>> low, high = wilson([0, 7], [10, 10], 0.95)
    >>> low.round(5), high.round(5)
    (array([0.     , 0.39678]), array([0.27753, 0.89221]))
    """
    k, total = _as_floats(successes, n)
    z = -_normal_quantile(0.5 * (1.0 - confidence_level))
    root = z * np.sqrt(k * (total - k) / total + 0.25 * z * z)
    larger = k + 0.5 * z * z + root
    # The product of the two solutions is k^2/(n (n + z^2)): no difference of nearly equal numbers.
    low = k * k / (total * larger)
    high = np.where(k == total, 1.0, larger / (total + z * z))
    return low, np.minimum(high, 1.0)


def _as_floats(*arrays: ArrayLike) -> tuple[FloatArray, ...]:
    return np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in arrays))


def _normal_quantile(probability: float) -> float:
    # Loading statistics takes a tenth of loading numpy, and few calls come here.
    from statistics import NormalDist  # noqa: PLC0415

    return NormalDist().inv_cdf(probability)


def lower_limit(successes: ArrayLike, n: ArrayLike, error: ArrayLike) -> FloatArray:
    """Return Clopper and Pearson's lower limit of a success probability, each at its own error.

    Parameters
    ----------
    successes, n : array-like
        As in :func:`clopper_pearson`.
    error : array-like
        Probability, at most, that the limit exceeds the truth; in (0, 1).

    Examples
    --------
    >>> lower_limit([0, 7, 7], [10, 10, 10], [0.025, 0.025, 0.0025]).round(5)
    array([0.     , 0.34755, 0.23673])
    """
    k, total, tail = _as_floats(successes, n, error)
    return expit(_log_odds_limit(k, total, np.log(tail)))


def log_upper_tail(k: FloatArray, n: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
    """Return log P(K >= k) for K ~ Binomial(n, p), q = 1 - p, with 1 <= k <= n and k/n above p."""
    a, b = k.astype(np.float64), n - k + 1.0
    log_density = _log_peak(a, b) - _log_fall(a, b, p, q)
    return log_density + np.log(_mills_ratio(a, b, p, q))


def _log_odds_limit(k: FloatArray, n: FloatArray, log_tail: FloatArray) -> FloatArray:
    """Return the log odds of the lower Clopper-Pearson limit, -inf where it is zero."""
    log_odds = np.full(k.shape, -np.inf)
    some = k > _VANISHING_COUNT
    log_odds[some] = _log_odds_quantile(k[some], n[some] - k[some] + 1.0, log_tail[some])
    return log_odds


def _log_odds_quantile(a: FloatArray, b: FloatArray, log_tail: FloatArray) -> FloatArray:
    """Solve log P(X <= expit(u)) = log_tail for u, X ~ Beta(a, b), by Newton's method.

    The logarithm of the tail is concave in u, so a step never ends right of the solution, and from
    the left the steps approach it monotonically: nothing needs to enclose it.
    """
    log_peak = _log_peak(a, b)
    u = _first_log_odds(a, b, log_peak, log_tail)
    # About four steps; the limit only guarantees an end.
    for _ in range(100):  # pragma: no branch - it is never reached
        # Fractions of a success can put the limit below the smallest double.
        np.maximum(u, _VANISHING_LOG_ODDS, out=u)
        x, y = expit(u), expit(-u)
        mills = _mills_ratio(a, b, x, y)
        gap = log_tail - (log_peak - _log_fall(a, b, x, y) + np.log(mills))
        u += mills * gap
        # Convergence is quadratic: the next gap would be the square of this one.
        if np.all((np.abs(gap) <= 1e-7) | (u <= _VANISHING_LOG_ODDS)):
            break
    u[u <= _VANISHING_LOG_ODDS] = -np.inf
    return u


def _first_log_odds(
    a: FloatArray, b: FloatArray, log_peak: FloatArray, log_tail: FloatArray
) -> FloatArray:
    """Return a first guess of the quantile, the larger of two that are good or too small."""
    # As u -> -inf the tail approaches exp(a u)/(a B(a, b)) from below: right for small a.
    log_complete_beta = a * np.log(a / (a + b)) - b * np.log1p(a / b) - log_peak
    power_law = (log_tail + np.log(a) + log_complete_beta) / a
    # Normal with the curvature at the peak: right for large a and b.
    tails, which = np.unique(np.exp(log_tail), return_inverse=True)  # often one for all
    deviations = np.array([_normal_quantile(tail) for tail in tails.tolist()])[which]
    normal = np.log(a / b) + deviations / np.sqrt(a * b / (a + b))
    return np.maximum(power_law, normal)


def _log_peak(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return log D at its maximum, which lies at x = a/(a + b)."""
    total = a + b
    stirling = _stirling_error(total) - _stirling_error(a) - _stirling_error(b)
    return 0.5 * np.log(a * b / total) - _HALF_LOG_TWO_PI + stirling


def _log_fall(a: FloatArray, b: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return how far log D lies below its maximum at x, y = 1 - x."""
    total = a + b
    return _deviance(a, total * x) + _deviance(b, total * y)


def _mills_ratio(a: FloatArray, b: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return P(X <= x)/D(u) for X ~ Beta(a, b) and x, y = 1 - x left of the peak, or nearly."""
    small = a < _SMALLEST_A
    ratio = _mills_integral(np.where(small, a + _SMALLEST_A, a), b, x, y)
    if small.any():
        # P(X_a <= x) = D_a/a + P(X_{a+1} <= x): sums of positive terms, walked down from a + 16.
        a_small, total_x = a[small], (a[small] + b[small]) * x[small]
        value = ratio[small]
        for j in reversed(range(_SMALLEST_A)):
            value = (1.0 + (total_x + j * x[small]) * value) / (a_small + j)
        ratio[small] = value
    return ratio


def _mills_integral(a: FloatArray, b: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the integral of D(u - s)/D(u) over s > 0, by Gauss-Legendre up to the cutoff.

    The drop of log D over a distance s can be written in two ways,

        a s + (a + b) log(1 + x (exp(-s) - 1)) = -b s + (a + b) log(1 + y (exp(s) - 1)).

    For small x the first subtracts numbers of the size of a, for small y the second numbers of the
    size of b, and the other way round digits would be lost.
    """
    low = x < y
    rate, fraction, sign = np.where(low, a, -b), np.where(low, x, y), np.where(low, -1.0, 1.0)
    total = a + b
    reach = np.minimum(_first_reach(a * y - b * x, total * x * y), _FARTHEST)
    # The drop is convex in s, so Newton steps end at the cutoff or right of it, and never short.
    for _ in range(6):
        growth = fraction * np.expm1(sign * reach)
        drop = rate * reach + total * np.log1p(growth)
        slope = rate + total * sign * (fraction + growth) / (1.0 + growth)
        reach = np.minimum(reach - (drop - _CUTOFF) / slope, _FARTHEST)
    nodes, weights = _gauss_legendre()
    s = nodes[:, np.newaxis] * reach
    drop = rate * s + total * np.log1p(fraction * np.expm1(sign * s))
    integral: FloatArray = reach * (weights @ np.exp(-drop))
    return integral


def _first_reach(slope: FloatArray, curvature: FloatArray) -> FloatArray:
    """Return about where a convex function with this start reaches the cutoff."""
    with np.errstate(divide="ignore", over="ignore"):
        straight = np.where(slope > 0.0, _CUTOFF / slope, np.inf)
        return np.minimum(straight, np.sqrt(2.0 * _CUTOFF / curvature))


@cache
def _gauss_legendre() -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return 0.5 * (1.0 + nodes), 0.5 * weights


def _stirling_error(z: FloatArray) -> FloatArray:
    """Return log Gamma(z + 1) less Stirling's formula for it, z > 0."""
    y = 1.0 / np.maximum(z, 16.0)  # where the series is exact in doubles
    y2 = y * y
    error = y * (1 / 12 - y2 * (1 / 360 - y2 * (1 / 1260 - y2 * (1 / 1680 - y2 * (1 / 1188)))))
    small = z < 16.0
    if small.any():
        few = z[small]
        log_gamma = np.array([math.lgamma(value + 1.0) for value in few.tolist()])
        error[small] = log_gamma - ((few + 0.5) * np.log(few) - few + _HALF_LOG_TWO_PI)
    return error


def _deviance(k: FloatArray, mean: FloatArray) -> FloatArray:
    """Return k log(k/mean) + mean - k without cancellation where k is near the mean."""
    v = (k - mean) / (k + mean)
    v2 = v * v
    near = v2 < 0.04
    # 2 artanh(v) = log(k/mean), less its first term, summed from the small end.
    series = np.zeros_like(v)
    for j in range(27, 1, -2):
        series = v2 * (series + 1.0 / j)
    close = v * ((k - mean) + 2.0 * k * series)
    with np.errstate(over="ignore"):
        quotient = k / mean
    # The quotient overflows for probabilities near the smallest double.
    log_quotient = np.where(np.isinf(quotient), np.log(k) - np.log(mean), np.log(quotient))
    return np.where(near, close, k * log_quotient + (mean - k))


def expit(u: FloatArray) -> FloatArray:
    """Return 1/(1 + exp(-u)) with full relative accuracy at both ends."""
    odds = np.exp(-np.abs(u))
    return np.where(u < 0.0, odds, 1.0) / (1.0 + odds)
