"""The answer: a headline and a sentence, then a strip of figures, or a table of several models."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from secant._drawing.findings import in_short
from secant._metrics.ecce import METRICS
from secant._results import group_words, verdict
from secant._results.score_words import dsc, loss, mcb
from secant._results.verdict import direction_said, tested, what_now, where
from secant._results.wording import decided, events, level, metric, percent, points, scores
from secant._results.words import words_of
from secant.report._definitions import definitions
from secant.report._html import Markup, join, name, row, table, tag
from secant.report._parts import caption, strip
from secant.report._provenance import Provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.calibration import Calibration
    from secant._results.parts import Interval
    from secant.report.sections.groups import Table

__all__ = ["verdicts"]

_DASH = "\N{EN DASH}"
_LOSSES = ["Brier score", "of it miscalibration", "discrimination", "log loss"]


def verdicts(
    names: Sequence[str],
    results: Sequence[Calibration],
    tables: Sequence[Table],
    *,
    about: Provenance | None = None,
    compared: Sequence[str] = (),
) -> Markup:
    """Return the answer about all models, and about their groups.

    ``about`` knows how all stand with a gate, ``compared`` says how models compare with each other.
    """
    about = Provenance() if about is None else about
    gates = [tag("p", words, class_="verdict gate") for words in about.gate]
    answers = gates
    if len(results) == 1:
        headline = next(iter(about.headlines.values()), verdict.headline(results[0]))
        answers = [_alone(results[0], headline, gates)]
    if len(results) > 1:
        answers = [_table(names, results, compared, gates)]
    words = [_groups_verdict(table) for table in tables]
    return tag("section", *answers, *words, aria_label="Verdict", class_="verdicts")


def _groups_verdict(table: Table) -> Markup:
    whose = None if table.whose is None else join(name(table.whose), ": ")
    link = tag("a", group_words.headline(table.groups), href=f"#{table.id}")
    return tag("p", whose, link, class_="verdict groups-verdict")


# --- one model ------------------------------------------------------------------------------------


def _alone(result: Calibration, headline: str, gates: Sequence[Markup]) -> Markup:
    notes = _notes(result)
    return tag(
        "article",
        tag(
            "p",
            tag("strong", f"{headline}."),
            f" {where(result, farthest=False)} {tested(result)}",
            class_="verdict",
        ),
        *gates,
        strip(_figures(result), definitions(result)),
        tag("ul", *(tag("li", each) for each in notes), class_="details") if notes else None,
        class_="card",
    )


def _notes(result: Calibration) -> list[str]:
    """Return what usually helps, and what to keep in mind."""
    return [*filter(None, [what_now(result)]), *(f"Note: {each}" for each in result.warnings)]


def _figures(result: Calibration) -> list[tuple[str, str, str]]:
    """Return what the strip shows: how far off in all, at the steepest, in losses, on average."""
    r, many = result.ecce_r, events(result.ecce_r.value)
    about = words_of(result).coverage
    what = f"event{'' if many == '1' else 's'}"
    if about:
        what = "fewer" if result.worst.miscalibration < 0 else "more"
    figures = [("ECCE-R", metric(r.value), f"{many} {what} in 1,000"), _steepest(result)]
    if about:  # which have one score, the level
        promised = f"{level(result.mean_score)} was promised"
        return [*figures, ("Covered", percent(result.base_rate), promised)]
    brier, log_loss = result.proper_scores
    if brier is not None:
        # Where nothing was found it would be noise that is called miscalibration.
        beside = [f"{mcb(brier)} is miscalibration"] if result.found else []
        beside += [] if log_loss is None else [f"log loss {loss(log_loss)}"]
        figures.append(("Brier score", metric(brier.value), "; ".join(beside)))
    outcome = f"mean outcome {percent(result.base_rate)}"
    return [*figures, ("Mean forecast", percent(result.mean_score), outcome)]


def _steepest(result: Calibration) -> tuple[str, str, str]:
    label, steepest = "Steepest place", result.steepest
    if steepest is None:
        why = "not certain where" if result.found else "nothing is off beyond noise"
        if result.n_forbidden and not result.found:
            why = f"but for {verdict.impossible(result)}, {why}"
        return label, "none shown", why
    how = direction_said(result, steepest.direction)
    return label, _at_least(steepest), f"{how}, {scores(steepest)}"


def _at_least(steepest: Interval) -> str:
    return f"\N{GREATER-THAN OR EQUAL TO} {points(steepest.at_least)} points"


# --- several models -------------------------------------------------------------------------------


def _table(
    names: Sequence[str],
    results: Sequence[Calibration],
    compared: Sequence[str],
    gates: Sequence[Markup],
) -> Markup:
    """Return one row a model, the best first."""
    coverage = words_of(results[0]).coverage
    order = list(range(len(results)))
    if not compared:  # or else they are in order
        order.sort(key=lambda number: _rank(results[number], coverage=coverage))
    columns = ["direction", "ECCE-R", "by chance", "limits", "P", "steepest"]
    columns += ["promised", "covered"] if coverage else _LOSSES
    kinds = ["" if each == "direction" else "number" for each in columns]
    body = [
        row(_cells(results[number]), kinds, head=caption(number, names, "span")) for number in order
    ]
    notes = [
        tag("li", name(names[number]), f": {each}")
        for number in order
        for each in _notes(results[number])
    ]
    return join(
        tag("p", _best(names, results, order, compared), class_="verdict"),
        *gates,
        table([("model", ""), *zip(columns, kinds, strict=True)], body, class_="table models"),
        tag("ul", *notes, class_="details") if notes else None,
    )


def _rank(result: Calibration, *, coverage: bool) -> float:
    """Return what models are ranked by: what forecasts lose, of intervals ECCE-R."""
    brier, _ = result.proper_scores
    if coverage or brier is None:
        return result.ecce_r.value if coverage else math.inf
    return brier.value


def _cells(result: Calibration) -> list[str]:
    low, high = result.ecce_r.ci
    steepest = result.steepest
    return [
        _direction(result),
        metric(result.ecce_r.value),
        metric(result.by_chance(METRICS[0]) * result.sigma),
        f"{metric(low)} to {metric(high)}",
        decided(result).removeprefix("= "),
        _DASH if steepest is None else _at_least(steepest),
        *(_kept(result) if words_of(result).coverage else _losses(result)),
    ]


def _kept(result: Calibration) -> list[str]:
    """Return how often intervals were to cover, and how often they do."""
    return [level(result.mean_score), percent(result.base_rate)]


def _losses(result: Calibration) -> list[str]:
    brier, log_loss = result.proper_scores
    return [
        _DASH if brier is None else metric(brier.value),
        _DASH if brier is None else mcb(brier),
        _DASH if brier is None else dsc(brier),
        _DASH if log_loss is None else loss(log_loss),
    ]


def _direction(result: Calibration) -> str:
    """Return the directions found, in a few words."""
    nothing = not (result.found or result.n_forbidden)
    return "nothing found beyond noise" if nothing else in_short(result)


def _best(
    names: Sequence[str],
    results: Sequence[Calibration],
    order: Sequence[int],
    compared: Sequence[str],
) -> Markup:
    """Say how many models were found to be off, and which makes better forecasts."""
    off, every = sum(result.found for result in results), len(results)
    levels = {level(1 - result.confidence_level) for result in results}
    at = f" at {levels.pop()}" if len(levels) == 1 else ""
    best = (*(f" {words}" for words in compared),)
    if words_of(results[0]).coverage:
        off_in = f"Coverage of {off} of {every} models is off"
        said, smallest = f"{off_in if off else 'No fault in coverage found'}{at}.", "ECCE-R"
    else:
        which = f"{off or 'None'} of {every} models {'is' if off < 2 else 'are'}"
        said, smallest = f"{which} found to be miscalibrated{at}.", "Brier score"
    return join(
        tag("strong", said),
        *(best or (" ", name(names[order[0]]), f" has the smallest {smallest}.")),
    )
