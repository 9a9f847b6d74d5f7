"""How much can be seen with how many predictions, before any are made."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from secant import null
from secant._inference import limits
from secant._input.arraylike import real_array
from secant._input.options import check_level
from secant.errors import Argument, InputError

__all__ = ["detectable", "predictions_needed"]


def detectable(
    n: Any,
    *,
    scores: Any = 0.5,
    confidence_level: float = 0.95,
    power: Any = 0.99,
) -> float:
    r"""Return the smallest true ECCE-R that n predictions can tell from zero.

    A model that is further off than this is found, at the level 1 - ``confidence_level``, with at
    least the chance ``power``. One that is less far off may be found, or not.

    Parameters
    ----------
    n : int
        Number of predictions.
    scores : array-like or float
        What the predictions are like: some typical scores, or their mean alone. One half is the
        worst case; rare events need fewer predictions for the same ECCE-R.
    confidence_level : float
        One minus the level of the test.
    power : float
        The chance of finding it.

    Returns
    -------
    float
        A value of ECCE-R; above 1 if so few predictions show nothing.

    Raises
    ------
    InputError
        If an argument is out of range.

    See Also
    --------
    predictions_needed : The other way round.

    Notes
    -----
    The observed total over the range that is off is about normal around its true value x, with a
    variance of at most the one under perfect calibration, :math:`\sigma^2 = \bar v / n`, plus what
    the x n further events bring. It is found once it exceeds the critical value of the range of
    Brownian motion, so that

    .. math:: x = q \sigma + z \sqrt{\sigma^2 + x / n}.

    Examples
    --------
    >>> import secant
    >>> round(secant.detectable(10_000), 4)
    0.0247
    >>> round(secant.detectable(10_000, scores=0.01), 4)
    0.0054
    """
    if not (isinstance(n, Integral) and int(n) >= 1):
        wanted = f" must be a whole number of predictions, at least 1; got {n!r}"
        raise InputError(Argument("n"), wanted)
    spread, z = _assumptions(scores, confidence_level, power)
    return limits.detectable(spread / math.sqrt(n), int(n), confidence_level, z)


def predictions_needed(
    ecce_r: Any,
    *,
    scores: Any = 0.5,
    confidence_level: float = 0.95,
    power: Any = 0.99,
) -> int:
    """Return how many predictions it takes to tell a true ECCE-R from zero.

    Parameters
    ----------
    ecce_r : float
        The ECCE-R to be found, between 0 and 1.
    scores, confidence_level, power
        As in :func:`detectable`.

    Returns
    -------
    int
        The smallest n whose :func:`detectable` ECCE-R is at most this.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import secant
    >>> secant.predictions_needed(0.02)
    15101
    """
    if not (isinstance(ecce_r, Real) and 0 < float(ecce_r) <= 1):
        raise InputError(Argument("ecce_r"), f" must lie in (0, 1]; got {ecce_r!r}")
    spread, z = _assumptions(scores, confidence_level, power)
    q, x = limits.critical(null.range, 1 - confidence_level), float(ecce_r)
    return max(1, math.ceil(((q * spread + z * math.sqrt(spread**2 + x)) / x) ** 2))


def _assumptions(scores: Any, confidence_level: float, power: Any) -> tuple[float, float]:
    """Return the root of the mean s(1 - s), and the normal quantile of the power."""
    from statistics import NormalDist  # noqa: PLC0415  (loads more than all of this)

    check_level(confidence_level)
    if not (isinstance(power, Real) and 0.5 <= float(power) < 1):
        raise InputError(Argument("power"), f" must lie in [0.5, 1); got {power!r}")
    typical = real_array("scores", np.atleast_1d(scores), keep=(np.float64,))
    if not typical.shape[0]:
        empty = " is empty; give some typical scores, or their mean"
        raise InputError(Argument("scores"), empty)
    outside = np.flatnonzero(~((typical >= 0) & (typical <= 1)))
    if outside.size:
        first = int(outside[0])
        shown = repr(typical[first].item())
        must = "; a score must lie in [0, 1]"
        raise InputError(must, argument="scores", value=shown, row=first)
    spread = math.sqrt(float(np.mean(typical * (1 - typical))))
    return spread, NormalDist().inv_cdf(float(power))
