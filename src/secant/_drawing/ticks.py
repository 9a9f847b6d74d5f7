"""Where scores stand on the axis of a cumulative graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from secant._drawing.order import SCORES
from secant._drawing.style import text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import FloatArray
    from secant._drawing.order import Order
    from secant._results.parts import Curve

__all__ = ["Labels", "divide", "each_score", "equal_fractions", "equal_steps", "score_at"]

Labels = tuple["FloatArray", list[str]]

_MOST_STEPS = 100
# Steps between scores closer than this cannot be counted.
_LEAST_RANGE = 1e-16
# Inches between neighbouring labels.
_GAP = 0.12


def score_at(curve: Curve, fraction: FloatArray) -> FloatArray:
    """Return the scores that stand at fractions of the weight."""
    # The fractions are cumulative sums: one that rounding moved a little still ends there.
    place = np.searchsorted(curve.fraction, fraction - 1e-9)
    scores: FloatArray = curve.score[np.minimum(place, curve.score.shape[0] - 1)]
    return scores


def equal_fractions(curve: Curve, width: float, size: float, order: Order = SCORES) -> Labels:
    """Label equal fractions with the scores there, as many as have room.

    A label like the one beside it says nothing and is left out: of a run at the upper end all but
    the last, elsewhere all but the first.

    Parameters
    ----------
    curve : Curve
        The curve.
    width : float
        Width of the axis in inches.
    size : float
        Size of text in points.
    order : Order
        How they are written.

    Returns
    -------
    places, labels
        Fractions, and the scores there in words.
    """
    for parts in (10, 5, 4, 2, 1):
        places = np.linspace(0, 1, parts + 1)
        # The ends, usually extreme, would ask for more digits than the rest needs.
        labels = order.labels(score_at(curve, places), ends=False)
        kept = _once(labels)
        places, labels = places[kept], [labels[number] for number in kept]
        if _have_room(places, labels, width, size):
            break
    return places, labels


def each_score(curve: Curve, width: float, size: float, order: Order = SCORES) -> Labels:
    """Label each distinct score in the middle of its part of the axis, where there is room."""
    middle = (curve.fraction[1:] + curve.fraction[:-1]) / 2
    labels = order.labels(curve.score[1:])
    kept, end = [], -math.inf
    for number, (place, label) in enumerate(zip(middle.tolist(), labels, strict=True)):
        half = text_width(label, size) / 2
        if place * width - half >= end:
            kept.append(number)
            end = place * width + half + _GAP / 2
    return middle[kept], [labels[number] for number in kept]


def equal_steps(curve: Curve) -> tuple[float, FloatArray]:
    """Return the step and the places of ticks at equal steps of the score."""
    along = curve.score
    timed = along.dtype.kind in "mM"
    if timed:
        along = along.view(np.int64)
    finite = along[np.isfinite(along)]  # widths of intervals may not be
    if not finite.size:
        return 0.0, np.empty(0)
    low, high = float(finite[0]), float(finite[-1])
    if high - low < _LEAST_RANGE:
        return 0.0, np.empty(0)
    step = _round_step((high - low) / _MOST_STEPS)
    if step < 1:
        per_unit = round(1 / step)  # 7 / 100 is the double nearest to 0.07, 7 * 0.01 is another
        scores = np.arange(math.ceil(low * per_unit), math.floor(high * per_unit) + 1) / per_unit
    else:
        scores = step * np.arange(math.ceil(low / step), math.floor(high / step) + 1.0)
    place = np.searchsorted(along, scores, side="right") - 1
    # Steps of times are no round numbers to a reader.
    return 0.0 if timed else step, np.unique(curve.fraction[np.maximum(place, 0)])


def divide(labels: Sequence[str], width: float, size: float) -> int:
    """Return into how many equal parts an axis can be cut so that such labels have room."""
    widest = max(text_width(label, size) for label in labels)
    fit = width / (widest + _GAP)
    return max((parts for parts in (1, 2, 4, 5, 10) if parts <= fit), default=1)


def _once(labels: Sequence[str]) -> list[int]:
    """Return which of some labels differ from the one before, or end the row."""
    values = [_value(label) for label in labels]  # "1.00" is no news beside "1"
    kept = [
        number for number, value in enumerate(values) if number == 0 or value != values[number - 1]
    ]
    if len(kept) > 1:
        kept[-1] = len(values) - 1  # a run that reaches the end is written there
    return kept


def _value(label: str) -> float | str:
    try:
        return float(label)
    except ValueError:  # a date, say
        return label


def _have_room(places: FloatArray, labels: Sequence[str], width: float, size: float) -> bool:
    """Tell whether labels centred at their places stand clear of each other."""
    half = np.asarray([text_width(label, size) / 2 for label in labels])
    gap = np.full(len(labels) - 1, _GAP)
    gap[[0, -1] if len(gap) else []] /= 2  # the ends are often longer than the rest
    return bool((np.diff(places) * width >= half[1:] + half[:-1] + gap).all())


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is no less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
