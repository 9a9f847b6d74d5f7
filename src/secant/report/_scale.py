"""Where numbers stand in a chart, and the marks along its axes.

Charts are drawn in boxes of any size: pictures stretch to the box, labels are placed by percentages
and keep their size. So one page fits the screen, the phone and paper without a script.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from secant._base.types import FloatArray

__all__ = ["UNIT", "Axis", "Tick", "axis", "polyline", "ticks"]

# Length of the sides of a chart, in its own coordinates.
UNIT = 1000.0

Tick = tuple[float, str]
"""A place along an axis, from 0 to 1, and what is written there."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear scale from ``low`` to ``high``."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Return how far along the axis a value stands, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def across(self, values: FloatArray) -> FloatArray:
        """Return horizontal coordinates."""
        return (values - self.low) * (UNIT / (self.high - self.low))

    def up(self, values: FloatArray) -> FloatArray:
        """Return vertical coordinates, which count downwards."""
        return (self.high - values) * (UNIT / (self.high - self.low))

    def ticks(self, about: int = 5) -> list[Tick]:
        """Return about so many round values on the axis."""
        return [(self.share(value), label) for value, label in ticks(self.low, self.high, about)]


def axis(values: Iterable[float], *, margin: float = 0.06) -> Axis:
    """Return an axis that holds some values, with a margin on either side."""
    found = [float(value) for value in values if math.isfinite(value)]
    low, high = min(found), max(found)
    room = margin * (high - low)
    if not room > 0:  # one value, or values too close to tell apart
        room = max(abs(high), 1e-6) / 2
    return Axis(low - room, high + room)


def ticks(low: float, high: float, about: int) -> list[tuple[float, str]]:
    """Return about so many round values from ``low`` to ``high``, with what to write.

    Examples
    --------
    >>> [label for _, label in ticks(0.004, 0.041, 4)]
    ['0.01', '0.02', '0.03', '0.04']
    """
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda each: abs(each - raw))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [(k * step, _label(k * step, digits)) for k in range(first, last + 1)]


def polyline(x: FloatArray, y: FloatArray) -> str:
    """Return the path through points given in a chart's coordinates."""
    points = np.column_stack([x, y]).round(1).tolist()
    return "M" + "L".join(f"{a:.6g} {b:.6g}" for a, b in points)


def _label(value: float, digits: int) -> str:
    """Write a value with so many decimals, or as a power of ten where these are many."""
    if value == 0:
        return "0"
    if digits <= 6:
        written = f"{value:.{digits}f}"
    else:
        written = f"{value:.{max(0, digits + math.floor(math.log10(abs(value)) + 1e-9))}e}"
    return written.replace("-", "\N{MINUS SIGN}")
