"""Laws of the normalised metrics under perfect calibration, in the limit of many observations.

When the forecasts are calibrated, the graph of cumulative differences divided by its standard
deviation tends to standard Brownian motion B on [0, 1]. The normalised ECCE-MAD then follows the
law of max|B| (:data:`mad`) and the normalised ECCE-R that of max B - min B (:data:`range`).

Both laws have two series: one in theta-function terms, which converges fast for small x and has the
cumulative probability as its sum, and one in normal tails, which converges fast for large x and has
the survival probability as its sum. Each probability is taken from the series that sums to it, or
from one minus the other where that loses nothing, so small probabilities keep all their digits on
both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from math import erfc, exp, inf, log, log1p, pi, sqrt
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from secant._base.types import FloatArray

    # What is not a scalar: numpy.typing.ArrayLike would include floats and blur the overloads.
    Arrays = np.ndarray[Any, Any] | Sequence[Any]

__all__ = ["BrownianLaw", "mad", "range"]

# The cumulative probabilities of both laws underflow to zero well above this argument.
_CDF_VANISHES = 0.04
# From here on only the first normal tail counts, and its asymptotic series is exact in doubles.
_TAIL_START = 30.0
# The secant steps taken below are about six; the limit only guarantees an end.
_MOST_STEPS = 60

_SQRT_HALF = sqrt(0.5)
_HALF_LOG_TWO_PI = 0.5 * log(2.0 * pi)


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class BrownianLaw:
    r"""Law of one functional of standard Brownian motion on [0, 1].

    It turns a normalised metric into an asymptotic P-value (:meth:`sf`) and a significance level
    into a critical value (:meth:`isf`). The two laws there are, :data:`secant.null.mad` and
    :data:`secant.null.range`, are all one needs; there is no reason to make another.

    Every method takes a number and returns a float, or takes anything array-like and returns an
    array of the same shape. Relative errors are below 1e-12 wherever the result is a normal double.

    Attributes
    ----------
    name : str
        How the law is reached: ``"mad"`` or ``"range"``.
    mean : float
        Expected value, which is where the normalised metric of a calibrated forecast settles.

    Notes
    -----
    For max\|B\| (with Q the upper tail of the standard normal law)

    .. math::

        P(\max|B| \le x) &= \frac{4}{\pi} \sum_{k \ge 0} \frac{(-1)^k}{2k + 1}
            \exp\left(-\frac{(2k + 1)^2 \pi^2}{8 x^2}\right), \\
        P(\max|B| > x) &= 4 \sum_{k \ge 0} (-1)^k Q((2k + 1) x),

    and for the range

    .. math::

        P(\mathrm{range}\,B \le x) &= \sum_{k \ge 1}
            \left(\frac{8}{x^2} + \frac{8}{(2k - 1)^2 \pi^2}\right)
            \exp\left(-\frac{(2k - 1)^2 \pi^2}{2 x^2}\right), \\
        P(\mathrm{range}\,B > x) &= 8 \sum_{k \ge 1} (-1)^{k - 1} k\, Q(k x).

    The means are sqrt(pi/2) and 2 sqrt(2/pi).

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of
       calibration for probabilistic predictions." Journal of Machine Learning Research 23(351).
       https://doi.org/10.48550/arXiv.2205.09680
    .. [2] W. Feller (1951). "The asymptotic distribution of the range of sums of independent
       random variables." Annals of Mathematical Statistics 22(3).
       https://doi.org/10.1214/aoms/1177729589

    Examples
    --------
    >>> from secant import null
    >>> null.mad.sf(5.512)
    7.0956e-08
    >>> null.range.isf(0.05)
    2.49767
    """

    name: str
    mean: float
    # Below the switch the first series has converged after three terms, above it the second after
    # four. Both agree to rounding near it.
    _switch: float
    _lower_cdf: Callable[[float], float]
    _upper_sf: Callable[[float], float]
    # sf(x) / Q(x) for large x.
    _tail_weight: float

    def __repr__(self) -> str:
        return f"secant.null.{self.name}"

    @overload
    def cdf(self, x: float) -> float: ...
    @overload
    def cdf(self, x: Arrays) -> FloatArray: ...
    def cdf(self, x: float | Arrays) -> float | FloatArray:
        """Return the probability of a value of at most x.

        Parameters
        ----------
        x : float or array-like
            Where to evaluate; NaN gives NaN.

        Returns
        -------
        float or ndarray
            P(X <= x), zero for x <= 0.

        Raises
        ------
        InputError
            If x is not numeric.

        Examples
        --------
        >>> from secant import null
        >>> null.range.cdf(null.range.mean)
        0.56914
        >>> null.mad.cdf([-1.0, 0.1, 2.0])
        array([0.00000e+00, 3.35719e-54, 9.08999e-01])
        """
        if isinstance(x, float | int):
            return self._cdf(float(x))
        return _elementwise(self._cdf, x, "x")

    @overload
    def sf(self, x: float) -> float: ...
    @overload
    def sf(self, x: Arrays) -> FloatArray: ...
    def sf(self, x: float | Arrays) -> float | FloatArray:
        """Return the probability of a value above x: the P-value of a normalised metric x.

        Parameters
        ----------
        x : float or array-like
            Where to evaluate; NaN gives NaN.

        Returns
        -------
        float or ndarray
            P(X > x), one for x <= 0. It is accurate until it underflows at about x = 38.5;
            :meth:`logsf` goes on.

        Raises
        ------
        InputError
            If x is not numeric.

        Examples
        --------
        >>> from secant import null
        >>> null.range.sf(10.16)
        1.19631e-23
        """
        if isinstance(x, float | int):
            return self._sf(float(x))
        return _elementwise(self._sf, x, "x")

    @overload
    def logsf(self, x: float) -> float: ...
    @overload
    def logsf(self, x: Arrays) -> FloatArray: ...
    def logsf(self, x: float | Arrays) -> float | FloatArray:
        """Return the natural logarithm of :meth:`sf`, also where sf itself underflows.

        Parameters
        ----------
        x : float or array-like
            Where to evaluate; NaN gives NaN.

        Returns
        -------
        float or ndarray
            log P(X > x).

        Raises
        ------
        InputError
            If x is not numeric.

        Examples
        --------
        The P-value of ImageNet in the paper, as a power of ten:

        >>> import math
        >>> from secant import null
        >>> null.mad.logsf(111.7) / math.log(10)
        -2711.16736
        """
        if isinstance(x, float | int):
            return self._logsf(float(x))
        return _elementwise(self._logsf, x, "x")

    @overload
    def isf(self, p: float) -> float: ...
    @overload
    def isf(self, p: Arrays) -> FloatArray: ...
    def isf(self, p: float | Arrays) -> float | FloatArray:
        """Return the value exceeded with probability p: the critical value at level p.

        Parameters
        ----------
        p : float or array-like
            Probabilities in [0, 1], down to the smallest double.

        Returns
        -------
        float or ndarray
            The x with sf(x) = p; zero for p = 1, infinity for p = 0.

        Raises
        ------
        InputError
            If a probability is NaN, outside [0, 1] or not numeric.

        Examples
        --------
        >>> from secant import null
        >>> null.mad.isf(0.05)
        2.24140
        >>> null.range.isf([1.0, 0.5, 0.0])
        array([0.     , 1.51454,     inf])
        """
        if isinstance(p, float | int):
            if not 0.0 <= p <= 1.0:
                raise InputError(f"p must lie in [0, 1], but is {p!r}")
            return self._isf(float(p))
        probabilities = _numbers(p, "p")
        wrong = ~((probabilities >= 0.0) & (probabilities <= 1.0))  # also true for NaN
        if wrong.any():
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            place = index[0] if len(index) == 1 else index
            raise InputError(
                f"p must lie in [0, 1], but is {float(probabilities[index])!r} at index {place}"
            )
        return _elementwise(self._isf, probabilities, "p")

    # The scalar functions behind the methods. They need no branch for NaN: every comparison with
    # it is false, and the series at the end of the road hands it through.

    def _cdf(self, x: float) -> float:
        if x > self._switch:
            return 1.0 - self._upper_sf(x)
        return self._lower_cdf(x)

    def _sf(self, x: float) -> float:
        if x > self._switch:
            return self._upper_sf(x)
        return 1.0 - self._lower_cdf(x)

    def _logsf(self, x: float) -> float:
        if x > _TAIL_START:
            return log(self._tail_weight) + _log_normal_tail(x)
        if x > self._switch:
            return log(self._upper_sf(x))
        return log1p(0.0 - self._lower_cdf(x))  # 0 - 0 is +0, whose logarithm prints without sign

    def _isf(self, p: float) -> float:
        if p == 0.0:
            return inf
        if p == 1.0:
            return 0.0
        # In these variables the logarithms are nearly straight lines: log sf behaves as -x^2/2,
        # log cdf as -const/x^2. From one half upwards 1 - p is exact.
        if p < 0.5:
            # Q(x) is about exp(-x^2/2)/sqrt(2 pi x^2): without the denominator, then with it.
            far = 2.0 * (log(self._tail_weight) - log(p))
            near = far - log(2.0 * pi * far)
            return sqrt(_secant_root(lambda u: self._logsf(sqrt(u)), log(p), far, near))
        return 1.0 / sqrt(
            _secant_root(lambda u: log(self._cdf(1.0 / sqrt(u))), log(1.0 - p), 2.0, 0.5)
        )


def _numbers(x: Arrays, argument: str) -> FloatArray:
    """Convert to float64, refusing text, objects and complex numbers."""
    array = np.asarray(x)
    if array.dtype.kind not in "fiub" and array.size:
        raise InputError(f"{argument} must be numeric, but has dtype {array.dtype}")
    return array.astype(np.float64, copy=False)


def _elementwise(
    function: Callable[[float], float], x: Arrays, argument: str
) -> float | FloatArray:
    """Apply a scalar function to an array, or to a scalar in array's clothing."""
    array = _numbers(x, argument)
    if array.ndim == 0:
        return function(float(array))
    # Not frompyfunc: it would report, as numpy is set to, every underflow on the way.
    values = np.fromiter(map(function, array.ravel().tolist()), dtype=np.float64, count=array.size)
    return values.reshape(array.shape)


def _secant_root(
    function: Callable[[float], float], target: float, first: float, second: float
) -> float:
    """Solve function(u) = target from two starting points by the secant method."""
    previous, current = first, second
    previous_gap = function(previous) - target
    for _ in repeat(None, _MOST_STEPS):
        gap = function(current) - target
        if gap == previous_gap:  # both at rounding level
            break
        step = gap * (current - previous) / (gap - previous_gap)
        previous, previous_gap = current, gap
        current -= step
        if abs(step) <= 1e-9 * current:  # the next step would be below rounding
            break
    return current


def _log_normal_tail(z: float) -> float:
    """Return log Q(z) for z >= 30, by the asymptotic series of the Mills ratio."""
    y = 1.0 / z / z  # never overflows, unlike z * z
    correction = -y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y * (1.0 - 9.0 * y))))
    return -0.5 * z * z - log(z) - _HALF_LOG_TWO_PI + log1p(correction)


def _mad_lower_cdf(x: float) -> float:
    if x < _CDF_VANISHES:
        return 0.0
    exponent = -0.125 * pi * pi / (x * x)
    total = exp(exponent) - exp(9.0 * exponent) / 3.0 + exp(25.0 * exponent) / 5.0
    return 4.0 / pi * total


def _mad_upper_sf(x: float) -> float:
    z = x * _SQRT_HALF  # Q(x) = erfc(z) / 2
    return 2.0 * (erfc(z) - erfc(3.0 * z) + erfc(5.0 * z) - erfc(7.0 * z))


def _range_lower_cdf(x: float) -> float:
    if x < _CDF_VANISHES:
        return 0.0
    square = x * x
    exponent = -0.5 * pi * pi / square
    head, step = 8.0 / square, 8.0 / (pi * pi)
    return (
        (head + step) * exp(exponent)
        + (head + step / 9.0) * exp(9.0 * exponent)
        + (head + step / 25.0) * exp(25.0 * exponent)
    )


def _range_upper_sf(x: float) -> float:
    z = x * _SQRT_HALF  # Q(x) = erfc(z) / 2
    return 4.0 * (erfc(z) - 2.0 * erfc(2.0 * z) + 3.0 * erfc(3.0 * z) - 4.0 * erfc(4.0 * z))


mad = BrownianLaw("mad", sqrt(pi / 2.0), 1.2, _mad_lower_cdf, _mad_upper_sf, 4.0)
"""Law of max|B|, the limit of the normalised ECCE-MAD."""

# The name is the one users read; nothing in this module may call the built-in range.
range = BrownianLaw(  # noqa: A001
    "range", 2.0 * sqrt(2.0 / pi), 1.8, _range_lower_cdf, _range_upper_sf, 8.0
)
"""Law of max B - min B, the limit of the normalised ECCE-R."""
