"""Graphs of cumulative differences on axes, where others may have been drawn before."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from secant._drawing.chart import Axis
from secant._drawing.findings import without_words
from secant._drawing.graph import abscissa, cumulative
from secant._drawing.order import order_of
from secant._drawing.style import SMALL, model_style, text_width
from secant.plot._draw import artists, color, draw, remove, space_of
from secant.plot._room import fitting, name_above, name_axes, room_of

if TYPE_CHECKING:
    from collections import defaultdict
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

    from secant._drawing.chart import Chart
    from secant._drawing.findings import Finding

__all__ = ["FEW_MODELS", "draw_graph", "fractions", "legend"]

# More models than this get no rows of scores below the axis, and no secants unless asked for.
FEW_MODELS = 4
# Curves are thinned to pixels at least this fine: what is made for the screen is saved for print.
_PRINT_DPI = 300
# Markers along a curve among several.
_MARKERS = 6
# Axes less wide than so many times the size of text are drawn finer.
_ROOMY_WIDTH = 18
# Sizes of rows of scores and their distance, relative to text; points of their ticks and padding.
_ROWS = ((1.0, 1.4, 3.5), (SMALL, 1.05, 2.0))


def draw_graph(
    ax: Axes,
    results: Sequence[Any],
    labels: Sequence[str],
    *,
    found: Sequence[Sequence[Finding]] = (),
    bands: Sequence[float] = (),
    named: bool = False,
    **options: Any,
) -> tuple[Chart, defaultdict[str, list[Any]]]:
    """Draw the graph of some results beside those that are there, and the limits of both axes.

    Parameters
    ----------
    ax : Axes
        Where.
    results : sequence of Drawable
        What to draw.
    labels : sequence of str
        What a legend says of each.
    found : sequence of sequence of Finding
        What is to be marked in each.
    bands : sequence of float
        Half the height of each significance band.
    named : bool
        Whether a single curve has a legend, too.
    **options
        Of the curves.

    Returns
    -------
    chart, drawn
        The description, and the artists by role.
    """
    first, space = len(artists(ax, "curve")), space_of(ax)
    count = first + len(results)
    if count > 1:
        remove(ax, "head", "note", "shade", "sign", "hint")
    beside = ax.get_shared_y_axes().get_siblings(ax)
    others = [each for each in beside if each is not ax and artists(each, "curve")]
    shared = [end for each in others for end in each.get_ylim()]
    chart = cumulative(
        results,
        space,
        found=found,
        bands=bands,
        first=first,
        heights=_heights(ax),
        legend=1.3 * _legend_rows(count) if count > 1 or named else 0.0,
        columns=math.ceil(space.width * max(ax.figure.dpi, _PRINT_DPI)),
    )
    drawn = draw(chart, ax, labels=labels, **options)
    ax.set_xlim(0, 1)
    ax.set_ylim(min(chart.y.low, *shared, 0), max(chart.y.high, *shared, 0), auto=None)
    fine = space.width * 72 <= _ROOMY_WIDTH * space.size
    for line in artists(ax, "secant") if count > 1 or fine else []:
        line.set(linewidth=0.9 if count > 1 else 1.6, markersize=3.5, markeredgewidth=0.9)
    for text in drawn["head"] if fine else []:
        text.set_fontsize(SMALL * space.size)
    _scores(ax, chart, results, first)
    return chart, drawn


def _heights(ax: Axes) -> list[float]:
    """Return how high and how low curves and their noise already are on axes."""
    parts = [np.asarray(line.get_ydata()) for line in artists(ax, "curve")]
    parts += [each.get_path().vertices[:, 1] for each in artists(ax, "triangle", "band")]
    return [float(end) for part in parts for end in (part.min(), part.max())]


# --- axes -----------------------------------------------------------------------------------------


def fractions(ax: Axes, chart: Chart) -> Axes:
    """Label the upper axis with the fraction of weight."""
    for child in artists(ax, "top"):
        return cast("Axes", child)
    assert chart.top is not None  # noqa: S101
    space = space_of(ax)
    top = cast("Axes", ax.secondary_xaxis("top", gid="secant:top"))
    top.set_xticks(*zip(*chart.top.ticks(space.width, space.size), strict=True))
    top.tick_params(axis="x", colors=color(ax, "muted"))
    top.set_xlabel(chart.top.name, color=color(ax, "muted"))
    name_above(ax, top)
    return top


def _scores(ax: Axes, chart: Chart, results: Sequence[Any], first: int) -> None:
    """Label the lower axis with scores, a row a model."""
    space, count = space_of(ax), first + len(results)
    if count == 1:
        ax.set_xticks(*zip(*chart.x.ticks(space.width, space.size), strict=True))
        ax.set_xticks(chart.x.minor, minor=True)
        ax.tick_params(axis="x", which="minor", length=5, width=0.5, color=color(ax, "muted"))
        if chart.x.parts:
            ax.tick_params(axis="x", which="major", length=0, pad=7)
        name_axes(ax, chart)
        return
    ax.set_xticks([], minor=True)
    name_axes(ax, chart)
    room = 72 * room_of(ax).bottom / space.size

    def needed(size: float, apart: float, tick: float) -> float:
        return 2 * tick / space.size + apart * (count - 1) + 1.2 * size

    rows = next((each for each in _ROWS if needed(*each) + 1.5 <= room), _ROWS[-1])
    if count > FEW_MODELS or needed(*rows) > room:
        _no_rows(ax, order_of(results[0]).plural)
        return
    for number in range(first if first > 1 else 0, count):  # one that was alone gets its row now
        row = ax if number == 0 else ax.secondary_xaxis("bottom", gid="secant:row")
        if number >= first:
            along = abscissa(results[number - first].curve, order_of(results[0]))
            row.set_xticks(*zip(*along.ticks(space.width, space.size), strict=True))
        _row(ax, row, number, rows)
    named = needed(*rows) + 1.3 <= room
    ax.set_xlabel(f"{chart.x.short} (a row for each model)" if named else "")


def _no_rows(ax: Axes, plural: str) -> None:
    """Write fractions below the axes, where there are too many models for their scores."""
    from matplotlib.ticker import AutoLocator, ScalarFormatter  # noqa: PLC0415  (as below)

    remove(ax, "row")
    ax.xaxis.set_major_locator(AutoLocator())
    ax.xaxis.set_major_formatter(ScalarFormatter())
    if ax.get_xlabel():  # where there is room for a name
        long, short = f"Fraction of predictions, in the order of {plural}", "Fraction"
        ax.set_xlabel(fitting(Axis(0, 1, long, short), ax))


def _row(ax: Axes, row: Any, number: int, look: tuple[float, float, float]) -> None:
    """Write the scores of one model among several, in its colour, after its marker."""
    from matplotlib.lines import Line2D  # noqa: PLC0415  (imported only when drawing)
    from matplotlib.transforms import offset_copy  # noqa: PLC0415

    relative, apart, tick = look
    size, shade = space_of(ax).size, artists(ax, "curve")[number].get_color()
    down = apart * size * number
    row.tick_params(
        axis="x",
        labelcolor=shade,
        labelsize=relative * size,
        length=tick,
        pad=tick + down,
        color=shade if number == 0 else "none",
    )
    ax.xaxis.labelpad = tick + down
    left, low = -2.6 * size, -(2 * tick + down + 0.45 * relative * size)
    figure = cast("Any", ax.figure)
    beside = offset_copy(ax.transAxes, fig=figure, x=left, y=low, units="points")
    marker = {"marker": model_style(number).marker, "markersize": 5, "color": shade}
    ax.add_artist(Line2D([0], [0], transform=beside, clip_on=False, gid="secant:row", **marker))


# --- legends --------------------------------------------------------------------------------------


def legend(ax: Axes) -> Legend:
    """Name the curves: one above what is written about it, several with a marker each."""
    curves = artists(ax, "curve")
    space, count = space_of(ax), len(curves)
    for number, line in enumerate(curves if count > 1 else []):
        if line.get_marker() == "None":
            _mark(line, number, count)
    size, columns = SMALL * space.size, math.ceil(count / 4)
    names = [str(line.get_label()) for line in curves]
    if max(text_width(words, size) for words in names) > space.width / columns - 0.6 and count > 1:
        names = [without_words(label) for label in names]
    return ax.legend(
        curves,
        names,
        loc="upper left",
        frameon=False,
        fontsize=size,
        ncols=columns,
        borderaxespad=0.2,
        labelspacing=0.3,
    )


def _legend_rows(count: int) -> int:
    return math.ceil(count / math.ceil(count / 4))


def _mark(line: Line2D, number: int, count: int) -> None:
    """Put a few markers on a line, where those of other lines are not."""
    places = (np.arange(_MARKERS) + (number + 1) / (count + 1)) / _MARKERS
    nearest = np.searchsorted(np.asarray(line.get_xdata()), places)
    line.set(marker=model_style(number).marker, markersize=5)
    line.set_markevery(np.unique(nearest).tolist())
