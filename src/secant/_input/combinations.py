"""What does not go together, and why: one home for all such refusals.

The table of what does is in docs/combinations.md, and a test goes through all its cells.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from secant.errors import Argument, InputError

__all__ = ["check_combination"]


class _Refused(NamedTuple):
    """Two arguments that do not go together, and why; the first is named with its value."""

    first: str
    second: str
    why: str


_FLIPS = ", whose P-values come from flipping the signs of whole clusters; leave it out"
_REFUSED = (
    _Refused(
        "outcome_weights",
        "clusters",
        ": how rows of one cluster were kept by their outcomes would have to be known",
    ),
    _Refused("method", "clusters", _FLIPS),
    _Refused("ties", "clusters", _FLIPS),
    _Refused(
        "ties", "order_by", ": the paper, which it reproduces, knows the order of scores alone"
    ),
    _Refused(
        "clusters",
        "segments",
        ", which searches rows that are independent; groups (by) take clusters",
    ),
    _Refused("order_by", "segments", ", which looks at scores; groups (by) take it"),
    _Refused("missing", "segments", ", which leaves out no rows"),
    _Refused("outcome_weights", "segments", ", which knows no rows kept by their outcome"),
)
# What an argument is when it asks for nothing.
_USUAL = {"method": "auto", "missing": "refuse", "ties": "collapse"}


def check_combination(**given: Any) -> None:
    """Refuse arguments that do not go together.

    Parameters
    ----------
    **given
        Arguments as users gave them; those left out, and those as they are by default, go with
        anything.

    Raises
    ------
    InputError
        Naming both and saying why.
    """
    asked = {
        name: value
        for name, value in given.items()
        if value is not None and not _is_usual(name, value)
    }
    for first, second, why in _REFUSED:
        if first in asked and second in asked:
            named = Argument(first, asked[first]) if first in _USUAL else Argument(first)
            raise InputError(named, " does not go together with ", Argument(second), why)


def _is_usual(name: str, value: Any) -> bool:
    if isinstance(value, tuple) and not value:
        return True
    return name in _USUAL and isinstance(value, str) and value == _USUAL[name]
