"""The graph of cumulative differences, described."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from secant._drawing.chart import Axis, Chart, Mark, Space, hold
from secant._drawing.findings import deviation, in_short, points
from secant._drawing.order import order_of
from secant._drawing.thin import thin
from secant._drawing.ticks import divide, each_score, equal_fractions, equal_steps
from secant._results import wording
from secant._results.words import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from secant._base.types import FloatArray
    from secant._drawing.chart import Ticks
    from secant._drawing.findings import Finding
    from secant._drawing.order import Order
    from secant._results.calibration import Calibration
    from secant._results.parts import Curve, Interval

__all__ = ["Bare", "Drawable", "abscissa", "cumulative", "noise_name", "spark"]

# Width of the triangle at the origin, as a share of the axis.
_TRIANGLE = 0.025
# Up to here every distinct score is named below its own part of the axis.
_FEW_SCORES = 12
# The largest share of the height that words above the curve may take.
_MOST_WORDS = 0.45
# Points that one sees in a picture, about.
_COLUMNS = 1000
_MARGIN = 0.01
_TITLE, _SHORT = "Slope is miscalibration: flat is good", "Flat is good"
_SAYS = (
    "Cumulative difference of what happened and what was forecast, in the order of {}: slope "
    "is miscalibration, flat is good."
)
_NOISE = "noise, \N{PLUS-MINUS SIGN}2\N{GREEK SMALL LETTER SIGMA}"

# The roles of lines, first to last.
_ROLES = ("head", "note", "note")
# The largest share of the width that the name of the noise may take.
_MOST_NAME = 0.25
# A way to say something: the words of each line, and the colour of each.
_Way = list[tuple[str, str]]


class Drawable(Protocol):
    """What a graph is made of: a result, or some batches of a monitor."""

    @property
    def curve(self) -> Curve: ...
    @property
    def noise(self) -> float: ...
    @property
    def weighted(self) -> bool: ...


@dataclass(frozen=True)
class Bare:
    """A curve alone, with the scale of its noise."""

    curve: Curve
    noise: float
    weighted: bool = False


def cumulative(
    results: Sequence[Any],
    space: Space,
    *,
    found: Sequence[Sequence[Finding]] = (),
    bands: Sequence[float] = (),
    first: int = 0,
    heights: Sequence[float] = (),
    legend: float = 0.0,
    foot: float = 0.0,
    columns: int = _COLUMNS,
    words: bool = True,
) -> Chart:
    """Describe the graph of some results.

    Parameters
    ----------
    results : sequence of Drawable
        The results, one a curve.
    space : Space
        The room there is.
    found : sequence of sequence of Finding
        Of each result what is to be marked.
    bands : sequence of float
        Half the height of each significance band.
    first : int
        How many curves there are already.
    heights : sequence of float
        More heights that are to be seen, as those of these curves.
    legend : float
        How many lines a legend takes above.
    foot : float
        How many lines are left free below.
    columns : int
        How many columns of pixels one can see at most.
    words : bool
        Whether to write what was found, where there is one curve.
    """
    alone = first + len(results) == 1
    marks = [Mark("line", "zero", np.asarray([0.0, 1.0]), np.zeros(2))]
    for number, result in enumerate(results, first):
        noise, curve = result.noise, result.curve
        kept = thin(curve.fraction, curve.difference, columns)
        across, up = np.asarray([0, 0, _TRIANGLE]), np.asarray([-2, 2, 0]) * noise
        marks += [
            Mark("area", "triangle", across, up, number=number),
            Mark("line", "curve", curve.fraction[kept], curve.difference[kept], number=number),
        ]
    for half in bands:
        marks.append(
            Mark("area", "band", np.asarray([0, 1, 1, 0]), half * np.asarray([1, 1, -1, -1]))
        )
    for each in (one for some in found for one in some):
        marks.append(Mark("line", "secant", each.ends[:, 0], each.ends[:, 1], mood=each.mood))
    seen = [float(end) for mark in marks for end in (mark.y.min(), mark.y.max())]
    signs: list[Mark] = []
    notes: list[Mark] = []
    if alone and words and found and found[0]:
        shades, signs = _shades(found[0], space)
        marks += shades
        notes = _notes(results[0], found[0], space, legend)
    row = space.line
    rows = legend + (max(note.row for note in notes) - legend + 1.5 if notes else 0)
    # A line is left free on either side, where the name of the noise has room in any case.
    foot += bool(signs)
    low, high = hold((*seen, *heights), margin=0, above=(rows + 1) * row, below=(foot + 1) * row)
    y = Axis(low, high, *_ordinate(results))
    marks += [*signs, *notes]
    unit = row * (high - low)
    inside = (low + foot * unit, high - rows * unit, unit)
    hints, name = [], noise_name(results[0])
    if alone and results[0].noise > 0 and space.share(name) < _MOST_NAME:
        width, tip = space.share(f"{name}  "), 2 * results[0].noise
        hints.append(_hint(name, marks, (0.0, width), tip, inside))
    if bands:
        level = wording.level(results[0].confidence_level)
        name = f"{level} of calibrated curves stay inside"
        width, tip = space.share(f"{name}  "), max(bands)
        tip -= unit if tip > unit else 0  # inside the band, where that is high enough
        hints.append(_hint(name, marks, (1 - width, 1.0), tip, inside))
    order = order_of(results[0])
    return Chart(
        _TITLE,
        abscissa(results[0].curve, order),
        y,
        [*marks, *filter(None, hints)],
        short=_SHORT,
        top=Axis(0, 1, f"Fraction of {_counted(results)}", write=_fractions),
        says=_SAYS.format(order.plural),
    )


def noise_name(result: object) -> str:
    """Return what the triangle is called."""
    together = getattr(result, "n_clusters", None) is not None
    return "noise in clusters" if together else _NOISE


def spark(result: Drawable) -> Chart:
    """Describe a curve the size of a word."""
    curve, noise = result.curve, result.noise
    kept = thin(curve.fraction, curve.difference, 12)
    low, high = hold(
        (curve.difference.min(), curve.difference.max(), -2 * noise, 2 * noise), margin=0.1
    )
    marks = [
        Mark("line", "zero", np.asarray([0.0, 1.0]), np.zeros(2)),
        Mark("line", "curve", curve.fraction[kept], curve.difference[kept]),
    ]
    return Chart("", Axis(0, 1), Axis(low, high), marks)


# --- axes -----------------------------------------------------------------------------------------


def abscissa(curve: Curve, order: Order) -> Axis:
    """Return the axis along which predictions stand in their order, with their scores below."""
    if len(curve.score) - 1 <= _FEW_SCORES:
        return Axis(
            0,
            1,
            order.name,
            order.name,
            _written(each_score, curve, order),
            curve.fraction,
            parts=True,
        )
    step, places = equal_steps(curve)
    name = f"{order.name} (small ticks: steps of {step:g})" if step else order.name
    return Axis(0, 1, name, order.name, _written(equal_fractions, curve, order), places)


def _written(labels: Any, curve: Curve, order: Order) -> Any:
    def write(inches: float, size: float) -> Ticks:
        places, texts = labels(curve, inches, size, order)
        return list(zip(np.asarray(places).round(4).tolist(), texts, strict=True))

    return write


def _fractions(inches: float, size: float) -> Ticks:
    parts = divide(["0.00"], inches, size)
    return [(part / parts, f"{part / parts:g}") for part in range(parts + 1)]


def _counted(results: Sequence[Any]) -> str:
    """Name what fractions are fractions of."""
    if any(result.weighted for result in results):
        return "weight"
    return f"{words_of(results[0]).noun}s"


def _ordinate(results: Sequence[Any]) -> tuple[str, str]:
    """Name what is added up, and in fewer words."""
    words = words_of(results[0])
    short = f"{words.outcome} \N{MINUS SIGN} {words.forecast}"
    return f"Cumulative difference ({short})", short.capitalize()


# --- words ----------------------------------------------------------------------------------------


def _shades(found: Sequence[Finding], space: Space) -> tuple[list[Mark], list[Mark]]:
    """Shade ranges in the colour of their direction, with its sign and word where several."""
    shades, signs = [], []
    for each in found:
        left, right = each.ends[:, 0].tolist()
        shades.append(Mark("span", "shade", np.asarray([left, right]), mood=each.mood))
        said = (f"{each.sign} {each.range.direction}", each.sign)
        text = next((text for text in said if space.share(text) < right - left), "")
        if len(found) > 1 and text:
            middle = (left + right) / 2
            signs.append(Mark("text", "sign", middle, -math.inf, text, each.mood, anchor="n"))
    return shades, signs


def _notes(
    result: Calibration, found: Sequence[Finding], space: Space, legend: float
) -> list[Mark]:
    """Write above the curve what was found, in as many words as have room."""
    ways = _ways(result, found, order_of(result))
    most = _MOST_WORDS / space.line - legend

    def width(way: _Way) -> float:
        return max(space.share(text, role) for (text, _), role in zip(way, _ROLES, strict=False))

    ways = [way for way in ways if width(way) < 1 and len(way) + 0.5 <= most] or ways[-1:]
    center = float(np.mean(found[0].ends[:, 0])) if len(found) == 1 else 0.0
    place, anchor = _inside(center, width(ways[0]))
    return [
        Mark("text", role, place, math.inf, text, mood, 0, anchor, legend + row)
        for row, ((text, mood), role) in enumerate(zip(ways[0], _ROLES, strict=False))
    ]


def _inside(center: float, width: float) -> tuple[float, str]:
    """Return where to write, and on which side of that, so that a text does not leave the axes."""
    if center - width / 2 < _MARGIN:
        return _MARGIN, "se"
    return (1 - _MARGIN, "sw") if center + width / 2 > 1 - _MARGIN else (center, "s")


def _ways(result: Calibration, found: Sequence[Finding], order: Order) -> list[_Way]:
    """Return ways to say what was found, the longest first."""
    largest = max(found, key=lambda each: abs(each.range.total))
    where, limits = order.range_words(largest.range), _limits(largest.range)
    level = wording.level(result.confidence_level)
    short = in_short(result, found=largest.certain or not result.intervals)
    head = short[0].upper() + short[1:]
    if len(found) > 1:
        shown = found if len(found) == 2 else [largest]
        most = "" if len(found) == 2 else "most: "
        ways = [
            [(f"{most}{_off(one, order, fully=fully)}", one.mood) for one in shown]
            for fully in (True, False)
        ]
        return [[(head, "ink"), *way] for way in (*ways, [])]
    if largest.certain:
        told = [[f"{where}; {level} limits {limits}"], [where, f"{level} limits {limits}"], [where]]
        ways = [[(head, largest.mood), *((text, "") for text in way)] for way in (*told, [])]
        return [*ways, [(largest.range.direction.capitalize(), largest.mood)]]
    said = f"largest deviation: {points(abs(largest.range.miscalibration))} points"
    told = [[f"{said} over {where}", f"{level} limits {limits}"], [said], []]
    told.insert(1, [said, f"{level} limits {limits}"])
    return [[(head, ""), *((text, "") for text in way)] for way in told]


def _off(each: Finding, order: Order, *, fully: bool) -> str:
    """Say how far off one of several ranges is."""
    said = f"{each.sign} {deviation(each.range)}"
    return f"{said} ({_limits(each.range)}) over {order.range_words(each.range)}" if fully else said


def _limits(each: Interval) -> str:
    """Write limits in the direction of the deviation."""
    limits = sorted(math.copysign(1, each.miscalibration) * limit for limit in each.ci)
    return " to ".join(points(limit) for limit in limits)


def _hint(
    text: str,
    marks: Sequence[Mark],
    ends: tuple[float, float],
    tip: float,
    inside: tuple[float, float, float],
) -> Mark | None:
    """Say what something symmetric is, beside one of its tips, at the nearest free place."""
    low, high, row = inside
    steps = np.arange(0.0, max(abs(low), abs(high)), row / 2).tolist()
    places = [at for step in steps for at in (tip + step, -tip - step - row)]
    free = (at for at in places if low <= at <= high - row)
    at = next((at for at in free if not _drawn(marks, ends, (at, at + row))), None)
    if at is None:
        return None
    place, anchor = (0.0, "e") if ends[0] == 0 else (math.inf, "w")
    return Mark("text", "hint", place, at + row / 2, text, anchor=anchor)


def _drawn(marks: Sequence[Mark], width: tuple[float, float], height: tuple[float, float]) -> bool:
    """Tell whether a curve or secant runs through a box."""
    for mark in marks:
        if mark.role in ("curve", "secant"):
            ends = np.clip(width, mark.x[0], mark.x[-1])
            inside = mark.y[(mark.x >= ends[0]) & (mark.x <= ends[1])]
            values: FloatArray = np.concatenate([np.interp(ends, mark.x, mark.y), inside])
            if ends[0] < ends[1] and values.min() < height[1] and values.max() > height[0]:
                return True
    return False
