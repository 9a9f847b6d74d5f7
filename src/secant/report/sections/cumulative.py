"""The cumulative plot and the secant tool that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant._drawing.order import order_of
from secant._results.verdict import the_question
from secant.report import _charts
from secant.report._html import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["section"]


def section(drawn: Sequence[_charts.Drawable], first: dict[str, Any]) -> Markup:
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
        _charts.cumulative(drawn, first, _tool()),
        tag("div", id="presets", class_="choices", role="group", aria_label="Ranges"),
        _readout(),
        tag("noscript", tag("p", "Measuring ranges needs JavaScript; the plot does not.")),
        id="secant",
    )


def _asks(first: Any) -> str:
    """Say what another order than that of scores asks; a monitor has none."""
    return the_question(first) if getattr(first, "axis", None) is not None else ""


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
