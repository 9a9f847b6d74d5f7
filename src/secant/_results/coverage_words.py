"""The words of prediction intervals: how often they cover, and how often they promised to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secant._results.wording import capital, events, level, limits, percent, points, scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.calibration import Calibration
    from secant._results.parts import Interval

__all__ = [
    "averages",
    "head",
    "headline",
    "interval",
    "is_about",
    "misplaced",
    "question",
    "ranges",
    "shape",
    "would_have_shown",
]

_HOW = {"too high": "too little", "too low": "too much", "even": "as promised"}


def is_about(result: object) -> bool:
    """Tell whether a result, or a range of one, is about intervals and not about probabilities."""
    axis = getattr(result, "axis", None) or getattr(result, "_axis", None)
    return axis is not None and axis.coverage


def headline(result: Calibration, kind: str, how_much: str) -> str:
    """Return the answer in a few words."""
    if not result.found:
        return "No fault in coverage found"
    return f"Coverage is off{how_much}{f': {kind}' if kind else ''}"


def head(along: str, sure: str) -> list[str]:
    """Return the heads of a table of ranges."""
    return [along, "intervals", "promised", "covered", "points", sure, ""]


def shape(words: str) -> str:
    """Say in which directions coverage is off."""
    for ours, theirs in _HOW.items():
        words = words.replace(ours, theirs)
    return words


def intervals(n: int) -> str:
    """Write how many intervals."""
    return f"{n:,} interval{'' if n == 1 else 's'}"


def ranges(result: Calibration, named: Sequence[Interval]) -> str:
    """Say how often the intervals of some ranges cover."""
    said = []
    for number, each in enumerate(named):
        off = f"{points(abs(each.miscalibration))} points {_HOW[each.direction]}"
        sure = limits(each.ci, each.miscalibration)
        covers = f"cover {percent(each.mean_response)}"
        if number == 0:
            promised = f"{covers} where {level(each.mean_score)} was promised"
            about = f"{off}, {level(result.confidence_level)} limits {sure}; {intervals(each.n)}"
            said.append(f"{scores(each)} they {promised} ({about})")
        else:
            said.append(f"{scores(each)} they {covers} ({off}, {sure}; {each.n:,})")
    return f"{capital(', '.join(said))}."


def interval(result: Interval) -> str:
    """Describe a range in one sentence."""
    covers, promised = percent(result.mean_response), level(result.mean_score)
    if result.certain:
        off = f"{points(abs(result.miscalibration))} points {_HOW[result.direction]}"
        sure = limits(result.ci, result.miscalibration)
    else:
        off = f"off by {points(result.miscalibration)} points, which could be noise"
        sure = limits(result.ci)
    return (
        f"{capital(scores(result))}, {intervals(result.n)} cover {covers} where {promised} was "
        f"promised, {off} ({sure})."
    )


def misplaced(result: Calibration) -> str:
    """Say how many intervals fail to cover, or cover too much, in the worst range."""
    many = events(result.ecce_r.value)
    fewer = "fewer" if result.worst.miscalibration < 0 else "more"
    verb = "covers" if many == "1" else "cover"
    return f"In every 1,000 intervals {many} {fewer} {verb} than promised in the worst range"


def would_have_shown(everyone: str, many: str) -> str:
    """Say what these intervals could have shown."""
    who = everyone.replace("prediction", "interval")
    return f"With {who} {many} in 1,000 too few or too many would almost surely have shown."


def averages(result: Calibration, everyone: str) -> str:
    """Say how often all intervals cover."""
    who = everyone.replace("prediction", "interval")
    return (
        f"{who}: {percent(result.base_rate)} cover where {level(result.mean_score)} was promised."
    )


def question(name: str) -> str:
    """Say what is asked, and what is not."""
    return (
        f"Along {name}: whether intervals cover as promised on average at each {name}, not whether "
        "they could be narrower."
    )
