"""What each number of the page means, in a sentence or two."""

from __future__ import annotations

from secant._drawing.order import order_of
from secant._results.words import words_of

__all__ = ["DEFINITIONS", "definitions"]

_R = (
    "The most that forecasts and outcomes differ in total over any range of scores, divided by the "
    "number of predictions: the highest point of the cumulative curve minus its lowest. It has no "
    "bins to choose."
)
_MAD = "The largest distance of the cumulative curve from zero. It has no bins to choose."
_LIMITS = "Confidence limits of its true value."
_SIGMAS = (
    "The metric divided by sigma. By chance: what perfect calibration gives on average, for rows "
    "like these."
)
_P = (
    "The probability of a value at least this large under perfect calibration, and how it was "
    "obtained. A small one does not make an error important: look at its size."
)
_ECE = (
    "Predictions are put into 15 bins of equal {}; the mean absolute difference between forecast "
    "and outcome over the bins. The noise floor is what perfect calibration would give on average."
)

_PARTS = (
    "Miscalibration (what a monotone recalibration would take away) minus discrimination (what "
    "that gains over the base rate as forecast) plus uncertainty (the score of the base rate)."
)

DEFINITIONS = {
    "Predictions": "How many predictions were assessed.",
    "Clusters": (
        "In how many groups of rows that belong together, of which only the groups are independent."
    ),
    "Intervals": "How many intervals were assessed.",
    "Promised": "How often intervals said that they would cover what happened.",
    "Covered": "How often they did, ends included, to be compared with what was promised.",
    "Mean forecast": "The average of the predicted probabilities.",
    "Mean outcome": "How often the event happened, to be compared with the mean forecast.",
    "Steepest place": (
        "Over all ranges of scores, the one shown to be farthest off: somewhere predictions are "
        "off by at least this much, at the confidence level of the limits."
    ),
    "Brier score": (
        "The mean squared difference between forecast and outcome. What a monotone recalibration "
        "would take away is miscalibration, a little overstated since it is fitted to these data."
    ),
    "Log loss": (
        "Minus the mean logarithm of the probability given to what happened; infinite where a "
        "score of 0 or 1 was wrong."
    ),
    "Brier score, parts": _PARTS,
    "Log loss, parts": _PARTS,
    "Cox's intercept and slope": (
        "Logistic regression of outcomes on the logits of scores, with standard errors; calibrated "
        "scores have intercept 0 and slope 1, too extreme ones a slope below 1. Scores of exactly "
        "0 or 1 are left out."
    ),
    "Spiegelhalter's Z": (
        "The Brier score less what calibrated scores would give on average, in standard "
        "deviations; it finds scores that are too extreme or too moderate."
    ),
    "ECCE-R": _R,
    "ECCE-R, limits": _LIMITS,
    "ECCE-R, in sigma": _SIGMAS,
    "ECCE-R, P-value": _P,
    "ECCE-MAD": _MAD,
    "ECCE-MAD, limits": _LIMITS,
    "ECCE-MAD, in sigma": _SIGMAS,
    "ECCE-MAD, P-value": _P,
    "Sigma": (
        "The standard deviation of the last point of the cumulative curve under perfect "
        "calibration: the scale of noise."
    ),
    "Detectable ECCE-R": (
        "The true ECCE-R that predictions like these would show 99 times in 100. Smaller "
        "deviations may be there unseen."
    ),
    "ECE, 15 equal widths": _ECE.format("width"),
    "ECE, 15 equal counts": _ECE.format("count"),
    "ECE": (
        "The mean absolute difference between forecast and outcome over the bins, each counted "
        "by its share of the predictions."
    ),
    "noise floor": "The ECE that perfect calibration would give on average, in these bins.",
    "Scores of 0 or 1 that were wrong": (
        "Events that came after a forecast of exactly 0, or failed to come after one of exactly 1."
    ),
}

# What is said of predictions, and what of intervals in its place.
_OF_INTERVALS = (
    (
        "that forecasts and outcomes differ in total",
        "that what covers and what was promised differ",
    ),
    ("Perfect calibration", "Coverage as promised"),
    ("perfect calibration", "coverage as promised"),
    ("somewhere predictions are", "somewhere coverage is"),
    ("predictions", "intervals"),
)


def definitions(result: object) -> dict[str, str]:
    """Return what each number means for a result: along its axis, and of intervals where it is."""
    along = order_of(result).plural
    said = {}
    for label, says in DEFINITIONS.items():
        words = says.replace("range of scores", f"range of {along}")
        words = words.replace("ranges of scores", f"ranges of {along}")
        for ours, theirs in _OF_INTERVALS if words_of(result).coverage else ():
            words = words.replace(ours, theirs)
        said[label] = words
    return said
