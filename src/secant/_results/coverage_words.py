"""The words of prediction intervals: how often they cover, and how often they promised to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secant._results.wording import (
    capital,
    events,
    level,
    limits,
    or_noise,
    percent,
    points,
    scores,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._input.axis import Axis
    from secant._results.calibration import Calibration
    from secant._results.parts import Interval

__all__ = [
    "IN_TURN",
    "as_promised",
    "averages",
    "few_events",
    "head",
    "headline",
    "interval",
    "is_about",
    "misplaced",
    "noun",
    "one_outcome",
    "question",
    "ranges",
    "remedy",
    "shape",
    "would_have_shown",
]

_HOW = {"too high": "too little", "too low": "too much", "even": "as promised"}
# What more ranges than can be named are.
IN_TURN = "have in turn too much coverage and too little"


def is_about(result: object) -> bool:
    """Tell whether a result, or a range of one, is about intervals and not about probabilities."""
    axis = getattr(result, "axis", None) or getattr(result, "_axis", None)
    return axis is not None and axis.coverage


def noun(axis: Axis | None) -> str:
    """Return what is put along an axis, one of them."""
    if axis is None or not axis.coverage:
        return "prediction"
    return "quantile" if axis.side else "interval"


def _axis(result: Calibration | Interval) -> Axis:
    axis: Axis | None = getattr(result, "axis", None) or getattr(result, "_axis", None)
    assert axis is not None  # noqa: S101
    return axis


def _on_side(axis: Axis, *, one: bool = False) -> str:
    """Say what quantiles do that intervals cover for."""
    which = "at or above" if axis.side == "high" else "at or below"
    return f"{'is' if one else 'are'} {which} y"


def _cover(axis: Axis, share: float) -> str:
    """Say how often intervals cover, or quantiles are on their side."""
    if not axis.side:
        return f"cover {percent(share)}"
    return f"{_on_side(axis)} {percent(share)} of the time"


def headline(result: Calibration, kind: str, how_much: str) -> str:
    """Return the answer in a few words."""
    if not result.found:
        return "No fault in coverage found"
    return f"Coverage is off{how_much}{f': {kind}' if kind else ''}"


def head(axis: Axis, sure: str) -> list[str]:
    """Return the heads of a table of ranges."""
    covered = {"": "covered", "high": "y at most", "low": "y at least"}[axis.side]
    return [axis.title, f"{noun(axis)}s", "promised", covered, "points", sure, ""]


def shape(words: str) -> str:
    """Say in which directions coverage is off."""
    for ours, theirs in _HOW.items():
        words = words.replace(ours, theirs)
    return words


def intervals(n: int, axis: Axis | None = None) -> str:
    """Write how many intervals, or quantiles."""
    what = "interval" if axis is None else noun(axis)
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def ranges(result: Calibration, named: Sequence[Interval]) -> str:
    """Say how often the intervals of some ranges cover, as a part of a sentence."""
    said = []
    for number, each in enumerate(named):
        off = f"{points(abs(each.miscalibration))} points {_HOW[each.direction]}"
        sure = limits(each.ci, each.miscalibration)
        covers = _cover(_axis(result), each.mean_response)
        if number == 0:
            promised = f"{covers} where {level(each.mean_score)} was promised"
            many = intervals(each.n, _axis(result))
            about = f"{off}, {level(result.confidence_level)} limits {sure}; {many}"
            said.append(f"{scores(each)} they {promised} ({about})")
        else:
            said.append(f"{scores(each)} they {covers} ({off}, {sure}; {each.n:,})")
    return ", ".join(said)


def interval(result: Interval) -> str:
    """Describe a range in one sentence."""
    axis, promised = _axis(result), level(result.mean_score)
    by = f"{points(abs(result.miscalibration))} points {_HOW[result.direction]}"
    return (
        f"{capital(scores(result))}, {intervals(result.n, axis)} "
        f"{_cover(axis, result.mean_response)} where {promised} was promised, "
        f"{or_noise(result, by)}."
    )


def misplaced(result: Calibration) -> str:
    """Say how many intervals fail to cover, or cover too much, in the worst range."""
    many, axis = events(result.ecce_r.value), _axis(result)
    fewer = "fewer" if result.worst.miscalibration < 0 else "more"
    verb = "covers" if many == "1" else "cover"
    if axis.side:
        verb = _on_side(axis, one=many == "1")
    return f"In every 1,000 {noun(axis)}s {many} {fewer} {verb} than promised in the worst range"


def would_have_shown(result: Calibration, everyone: str) -> str:
    """Say what these intervals could have shown: never more than there can be."""
    who, share = _who(result, everyone), result.detectable
    ways = ("too few", share <= result.mean_score), ("too many", share <= 1 - result.mean_score)
    can_be = " or ".join(way for way, possible in ways if possible)
    if not can_be:
        return f"{who} can show next to nothing."
    return f"With {who} {events(share)} in 1,000 {can_be} would almost surely have shown."


def as_promised(result: Calibration) -> str:
    """Name those of which chance alone is left."""
    return f"{noun(_axis(result))}s that keep their promise"


def averages(result: Calibration, everyone: str) -> str:
    """Say how often all intervals cover."""
    axis = _axis(result)
    does = _on_side(axis) if axis.side else "cover"
    return (
        f"{_who(result, everyone)}: {percent(result.base_rate)} {does} where "
        f"{level(result.mean_score)} was promised."
    )


def _who(result: Calibration, everyone: str) -> str:
    return everyone.replace("prediction", noun(_axis(result)))


def question(axis: Axis) -> str:
    """Say what is asked, and what is not."""
    name = axis.title
    if axis.side:
        return (
            f"Along {name}: whether quantiles {_on_side(axis)} as often as promised, on average at "
            f"each value of {name}."
        )
    return (
        f"Along {name}: whether intervals cover as promised on average at each {name}, not whether "
        "they could be narrower."
    )


def remedy(result: Calibration) -> str:
    """Say what usually helps."""
    if _axis(result).side:
        return "conformal prediction on other rows, which moves quantiles to where they should be"
    return "conformal prediction on other rows, with widths that adapt to how hard a row is"


def one_outcome(axis: Axis | None, *, always: bool) -> str:
    """Say that one and the same thing happened in every row."""
    if axis is None or not axis.coverage:
        return f"The event {'always' if always else 'never'} happened; check the outcomes."
    if axis.side:
        which = "Every quantile is" if always else "No quantile is"
        said = f"{which} {_on_side(axis, one=True).removeprefix('is ')}"
        return f"{said}; check y and {axis.side}."
    return f"{'Every' if always else 'No'} interval covers; check y, low and high."


def few_events(axis: Axis | None) -> str:
    """Say that limits are approximate since little was left to chance."""
    what = "Few events were expected, or few failures"
    if axis is not None and axis.coverage:
        what = f"Few {noun(axis)}s were expected to miss, or few to "
        what += "hold" if axis.side else "cover"
    return f"{what}: confidence limits are approximate."
