"""Numbers rounded for reading; full precision is in the results themselves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from secant._base.visible import visible

if TYPE_CHECKING:
    from secant._input.axis import Axis
    from secant._metrics.ecce import Metric
    from secant._results.assessments import Group
    from secant._results.calibration import Calibration
    from secant._results.group_comparison import Contrast
    from secant._results.parts import Bridge, Interval, MeanDifference, Statistic

__all__ = [
    "adjusted_pvalue",
    "axis_of",
    "between",
    "capital",
    "decided",
    "events",
    "how",
    "left_out",
    "level",
    "limits",
    "metric",
    "off_by",
    "or_noise",
    "percent",
    "plain_pvalue",
    "points",
    "predictions",
    "pvalue",
    "score",
    "scores",
    "signed_pvalue",
    "statistic",
    "they_are",
    "visible",
    "wrong_scores",
]

# Units of sigma below which a metric is what rounding leaves of 0.
_ROUNDING = 1e-12
# Levels that P-values are compared with.
_LEVELS = (0.01, 0.05, 0.1)


def metric(value: float) -> str:
    """Write three significant digits, zeros at the end included."""
    if value == 0:
        return "0"
    return "infinitely many" if math.isinf(value) else f"{value:#.3g}".rstrip(".")


def score(value: float) -> str:
    """Write a score with three decimals, or three digits where it is very small."""
    return f"{value:.3f}" if value == 0 or value >= 1e-3 else f"{value:.3g}"


def points(value: float) -> str:
    """Write a difference of probabilities in percentage points."""
    return metric(100 * value)


def percent(value: float) -> str:
    """Write a probability; what is less than 100% is never written so."""
    text = metric(100 * value)
    return f"{100 * value:.7g}%" if text == "100" and value < 1 else f"{text}%"


def level(confidence: float) -> str:
    """Write a confidence level with all its digits, as few as that may be.

    Examples
    --------
    >>> [level(each) for each in (0.95, 0.975, 0.57, 0.999)]
    ['95%', '97.5%', '57%', '99.9%']
    """
    return f"{100 * confidence:.10g}%"  # 100 * 0.57 is 56.99999999999999


def predictions(n: int) -> str:
    """Write how many predictions."""
    return f"{n:,} prediction{'' if n == 1 else 's'}"


def left_out(rows: int) -> str:
    """Say how many rows were left out."""
    row, was = ("row", "was") if rows == 1 else ("rows", "were")
    return f"{rows:,} {row} without a score or an outcome {was} left out."


def wrong_scores(many: int) -> str:
    """Write how many scores claimed to be certain and were wrong."""
    were = "score of exactly 0 or 1 was" if many == 1 else "scores of exactly 0 or 1 were"
    return f"{many:,} {were} wrong"


def between(range_of: Interval | Contrast) -> str:
    """Write the ends of a range, of scores or of what predictions are put along."""
    axis = axis_of(range_of)
    if axis is None:
        return " to ".join(ends(range_of))
    return axis.between_values(range_of.low, range_of.high)


def ends(range_of: Interval | Contrast) -> tuple[str, str]:
    """Write the ends of a range of scores; of one near 1, with all that tells it from 1.

    "0.5 to 1.000" says that next to nothing is above: an end below other scores has more decimals.
    """
    low, high = range_of.low, range_of.high
    if score(low) == "1.000" and low < 1:
        return f"{low:.15g}", f"{high:.15g}"
    if score(high) == "1.000" and high < 1 and not getattr(range_of, "_last", True):
        return score(low), f"{high:.{math.ceil(-math.log10(1 - high))}f}".rstrip("0")
    return score(low), score(high)


def capital(words: str) -> str:
    """Return words as the start of a sentence; names within them stay as they are."""
    return f"{words[:1].upper()}{words[1:]}"


def axis_of(range_of: Interval | Contrast) -> Axis | None:
    """Return the axis that a range is on; None where that is the scores."""
    found: Axis | None = getattr(range_of, "_axis", None)
    return found


def they_are(range_of: Interval | Contrast) -> str:
    """Begin a sentence on what predictions of a range are: "scores 0.1 to 0.2 are".

    Along another axis: "where age is 40 to 52 predictions are", "from March 3 to May 9, 2026
    predictions were".
    """
    axis = axis_of(range_of)
    if axis is None:
        return f"{scores(range_of)} are"
    return f"{scores(range_of)} predictions {'were' if axis.kind == 'time' else 'are'}"


def scores(range_of: Interval | Contrast) -> str:
    """Write a range of scores, or the one score that it is to so many digits.

    Of a range along another axis: where it is.
    """
    axis = axis_of(range_of)
    if axis is not None:
        return axis.place(axis.key(range_of.low), axis.key(range_of.high))
    low, high = ends(range_of)
    return f"scores of {low}" if low == high else f"scores {low} to {high}"


def limits(ci: tuple[float, float], amount: float = 1.0) -> str:
    """Write limits in points, counted in the direction of an amount."""
    sign = -1 if amount < 0 else 1
    low, high = (points(limit) for limit in sorted(sign * limit for limit in ci))
    return f"{low} to {high}"


def off_by(
    range_of: Interval | Contrast, amount: float, *, at: float, count: str, valid_for: str = ""
) -> str:
    """Write how far off a range is, with limits in the same direction and what they hold for."""
    between = f"{level(at)} limits {limits(range_of.ci, amount)}"
    holding = f", valid for {valid_for}" if valid_for else ""
    return f"{range_of.direction} by {points(abs(amount))} points ({between}{holding}; {count})"


def or_noise(range_of: Interval, by: str) -> str:
    """Write how far off a range is, in words for where that is certain, with limits."""
    amount = range_of.miscalibration
    if range_of.certain:
        return f"{by} ({limits(range_of.ci, amount)})"
    return f"off by {points(amount)} points, which could be noise ({limits(range_of.ci)})"


def events(share: float) -> str:
    """Write how many events in 1,000 predictions a difference is.

    Examples
    --------
    >>> [events(each) for each in (0.0229, 0.00044, 0.00996, 0.2, 0)]
    ['23', '0.44', '10', '200', '0']
    """
    return f"{1000 * share:,.0f}" if share >= 0.00995 else f"{1000 * share:.2g}"


def how(value: Statistic | MeanDifference | Bridge) -> str:
    """Return how a P-value was obtained, and from how many draws if any."""
    return value.method if value.draws is None else f"{value.method}, {value.draws:,} draws"


def statistic(
    named: Metric,
    value: Statistic,
    *,
    expected: str,
    mean: float | None = None,
    in_full: bool = False,
) -> str:
    """Write a metric, what is expected of it by chance, and its P-value.

    By chance it is that of its law on average, in units of sigma, unless ``mean`` is given. In full
    it says from how many draws the P-value comes.
    """
    obtained = f"P {pvalue(value)}, {how(value) if in_full else value.method}"
    if value.value == 0 or value.normalized < _ROUNDING:
        return f"{named.name} 0 ({obtained})."
    if math.isinf(value.normalized):  # every score is 0 or 1, and nothing is left to chance
        return f"{named.name} {metric(value.value)} ({expected} 0; {obtained})."
    return (
        f"{named.name} {metric(value.value)}, or {metric(value.normalized)} sigma ({expected} "
        f"{named.law.mean if mean is None else mean:.2g}; {obtained})."
    )


def pvalue(statistic: Statistic | MeanDifference | Bridge) -> str:
    """Write a P-value with what stands before it."""
    return signed_pvalue(statistic.pvalue, statistic.method, statistic.log10_pvalue)


def decided(result: Calibration) -> str:
    """Write the P-value that decides with what stands before it."""
    return signed_pvalue(result.pvalue, result.pvalue_method, result.log10_pvalue)


def adjusted_pvalue(row: Group) -> str:
    """Write what became of the P-value of a group when it was adjusted for the others."""
    alone, log10 = row.calibration, row.log10_pvalue
    lost = math.isinf(log10) and math.isfinite(alone.log10_pvalue)  # where it was adjusted
    return plain_pvalue(row.adjusted_pvalue, alone.pvalue_method, None if lost else log10)


def plain_pvalue(value: float, method: str = "", log10: float | None = None) -> str:
    """Write a P-value as a cell of a table, where "=" goes without saying."""
    return signed_pvalue(value, method, log10).removeprefix("= ")


def signed_pvalue(value: float, method: str = "", log10: float | None = None) -> str:
    """Write a P-value with what stands before it: every one that is shown is written here.

    An upper bound is rounded up, so that it is one as it is written too. Below 1e-300 digits come
    from the decimal logarithm; where that is not known the P-value is only known to be smaller.

    Examples
    --------
    >>> signed_pvalue(0.0478), signed_pvalue(0.0478, "simulated"), signed_pvalue(0.1449)
    ('= 0.0478', '= 0.048', '= 0.14')
    >>> signed_pvalue(0.1449, "upper bound"), signed_pvalue(0.0), signed_pvalue(0.0, log10=-400.5)
    ('<= 0.15', '< 1e-300', '= 3.2e-401')
    """
    sign = "<=" if method == "upper bound" and value < 1 else "="
    if value > 1e-300:
        return f"{sign} {_rounded(value, method)}"
    if log10 is None:
        return "< 1e-300"
    return f"{sign} {_tiny(log10, up=sign == '<=')}"


def _rounded(value: float, method: str) -> str:
    """Write a P-value with as many digits as a reader needs: two, or three near usual levels."""
    # Around the usual levels a second digit may hide on which side it lies; where it does not, a
    # third would be more than a hundred draws can tell.
    hides = method != "simulated" or float(f"{value:.2g}") in _LEVELS
    digits = 3 if 0.005 <= value < 0.1 and hides else 2
    if method == "upper bound":
        value = _rounded_up(value, digits)
    return f"{value:.{digits}g}" if value >= 1e-3 else f"{value:.1e}"


def _rounded_up(value: float, digits: int) -> float:
    """Round up to so many digits, unless no more than rounding errors are above."""
    last = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return math.ceil(value / last * (1 - 1e-9)) * last


def _tiny(log10: float, *, up: bool) -> str:
    """Write a P-value that is too small for a double."""
    if math.isinf(log10):
        return "0"
    exponent = math.floor(log10)
    mantissa = 10 ** (log10 - exponent)
    written = f"{_rounded_up(mantissa, 2) if up else mantissa:.1f}"
    return f"1.0e{exponent + 1}" if written == "10.0" else f"{written}e{exponent}"
