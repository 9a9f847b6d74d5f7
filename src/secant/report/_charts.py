"""The charts as they stand before anybody touches them: pictures that stretch, labels that do not.

A chart is an *area* with an SVG picture that fills it whatever its shape, and labels around it in
HTML, placed by percentages. Styles, among them those for dark screens and paper, are in page.css.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from secant._drawing.order import order_of
from secant._drawing.thin import thin
from secant._drawing.ticks import each_score, equal_fractions, equal_steps
from secant._results.words import words_of
from secant.report._html import Markup, tag
from secant.report._scale import UNIT, Axis, Tick, axis, polyline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from secant._base.types import FloatArray
    from secant._results.parts import Curve
    from secant._results.scores import IsotonicFit

__all__ = [
    "Drawable",
    "cumulative",
    "distribution",
    "ece_by_bins",
    "height",
    "reliability",
    "share_of",
    "sparkline",
    "view",
]

# The size of labels in points, and widths of the plot in inches on a screen and on a phone.
_SIZE = 9
_WIDE, _NARROW = 9.5, 3.2
# Up to here every distinct score is named below its own part of the axis.
_FEW_SCORES = 12
# Width of the triangle at the origin, as a share of the axis.
_TRIANGLE = 0.025
_TRIANGLE_SAYS = (
    "The scale of noise: the triangle reaches two sigma up and two sigma down{}. Under perfect "
    "calibration the curve ends no further from zero than that about 19 times in 20."
)
_TOGETHER = ", times what clusters add to it"
_TRIANGLE_NAME = "noise, \N{PLUS-MINUS SIGN}2\N{GREEK SMALL LETTER SIGMA}"
_NAME_TOGETHER = "noise in clusters"
# The share of the axis where a curve would run through that name.
_NAME_WIDTH = 0.2
# Shares of the height of a small plot: its name, and the signs of ranges along the bottom.
_NAME_HEIGHT, _SIGNS = 0.055, 0.085
# Least distance of neighbouring labels at the side of a chart, as a share of its height.
_APART = 0.085


class Drawable(Protocol):
    """What a cumulative plot is made of: a result, or some batches of a monitor."""

    @property
    def curve(self) -> Curve: ...
    @property
    def noise(self) -> float: ...
    @property
    def weighted(self) -> bool: ...


def picture(*parts: object, **attributes: Any) -> Markup:
    """Return an SVG that fills its box, whatever its shape."""
    usual = {"viewBox": f"0 0 {UNIT:g} {UNIT:g}", "aria_hidden": "true"}
    return tag("svg", *parts, preserveAspectRatio="none", **{**usual, **attributes})


def line(x: FloatArray, y: FloatArray, **attributes: Any) -> Markup:
    """Return a line through points in a chart's coordinates."""
    return tag("path", d=polyline(x, y), **attributes)


def labels(side: str, ticks: Iterable[Tick], *, kind: str = "", **attributes: Any) -> Markup:
    """Return what is written along one side of a chart."""
    edge = "top" if side in ("left", "right") else "left"
    spans = [
        tag("span", text, style=f"{edge}:{100 * (1 - at if edge == 'top' else at):.4g}%")
        for at, text in ticks
    ]
    classes = f"axis {side} {kind}".strip()
    return tag("div", *spans, class_=classes, aria_hidden="true", **attributes)


def gridlines(ticks: Iterable[Tick]) -> Markup:
    """Return horizontal lines at ticks."""
    moves = "".join(f"M0 {UNIT * (1 - at):.6g}h{UNIT:g}" for at, _ in ticks)
    return tag("path", d=moves or "M0 0", class_="grid")


# --- the cumulative plot --------------------------------------------------------------------------


def view(result: Drawable, others: Sequence[Drawable], *, steps: bool = True) -> dict[str, Any]:
    """Return how the axes of the cumulative plot stand when this result is being read.

    The vertical axis has room for the curves of ``others`` too. ``wide`` and ``narrow`` are the
    scores written below on a screen and on a phone, ``steps`` marks at equal steps of the score,
    ``noise`` the side of the triangle where its name is out of the way of the curve.
    """
    side = _free_side(result)
    vertical = _room_below(height((result, *others)), result.noise, side)
    places = equal_steps(result.curve)[1] if steps else np.empty(0)
    return {
        "low": vertical.low,
        "high": vertical.high,
        "ticks": [(round(at, 4), text) for at, text in vertical.ticks()],
        "wide": _scores(result, _WIDE),
        "narrow": _scores(result, _NARROW),
        "steps": "".join(f"M{UNIT * place:.5g} 0v1" for place in places.tolist()) or "M0 0",
        "noise": side,
    }


def _free_side(result: Drawable) -> str:
    """Return on which side of the triangle there is no curve."""
    start = result.curve.difference[result.curve.fraction <= _NAME_WIDTH]
    return "below" if start.max() > 2 * result.noise else "above"


def _room_below(vertical: Axis, noise: float, side: str) -> Axis:
    """Return an axis on which the triangle's name ends above what is written along the bottom."""
    end, room = (2 * noise, _SIGNS) if side == "above" else (-2 * noise, _SIGNS + _NAME_HEIGHT)
    return Axis(min(vertical.low, (end - room * vertical.high) / (1 - room)), vertical.high)


def height(results: Iterable[Drawable]) -> Axis:
    """Return a vertical axis with room for curves and for the noise beside them."""
    return axis(
        value
        for each in results
        for value in (*_extent(each.curve), -2 * each.noise, 2 * each.noise)
    )


def cumulative(results: Sequence[Drawable], first: dict[str, Any], tool: Markup) -> Markup:
    """Return the cumulative plot of some results, with the tool that reads it."""
    vertical = Axis(first["low"], first["high"])
    found = tag("g", id="found")
    curves = [
        line(UNIT * each.curve.fraction[kept], vertical.up(each.curve.difference[kept]), **styled)
        for each, kept, styled in _thinned(results)
    ]
    noise = results[0].noise
    ends = vertical.up(np.asarray([-2 * noise, 0.0, 2 * noise])).tolist()
    triangle = f"M0 {ends[0]:.6g}L{UNIT * _TRIANGLE:g} {ends[1]:.6g}L0 {ends[2]:.6g}Z"
    zero = float(vertical.up(np.zeros(1))[0])
    drawn = picture(
        found,
        tag("path", d=f"M0 {zero:.6g}h{UNIT:g}", class_="zero"),
        tag("path", d=triangle, class_="triangle", id="triangle"),
        *curves,
        tag("path", id="group-curve", d="M0 0", class_="curve group", hidden=True),
        tag("path", id="secant-line", d="M0 0", class_="secant", hidden=True),
        id="picture",
    )
    fractions = [(k / 5, f"{20 * k}%") for k in range(6)]
    return tag(
        "div",
        tag("p", f"Cumulative difference: {_difference(results)}", class_="axis-name"),
        tag("p", share_of(results), class_="axis-name end"),
        tag(
            "div",
            labels("top", fractions),
            drawn,
            labels("left", first["ticks"]),
            picture(tag("path", d=first["steps"]), viewBox=f"0 0 {UNIT:g} 1", class_="steps"),
            labels("bottom", first["wide"], kind="wide"),
            labels("bottom", first["narrow"], kind="narrow"),
            _noise_hint(ends, first["noise"], clusters=_in_clusters(results[0])),
            tag("div", id="signs", aria_hidden="true"),
            tool,
            class_="area",
            id="area",
        ),
        tag("p", order_of(results[0]).long_name, class_="axis-name below end"),
        class_="chart cumulative",
        id="plot",
    )


def share_of(results: Sequence[Drawable]) -> str:
    """Name what fractions are fractions of."""
    if any(result.weighted for result in results):
        return "share of weight"
    return (
        "share of intervals"
        if all(words_of(each).coverage for each in results)
        else "share of predictions"
    )


def _difference(results: Sequence[Drawable]) -> str:
    """Name what is added up."""
    intervals = all(words_of(each).coverage for each in results)
    happened, said = ("covered", "promised") if intervals else ("outcome", "forecast")
    return f"{happened} \N{MINUS SIGN} {said}"


def _thinned(results: Sequence[Drawable]) -> Iterable[tuple[Drawable, Any, dict[str, Any]]]:
    for number, result in enumerate(results):
        kept = thin(result.curve.fraction, result.curve.difference, 1000)
        yield result, kept, {"class_": f"curve model-{number % 5}", "data_series": number}


def _in_clusters(result: Drawable) -> bool:
    return getattr(result, "n_clusters", None) is not None


def _noise_hint(ends: Sequence[float], side: str, *, clusters: bool) -> Markup:
    """Return the place over the triangle that says what it means, with its name beside."""
    says = _TRIANGLE_SAYS.format(_TOGETHER if clusters else "")
    top, height = ends[2] / UNIT, (ends[0] - ends[2]) / UNIT
    return tag(
        "span",
        tag("span", _NAME_TOGETHER if clusters else _TRIANGLE_NAME, class_="noise-name"),
        tag("span", says, role="tooltip"),
        class_="term noise",
        data_side=side,
        id="noise",
        tabindex=0,
        aria_label=says,
        style=f"top:{100 * top:.4g}%;height:{100 * height:.4g}%",
    )


def _extent(curve: Curve) -> tuple[float, float]:
    return float(curve.difference.min()), float(curve.difference.max())


def _scores(result: Drawable, width: float) -> list[Tick]:
    """Return scores to write below a plot so many inches wide."""
    curve, order = result.curve, order_of(result)
    few = len(curve.score) - 1 <= _FEW_SCORES
    places, texts = (each_score if few else equal_fractions)(curve, width, _SIZE, order)
    return list(zip(np.asarray(places).round(4).tolist(), texts, strict=True))


def sparkline(curve: Curve, noise: float) -> Markup:
    """Return a curve the size of a word."""
    low, high = _extent(curve)
    vertical = axis((low, high, -2 * noise, 2 * noise), margin=0.1)
    kept = thin(curve.fraction, curve.difference, 12)
    zero = float(vertical.up(np.zeros(1))[0])
    return picture(
        tag("path", d=f"M0 {zero:.4g}h{UNIT:g}", class_="zero"),
        line(
            (UNIT * curve.fraction[kept]).round(),
            vertical.up(curve.difference[kept]).round(),
            class_="curve",
        ),
        class_="spark",
    )


# --- bins -----------------------------------------------------------------------------------------


def reliability(bins: dict[str, list[dict[str, Any]]], recalibrated: IsotonicFit) -> Markup:
    """Return the reliability diagram: bins are drawn when their number is set, the rest now."""
    square = _reliability_axis(bins)
    scores, forecasts = recalibrated.line
    kept = thin(scores, forecasts, 500)
    stairs = square.across(scores[kept]), square.up(forecasts[kept])
    ticks = square.ticks()
    return tag(
        "div",
        tag("p", "mean outcome", class_="axis-name"),
        tag(
            "div",
            picture(
                gridlines(ticks),
                tag("path", d=f"M0 {UNIT:g}L{UNIT:g} 0", class_="diagonal"),
                tag("path", d="M0 0", class_="limits"),
                line(*stairs, class_="recalibrated"),
                tag("path", d="M0 0", class_="dots"),
            ),
            labels("left", ticks),
            labels("bottom", ticks),
            class_="area",
        ),
        tag("p", "mean forecast of the bin", class_="axis-name below end"),
        class_="chart square",
        data_low=square.low,
        data_high=square.high,
    )


def _reliability_axis(bins: dict[str, list[dict[str, Any]]]) -> Axis:
    """Return the unit interval, or the part of it that holds a diagram of up to 32 bins."""
    values = [
        value
        for drawn in bins.values()
        for each in drawn
        if each["n_bins"] <= 32
        for column in ("mean_score", "mean_response")
        for value in each[column]
    ]
    near = axis(values)
    return axis((0.0, 1.0), margin=0.03) if near.high - near.low > 0.5 else near


def ece_by_bins(bins: dict[str, list[dict[str, Any]]], ecce_r: float) -> Markup:
    """Return the ECE against the number of bins, its noise floor, and the ECCE, which has none."""
    values = [row[key] for rows in bins.values() for row in rows for key in ("ece", "noise_floor")]
    vertical = Axis(0.0, 1.08 * max(*values, ecce_r, 1e-9))
    ticks = vertical.ticks()
    flat = float(vertical.up(np.asarray([ecce_r]))[0])
    drawn = []
    written = []
    for strategy, rows in bins.items():
        if not rows:
            continue
        across = np.asarray([_bins_axis(row["n_bins"]) for row in rows]) * UNIT
        for key in ("ece", "noise_floor"):
            up = vertical.up(np.asarray([row[key] for row in rows]))
            drawn.append(line(across, up, class_=f"by-bins {key}", data_strategy=strategy))
        ends = [
            (vertical.share(rows[-1]["ece"]), "ECE"),
            (vertical.share(rows[-1]["noise_floor"]), "noise floor"),
            (vertical.share(ecce_r), "ECCE-R"),
        ]
        written.append(labels("right", _apart(ends), data_strategy=strategy))
    return tag(
        "div",
        tag("p", "ECE", class_="axis-name"),
        tag(
            "div",
            picture(
                gridlines(ticks),
                tag("path", d=f"M0 {flat:.6g}h{UNIT:g}", class_="by-bins ecce"),
                *drawn,
            ),
            labels("left", ticks),
            labels("bottom", [(_bins_axis(m), str(m)) for m in (4, 16, 64, 256, 1024, 4096)]),
            *written,
            tag("span", class_="here"),
            class_="area",
        ),
        tag("p", "number of bins", class_="axis-name below end"),
        class_="chart by-bins",
        data_high=vertical.high,
    )


def _bins_axis(m: int) -> float:
    return (math.log2(m) - 2) / 10


def _apart(ticks: list[Tick]) -> list[Tick]:
    """Move labels apart that would stand on top of each other."""
    placed: list[Tick] = []
    for at, text in sorted(ticks):
        least = placed[-1][0] + _APART if placed else 0.0
        placed.append((max(at, least), text))
    over = max(placed[-1][0] - 1, 0.0)
    return [(at - over, text) for at, text in placed]


# --- scores ---------------------------------------------------------------------------------------


def distribution(numbers: dict[str, Any], share: str) -> Markup:
    """Return the distribution of scores, with the part of each bar that is events."""
    edges, weight = np.asarray(numbers["edges"]), np.asarray(numbers["weight"])
    across = Axis(float(edges[0]), float(edges[-1]))
    vertical = Axis(0.0, 1.06 * float(weight.max()))
    ticks = [(at, f"{text}%") for at, text in Axis(0, 100 * vertical.high).ticks(4)]
    bars = [
        tag(
            "path", d=_bars(across.across(edges), vertical.up(np.asarray(numbers[key]))), class_=key
        )
        for key in ("weight", "happened")
    ]
    return tag(
        "div",
        tag("p", share, class_="axis-name"),
        tag(
            "div",
            picture(gridlines(ticks), *bars),
            labels("left", ticks),
            labels("bottom", across.ticks()),
            class_="area",
        ),
        tag("p", "score", class_="axis-name below end"),
        class_="chart bars",
    )


def _bars(x: FloatArray, y: FloatArray) -> str:
    """Return the path of bars, with a little room between them."""
    room = 0.08 * (x[1] - x[0])
    corners = zip(x[:-1].tolist(), x[1:].tolist(), y.tolist(), strict=True)
    return (
        "".join(
            f"M{a + room:.5g} {UNIT:g}V{top:.5g}H{b - room:.5g}V{UNIT:g}Z"
            for a, b, top in corners
            if top < UNIT
        )
        or "M0 0"
    )
