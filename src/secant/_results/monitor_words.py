"""How a monitor writes evidence and times, and what its guarantee rests on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from secant._input.periods import written

if TYPE_CHECKING:
    from secant._input.periods import Time

__all__ = ["ASSUMES", "written_evidence", "written_time"]

ASSUMES = (
    "All of this holds as long as every row is new: where the same customers return with the same "
    "outcome, one surprise counts many times."
)
"""What the guarantee rests on, in words."""


def written_evidence(log10: float) -> str:
    """Write evidence with two or three digits, whatever its size.

    Examples
    --------
    >>> [written_evidence(each) for each in (-0.3, 1.5, 4.2, 32.83)]
    ['0.5', '32', '15,849', '6.8e32']
    """
    if log10 >= 6:
        exponent = math.floor(log10)
        mantissa = f"{10 ** (log10 - exponent):.1f}"
        return f"1.0e{exponent + 1}" if mantissa == "10.0" else f"{mantissa}e{exponent}"
    value = 10**log10
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def written_time(time: Time | None) -> str:
    """Write the name of a period; a number needs a word before it."""
    if isinstance(time, int):
        return f"batch {time}"
    return "" if time is None else written(time)
