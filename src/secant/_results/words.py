"""The vocabulary: what is said of probabilities, and in its place of intervals and quantiles.

Sentences have gaps in braces, which :mod:`secant._results.verdict` fills with the numbers of a
result or of a range. Whoever wants another word for the event or the forecast changes it here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from secant._input.axis import Axis

__all__ = ["Words", "words_along", "words_of"]


@dataclass(frozen=True)
class Words:
    """What one kind of forecast, what came of it and being off are called.

    Attributes
    ----------
    noun : str
        One forecast.
    forecast, outcome : str
        Heads of columns: what was said, and what came of it.
    coverage : bool
        Whether these are intervals or quantiles, which have one score, the level.
    found, probably, not_found : str
        How the answer begins: where it is beyond doubt, where it is not far from chance, and else.
    off : dict
        What directions are called.
    cover : tuple of str
        What one of them does, and what several do.
    by : str
        How far off a range is.
    first, further : str
        A range found to be off, and those after it.
    turns : str
        What more ranges than can be named are.
    uncertain : str
        That it is not certain where; begins after what else is certain.
    interval : str
        A range in a sentence.
    within, somewhere : str
        Who is off still farther, within a range and anywhere.
    over, fewer, more : str
        The range that ECCE-R measures, and what happened there.
    even : str
        That a trifle takes many predictions to show.
    mean_right, mean_wrong, mean_unsure : str
        Whether all is right on average: yes, no, or not certain with the spread of the outcomes.
    shape_right, shape_wrong, no_shape, both, together : str
        Whether the rest is right: yes, no, or that there is none; directions where both are wrong,
        and that only both together are beyond chance.
    unnamed : str
        That no range can be named.
    averages, question, remedy : str
        What was on average, what another order asks, and what usually helps there.
    right : str
        Those of which chance alone is left.
    never, always, few : str
        Notes on outcomes that are all the same, and on few events.
    """

    noun: str = "prediction"
    forecast: str = "forecast"
    outcome: str = "outcome"
    coverage: bool = False
    found: str = "Miscalibrated"
    probably: str = "Probably miscalibrated"
    not_found: str = "No miscalibration found"
    off: dict[str, str] = field(default_factory=dict)
    cover: tuple[str, str] = ("", "")
    by: str = "{off} by {points} points"
    first: str = "{they} {by} ({level} limits {limits}; {n})"
    further: str = "{scores} {by} ({limits}; {count})"
    turns: str = "are in turn too low and too high"
    uncertain: str = (
        "data do not show for certain where; the largest deviation is over {scores}, which were "
        "{by} ({level} limits {limits}; {n})."
    )
    interval: str = "{scores}, {n}: mean forecast {forecast}, mean outcome {outcome}, {by_or_noise}"
    within: str = "{they}"
    somewhere: str = "predictions are"
    over: str = "over {scores}"
    fewer: str = "{only}{many} fewer event{s} happened than forecast"
    more: str = "{only}{many} more event{s} happened than forecast"
    even: str = "; {n} show even that"
    mean_right: str = "right on average (P {p})"
    mean_wrong: str = "wrong on average (P {p}): {off}"
    mean_unsure: str = "not certain on average (P {p}, but larger with the spread of outcomes)"
    shape_right: str = "right in shape (P {p})"
    shape_wrong: str = "wrong in shape (P {p}){off}"
    no_shape: str = "there is no shape to test"
    both: str = "{mean} on average, and {shape}"
    together: str = (
        "wrong on average (P {mean}) and in shape (P {shape}) taken together, in neither by itself"
    )
    unnamed: str = "No range can be named: ECCE-R by itself (P {p}) could be chance."
    averages: str = "{everyone}: mean forecast {forecast}, mean outcome {outcome}."
    question: str = (
        "Along {name}: whether predictions are right on average at each {name}, not at each score."
    )
    remedy: str = ""
    right: str = "calibrated predictions"
    never: str = "The event never happened; check the outcomes."
    always: str = "The event always happened; check the outcomes."
    few: str = "Few events were expected, or few failures: confidence limits are approximate."

    def say(self, direction: str) -> str:
        """Return a direction, or several, in these words."""
        for ours, theirs in self.off.items():
            direction = direction.replace(ours, theirs)
        return direction

    def many(self, n: int) -> str:
        """Write how many forecasts."""
        return f"{n:,} {self.noun}{'' if n == 1 else 's'}"


PROBABILITIES = Words()
_ALONG: dict[str, Any] = {
    "over": "{scores}",
    "shape_right": "steady along {name} (P {p})",
    "shape_wrong": "not steady along {name} (P {p}){off}",
    "both": "{mean} on average, not steady along {name}",
    "no_shape": "nothing to test along {name}",
    "together": (
        "wrong on average (P {mean}) and along {name} (P {shape}) taken together, in neither by "
        "itself"
    ),
}
# Confidences in the most likely class.
CONFIDENCES = replace(PROBABILITIES, off={"too high": "overconfident", "too low": "underconfident"})
ALONG = replace(
    PROBABILITIES,
    **_ALONG,
    uncertain=(
        "data do not show for certain where; the largest deviation is {scores}, where predictions "
        "were {by} ({level} limits {limits}; {n})."
    ),
    remedy="a model that knows {name}, or a calibrator that has it among its features",
)
IN_TIME = replace(ALONG, remedy="a model, or a calibrator, that is fitted anew as time goes by")
INTERVALS = Words(
    noun="interval",
    forecast="promised",
    outcome="covered",
    coverage=True,
    found="Coverage is off",
    probably="Coverage is probably off",
    not_found="No fault in coverage found",
    off={"too high": "too little", "too low": "too much", "even": "as promised"},
    cover=("covers", "cover"),
    by="{points} points {off}",
    first="{scores} they cover {outcome} where {promised} was promised ({by}, {level} limits "
    "{limits}; {n})",
    further="{scores} they cover {outcome} ({by}, {limits}; {count})",
    turns="have in turn too much coverage and too little",
    uncertain="data do not show for certain where; the largest deviation: {first}.",
    interval="{scores}, {n} cover {outcome} where {promised} was promised, {by_or_noise}",
    within="{scores} coverage is",
    somewhere="coverage is",
    fewer="{many} fewer {cover} than promised",
    more="{many} more {cover} than promised",
    even="",
    averages="{everyone}: {outcome} cover where {promised} was promised.",
    question=(
        "Along {name}: whether intervals cover as promised on average at each {name}, not whether "
        "they could be narrower."
    ),
    remedy="conformal prediction on other rows, with widths that adapt to how hard a row is",
    right="intervals that keep their promise",
    never="No interval covers; check y, low and high.",
    always="Every interval covers; check y, low and high.",
    few="Few intervals were expected to miss, or few to cover: confidence limits are approximate.",
    **_ALONG,
)


def _quantiles(side: str, place: str, outcome: str) -> Words:
    """Return the words of quantiles: those of intervals, that are not said to cover."""
    share = f"are {place} y {{outcome}} of the time"
    return replace(
        INTERVALS,
        noun="quantile",
        outcome=outcome,
        cover=(f"is {place} y", f"are {place} y"),
        first=INTERVALS.first.replace("cover {outcome}", share),
        further=INTERVALS.further.replace("cover {outcome}", share),
        interval=INTERVALS.interval.replace("cover {outcome}", share),
        averages=INTERVALS.averages.replace("cover", f"are {place} y"),
        question=(
            f"Along {{name}}: whether quantiles are {place} y as often as promised, on average at "
            "each value of {name}."
        ),
        remedy="conformal prediction on other rows, which moves quantiles to where they should be",
        right="quantiles that keep their promise",
        never=f"No quantile is {place} y; check y and {side}.",
        always=f"Every quantile is {place} y; check y and {side}.",
        few=INTERVALS.few.replace("intervals", "quantiles").replace("cover", "hold"),
    )


QUANTILES = {
    "low": _quantiles("low", "at or below", "y at least"),
    "high": _quantiles("high", "at or above", "y at most"),
}


def words_along(axis: Axis | None, *, top_label: bool = False) -> Words:
    """Return the words for what is put along an axis, or in the order of scores."""
    if axis is None:
        return CONFIDENCES if top_label else PROBABILITIES
    if axis.coverage:
        return QUANTILES[axis.side] if axis.side else INTERVALS
    words = IN_TIME if axis.kind == "time" else ALONG
    return replace(words, off=CONFIDENCES.off) if top_label else words


def words_of(result: Any) -> Words:
    """Return the words for a result, or for a range of one."""
    axis = getattr(result, "axis", None) or getattr(result, "_axis", None)
    return words_along(axis, top_label=getattr(result, "top_label", False))
