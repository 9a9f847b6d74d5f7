"""Small parts that several sections of the page are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant.report._definitions import DEFINITIONS
from secant.report._html import Markup, name, tag
from secant.report._svg import swatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["caption", "model_name", "strip", "term"]


def term(text: str, says: str, **attributes: Any) -> Markup:
    """Return a word that explains itself under the pointer, the finger or the keyboard's focus."""
    return tag(
        "span", text, tag("span", says, role="tooltip"), class_="term", tabindex=0, **attributes
    )


def model_name(model: str | None, number: int) -> str:
    """Return the name of a model, also of one nobody named."""
    return f"Model {number + 1}" if model is None else model


def caption(number: int, names: Sequence[str], element: str = "h3") -> Markup | None:
    """Return the name of a model with a piece of its line; nothing where it stands alone."""
    if len(names) == 1:
        return None
    return tag(element, swatch(number), name(names[number]))


def strip(
    figures: Iterable[tuple[str, str, str]], meaning: Mapping[str, str] = DEFINITIONS
) -> Markup:
    """Return figures side by side: what each is called, the number, and what to say below it."""
    return tag("dl", *(_figure(*each, meaning) for each in figures), class_="strip")


def _figure(label: str, value: str, below: str, meaning: Mapping[str, str]) -> Markup:
    title = term(label, meaning[label]) if label in meaning else label
    return tag("div", tag("dt", title), tag("dd", value), tag("dd", below, class_="small"))
