"""What predictions are ordered by along the axis of a cumulative graph, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from secant._drawing import style
from secant._results import wording
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from secant._input.axis import Axis
    from secant._results.calibration import Calibration
    from secant._results.parts import Interval

__all__ = ["SCORES", "Order", "check_one_axis", "order_of"]


class Order(NamedTuple):
    """The words of an axis: all that changes where predictions stand in another order.

    Attributes
    ----------
    name
        What the axis is called, short.
    long_name
        The same where there is room.
    plural
        What stands along it.
    labels
        How values are written along the axis; ``ends`` tells whether the first and the last have
        a say in the number of digits.
    range_words
        How a range of them is written.
    """

    name: str
    long_name: str
    plural: str
    labels: Callable[..., list[str]]
    range_words: Callable[[Interval], str]


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

    return Order(axis.title, axis.title, axis.title, labels, range_words)


SCORES = Order("Score", "score of the prediction", "scores", style.score_labels, style.score_range)


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
