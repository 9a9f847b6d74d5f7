"""The words for many groups, classes or segments: how many are off, and each in its row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from secant._inference.adjust import ADJUSTMENTS
from secant._results import verdict
from secant._results.base import Table
from secant._results.verdict import direction_said
from secant._results.wording import (
    adjusted_pvalue,
    between,
    left_out,
    level,
    limits,
    metric,
    percent,
    points,
    predictions,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.assessments import Assessments, Group
    from secant._results.calibration import Calibration
    from secant._results.parts import Interval

__all__ = ["headline", "name", "sentence", "table", "tables", "words_of"]

# A printed table shows this many groups, and says how many more there are.
_MOST_ROWS = 30
# Groups by a number from which a word on ranges helps.
_MANY_NUMBERS = 100
# Of segments no more than so many are reported; more may stand out.
_TEN = 10
# The range where a segment is off is named unless it holds so much of it.
_MOSTLY = 0.9


def headline(result: Assessments) -> str:
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
        return f", but {verdict.wrong_certainties(refuted[0])}"
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
    off, given = result.standing_out, len(result)
    are = "is" if off == 1 else "are"
    words = f"{off:,} of {searched} {are} miscalibrated {at}"
    if off > given >= _TEN:
        return f"{words}; these are the {given} strongest."
    if off > given:
        explain = "this one explains" if given == 1 else f"these {given} explain"
        return f"{words}; {explain} the {'other' if off == given + 1 else 'rest'}."
    return f"{words}."


def tables(result: Assessments) -> list[Table]:
    """Return the groups that a print has room for, worst first; nothing where there are none."""
    found = table(result, most=_MOST_ROWS)
    more = len(result) - _MOST_ROWS
    if more > 0:
        found = replace(found, more=f"... and {_count(result, more, ' more')}")
    return [found] if found.rows else []


def words_of(result: Assessments) -> list[str]:
    """Return the answer for many groups in sentences."""
    words = [headline(result)]
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
    if result.n_left_out:
        words.append(left_out(result.n_left_out))
    return words


def _one_group_a_number(result: Assessments) -> bool:
    """Tell whether groups are hundreds of fractions, which are rarely meant as groups.

    Whole numbers name shops and patients, also as doubles, where one is missing.
    """
    if result.what != "group" or len(result.by) > 1 or len(result) < _MANY_NUMBERS:
        return False
    keys = [row.key for row in result.rows if row.key is not None]
    return all(isinstance(key, (int, float)) for key in keys) and any(key % 1 for key in keys)


def _count(result: Assessments, number: int, more: str = "") -> str:
    """Say how many groups, or classes."""
    plural = {"class": "classes"}.get(result.what, f"{result.what}s")
    return f"{number:,}{more} {result.what if number == 1 else plural}"


def table(result: Assessments, *, ranges: bool = True, most: int | None = None) -> Table:
    """Return a row of texts for each group, worst first, or for so many of them.

    Without ``ranges`` the verdicts do not say over which scores.
    """
    names = len(result.by)
    head = [*map(visible, result.by), "predictions", "forecast", "outcome", "ECCE-R", "sigma"]
    head += ["adjusted P", "verdict"]
    rows = [_group_cells(row, names, ranges=ranges) for row in result.rows[:most]]
    return Table(head, rows, left={*range(names), len(head) - 1})


def sentence(row: Group) -> str:
    """Describe one group among others in a sentence."""
    parts = row.key if isinstance(row.key, tuple) else (row.key,)
    result = row.calibration
    adjusted = adjusted_pvalue(row)
    return (
        f"{', '.join(map(name, parts))}: {_group_words(row, ranges=True)} "
        f"(ECCE-R {metric(result.ecce_r.value)}, adjusted P {adjusted}; {predictions(result.n)})."
    )


def _group_cells(row: Group, names: int, *, ranges: bool) -> list[str]:
    result = row.calibration
    return [
        *(name(part) for part in (row.key if names > 1 else (row.key,))),
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
    if wrong := verdict.wrong_certainties(row.calibration):
        return wrong if words == "nothing found" else f"{words}; {wrong}"
    return words


def _group_verdict(result: Calibration, *, ranges: bool) -> str:
    """Say in which directions a group is off, and how far where that matters most."""
    pieces = result.pieces
    if not pieces:
        kind = verdict.brief_direction(result)
        return f"{kind or 'miscalibrated'}, not certain where"
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
        said.append(f"{direction_said(result, each.direction)} by {by}{over}")
    off = ", then ".join(said)
    kind = verdict.brief_direction(result)
    if len(pieces) == 1 and kind != direction_said(result, pieces[0].direction):
        return f"{kind}: {off}"
    if len(pieces) == 1 or (result.axis is not None and len(pieces) == 2):
        return off
    return f"{kind}{', mostly' if len(pieces) > 2 else ':'} {off}"


def _segment_verdict(row: Any, *, ranges: bool) -> str:
    """Say how far off a segment is on average, or where it is off, with limits after the search."""
    worst, whole = row.calibration.worst, _MOSTLY * row.calibration.n
    pieces = row.calibration.pieces
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


def name(key: Any) -> str:
    """Return a group's key as a reader sees it."""
    return "(missing)" if key is None else visible(str(key)) or "(empty)"
