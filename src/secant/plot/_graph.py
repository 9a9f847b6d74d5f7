"""The parts of a graph of cumulative differences, drawn on axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant.plot import _style
from secant.plot._thin import thin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon
    from matplotlib.text import Text

    from secant._results import Calibration, Curve, Interval
    from secant._types import FloatArray

__all__ = ["Graph", "minor_ticks", "score_at"]

# Curves are thinned to pixels at least this fine: what is made for the screen is saved for print.
_PRINT_DPI = 300
# Width of the triangle at the origin, as a share of the axis.
_TRIANGLE_WIDTH = 0.025
# More models than this get no rows of scores below the axis.
_MOST_ROWS = 4
_MOST_MINOR_TICKS = 100
# Markers along a curve among several.
_MARKERS = 6
# Size of smaller text, and distance of lines, relative to the size of text.
_SMALL = 0.85
_LINE = 1.3
# Inches between labelled ticks.
_TICK_SPACING = 0.55

# Our artists carry these names, so that a second display on the same axes finds the first.
_CURVE, _TRIANGLE, _BAND, _ZERO, _NOTE, _TITLE, _TOP, _ROW = (
    f"secant:{part}"
    for part in ("curve", "triangle", "band", "zero", "note", "title", "top", "row")
)


class Graph:
    """Axes with a graph of cumulative differences, perhaps one that was drawn before."""

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        if not self.curves:
            ax.set_xlim(0, 1)
            zero = ax.axhline(0, color=_style.FAINT, linewidth=0.8, zorder=1, gid=_ZERO)
            zero.set_label("_zero")
            ax.set_ylabel("Cumulative difference (happened \N{MINUS SIGN} forecast)")

    @property
    def curves(self) -> list[Line2D]:
        """The curves drawn so far, those of earlier displays included."""
        return [line for line in self.ax.lines if line.get_gid() == _CURVE]

    def curve(self, curve: Curve, number: int, *, label: str, **kwargs: Any) -> Line2D:
        """Draw the curve of a model."""
        dpi = max(self.ax.figure.dpi, _PRINT_DPI)
        columns = math.ceil(_style.inches(self.ax)[0] * dpi)
        kept = thin(curve.fraction, curve.difference, columns)
        style = _style.model_style(number)
        options = {"color": style.color, "linestyle": style.dash, "linewidth": 1.3, "zorder": 3}
        [line] = self.ax.plot(
            curve.fraction[kept],
            curve.difference[kept],
            **{**options, "label": label, "gid": _CURVE, **kwargs},
        )
        return line

    def triangle(self, sigma: float, color: str) -> Polygon:
        """Draw the triangle at the origin: two sigma either way."""
        corners = ([0, 0, _TRIANGLE_WIDTH], [-2 * sigma, 2 * sigma, 0])
        [patch] = self.ax.fill(
            *corners, facecolor=color, alpha=0.55, linewidth=0, zorder=2, gid=_TRIANGLE
        )
        return patch

    def band(self, half: float) -> PolyCollection:
        """Shade what a calibrated curve does not leave."""
        return self.ax.fill_between(
            [0, 1], -half, half, color=_style.BAND, linewidth=0, zorder=0, gid=_BAND
        )

    def secant(self, ends: FloatArray, worst: Interval) -> Line2D:
        """Draw the secant over the worst range."""
        color = _style.accent(worst)
        [line] = self.ax.plot(
            *ends.T,
            color=color,
            linewidth=1.6,
            marker="o",
            markersize=5,
            markerfacecolor=_style.PAPER,
            markeredgewidth=1.4,
            clip_on=False,
            zorder=4,
            label="_secant",
        )
        return line

    def note(self, result: Calibration, ends: FloatArray) -> list[Text]:
        """Write above the worst range how far off it is."""
        worst, color = result.worst, _style.accent(result.worst)
        self.ax.axvspan(*ends[:, 0], color=color, alpha=0.07, linewidth=0, zorder=0, gid=_NOTE)
        low, high = (_style.score(limit) for limit in (worst.low, worst.high))
        limits = sorted(math.copysign(1, worst.miscalibration) * limit for limit in worst.ci)
        size = self._text_size
        lines = (
            (_style.deviation(worst).capitalize(), size, color),
            (
                f"scores {low} to {high}; {result.confidence_level:.0%} limits "
                f"{_style.points(limits[0])} to {_style.points(limits[1])}",
                _SMALL * size,
                _style.MUTED,
            ),
        )
        width, height = _style.inches(self.ax)
        widest = max(_style.text_width(text, size) for text, size, _ in lines) / width
        where, align = _inside(float(ends[:, 0].mean()), widest)
        texts, down = [], 5.0
        for text, size, color in lines:
            texts.append(
                self.ax.text(
                    where,
                    1 - down / 72 / height,
                    text,
                    transform=self.ax.get_xaxis_transform(),
                    horizontalalignment=align,
                    verticalalignment="top",
                    fontsize=size,
                    color=color,
                    gid=_NOTE,
                )
            )
            down += _LINE * size
        return texts

    def scores(self, curves: Sequence[Curve], first: int) -> None:
        """Label the lower axis with scores, a row a model."""
        ax = self.ax
        if len(curves) > _MOST_ROWS:
            ax.set_xlabel("Fraction of predictions, by ascending score")
            return
        several = first + len(curves) > 1
        for number, curve in enumerate(curves, first):
            self._row(curve, number)
        if several:
            self._row_markers()

    def _row(self, curve: Curve, number: int) -> None:
        """Write scores below the places where they stand."""
        ax = self.ax
        color = str(self.curves[number].get_color())
        pad = 3.5 + number * 1.6 * self._text_size
        row = ax if number == 0 else ax.secondary_xaxis("bottom")
        if number:
            row.set_gid(_ROW)
            row.spines["bottom"].set_visible(False)
        places = self._ticks
        row.set_xticks(places, _style.score_labels(score_at(curve, places)))
        row.tick_params(axis="x", labelcolor=color, pad=pad, length=3.5 if number == 0 else 0)
        if number == 0:
            step, minor = minor_ticks(curve)
            ax.set_xticks(minor, minor=True)
            ax.tick_params(axis="x", which="minor", length=5, width=0.5, color=_style.MUTED)
            small = f" (small ticks: steps of {step:g})" if len(minor) else ""
            ax.set_xlabel(f"Score{small}")
        else:
            ax.set_xlabel("")
            row.set_xlabel("Score")

    def _row_markers(self) -> None:
        pass

    def fractions(self, *, weighted: bool) -> Axes:
        """Label the upper axis with the fraction of weight."""
        for child in self.ax.child_axes:
            if child.get_gid() == _TOP:
                return child
        top = self.ax.secondary_xaxis("top")
        top.set_gid(_TOP)
        top.set_xticks(self._ticks, [f"{place:g}" for place in self._ticks])
        top.tick_params(axis="x", colors=_style.MUTED)
        top.set_xlabel(f"Fraction of {'weight' if weighted else 'predictions'}", color=_style.MUTED)
        return top

    def title(self, name: str | None) -> None:
        """Say what to look for, unless the axes have a title already."""
        ax = self.ax
        others = [ax.get_title(loc) for loc in ("left", "center", "right")]
        if any(others):
            return
        what = "Slope is miscalibration: flat is good"
        ax.set_title(what if name is None else f"{name}. {what}", loc="left")

    def legend(self) -> Legend:
        """Name the curves, with a marker each, and take away what is written of one alone."""
        ax = self.ax
        for artist in [*ax.texts, *ax.patches]:
            if artist.get_gid() == _NOTE:
                artist.remove()
        curves = self.curves
        for number, line in enumerate(curves):
            if line.get_marker() == "None":
                self._mark(line, number, len(curves))
        legend = ax.legend(handles=curves, frameon=False, fontsize="small")
        return legend

    def fit(self) -> None:
        """Set the limits of the ordinate to what is drawn, with room for what is written."""
        ax = self.ax
        heights = [np.asarray(line.get_ydata()) for line in self.curves]
        heights += [patch.get_xy()[:, 1] for patch in ax.patches if patch.get_gid() == _TRIANGLE]
        for band in ax.collections:
            if band.get_gid() == _BAND:
                heights += [path.vertices[:, 1] for path in band.get_paths()]
        low = min(float(part.min()) for part in heights)
        high = max(float(part.max()) for part in heights)
        room = (high - low) or 1.0
        notes = [text for text in ax.texts if text.get_gid() == _NOTE]
        written = sum(_LINE * text.get_fontsize() for text in notes) + 8 if notes else 0
        above = min(written / 72 / _style.inches(ax)[1], 0.4)
        margin = 0.06
        ax.set_ylim(low - margin * room, high + margin * room + above * room * (1 + 2 * margin) / (1 - above), auto=None)

    @property
    def _text_size(self) -> float:
        return float(self.ax.xaxis.label.get_fontsize())

    @property
    def _ticks(self) -> FloatArray:
        """Where labels have room."""
        fit = _style.inches(self.ax)[0] / _TICK_SPACING
        parts = max((parts for parts in (1, 2, 4, 5, 10) if parts <= fit), default=1)
        return np.linspace(0, 1, parts + 1)

    def _mark(self, line: Line2D, number: int, count: int) -> None:
        """Put a few markers on a line, where those of other lines are not."""
        fraction = np.asarray(line.get_xdata())
        places = (np.arange(_MARKERS) + (number + 1) / (count + 1)) / _MARKERS
        line.set_marker(_style.model_style(number).marker)
        line.set_markersize(5)
        line.set_markevery(np.unique(np.searchsorted(fraction, places)).tolist())


def score_at(curve: Curve, fraction: FloatArray) -> FloatArray:
    """Return the scores that stand at fractions of the weight."""
    # The fractions are cumulative sums: one that rounding moved a little still ends a stretch.
    place = np.searchsorted(curve.fraction, fraction - 1e-9)
    return curve.score[np.minimum(place, curve.score.shape[0] - 1)]


def minor_ticks(curve: Curve) -> tuple[float, FloatArray]:
    """Return the step and the places of ticks at equal steps of the score."""
    low, high = float(curve.score[0]), float(curve.score[-1])
    if low == high:
        return 0.0, np.empty(0)
    step = _round_step((high - low) / _MOST_MINOR_TICKS)
    scores = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
    place = np.searchsorted(curve.score, scores, side="right") - 1
    return step, np.unique(curve.fraction[np.maximum(place, 0)])


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is no less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _inside(center: float, width: float) -> tuple[float, str]:
    """Return where to write, and how aligned, so that a text does not leave the axes."""
    margin = 0.01
    if center - width / 2 < margin:
        return margin, "left"
    if center + width / 2 > 1 - margin:
        return 1 - margin, "right"
    return center, "center"
