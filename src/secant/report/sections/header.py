"""The head of the page and its foot: title and files, and where the numbers come from."""

from __future__ import annotations

from pathlib import PurePath
from platform import python_version
from typing import TYPE_CHECKING

import numpy as np

from secant._results.wording import predictions
from secant.report._html import Markup, join, name, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant.report._provenance import Provenance

__all__ = ["header", "provenance"]


def header(title: str, rows: int | None, about: Provenance, one: str = "prediction") -> Markup:
    """Return title, files, number of predictions and date."""
    facts: list[object] = [name(PurePath(file).name) for file in about.files[:3]]
    if len(about.files) > 3:
        facts.append(f"and {len(about.files) - 3:,} more")
    if rows is not None:
        facts.append(predictions(rows).replace("prediction", one))
    facts.append(about.date)
    dots = [join(" \N{MIDDLE DOT} " if number else "", fact) for number, fact in enumerate(facts)]
    return tag("header", tag("h1", name(title)), tag("p", *dots, class_="meta"))


def provenance(
    about: Provenance,
    rows: int | None,
    methods: Sequence[str],
    version: str,
    one: str = "prediction",
) -> Markup:
    """Return where the numbers come from, and a way to take them along."""
    versions = f"secant {version}, numpy {np.__version__}, Python {python_version()}"
    facts = [*about.facts(rows, methods, one), ("Versions", versions)]
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
