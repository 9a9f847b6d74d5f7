"""How pictures look: colours, line styles and the words and numbers written in them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from secant._base.extras import require
from secant._results import wording

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from secant._results.parts import Interval

__all__ = [
    "BAND",
    "FAINT",
    "INK",
    "LIGHT_INK",
    "MUTED",
    "NOISE",
    "SMALL",
    "TOO_HIGH",
    "TOO_LOW",
    "Style",
    "accent",
    "deviation",
    "inches",
    "line_options",
    "model_color",
    "model_style",
    "new_axes",
    "points",
    "score_labels",
    "score_range",
    "text_width",
]

INK, LIGHT_INK = "#1f2328", "#e8eaed"  # the first model, on light and on dark paper
MUTED = "#6a737d"  # what explains
FAINT = "#b4bac1"  # what only guides the eye
NOISE = "#7b8490"  # what could be noise, whatever its direction
BAND = ("#6a737d", 0.12)  # what lies behind
# Size of smaller text, relative to the size of text.
SMALL = 0.85
# The two accents are vermilion and blue of Okabe and Ito's palette, made for all eyes. They mean
# a direction, everywhere, and no model is drawn in them.
TOO_HIGH = "#d55e00"
TOO_LOW = "#0072b2"


# Scores below this are written as powers of ten.
_TINY = 1e-4


class Style(NamedTuple):
    """How one model is drawn: a colour for the eye, a dash and a marker for grey print."""

    color: str
    dash: Any
    marker: str


# Told apart by colour whatever the eye, by lightness in grey, and by dash and marker in any case.
_STYLES = (
    Style(INK, "solid", "o"),
    Style("#009e73", (0, (5, 2)), "s"),
    Style("#7b2d8e", (0, (3, 1.5, 1, 1.5)), "^"),
    Style("#c09400", (0, (1.5, 1.5)), "D"),
    Style("#8a8f94", (0, (8, 1.5, 1, 1.5, 1, 1.5)), "v"),
)


def model_style(number: int) -> Style:
    """Return the style of a model; after the fifth, dashes and markers meet other colours."""
    rounds, place = divmod(number, len(_STYLES))
    other = _STYLES[(place + rounds) % len(_STYLES)]
    return Style(_STYLES[place].color, other.dash, other.marker)


def model_color(ax: Axes, number: int) -> str:
    """Return the colour of a model, ink being dark or light as the paper asks for."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415  (imported only when drawing)

    color = model_style(number).color
    red, green, blue = to_rgb(ax.get_facecolor())
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    return LIGHT_INK if dark and color == INK else color


def line_options(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Give options of a line their full names, so that ``lw`` replaces ``linewidth``."""
    from matplotlib.cbook import normalize_kwargs  # noqa: PLC0415  (imported only when drawing)
    from matplotlib.lines import Line2D  # noqa: PLC0415

    return normalize_kwargs(kwargs, Line2D)


def new_axes(*, width: float, height: float) -> Axes:
    """Return axes in a new figure, which pyplot looks after.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    plt = require("matplotlib.pyplot", "plot", "drawing needs")
    axes: Axes = plt.figure(figsize=(width, height), layout="constrained").add_subplot()
    return axes


def inches(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return box.width / dpi, box.height / dpi


def text_width(text: str, size: float) -> float:
    """Estimate how wide a line of text of a size in points is, in inches."""
    return 0.58 * size * len(text) / 72


def accent(worst: Interval) -> str:
    """Return the colour of a direction."""
    return TOO_HIGH if worst.direction == "too high" else TOO_LOW


def points(value: float) -> str:
    """Write a difference of probabilities in percentage points, as the verdict does."""
    return wording.points(value).replace("-", "\N{MINUS SIGN}")


def deviation(worst: Interval) -> str:
    """Say in words how far off a range of scores is."""
    if not worst.n or worst.direction == "even":
        return "no deviation"
    return f"{worst.direction} by {points(abs(worst.miscalibration))} points"


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
