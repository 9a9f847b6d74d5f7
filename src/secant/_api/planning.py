"""How much can be seen with how many predictions, before any are made."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant import null
from secant._inference import limits
from secant._input.arraylike import real_array
from secant._input.options import PlanKind, check_choice, check_level
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from secant._base.types import FloatArray

__all__ = ["detectable", "predictions_needed"]

# Shifts of logits, and logarithms of slopes, up to which one that is found is looked for.
_FARTHEST = {"shift": 16.0, "slope": math.log(100.0)}
# Numbers of predictions up to which enough are looked for.
_MOST = 1e15
# Typical scores beyond which their quantiles do.
_TYPICAL = 2000


class _Plan(NamedTuple):
    """What a plan supposes: typical scores, the level, the power and the design effect."""

    scores: FloatArray
    confidence_level: float
    power: float
    design_effect: float

    @property
    def spread(self) -> float:
        """The root of the mean s(1 - s)."""
        return math.sqrt(float(np.mean(self.scores * (1 - self.scores))))

    @property
    def quantile(self) -> float:
        """The normal quantile of the power."""
        from statistics import NormalDist  # noqa: PLC0415  (loads more than all of this)

        return NormalDist().inv_cdf(self.power)

    def found(self, kind: PlanKind, size: float, n: float) -> float:
        """Return the chance of finding a shift, or the logarithm of a slope, either way."""
        from secant._inference import power  # noqa: PLC0415  (seldom asked)

        alpha, of = 1 - self.confidence_level, (self.scores, n / self.design_effect)
        if kind == "shift":
            return min(power.of_shift(of[0], way * size, of[1], alpha) for way in (-1, 1))
        return min(power.of_slope(of[0], math.exp(way * size), of[1], alpha) for way in (-1, 1))


def detectable(
    n: Any,
    *,
    scores: Any = 0.5,
    confidence_level: float = 0.95,
    power: Any = 0.99,
    kind: PlanKind = "ecce_r",
    design_effect: Any = 1,
) -> float:
    r"""Return the smallest true ECCE-R that n predictions can tell from zero, or shift, or slope.

    A model that is further off than this is found, at the level 1 - ``confidence_level``, with at
    least the chance ``power``. One that is less far off may be found, or not.

    Parameters
    ----------
    n : int
        Number of predictions.
    scores : array-like or float
        What the predictions are like: some typical scores, or their mean alone. One half is the
        worst case; rare events need fewer predictions for the same ECCE-R. A slope depends on how
        scores are spread, and needs typical ones.
    confidence_level : float
        One minus the level of the test.
    power : float
        The chance of finding it.
    kind : {"ecce_r", "shift", "slope"}
        What is to be found. ``"ecce_r"`` is found by ECCE-R's own P-value, ``ecce_r.pvalue``. A
        ``"shift"`` of all log odds and a ``"slope"`` of log odds that leaves the mean right are
        found by the test that decides, ``pvalue``: the one by its mean, the other by its shape.
    design_effect : float
        By how much rows that belong together in clusters raise the variance: n predictions count
        for n / ``design_effect``. Of clusters of m rows it is about 1 + (m - 1) times the
        correlation of what is unforeseen within them.

    Returns
    -------
    float
        A value of ECCE-R; above 1 if so few predictions show nothing. Or a shift above 0, or a
        slope above 1: it is found either way, upward or downward, times the slope or divided by
        it; infinite if so few predictions show none up to a shift of 16 and a slope of 100.

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

    For a shift and a slope the large-sample laws of the two parts of the test are taken: the number
    of events is about normal, with mean and variance as the true chances have them, and the shape
    is a Brownian bridge that drifts by what true chances and scores differ by, summed up to each
    score. One part is wrong and the other is right, so that Fisher's combination costs what it
    costs. From some hundreds of predictions on, and where tens of events and of failures are
    expected, the chance is right to a few percent (docs/studies.md). All that is supposed to be
    wrong is the shift, or the slope; where both are, each is found sooner.

    Examples
    --------
    >>> import secant
    >>> round(secant.detectable(10_000), 4)
    0.0247
    >>> round(secant.detectable(10_000, scores=0.01), 4)
    0.0054
    >>> round(secant.detectable(10_000, kind="shift"), 3)
    0.094
    >>> round(secant.detectable(10_000, kind="slope", scores=[0.1, 0.3, 0.5, 0.7, 0.9]), 2)
    1.12
    """
    if not (isinstance(n, Integral) and int(n) >= 1):
        wanted = f" must be a whole number of predictions, at least 1; got {n!r}"
        raise InputError(Argument("n"), wanted)
    plan = _plan(scores, confidence_level, power, kind, design_effect)
    if kind == "ecce_r":
        effective = int(n) / plan.design_effect
        sigma = plan.spread / math.sqrt(effective)
        return limits.detectable(sigma, effective, plan.confidence_level, plan.quantile)
    from secant._inference.power import least  # noqa: PLC0415  (seldom asked)

    size = least(lambda size: plan.found(kind, size, int(n)), plan.power, 0.01, _FARTHEST[kind])
    return size if kind == "shift" else math.exp(size)


def predictions_needed(
    ecce_r: Any,
    *,
    scores: Any = 0.5,
    confidence_level: float = 0.95,
    power: Any = 0.99,
    kind: PlanKind = "ecce_r",
    design_effect: Any = 1,
) -> int:
    """Return how many predictions it takes to tell a true ECCE-R from zero, or a shift, or a slope.

    Parameters
    ----------
    ecce_r : float
        What is to be found: an ECCE-R between 0 and 1, or by ``kind`` a shift of log odds, or a
        slope of log odds. Of a shift and its opposite, of a slope and one over it, the one that
        takes more predictions counts.
    scores, confidence_level, power, kind, design_effect
        As in :func:`detectable`.

    Returns
    -------
    int
        The smallest n for which what is :func:`detectable` is at most this.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import secant
    >>> secant.predictions_needed(0.02)
    15101
    >>> secant.predictions_needed(0.02, design_effect=2)
    30201
    >>> secant.predictions_needed(0.1, kind="shift")
    8802
    """
    plan = _plan(scores, confidence_level, power, kind, design_effect)
    if kind != "ecce_r":
        return _needed(plan, kind, ecce_r)
    if not (isinstance(ecce_r, Real) and 0 < float(ecce_r) <= 1):
        raise InputError(Argument("ecce_r"), f" must lie in (0, 1]; got {ecce_r!r}")
    q, x = limits.critical(null.range, 1 - plan.confidence_level), float(ecce_r)
    root = (q * plan.spread + plan.quantile * math.sqrt(plan.spread**2 + x)) / x
    return max(1, math.ceil(plan.design_effect * root**2))


def _needed(plan: _Plan, kind: PlanKind, value: Any) -> int:
    """Return how many predictions show a shift or a slope."""
    from secant._inference.power import least  # noqa: PLC0415  (seldom asked)

    number = float(value) if isinstance(value, Real) and math.isfinite(value) else math.nan
    if kind == "slope":
        number = math.log(number) if number > 0 else math.nan
    size, most = abs(number), _FARTHEST[kind]
    if not 0 < size <= most * (1 + 1e-12):
        words = {
            "shift": " must be a shift of log odds, from -16 to 16 and not 0",
            "slope": " must be a slope of log odds, from 0.01 to 100 and not 1",
        }
        raise InputError(Argument("ecce_r"), f"{words[kind]}; got {value!r}")

    def root(n: float) -> float:
        return plan.found(kind, size, n * n)

    most_root = math.sqrt(_MOST)
    enough = least(root, plan.power, 1.0, most_root)
    if enough > most_root:
        few = f" of {value!r} takes more than {_MOST:.0e} predictions to be found"
        raise InputError(Argument("ecce_r"), few)
    return max(1, math.ceil(enough**2 * (1 - 1e-8)))


def _plan(
    scores: Any, confidence_level: Any, power: Any, kind: PlanKind, design_effect: Any
) -> _Plan:
    """Check what a plan supposes."""
    check_level(confidence_level)
    check_choice("kind", kind, PlanKind)
    if not (isinstance(power, Real) and 0.5 <= float(power) < 1):
        raise InputError(Argument("power"), f" must lie in [0.5, 1); got {power!r}")
    if not (isinstance(design_effect, Real) and 0 < float(design_effect) < math.inf):
        positive = f" must be a positive number; got {design_effect!r}"
        raise InputError(Argument("design_effect"), positive)
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
    if kind != "ecce_r":
        typical = _thinned(np.sort(typical))
        inside = np.unique(typical[(typical > 0) & (typical < 1)])
        if len(inside) < (2 if kind == "slope" else 1):
            many = "two different scores" if kind == "slope" else "a score"
            lacks = f" must hold {many} above 0 and below 1, or there is no {kind}"
            raise InputError(Argument("scores"), lacks)
    return _Plan(typical, float(confidence_level), float(power), float(design_effect))


def _thinned(typical: FloatArray) -> FloatArray:
    """Return quantiles of scores in order, if they are many."""
    if len(typical) <= _TYPICAL:
        return typical
    at = (np.arange(_TYPICAL) + 0.5) * (len(typical) / _TYPICAL)
    thinned: FloatArray = typical[at.astype(np.int64)]
    return thinned
