"""HTML made so that text from data can only ever be text."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Markup", "data_block", "join", "name", "row", "table", "tag"]

_VOID = frozenset({"input", "meta", "br", "wbr"})


class Markup(str):
    """Text that is HTML already; every other text is escaped before it gets into a page."""

    __slots__ = ()


def tag(element: str, *children: object, **attributes: Any) -> Markup:
    """Return an element; what is not :class:`Markup` among its children is text.

    Parameters
    ----------
    element : str
        Its name.
    *children : object
        What it holds; None is left out.
    **attributes
        Underscores become hyphens, one at the end falls away. None and False leave an attribute
        out, True gives one without a value.

    Examples
    --------
    >>> tag("td", "a < b", tag("b", "!"), class_="number", data_row=3, hidden=None)
    '<td class="number" data-row="3">a &lt; b<b>!</b></td>'
    """
    opened = f"<{element}{''.join(_attribute(*item) for item in attributes.items())}>"
    if element in _VOID:
        return Markup(opened)
    return Markup(f"{opened}{join(*children)}</{element}>")


def join(*children: object) -> Markup:
    """Return what stands side by side, escaped where it is text."""
    return Markup("".join(_child(child) for child in children if child is not None))


def name(text: str) -> Markup:
    """Return a name from data, which may be written in either direction.

    Where a long one needs a second line it breaks after an underscore.

    Examples
    --------
    >>> name("<b>_flat")
    '<bdi>&lt;b&gt;_<wbr>flat</bdi>'
    """
    return tag("bdi", Markup(_child(text).replace("_", f"_{tag('wbr')}")))


def row(
    cells: Iterable[object],
    kinds: Iterable[str],
    element: str = "td",
    *,
    head: object = None,
    **attributes: Any,
) -> Markup:
    """Return a row of a table: cells with the kinds of their columns, after one that names it.

    Examples
    --------
    >>> row(["a", 3], ["", "number"], data_mood="low")
    '<tr data-mood="low"><td>a</td><td class="number">3</td></tr>'
    """
    scope = "col" if element == "th" else None
    inside = [
        tag(element, cell, class_=kind or None, scope=scope)
        for cell, kind in zip(cells, kinds, strict=True)
    ]
    first = None if head is None else tag("th", head, scope="row")
    return tag("tr", first, *inside, **attributes)


def table(heads: Iterable[tuple[object, str]], rows: Iterable[Markup], **attributes: Any) -> Markup:
    """Return a table that moves sideways where it is too wide: heads with kinds, and rows."""
    titles, kinds = zip(*heads, strict=True)
    head = tag("thead", row(titles, kinds, "th"))
    return tag("div", tag("table", head, tag("tbody", *rows)), **{"class_": "table", **attributes})


def data_block(identifier: str, data: object) -> Markup:
    r"""Return JSON that scripts of the page can read and that cannot end its own element.

    Examples
    --------
    >>> data_block("d", {"a": "</script>"})
    '<script type="application/json" id="d">{"a":"\\u003c/script\\u003e"}</script>'
    """
    # ensure_ascii writes U+2028 and U+2029, which end lines in older scripts, as escapes.
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return tag("script", Markup(text), type="application/json", id=identifier)


def _child(child: object) -> str:
    return child if isinstance(child, Markup) else escape(str(child))


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    written = key.removesuffix("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{escape(str(value))}"'
