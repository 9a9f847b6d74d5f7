"""What is written beside axes: titles, names and numbers, in as many words as have room.

A layout engine moves axes until their labels have room. Without one, as in ``plt.subplots()``, axes
stay where they are, and in narrow margins fewer and smaller words are written.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from secant._drawing.chart import LINE
from secant._drawing.style import SMALL, text_width
from secant.plot._draw import artists, space_of, text_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from secant._drawing.chart import Axis, Chart

__all__ = ["Room", "fitting", "name_above", "name_axes", "room_of", "write_title"]

# The smallest size in which one can read, relative to the size of text.
_SMALLEST = 0.7
# Points that a tick and its distance from the number take, and those before a name in full size.
_TICK, _PAD = 7.0, 4.0
# The share of the gap between axes that belongs to those above it.
_BELOW = 2 / 3
# Lines that a scale above the axes takes.
_SCALE = 2.5
# What a title of ours is called, before its words.
_OURS = "title "


class Room(NamedTuple):
    """The margins of axes in inches; endless where a layout engine makes room."""

    left: float
    bottom: float
    top: float


def room_of(ax: Axes) -> Room:
    """Return the margins of axes: to the edge of the paper, or a share of the gap to others."""
    if ax.figure.get_layout_engine() is not None:
        return Room(math.inf, math.inf, math.inf)
    here, paper, dpi = ax.get_window_extent(), ax.figure.bbox, ax.figure.dpi
    left, bottom, top = [here.x0 - paper.x0], [here.y0 - paper.y0], [paper.y1 - here.y1]
    for other in ax.figure.axes:
        box = other.get_window_extent()
        if box.x0 < here.x1 and here.x0 < box.x1:
            bottom.append((here.y0 - box.y1) * _BELOW if box.y1 <= here.y0 else bottom[0])
            top.append((box.y0 - here.y1) * (1 - _BELOW) if box.y0 >= here.y1 else top[0])
        elif box.x1 <= here.x0 and box.y0 < here.y1 and here.y0 < box.y1:
            left.append(here.x0 - box.x1)
    return Room(*(float(min(each)) / dpi for each in (left, bottom, top)))


def name_axes(ax: Axes, chart: Chart) -> None:
    """Name the axes, and write their numbers, in the words that have room."""
    space, room = space_of(ax), room_of(ax)
    size, line = space.size, LINE * space.size / 72
    ax.set_ylabel(fitting(chart.y, ax, up=True))
    ax.set_xlabel(fitting(chart.x, ax))
    # Digits are a little wider than letters are on average.
    numbers = [1.1 * text_width(text.get_text(), size) for text in ax.get_yticklabels()]
    wide = max(numbers, default=0.0)
    _write(ax, "y", chart.y.short, (wide, space.height), room.left)
    _write(ax, "x", chart.x.short, (line, space.width), room.bottom)


def name_above(ax: Axes, upper: Axes) -> None:
    """Write the scale above the axes smaller, then without its name, then not at all."""
    size, top = text_size(ax), room_of(ax).top
    line = LINE * size / 72
    if top >= 4.5 * line:
        return
    upper.tick_params(axis="x", labelsize=SMALL * size, pad=2, length=2)
    upper.xaxis.label.set_fontsize(SMALL * size)
    upper.xaxis.labelpad = 3
    if top < 3.1 * line:
        upper.set_xlabel("")
    if top < 2.4 * line:
        upper.set_visible(False)
        # Titles keep above its ticks even so.
        upper.tick_params(axis="x", which="both", length=0, labeltop=False)


def fitting(axis: Axis, ax: Axes, *, up: bool = False) -> str:
    """Return the name of an axis, or its short one where that has no room along it."""
    space = space_of(ax)
    room = space.height + 0.3 if up else space.width + 0.6
    return axis.name if text_width(axis.name, space.size) <= room else axis.short


def _write(ax: Axes, which: str, short: str, inches: tuple[float, float], room: float) -> None:
    """Write a scale smaller, then without its name, then not at all, until it has room.

    ``inches`` are those that its numbers take beside the axes, and those along them.
    """
    side, axis = ("left", ax.yaxis) if which == "y" else ("bottom", ax.xaxis)
    size = text_size(ax)
    for relative, named in [(1.0, True), (SMALL, True), (SMALL, False), (_SMALLEST, False)]:
        beside = _TICK if relative < 1 else _TICK + _PAD * named
        needed = relative * (inches[0] + named * LINE * size / 72) + beside / 72
        if needed <= room and (not named or text_width(short, relative * size) <= 1.1 * inches[1]):
            break
    else:
        relative, named = 0.0, False
    if relative == 1:
        return
    axis.set_label_text(short if named else "")
    if named:
        axis.label.set_fontsize(relative * size)
        axis.labelpad = 1
    if not relative:
        ax.tick_params(axis=which, **{f"label{side}": False})  # type: ignore[arg-type]
        return
    ax.tick_params(axis=which, labelsize=relative * size, pad=2)  # type: ignore[arg-type]
    if which == "y" and not named:
        cast("Any", axis.get_major_locator()).set_params(nbins=4)


def write_title(ax: Axes, name: str | None, chart: Chart, title: str | None = None) -> None:
    """Give axes a title, after the name of a model, unless they have one that is not ours.

    A title that somebody sets later, anywhere above the axes, takes ours away.
    """
    if title is not None:
        ax.set_title(title, loc="left")
        return
    before = ax.get_title("left")
    ours = not before or bool(artists(ax, _OURS + before))
    if not ours or ax.get_title("center") or ax.get_title("right"):
        return
    size, width, top = float(ax.title.get_fontsize()), space_of(ax).width, room_of(ax).top
    wide = top < math.inf and text_width(chart.short, size) > 1.1 * width
    said = chart.title if text_width(chart.title, size) < width + 0.5 else chart.short
    lines = 1 + bool(name) + (0 if chart.top is None else _SCALE)
    close = top < lines * LINE * size / 72
    if name:
        short = f"{name}: {chart.short[:1].lower()}{chart.short[1:]}"
        said = short if close else f"{name}\n{said}"
    if top < 1.6 * LINE * size / 72 or wide:
        said = name or ""
    written = ax.set_title(said, loc="left", pad=3 if close else None)
    if top < 2 * LINE * size / 72:
        written.set_fontsize(SMALL * text_size(ax))
    written.set_gid(f"secant:{_OURS}{said}")

    def give_way(theirs: Any) -> None:
        if theirs.get_text() and artists(ax, _OURS + written.get_text()):
            written.set_text("")

    for place in (ax.title, ax.set_title("", loc="right")):
        place.add_callback(give_way)
