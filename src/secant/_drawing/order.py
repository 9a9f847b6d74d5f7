"""What predictions are ordered by along the axis of a cumulative graph, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from secant._drawing import style

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._results.parts import Interval

__all__ = ["SCORES", "Order"]


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


SCORES = Order("Score", "score of the prediction", "scores", style.score_labels, style.score_range)
