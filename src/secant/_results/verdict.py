"""The words: is it calibrated, how far off is it, where, and what now.

Effects come before P-values, in events and points of probability. Nothing here computes; every
number shown is one of the result, rounded for reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant._metrics.ecce import METRICS
from secant._results import coverage_words, score_words
from secant._results.base import Said
from secant._results.remedies import what_now
from secant._results.where_words import direction_said, everyone, interval, where
from secant._results.wording import (
    events,
    level,
    metric,
    percent,
    points,
    predictions,
    pvalue,
    scores,
    statistic,
    wrong_scores,
)
from secant.errors import SecantError

if TYPE_CHECKING:
    from secant._metrics.ecce import Metric
    from secant._results.calibration import Calibration

__all__ = [
    "averages",
    "brief",
    "details",
    "direction",
    "facts",
    "headline",
    "impossible",
    "said",
    "size",
    "the_question",
    "within",
    "wrong_certainties",
]


def headline(result: Calibration) -> str:
    """Return the answer in a few words: the directions found, if any were."""
    wrong = wrong_certainties(result)
    if coverage_words.is_about(result) and result.tolerance.within is None:
        how_much = f" {result.tolerance.words}" if result.negligible else ""
        return coverage_words.headline(result, direction(result), how_much)
    if result.shown_within:
        return _within_headline(result, wrong)
    if not result.found:
        found = f"{wrong}; no other miscalibration found" if wrong else "No miscalibration found"
        if result.tolerance.within is None:
            return found
        return f"{found}, but not shown to be calibrated within {result.tolerance.within:g}"
    how_much = f" {result.tolerance.words}" if result.negligible else ""
    kind = direction(result)
    found = f"Miscalibrated{how_much}{f': {kind}' if kind else ''}"
    return f"{found}; {wrong}" if wrong else found


def _within_headline(result: Calibration, wrong: str) -> str:
    """Say that calibration is shown up to a tolerance, and what is beyond chance all the same."""
    assert result.tolerance.within is not None  # noqa: S101
    said = within(result, result.tolerance.within, result.tolerance.at).removesuffix(".")
    if result.found:
        said += f"; beyond chance it is {direction(result) or 'miscalibrated'}"
    return f"{said}; {wrong}" if wrong else said


def wrong_certainties(result: Calibration) -> str:
    """Say how many scores claimed to be certain and were wrong; nothing where none were."""
    return wrong_scores(result.n_forbidden) if result.n_forbidden else ""


def impossible(result: Calibration) -> str:
    """Say how many scores claimed to be certain and were wrong, as the subject of a sentence."""
    many = result.n_forbidden
    return f"{many:,} wrong score{'' if many == 1 else 's'} of exactly 0 or 1"


def direction(result: Calibration) -> str:
    """Return the directions in words; nothing where it is not known."""
    pieces = result.pieces
    if not pieces:
        return ""
    if result.direction == "alternating":
        return f"alternating, {len(pieces)} times"
    return direction_said(result, result.direction)


def within(result: Calibration, tolerance: float, at: float | None = None) -> str:
    """Say whether ECCE-R is shown to be within a tolerance: yes, no, or not enough data."""
    low, high = result.ecce_r_interval(at)
    sure = f"as far as {level(result.confidence_level if at is None else at)} goes"
    between = f"ECCE-R is between {metric(low)} and {metric(high)}"
    if high <= tolerance:
        return f"Calibrated within {tolerance:g}, {sure}: {between}."
    if low > tolerance:
        return f"Not calibrated within {tolerance:g}, {sure}: {between}."
    return (
        f"Not shown to be calibrated within {tolerance:g}: {between}, {sure}; more predictions "
        "would tell."
    )


def said(result: Calibration) -> Said:
    """Return the whole answer: five lines at most, with what to keep in mind."""
    known = not result.found and result.shown_within  # what is shown says more
    lines = [size(result), beside(result), what_now(result)]
    first = f"{headline(result)}."
    return Said(first, "" if known else where(result), lines, notes=result.warnings)


def brief(result: Calibration) -> str:
    """Return the metric that decides, its P-value and the number of predictions."""
    r = result.ecce_r
    along = "" if result.axis is None else f" along {result.axis.title}"
    return f"ECCE-R{along} {metric(r.value)} (P {pvalue(r)}, n = {result.n:,})"


def the_question(result: Calibration) -> str:
    """Say what another order than that of scores asks, and what it does not; else nothing."""
    if result.axis is None:
        return ""
    name = result.axis.title
    if result.axis.coverage:
        return coverage_words.question(result.axis)
    return (
        f"Along {name}: whether predictions are right on average at each {name}, not at each score."
    )


def size(result: Calibration) -> str:
    """Say how many events are misplaced, and whether chance explains that."""
    r = statistic(METRICS[0], result.ecce_r, **_by_chance(result, METRICS[0]))
    if not result.found:
        return r
    worst = result.worst
    if coverage_words.is_about(result):
        return f"{coverage_words.misplaced(result)}: {r}"
    many = events(result.ecce_r.value)
    one = many == "1"
    if worst.miscalibration < 0:
        what = f"{many} forecast event{'' if one else 's'} did not happen"
    else:
        what = f"{many} more event{'' if one else 's'} happened than forecast"
    place = "in the worst range"
    if not any((each.low, each.high) == (worst.low, worst.high) for each in result.pieces):
        place += f" ({scores(worst)})"
    even = ""
    if result.trifling:
        what = f"only {what}"
        even = f"; {predictions(result.n)} show even that"
    return f"In every 1,000 predictions {what} {place}{even}: {r}"


def beside(result: Calibration) -> str:
    """Return the proper scores, and what was forecast and came true on average."""
    if result.axis is not None:  # proper scores are about scores, and take another look
        return f"{averages(result)} {the_question(result)}"
    try:
        scored = score_words.both(result)
    except SecantError:  # as for ranges
        scored = ""
    return f"{scored} {averages(result)}".strip()


def details(result: Calibration) -> list[str]:
    """Return every number there is to say, a line each, and what usually helps."""
    said = [f"{headline(result)}.", *facts(result)]
    worst, pieces = result.worst, result.pieces
    about = "The worst range, which ECCE-R measures"
    if worst.n and worst not in pieces:
        said.append(f"{about}: {interval(worst)}")
    for each in pieces:
        which = f"{about}, is off" if each == worst else "Found to be off"
        said.append(f"{which}: {interval(each)}")
    if farthest := result.farthest:
        most = f"off by at least {points(farthest.at_least)} points"
        twice = any((p.low, p.high) == (farthest.low, farthest.high) for p in (worst, *pieces))
        own = " (with the limits of a search for it)" if twice else ""
        said.append(f"The steepest range, {most} somewhere{own}: {interval(farthest)}")
    if not coverage_words.is_about(result):  # which have one score, the level
        said += [score_words.one(each) for each in result.proper_scores if each is not None]
        said += [score_words.cox(result.cox), score_words.spiegelhalter(result.spiegelhalter)]
    if result.forbidden:
        said.append(f"{wrong_certainties(result)}, the first in row {result.forbidden[0]:,}.")
    if helps := what_now(result):
        said.append(helps)
    return said


def facts(result: Calibration) -> list[str]:
    """Return the numbers behind the answer, a line each."""
    at = level(result.confidence_level)
    said = []
    for named, value in result.statistics:
        low, high = (metric(limit) for limit in value.ci)
        told = statistic(named, value, in_full=True, **_by_chance(result, named))
        said.append(f"{told} {at} limits {low} to {high}.")
    return [f"{said[0]} Its P-value decides.", *said[1:], averages(result)]


def averages(result: Calibration) -> str:
    """Say how many predictions there are, what they were on average and what happened."""
    if coverage_words.is_about(result):
        return coverage_words.averages(result, everyone(result))
    forecast, outcome = percent(result.mean_score), percent(result.base_rate)
    return f"{everyone(result)}: mean forecast {forecast}, mean outcome {outcome}."


def _by_chance(result: Calibration, named: Metric) -> dict[str, Any]:
    """Return what calibrated predictions give on average, in words and in units of sigma."""
    who = "calibrated predictions"
    if coverage_words.is_about(result):
        who = coverage_words.as_promised(result)
    among = "" if result.n_clusters is None else " in such clusters"
    return {"expected": f"{who}{among} give", "mean": result.by_chance(named)}
