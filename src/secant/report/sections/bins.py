"""What depends on bins: the reliability diagram, the ECE, the distribution of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant._drawing.diagrams import by_bins, distribution, reliability
from secant._results.wording import metric, percent
from secant.report._definitions import DEFINITIONS
from secant.report._html import Markup, join, tag
from secant.report._parts import caption, term
from secant.report._svg import PHONE, frame, grid, picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.calibration import Calibration

__all__ = ["scores", "section"]

_GONE = (
    "This result no longer has its predictions, only the points of its curve, and bins need "
    "them. Assess the predictions again to see this part."
)
_DIAGRAM = (
    "Reliability diagram: on the diagonal is good. Dots are bins with their limits; the line is "
    "the forecast recalibrated by isotonic regression, which needs no bins."
)
_FIRST_SHOWN = 15
# Diagrams of up to so many bins are on the axes in full.
_MOST_SEEN = 32
# A bin of equal width with a larger share than this shows nothing of the scores in it.
_CROWDED = 0.8


def section(
    names: Sequence[str], numbers: Sequence[dict[str, Any]], results: Sequence[Calibration]
) -> Markup:
    """Return the reliability diagram and the ECE against the number of bins, for each model."""
    blocks = [_bins_of(i, each, results[i], caption(i, names)) for i, each in enumerate(numbers)]
    some = any(each["bins"] for each in numbers)
    return tag(
        "section",
        tag("h2", "Why not just ECE?"),
        tag(
            "p",
            "A binned error changes with the bins, and noise adds the more to it the finer they "
            "are: the noise floor is what perfect calibration would give. The ECCE has no bins.",
            class_="lead",
        ),
        _controls(numbers) if some else None,
        tag("div", *blocks, class_="side-by-side"),
        id="bins",
    )


def _controls(numbers: Sequence[dict[str, Any]]) -> Markup:
    """Return the slider and the choice of bins, which few predictions do not offer."""
    binned = [each["bins"] for each in numbers if each["bins"]]
    few = not all(each["quantile"] for each in binned)
    crowded = not few and all(_crowded(each["uniform"]) for each in binned)

    def choice(value: str, label: str, **state: bool) -> Markup:
        return tag(
            "label", tag("input", type="radio", name="strategy", value=value, **state), label
        )

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
            choice("uniform", "equal width", checked=not crowded),
            choice("quantile", "equal count", checked=crowded, disabled=few),
        ),
        class_="controls",
    )


def _crowded(rows: Sequence[dict[str, Any]]) -> bool:
    """Tell whether nearly all scores share one bin of equal width."""
    return any(max(row["weight"]) > _CROWDED for row in rows if row["n_bins"] == _FIRST_SHOWN)


def _bins_of(
    number: int, numbers: dict[str, Any], result: Calibration, head: Markup | None
) -> Markup:
    if numbers["bins"] is None:
        return tag("div", head, tag("p", _GONE, class_="gone"), class_="bins")
    ecce_r = numbers["ecce_r"]["value"]

    def cell(label: object, text: str, class_: str) -> Markup:
        return tag("div", tag("dt", label), tag("dd", text, class_=class_), class_=f"of-{class_}")

    return tag(
        "div",
        head,
        tag(
            "dl",
            cell(term("ECE", DEFINITIONS["ECE"]), "", "ece"),
            cell(term("noise floor", DEFINITIONS["noise floor"]), "", "noise_floor"),
            cell("ECCE-R, whatever the bins", metric(ecce_r), "ecce"),
            class_="moving",
        ),
        tag("figure", _diagram(numbers["bins"], result), tag("figcaption", _DIAGRAM)),
        tag(
            "figure",
            _by_bins(numbers["bins"], ecce_r),
            tag("figcaption", _spread(numbers)),
        ),
        class_="bins",
        data_model=number,
    )


def _diagram(bins: dict[str, list[dict[str, Any]]], result: Calibration) -> Markup:
    """Return the reliability diagram: bins are drawn when their number is set, the rest now."""
    seen = [
        value
        for drawn in bins.values()
        for each in drawn
        if each["n_bins"] <= _MOST_SEEN
        for column in ("mean_score", "mean_response")
        for value in each[column]
    ]
    chart = reliability(PHONE, seen=seen, recalibrated=[result.recalibrated])
    limits, dots = (tag("path", d="M0 0", class_=each) for each in ("limits", "bins dots"))
    shown = picture(chart, limits, dots, behind=grid(chart.y))
    return frame(chart, shown, class_="square", data_low=chart.x.low, data_high=chart.x.high)


def _by_bins(bins: dict[str, list[dict[str, Any]]], ecce_r: float) -> Markup:
    chart = by_bins(bins, ecce_r)
    shown, here = picture(chart, behind=grid(chart.y)), tag("span", class_="here")
    return frame(chart, shown, here, class_="by-bins", data_high=chart.y.high)


def _distribution(numbers: dict[str, Any], result: Calibration) -> Markup:
    chart = distribution(numbers, f"share of {'weight' if result.weighted else 'predictions'}")
    return frame(chart, picture(chart, behind=grid(chart.y)), class_="bars")


def _spread(numbers: dict[str, Any]) -> str:
    values = [row["ece"] for rows in numbers["bins"].values() for row in rows]
    least, most = metric(min(values)), metric(max(values))
    if least == most:
        return f"These scores are so few that any bins give the same ECE, {least}."
    return (
        f"The same predictions have an ECE from {least} to {most}, as one cuts the bins, and one "
        f"ECCE-R: {metric(numbers['ecce_r']['value'])}."
    )


def scores(
    names: Sequence[str], numbers: Sequence[dict[str, Any]], results: Sequence[Calibration]
) -> Markup:
    """Return how scores are distributed, for each model."""
    blocks = []
    for number, each in enumerate(numbers):
        head = caption(number, names)
        if each["distribution"] is None:
            blocks.append(tag("div", head, tag("p", _GONE, class_="gone")))
        else:
            drawn = _distribution(each["distribution"], results[number])
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
    says = (
        "How often each score was given; the lower part of a bar is how often the event happened."
    )
    return join(says, more)
