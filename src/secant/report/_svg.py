"""Charts as SVG, without a library: pictures that stretch, labels that do not.

A chart is an *area* with a picture that fills it whatever its shape, and labels around it in HTML,
placed by percentages. So one page fits the screen, the phone and paper without a script.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._drawing.chart import Space
from secant._drawing.style import COLORS, LOOKS, look_of, model_style
from secant.report._html import Markup, join, tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from secant._drawing.chart import Axis, Chart, Mark, Ticks
    from secant._drawing.style import Look

__all__ = ["DESK", "PHONE", "UNIT", "css", "frame", "grid", "labels", "picture", "places", "swatch"]

# Length of the sides of a chart, in its own coordinates.
UNIT = 1000
# The room of a chart on a screen and on a phone.
DESK, PHONE = Space(9.5, 3.75), Space(3.2, 2.5)
_MODELS = 5


def picture(
    chart: Chart, *more: object, behind: object = None, alone: bool = False, **attributes: Any
) -> Markup:
    """Return an SVG of the marks of a chart that fills its box, whatever its shape.

    Parameters
    ----------
    chart : Chart
        What to draw.
    *more, behind : Markup
        What the page draws over and behind them.
    alone : bool
        Whether the picture brings its own colours, where there are no styles.
    **attributes
        Of the element.
    """
    marks = sorted(chart.marks, key=lambda mark: LOOKS[mark.role].layer)
    drawn = [_drawn(mark, chart, alone=alone) for mark in marks if mark.kind != "text"]
    usual = {"viewBox": f"0 0 {UNIT} {UNIT}", "preserveAspectRatio": "none", "aria_hidden": "true"}
    return tag("svg", behind, *drawn, *more, **{**usual, **attributes})


def frame(
    chart: Chart,
    drawn: Markup,
    *inside: object,
    class_: str,
    area: str | None = None,
    **attributes: Any,
) -> Markup:
    """Return a chart: a picture with its axes around, their names, and its words.

    Parameters
    ----------
    chart : Chart
        What it shows.
    drawn : Markup
        Its picture.
    *inside : Markup
        What the page lays over it.
    class_, area
        The class of the chart, and what the page calls its area.
    **attributes
        Of the element.
    """
    top = [] if chart.top is None else [labels("top", chart.top)]
    words = [_words(mark, chart) for mark in chart.marks if mark.kind == "text"]
    share = None if chart.top is None else tag("p", chart.top.name, class_="axis-name end")
    return tag(
        "div",
        tag("p", chart.y.name, class_="axis-name"),
        share,
        tag(
            "div",
            drawn,
            *top,
            labels("left", chart.y),
            labels("bottom", chart.x),
            *words,
            *inside,
            class_="area",
            id=area,
        ),
        tag("p", chart.x.name, class_="axis-name below end"),
        class_=f"chart {class_}",
        **attributes,
    )


def labels(side: str, axis: Axis) -> Markup:
    """Return what is written along one side of a chart, on a screen and on a phone."""
    up = side == "left"
    if up or axis.write is None:
        return _labels(side, axis, axis.ticks(DESK.height))
    wide, narrow = (axis.ticks(space.width, space.size) for space in (DESK, PHONE))
    return join(_labels(f"{side} wide", axis, wide), _labels(f"{side} narrow", axis, narrow))


def _labels(classes: str, axis: Axis, ticks: Ticks) -> Markup:
    up = classes.startswith("left")
    spans = [
        tag("span", text, style=f"{'top' if up else 'left'}:{100 * (1 - at if up else at):.4g}%")
        for at, text in places(axis, ticks)
    ]
    return tag("div", *spans, class_=f"axis {classes}", aria_hidden="true")


def places(axis: Axis, ticks: Iterable[tuple[float, str]]) -> Ticks:
    """Return ticks with their places as shares of the axis."""
    return [(round(float(axis.share(at)), 4), text) for at, text in ticks]


def grid(axis: Axis) -> Markup:
    """Return horizontal lines at the ticks of an ordinate."""
    ticks = places(axis, axis.ticks(DESK.height))
    moves = "".join(f"M0 {UNIT * (1 - at):.6g}h{UNIT}" for at, _ in ticks)
    return tag("path", d=moves or "M0 0", class_="grid")


def swatch(number: int) -> Markup:
    """Return a piece of the line of a model."""
    piece = tag("path", d="M0 500h1000", class_=f"curve model-{number % _MODELS}")
    return tag(
        "svg",
        piece,
        viewBox="0 0 1000 1000",
        preserveAspectRatio="none",
        class_="swatch",
        aria_hidden="true",
    )


# --- marks ----------------------------------------------------------------------------------------


def _drawn(mark: Mark, chart: Chart, *, alone: bool) -> Markup:
    look = look_of(mark)
    x, y = UNIT * chart.x.share(np.asarray(mark.x)), UNIT * (1 - chart.y.share(np.asarray(mark.y)))
    dots = _dots(x, y) if mark.kind in ("line", "dots") and look.dot else ""
    path = "" if mark.kind == "dots" else _path(mark.kind, x, y)
    shown = [tag("path", d=path, **_attributes(mark, look, alone=alone))] if path else []
    if dots:
        shown.append(tag("path", d=dots, **_attributes(mark, look, alone=alone, dots=True)))
    return join(*shown)


def _path(kind: str, x: Any, y: Any) -> str:
    if kind == "span":
        return f"M{x[0]:.6g} 0H{x[1]:.6g}V{UNIT}H{x[0]:.6g}Z"
    if kind == "bars":
        room = 0.08 * (x[1] - x[0])
        corners = zip(x[:-1].tolist(), x[1:].tolist(), y.tolist(), strict=True)
        bars = [
            f"M{a + room:.5g} {UNIT}V{top:.5g}H{b - room:.5g}V{UNIT}Z"
            for a, b, top in corners
            if top < UNIT
        ]
        return "".join(bars) or "M0 0"
    return _through(x, y) + ("Z" if kind == "area" else "")


def _through(x: Any, y: Any) -> str:
    """Return the path through points."""
    points = np.column_stack([x, y]).round(1).tolist()
    return "M" + "L".join(f"{a:.6g} {b:.6g}" for a, b in points)


def _dots(x: Any, y: Any) -> str:
    """Return lines of no length, whose round ends are dots that do not stretch with the picture."""
    return "".join(f"M{a:.5g} {b:.5g}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _attributes(mark: Mark, look: Look, *, alone: bool, dots: bool = False) -> dict[str, Any]:
    if alone:
        color = "currentColor" if look.color == "ink" else COLORS[look.color][0]
        return {
            key.replace("-", "_"): value for key, value in _style(look, color, dots=dots).items()
        } | {"vector_effect": "non-scaling-stroke"}
    several = LOOKS[mark.role].color == "model" and mark.role == "curve"
    classes = [mark.role.replace(" ", "-"), *(["dots"] if dots else [])]
    classes += [f"model-{mark.number % _MODELS}"] if several else []
    return {
        "class_": " ".join(classes),
        "data_mood": mark.mood or None,
        "data_view": mark.view or None,
        "data_series": mark.number if mark.role == "curve" else None,
    }


def _style(look: Look, color: str, *, dots: bool = False) -> dict[str, Any]:
    """Return what SVG calls a look in some colour."""
    if dots:
        return {
            "fill": "none",
            "stroke": color,
            "stroke-width": f"{look.dot:g}pt",
            "stroke-linecap": "round",
        }
    if not look.width:
        return {"fill": color, "fill-opacity": look.alpha}
    line: dict[str, Any] = {"fill": "none", "stroke": color, "stroke-width": f"{look.width:g}pt"}
    line |= {"stroke-opacity": look.alpha} if look.alpha < 1 else {}
    dash = " ".join(f"{look.width * part:g}pt" for part in look.dash)
    return line | ({"stroke-dasharray": dash} if dash else {})


def _words(mark: Mark, chart: Chart) -> Markup:
    """Return a text at its place, which may be an end of the axes."""
    left = mark.x > 0 if math.isinf(mark.x) else chart.x.share(mark.x)
    top = mark.y < 0 if math.isinf(mark.y) else 1 - chart.y.share(mark.y)
    style = f"left:{100 * float(left):.4g}%;top:{100 * float(top):.4g}%"
    return tag(
        "span",
        mark.says,
        class_=f"label {mark.role}",
        data_at=mark.anchor or None,
        data_mood=mark.mood or None,
        data_view=mark.view or None,
        style=f"{style};--row:{mark.row:g}" if mark.row else style,
    )


# --- styles ---------------------------------------------------------------------------------------


def css() -> str:
    """Return the looks of all roles as the styles of a page, for light and for dark screens."""
    light, dark = (
        ";".join(f"--{name}:{shades[number]}" for name, shades in COLORS.items())
        for number in (0, 1)
    )
    rules = [
        f":root{{{light}}}",
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}",
    ]
    for role, look in LOOKS.items():
        color = {"mood": "mood-line", "model": "ink"}.get(look.color, look.color)
        name = role.replace(" ", "-")
        rules.append(_rule(f"svg .{name}", _style(look, f"var(--{color})")))
        if look.dot:
            rules.append(_rule(f"svg .{name}.dots", _style(look, f"var(--{color})", dots=True)))
    for number in range(1, _MODELS):
        style = model_style(number)
        look = LOOKS["curve"]._replace(dash=style.dash)
        rules.append(_rule(f"svg .curve.model-{number}", _style(look, f"var(--{style.color})")))
    return "\n".join(rules) + "\n"


def _rule(selector: str, style: dict[str, Any]) -> str:
    return f"{selector}{{{';'.join(f'{key}:{value}' for key, value in style.items())}}}"
