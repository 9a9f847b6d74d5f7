"""The words: is it calibrated, how far off is it, where, and what now.

Effects come before P-values, in events and points of probability. Nothing here computes; every
number shown is one of the result, rounded for reading.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from secant._metrics.ecce import METRICS
from secant._results import coverage_words, score_words
from secant._results.wording import (
    axis_of,
    between,
    capital,
    events,
    level,
    limits,
    metric,
    off_by,
    percent,
    points,
    predictions,
    pvalue,
    scores,
    statistic,
    they_are,
    wrong_scores,
)
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._metrics.ecce import Metric
    from secant._results.calibration import Calibration
    from secant._results.parts import Interval

__all__ = [
    "LITTLE",
    "Little",
    "averages",
    "brief",
    "details",
    "direction_said",
    "facts",
    "headline",
    "html",
    "impossible",
    "in_one_line",
    "interval",
    "is_within",
    "lines",
    "notes",
    "pieces_found",
    "shape",
    "size",
    "text",
    "the_question",
    "tolerated",
    "what_now",
    "where",
    "within",
    "wrong_certainties",
]


class Little(NamedTuple):
    """What is called "very little": all limits must hold.

    ``ecce_r`` is the ECCE-R from which on it is more, ``miscalibration`` how far off some range
    may have been shown to be, ``share`` which share ECCE-R may be of all events, or of all
    failures: one event in 1,000 is not little where two were forecast. ``words`` is what it is
    called. ``within`` is what ECCE-R is asked to be shown within, if anything, and ``at`` the level
    of that.
    """

    ecce_r: float
    miscalibration: float
    share: float = 0.1
    words: str = "by very little"
    within: float | None = None
    at: float | None = None


LITTLE = Little(0.005, 0.02)


def tolerated(
    max_ecce_r: float | None,
    max_miscalibration: float | None,
    within: float | None = None,
    at: float | None = None,
) -> Little:
    """Return what tolerances given by the user make of "very little"."""
    if max_ecce_r is None and max_miscalibration is None:
        return LITTLE._replace(within=within, at=at)
    return Little(
        ecce_r=math.inf if max_ecce_r is None else max_ecce_r,
        miscalibration=math.inf if max_miscalibration is None else max_miscalibration,
        share=math.inf,
        words="within your tolerance",
        within=within,
        at=at,
    )


# So many ranges are named in a sentence; beyond, those that matter most.
_MOST_RANGES = 3
# One range that holds so much of the predictions is "everywhere".
_EVERYWHERE = 0.9


def headline(result: Calibration, little: Little = LITTLE) -> str:
    """Return the answer in a few words: the shape of what was found, if anything was."""
    wrong = wrong_certainties(result)
    if coverage_words.is_about(result) and little.within is None:
        how_much = f" {little.words}" if _is_little(result, little) else ""
        return coverage_words.headline(result, shape(result), how_much)
    if is_within(result, little):
        return _within_headline(result, little, wrong)
    if not result.found:
        found = f"{wrong}; no other miscalibration found" if wrong else "No miscalibration found"
        if little.within is None:
            return found
        return f"{found}, but not shown to be calibrated within {little.within:g}"
    how_much = f" {little.words}" if _is_little(result, little) else ""
    kind = shape(result)
    found = f"Miscalibrated{how_much}{f': {kind}' if kind else ''}"
    return f"{found}; {wrong}" if wrong else found


def is_within(result: Calibration, little: Little) -> bool:
    """Tell whether ECCE-R is asked to be shown within a tolerance, and is."""
    return little.within is not None and _between(result, little.at)[1] <= little.within


def _within_headline(result: Calibration, little: Little, wrong: str) -> str:
    """Say that calibration is shown up to a tolerance, and what is beyond chance all the same."""
    assert little.within is not None  # noqa: S101
    said = within(result, little.within, little.at).removesuffix(".")
    if result.found:
        said += f"; beyond chance it is {shape(result) or 'miscalibrated'}"
    return f"{said}; {wrong}" if wrong else said


def _between(result: Calibration, at: float | None) -> tuple[float, float]:
    """Return the limits of ECCE-R, at the level of the result unless another is given."""
    if at is None or at == result.confidence_level:
        return result.ecce_r.ci
    return result.ecce_r_interval(at)


def wrong_certainties(result: Calibration) -> str:
    """Say how many scores claimed to be certain and were wrong; nothing where none were."""
    return wrong_scores(result.n_forbidden) if result.n_forbidden else ""


def impossible(result: Calibration) -> str:
    """Say how many scores claimed to be certain and were wrong, as the subject of a sentence."""
    many = result.n_forbidden
    return f"{many:,} wrong score{'' if many == 1 else 's'} of exactly 0 or 1"


def shape(result: Calibration) -> str:
    """Return the shape in words; nothing where it is not known."""
    pieces = pieces_found(result)
    if not pieces:
        return ""
    if result.shape == "alternating":
        return f"alternating, {len(pieces)} times"
    return direction_said(result, result.shape)


def within(result: Calibration, tolerance: float, at: float | None = None) -> str:
    """Say whether ECCE-R is shown to be within a tolerance: yes, no, or not enough data."""
    low, high = _between(result, at)
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


def lines(result: Calibration, little: Little = LITTLE) -> list[str]:
    """Return the answer, a sentence or two a line; the first begins with the headline."""
    known = not result.found and is_within(result, little)  # what is shown says more
    said = [
        f"{headline(result, little)}. {'' if known else where(result)}".rstrip(),
        size(result, little),
        beside(result),
        what_now(result, little),
    ]
    return [line for line in said if line]


def text(result: Calibration) -> str:
    """Return the whole answer, with what to keep in mind: five lines at most."""
    return "\n".join([*lines(result), *in_one_line(result.warnings)])


def in_one_line(warnings: Sequence[str]) -> list[str]:
    """Return what to keep in mind as one line, if there is anything."""
    start = "Note" if len(warnings) == 1 else "Notes"
    return [f"{start}: {' '.join(warnings)}"] if warnings else []


def notes(result: Calibration) -> list[str]:
    """Return what to keep in mind, a line each."""
    return [f"Note: {warning}" for warning in result.warnings]


def html(result: Calibration) -> str:
    """Return the whole answer for a notebook."""
    from html import escape  # noqa: PLC0415  (its tables cost more to load than all of this module)

    first, *others = [*lines(result), *in_one_line(result.warnings)]
    start = f"{headline(result)}."
    return (
        f"<div><b>{escape(start)}</b>{escape(first.removeprefix(start))}"
        f'<div style="opacity:.8;margin-top:.4em">{"<br>".join(map(escape, others))}</div></div>'
    )


def brief(result: Calibration) -> str:
    """Return the metric that decides, its P-value and the number of predictions."""
    r = result.ecce_r
    along = "" if result.axis is None else f" along {result.axis.title}"
    return f"ECCE-R{along} {metric(r.value)} (P {pvalue(r)}, n = {result.n:,})"


def interval(result: Interval) -> str:
    """Describe a range of scores in one sentence."""
    axis = axis_of(result)
    if result.n and coverage_words.is_about(result):
        return coverage_words.interval(result)
    if not result.n:
        of = "with scores from" if axis is None else f"with {axis.title} from"
        return f"No {coverage_words.noun(axis)}s {of} {between(result)}."
    if result.certain:
        off = f"{result.direction} by {points(abs(result.miscalibration))} points"
        sure = limits(result.ci, result.miscalibration)
    else:
        off = f"off by {points(result.miscalibration)} points, which could be noise"
        sure = limits(result.ci)
    return (
        f"{capital(scores(result))}, {predictions(result.n)}: "
        f"mean forecast {percent(result.mean_score)}, mean outcome "
        f"{percent(result.mean_response)}, {off} ({sure})."
    )


def where(result: Calibration, *, farthest: bool = True) -> str:
    """Say where and in which direction, or what would have been seen.

    Without ``farthest`` the steepest place goes unsaid, for readers who have it before their eyes.
    """
    if not result.found:
        return _would_have_shown(result)
    pieces = pieces_found(result)
    if pieces:
        return _ranges(result, pieces) + (_even_farther(result, pieces) if farthest else "")
    wrong = _after_certainty(result)
    if wrong and result.sigma == 0:  # every score is 0 or 1: that is all there is to say
        return wrong
    worst = result.worst
    if coverage_words.is_about(result):
        largest = coverage_words.ranges(result, [worst])
        return f"These data do not show for certain where; the largest deviation: {largest}."
    off = off_by(
        worst, worst.miscalibration, at=result.confidence_level, count=predictions(worst.n)
    )
    if worst.certain:  # so there are pieces, which cannot be had: the data have changed
        return f"{capital(they_are(worst))} {off}."
    where_else = f"{wrong} Beyond that these" if wrong else "These"
    if result.axis is not None:
        largest = f"{scores(worst)}, where predictions were {off}"
    else:
        largest = f"over {scores(worst)}, which were {off}"
    return f"{where_else} data do not show for certain where; the largest deviation is {largest}."


def _after_certainty(result: Calibration) -> str:
    """Say after which scores of exactly 0 and 1 the opposite happened; nothing if after none."""
    said = []
    for certain, what in ((0, "happened"), (1, "did not happen")):
        wrong, n = result.certain_scores(certain)
        if wrong:
            many = f"{wrong:,} of {n:,} scores" if n > 1 else "the only score"
            said.append(f"{what} after {many} of exactly {certain}")
    return f"The event {' and '.join(said)}." if said else ""


def _ranges(result: Calibration, pieces: Sequence[Interval]) -> str:
    """Name the ranges that are off, in the order of scores."""
    named = sorted(pieces, key=lambda each: -abs(each.total))[:_MOST_RANGES]
    named.sort(key=lambda each: each.low)
    said = []
    for number, each in enumerate(named):
        by = f"{points(abs(each.miscalibration))} points"
        sure = limits(each.ci, each.miscalibration)
        if number == 0:
            they = they_are(each)
            about = f"{level(result.confidence_level)} limits {sure}; {predictions(each.n)}"
        else:
            they, about = scores(each), f"{sure}; {each.n:,}"
        how = direction_said(result, each.direction)
        said.append(f"{they} {how} by {by} ({about})")
    words, turns = ", ".join(said), "are in turn too low and too high"
    if coverage_words.is_about(result):
        words, turns = coverage_words.ranges(result, named), coverage_words.IN_TURN
    if len(pieces) == len(named):
        return f"{capital(words)}."
    return f"{len(pieces)} ranges of {_along(result)} {turns}; the largest deviations: {words}."


def _along(result: Calibration) -> str:
    """Say what predictions are put along."""
    return "scores" if result.axis is None else result.axis.title


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


def _even_farther(result: Calibration, pieces: Sequence[Interval]) -> str:
    """Name the place that is farthest off, where it is farther off than any piece seems to be.

    And than its own piece may be on average: else it says nothing that is not said.
    """
    farthest = _steepest(result)
    if farthest is None or farthest.at_least <= max(abs(p.miscalibration) for p in pieces):
        return ""
    how = direction_said(result, farthest.direction)
    most = f"{how} by at least {points(farthest.at_least)} points"
    around = next((p for p in pieces if p.low <= farthest.low and farthest.high <= p.high), None)
    if around is not None and around.direction != farthest.direction:
        they = they_are(farthest)
        if coverage_words.is_about(result):
            they = f"{scores(farthest)} coverage is"
        return f" But within these, {they} {most}."
    if around is not None and farthest.at_least <= max(map(abs, around.ci)):
        return ""
    who = "predictions are" if not coverage_words.is_about(result) else "coverage is"
    return f" Somewhere {who} {most} ({scores(farthest)})."


def size(result: Calibration, little: Little = LITTLE) -> str:
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
    if not any((each.low, each.high) == (worst.low, worst.high) for each in pieces_found(result)):
        place += f" ({scores(worst)})"
    even = ""
    if _is_trifle(result, little):
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


def what_now(result: Calibration, little: Little = LITTLE) -> str:
    """Return one line of what usually helps; nothing where nothing needs help."""
    if result.sigma == 0:
        every = "Every score is 0 or 1. " if result.found else ""  # or else it is said above
        return (
            f"{every}If these are predicted classes, assess the probabilities behind them "
            "(predict_proba in place of predict)."
        )
    if result.found and result.inverted:
        return (
            "Events are rarer where scores are higher: these look like probabilities of the other "
            "class; with scikit-learn take proba[:, 1], not proba[:, 0]."
        )
    not_certain_where = result.n_forbidden and not pieces_found(result)
    if result.found and not _is_trifle(result, little) and not not_certain_where:
        return _remedy(result)
    if result.n_forbidden:
        first = (
            f" (the first that was wrong is in row {result.forbidden[0]:,})"
            if result.forbidden
            else ""
        )
        return f"What usually helps: scores between, say, 0.001 and 0.999, never 0 or 1{first}."
    return ""


def _remedy(result: Calibration) -> str:
    pieces = pieces_found(result)
    if not pieces:
        return "What usually helps: more predictions, to see where."
    one = len(pieces) == 1
    if coverage_words.is_about(result):
        how = coverage_words.remedy(result)
    elif result.axis is not None:
        how = "a model, or a calibrator, that is fitted anew as time goes by"
        if result.axis.kind != "time":
            name = result.axis.title
            how = f"a model that knows {name}, or a calibrator that has it among its features"
    elif len(pieces) > 2:
        how = "isotonic regression, fitted on a thousand or more other predictions"
    elif not one or result.top_label:
        how = "temperature or beta scaling, fitted on other predictions"
    elif pieces[0].weight >= _EVERYWHERE:
        rarer = "rarer" if pieces[0].miscalibration < 0 else "more frequent"
        how = (
            f"a new intercept, if the event has become {rarer} since training; temperature "
            "scaling, if these are confidences in the most likely class"
        )
    else:
        how = "beta scaling, or isotonic regression with a thousand or more other predictions"
    return f"What usually helps: {how}."


def _is_little(result: Calibration, little: Little) -> bool:
    """Tell whether what was found is very little, everywhere."""
    if not result.found or result.n_forbidden or not pieces_found(result):
        return False
    rarer = min(*(min(rate, 1 - rate) for rate in (result.base_rate, result.mean_score)))
    if result.ecce_r.value >= min(little.ecce_r, little.share * rarer):
        return False
    farthest = _steepest(result)
    return farthest is None or farthest.at_least <= little.miscalibration


def _is_trifle(result: Calibration, little: Little) -> bool:
    """Tell whether it is little by itself too: what somebody tolerates need not be."""
    return _is_little(result, little) and _is_little(result, LITTLE)


def _steepest(result: Calibration) -> Interval | None:
    """Return the range that is shown to be farthest off; None where it cannot be had."""
    try:
        return result.steepest
    except SecantError:  # as for ranges
        return None


def pieces_found(result: Calibration) -> Sequence[Interval]:
    """Return the ranges found to be off, in the order of scores; none where they cannot be had."""
    try:
        found = result.intervals
    except SecantError:  # the data have changed since: what is known is still worth saying
        return ()
    return sorted(found, key=lambda each: each.low)


def direction_said(result: Calibration, direction: str) -> str:
    """Return a direction in the words of the trade: confidences are over- or underconfident."""
    if coverage_words.is_about(result):
        return coverage_words.shape(direction)
    if not result.top_label:
        return direction
    return {"too high": "overconfident", "too low": "underconfident"}.get(direction, direction)


def _would_have_shown(result: Calibration) -> str:
    """Say what these data could have shown: the effect that is found 99 times in 100."""
    if result.sigma == 0:
        return f"Every score is 0 or 1, and came true ({predictions(result.n)})."
    detectable = result.detectable
    if coverage_words.is_about(result):
        return coverage_words.would_have_shown(result, _everyone(result))
    if detectable >= 1:
        return f"{predictions(result.n)} can show next to nothing."
    many = events(detectable)
    return (
        f"With {_everyone(result)} {many} misplaced event{'' if many == '1' else 's'} in 1,000 "
        "would almost surely have shown."
    )


def details(result: Calibration, little: Little = LITTLE) -> list[str]:
    """Return every number there is to say, a line each, and what usually helps."""
    said = [f"{headline(result, little)}.", *facts(result)]
    worst, pieces = result.worst, pieces_found(result)
    about = "The worst range, which ECCE-R measures"
    if worst.n and worst not in pieces:
        said.append(f"{about}: {interval(worst)}")
    for each in pieces:
        which = f"{about}, is off" if each == worst else "Found to be off"
        said.append(f"{which}: {interval(each)}")
    if farthest := _steepest(result):
        most = f"off by at least {points(farthest.at_least)} points"
        twice = any((p.low, p.high) == (farthest.low, farthest.high) for p in (worst, *pieces))
        own = " (with the limits of a search for it)" if twice else ""
        said.append(f"The steepest range, {most} somewhere{own}: {interval(farthest)}")
    if not coverage_words.is_about(result):  # which have one score, the level
        said += [score_words.one(each) for each in result.proper_scores if each is not None]
        said += [score_words.cox(result.cox), score_words.spiegelhalter(result.spiegelhalter)]
    if result.forbidden:
        said.append(f"{wrong_certainties(result)}, the first in row {result.forbidden[0]:,}.")
    if helps := what_now(result, little):
        said.append(helps)
    return said


def facts(result: Calibration) -> list[str]:
    """Return the numbers behind the answer, a line each."""
    at = level(result.confidence_level)
    said = []
    for named, value in result.statistics:
        low, high = (metric(limit) for limit in value.ci)
        told = statistic(named, value, **_by_chance(result, named))
        said.append(f"{told} {at} limits {low} to {high}.")
    return [f"{said[0]} Its P-value decides.", *said[1:], averages(result)]


def averages(result: Calibration) -> str:
    """Say how many predictions there are, what they were on average and what happened."""
    if coverage_words.is_about(result):
        return coverage_words.averages(result, _everyone(result))
    forecast, outcome = percent(result.mean_score), percent(result.base_rate)
    return f"{_everyone(result)}: mean forecast {forecast}, mean outcome {outcome}."


def _by_chance(result: Calibration, named: Metric) -> dict[str, Any]:
    """Return what calibrated predictions give on average, in words and in units of sigma."""
    who = "calibrated predictions"
    if coverage_words.is_about(result):
        who = coverage_words.as_promised(result)
    among = "" if result.n_clusters is None else " in such clusters"
    return {"expected": f"{who}{among} give", "mean": result.by_chance(named)}


def _everyone(result: Calibration) -> str:
    """Say how many predictions there are, and in how many clusters."""
    if result.n_clusters is None:
        return predictions(result.n)
    return f"{predictions(result.n)} among {result.n_clusters:,} clusters"
