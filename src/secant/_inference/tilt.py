"""P-values of large samples that hold far in the tail too, where the Brownian limit does not.

The Brownian limit sees the variance of the path alone. How likely a large rise is depends on the
whole law of its steps: rare events make a rise far likelier than a fall. So the metric is put on
the scale of its own large deviations first. An observation jumps by j with chance q, around a mean
of zero: by (1 - q) j upwards, or by q j downwards. With K(t) the sum of the logarithms of
E exp(t step), a path rises to T with a probability of about exp(-I), I = sup_t (t T - K(t)), and

    x_+ = sqrt(2 I)

takes the place of T / sqrt(V); it is the same for normal steps. x_- is that of a fall. A path rises
or falls by so much with the probability P = (sf(x_+) + sf(x_-)) / 2, sf that of the Brownian law.

That is right in the exponent. Paths of counts move by whole numbers, and are where they can be at
less than every height: as in the expansion of Lugannani and Rice each term is multiplied by

    x / u,  u = 2 tanh(t / 2) sqrt(K''(t)),

at the t of the supremum, where that is above 1. A rise is never likelier than exp(-I) (Doob), and
a range reached upwards was never seen to be likelier than twice that, so that these bound it; they
count where T is next to the most that can be. At last 1% is added.

Every t gives a lower bound of I and so an upper bound of P. K is concave in the score, so that
averages over ranges of scores bound it from above, and where weights differ so do the sums of
second and third moments: P errs on the safe side in both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from secant import null
    from secant._base.types import FloatArray, NumberArray

__all__ = ["Bounded", "Jumps", "Steps", "log_pvalue", "rate", "tail"]

# Steps of Newton's method, or halvings where it leaves what is known; about six are taken.
_MOST_STEPS = 200
# The exponent is found when another step would add no more to it than this, or this part of it.
_LITTLE, _CLOSE = 1e-9, 1e-13
# Relative error within which two sums are the same.
_GUARD = 1e-12
# Beyond this exponent the square of exp would overflow.
_LARGE = 300.0
# What the largest P-value for T is in units of exp(-I), and what is added to every one.
_LOG_MOST = {"mad": 0.0, "range": math.log(2.0)}
_LOG_ADDED = math.log(1.01)
# Exponents up to which a chance is not told from 1.
_NEAR = 1e-4
# Kinds of observations with which the place of the supremum is found; its height takes all.
_KINDS = 1024


@dataclass(frozen=True, slots=True)
class Bounded:
    """Steps of which sums are known: those of their variances and third absolute moments.

    None goes further than b, ``largest``. So E X^k is at most b^(k - 3) E|X|^3 from k = 3 on, and

        log E exp(tX) <= t^2 E X^2 / 2 + E|X|^3 (exp(tb) - 1 - tb - (tb)^2 / 2) / b^3.

    Their P-values get neither factor nor addition: paths of weighted rows are on no lattice, and
    this bound alone makes them a sixth too large at .1 and twice at .001.
    """

    variance: float
    third: float
    largest: float

    def most(self, sign: int) -> float:  # noqa: ARG002  (nothing is known of it)
        return math.inf

    def rarity(self, sign: int) -> float:  # noqa: ARG002  (as most)
        return math.inf

    def cumulants(self, t: float) -> tuple[float, float, float]:
        """Return a bound of K(t) and its first two derivatives; for a fall t is negative."""
        b, sign, t = self.largest, math.copysign(1.0, t), abs(t)
        if t * b > _LARGE:
            return math.inf, sign * math.inf, math.inf
        # exp(z) less its first terms, over a power of b: by its series where these are nearly all.
        z = t * b
        rest = math.expm1(z) - z
        cubic = (
            rest - 0.5 * z * z if z > 0.5 else sum(z**k / math.factorial(k) for k in range(3, 16))
        )
        k = 0.5 * self.variance * t * t + self.third * cubic / b**3
        slope = self.variance * t + self.third * (cubic + 0.5 * z * z) / b**2
        return k, sign * slope, self.variance + self.third * math.expm1(z) / b

    def fewer(self) -> Bounded:
        return self


@dataclass(frozen=True, slots=True)
class Jumps:
    """What independent observations add to a path whose steps have mean zero.

    Attributes
    ----------
    count
        How many observations there are of each kind.
    chance
        The chance of a jump, above 0 and below 1.
    size
        How far it goes: the weight of an observation, 1 where nothing is weighted.
    narrower
        Variance that averages over scores have and the observations behind them have not, where
        ``chance`` are averages and every size is 1.
    """

    count: NumberArray
    chance: FloatArray
    size: NumberArray | float = 1.0
    narrower: float = 0.0

    def most(self, sign: int) -> float:
        """Return how far the path can rise (or fall)."""
        far = self.size * (1.0 - self.chance if sign > 0 else self.chance)
        return float((self.count * far).sum())

    def rarity(self, sign: int) -> float:
        """Return minus the logarithm of the chance that it rises (or falls) so far."""
        each = np.log(self.chance) if sign > 0 else np.log1p(-self.chance)
        return -float((self.count * each).sum())

    def cumulants(self, t: float) -> tuple[float, float, float]:
        """Return K(t) and its first two derivatives; for a fall t is negative."""
        z = t * self.size
        q, v = self.chance, self.chance * (1.0 - self.chance)
        if np.max(z) <= _LARGE:
            grown = q * np.expm1(z)
            whole = (1.0 - q) + q * np.exp(z)
            log_whole = np.log1p(grown)
            if t < 0.0 and (lost := grown < -0.5).any():  # and with it digits that count
                log_whole[lost] = np.log(whole[lost])
            first = (1.0 - q) * grown / whole
            second = v * np.exp(z) / whole**2
        else:  # the same, divided by exp(z)
            shrunk = np.exp(-z)
            whole = q + (1.0 - q) * shrunk
            log_whole = z + np.log(whole)
            first = v * (1.0 - shrunk) / whole
            second = v / whole * (shrunk / whole)
        # The square of a size may be beyond doubles where its product with a variance is not.
        each = log_whole - z * q, self.size * first, self.size * (self.size * second)
        k, slope, bend = (float((self.count * sums).sum()) for sums in each)
        if self.narrower:
            # log(1 + s (exp t - 1)) bends by at least this everywhere (s = 1, or 0 for a fall).
            k -= 0.5 * self.narrower * math.expm1(-abs(t)) ** 2
        return k, slope, bend

    def fewer(self) -> Jumps:
        """Return about the same with fewer kinds, neighbours taken together."""
        each = -(-len(self.count) // _KINDS)
        if each == 1:
            return self
        starts = np.arange(0, len(self.count), each)
        count = np.add.reduceat(self.count, starts)
        chance = np.add.reduceat(self.count * self.chance, starts) / count
        size = self.size
        if not isinstance(size, float):  # of which the square decides
            size = np.sqrt(np.add.reduceat(self.count * np.square(size), starts) / count)
        return Jumps(count, chance, size)


# What is known of the steps of a path, which are independent and have mean zero.
Steps = Jumps | Bounded


def log_pvalue(law: null.BrownianLaw, steps: Steps, total: float) -> float:
    """Return the logarithm of the P-value of a metric.

    Parameters
    ----------
    law
        The Brownian law of the metric.
    steps
        The observations.
    total
        The metric in units of their steps: W times ECCE-R, or ECCE-MAD. More than is possible
        counts as the most that is.

    Returns
    -------
    float
        log P, down to any size.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from secant import null
    >>> rare = Jumps(np.array([20_000]), np.array([0.02]))
    >>> brownian = null.range.logsf(240 / math.sqrt(392)) / math.log(10)
    >>> round(brownian, 1), round(log_pvalue(null.range, rare, 240.0) / math.log(10), 1)
    (-32.5, -27.9)
    """
    total = min(total, max(steps.most(sign) for sign in (1, -1)))
    rise, fall = (_one_way(law, steps, total, sign) for sign in (1, -1))
    log_p = float(np.logaddexp(rise, fall))
    return min(log_p + _LOG_ADDED, 0.0) if _on_a_lattice(steps) else log_p


def rate(steps: Steps, total: float, sign: int) -> float:
    """Return sup_t (t T - K(t)): about minus the logarithm of the chance of a rise, or a fall.

    It is infinite for a rise that cannot be.
    """
    return _supremum(steps, total, sign)[0]


def tail(steps: Steps, total: float, sign: int, spacing: float) -> float:
    """Return the chance that the last sum rises (or falls) to at least so much.

    The expansion of Lugannani and Rice for sums that are ``spacing`` apart, which is right within
    a few percent, and no more than Chernoff's bound. Where sums are nearer to each other it is too
    large, by about the chance of what is between.
    """
    exponent, t, bend = _supremum(steps, total, sign)
    most = math.exp(-exponent)
    if exponent < _NEAR or bend == 0.0:
        return 1.0 if exponent < _NEAR else most
    z, x = t * spacing, math.sqrt(2.0 * exponent)
    u = t * math.sqrt(bend) * (-math.expm1(-z) / z if z > 0.0 else 1.0)
    normal = 0.5 * math.erfc(math.sqrt(exponent))
    return min(normal + most / math.sqrt(2.0 * math.pi) * max(1.0 / u - 1.0 / x, 0.0), most)


def _on_a_lattice(steps: Steps) -> bool:
    """Tell whether paths move by whole numbers around their means."""
    return isinstance(steps, Jumps) and isinstance(steps.size, float)


def _one_way(law: null.BrownianLaw, steps: Steps, total: float, sign: int) -> float:
    """Return the logarithm of what rises (or falls) add to a P-value."""
    exponent, t, bend = _supremum(steps, total, sign)
    x = math.sqrt(2.0 * exponent)
    log_p = law.logsf(x) - math.log(2.0)
    if not 0.0 < exponent < math.inf or not _on_a_lattice(steps):
        return log_p
    u = 2.0 * math.tanh(0.5 * t) * math.sqrt(bend)
    most = _LOG_MOST[law.name] - exponent
    return most if u == 0.0 else min(log_p + max(math.log(x / u), 0.0), most)


def _supremum(steps: Steps, total: float, sign: int) -> tuple[float, float, float]:
    """Return sup_t (t T - K(t)), the t where it is, and K''(t)."""
    most = steps.most(sign)
    if total >= most * (1.0 - _GUARD):
        exponent = steps.rarity(sign) if total <= most * (1.0 + _GUARD) else math.inf
        return exponent, math.inf, 0.0
    t, _, _ = _highest(steps.fewer(), total, sign, 0.0)
    t, height, bend = _highest(steps, total, sign, t)
    return height, t, bend


def _highest(steps: Steps, total: float, sign: int, start: float) -> tuple[float, float, float]:
    """Return where t T - K(t) is highest, how high, and K''(t), by Newton's method."""
    low, high, t, best, second = 0.0, math.inf, start, 0.0, 0.0
    for _ in range(_MOST_STEPS):
        k, first, second = steps.cumulants(sign * t)
        short, height = total - sign * first, t * total - k
        best = max(best, height)
        low, high = (t, high) if short > 0.0 else (low, t)
        # What another step would add is half of this.
        if second > 0.0 and short * short <= second * max(_LITTLE, _CLOSE * height):
            return t + short / second, best, second
        ahead = t + short / second if second > 0.0 else math.inf
        if not low < ahead < min(high, 2.0 * t + total):
            ahead = 2.0 * t + 1.0 if math.isinf(high) else 0.5 * (low + high)
        t = ahead
    return t, best, second
