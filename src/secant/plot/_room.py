"""Words that stay inside a figure which nobody lays out.

A layout engine moves axes until their labels have room. Without one, as in ``plt.subplots()``, axes
stay where they are, and what is written beside them must do with the margins they have. The axes
and the figure are not ours to change; the words are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from secant._drawing import style

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

__all__ = ["Words", "make_room", "room_below", "write_title"]

# Points between what is written and what it belongs to, where every point counts.
_PAD = 2
# Steps of the ordinate when its numbers must be short.
_FEW_STEPS = 3


class Words(NamedTuple):
    """What a display writes beside axes, and how it says that in fewer words."""

    title: str
    short_title: str
    ordinate: str
    short_ordinate: str


def write_title(ax: Axes, name: str | None, words: Words) -> None:
    """Give axes a title, after the name of a model, unless they have one that is not ours."""
    if any(ax.get_title(side) for side in ("center", "right")):
        return
    if (before := _our_title(ax, words)) is None:
        return
    fits = style.text_width(words.title, float(ax.title.get_fontsize())) < (
        style.inches(ax)[0] + 0.5
    )
    said = words.title if fits else words.short_title
    if before.said == words.short_ordinate:  # an earlier display had no other place for it
        said = before.said
    ax.set_title(f"{name}\n{said}" if name else said, loc="left")


def make_room(ax: Axes, words: Words, upper: Axes | None = None) -> None:
    """Write smaller and then less beside axes, until it fits, unless a layout engine makes room.

    Parameters
    ----------
    ax : Axes
        The axes, drawn.
    words : Words
        How the display can say it.
    upper : Axes, optional
        The upper axis.
    """
    if ax.figure.get_layout_engine() is not None:
        return
    _until(
        lambda: _needs_left(ax),
        lambda: _smaller_ordinate(ax),
        lambda: _fewer_steps(ax),
        lambda: _ordinate_as_title(ax, words),
    )
    _until(
        lambda: _needs_above(ax),
        lambda: _closer_title(ax, words, upper),
        lambda: _one_line(ax, words),
        lambda: _no_title(ax, words),
    )


def room_below(ax: Axes) -> float:
    """Return how many inches there are below axes; with a layout engine, as many as it takes."""
    if ax.figure.get_layout_engine() is not None:
        return math.inf
    inside = ax.get_window_extent()
    edges = [
        box.y1
        for box in map(_window, _others(ax))
        if box.y1 <= inside.y0 and _overlap((box.x0, box.x1), (inside.x0, inside.x1))
    ]
    return float(inside.y0 - max(edges, default=ax.figure.bbox.y0)) / ax.figure.dpi


def _until(needed: Callable[[], bool], *steps: Callable[[], None]) -> None:
    for step in steps:
        if not needed():
            return
        step()


# --- whether it fits ------------------------------------------------------------------------------


def _needs_left(ax: Axes) -> bool:
    """Tell whether the ordinate is written over the edge of the figure or over other axes."""
    inside, taken = ax.get_window_extent(), ax.yaxis.get_tightbbox()
    edges = [
        box.x1
        for box in map(_window, _others(ax))
        if box.x1 <= inside.x0 and _overlap((box.y0, box.y1), (inside.y0, inside.y1))
    ]
    return taken is not None and taken.x0 < max(edges, default=ax.figure.bbox.x0)


def _needs_above(ax: Axes) -> bool:
    """Tell whether the title or the upper axis leaves the figure or runs into other axes."""
    inside, taken = ax.get_window_extent(), ax.get_tightbbox()
    edges = [
        (other.get_tightbbox() or box).y0  # with what is written below it
        for other, box in ((other, _window(other)) for other in _others(ax))
        if box.y0 >= inside.y1 and _overlap((box.x0, box.x1), (inside.x0, inside.x1))
    ]
    return taken is not None and taken.y1 > min(edges, default=ax.figure.bbox.y1)


def _others(ax: Axes) -> list[Axes]:
    return [other for other in ax.figure.axes if other is not ax and other.get_visible()]


def _window(ax: Axes) -> Bbox:
    return ax.get_window_extent()


def _overlap(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


# --- what can be done -----------------------------------------------------------------------------


def _smaller_ordinate(ax: Axes) -> None:
    small = style.SMALL * float(ax.xaxis.label.get_fontsize())
    ax.tick_params(axis="y", labelsize=small, pad=_PAD)
    ax.yaxis.label.set_fontsize(small)
    ax.yaxis.labelpad = 1


def _fewer_steps(ax: Axes) -> None:
    """Let the ordinate have few round values, and write them as shortly as can be."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415  (imported only when drawing)

    ax.yaxis.set_major_locator(MaxNLocator(_FEW_STEPS, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(lambda value, _: _shortest(value))


def _shortest(value: float) -> str:
    """Write a round number plainly, or with a power of ten where that is shorter.

    Examples
    --------
    >>> [_shortest(each) for each in (0.0, 0.5, 0.02, 0.002, 0.0015)]
    ['0', '0.5', '0.02', '2e-3', '0.0015']
    """
    digits, power = f"{value:.1e}".split("e")
    plain, scientific = f"{value:g}", f"{digits.removesuffix('.0')}e{int(power)}"
    return min(plain, scientific, key=len).replace("-", "\N{MINUS SIGN}", 1 if value < 0 else 0)


def _ordinate_as_title(ax: Axes, words: Words) -> None:
    """Name the ordinate above the axes, in place of our title."""
    if (ours := _our_title(ax, words)) is not None and ours.said:
        said = words.short_ordinate
        ax.set_title(f"{ours.name}\n{said}" if ours.name else said, loc="left")
        ax.set_ylabel("")


def _closer_title(ax: Axes, words: Words, upper: Axes | None) -> None:
    """Write the upper axis smaller, and our title close to it."""
    if upper is not None:
        small = style.SMALL * float(ax.xaxis.label.get_fontsize())
        upper.tick_params(axis="x", labelsize=small, pad=_PAD, length=_PAD)
        upper.xaxis.label.set_fontsize(small)
        upper.xaxis.labelpad = _PAD
    if _our_title(ax, words) not in (None, _Title("", "")):
        ax.set_title(ax.get_title("left"), loc="left", pad=_PAD)


def _one_line(ax: Axes, words: Words) -> None:
    """Write the name of a model and what to look for in one line."""
    ours = _our_title(ax, words)
    if ours is not None and ours.name:
        said = words.short_title if ours.said == words.title else ours.said
        ax.set_title(f"{ours.name}: {_uncapitalized(said)}", loc="left", pad=_PAD)


def _no_title(ax: Axes, words: Words) -> None:
    """Take away a title of ours that names nothing."""
    if _our_title(ax, words) in (_Title("", words.title), _Title("", words.short_title)):
        ax.set_title("", loc="left")


# --- titles ---------------------------------------------------------------------------------------


class _Title(NamedTuple):
    """The name of a model and what is said of it, either of which can be empty."""

    name: str
    said: str


def _our_title(ax: Axes, words: Words) -> _Title | None:
    """Return the parts of a title as we write it, in two lines or in one; None of another title."""
    title = ax.get_title("left")
    name, _, last = title.rpartition("\n")
    sayings = (words.title, words.short_title, words.short_ordinate)
    if last in ("", *sayings):
        return _Title(name, last)
    for said in sayings:
        if title.endswith(one_line := f": {_uncapitalized(said)}"):
            return _Title(title.removesuffix(one_line), said)
    return None


def _uncapitalized(words: str) -> str:
    return words[0].lower() + words[1:]
