"""The words for proper scores, and for the older tests beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from secant._results.wording import metric, predictions, signed_pvalue

if TYPE_CHECKING:
    from secant._results.calibration import Calibration
    from secant._results.scores import Cox, Score, Spiegelhalter

__all__ = ["both", "cox", "dsc", "loss", "mcb", "one", "spiegelhalter"]


def both(result: Calibration) -> str:
    """Say what the forecasts lose, and how much of it is miscalibration; nothing if not known."""
    brier, log_loss = result.proper_scores
    said = []
    if brier is not None:
        said.append(f"Brier score {metric(brier.value)}")
        if result.found:  # or else it would be noise that is called miscalibration
            said[0] += f", of which {mcb(brier)} is miscalibration"
    if log_loss is not None:
        said.append(f"log loss {loss(log_loss)}")
    return f"{'; '.join(said)}." if said else ""


def one(score: Score) -> str:
    """Say what a score is made of."""
    name = score.name[0].upper() + score.name[1:]
    if score.value == math.inf:
        return f"{name} infinite: a score of exactly 0 or 1 was wrong."
    return (
        f"{name} {metric(score.value)} = {mcb(score)} miscalibration - "
        f"{metric(score.dsc)} discrimination + {metric(score.unc)} uncertainty."
    )


def cox(fit: Cox) -> str:
    """Say what Cox's regression gives, and what calibrated scores would."""
    if math.isnan(fit.slope):
        return "Cox's intercept and slope cannot be fitted: all scores, or all outcomes, are alike."
    if math.isinf(fit.slope):
        return "Cox's slope is infinite: the scores tell outcomes apart without a fault."
    known = not math.isnan(fit.intercept_error)
    errors = (
        f" +- {metric(each)}" if known else "" for each in (fit.intercept_error, fit.slope_error)
    )
    first, second = errors
    words = (
        f"Cox's intercept {metric(fit.intercept)}{first}, slope {metric(fit.slope)}{second}; "
        "calibrated: 0 and 1"
    )
    if known:
        words += f" (P {signed_pvalue(fit.pvalue)})"
    if fit.left_out:
        words += f"; without {predictions(fit.left_out)} with a score of exactly 0 or 1"
    return f"{words}."


def spiegelhalter(test: Spiegelhalter) -> str:
    """Say what Spiegelhalter's test gives."""
    if math.isnan(test.z):
        return "Spiegelhalter's Z cannot be had of these predictions."
    return f"Spiegelhalter's Z {metric(test.z)} (P {signed_pvalue(test.pvalue)})."


def loss(score: Score) -> str:
    """Write a score, which may be infinite."""
    return "infinite" if score.value == math.inf else metric(score.value)


def dsc(score: Score) -> str:
    """Write what discrimination gains, as one number where it is one to so many digits."""
    low, high = map(metric, score.dsc_bounds)
    return low if low == high else f"{low} to {high}"


def mcb(score: Score) -> str:
    """Write what miscalibration costs, as one number where it is one to so many digits."""
    low, high = map(metric, score.mcb_bounds)
    return low if low == high else f"{low} to {high}"
