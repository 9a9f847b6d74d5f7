"""The head of the page and its foot: the title, the verdicts, where the numbers come from."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from secant import null
from secant._results import verdict
from secant._results.wording import level, metric, percent, predictions
from secant.report import _charts
from secant.report._definitions import DEFINITIONS
from secant.report._html import Markup, join, name, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.calibration import Calibration
    from secant._results.parts import Statistic
    from secant.report._provenance import Provenance
    from secant.report.sections.groups import Table

__all__ = ["caption", "header", "model_name", "provenance", "term", "verdicts"]


def term(text: str, says: str, **attributes: Any) -> Markup:
    """Return a word that explains itself under the pointer, the finger or the keyboard's focus."""
    return tag(
        "span", text, tag("span", says, role="tooltip"), class_="term", tabindex=0, **attributes
    )


def header(title: str, rows: int | None, about: Provenance) -> Markup:
    """Return title, files, number of predictions and date."""
    facts: list[object] = [name(PurePath(file).name) for file in about.files[:3]]
    if len(about.files) > 3:
        facts.append(f"and {len(about.files) - 3:,} more")
    if rows is not None:
        facts.append(predictions(rows))
    facts.append(about.date)
    dots = [join(" \N{MIDDLE DOT} " if number else "", fact) for number, fact in enumerate(facts)]
    return tag("header", tag("h1", name(title)), tag("p", *dots, class_="meta"))


# --- the verdict ----------------------------------------------------------------------------------


def verdicts(
    names: Sequence[str],
    results: Sequence[Calibration],
    tables: Sequence[Table],
) -> Markup:
    """Return the verdicts of all models side by side, and those of their groups."""
    cards = [
        _verdict_card(result, caption(number, names, "h2")) for number, result in enumerate(results)
    ]
    words = [_groups_verdict(table) for table in tables]
    return tag("section", tag("div", *cards, class_="verdicts"), *words, aria_label="Verdict")


def _groups_verdict(table: Table) -> Markup:
    whose = None if table.whose is None else join(name(table.whose), ": ")
    link = tag("a", verdict.groups_headline(table.groups), href=f"#{table.id}")
    return tag("p", whose, link, class_="verdict groups-verdict")


def _verdict_card(result: Calibration, head: Markup | None) -> Markup:
    facts = [tag("li", line) for line in verdict.lines(result)[1:]]
    notes = [tag("li", f"Note: {warning}", class_="note") for warning in result.warnings]
    return tag(
        "article",
        head,
        tag(
            "p",
            tag("strong", f"{verdict.headline(result)}."),
            f" {verdict.where(result)}",
            class_="verdict",
        ),
        _strip(result),
        tag("ul", *facts, *notes, class_="details"),
        class_="card",
    )


def model_name(model: str | None, number: int) -> str:
    """Return the name of a model, also of one nobody named."""
    return f"Model {number + 1}" if model is None else model


def caption(number: int, names: Sequence[str], element: str = "h3") -> Markup | None:
    """Return the name of a model with a piece of its line; nothing where it stands alone."""
    if len(names) == 1:
        return None
    return tag(element, _swatch(number), name(names[number]))


def _swatch(number: int) -> Markup:
    return _charts.picture(
        tag("path", d="M0 500h1000", class_=f"curve model-{number % 5}"), class_="swatch"
    )


def _strip(result: Calibration) -> Markup:
    r, mad = result.ecce_r, result.ecce_mad
    figures = [
        ("ECCE-R", metric(r.value), _limits(r, result)),
        ("ECCE-MAD", metric(mad.value), _limits(mad, result)),
        ("In units of noise", f"{metric(r.normalized)} sigma", _expected()),
        ("Mean outcome", percent(result.base_rate), f"forecast {percent(result.mean_score)}"),
    ]
    return tag("dl", *(_figure(*each) for each in figures), class_="strip")


def _figure(label: str, value: str, below: str) -> Markup:
    title = term(label, DEFINITIONS[label]) if label in DEFINITIONS else label
    return tag("div", tag("dt", title), tag("dd", value), tag("dd", below, class_="small"))


def _limits(statistic: Statistic, result: Calibration) -> str:
    low, high = statistic.ci
    return f"{level(result.confidence_level)} limits {metric(low)} to {metric(high)}"


def _expected() -> str:
    return f"perfect calibration gives about {null.range.mean:.2g}"


# --- where it comes from --------------------------------------------------------------------------


def provenance(about: Provenance, rows: int | None, methods: Sequence[str], version: str) -> Markup:
    """Return where the numbers come from, and a way to take them along."""
    facts = [*about.facts(rows, methods), ("Version", f"secant {version}")]
    pairs = [join(tag("dt", label), tag("dd", value)) for label, value in facts]
    return tag(
        "section",
        tag("h2", "Where this comes from"),
        tag("dl", *pairs, class_="facts"),
        tag(
            "p",
            tag("button", "Download the numbers (JSON)", id="download", type="button"),
            class_="screen",
        ),
        id="provenance",
    )
