"""Reliability diagrams on axes, where others may have been drawn before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant._drawing.chart import LINE, Axis, Chart
from secant._drawing.diagrams import counts
from secant._drawing.style import SMALL
from secant.plot._draw import artists, draw, remove, space_of
from secant.plot._room import name_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

    from secant._results.parts import Reliability

__all__ = ["below", "draw_counts", "draw_diagram", "legend", "lines"]

_COUNTS = "secant:below"


def lines(ax: Axes) -> list[Any]:
    """Return the lines drawn so far, those of earlier displays included."""
    return artists(ax, "bins", "many bins")


def draw_diagram(ax: Axes, chart: Chart, labels: Sequence[str], **options: Any) -> dict[str, Any]:
    """Draw a diagram beside those that are there, and both axes; return the artists by role."""
    before = [*lines(ax)]
    if before:
        remove(ax, "hint")
    drawn = draw(chart, ax, labels=labels, **options)
    ends = [chart.x.low, chart.x.high, *(end for end in ax.get_xlim() if before)]
    ax.set_xlim(min(ends), max(ends), auto=None)
    ax.set_ylim(min(ends), max(ends), auto=None)
    name_axes(ax, chart)
    if (under := below(ax)) is not None:
        _name_below(ax, under, chart)
    return drawn


def legend(ax: Axes) -> Legend:
    """Name the lines, below the words in the corner."""
    space = space_of(ax)
    return ax.legend(
        handles=lines(ax),
        loc="upper left",
        bbox_to_anchor=(0, 1 - LINE * space.line),
        frameon=False,
        fontsize=SMALL * space.size,
        labelspacing=0.3,
        borderaxespad=0.3,
    )


# --- counts ---------------------------------------------------------------------------------------


def below(ax: Axes) -> Axes | None:
    """Return the axes for counts below a diagram, where there are any."""
    for other in ax.figure.axes:
        if other.get_gid() == _COUNTS and ax.get_shared_x_axes().joined(ax, other):
            return other
    return None


def draw_counts(ax: Axes, bins: Sequence[Reliability], chart: Chart, first: int) -> list[Any]:
    """Draw how many predictions each bin holds, in axes below the diagram."""
    under, limits = below(ax) or _axes_below(ax), ax.get_xlim()
    described = counts(bins, chart.x, first)
    drawn = draw(described, under)
    for outline, line in zip(drawn["outline"], lines(ax)[first:], strict=False):
        outline.set_edgecolor(line.get_color())
    before = [under.get_ylim()[1]] if first else []
    under.set_ylim(0, max(described.y.high, *before, 0))
    under.set_xlim(limits)
    _name_below(ax, under, chart)
    return drawn["counts"] + drawn["outline"]


def _name_below(ax: Axes, under: Axes, chart: Chart) -> None:
    name_axes(under, Chart("", chart.x, Axis(0, 1, "Predictions", "Predictions")))
    ax.set_xlabel("")


def _axes_below(ax: Axes) -> Axes:
    figure = ax.figure
    if (place := ax.get_subplotspec()) is not None:
        grid = place.subgridspec(2, 1, height_ratios=(4, 1), hspace=0.08)
        ax.set_subplotspec(grid[0])
        under = figure.add_subplot(grid[1], sharex=ax)
    else:
        left, bottom, width, height = ax.get_position().bounds
        ax.set_position((left, bottom + 0.24 * height, width, 0.76 * height))
        under = figure.add_axes((left, bottom, width, 0.2 * height), sharex=ax)
    under.set_gid(_COUNTS)
    ax.tick_params(axis="x", labelbottom=False)
    return under
