"""What depends on bins: the reliability diagram, the ECE, the distribution of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant._wording import metric, percent
from secant.report import _charts
from secant.report._html import Markup, join, tag
from secant.report._sections import caption

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["scores", "section"]

_GONE = (
    "This result no longer has its predictions, only the points of its curve, and bins need "
    "them. Assess the predictions again to see this part."
)
_FIRST_SHOWN = 15


def section(names: Sequence[str], numbers: Sequence[dict[str, Any]]) -> Markup:
    """Return the reliability diagram and the ECE against the number of bins, for each model."""
    blocks = [_bins_of(i, each, caption(i, names)) for i, each in enumerate(numbers)]
    some = any(each["bins"] for each in numbers)
    return tag(
        "section",
        tag("h2", "Why not just ECE?"),
        tag(
            "p",
            "A binned error changes with the bins, and noise alone keeps it away from 0: with "
            "perfect calibration it would still reach the noise floor. The ECCE has no bins.",
            class_="lead",
        ),
        _controls() if some else None,
        tag("div", *blocks, class_="side-by-side"),
        id="bins",
        data_strategy="uniform",
    )


def _controls() -> Markup:
    def choice(value: str, label: str) -> Markup:
        box = tag("input", type="radio", name="strategy", value=value, checked=value == "uniform")
        return tag("label", box, label)

    return tag(
        "div",
        tag(
            "label",
            tag("span", "Bins ", tag("output", _FIRST_SHOWN, id="bins-count")),
            tag("input", type="range", id="bins-slider", min=0, max=1, value=0, step=1),
            class_="slider",
        ),
        tag(
            "fieldset",
            tag("legend", "Bins of equal", class_="unseen"),
            choice("uniform", "equal width"),
            choice("quantile", "equal count"),
        ),
        class_="controls",
    )


def _bins_of(number: int, numbers: dict[str, Any], head: Markup | None) -> Markup:
    if numbers["bins"] is None:
        return tag("div", head, tag("p", _GONE, class_="gone"), class_="bins")
    diagram = _charts.reliability(numbers["bins"])
    ecce_r = numbers["ecce_r"]["value"]

    def cell(label: str, text: str, class_: str) -> Markup:
        return tag("div", tag("dt", label), tag("dd", text, class_=class_), class_=f"of-{class_}")

    return tag(
        "div",
        head,
        tag(
            "dl",
            cell("ECE", "", "ece"),
            cell("noise floor", "", "noise_floor"),
            cell("ECCE-R, whatever the bins", metric(ecce_r), "ecce"),
            class_="moving",
        ),
        tag("figure", diagram, tag("figcaption", "Reliability diagram: on the diagonal is good.")),
        tag(
            "figure",
            _charts.ece_by_bins(numbers["bins"], ecce_r),
            tag("figcaption", _spread(numbers)),
        ),
        class_="bins",
        data_model=number,
    )


def _spread(numbers: dict[str, Any]) -> str:
    values = [row["ece"] for rows in numbers["bins"].values() for row in rows]
    return (
        f"The same predictions have an ECE from {metric(min(values))} to {metric(max(values))}, "
        f"as one cuts the bins, and one ECCE-R: {metric(numbers['ecce_r']['value'])}."
    )


def scores(names: Sequence[str], numbers: Sequence[dict[str, Any]]) -> Markup:
    """Return how scores are distributed, for each model."""
    blocks = []
    for number, each in enumerate(numbers):
        head = caption(number, names)
        if each["distribution"] is None:
            blocks.append(tag("div", head, tag("p", _GONE, class_="gone")))
        else:
            drawn = _charts.distribution(each["distribution"])
            outside = tag("figcaption", _outside(each["distribution"]))
            blocks.append(tag("div", head, tag("figure", drawn, outside)))
    return tag(
        "section",
        tag("h2", "Scores"),
        tag("div", *blocks, class_="side-by-side"),
        id="scores",
    )


def _outside(numbers: dict[str, Any]) -> Markup:
    edges = numbers["edges"]
    ends = [(numbers["below"], "below", edges[0]), (numbers["above"], "above", edges[-1])]
    more = "".join(
        f" {percent(share)} of the predictions have a score {where} {edge:g}."
        for share, where, edge in ends
        if share > 0
    )
    return join("How often each score was given; the dark part is how often the event came.", more)
