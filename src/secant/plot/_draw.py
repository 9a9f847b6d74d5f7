"""Charts drawn on matplotlib axes: a mark is an artist."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.extras import require
from secant._drawing.chart import LINE, Space
from secant._drawing.style import COLORS, LOOKS, look_of, model_style

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from secant._drawing.chart import Chart, Mark
    from secant._drawing.style import Look

__all__ = [
    "artists",
    "color",
    "draw",
    "line_options",
    "model_line",
    "new_axes",
    "remove",
    "space_of",
    "text_size",
]

# What is there once, however many displays share the axes.
_ONCE = {"zero", "diagonal"}
# What stands for a model, and takes the options that are meant for it.
_MODEL = {"curve", "bins", "many bins", "evidence", "batches"}
# Points between a text and its place.
_BESIDE = 4


def new_axes(width: float, height: float) -> Axes:
    """Return axes in a new figure of some inches, which pyplot looks after.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    plt = require("matplotlib.pyplot", "plot", "drawing needs")
    axes: Axes = plt.figure(figsize=(width, height), layout="constrained").add_subplot()
    return axes


def space_of(ax: Axes) -> Space:
    """Return the room inside axes, and the size of their text."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    return Space(box.width / dpi, box.height / dpi, text_size(ax))


def text_size(ax: Axes) -> float:
    """Return the size of text beside axes, in points."""
    return max(float(axis.label.get_fontsize()) for axis in (ax.xaxis, ax.yaxis))


def artists(ax: Axes, *roles: str) -> list[Any]:
    """Return what earlier displays drew on axes, of some roles."""
    known = {f"secant:{role}" for role in roles}
    return [child for child in ax.get_children() if child.get_gid() in known]


def remove(ax: Axes, *roles: str) -> None:
    """Take away what earlier displays drew."""
    for artist in artists(ax, *roles):
        artist.remove()


def color(ax: Axes, name: str) -> str:
    """Return a colour as it is on the paper of the axes, which may be dark."""
    from matplotlib.colors import to_rgba  # noqa: PLC0415  (imported only when drawing)

    paper = to_rgba(ax.get_facecolor())
    red, green, blue, _ = paper if paper[3] else to_rgba(ax.figure.get_facecolor())
    return COLORS[name][0.299 * red + 0.587 * green + 0.114 * blue < 0.5]


def line_options(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Give options of a line their full names, so that ``lw`` replaces ``linewidth``."""
    from matplotlib.cbook import normalize_kwargs  # noqa: PLC0415  (imported only when drawing)
    from matplotlib.lines import Line2D  # noqa: PLC0415

    return normalize_kwargs(kwargs, Line2D)


def model_line(number: int) -> dict[str, Any]:
    """Return the options of a line that stands for a model, on light paper."""
    look = model_style(number)
    color = COLORS[look.color][0]
    return {"color": color, "linestyle": (0, look.dash or None), "marker": look.marker}


def draw(
    chart: Chart, ax: Axes, *, labels: Sequence[str] = (), **kwargs: Any
) -> defaultdict[str, list[Any]]:
    """Draw the marks of a chart, and return the artists by role.

    Parameters
    ----------
    chart : Chart
        What to draw.
    ax : Axes
        Where.
    labels : sequence of str
        What legends call the models.
    **kwargs
        Options of the lines that stand for models.
    """
    drawn: defaultdict[str, list[Any]] = defaultdict(list)
    names, options = iter(labels), line_options(kwargs)
    own: dict[int, str] = {}  # a model that was given a colour has it everywhere
    # Lines of models first, so that the rest of each can have its colour.
    for mark in sorted(chart.marks, key=lambda mark: mark.role not in _MODEL):
        before = artists(ax, mark.role) if mark.role in _ONCE else []
        if before:
            drawn[mark.role] += before
            continue
        look = look_of(mark)
        usual = color(ax, look.color)
        ours = LOOKS[mark.role].color == "model" and not mark.mood
        given: dict[str, Any] = {"color": own.get(mark.number, usual) if ours else usual}
        given |= {"alpha": look.alpha, "zorder": look.layer}
        if mark.role in _MODEL:
            given |= {"label": next(names, f"_{mark.role}"), **options}
            if "alpha" not in options and look.alpha == 1:
                del given["alpha"]
        artist = _artist(mark, look, ax, given)
        for part in artist if mark.kind == "bars" else [artist]:
            part.set_gid(f"secant:{mark.role}")
        if mark.role in _MODEL:
            own[mark.number] = str(artist.get_color())
        drawn[mark.role].append(artist)
    return drawn


def _artist(mark: Mark, look: Look, ax: Axes, options: dict[str, Any]) -> Any:
    """Draw one mark."""
    edge: dict[str, Any] = {"edgecolor": color(ax, "muted"), "linewidth": 0.7}
    flat: dict[str, Any] = {"linewidth": 0, **options}
    makers: dict[str, Callable[[], Any]] = {
        "line": lambda: _line(mark, look, ax, options),
        "dots": lambda: _line(mark, look, ax, options),
        "area": lambda: ax.fill(mark.x, mark.y, **flat)[0],
        "span": lambda: ax.axvspan(*mark.x, **flat),
        "bars": lambda: ax.bar(
            mark.x[:-1], mark.y, np.diff(mark.x), align="edge", **options, **edge
        ),
        "stairs": lambda: ax.stairs(
            mark.y, mark.x, **options, linestyle=model_line(mark.number)["linestyle"]
        ),
        "lines": lambda: _lines(mark, look, ax, options),
        "text": lambda: _text(mark, look, ax, options),
    }
    return makers[mark.kind]()


def _line(mark: Mark, look: Look, ax: Axes, options: dict[str, Any]) -> Any:
    dots = mark.kind == "dots"
    usual: dict[str, Any] = {"linestyle": "none" if dots else "solid", "linewidth": look.width}
    if look.dash:
        usual["linestyle"] = (0, look.dash)
    if look.dot:
        usual |= {"marker": "o", "markersize": look.dot}
    if mark.role in ("bins", "many bins"):
        usual |= {"marker": model_style(mark.number).marker}
    elif mark.mood:  # the ends stand on the curve and show it
        usual |= {"markerfacecolor": ax.get_facecolor(), "markeredgewidth": 1.4}
        usual |= {"clip_on": False, "in_layout": False}
    label = {} if "label" in options else {"label": f"_{mark.role}"}
    return ax.plot(mark.x, mark.y, **{**usual, **label, **options})[0]


def _lines(mark: Mark, look: Look, ax: Axes, options: dict[str, Any]) -> Any:
    from matplotlib.collections import LineCollection  # noqa: PLC0415  (only when drawing)

    paths = [np.column_stack(each) for each in zip(mark.x, mark.y, strict=True)]
    paths = [path[~np.isnan(path).any(axis=1)] for path in paths]
    return ax.add_collection(LineCollection(paths, linewidths=look.width, **options))


def _text(mark: Mark, look: Look, ax: Axes, options: dict[str, Any]) -> Any:
    size = text_size(ax)
    across, upwards = ("axes fraction" if math.isinf(at) else "data" for at in (mark.x, mark.y))
    x, y = (float(at > 0) if math.isinf(at) else at for at in (mark.x, mark.y))
    right = ("e" in mark.anchor) - ("w" in mark.anchor)
    up = ("n" in mark.anchor) - ("s" in mark.anchor)
    return ax.annotate(
        mark.says,
        (x, y),
        xycoords=(across, upwards),
        xytext=(right * _BESIDE, up * (_BESIDE + mark.row * LINE * size)),
        textcoords="offset points",
        horizontalalignment=("right", "center", "left")[1 + right],
        verticalalignment=("top", "center", "bottom")[1 + up],
        fontsize=look.size * size,
        in_layout=False,
        **options,
    )
