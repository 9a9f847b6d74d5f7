"""The words: is it calibrated, how far off is it, where.

Effects come before P-values, in points of probability. Nothing here computes; every number shown
is one of the result, rounded for reading.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from secant import null

if TYPE_CHECKING:
    from secant._calibration import Calibration
    from secant._results import Interval, Statistic

__all__ = ["headline", "html", "interval", "text"]


def headline(result: Calibration) -> str:
    """Return the answer in two or three words."""
    return "Miscalibrated" if _found(result) else "No miscalibration found"


def text(result: Calibration) -> str:
    """Return the whole answer, a sentence or two a line."""
    return "\n".join([f"{headline(result)}. {_where(result)}", *_details(result)])


def html(result: Calibration) -> str:
    """Return the whole answer for a notebook."""
    from html import escape  # noqa: PLC0415  (its tables cost more to load than all of this module)

    lines = "<br>".join(escape(line) for line in _details(result))
    return (
        f"<div><b>{escape(headline(result))}.</b> {escape(_where(result))}"
        f'<div style="opacity:.8;margin-top:.4em">{lines}</div></div>'
    )


def interval(result: Interval) -> str:
    """Describe a range of scores in one sentence."""
    if not result.n:
        return f"No predictions with scores from {_score(result.low)} to {_score(result.high)}."
    low, high = (_points(limit) for limit in result.ci)
    return (
        f"Scores {_score(result.low)} to {_score(result.high)}, {_predictions(result.n)}: "
        f"mean forecast {_percent(result.mean_score)}, happened {_percent(result.mean_response)}, "
        f"miscalibration {_points(result.miscalibration)} points ({low} to {high})."
    )


def _found(result: Calibration) -> bool:
    return result.ecce_r.pvalue <= (1 - result.confidence_level) * (1 + 1e-12)


def _where(result: Calibration) -> str:
    """Say where and in which direction, or what would have been seen."""
    if not _found(result):
        return _would_have_shown(result)
    worst = result.worst
    sign = -1 if worst.miscalibration < 0 else 1
    limits = sorted(sign * limit for limit in worst.ci)
    return (
        f"Over scores {_score(worst.low)} to {_score(worst.high)} predictions are "
        f"{worst.direction} by {_points(abs(worst.miscalibration))} points "
        f"({100 * result.confidence_level:g}% limits {_points(limits[0])} to "
        f"{_points(limits[1])}, valid for all ranges at once; {_predictions(worst.n)})."
    )


def _would_have_shown(result: Calibration) -> str:
    """Say what these data could have shown: the effect that is found 99 times in 100."""
    if result.sigma == 0:
        return f"Every score is 0 or 1, and came true ({_predictions(result.n)})."
    detectable = result.detectable
    if detectable >= 1:
        return f"{_predictions(result.n)} can show next to nothing."
    return (
        f"With {_predictions(result.n)} an ECCE-R of {_metric(detectable)} or more would almost "
        "surely have shown."
    )


def _details(result: Calibration) -> list[str]:
    return [
        _statistic("ECCE-R", result.ecce_r, null.range),
        _statistic("ECCE-MAD", result.ecce_mad, null.mad),
        _averages(result),
        *(f"Note: {warning}" for warning in result.warnings),
    ]


def _averages(result: Calibration) -> str:
    forecast, happened = _percent(result.mean_score), _percent(result.base_rate)
    return f"{_predictions(result.n)}: mean forecast {forecast}, happened {happened}."


def _statistic(name: str, statistic: Statistic, law: null.BrownianLaw) -> str:
    return (
        f"{name} {_metric(statistic.value)} = {_metric(statistic.normalized)} sigma, where perfect "
        f"calibration gives about {law.mean:.2g} (P {_pvalue(statistic)}, {statistic.method})."
    )


# Numbers for reading ------------------------------------------------------------------------------


def _metric(value: float) -> str:
    """Write three significant digits, zeros at the end included."""
    if value == 0:
        return "0"
    return "infinitely many" if math.isinf(value) else f"{value:#.3g}".rstrip(".")


def _score(value: float) -> str:
    return f"{value:.3f}" if value == 0 or value >= 1e-3 else f"{value:.3g}"


def _points(value: float) -> str:
    """Write a difference of probabilities in percentage points."""
    return _metric(100 * value)


def _percent(value: float) -> str:
    text = _metric(100 * value)
    return f"{100 * value:.7g}%" if text == "100" and value < 1 else f"{text}%"


def _predictions(n: int) -> str:
    return f"{n:,} prediction{'' if n == 1 else 's'}"


def _pvalue(statistic: Statistic) -> str:
    """Write a P-value, also one too small for a double."""
    if statistic.pvalue >= 1e-3:
        # Around the usual levels a second digit would hide on which side it lies.
        return f"= {statistic.pvalue:.{3 if 0.005 <= statistic.pvalue < 0.1 else 2}g}"
    if statistic.pvalue > 1e-300:
        return f"= {statistic.pvalue:.1e}"
    if math.isinf(statistic.log10_pvalue):
        return "= 0"
    if statistic.bracket is not None and statistic.bracket[0] == 0:  # known to be below, no more
        return f"< 1e{math.ceil(statistic.log10_pvalue)}"
    exponent = math.floor(statistic.log10_pvalue)
    mantissa = f"{10 ** (statistic.log10_pvalue - exponent):.1f}"
    return f"= 1.0e{exponent + 1}" if mantissa == "10.0" else f"= {mantissa}e{exponent}"
