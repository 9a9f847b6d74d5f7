"""How the ImageNet figures look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant._drawing.style import COLORS
from secant.paper.experiments import STRATEGIES
from secant.paper.figures import diagram, new_figure
from secant.plot import CumulativeDisplay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from secant._input.options import Strategy
    from secant._results.calibration import Calibration
    from secant.paper.experiments import Bins
    from secant.paper.imagenet.subsets import EceRow, Subset

__all__ = ["draw_cumulative", "draw_diagrams", "draw_ece", "images"]

_INK, _MUTED = (COLORS[name][0] for name in ("ink", "muted"))
_METRICS = {"ece1": r"ECE$^1$", "ece2": r"ECE$^2$"}
# From this many filled bins on, lines and markers are drawn finer.
_MANY_BINS = 256
# A logarithmic axis that spans less than this factor has more than powers of ten on it.
_SHORT = 30
# More numbers of bins than this are not all written on the axis.
_MANY_TICKS = 6


def draw_ece(subset: Subset, result: Calibration, rows: Sequence[EceRow]) -> Figure:
    """Draw both ECE against the number of bins, for both kinds of bins."""
    figure = new_figure(7.0, 5.6)
    panels = figure.subplots(2, 2, sharex=True, sharey="row")
    for line, (metric, symbol) in zip(panels, _METRICS.items(), strict=True):
        for ax, bins in zip(line, STRATEGIES, strict=True):
            _ece_panel(ax, [row for row in rows if row["bins"] == bins], metric)
            ax.set_title(f"{symbol}, {bins} bins", loc="left")
        line[0].set_ylabel(symbol)
        _logarithmic(line[0], [value for row in rows for value in _values(row, metric)])
    for ax in panels[1]:
        ax.set_xlabel("Number of bins $m$")
    _heading(figure, subset, result)
    figure.legend(
        *panels[0][0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=2,
        frameon=False,
        handlelength=3,
    )
    return figure


def draw_diagrams(subset: Subset, result: Calibration, bins: Bins) -> Figure:
    """Draw reliability diagrams with few and with many bins, with lines of resampled rows."""
    figure = new_figure(8.2, 4.5)
    for ax, n_bins in zip(figure.subplots(1, 2), subset.diagrams, strict=True):
        ax.set_title(f"{n_bins:,} {bins} bins", loc="left")
        if bins == "equal-count" and n_bins > result.n:
            ax.set_axis_off()
            ax.text(0.5, 0.5, f"{images(result.n)} cannot fill {n_bins:,} bins", ha="center")
        else:
            _diagram(ax, result, n_bins, STRATEGIES[bins])
    _heading(figure, subset, result)
    return figure


def draw_cumulative(subset: Subset, result: Calibration) -> Figure:
    """Draw the graph of cumulative differences.

    The worst range and its limits are marked for all images only: for images of one true class
    such limits do not hold.
    """
    figure = new_figure(7.0, 4.8)
    CumulativeDisplay(result).plot(figure.subplots(), worst=subset.true_class is None)
    _heading(figure, subset, result)
    return figure


def images(count: int) -> str:
    """Write a number of images."""
    return f"{count:,} image{'s' if count > 1 else ''}"


def _heading(figure: Figure, subset: Subset, result: Calibration) -> None:
    """Say what is shown, in the picture itself: it may be seen without its caption."""
    count = images(result.n)
    if subset.true_class is None:
        words = f"All {count}"
    else:
        words = f"{subset.title}, {count}: selected by outcome, as published"
    figure.suptitle(words, x=0.01, horizontalalignment="left", fontsize="medium")


def _diagram(ax: Axes, result: Calibration, n_bins: int, strategy: Strategy) -> None:
    """Draw one reliability diagram, finer where there are a great many points."""
    display = diagram(ax, result, n_bins, strategy)
    if np.count_nonzero(display.bins[0].count) >= _MANY_BINS:
        display.line_.set(linewidth=0.4, markersize=2, markeredgewidth=0)
        display.resamples_[0].set(linewidth=0.15)
        display.diagonal_.set(zorder=5, color=_INK)


def _values(row: EceRow, metric: str) -> tuple[float, float]:
    """Return a metric and what noise alone would give."""
    return (row["ece1"], row["floor1"]) if metric == "ece1" else (row["ece2"], row["floor2"])


def _ece_panel(ax: Axes, rows: Sequence[EceRow], metric: str) -> None:
    counts = [row["n_bins"] for row in rows]
    observed, floor = zip(*(_values(row, metric) for row in rows), strict=True)
    ax.plot(counts, observed, "o-", color=_INK, linewidth=1.1, markersize=4, label="observed")
    ax.plot(
        counts,
        floor,
        color=_MUTED,
        linewidth=1,
        linestyle=(0, (4, 2)),
        marker="_",
        label="noise alone, were every score right",
    )
    ax.set_xscale("log", base=2)
    ticks = counts if len(counts) <= _MANY_TICKS else counts[::2]
    ax.set_xticks(ticks, [f"{tick}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.grid(visible=True, which="major", color=(_MUTED, 0.12), linewidth=0.8)


def _logarithmic(ax: Axes, values: Sequence[float]) -> None:
    """Make the ordinate logarithmic, with plain numbers; not where a value is 0."""
    from matplotlib import ticker  # noqa: PLC0415  (imported only when drawing)

    if min(values) <= 0:
        ax.set_ylim(bottom=0)
        return
    ax.set_yscale("log")
    steps = (1.0, 2.0, 3.0, 5.0) if max(values) < _SHORT * min(values) else (1.0,)
    ax.yaxis.set_major_locator(ticker.LogLocator(subs=steps))
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(ticker.NullFormatter())
