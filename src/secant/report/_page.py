"""The page: its sections, the numbers, the styles and the scripts in one file."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from secant._results.words import words_of
from secant.report import _numbers, _svg
from secant.report._html import Markup, data_block, join, tag
from secant.report._parts import model_name
from secant.report.sections import bins as _bins
from secant.report.sections import cumulative, metrics, verdict
from secant.report.sections import groups as _groups
from secant.report.sections import header as _header
from secant.report.sections import segments as _segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.assessments import Assessments
    from secant._results.calibration import Calibration
    from secant.report._provenance import Provenance

__all__ = ["document", "render"]

# Points of the curves of all models together; what a file of a few megabytes can hold.
_POINTS = 12_000
_POINTS_A_MODEL = 4_000
# Of more models than this the reliability diagrams end at fewer bins.
_FEW_MODELS = 3
_FEWER_BINS = 256
_SCRIPTS = ("secant.js", "page.js")


def render(
    names: Sequence[str | None],
    results: Sequence[Calibration],
    tables: Sequence[tuple[str | None, Assessments]],
    *,
    title: str,
    about: Provenance,
    version: str,
    compared: Sequence[str] = (),
) -> str:
    """Return the page as HTML; ``tables`` are groups and the models whose they are.

    ``compared`` says how models compare with each other.
    """
    named = [model_name(each, number) for number, each in enumerate(names)]
    most = min(_POINTS_A_MODEL, _POINTS // max(len(results), 1))
    bins = _numbers.POSITIONS[-1] if len(results) <= _FEW_MODELS else _FEWER_BINS
    models = [_numbers.model(result, most=most, diagrams=bins) for result in results]
    groups = _groups.shared_out(tables)
    drawn = results or [row.calibration for table in groups for row in table.rows][:1]
    views = {
        "models": [cumulative.view(each, results) for each in results],
        "groups": [
            cumulative.view(row.calibration, results, steps=False)
            for table in groups
            for row in table.rows
        ],
    }
    numbers = {
        "secant": version,
        "title": title,
        "provenance": about.to_dict(),
        "models": [{"name": each, **model} for each, model in zip(named, models, strict=True)],
        "groups": [_groups.numbers(table) for table in groups],
    }
    everyone = [*results, *(row.calibration for _, each in tables for row in each.rows)]
    rows = _count(results, tables)
    intervals = bool(drawn) and all(
        words_of(each).coverage for each in drawn
    )  # of one score: nothing to bin
    one = "interval" if intervals else "prediction"
    body = join(
        _header.header(title, rows, about, one),
        verdict.verdicts(named, results, groups, compared=compared, about=about),
        cumulative.section(drawn, (views["models"] or views["groups"])[0]),
        _bins.section(named, models, results) if models and not intervals else None,
        _bins.scores(named, models, results) if models and not intervals else None,
        *map(_section, groups),
        metrics.section(named, results, models) if models else None,
        _header.provenance(about, rows, _methods(everyone), version, one),
        tag("footer", f"Made with secant {version}."),
    )
    return document(title, body, numbers, views)


def _section(table: _groups.Table) -> Markup:
    segments = table.groups.what == "segment"
    return _segments.section(table) if segments else _groups.section(table)


def _count(
    results: Sequence[Calibration], tables: Sequence[tuple[str | None, Assessments]]
) -> int | None:
    """Return the number of predictions, where there is one."""
    counts = {result.n for result in results}
    if not results:
        apart = [groups for _, groups in tables if groups.what != "segment"]  # these share rows
        counts = {sum(row.calibration.n for row in groups.rows) for groups in apart}
    return counts.pop() if len(counts) == 1 else None


def _methods(everyone: Sequence[Calibration]) -> list[str]:
    """Return how P-values were obtained, each way once."""
    by_metric = zip(*(each.statistics for each in everyone), strict=True)
    pairs = [pair for pairs in by_metric for pair in pairs]
    return list(dict.fromkeys(f"{metric.name}: {value.method}" for metric, value in pairs))


def document(title: str, body: Markup, numbers: dict[str, Any], views: dict[str, Any]) -> str:
    """Return a page with its styles, its scripts and the numbers they read."""
    style = Markup(_svg.css() + _asset("page.css"))
    script = Markup("\n".join(_asset(each) for each in _SCRIPTS))
    # The browser itself then refuses every request, and every script but ours.
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "style-src-attr 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", style),
    )
    page = tag(
        "body",
        tag("main", body),
        data_block("numbers", numbers),
        data_block("views", views),
        tag("script", script),
    )
    return f"<!doctype html>\n{tag('html', head, page, lang='en')}\n"


def _asset(file: str) -> str:
    return files("secant.report").joinpath("assets", file).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
