"""The page: its sections, the numbers, the styles and the scripts in one file."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from secant.report import _charts, _numbers, _sections
from secant.report._html import Markup, data_block, join, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._calibration import Calibration
    from secant.report._provenance import Provenance

__all__ = ["render"]

# Points of the curves of all models together; what a file of a few megabytes can hold.
_POINTS = 12_000
_POINTS_A_MODEL = 4_000
_SCRIPTS = ("secant.js", "page.js")


def render(
    names: Sequence[str | None],
    results: Sequence[Calibration],
    *,
    title: str,
    about: Provenance,
    version: str,
) -> str:
    """Return the page as HTML."""
    most = min(_POINTS_A_MODEL, _POINTS // len(results))
    models = [_numbers.model(result, most=most) for result in results]
    first = _charts.view(results[0], results[1:])
    views = [_charts.view(each, [r for r in results if r is not each]) for each in results]
    named = [
        {"name": _sections.model_name(names[i], i) if len(results) > 1 else names[i], **each}
        for i, each in enumerate(models)
    ]
    numbers = {"secant": version, "title": title, "provenance": about.to_dict(), "models": named}
    body = join(
        _sections.header(title, results, about),
        _sections.verdicts(names, results),
        _secant_section(results, first),
        _sections.bins(names, models),
        _sections.scores(names, models),
        _sections.metrics(names, results, models),
        _sections.provenance(about, results, version),
        tag("footer", f"Made with secant {version}."),
    )
    return _document(title, body, numbers, {"models": views})


def _secant_section(results: Sequence[Calibration], first: dict[str, Any]) -> Markup:
    return tag(
        "section",
        tag("h2", "Where is it off?"),
        tag(
            "p",
            "Predictions in the order of their scores: slope is miscalibration, flat is good. ",
            tag("span", "Drag over the plot to measure any range of scores.", class_="screen"),
            class_="lead",
        ),
        tag("div", id="series", class_="choices screen", role="group", aria_label="Model"),
        _charts.cumulative(results, first, _sections.tool()),
        tag("div", id="presets", class_="choices", role="group", aria_label="Ranges"),
        _sections.readout(),
        tag("noscript", tag("p", "Measuring ranges needs JavaScript; the plot does not.")),
        id="secant",
    )


def _document(
    title: str, body: Markup, numbers: dict[str, Any], views: dict[str, Any]
) -> str:
    style = Markup(_asset("page.css"))
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
    return files("secant.report").joinpath(file).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
