"""The words: is it calibrated, how far off is it, where.

Effects come before P-values, in points of probability. Nothing here computes; every number shown
is one of the result, rounded for reading.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from secant._inference.adjust import ADJUSTMENTS
from secant._results.wording import (
    adjusted_pvalue,
    metric,
    off_by,
    percent,
    points,
    predictions,
    pvalue,
    score,
    scores,
    statistic,
    visible,
)

if TYPE_CHECKING:
    from secant._results.assessments import Assessments, Group
    from secant._results.calibration import Calibration
    from secant._results.parts import Interval, Score

__all__ = [
    "averages",
    "brief",
    "details",
    "facts",
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
    "proper_score",
    "proper_scores",
    "text",
    "where",
]


def headline(result: Calibration) -> str:
    """Return the answer in a few words."""
    if result.found:
        return "Miscalibrated"
    if result.n_forbidden:  # the data refute some scores, whatever the P-value
        return f"No miscalibration found beyond {impossible(result)}"
    return "No miscalibration found"


def impossible(result: Calibration) -> str:
    """Say how many outcomes there are that their scores ruled out."""
    many = result.n_forbidden
    return "an impossible outcome" if many == 1 else f"{many:,} impossible outcomes"


def text(result: Calibration) -> str:
    """Return the whole answer, a sentence or two a line."""
    return "\n".join([f"{headline(result)}. {where(result)}", *details(result)])


def html(result: Calibration) -> str:
    """Return the whole answer for a notebook."""
    from html import escape  # noqa: PLC0415  (its tables cost more to load than all of this module)

    lines = "<br>".join(escape(line) for line in details(result))
    return (
        f"<div><b>{escape(headline(result))}.</b> {escape(where(result))}"
        f'<div style="opacity:.8;margin-top:.4em">{lines}</div></div>'
    )


def brief(result: Calibration) -> str:
    """Return the metric that decides, its P-value and the number of predictions."""
    r = result.ecce_r
    return f"ECCE-R {metric(r.value)} (P {pvalue(r)}, n = {result.n:,})"


def interval(result: Interval) -> str:
    """Describe a range of scores in one sentence."""
    if not result.n:
        return f"No predictions with scores from {score(result.low)} to {score(result.high)}."
    low, high = (points(limit) for limit in result.ci)
    return (
        f"{scores(result).capitalize()}, {predictions(result.n)}: "
        f"mean forecast {percent(result.mean_score)}, happened {percent(result.mean_response)}, "
        f"miscalibration {points(result.miscalibration)} points ({low} to {high})."
    )


def where(result: Calibration) -> str:
    """Say where and in which direction, or what would have been seen."""
    if not result.found:
        return _would_have_shown(result)
    worst = result.worst
    off = off_by(
        worst,
        worst.miscalibration,
        at=result.confidence_level,
        valid_for="all ranges at once",
        count=predictions(worst.n),
    )
    if not result.located:
        return (
            "These data do not show for certain where; the largest deviation is over "
            f"{scores(worst)}, where predictions were {off}."
        )
    return f"Over {scores(worst)} predictions are {off}."


def _would_have_shown(result: Calibration) -> str:
    """Say what these data could have shown: the effect that is found 99 times in 100."""
    if result.sigma == 0:
        return f"Every score is 0 or 1, and came true ({predictions(result.n)})."
    detectable = result.detectable
    if detectable >= 1:
        return f"{predictions(result.n)} can show next to nothing."
    return (
        f"With {_everyone(result)} an ECCE-R of {metric(detectable)} or more would almost "
        "surely have shown."
    )


def details(result: Calibration) -> list[str]:
    """Return the numbers behind the answer and what to keep in mind, a line each."""
    return [*facts(result), *(f"Note: {warning}" for warning in result.warnings)]


def facts(result: Calibration) -> list[str]:
    """Return the numbers behind the answer, a line each."""
    known = "perfect calibration gives"
    return [
        *(statistic(*pair, expected=known) for pair in result.statistics),
        *filter(None, [proper_scores(result)]),
        averages(result),
    ]


def averages(result: Calibration) -> str:
    """Say how many predictions there are, what they were on average and what happened."""
    forecast, happened = percent(result.mean_score), percent(result.base_rate)
    return f"{_everyone(result)}: mean forecast {forecast}, happened {happened}."


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
        said.append(f"Brier score {metric(brier.value)}, of which {_mcb(brier)} is miscalibration")
    if log_loss is not None:
        said.append(f"log loss {_loss(log_loss)}")
    return f"{'; '.join(said)}." if said else ""


def proper_score(score: Score) -> str:
    """Say what a score is made of."""
    if score.value == math.inf:
        return f"{score.name} infinite: a score of exactly 0 or 1 was wrong."
    return (
        f"{score.name} {metric(score.value)} = {_mcb(score)} miscalibration - "
        f"{metric(score.dsc)} discrimination + {metric(score.unc)} uncertainty."
    )


def _loss(score: Score) -> str:
    return "infinite" if score.value == math.inf else metric(score.value)


def _mcb(score: Score) -> str:
    """Write what miscalibration costs, as one number where it is one to so many digits."""
    low, high = map(metric, score.mcb_bounds)
    return low if low == high else f"{low} to {high}"


# Groups -------------------------------------------------------------------------------------------

# A printed table shows this many groups, and says how many more there are.
_MOST_ROWS = 30
# Of segments no more than so many are reported; more may stand out.
_TEN = 10
# The range where a segment is off is named unless it holds so much of it.
_MOSTLY = 0.9


def groups_headline(result: Assessments) -> str:
    """Say how many groups are miscalibrated."""
    failing, groups = len(result.failing), len(result)
    level = f"at {100 * (1 - result.confidence_level):.3g}%"
    if result.searched is not None:
        return _segments_headline(result, level)
    if groups == 1:
        negation = "" if failing else "not found to be "
        return f"The only {result.what} is {negation}miscalibrated {level}."
    level += f" after {ADJUSTMENTS[result.adjust].words}"
    if result.draws is not None:
        level += f" ({result.draws:,} draws)"
    if not failing:
        return f"None of {_count(result, groups)} is found to be miscalibrated {level}."
    verb = "is" if failing == 1 else "are"
    return f"{failing:,} of {_count(result, groups)} {verb} miscalibrated {level}."


def _segments_headline(result: Assessments, level: str) -> str:
    """Say how many segments are miscalibrated, of how many that were searched."""
    assert result.searched is not None  # noqa: S101
    if not result.searched:
        return "Nothing was searched: no feature has two levels with enough rows."
    searched = f"{_count(result, result.searched)} searched"
    level += f" after {ADJUSTMENTS[result.adjust].words}"
    if result.draws is not None:
        level += f" ({result.draws:,} draws)"
    if not len(result):
        if result.searched == 1:
            return f"The only segment searched is not found to be miscalibrated {level}."
        return f"None of {searched} is found to be miscalibrated {level}."
    one = len(result) == 1
    found = f"{_count(result, len(result))} {'is' if one else 'are'} miscalibrated"
    words = f"{found} {level}, of {searched}."
    if result.standing_out > len(result):
        accounts = "it accounts" if one else "these account"
        words += f" {result.standing_out:,} stand out, "
        words += "the strongest are given." if len(result) >= _TEN else f"and {accounts} for all."
    return words


def groups_text(result: Assessments) -> str:
    """Return the answer for many groups: a sentence or two, then the table, worst first."""
    header, rows = groups_table(result)
    if not rows:
        return "\n".join(groups_words(result))
    shown = [header, *rows[:_MOST_ROWS]]
    widths = [max(len(row[place]) for row in shown) for place in range(len(header))]
    names = len(result.by)

    def line(row: list[str]) -> str:
        cells = [
            text.ljust(width) if place < names or place == len(header) - 1 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    lines = [*groups_words(result), "", *(line(row) for row in shown)]
    if len(rows) > _MOST_ROWS:
        lines.append(f"... and {_count(result, len(rows) - _MOST_ROWS, ' more')}")
    return "\n".join(lines)


def groups_html(result: Assessments) -> str:
    """Return the answer for many groups for a notebook."""
    from html import escape  # noqa: PLC0415  (as in html)

    def row(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    header, rows = groups_table(result)
    if not rows:
        return f"<div><p>{'<br>'.join(map(escape, groups_words(result)))}</p></div>"
    body = "".join(row(cells, "td") for cells in rows[:_MOST_ROWS])
    words = "<br>".join(escape(words) for words in groups_words(result))
    more = len(rows) - _MOST_ROWS
    tail = f"<p>... and {_count(result, more, ' more')}</p>" if more > 0 else ""
    table = f"<table><thead>{row(header, 'th')}</thead><tbody>{body}</tbody></table>"
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
    if result.not_searched:
        words.append(f"Not searched: {'; '.join(result.not_searched)}.")
    return words


def _count(result: Assessments, number: int, more: str = "") -> str:
    """Say how many groups, or classes."""
    plural = {"class": "classes"}.get(result.what, f"{result.what}s")
    return f"{number:,}{more} {result.what if number == 1 else plural}"


def groups_table(result: Assessments, *, ranges: bool = True) -> tuple[list[str], list[list[str]]]:
    """Return the header and a row of texts for each group, worst first.

    Without ``ranges`` the verdicts do not say over which scores.
    """
    header = [*map(visible, result.by), "predictions", "forecast", "happened", "ECCE-R", "sigma"]
    rows = [_group_cells(row, len(result.by), ranges=ranges) for row in result.rows]
    return [*header, "adjusted P", "verdict"], rows


def _group_cells(row: Group, names: int, *, ranges: bool) -> list[str]:
    result, worst = row.calibration, row.calibration.worst
    verdict: str = row.status
    if isinstance(getattr(row, "ci", None), tuple):
        verdict = _segment_verdict(row, ranges=ranges)
    elif row.status != "miscalibrated":
        if result.n_forbidden:
            verdict += f"; {impossible(result)}"
    elif not worst.certain:
        verdict += ", not certain where"
    else:
        verdict = f"{worst.direction} by {points(abs(worst.miscalibration))} points"
        if ranges:
            verdict += f" over {score(worst.low)} to {score(worst.high)}"
    return [
        *(group_name(part) for part in (row.key if names > 1 else (row.key,))),
        f"{result.n:,}",
        percent(result.mean_score),
        percent(result.base_rate),
        metric(result.ecce_r.value),
        metric(result.ecce_r.normalized),
        adjusted_pvalue(row.adjusted_pvalue, result.ecce_r),
        verdict,
    ]


def _segment_verdict(row: Any, *, ranges: bool) -> str:
    """Say how far off a segment is on average, or where it is off, with limits after the search."""
    worst, whole = row.calibration.worst, _MOSTLY * row.calibration.n
    if row.direction == "mixed":
        if not worst.certain:
            low, high = (points(limit) for limit in row.ci)
            mean = f"{points(row.miscalibration)} points, {low} to {high}"
            return f"miscalibrated, not certain how (on average {mean})"
        off = _with_limits(worst.miscalibration, worst.ci)
        return f"{worst.direction} by {off} over {score(worst.low)} to {score(worst.high)}"
    words = f"{row.direction} by {_with_limits(row.miscalibration, row.ci)}"
    if ranges and worst.n < whole and worst.certain:
        words += f", mostly over {score(worst.low)} to {score(worst.high)}"
    return words


def _with_limits(amount: float, ci: tuple[float, float]) -> str:
    sign = -1 if amount < 0 else 1
    low, high = (points(limit) for limit in sorted(sign * limit for limit in ci))
    return f"{points(abs(amount))} points ({low} to {high})"


def group_name(key: Any) -> str:
    """Return a group's key as a reader sees it."""
    return "(missing)" if key is None else visible(str(key)) or "(empty)"
