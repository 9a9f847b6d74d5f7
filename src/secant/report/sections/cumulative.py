"""The cumulative plot and the secant tool that reads it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from secant._drawing.graph import cumulative, noise_name
from secant._drawing.order import order_of
from secant._results.verdict import the_question
from secant.report._html import Markup, tag
from secant.report._svg import DESK, PHONE, UNIT, frame, picture, places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._drawing.chart import Axis
    from secant._drawing.graph import Drawable

__all__ = ["section", "view"]

_NOISE_SAYS = (
    "The scale of noise: the triangle reaches two sigma up and two sigma down{}. Under perfect "
    "calibration the curve ends no further from zero than that about 19 times in 20."
)
# Lines at the foot of the plot that the signs of ranges take.
_SIGNS = 1.4
_TOGETHER = ", times what clusters add to it"


def view(result: Drawable, others: Sequence[Drawable], *, steps: bool = True) -> dict[str, Any]:
    """Return how the axes of the plot stand when this result is being read.

    The ordinate has room for the curves of ``others`` too. ``wide`` and ``narrow`` are the scores
    written below on a screen and on a phone, ``steps`` marks at equal steps of the score, ``noise``
    how far down the name of the triangle stands, out of the way of the curve.
    """
    heights = [end for each in others for end in _ends(each)]
    chart = cumulative([result], PHONE, heights=heights, foot=_SIGNS)
    wide, narrow = (chart.x.ticks(space.width, space.size) for space in (DESK, PHONE))
    minor = [float(at) for at in chart.x.minor] if steps else []
    names = [1 - chart.y.share(mark.y) for mark in chart.of("hint")]
    return {
        "low": chart.y.low,
        "high": chart.y.high,
        "ticks": places(chart.y, chart.y.ticks(DESK.height)),
        "name": chart.x.name,
        "wide": places(chart.x, wide),
        "narrow": places(chart.x, narrow),
        "steps": "".join(f"M{UNIT * place:.5g} 0v1" for place in minor) or "M0 0",
        "noise": round(names[0], 4) if names else None,
    }


def _ends(result: Drawable) -> tuple[float, ...]:
    curve, noise = result.curve.difference, 2 * result.noise
    return float(curve.min()), float(curve.max()), -noise, noise


def section(drawn: Sequence[Drawable], first: dict[str, Any]) -> Markup:
    """Return the plot of some results, the tool laid over it and what it reads."""
    along, asks = order_of(drawn[0]).plural, _asks(drawn[0])
    return tag(
        "section",
        tag("h2", "Where is it off?"),
        tag(
            "p",
            "Slope is miscalibration; flat is good. ",
            tag(
                "span",
                f"Drag over the plot to measure any range of {along}.",
                class_="screen",
            ),
            class_="lead",
        ),
        *([tag("p", asks, class_="lead")] if asks else []),
        tag("div", id="series", class_="choices screen", role="group", aria_label="Model"),
        _plot(drawn, first),
        tag("div", id="presets", class_="choices", role="group", aria_label="Ranges"),
        _readout(),
        tag("noscript", tag("p", "Measuring ranges needs JavaScript; the plot does not.")),
        id="secant",
    )


def _asks(first: Any) -> str:
    """Say what another order than that of scores asks; a monitor has none."""
    return the_question(first) if getattr(first, "axis", None) is not None else ""


def _plot(drawn: Sequence[Drawable], first: dict[str, Any]) -> Markup:
    """Return the plot as it stands before anybody touches it."""
    chart = cumulative(drawn, PHONE, words=False)
    chart = replace(
        chart,
        y=replace(chart.y, low=first["low"], high=first["high"]),
        # The page knows one triangle, that of the curve that is being read.
        marks=[mark for mark in chart.marks if mark.role != "triangle" or mark.number == 0],
    )
    chart.marks[:] = [mark for mark in chart.marks if mark.kind != "text"]
    shown = picture(
        chart,
        tag("path", id="group-curve", d="M0 0", class_="curve group", hidden=True),
        tag("path", id="secant-line", d="M0 0", class_="secant", hidden=True),
        behind=tag("g", id="found"),
        id="picture",
    )
    steps = tag("path", d=first["steps"])
    return frame(
        chart,
        shown,
        tag(
            "svg",
            steps,
            viewBox=f"0 0 {UNIT} 1",
            preserveAspectRatio="none",
            class_="steps",
            aria_hidden="true",
        ),
        _noise(drawn[0], chart.y, first["noise"]),
        tag("div", id="signs", aria_hidden="true"),
        _tool(),
        class_="cumulative",
        area="area",
        id="plot",
    )


def _noise(result: Drawable, up: Axis, middle: float | None) -> Markup:
    """Return the place over the triangle that says what it means, with its name beside."""
    together = getattr(result, "n_clusters", None) is not None
    says = _NOISE_SAYS.format(_TOGETHER if together else "")
    top, bottom = (1 - float(up.share(sign * result.noise)) for sign in (2, -2))
    place = 0.0 if middle is None else (middle - top) / (bottom - top)
    name = tag(
        "span",
        noise_name(result),
        class_="noise-name",
        hidden=middle is None,
        style=f"top:{100 * place:.4g}%",
    )
    return tag(
        "span",
        name,
        tag("span", says, role="tooltip"),
        class_="term noise",
        id="noise",
        tabindex=0,
        aria_label=says,
        style=f"top:{100 * top:.4g}%;height:{100 * (bottom - top):.4g}%",
    )


def _tool() -> Markup:
    """Return what is laid over the cumulative plot to choose a range with."""

    def handle(identifier: str, says: str, **more: Any) -> Markup:
        return tag(
            "div",
            *more.pop("inside", ()),
            id=identifier,
            role="slider",
            tabindex=0,
            aria_label=says,
            aria_valuemin=0,
            aria_valuemax=100,
            aria_valuenow=0,
            **more,
        )

    return tag(
        "div",
        handle("whole", "Move the range", inside=[_caliper_text()]),
        handle("from", "Start of the range", class_="handle", inside=[tag("span", class_="knob")]),
        handle("to", "End of the range", class_="handle", inside=[tag("span", class_="knob")]),
        tag("span", id="hair", hidden=True),
        id="tool",
        hidden=True,
    )


def _caliper_text() -> Markup:
    """Return how far off the range is: a number, and words where there is room for them."""
    return tag("span", tag("b"), tag("span", class_="words"), id="caliper-text")


def _readout() -> Markup:
    """Return where the chosen range is put into words."""
    return tag(
        "div",
        tag("p", tag("span"), tag("b"), tag("span"), id="read-says"),
        tag(
            "div",
            tag(
                "div",
                *(tag("i", class_=each) for each in ("nought", "span", "dot")),
                id="whisker",
                aria_hidden="true",
            ),
            tag("p", id="read-level"),
        ),
        tag("p", id="read-alone"),
        tag("p", id="said", class_="unseen", aria_live="polite"),
        class_="readout",
        id="readout",
        hidden=True,
    )
