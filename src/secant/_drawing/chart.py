"""Charts described once: what is drawn, what it means and what it looks like.

A describer takes results and returns a :class:`Chart`; one renderer makes SVG of it, another draws
it on matplotlib axes. Renderers add no fact and no word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from secant._drawing.style import LOOKS, text_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["LINE", "Axis", "Chart", "Mark", "Space", "Ticks", "hold", "round_ticks"]

Ticks = list[tuple[float, str]]
"""Places along an axis, and what is written there."""

# Distance of lines of text, relative to its size.
LINE = 1.3
# Empty share of an axis on either side of what is drawn, and the largest share given to words.
_MARGIN, _MOST_WORDS = 0.06, 0.45
# Inches along an axis between round values, about.
_APART = 0.75


class Space(NamedTuple):
    """The room of a picture: inches across and upwards, and the size of its text in points."""

    width: float
    height: float
    size: float = 9.0

    def share(self, text: str, role: str = "hint") -> float:
        """Return the share of the width that a line of text takes."""
        return text_width(text, LOOKS[role].size * self.size) / self.width

    @property
    def line(self) -> float:
        """The share of the height that a line of text takes."""
        return LINE * self.size / 72 / self.height


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: from where to where, what it is called and what is written along it.

    Attributes
    ----------
    low, high : float
        Its ends.
    name, short : str
        What it is called, and that in fewer words.
    write : callable, optional
        What to write along so many inches in text of so many points; round values unless given.
    minor : sequence of float
        Places of small ticks.
    parts : bool
        Whether what is written names the parts between small ticks.
    """

    low: float
    high: float
    name: str = ""
    short: str = ""
    write: Callable[[float, float], Ticks] | None = None
    minor: Any = ()
    parts: bool = False

    def share(self, value: Any) -> Any:
        """Return how far along the axis values stand, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self, inches: float, size: float = 9.0) -> Ticks:
        """Return what to write along so many inches: values, and their words."""
        if self.write is not None:
            return self.write(inches, size)
        return round_ticks(self.low, self.high, max(2, round(inches / _APART)))


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that is drawn.

    Attributes
    ----------
    kind : str
        ``line``, ``area`` and ``dots`` go through points; ``lines`` are one a row; a ``span`` is
        as high as the picture; ``bars`` and ``stairs`` stand between edges; a ``text`` stands at a
        point.
    role : str
        What it is, which decides what it looks like.
    x, y : array
        Where; of a text a place, at the end of the axis where it is infinite.
    says : str
        Its words.
    mood : str
        The direction that it stands for, where it has one: too high, too low, or neither.
    number : int
        Which of several models it belongs to.
    anchor : str
        Of a text: where it lies from its place, such as "ne" (above, to the right).
    row : int
        Of a text: how many lines further.
    view : str
        In which of several views of the chart it is shown; in all unless given.
    """

    kind: Literal["line", "area", "dots", "lines", "span", "bars", "stairs", "text"]
    role: str
    x: Any
    y: Any = 0.0
    says: str = ""
    mood: str = ""
    number: int = 0
    anchor: str = ""
    row: float = 0
    view: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """All there is to know of a picture.

    Attributes
    ----------
    title, short : str
        What to look for, and that in fewer words.
    x, y : Axis
        The axes.
    marks : list of Mark
        What is drawn.
    top : Axis, optional
        Another scale of the abscissa, above.
    says : str
        What it shows, for those who do not see it.
    """

    title: str
    x: Axis
    y: Axis
    marks: list[Mark] = field(default_factory=list)
    short: str = ""
    top: Axis | None = None
    says: str = ""

    def of(self, *roles: str) -> list[Mark]:
        """Return the marks of some roles."""
        return [mark for mark in self.marks if mark.role in roles]


def hold(
    values: Iterable[float], *, margin: float = _MARGIN, above: float = 0.0, below: float = 0.0
) -> tuple[float, float]:
    """Return the ends of an axis that holds some values, with a margin on either side.

    Shares ``above`` and ``below`` of its length are left for words, or as much as there is.

    Examples
    --------
    >>> hold([0, 1], margin=0.1), hold([0, 1], margin=0, above=0.2)
    ((-0.1, 1.1), (0.0, 1.25))
    """
    found = np.asarray([*values], float)
    found = found[np.isfinite(found)]
    low, high = float(found.min()), float(found.max())
    room = margin * (high - low)
    if not room > 0 and not above + below:  # one value, or values too close to tell apart
        room = max(abs(high), 1e-6) / 2
    between = (high - low) or 0.1
    above, below = (min(share, _MOST_WORDS) for share in (above, below))
    unit = (between + 2 * room) / (1 - above - below)
    return low - max(room, unit * below), high + max(room, unit * above)


def round_ticks(low: float, high: float, about: int) -> Ticks:
    """Return about so many round values from ``low`` to ``high``, with what to write.

    Examples
    --------
    >>> [label for _, label in round_ticks(0.004, 0.041, 4)]
    ['0.01', '0.02', '0.03', '0.04']
    """
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda each: abs(each - raw))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [(k * step, _label(k * step, digits)) for k in range(first, last + 1)]


def _label(value: float, digits: int) -> str:
    """Write a value with so many decimals, or as a power of ten where these are many."""
    if value == 0:
        return "0"
    if digits <= 6:
        written = f"{value:.{digits}f}"
    else:
        written = f"{value:.{max(0, digits + math.floor(math.log10(abs(value)) + 1e-9))}e}"
    return written.replace("-", "\N{MINUS SIGN}")
