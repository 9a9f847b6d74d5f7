"""What everything drawn looks like: one table of looks, for notebooks, the page and pictures."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["COLORS", "LOOKS", "SMALL", "Look", "Style", "look_of", "model_style", "text_width"]

COLORS = {
    "ink": ("#1f2328", "#e8eaed"),
    "muted": ("#59636e", "#a3adb8"),  # what explains
    "guide": ("#b4bac1", "#4a525c"),  # what only guides the eye
    # The two accents are vermilion and blue of Okabe and Ito's palette, made for all eyes. They
    # mean a direction, everywhere, and no model is drawn in them. Words in them are darker.
    "high-line": ("#d55e00", "#ff8a3c"),
    "low-line": ("#0072b2", "#47aef2"),
    "unsure-line": ("#7b8490", "#8d97a3"),  # what could be noise, whatever its direction
    "high": ("#b34700", "#ffa56b"),
    "low": ("#005f96", "#7cc4f5"),
    "unsure": ("#59636e", "#a3adb8"),
    "model-1": ("#009e73", "#2cc79a"),
    "model-2": ("#7b2d8e", "#c78fe0"),
    "model-3": ("#c09400", "#e0b53a"),
    "model-4": ("#8a8f94", "#9aa1a8"),
    "ecce": ("#a81f63", "#ff8fbd"),
}
"""Each colour on light and on dark paper."""

# Size of smaller text, relative to the size of text.
SMALL = 0.85


class Look(NamedTuple):
    """How something is drawn: its colour, its width in points, its opacity and its dashes.

    The colour ``mood`` is that of its direction, ``model`` that of its model, unless it has a mood.
    What lies on a higher
    layer covers what lies on a lower one. Text has a size, relative to that of text;
    ``dot`` is the size of dots at the points, in points.
    """

    color: str
    width: float = 0.0
    alpha: float = 1.0
    dash: tuple[float, ...] = ()
    layer: int = 3
    size: float = SMALL
    dot: float = 0.0


LOOKS = {
    "band": Look("muted", alpha=0.12, layer=0),
    "shade": Look("mood", alpha=0.09, layer=0),
    "since": Look("mood", alpha=0.09, layer=0),
    "zero": Look("guide", 0.8, layer=1),
    "triangle": Look("model", alpha=0.4, layer=2),
    "curve": Look("model", 1.3),
    "secant": Look("mood", 1.6, layer=4, dot=4.5),
    "diagonal": Look("guide", 1.0, layer=1),
    "limits": Look("model", 1.0, alpha=0.5),
    "resamples": Look("model", 0.7, alpha=0.35, layer=2),
    "recalibrated": Look("model", 1.0, alpha=0.65, layer=3),
    "bins": Look("model", 1.2, layer=4, dot=5),
    "many bins": Look("model", 0.8, layer=4, dot=2.5),
    "outline": Look("model", 1.0),
    "counts": Look("guide", alpha=0.75),
    "weight": Look("guide", alpha=0.75),
    "happened": Look("muted"),
    "ece": Look("ink", 1.4),
    "noise_floor": Look("muted", 1.4, dash=(2, 2)),
    "ecce": Look("ecce", 1.9),
    "evidence": Look("ink", 1.3),
    "batches": Look("ink", 1.3, dot=3),
    "threshold": Look("muted", 1.0, dash=(5, 3)),
    "alarm": Look("mood", layer=4, dot=6.5),
    "head": Look("mood", layer=5, size=1.0),
    "note": Look("mood", layer=5),
    "sign": Look("mood", layer=5),
    "hint": Look("muted", layer=5),
}
"""What each role looks like, the only place where that is said."""


class Style(NamedTuple):
    """How one model is drawn: a colour for the eye, a dash and a marker for grey print."""

    color: str
    dash: tuple[float, ...]
    marker: str


# Told apart by colour whatever the eye, by lightness in grey, and by dash and marker in any case.
_STYLES = (
    Style("ink", (), "o"),
    Style("model-1", (5, 2), "s"),
    Style("model-2", (3, 1.5, 1, 1.5), "^"),
    Style("model-3", (1.5, 1.5), "D"),
    Style("model-4", (8, 1.5, 1, 1.5, 1, 1.5), "v"),
)


def model_style(number: int) -> Style:
    """Return the style of a model; after the fifth, dashes and markers meet other colours."""
    rounds, place = divmod(number, len(_STYLES))
    other = _STYLES[(place + rounds) % len(_STYLES)]
    return Style(_STYLES[place].color, other.dash, other.marker)


def look_of(mark: Any) -> Look:
    """Return what a mark looks like, with the colour of its direction or its model."""
    look = LOOKS[mark.role]
    if look.color == "mood":
        name = mark.mood or "muted"
        lines = mark.kind != "text" and f"{name}-line" in COLORS
        return look._replace(color=f"{name}-line" if lines else name)
    if look.color == "model":
        if mark.mood:
            return look._replace(color=mark.mood)
        model = model_style(mark.number)
        return look._replace(color=model.color, dash=model.dash if mark.role == "curve" else ())
    return look


def text_width(text: str, size: float) -> float:
    """Estimate how wide a line of text of a size in points is, in inches."""
    return 0.58 * size * len(text) / 72
