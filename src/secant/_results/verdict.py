"""The words: is it calibrated, how far off is it, where, and what now.

Effects come before P-values, in events and points of probability. Nothing here computes; every
number shown is one of the result, rounded for reading.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from secant._inference.adjust import ADJUSTMENTS
from secant._metrics.ecce import METRICS
from secant._results.tables import html_table, text_table
from secant._results.wording import (
    adjusted_pvalue,
    axis_of,
    between,
    capital,
    events,
    level,
    limits,
    metric,
    off_by,
    percent,
    plain_pvalue,
    points,
    predictions,
    pvalue,
    scores,
    statistic,
    they_are,
    visible,
    wrong_scores,
)
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._metrics.ecce import Metric
    from secant._results.assessments import Assessments, Group
    from secant._results.calibration import Calibration
    from secant._results.models import Models
    from secant._results.parts import Cox, Interval, Score, Spiegelhalter

__all__ = [
    "LITTLE",
    "Little",
    "averages",
    "brief",
    "cox",
    "details",
    "facts",
    "group",
    "group_name",
    "groups_headline",
    "groups_html",
    "groups_table",
    "groups_text",
    "groups_words",
    "headline",
    "html",
    "impossible",
    "interval",
    "is_within",
    "lines",
    "models_html",
    "models_table",
    "models_text",
    "models_words",
    "notes",
    "proper_score",
    "proper_scores",
    "shape",
    "size",
    "spiegelhalter",
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
    pieces = _pieces(result)
    if not pieces:
        return ""
    if result.shape == "alternating":
        return f"alternating, {len(pieces)} times"
    return _said(result, result.shape)


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
    """Return the whole answer, with what to keep in mind."""
    return "\n".join([*lines(result), *notes(result)])


def notes(result: Calibration) -> list[str]:
    """Return what to keep in mind, a line each."""
    return [f"Note: {warning}" for warning in result.warnings]


def html(result: Calibration) -> str:
    """Return the whole answer for a notebook."""
    from html import escape  # noqa: PLC0415  (its tables cost more to load than all of this module)

    first, *others = [*lines(result), *notes(result)]
    start = f"{headline(result)}."
    return (
        f"<div><b>{escape(start)}</b>{escape(first.removeprefix(start))}"
        f'<div style="opacity:.8;margin-top:.4em">{"<br>".join(map(escape, others))}</div></div>'
    )


def brief(result: Calibration) -> str:
    """Return the metric that decides, its P-value and the number of predictions."""
    r = result.ecce_r
    return f"ECCE-R {metric(r.value)} (P {pvalue(r)}, n = {result.n:,})"


def interval(result: Interval) -> str:
    """Describe a range of scores in one sentence."""
    axis = axis_of(result)
    if not result.n:
        of = "with scores from" if axis is None else f"with {axis.title} from"
        return f"No predictions {of} {between(result)}."
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
    pieces = _pieces(result)
    if pieces:
        return _ranges(result, pieces) + (_even_farther(result, pieces) if farthest else "")
    wrong = _after_certainty(result)
    if wrong and result.sigma == 0:  # every score is 0 or 1: that is all there is to say
        return wrong
    worst = result.worst
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
        said.append(f"{they} {_said(result, each.direction)} by {by} ({about})")
    words = ", ".join(said)
    if len(pieces) == len(named):
        return f"{capital(words)}."
    return (
        f"{len(pieces)} ranges of {_along(result)} are in turn too low and too high; the largest "
        f"deviations: {words}."
    )


def _along(result: Calibration) -> str:
    """Say what predictions are put along."""
    return "scores" if result.axis is None else result.axis.title


def the_question(result: Calibration) -> str:
    """Say what another order than that of scores asks, and what it does not; else nothing."""
    if result.axis is None:
        return ""
    name = result.axis.title
    return (
        f"Along {name}: whether predictions are right on average at each {name}, not at each score."
    )


def _even_farther(result: Calibration, pieces: Sequence[Interval]) -> str:
    """Name the place that is farthest off, where it is farther off than any piece seems to be."""
    farthest = _steepest(result)
    if farthest is None or farthest.at_least <= max(abs(p.miscalibration) for p in pieces):
        return ""
    how = _said(result, farthest.direction)
    most = f"{how} by at least {points(farthest.at_least)} points"
    around = next((p for p in pieces if p.low <= farthest.low and farthest.high <= p.high), None)
    if around is not None and around.direction != farthest.direction:
        return f" But within these, {they_are(farthest)} {most}."
    return f" Somewhere predictions are {most} ({scores(farthest)})."


def size(result: Calibration, little: Little = LITTLE) -> str:
    """Say how many events are misplaced, and whether chance explains that."""
    r = statistic(METRICS[0], result.ecce_r, **_by_chance(result, METRICS[0]))
    if not result.found:
        return r
    worst = result.worst
    many = events(result.ecce_r.value)
    one = many == "1"
    if worst.miscalibration < 0:
        what = f"{many} forecast event{'' if one else 's'} did not happen"
    else:
        what = f"{many} more event{'' if one else 's'} happened than forecast"
    place = "in the worst range"
    if not any((each.low, each.high) == (worst.low, worst.high) for each in _pieces(result)):
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
        scored = proper_scores(result)
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
    not_certain_where = result.n_forbidden and not _pieces(result)
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
    pieces = _pieces(result)
    if not pieces:
        return "What usually helps: more predictions, to see where."
    one = len(pieces) == 1
    if result.axis is not None:
        name = result.axis.title
        anew = result.axis.kind == "time"
        fit = "fitted anew as time goes by" if anew else f"that knows {name}"
        how = f"a model {fit}, or a calibrator that has it among its features"
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
    if not result.found or result.n_forbidden or not _pieces(result):
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


def _pieces(result: Calibration) -> Sequence[Interval]:
    """Return the ranges found to be off, in the order of scores; none where they cannot be had."""
    try:
        found = result.intervals
    except SecantError:  # the data have changed since: what is known is still worth saying
        return ()
    return sorted(found, key=lambda each: each.low)


def _said(result: Calibration, direction: str) -> str:
    """Return a direction in the words of the trade: confidences are over- or underconfident."""
    if not result.top_label:
        return direction
    return {"too high": "overconfident", "too low": "underconfident"}.get(direction, direction)


def _would_have_shown(result: Calibration) -> str:
    """Say what these data could have shown: the effect that is found 99 times in 100."""
    if result.sigma == 0:
        return f"Every score is 0 or 1, and came true ({predictions(result.n)})."
    detectable = result.detectable
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
    worst, pieces = result.worst, _pieces(result)
    about = "the worst range, which ECCE-R is about"
    if worst.n and worst not in pieces:
        said.append(f"T{about[1:]}: {interval(worst)}")
    for each in pieces:
        which = f", {about}" if each == worst else ""
        said.append(f"Found to be off{which}: {interval(each)}")
    if farthest := _steepest(result):
        most = f"off by at least {points(farthest.at_least)} points"
        said.append(f"The steepest range, {most} somewhere: {interval(farthest)}")
    said += [proper_score(each) for each in result.proper_scores if each is not None]
    said += [cox(result.cox), spiegelhalter(result.spiegelhalter)]
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
    return [f"{said[0]} This decides.", *said[1:], averages(result)]


def averages(result: Calibration) -> str:
    """Say how many predictions there are, what they were on average and what happened."""
    forecast, outcome = percent(result.mean_score), percent(result.base_rate)
    return f"{_everyone(result)}: mean forecast {forecast}, mean outcome {outcome}."


def _by_chance(result: Calibration, named: Metric) -> dict[str, Any]:
    """Return what calibrated predictions give on average, in words and in units of sigma."""
    who = "predictions" if result.n_clusters is None else "clusters like these"
    return {"expected": f"calibrated {who} give", "mean": result.by_chance(named)}


def _everyone(result: Calibration) -> str:
    """Say how many predictions there are, and in how many clusters."""
    if result.n_clusters is None:
        return predictions(result.n)
    return f"{predictions(result.n)} among {result.n_clusters:,} clusters"


def proper_scores(result: Calibration) -> str:
    """Say what the forecasts lose, and how much of it is miscalibration; nothing if not known."""
    brier, log_loss = result.proper_scores
    said = []
    if brier is not None:
        said.append(f"Brier score {metric(brier.value)}")
        if result.found:  # or else it would be noise that is called miscalibration
            said[0] += f", of which {_mcb(brier)} is miscalibration"
    if log_loss is not None:
        said.append(f"log loss {_loss(log_loss)}")
    return f"{'; '.join(said)}." if said else ""


def proper_score(score: Score) -> str:
    """Say what a score is made of."""
    name = score.name[0].upper() + score.name[1:]
    if score.value == math.inf:
        return f"{name} infinite: a score of exactly 0 or 1 was wrong."
    return (
        f"{name} {metric(score.value)} = {_mcb(score)} miscalibration - "
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
        p = plain_pvalue(fit.pvalue)
        words += f" (P {p if p.startswith('<') else f'= {p}'})"
    if fit.left_out:
        words += f"; without {predictions(fit.left_out)} with a score of exactly 0 or 1"
    return f"{words}."


def spiegelhalter(test: Spiegelhalter) -> str:
    """Say what Spiegelhalter's test gives."""
    if math.isnan(test.z):
        return "Spiegelhalter's Z cannot be had of these predictions."
    p = plain_pvalue(test.pvalue)
    return f"Spiegelhalter's Z {metric(test.z)} (P {p if p.startswith('<') else f'= {p}'})."


def _loss(score: Score) -> str:
    return "infinite" if score.value == math.inf else metric(score.value)


def _mcb(score: Score) -> str:
    """Write what miscalibration costs, as one number where it is one to so many digits."""
    low, high = map(metric, score.mcb_bounds)
    return low if low == high else f"{low} to {high}"


# Groups -------------------------------------------------------------------------------------------

# A printed table shows this many groups, and says how many more there are.
_MOST_ROWS = 30
# Groups by a number from which a word on ranges helps.
_MANY_NUMBERS = 100
# Of segments no more than so many are reported; more may stand out.
_TEN = 10
# The range where a segment is off is named unless it holds so much of it.
_MOSTLY = 0.9


def groups_headline(result: Assessments) -> str:
    """Say how many groups are miscalibrated."""
    failing, groups = len(result.failing), len(result)
    at = f"at {level(1 - result.confidence_level)}"
    if result.searched is not None:
        return _segments_headline(result, at)
    wrong = _wrong_groups(result)
    if groups == 1:
        negation = "" if failing else "not found to be "
        return f"The only {result.what} is {negation}miscalibrated {at}{wrong}."
    at += f" after {ADJUSTMENTS[result.adjust].words}"
    if result.draws is not None:
        at += f" ({result.draws:,} draws)"
    if not failing:
        return f"None of {_count(result, groups)} is found to be miscalibrated {at}{wrong}."
    verb = "is" if failing == 1 else "are"
    return f"{failing:,} of {_count(result, groups)} {verb} miscalibrated {at}{wrong}."


def _wrong_groups(result: Assessments) -> str:
    """Say in how many further groups a score that claimed certainty was wrong."""
    rows = [row for row in result.rows if row.status != "miscalibrated"]
    refuted = [row.calibration for row in rows if row.calibration.n_forbidden]
    if not refuted:
        return ""
    if len(result) == 1:
        return f", but {wrong_certainties(refuted[0])}"
    others = f"{len(refuted):,} others" if len(refuted) > 1 else "1 other"
    if not result.failing:
        others = f"{len(refuted):,} of them"
    return f"; in {others} scores of exactly 0 or 1 were wrong"


def _segments_headline(result: Assessments, at: str) -> str:
    """Say how many segments are miscalibrated, of how many that were searched."""
    assert result.searched is not None  # noqa: S101
    if not result.searched:
        return "Nothing was searched: no feature has two levels with enough rows."
    searched = f"{_count(result, result.searched)} searched"
    at += f" after {ADJUSTMENTS[result.adjust].words}"
    if result.draws is not None:
        at += f" ({result.draws:,} draws)"
    if not len(result):
        if result.searched == 1:
            return f"The only segment searched is not found to be miscalibrated {at}."
        return f"None of {searched} is found to be miscalibrated {at}."
    one = len(result) == 1
    found = f"{_count(result, len(result))} {'is' if one else 'are'} miscalibrated"
    words = f"{found} {at}, of {searched}."
    if result.standing_out > len(result):
        these = "this one explains" if one else f"these {len(result)} explain"
        given = f"these are the {len(result)} strongest" if len(result) >= _TEN else these
        rest = "" if len(result) >= _TEN else " the rest"
        words += f" {result.standing_out:,} are off; {given}{rest}."
    return words


def groups_text(result: Assessments) -> str:
    """Return the answer for many groups: a sentence or two, then the table, worst first."""
    header, rows = groups_table(result, most=_MOST_ROWS)
    if not rows:
        return "\n".join(groups_words(result))
    table = text_table(header, rows, left={*range(len(result.by)), len(header) - 1})
    lines = [*groups_words(result), "", table]
    if len(result) > _MOST_ROWS:
        lines.append(f"... and {_count(result, len(result) - _MOST_ROWS, ' more')}")
    return "\n".join(lines)


def groups_html(result: Assessments) -> str:
    """Return the answer for many groups for a notebook."""
    from html import escape  # noqa: PLC0415  (as in html)

    header, rows = groups_table(result, most=_MOST_ROWS)
    if not rows:
        return f"<div><p>{'<br>'.join(map(escape, groups_words(result)))}</p></div>"
    words = "<br>".join(escape(words) for words in groups_words(result))
    more = len(result) - _MOST_ROWS
    tail = f"<p>... and {_count(result, more, ' more')}</p>" if more > 0 else ""
    table = html_table(header, rows, left={*range(len(result.by)), len(header) - 1})
    return f"<div><p>{words}</p>{table}{tail}</div>"


def groups_words(result: Assessments) -> list[str]:
    """Return the answer for many groups in sentences."""
    words = [groups_headline(result)]
    if few := len(result.too_few):
        are = "is" if few == 1 else "are"
        words.append(f"{_count(result, few)} {are} too small to say anything.")
    if empty := len(result.empty):
        have, are = ("has", "is") if empty == 1 else ("have", "are")
        which = _count(result, empty)
        if result.what == "class":
            words.append(f"{which} {'was' if empty == 1 else 'were'} never predicted.")
        else:
            words.append(f"{which} {have} no weight and {are} left out.")
    if _one_group_a_number(result):
        words.append(
            f"Every number in {visible(result.by[0])} is a group of its own. To look at ranges of "
            "it, search it for segments, or group by a column of ranges."
        )
    if result.why_holm and result.searched:
        words.append(f"Westfall and Young's correction, {result.why_holm}, may find more.")
    if result.not_searched:
        words.append(f"Not searched: {'; '.join(result.not_searched)}.")
    return words


def _one_group_a_number(result: Assessments) -> bool:
    """Tell whether groups are hundreds of numbers, which are rarely meant as groups."""
    if result.what != "group" or len(result.by) > 1 or len(result) < _MANY_NUMBERS:
        return False
    return all(isinstance(row.key, (int, float)) or row.key is None for row in result.rows)


def _count(result: Assessments, number: int, more: str = "") -> str:
    """Say how many groups, or classes."""
    plural = {"class": "classes"}.get(result.what, f"{result.what}s")
    return f"{number:,}{more} {result.what if number == 1 else plural}"


def groups_table(
    result: Assessments, *, ranges: bool = True, most: int | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return the header and a row of texts for each group, worst first, or for so many of them.

    Without ``ranges`` the verdicts do not say over which scores.
    """
    header = [*map(visible, result.by), "predictions", "forecast", "outcome", "ECCE-R", "sigma"]
    rows = [_group_cells(row, len(result.by), ranges=ranges) for row in result.rows[:most]]
    return [*header, "adjusted P", "verdict"], rows


def group(row: Group) -> str:
    """Describe one group among others in a sentence."""
    parts = row.key if isinstance(row.key, tuple) else (row.key,)
    result = row.calibration
    adjusted = adjusted_pvalue(row)
    return (
        f"{', '.join(map(group_name, parts))}: {_group_words(row, ranges=True)} "
        f"(ECCE-R {metric(result.ecce_r.value)}, adjusted P {adjusted}; {predictions(result.n)})."
    )


def _group_cells(row: Group, names: int, *, ranges: bool) -> list[str]:
    result = row.calibration
    return [
        *(group_name(part) for part in (row.key if names > 1 else (row.key,))),
        f"{result.n:,}",
        percent(result.mean_score),
        percent(result.base_rate),
        metric(result.ecce_r.value),
        metric(result.ecce_r.normalized),
        adjusted_pvalue(row),
        _group_words(row, ranges=ranges),
    ]


def _group_words(row: Group, *, ranges: bool) -> str:
    """Say what was found of a group."""
    if isinstance(getattr(row, "ci", None), tuple):
        words = _segment_verdict(row, ranges=ranges)
    elif row.status == "miscalibrated":
        words = _group_verdict(row.calibration, ranges=ranges)
    else:
        words = "too few to say" if row.status == "too few" else "nothing found"
    if wrong := wrong_certainties(row.calibration):
        return wrong if words == "nothing found" else f"{words}; {wrong}"
    return words


def _group_verdict(result: Calibration, *, ranges: bool) -> str:
    """Say in which shape a group is off, and how far where that matters most."""
    pieces = _pieces(result)
    if not pieces:
        return "miscalibrated, not certain where"
    return _in_turn(result, pieces, ranges=ranges)


def _in_turn(
    result: Calibration, pieces: Sequence[Interval], *, ranges: bool, sure: bool = False
) -> str:
    """Say in which directions a group is off, by how much and where; with limits if ``sure``."""
    named = pieces
    if len(pieces) > 2:
        named = [max(pieces, key=lambda each: abs(each.total))]
    said = []
    for each in named:
        by = _with_limits(each.miscalibration, each.ci)
        by = by if sure else f"{points(abs(each.miscalibration))} points"
        over = f" over {between(each)}" if ranges else ""
        said.append(f"{_said(result, each.direction)} by {by}{over}")
    off = ", then ".join(said)
    if len(pieces) == 1 or (result.axis is not None and len(pieces) == 2):
        return off
    return f"{shape(result)}{', mostly' if len(pieces) > 2 else ':'} {off}"


def _segment_verdict(row: Any, *, ranges: bool) -> str:
    """Say how far off a segment is on average, or where it is off, with limits after the search."""
    worst, whole = row.calibration.worst, _MOSTLY * row.calibration.n
    pieces = _pieces(row.calibration)
    if len(pieces) > 1:  # never one direction where there are two
        return _in_turn(row.calibration, pieces, ranges=ranges, sure=True)
    if row.direction == "mixed":
        if not worst.certain:
            mean = f"{points(row.miscalibration)} points, {limits(row.ci)}"
            return f"miscalibrated, not certain how (on average {mean})"
        off = _with_limits(worst.miscalibration, worst.ci)
        return f"{worst.direction} by {off} over {between(worst)}"
    words = f"{row.direction} by {_with_limits(row.miscalibration, row.ci)}"
    if ranges and worst.n < whole and worst.certain:
        words += f", mostly over {between(worst)}"
    return words


def _with_limits(amount: float, ci: tuple[float, float]) -> str:
    return f"{points(abs(amount))} points ({limits(ci, amount)})"


def group_name(key: Any) -> str:
    """Return a group's key as a reader sees it."""
    return "(missing)" if key is None else visible(str(key)) or "(empty)"


# Models -------------------------------------------------------------------------------------------


def models_words(result: Models) -> list[str]:
    """Say which model is closest to calibration, and from which it can be told apart."""
    best, *others = map(visible, result)
    if not others:
        return []
    if not result.comparisons:
        return [f"{best} has the smallest ECCE-R; rows in clusters are not compared further."]
    told = [visible(name) for name, each in result.comparisons.items() if each.better == "A"]
    lost = [visible(name) for name, each in result.comparisons.items() if each.better == "B"]
    rest = [name for name in others if name not in {*told, *lost}]
    chance = f"at {100 * (1 - result.confidence_level):.3g}%"
    words = []
    if told:
        words.append(
            f"{best} is closer to calibration than {_listed(told)}, beyond chance {chance}."
        )
    if rest:
        which = (
            f"{best} and {rest[0]} cannot be told apart"
            if len(rest) == 1
            else (f"{best} cannot be told apart from {_listed(rest)}")
        )
        words.append(f"{which} {chance}.")
    words += [f"Miscalibration costs {name} less of its Brier score than {best}." for name in lost]
    words.append("This is about calibration alone: the Brier score says which predicts better.")
    return words


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def models_table(result: Models) -> tuple[list[str], list[list[str]]]:
    """Return the header and a row of texts for each model, the smallest ECCE-R first."""
    header = ["model", "ECCE-R", f"{level(result.confidence_level)} limits", "P", "Brier"]
    header += ["miscalibration", "log loss", "verdict"]
    return header, [_model_cells(name, each) for name, each in result.items()]


def _model_cells(name: str, result: Calibration) -> list[str]:
    r, (brier, log_loss) = result.ecce_r, result.proper_scores
    words = shape(result) or ("miscalibrated" if result.found else "no miscalibration found")
    if result.steepest is not None:
        words += f", somewhere by at least {points(result.steepest.at_least)} points"
    return [
        visible(name),
        metric(r.value),
        " to ".join(metric(limit) for limit in r.ci),
        pvalue(r).removeprefix("= "),
        "" if brier is None else metric(brier.value),
        "" if brier is None else _mcb(brier),
        "" if log_loss is None else _loss(log_loss),
        words,
    ]


def models_text(result: Models) -> str:
    """Return the answer for several models: who is better beyond chance, then the table."""
    header, rows = models_table(result)
    words = models_words(result)
    table = text_table(header, rows, left={0, len(header) - 1})
    return "\n".join([*words, *([""] if words else []), table])


def models_html(result: Models) -> str:
    """Return the answer for several models for a notebook."""
    from html import escape  # noqa: PLC0415  (as in html)

    header, rows = models_table(result)
    words = "<br>".join(escape(words) for words in models_words(result))
    return f"<div><p>{words}</p>{html_table(header, rows, left={0, len(header) - 1})}</div>"
