"""What predictions are ordered by along the axis of a cumulative graph, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from secant._results import wording
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from secant._input.axis import Axis
    from secant._results.calibration import Calibration
    from secant._results.parts import Interval

__all__ = ["SCORES", "Order", "check_one_axis", "order_of", "score_labels", "score_range"]

# Scores below this are written as powers of ten.
_TINY = 1e-4


class Order(NamedTuple):
    """The words of an axis: all that changes where predictions stand in another order.

    Attributes
    ----------
    name
        What the axis is called.
    plural
        What stands along it.
    labels
        How values are written along the axis; ``ends`` tells whether the first and the last have
        a say in the number of digits.
    range_words
        How a range of them is written.
    """

    name: str
    plural: str
    labels: Callable[..., list[str]]
    range_words: Callable[[Interval], str]


def score_range(worst: Interval) -> str:
    """Say in words which scores a range holds."""
    low, high = wording.ends(worst)
    return f"score {low}" if worst.low == worst.high else f"scores {low} to {high}"


def score_labels(scores: Iterable[float], *, ends: bool = True) -> list[str]:
    """Write scores with the digits that tell them apart, two to five, the same for all.

    Scores of exactly 0 and 1 are written so, and very small ones as powers of ten.

    Parameters
    ----------
    scores : iterable of float
        The scores, in ascending order.
    ends : bool
        Whether the first and the last have a say in the number of digits.

    Examples
    --------
    >>> score_labels([0, 0.316, 0.5, 0.998])
    ['0', '0.32', '0.50', '1.00']
    >>> score_labels([0.0005, 0.0034, 0.02])
    ['0.0005', '0.0034', '0.0200']
    >>> score_labels([0.0005, 0.25, 0.75, 0.9998], ends=False)
    ['0.0005', '0.25', '0.75', '1.00']
    """
    values = [float(score) for score in scores]
    deciding = values if ends else values[1:-1]
    plain = {value for value in deciding if _TINY <= value < 1}

    def tells_apart(digits: int) -> bool:
        labels = {f"{value:.{digits}f}" for value in plain}
        return len(labels) == len(plain) and min(plain, default=1) >= 10.0**-digits

    digits = next((digits for digits in (2, 3, 4) if tells_apart(digits)), 5)
    return [_label(value, digits) for value in values]


def _label(value: float, digits: int) -> str:
    if value in (0, 1):
        return f"{value:.0f}"
    if value < _TINY:
        return f"{value:.0e}".replace("e-0", "e-")
    return f"{value:.{max(digits, math.ceil(-math.log10(value)))}f}"


SCORES = Order("Score", "scores", score_labels, score_range)


def order_of(result: object) -> Order:
    """Return the words of what the predictions of a result are put along."""
    axis: Axis | None = getattr(result, "axis", None)
    if axis is None:
        return SCORES

    def labels(values: Any, *, ends: bool = True) -> list[str]:  # noqa: ARG001  (all have a say)
        return axis.labels(values)

    def range_words(each: Interval) -> str:
        words = wording.between(each)
        return words if axis.kind == "time" else f"{axis.title} {words}"

    return Order(axis.title, axis.title, labels, range_words)


def check_one_axis(results: Iterable[Calibration]) -> None:
    """Refuse results that would all be drawn along the axis of the first, and are not along it.

    Raises
    ------
    InputError
        If they are along different axes, or some are about intervals and others are not.
    """
    axes = {result.axis for result in results}
    if len(axes) > 1:
        along = sorted({"scores" if axis is None else axis.title for axis in axes})
        what = f"along {' and '.join(along)}" if len(along) > 1 else f"of two kinds ({along[0]})"
        msg = f"results {what} have no axis in common; draw each by itself"
        raise InputError(msg)
