"""Prediction intervals and quantiles: whether they cover as often as promised, and where."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from secant._api.calibrations import calibrations
from secant._input.arraylike import one_dimensional, one_value_a_row, real_array
from secant._input.axis import Axis
from secant._input.clusters import cluster_codes
from secant._input.combinations import check_combination
from secant._input.observations import check_alignment, observations
from secant._input.options import Method, Reading, check_choice, check_level, generator
from secant._input.ordering import are_outcomes, holds_outcomes, ordering
from secant._input.rules import missing
from secant.errors import Argument, InputError
from secant.sources.apart import Apart
from secant.sources.open import open_columns
from secant.sources.ordered import OrderedSource

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, NumberArray
    from secant._input.options import WeightKind
    from secant._results.calibration import Calibration

__all__ = ["assess_coverage"]

# Up to here every whole number is a double.
_EXACT = 2**53


def assess_coverage(
    y: Any,
    low: Any,
    high: Any,
    level: float,
    *,
    order_by: Any = None,
    data: Any = None,
    sample_weight: Any = None,
    weight_kind: WeightKind = "sampling",
    clusters: Any = None,
    method: Method = "auto",
    confidence_level: float = 0.95,
    rng: Any = None,
) -> Calibration:
    """Assess whether prediction intervals, or quantiles, cover as often as they promise.

    Intervals that cover 90% on average may cover 78% where they are narrow and 99% where they are
    wide. Print the result: it says whether coverage is as promised along the width, how far off it
    is, and where.

    Parameters
    ----------
    y : array-like of shape (n,)
        What happened: numbers.
    low, high : array-like of shape (n,), or None
        The ends of the intervals, both included; infinite ones are allowed. None on one side for
        a quantile: ``low=None`` asks whether y is at most ``high``.
    level : float
        How often intervals promise to cover, between 0 and 1: 0.9 for intervals of 90%. With
        ``low=None`` the level of the quantile ``high``; with ``high=None`` how often y promises to
        be at least ``low``, which is one minus the level of that quantile.
    order_by : array-like of shape (n,), optional
        What to put the intervals along: numbers or times that were known before y, as in
        :func:`assess`. By default their width, ``high - low``; a quantile itself where there is
        one side alone.
    data : optional
        Where the columns are, if not in arrays: a data frame, a mapping of arrays, or files, of
        which the columns needed are read into memory. Then the other arguments are names.
    sample_weight, weight_kind, clusters, method, confidence_level, rng
        As in :func:`assess`.

    Returns
    -------
    Calibration
        As :func:`assess` gives along another axis: ``mean_score`` is the level, ``base_rate`` how
        often intervals covered, and the miscalibration of a range how far its coverage is off.

    Raises
    ------
    InputError
        If anything in the input is unusable: ends that are missing or cross, or rows that an
        engine keeps.

    Notes
    -----
    An interval is a forecast of probability ``level`` that y falls into it. The coverage of a
    conformal method given one calibration set of m rows is itself random, with a standard deviation
    of about sqrt(level (1 - level) / m); a test set much larger than that set shows it.

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> rng = np.random.default_rng(0)
    >>> spread = rng.uniform(0.5, 2, 4000)
    >>> y = spread * rng.normal(size=4000)
    >>> guess = 0.5 + 0.5 * spread  # too narrow where the spread is large
    >>> result = secant.assess_coverage(y, -1.96 * guess, 1.96 * guess, 0.95)
    >>> print(result)  # doctest: +ELLIPSIS
    Coverage is off: too little on average, not steady along width. ...
    """
    check_choice("method", method, Method)
    check_level(level, "level")
    check_level(confidence_level)
    check_combination(clusters=clusters, method=method)
    draws = generator(rng)
    name = order_by if data is not None and isinstance(order_by, str) else None
    if data is not None:
        wanted = {"y": y, "low": low, "high": high, "order_by": order_by}
        wanted |= {"sample_weight": sample_weight, "clusters": clusters}
        found = open_columns(data, wanted, asked="assess_coverage")
        y, low, high, order_by, sample_weight, clusters = (found[each] for each in wanted)
    covered, places = _covered(y, low, high)
    if order_by is y:
        raise holds_outcomes("y")
    n = covered.shape[0]
    rows = {"y": y, "low": low, "high": high, "order_by": order_by}
    check_alignment(**rows, sample_weight=sample_weight, clusters=clusters)
    reading = Reading(weight_kind)
    seen = observations(covered, np.broadcast_to(float(level), n), sample_weight, reading)
    if order_by is None:
        keys, axis = places
    else:
        keys, axis = ordering(order_by, n, name)
        if axis.kind == "number" and are_outcomes(keys, _numbers("y", y)):
            raise holds_outcomes("y")
    side: Literal["", "low", "high"] = "high" if low is None else "low" if high is None else ""
    seen = replace(seen, keys=keys, axis=replace(axis, coverage=True, side=side))
    if clusters is not None:
        seen = replace(seen, clusters=cluster_codes(clusters, n))
    (result,) = calibrations(
        Apart([None], [OrderedSource(seen)]),
        method=method,
        confidence_level=confidence_level,
        rng=draws,
        clustered=clusters is not None,
    )
    return result


def _covered(y: Any, low: Any, high: Any) -> tuple[BoolArray, tuple[NumberArray, Axis]]:
    """Return which intervals cover, and the order that they have by themselves."""
    if low is None and high is None:
        sides = Argument("low"), " and ", Argument("high")
        raise InputError(*sides, " are both None: an interval has one end at least")
    happened = _numbers("y", y)
    ends = {
        name: _numbers(name, value, infinite=True)
        for name, value in (("low", low), ("high", high))
        if value is not None
    }
    for name, values in ends.items():
        if values.shape[0] != happened.shape[0]:
            raise one_value_a_row(name, values.shape[0], happened.shape[0])
    if len(ends) == 1:
        ((name, values),) = ends.items()
        covers = happened <= values if name == "high" else happened >= values
        return covers, (values + 0.0, Axis(name))
    crossed = ends["low"] > ends["high"]
    if crossed.any():
        row = int(np.argmax(crossed))
        above = f", above its upper end, {float(ends['high'][row])!r}"
        value = repr(float(ends["low"][row]))
        raise InputError(above, argument="low", value=value, row=row)
    covers = (ends["low"] <= happened) & (happened <= ends["high"])
    with np.errstate(invalid="ignore", over="ignore"):  # two infinite ends on one side; too wide
        width = ends["high"] - ends["low"]
    return covers, (np.nan_to_num(width, nan=0.0, posinf=np.inf) + 0.0, Axis("width"))


def _numbers(name: str, value: Any, *, infinite: bool = False) -> FloatArray:
    """Return numbers none of which is missing."""
    array = one_dimensional(name, value)
    values: FloatArray = real_array(name, array, keep=(np.float64,)).astype(np.float64, copy=False)
    _refuse_large(name, array)
    wrong = np.isnan(values) if infinite else ~np.isfinite(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        if np.isnan(values[row]):
            raise missing(name, "NaN", row)
        shown = repr(float(values[row]))
        uncovered = ", not a number that intervals can cover"
        raise InputError(uncovered, argument=name, value=shown, row=row)
    if not values.shape[0]:
        raise InputError(Argument(name), " is empty; there is nothing to assess")
    return values


def _refuse_large(name: str, array: np.ndarray[Any, Any]) -> None:
    """Refuse whole numbers that doubles would take for their neighbours."""
    if array.dtype.kind in "iu":
        large = (array > _EXACT) | (array < -_EXACT)
    elif array.dtype.kind == "O":
        large = np.array([isinstance(each, int) and abs(each) > _EXACT for each in array])
    else:
        return
    if large.any():
        row = int(np.argmax(large))
        complaint = ", and doubles do not tell whole numbers beyond 2^53 from their neighbours"
        hint = "; take the same number away from y, low and high first"
        raise InputError(complaint, argument=name, value=str(array[row]), row=row, hint=hint)
