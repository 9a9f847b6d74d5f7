"""The words: is it calibrated, how far off is it, where, and what now.

Effects come before P-values, in events and points of probability. Nothing here computes or decides;
every number shown is one of the result, rounded for reading, in the words of its vocabulary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant._metrics.ecce import METRICS
from secant._results import score_words
from secant._results.base import Said
from secant._results.wording import (
    axis_of,
    between,
    capital,
    decided,
    events,
    level,
    limits,
    metric,
    or_noise,
    percent,
    points,
    predictions,
    pvalue,
    scores,
    statistic,
    they_are,
    wrong_scores,
)
from secant._results.words import words_of
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._metrics.ecce import Metric
    from secant._results.calibration import Calibration
    from secant._results.parts import Interval
    from secant._results.words import Words

__all__ = [
    "averages",
    "brief",
    "brief_direction",
    "details",
    "direction",
    "direction_said",
    "everyone",
    "facts",
    "headline",
    "impossible",
    "interval",
    "measure",
    "parts_of",
    "said",
    "size",
    "tested",
    "the_question",
    "what_now",
    "where",
    "within",
    "wrong_certainties",
]

# So many ranges are named in a sentence; beyond, those that matter most.
_MOST_RANGES = 3
# A place is named beside these where it is so many times as far off as the farthest of them.
_FARTHER = 1.5
# One range that holds so much of the predictions is "everywhere".
_EVERYWHERE = 0.9


# --- the answer -----------------------------------------------------------------------------------


def headline(result: Calibration) -> str:
    """Return the answer in a few words: the directions found, if any were."""
    wrong, words, asked = wrong_certainties(result), words_of(result), result.tolerance
    if result.shown_within:
        return _within_headline(result, wrong)
    if not result.found:
        found = f"{wrong}; no other miscalibration found" if wrong else words.not_found
        if asked.within is None:
            return found
        return f"{found}, but not shown to be calibrated within {asked.within:g}"
    how_much, kind = f" {asked.words}" if result.negligible else "", direction(result)
    graded = words.found
    if result.doubtful:
        graded = f"{words.probably} (P {decided(result)})"
        how_much = how_much and f",{how_much}"
    found = f"{graded}{how_much}{f': {kind}' if kind else ''}"
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
    """Return the directions in words, those of the parts that are wrong; nothing if not known.

    Ranges that are off in more than two directions say more than any part does. Where no part is
    named by itself the ranges have the word.
    """
    pieces, ranges = result.pieces, _directions_of_ranges(result)
    if len(pieces) > 2:
        return ranges
    shape = _shape_direction(result)
    asked = "mean" in result.wrong_in and not (ranges and result.bridge.direction is None)
    if not asked:
        return shape or ranges
    mean = _mean_direction(result)
    if shape:
        if result.axis is not None and len(pieces) > 1:
            return ranges
        name = "" if result.axis is None else result.axis.title
        return words_of(result).both.format(mean=mean, shape=shape, name=name)
    return mean if mean == ranges else f"{mean} on average"


def brief_direction(result: Calibration) -> str:
    """Return the directions as tables and pictures have room for: of ranges where there are any.

    Where the shape alone is wrong it has the word, also over one range.
    """
    if result.wrong_in == ("shape",) or not result.pieces:
        return direction(result)
    return _directions_of_ranges(result)


def _directions_of_ranges(result: Calibration) -> str:
    pieces = result.pieces
    if len(pieces) > 2:
        return f"alternating, {len(pieces)} times"
    return direction_said(result, result.direction) if pieces else ""


def _mean_direction(result: Calibration) -> str:
    return direction_said(result, "too low" if result.mean.value > 0 else "too high")


def _shape_direction(result: Calibration) -> str:
    """Return the direction of the shape, where that is found to be wrong."""
    named = "shape" in result.wrong_in and result.bridge.direction
    return direction_said(result, named) if named else ""


def direction_said(result: Calibration, direction: str) -> str:
    """Return a direction in the words of the trade: confidences are over- or underconfident."""
    return words_of(result).say(direction)


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
    lines = [tested(result), size(result), beside(result), what_now(result)]
    if result.warnings:  # which take a line
        lines[:2] = [" ".join(lines[:2])]
    first = f"{headline(result)}."
    return Said(first, "" if known else where(result), lines, notes=result.warnings)


def tested(result: Calibration) -> str:
    """Return the P-value that decides, and which part is wrong by its own."""
    decides, parts = f"P {decided(result)} ({result.pvalue_method})", parts_of(result)
    if not parts:
        return f"{decides}."
    return f"{decides}. {capital(parts)}." if result.found else f"{decides}: {parts}."


def parts_of(result: Calibration) -> str:
    """Say which part is wrong, the mean or the shape, with their P-values.

    Nothing where every score is 0 or 1, so that there are no parts.
    """
    if result.sigma == 0:
        return ""
    words, wrong, has_shape = words_of(result), result.wrong_in, result.bridge.direction is not None
    mean, shape = pvalue(result.mean), pvalue(result.bridge)
    name = "" if result.axis is None else result.axis.title
    if not result.found:  # where nothing is called right that only was not found to be wrong
        return f"mean P {mean}, shape P {shape}" if has_shape else ""
    if has_shape and not wrong and not result.mean_is_unsure:
        return words.together.format(mean=mean, shape=shape, name=name)
    said = words.mean_unsure if result.mean_is_unsure else words.mean_right
    if "mean" in wrong:
        said = words.mean_wrong
    first = said.format(p=mean, off=_mean_direction(result))
    rest = words.no_shape
    if has_shape:
        # Several ranges say more, and along another order the mean is part of each direction.
        unsaid = len(result.pieces) > 2 or (result.axis is not None and "mean" in wrong)
        off = "" if unsaid else f": {_shape_direction(result)}"
        rest = words.shape_wrong if "shape" in wrong else words.shape_right
        rest = rest.format(p=shape, off=off, name=name)
    return f"{first}; {rest.format(name=name)}"


def brief(result: Calibration) -> str:
    """Return the P-value that decides, ECCE-R and the number of predictions."""
    return f"P {decided(result)}, {measure(result)}, n = {result.n:,}"


def measure(result: Calibration) -> str:
    """Return ECCE-R, and along what."""
    along = "" if result.axis is None else f" along {result.axis.title}"
    return f"ECCE-R{along} {metric(result.ecce_r.value)}"


def the_question(result: Calibration) -> str:
    """Say what another order than that of scores asks, and what it does not; else nothing."""
    if result.axis is None:
        return ""
    return words_of(result).question.format(name=result.axis.title)


def everyone(result: Calibration) -> str:
    """Say how many predictions there are, and in how many clusters."""
    among = "" if result.n_clusters is None else f" among {result.n_clusters:,} clusters"
    return f"{words_of(result).many(result.n)}{among}"


def size(result: Calibration) -> str:
    """Say how many events are misplaced and where, and whether chance explains that."""
    r = statistic(METRICS[0], result.ecce_r, **_by_chance(result, METRICS[0]))
    if not result.found_in_ranges:
        return r
    words, worst, many = words_of(result), result.worst, events(result.ecce_r.value)
    one, n = many == "1", words.many(result.n)
    what = (words.fewer if worst.miscalibration < 0 else words.more).format(
        many=many,
        s="" if one else "s",
        cover=words.cover[not one],
        only="only " if result.trifling else "",
    )
    over = capital(words.over.format(scores=scores(worst)))
    even = words.even.format(n=n) if result.trifling else ""
    return f"{over}, {what}, per 1,000 {words.noun}s in all{even}: {r}"


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
    said = [f"{headline(result)}.", tested(result), *facts(result)]
    worst, pieces = result.worst, result.pieces
    about = "The range that ECCE-R measures"
    if worst.n and worst not in pieces:
        said.append(f"{about}: {interval(worst)}")
    for each in pieces:
        which = f"{about} is off" if each == worst else "Found to be off"
        said.append(f"{which}: {interval(each)}")
    if farthest := result.farthest:
        most = f"off by at least {points(farthest.at_least)} points"
        twice = any((p.low, p.high) == (farthest.low, farthest.high) for p in (worst, *pieces))
        own = " (with the limits of a search for it)" if twice else ""
        said.append(f"The steepest range, {most} somewhere{own}: {interval(farthest)}")
    if not words_of(result).coverage:  # these have one score, the level
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
    return [*said, averages(result)]


def averages(result: Calibration) -> str:
    """Say how many predictions there are, what they were on average and what happened."""
    return words_of(result).averages.format(
        everyone=everyone(result),
        forecast=percent(result.mean_score),
        promised=level(result.mean_score),
        outcome=percent(result.base_rate),
    )


def _by_chance(result: Calibration, named: Metric) -> dict[str, Any]:
    """Return what calibrated predictions give on average, in words and in units of sigma."""
    among = "" if result.n_clusters is None else " in such clusters"
    return {"expected": f"{words_of(result).right}{among} average", "mean": result.by_chance(named)}


# --- where ----------------------------------------------------------------------------------------


def interval(result: Interval) -> str:
    """Describe a range of scores in one sentence."""
    words, axis = words_of(result), axis_of(result)
    if not result.n:
        of = "with scores from" if axis is None else f"with {axis.title} from"
        return f"No {words.noun}s {of} {between(result)}."
    return f"{capital(_filled(words.interval, result, words))}."


def _filled(sentence: str, each: Interval, words: Words, **more: str) -> str:
    """Fill the gaps of a sentence about a range with its numbers."""
    amount = each.miscalibration
    by = words.by.format(off=words.say(each.direction), points=points(abs(amount)))
    return sentence.format(
        scores=scores(each),
        they=they_are(each),
        by=by,
        by_or_noise=or_noise(each, by),
        limits=limits(each.ci, amount),
        n=words.many(each.n),
        count=f"{each.n:,}",
        forecast=percent(each.mean_score),
        promised=level(each.mean_score),
        outcome=percent(each.mean_response),
        **more,
    )


def where(result: Calibration, *, farthest: bool = True) -> str:
    """Say where and in which direction, or what would have been seen.

    Without ``farthest`` the steepest place goes unsaid, for readers who have it before their eyes.
    """
    if not result.found:
        return _would_have_shown(result)
    pieces = result.pieces
    if pieces:
        return _ranges(result, pieces) + (_even_farther(result, pieces) if farthest else "")
    wrong = _after_certainty(result)
    if wrong and result.sigma == 0:  # every score is 0 or 1: that is all there is to say
        return wrong
    if not result.found_in_ranges:
        named = words_of(result).unnamed.format(p=pvalue(result.ecce_r))
        return f"{wrong} {named}".strip()
    worst, words, at = result.worst, words_of(result), level(result.confidence_level)
    first = _filled(words.first, worst, words, level=at)
    if worst.certain:  # so there are pieces, which cannot be had: the data have changed
        return f"{capital(first)}."
    largest = _filled(words.uncertain, worst, words, level=at, first=first)
    return f"{f'{wrong} Beyond that these' if wrong else 'These'} {largest}"


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
    words, at = words_of(result), level(result.confidence_level)
    named = sorted(pieces, key=lambda each: -abs(each.total))[:_MOST_RANGES]
    named.sort(key=lambda each: each.low)
    first, *others = named
    listed = [_filled(words.first, first, words, level=at)]
    listed += [_filled(words.further, each, words) for each in others]
    said = ", ".join(listed)
    if len(pieces) == len(named):
        return f"{capital(said)}."
    along = "scores" if result.axis is None else result.axis.title
    return f"{len(pieces)} ranges of {along} {words.turns}; the largest deviations: {said}."


def _even_farther(result: Calibration, pieces: Sequence[Interval]) -> str:
    """Name the place that is farthest off, where that says more than the pieces do."""
    farthest, most = result.farthest, max(abs(p.miscalibration) for p in pieces)
    if farthest is None or farthest.at_least <= most:
        return ""
    words = words_of(result)
    off = f"{words.say(farthest.direction)} by at least {points(farthest.at_least)} points"
    around = next((p for p in pieces if p.low <= farthest.low and farthest.high <= p.high), None)
    if around is not None and around.direction != farthest.direction:
        return f" But within these, {_filled(words.within, farthest, words)} {off}."
    if farthest.at_least < _FARTHER * most:
        return ""
    return f" Somewhere {words.somewhere} {off} ({scores(farthest)})."


def _would_have_shown(result: Calibration) -> str:
    """Say what these data could have shown: the effect that is found 99 times in 100."""
    if result.sigma == 0:
        return f"Every score is 0 or 1, and came true ({predictions(result.n)})."
    share, words = result.detectable, words_of(result)
    many, who = events(share), everyone(result)
    what = f"{many} misplaced event{'' if many == '1' else 's'} in 1,000"
    if words.coverage:  # never more than there can be
        ways = ("too few", share <= result.mean_score), ("too many", share <= 1 - result.mean_score)
        can_be = " or ".join(way for way, possible in ways if possible)
        what = f"{many} in 1,000 {can_be}" if can_be else ""
    elif share >= 1:
        what, who = "", words.many(result.n)
    if not what:
        return f"{who} can show next to nothing."
    return f"With {who} {what} would almost surely have shown."


# --- what now -------------------------------------------------------------------------------------


def what_now(result: Calibration) -> str:
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
    not_certain_where = result.n_forbidden and not result.pieces
    if result.found and not result.trifling and not not_certain_where:
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
    pieces, words = result.pieces, words_of(result)
    if not pieces:
        scaling = "temperature or beta scaling, fitted on other predictions; "
        how = scaling if result.axis is None and "shape" in result.wrong_in else ""
        return f"What usually helps: {how}more predictions, to see where."
    one = len(pieces) == 1
    if result.axis is not None:
        how = words.remedy.format(name=result.axis.title)
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
