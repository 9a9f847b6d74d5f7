r"""How often the test that decides finds a shift of all logits, or a slope, in large samples.

With a part that is right, whose P-value is uniform and independent of the other's, P is at most
alpha where the product of the two is at most x, x(1 - log x) = alpha. So that is found with the
chance

.. math:: x + \int_x^1 S(x / h) \, dh,

S(p) being the chance that the P-value of the part that is wrong is at most p.

- A *shift* is the mean's: the number of events is about normal, with the mean and the variance that
  shifted scores give it. Once logits are shifted the shape is right.
- A *slope*, with the mean kept right, is the shape's: a Brownian bridge with a drift, the
  difference between true chances and scores summed up to each score. The bridge is followed on a
  lattice, between barriers that are brought in by what it strays between two steps.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from secant._inference import bridge

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._base.types import FloatArray

__all__ = ["least", "level_of_product", "of_shift", "of_slope"]

_NORMAL = NormalDist()
# Nodes of the integral over the P-value of the part that is right.
_NODES = 16
# Steps of a bridge, and places a standard deviation of a step.
_STEPS, _FINE = 64, 4
# What a path strays beyond what is seen of it, in standard deviations of a step: -zeta(1/2)/sqrt(2
# pi), as for options with discrete barriers.
_BETWEEN = 0.5826


def of_shift(scores: FloatArray, shift: float, n: float, alpha: float) -> float:
    """Return the chance of finding a shift of all logits.

    Examples
    --------
    >>> scores = np.linspace(0.05, 0.95, 91)
    >>> round(of_shift(scores, 0.0, 1000, 0.05), 3), round(of_shift(scores, 0.2, 1000, 0.05), 3)
    (0.05, 0.657)
    """
    true = bridge.shifted(scores, shift)
    variance = float(np.mean(scores * (1.0 - scores)))
    away = abs(float(np.mean(true[0] - scores))) * math.sqrt(n / variance)
    spread = max(math.sqrt(float(np.mean(true[0] * true[1])) / variance), 1e-300)

    def found(p: FloatArray) -> FloatArray:
        far = np.array([-_NORMAL.inv_cdf(0.5 * each) for each in p])
        beyond = [
            0.5 * math.erfc((z - away) / spread / math.sqrt(2.0))
            + 0.5 * math.erfc((z + away) / spread / math.sqrt(2.0))
            for z in far
        ]
        return np.array(beyond)

    return _found(found, alpha)


def of_slope(scores: FloatArray, slope: float, n: float, alpha: float) -> float:
    """Return the chance of finding a slope of logits, other than 1, where the mean is right.

    Examples
    --------
    >>> scores = np.linspace(0.05, 0.95, 91)
    >>> round(of_slope(scores, 1.0, 1000, 0.05), 2), round(of_slope(scores, 1.5, 1000, 0.05), 2)
    (0.05, 1.0)
    """
    drift, spread = _drift(scores, slope)

    def found(p: FloatArray) -> FloatArray:
        barriers = np.array([_excursion(float(each)) for each in p])
        return _strays(drift * (math.sqrt(n) / spread), barriers / spread)

    return _found(found, alpha)


def least(power: Callable[[float], float], wanted: float, start: float, most: float) -> float:
    """Return the least positive number at which a power is as wanted; infinite above ``most``.

    It is looked for from ``start`` upward. The normal quantile of the power is about a straight
    line, so that false position (the Illinois method) takes few steps.

    Examples
    --------
    >>> round(least(lambda x: x * x, 0.25, 0.1, 1.0), 6)
    0.5
    """

    def beyond(at: float) -> float:
        return _NORMAL.inv_cdf(min(max(power(at), 1e-12), 1.0 - 1e-12)) - aim

    aim = _NORMAL.inv_cdf(wanted)
    low, high = 0.0, min(start, most)
    below, above = beyond(low), beyond(high)
    while above < 0.0:
        if high >= most:
            return math.inf
        low, below, high = high, above, min(2.0 * high, most)
        above = beyond(high)
    tried = kept = 0
    while high - low > 1e-9 * high:
        tried += 1
        # Off both ends, so that a root next to one is enclosed; every third time in the middle.
        middle = high - above * (high - low) / (above - below)
        middle = min(max(middle, low + 2e-10 * high), high - 2e-10 * high)
        if tried % 3 == 0:
            middle = 0.5 * (low + high)
        at = beyond(middle)
        if at >= 0.0:
            high, above = middle, at
            below *= 0.5 if kept > 0 else 1.0
            kept = 1
        else:
            low, below = middle, at
            above *= 0.5 if kept < 0 else 1.0
            kept = -1
    return high


@lru_cache(maxsize=64)
def level_of_product(alpha: float) -> float:
    """Return x with x(1 - log x) = alpha.

    Examples
    --------
    >>> round(level_of_product(0.05), 5)
    0.0087
    """
    low, high = 0.0, alpha
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (low, middle) if middle * (1.0 - math.log(middle)) > alpha else (middle, high)
    return high


def _found(found: Callable[[FloatArray], FloatArray], alpha: float) -> float:
    x = level_of_product(alpha)
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    log_h = 0.5 * math.log(x) * (1.0 - node)
    h = np.exp(log_h)
    return x + float(weight @ (found(x / h) * h)) * -0.5 * math.log(x)


@lru_cache(maxsize=256)
def _excursion(p: float) -> float:
    """Return what a Brownian bridge strays by with a chance of p."""
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (
            (middle, high) if bridge.log10_kolmogorov(middle) > math.log10(p) else (low, middle)
        )
    return high


def _drift(scores: FloatArray, slope: float) -> tuple[FloatArray, float]:
    """Return the drift of the bridge at steps of equal variance, and how far it spreads.

    Both are in units of the standard deviation that scores say, the drift for one observation.
    """
    each, rows = np.unique(scores[(scores > 0.0) & (scores < 1.0)], return_counts=True)
    steep = bridge.shifted(np.full(len(each), 0.5), slope * np.log(each / (1.0 - each)))[0]
    steep = np.clip(steep, np.finfo(float).tiny, 1.0 - 2.0**-53)
    # Shifted so that as many events are expected as before.
    many, expected = rows[:, None], np.array([float(rows @ each)])
    true = bridge.shifted(steep, float(bridge.shifts(steep[:, None], many, expected)[0]))
    variance = rows * each * (1.0 - each)
    whole = float(variance.sum())
    time = np.append(0.0, np.cumsum(variance) / whole)
    path = np.append(0.0, np.cumsum(rows * (true[0] - each))) / math.sqrt(whole * len(scores))
    spread = max(math.sqrt(float((rows * true[0] * true[1]).sum()) / whole), 1e-9)
    return np.interp(np.arange(1, _STEPS + 1) / _STEPS, time, path), spread


def _strays(drift: FloatArray, barriers: FloatArray) -> FloatArray:
    """Return the chances that a Brownian bridge with a drift strays beyond barriers."""
    deviation = math.sqrt(1.0 / _STEPS)
    reach = np.maximum(barriers - _BETWEEN * deviation, 0.0)
    # A bridge that is beyond this is beyond all barriers, or nowhere.
    width = deviation / _FINE
    half = math.ceil(min(float(reach.max()) + float(np.abs(drift).max()), 6.0) / width)
    place = width * np.arange(-half, half + 1)
    # The density of a step, its first place in the middle, and no further than the ends reach.
    size = 1 << (4 * half).bit_length()
    away = width * np.fft.fftfreq(size, 1.0 / size)[:, None]
    step = np.exp(-0.5 * (away / deviation) ** 2) / (deviation * math.sqrt(2.0 * math.pi))
    spectrum = np.fft.rfft(step * width, axis=0)
    density = np.repeat(step[np.arange(-half, half + 1)], len(reach), axis=1)
    last = density[:, 0].copy()
    for number in range(_STEPS - 1):
        if number:
            moved = np.fft.irfft(np.fft.rfft(density, size, axis=0) * spectrum, size, axis=0)
            density = moved[: len(place)]
        low, high = -reach - drift[number], reach - drift[number]
        edges = place[:, None]
        inside = np.minimum(edges + 0.5 * width, high) - np.maximum(edges - 0.5 * width, low)
        density *= np.clip(inside / width, 0.0, 1.0)
    # Brownian motion whose end is at 0: its density there, over the one without barriers.
    stays = np.clip((last @ density) * (width * math.sqrt(2.0 * math.pi)), 0.0, 1.0)
    return np.where(reach > 0.0, 1.0 - stays, 1.0)
