"""The parts of a reliability diagram, drawn on axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant._drawing import style
from secant.plot._room import Captions, make_room, write_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.container import BarContainer
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

    from secant._results.parts import Reliability
    from secant._results.scores import IsotonicFit
    from secant.plot._bootstrap import Resamples

__all__ = ["Diagram"]

# More bins than this are drawn finer.
_MANY_BINS = 32
# Scores that leave at least this share of the axis empty are drawn larger.
_MOST_EMPTY = 0.5
# Share of the width that a hint in the corner may take.
_HINT_WIDTH = 0.75
_WORDS = Captions(
    title="Distance from the diagonal is miscalibration",
    short_title="The diagonal is good",
    ordinate="Mean outcome (how often it happened)",
    short_ordinate="Mean outcome",
    short_abscissa="Mean forecast",
)
_COUNT_WORDS = Captions("", "", "Predictions", "", short_abscissa="Mean forecast")

# Our artists carry these names, so that a second display on the same axes finds the first.
_LINE, _COUNTS, _DIAGONAL, _HINT, _STAIRS = (
    f"secant:{part}" for part in ("reliability", "counts", "diagonal", "hint", "recalibrated")
)


class Diagram:
    """Axes with a reliability diagram, perhaps one that was drawn before."""

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.width, self.height = style.inches(ax)
        self.size = float(ax.xaxis.label.get_fontsize())

    @property
    def lines(self) -> list[Line2D]:
        """The lines drawn so far, those of earlier displays included."""
        return [line for line in self.ax.lines if line.get_gid() == _LINE]

    def diagonal(self) -> Line2D:
        """Draw the diagonal, where calibrated bins lie, and say what its two sides mean."""
        for line in self.ax.lines:
            if line.get_gid() == _DIAGONAL:
                return line
        [line] = self.ax.plot(
            [0, 1],
            [0, 1],
            color=style.FAINT,
            linewidth=1,
            zorder=1,
            label="_diagonal",
            gid=_DIAGONAL,
        )
        corners = (
            ("too low", (0, 1), (6, -5), "left", "top"),
            ("too high", (1, 0), (-6, 5), "right", "bottom"),
        )
        for words, corner, offset, horizontal, vertical in corners:
            self.ax.annotate(
                words,
                corner,
                xycoords="axes fraction",
                xytext=offset,
                textcoords="offset points",
                horizontalalignment=horizontal,
                verticalalignment=vertical,
                color=style.MUTED,  # which side is which, not what was found
                in_layout=False,
            )
        return line

    def line(self, bins: Reliability, number: int, *, label: str, **kwargs: Any) -> Line2D:
        """Draw mean response against mean score."""
        filled = bins.count > 0
        few = len(filled) <= _MANY_BINS
        look = style.model_style(number)
        options = {
            "color": style.model_color(self.ax, number),
            "linestyle": look.dash,
            "linewidth": 1.2 if few else 0.8,
            "marker": look.marker,
            "markersize": 5 if few else 2.5,
            "zorder": 4,
            "label": label,
        }
        options |= {**style.line_options(kwargs), "gid": _LINE}
        [line] = self.ax.plot(bins.mean_score[filled], bins.mean_response[filled], **options)
        return line

    def bars(self, bins: Reliability, color: str) -> LineCollection:
        """Draw the limits of each bin."""
        filled = bins.count > 0
        return self.ax.vlines(
            bins.mean_score[filled],
            bins.low[filled],
            bins.high[filled],
            color=color,
            alpha=0.45,
            linewidth=1.2,
            zorder=3,
        )

    def resamples(self, drawn: Resamples, color: str) -> LineCollection:
        """Draw a thin line for each resample."""
        from matplotlib.collections import LineCollection  # noqa: PLC0415  (only when drawing)

        paths = [
            np.column_stack([score, response])[~np.isnan(score)]
            for score, response in zip(*drawn, strict=True)
        ]
        lines = LineCollection(paths, colors=color, linewidths=0.7, alpha=0.35, zorder=2)
        self.ax.add_collection(lines)
        return lines

    def staircase(self, found: IsotonicFit, color: str) -> Line2D:
        """Draw what scores would have to become to be calibrated, without bins."""
        [line] = self.ax.plot(
            *found.line, color=color, linewidth=1.1, zorder=3, label="_recalibrated", gid=_STAIRS
        )
        return line

    @property
    def below(self) -> Axes | None:
        """The axes for counts below the diagram, where there are any."""
        for other in self.ax.figure.axes:
            if other.get_gid() == _COUNTS and self.ax.get_shared_x_axes().joined(self.ax, other):
                return other
        return None

    def counts(self) -> Axes:
        """Return the axes for counts below the diagram; make them the first time."""
        if (below := self.below) is not None:
            return below
        ax, figure = self.ax, self.ax.figure
        if (place := ax.get_subplotspec()) is not None:
            grid = place.subgridspec(2, 1, height_ratios=(4, 1), hspace=0.08)
            ax.set_subplotspec(grid[0])
            below = figure.add_subplot(grid[1], sharex=ax)
        else:
            left, bottom, width, height = ax.get_position().bounds
            ax.set_position((left, bottom + 0.24 * height, width, 0.76 * height))
            below = figure.add_axes((left, bottom, width, 0.2 * height), sharex=ax)
        below.set_gid(_COUNTS)
        below.set_ylabel("Predictions")
        ax.tick_params(axis="x", labelbottom=False)
        return below

    def histogram(self, below: Axes, bins: Reliability, line: Line2D) -> BarContainer | StepPatch:
        """Draw how many predictions each bin holds: bars, or outlines of several models."""
        if len(self.lines) == 1:
            return below.bar(
                bins.edges[:-1],
                bins.count,
                np.diff(bins.edges),
                align="edge",
                facecolor=style.BAND,
                edgecolor=style.MUTED,
                linewidth=0.7,
            )
        return below.stairs(
            bins.count, bins.edges, color=line.get_color(), linestyle=line.get_linestyle()
        )

    def label(self, bins: Sequence[Reliability], *hints: str) -> None:
        """Name the axes, and say what the bars or thin lines are."""
        ax = self.ax
        kinds = {(len(each.count), each.strategy) for each in bins}
        what = "Mean forecast"
        if len(kinds) == 1:
            [(m, strategy)] = kinds
            equal = "width" if strategy == "uniform" else "count"
            what += f" ({m} bins of equal {equal})" if m > 1 else " (1 bin)"
        if style.text_width(what, self.size) > self.width + 0.6:
            what = _WORDS.short_abscissa
        ax.set_xlabel("")
        (self.below or ax).set_xlabel(what)
        fits = style.text_width(_WORDS.ordinate, self.size) <= style.inches(ax)[1]
        ax.set_ylabel(_WORDS.ordinate if fits else _WORDS.short_ordinate)
        for hint in hints:
            self._hint(hint)

    def _hint(self, words: str) -> None:
        """Write in the lower corner what something is, once, where there is room."""
        said = {text.get_text() for text in self.ax.texts if text.get_gid() == _HINT}
        fits = style.text_width(words, self.size) < _HINT_WIDTH * self.width
        if words and fits and words not in said:
            self.ax.annotate(
                words,
                (1, 0),
                xycoords="axes fraction",
                xytext=(-6, 5 + 1.4 * self.size * (1 + len(said))),
                textcoords="offset points",
                horizontalalignment="right",
                verticalalignment="bottom",
                fontsize=style.SMALL * self.size,
                color=style.MUTED,
                gid=_HINT,
                in_layout=False,
            )

    def title(self, name: str | None, title: str | None) -> None:
        """Say what to look for, unless the axes have a title that is not ours, or are given one."""
        write_title(self.ax, name, _WORDS, title)

    def make_room(self) -> None:
        """Write less beside axes that have no room and that nobody will move."""
        if self.below is not None:
            make_room(self.below, _COUNT_WORDS)
        make_room(self.ax, _WORDS)

    def legend(self) -> Legend:
        """Name the lines."""
        return self.ax.legend(
            handles=self.lines,
            loc="upper left",
            bbox_to_anchor=(0, 1 - 1.6 * self.size / 72 / self.height),
            frameon=False,
            fontsize=style.SMALL * self.size,
            labelspacing=0.3,
            borderaxespad=0.3,
        )

    def fit(self) -> None:
        """Give both axes one range: from 0 to 1, or less where scores keep to a small part."""
        values = np.concatenate([np.asarray(line.get_xydata()).ravel() for line in self.lines])
        low, high = float(values.min()), float(values.max())
        margin = 0.08 * (high - low)
        low, high = max(low - margin, 0.0), min(high + margin, 1.0)
        if high - low > 1 - _MOST_EMPTY or high == low:
            low, high = 0.0, 1.0
        edge = 0.02 * (high - low)
        self.ax.set_xlim(low - edge, high + edge, auto=None)
        self.ax.set_ylim(low - edge, high + edge, auto=None)
