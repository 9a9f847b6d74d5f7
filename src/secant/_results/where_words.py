"""Where predictions are off, in words: the ranges found, or what would have been seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secant._results import coverage_words
from secant._results.wording import (
    axis_of,
    between,
    capital,
    events,
    level,
    limits,
    off_by,
    or_noise,
    percent,
    points,
    predictions,
    scores,
    they_are,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.calibration import Calibration
    from secant._results.parts import Interval

__all__ = ["direction_said", "everyone", "interval", "where"]

# So many ranges are named in a sentence; beyond, those that matter most.
_MOST_RANGES = 3
# A place is named beside these where it is so many times as far off as the farthest of them.
_FARTHER = 1.5


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


def _even_farther(result: Calibration, pieces: Sequence[Interval]) -> str:
    """Name the place that is farthest off, where that says more than the pieces do."""
    farthest, most = result.farthest, max(abs(p.miscalibration) for p in pieces)
    if farthest is None or farthest.at_least <= most:
        return ""
    how = direction_said(result, farthest.direction)
    off = f"{how} by at least {points(farthest.at_least)} points"
    around = next((p for p in pieces if p.low <= farthest.low and farthest.high <= p.high), None)
    if around is not None and around.direction != farthest.direction:
        they = they_are(farthest)
        if coverage_words.is_about(result):
            they = f"{scores(farthest)} coverage is"
        return f" But within these, {they} {off}."
    if farthest.at_least < _FARTHER * most:
        return ""
    who = "predictions are" if not coverage_words.is_about(result) else "coverage is"
    return f" Somewhere {who} {off} ({scores(farthest)})."


def _would_have_shown(result: Calibration) -> str:
    """Say what these data could have shown: the effect that is found 99 times in 100."""
    if result.sigma == 0:
        return f"Every score is 0 or 1, and came true ({predictions(result.n)})."
    detectable = result.detectable
    if coverage_words.is_about(result):
        return coverage_words.would_have_shown(result, everyone(result))
    if detectable >= 1:
        return f"{predictions(result.n)} can show next to nothing."
    many = events(detectable)
    return (
        f"With {everyone(result)} {many} misplaced event{'' if many == '1' else 's'} in 1,000 "
        "would almost surely have shown."
    )


def interval(result: Interval) -> str:
    """Describe a range of scores in one sentence."""
    axis = axis_of(result)
    if result.n and coverage_words.is_about(result):
        return coverage_words.interval(result)
    if not result.n:
        of = "with scores from" if axis is None else f"with {axis.title} from"
        return f"No {coverage_words.noun(axis)}s {of} {between(result)}."
    by = f"{result.direction} by {points(abs(result.miscalibration))} points"
    return (
        f"{capital(scores(result))}, {predictions(result.n)}: "
        f"mean forecast {percent(result.mean_score)}, mean outcome "
        f"{percent(result.mean_response)}, {or_noise(result, by)}."
    )


def direction_said(result: Calibration, direction: str) -> str:
    """Return a direction in the words of the trade: confidences are over- or underconfident."""
    if coverage_words.is_about(result):
        return coverage_words.shape(direction)
    if not result.top_label:
        return direction
    return {"too high": "overconfident", "too low": "underconfident"}.get(direction, direction)


def everyone(result: Calibration) -> str:
    """Say how many predictions there are, and in how many clusters."""
    if result.n_clusters is None:
        return predictions(result.n)
    return f"{predictions(result.n)} among {result.n_clusters:,} clusters"
