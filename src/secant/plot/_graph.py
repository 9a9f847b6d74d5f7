"""The parts of a graph of cumulative differences, drawn on axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from secant._drawing import style
from secant._drawing.findings import in_short, without_words
from secant._drawing.order import SCORES
from secant._drawing.thin import thin
from secant._drawing.ticks import divide, each_score, equal_fractions, equal_steps
from secant._results import wording
from secant.plot._room import Captions, make_room, room_below, write_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon
    from matplotlib.path import Path
    from matplotlib.text import Text

    from secant._drawing.findings import Finding
    from secant._drawing.order import Order
    from secant._results.calibration import Calibration
    from secant._results.parts import Curve, Interval

__all__ = ["FEW_MODELS", "Graph"]

# Curves are thinned to pixels at least this fine: what is made for the screen is saved for print.
_PRINT_DPI = 300
# Width of the triangle at the origin, as a share of the axis.
_TRIANGLE_WIDTH = 0.025
# More models than this get no rows of scores below the axis, and no secants unless asked for.
FEW_MODELS = 4
# Up to here every distinct score is named below its own part of the axis.
_FEW_SCORES = 12
# Markers along a curve among several.
_MARKERS = 6
# Distance of lines, relative to the size of text.
_LINE = 1.3
# Empty share above and below the curve, and the largest share given to words above it.
_MARGIN = 0.06
_MOST_WORDS = 0.45
# Axes less wide than so many times the size of text are drawn finer.
_ROOMY_WIDTH = 18

# Our artists carry these names, so that a second display on the same axes finds the first.
_CURVE, _SECANT, _TRIANGLE, _BAND, _NOTE, _SIGN, _HINT, _TOP, _ROW = (
    f"secant:{part}"
    for part in ("curve", "secant", "triangle", "band", "note", "sign", "hint", "top", "row")
)
# A line of words: the text, whether it is set in full size, and its colour.
_Line = tuple[str, bool, str | None]
_WORDS = Captions(
    title="Slope is miscalibration: flat is good",
    short_title="Flat is good",
    ordinate="Cumulative difference (outcome \N{MINUS SIGN} forecast)",
    short_ordinate="Outcome \N{MINUS SIGN} forecast",
    short_abscissa=SCORES.name,
)


class _Rows(NamedTuple):
    """How rows of scores are set: sizes relative to the size of text, distances in points."""

    size: float
    height: float
    tick: float
    pad: float
    gap: float  # before the name of the axis

    def needed(self, count: int, size: float) -> float:
        """Return the inches below the axis that so many rows and the name of the axis take."""
        lines = self.height * (count - 1) + 1.2 * self.size + 1.1
        return (self.tick + self.pad + self.gap + size * lines) / 72


_ROOMY = _Rows(size=1.0, height=1.4, tick=3.5, pad=3.5, gap=4.0)
_CLOSE = _Rows(size=style.SMALL, height=1.05, tick=2.0, pad=2.0, gap=1.0)


class Graph:
    """Axes with a graph of cumulative differences, perhaps one that was drawn before."""

    def __init__(self, ax: Axes, order: Order = SCORES) -> None:
        self.ax, self.order = ax, order
        self.width, self.height = style.inches(ax)
        self.size = float(ax.xaxis.label.get_fontsize())
        # Axes a few words wide are drawn finer.
        self.roomy = self.width * 72 > _ROOMY_WIDTH * self.size
        self._noise_name = "\N{PLUS-MINUS SIGN}2\N{GREEK SMALL LETTER SIGMA}"
        if self.curves:
            return
        ax.set_xlim(0, 1)
        ax.axhline(0, color=style.FAINT, linewidth=0.8, zorder=1)
        fits = style.text_width(_WORDS.ordinate, self.size) <= self.height + 0.3
        ax.set_ylabel(_WORDS.ordinate if fits else _WORDS.short_ordinate)

    @property
    def curves(self) -> list[Line2D]:
        """The curves drawn so far, those of earlier displays included."""
        return _curves(self.ax)

    def curve(self, curve: Curve, number: int, *, label: str, **kwargs: Any) -> Line2D:
        """Draw the curve of a model."""
        columns = math.ceil(self.width * max(self.ax.figure.dpi, _PRINT_DPI))
        kept = thin(curve.fraction, curve.difference, columns)
        options = {"linestyle": style.model_style(number).dash, "linewidth": 1.3, "zorder": 3}
        options |= {"color": style.model_color(self.ax, number), "label": label}
        options |= {**style.line_options(kwargs), "gid": _CURVE}
        [line] = self.ax.plot(curve.fraction[kept], curve.difference[kept], **options)
        return line

    def triangle(self, noise: float, color: str, *, clusters: bool = False) -> Polygon:
        """Draw the triangle at the origin: twice the noise either way."""
        if clusters:
            self._noise_name = "noise in clusters"
        [patch] = self.ax.fill(
            [0, 0, _TRIANGLE_WIDTH],
            [-2 * noise, 2 * noise, 0],
            facecolor=color,
            alpha=0.5,
            linewidth=0,
            zorder=2,
            gid=_TRIANGLE,
        )
        return patch

    def band(self, half: float) -> PolyCollection:
        """Shade what a calibrated curve does not leave."""
        return self.ax.fill_between(
            [0, 1], -half, half, facecolor=style.BAND, linewidth=0, zorder=0, gid=_BAND
        )

    def secant(self, finding: Finding) -> Line2D:
        """Draw the secant over a range."""
        [line] = self.ax.plot(
            *finding.ends.T,
            color=finding.color,
            linewidth=1.6,
            marker="o",
            markersize=5 if self.roomy else 3,
            markerfacecolor=self.ax.get_facecolor(),
            markeredgewidth=1.4 if self.roomy else 1,
            clip_on=False,
            in_layout=False,
            zorder=4,
            label="_secant",
            gid=_SECANT,
        )
        return line

    def shade(self, found: Sequence[Finding]) -> list[Polygon]:
        """Shade ranges in the colour of their direction, with its sign and word where several."""
        shades = []
        for each in found:
            left, right = each.ends[:, 0].tolist()
            patch = self.ax.axvspan(
                left, right, color=each.color, alpha=0.08, linewidth=0, zorder=0, gid=_NOTE
            )
            shades.append(cast("Polygon", patch))
            if len(found) > 1:
                self._sign(each, left, right)
        return shades

    def _sign(self, each: Finding, left: float, right: float) -> None:
        """Write at the foot of a range which way it is off, in words where these have room."""
        size = style.SMALL * self.size
        room = (right - left) * self.width
        said = (f"{each.sign} {each.range.direction}", each.sign)
        text = next((text for text in said if style.text_width(text, size) < room), None)
        if text is not None:
            self.ax.annotate(
                text,
                ((left + right) / 2, 0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                horizontalalignment="center",
                verticalalignment="bottom",
                fontsize=size,
                color=each.color,
                gid=_SIGN,
                in_layout=False,
            )

    def note(self, result: Calibration, found: Sequence[Finding]) -> list[Text]:
        """Write above the curve what was found, in as many words as have room."""
        lines = self._fitting(_notes(result, found, self.order))
        widest = max(style.text_width(text, self._text_size(big)) for text, big, _ in lines)
        center = float(np.mean(found[0].ends[:, 0])) if len(found) == 1 else 0.0
        place, align = _inside(center, widest / self.width)
        texts, down = [], 5.0 + 72 * self._legend_height()
        for text, big, color in lines:
            size = self._text_size(big)
            texts.append(
                self.ax.annotate(
                    text,
                    (place, 1),
                    xycoords=("data", "axes fraction"),
                    xytext=(0, -down),
                    textcoords="offset points",
                    horizontalalignment=align,
                    verticalalignment="top",
                    fontsize=size,
                    color=color or style.model_color(self.ax, 0),
                    gid=_NOTE,
                    in_layout=False,
                )
            )
            down += _LINE * size
        return list(texts)

    def _fitting(self, ways: Sequence[Sequence[_Line]]) -> Sequence[_Line]:
        """Return the first of several ways to say something that has room; the last has to do."""
        most = _MOST_WORDS * self.height - self._legend_height()
        for lines in ways:
            sizes = [self._text_size(big) for _, big, _ in lines]
            widths = [
                style.text_width(line[0], size) for line, size in zip(lines, sizes, strict=True)
            ]
            if max(widths) < self.width and (_LINE * sum(sizes) + 8) / 72 <= most:
                return lines
        return ways[-1]

    def _text_size(self, big: bool) -> float:  # noqa: FBT001
        return self.size if big and self.roomy else style.SMALL * self.size

    def fractions(self, *, weighted: bool) -> Axes:
        """Label the upper axis with the fraction of weight."""
        for child in self.ax.child_axes:
            if child.get_gid() == _TOP:
                return cast("Axes", child)
        what = "weight" if weighted else "predictions"
        places = np.linspace(0, 1, divide(["0.00"], self.width, self.size) + 1)
        top = cast("Axes", self.ax.secondary_xaxis("top", gid=_TOP))
        top.set_xticks(places, [f"{place:g}" for place in places])
        top.tick_params(axis="x", colors=style.MUTED)
        top.set_xlabel(f"Fraction of {what}", color=style.MUTED)
        return top

    def scores(self, curves: Sequence[Curve], first: int) -> None:
        """Label the lower axis with scores, a row a model."""
        if len(curves) > FEW_MODELS or self._too_many(first + len(curves)):
            self._no_rows()
        elif first + len(curves) == 1:
            self._row_of_one(curves[0])
        else:
            rows = self._rows(first + len(curves))
            if first == 1:  # drawn alone until now
                self.ax.tick_params(
                    axis="x", length=rows.tick, pad=rows.pad, labelsize=rows.size * self.size
                )
                self._row_marker(0, rows)
            for number, curve in enumerate(curves, first):
                self._row(curve, number, rows)
                self._row_marker(number, rows)
            self.ax.set_xticks([], minor=True)
            fits = rows.needed(first + len(curves), self.size) <= room_below(self.ax)
            self.ax.set_xlabel(f"{self.order.name} (a row for each model)" if fits else "")

    def _too_many(self, count: int) -> bool:
        """Tell whether so many rows of scores have no room below the axes."""
        name = (_CLOSE.gap + 1.1 * self.size) / 72  # which the rows can do without
        return count > 1 and _CLOSE.needed(count, self.size) - name > room_below(self.ax)

    def _no_rows(self) -> None:
        """Write fractions below the axes, where there are too many models for their scores."""
        from matplotlib.ticker import AutoLocator, ScalarFormatter  # noqa: PLC0415  (as below)

        for artist in [*self.ax.child_axes, *self.ax.artists]:
            if artist.get_gid() == _ROW:
                artist.remove()
        self.ax.xaxis.set_major_locator(AutoLocator())
        self.ax.xaxis.set_major_formatter(ScalarFormatter())
        self.ax.set_xticks([], minor=True)
        self.ax.set_xlabel(f"Fraction of predictions, in the order of {self.order.plural}")

    def title(self, name: str | None, title: str | None = None) -> None:
        """Say what to look for, unless the axes have a title that is not ours, or are given one."""
        write_title(self.ax, name, _WORDS, title)

    def make_room(self, upper: Axes) -> None:
        """Write less beside axes that have no room and that nobody will move."""
        make_room(self.ax, _WORDS, upper)

    def legend_of_one(self, line: Line2D) -> Legend:
        """Name the only curve above what is written about it."""
        return self.ax.legend(
            [line],
            [str(line.get_label())],
            loc="upper left",
            frameon=False,
            fontsize=style.SMALL * self.size,
            borderaxespad=0.2,
        )

    def legend(self) -> Legend:
        """Name the curves, with a marker each, and take away what was written of one alone."""
        for artist in [*self.ax.texts, *self.ax.patches]:
            if artist.get_gid() in (_NOTE, _SIGN, _HINT):
                artist.remove()
        curves = self.curves
        for number, line in enumerate(curves):
            if line.get_marker() == "None":
                _mark(line, number, len(curves))
        for line in self.ax.lines:
            if line.get_gid() == _SECANT:
                line.set(linewidth=0.9, markersize=3.5, markeredgewidth=0.9)
        size = style.SMALL * self.size
        full = [str(line.get_label()) for line in curves]
        columns = max(1, math.ceil(len(curves) / 4))
        room = self.width / columns - 0.6
        fits = max(style.text_width(words, size) for words in full) <= room
        names = full if fits else [without_words(label) for label in full]
        return self.ax.legend(
            curves,
            names,
            loc="upper left",
            frameon=False,
            fontsize=size,
            ncols=columns,
            borderaxespad=0.2,
            labelspacing=0.3,
        )

    def fit(self, level: float) -> None:
        """Set the limits of the ordinate to what is drawn, with room for what is written.

        Bands have this confidence level.
        """
        heights = [np.asarray(line.get_ydata()) for line in self.curves]
        heights += [np.asarray([-half, half]) for half in self._band_heights]
        triangle = max(self._triangle_heights)
        low = min(-triangle, *(float(part.min()) for part in heights))
        high = max(triangle, *(float(part.max()) for part in heights))
        words = min(self._words() / self.height, _MOST_WORDS)
        between = (high - low) or 0.1
        line = _LINE * self.size / 72 / self.height / (1 - words) * between
        signs = any(text.get_gid() == _SIGN for text in self.ax.texts)
        low = min(low - (line if signs else _MARGIN * between), -triangle - line)
        high = max(high + _MARGIN * between, triangle + line)
        least, most = self._limits_of_others()
        top = high + (high - low) * words / (1 - words)
        self.ax.set_ylim(min(least, low), max(most, top), auto=None)
        self._explain(low + signs * line, high, level)

    def _limits_of_others(self) -> tuple[float, float]:
        """Return the limits of the ordinate where graphs beside this one share it."""
        beside = self.ax.get_shared_y_axes().get_siblings(self.ax)
        drawn = [ax for ax in beside if ax is not self.ax and _curves(ax)]
        return self.ax.get_ylim() if drawn else (math.inf, -math.inf)

    def _explain(self, low: float, high: float, level: float) -> None:
        """Say in few words what the triangle and the band are, where nothing else is drawn."""
        line = _LINE * style.SMALL * self.size / 72 / self.height * (high - low)
        if len(self.curves) == 1 and self.roomy and (tip := max(self._triangle_heights)) > 0:
            places = [(tip, tip + line), (-tip - line, -tip)]
            places = [place for place in places if place[0] >= low] or places[:1]
            self._write(self._noise_name, places, right=False)
        if self._band_heights:
            half = max(self._band_heights)
            places = [(half - line, half), (-half, line - half)] if half > line else []
            places += [(half, half + line), (-half - line, -half)]
            inside = [place for place in places if place[0] >= low and place[1] <= high]
            words = f"{wording.level(level)} of calibrated curves stay inside"
            self._write(words, inside or places, right=True)

    def _write(self, text: str, places: list[tuple[float, float]], *, right: bool) -> None:
        """Write at an end of the axis, at the first of some heights where nothing is drawn."""
        width = style.text_width(text, style.SMALL * self.size) / self.width
        ends = (1 - width, 1.0) if right else (0.0, width)
        place = next((place for place in places if not self._drawn(ends, place)), places[0])
        self.ax.annotate(
            text,
            (ends[right], sum(place) / 2),
            xytext=(-4 if right else 3, 0),
            textcoords="offset points",
            horizontalalignment="right" if right else "left",
            verticalalignment="center",
            fontsize=style.SMALL * self.size,
            color=style.MUTED,
            gid=_HINT,
            in_layout=False,
        )

    def _drawn(self, width: tuple[float, float], height: tuple[float, float]) -> bool:
        """Tell whether a curve or secant runs through a box."""
        for line in self.ax.lines:
            if line.get_gid() in (_CURVE, _SECANT):
                x, y = (np.asarray(part, float) for part in line.get_data())
                ends = np.clip(width, x[0], x[-1])
                inside = y[(x >= ends[0]) & (x <= ends[1])]
                values = np.concatenate([np.interp(ends, x, y), inside])
                if ends[0] < ends[1] and values.min() < height[1] and values.max() > height[0]:
                    return True
        return False

    def _words(self) -> float:
        """Return how many inches the words above the curve take."""
        notes = [text for text in self.ax.texts if text.get_gid() == _NOTE]
        lines = (sum(_LINE * float(text.get_fontsize()) for text in notes) + 8) / 72
        return (lines if notes else 0.0) + self._legend_height()

    def _legend_height(self) -> float:
        """Return how many inches the names of curves take."""
        if (legend := self.ax.get_legend()) is None:
            return 0.0
        rows = math.ceil(len(legend.get_texts()) / max(1, math.ceil(len(self.curves) / 4)))
        return (1.55 * style.SMALL * self.size * rows + 4) / 72

    def _row_of_one(self, curve: Curve) -> None:
        """Write scores below the axis, with small ticks that show how they are distributed."""
        ax = self.ax
        if curve.score.shape[0] - 1 <= _FEW_SCORES:
            ax.set_xticks(*each_score(curve, self.width, self.size, self.order))
            ax.set_xticks(curve.fraction, minor=True)
            ax.tick_params(axis="x", which="major", length=0, pad=7)
            ax.set_xlabel(self.order.name)
        else:
            step, places = equal_steps(curve)
            ax.set_xticks(*equal_fractions(curve, self.width, self.size, self.order))
            ax.set_xticks(places, minor=True)
            words = f"{self.order.name} (small ticks: steps of {step:g})"
            fits = style.text_width(words, self.size) < self.width + 0.6
            ax.set_xlabel(words if step and fits else self.order.name)
        ax.tick_params(axis="x", which="minor", length=5, width=0.5, color=style.MUTED)

    def _rows(self, count: int) -> _Rows:
        """Return how so many rows of scores are set: closely where there is little room."""
        return _ROOMY if _ROOMY.needed(count, self.size) <= room_below(self.ax) else _CLOSE

    def _row(self, curve: Curve, number: int, rows: _Rows) -> None:
        """Write the scores of one model among several, in its colour."""
        ax, color, down = self.ax, self._color(number), rows.height * self.size * number
        row = ax if number == 0 else ax.secondary_xaxis("bottom", gid=_ROW)
        row.set_xticks(*equal_fractions(curve, self.width, self.size, self.order))
        row.tick_params(
            axis="x",
            labelcolor=color,
            labelsize=rows.size * self.size,
            length=rows.tick,
            pad=rows.pad + down,
            color=color if number == 0 else "none",
        )
        ax.xaxis.labelpad = rows.gap + down

    def _row_marker(self, number: int, rows: _Rows) -> None:
        """Put a model's marker before its row of scores, for those who see no colours."""
        from matplotlib.lines import Line2D  # noqa: PLC0415  (imported only when drawing)
        from matplotlib.transforms import offset_copy  # noqa: PLC0415

        beside = offset_copy(
            self.ax.transAxes,
            fig=cast("Figure", self.ax.figure),
            x=-2.6 * self.size,
            y=-(rows.tick + rows.pad + self.size * (rows.height * number + 0.45 * rows.size)),
            units="points",
        )
        marker = style.model_style(number).marker
        color = self._color(number)
        self.ax.add_artist(
            Line2D(
                [0],
                [0],
                marker=marker,
                markersize=5,
                color=color,
                transform=beside,
                clip_on=False,
                gid=_ROW,
            )
        )

    def _color(self, number: int) -> str:
        return str(self.curves[number].get_color())

    @property
    def _triangle_heights(self) -> list[float]:
        """The upper ends of the triangles drawn so far."""
        ours = [patch for patch in self.ax.patches if patch.get_gid() == _TRIANGLE]
        return [_top(patch.get_path()) for patch in ours]

    @property
    def _band_heights(self) -> list[float]:
        """The upper ends of the bands drawn so far."""
        ours = [band for band in self.ax.collections if band.get_gid() == _BAND]
        return [_top(path) for band in ours for path in band.get_paths()]


def _curves(ax: Axes) -> list[Line2D]:
    return [line for line in ax.lines if line.get_gid() == _CURVE]


def _top(path: Path) -> float:
    return float(np.asarray(path.vertices)[:, 1].max())


def _mark(line: Line2D, number: int, count: int) -> None:
    """Put a few markers on a line, where those of other lines are not."""
    places = (np.arange(_MARKERS) + (number + 1) / (count + 1)) / _MARKERS
    nearest = np.searchsorted(np.asarray(line.get_xdata()), places)
    line.set(marker=style.model_style(number).marker, markersize=5)
    line.set_markevery(np.unique(nearest).tolist())


def _inside(center: float, width: float) -> tuple[float, str]:
    """Return where to write, and how aligned, so that a text does not leave the axes."""
    margin = 0.01
    if center - width / 2 < margin:
        return margin, "left"
    if center + width / 2 > 1 - margin:
        return 1 - margin, "right"
    return center, "center"


def _notes(result: Calibration, found: Sequence[Finding], order: Order) -> list[list[_Line]]:
    """Return ways to say what was found, the longest first."""
    largest = max(found, key=lambda each: abs(each.range.total))
    color, level = largest.color, wording.level(result.confidence_level)
    where, limits = order.range_words(largest.range), _limits(largest.range)
    details = [
        [f"{where}; {level} limits {limits}"],
        [where, f"{level} limits {limits}"],
        [where],
        [],
    ]
    short = in_short(result, found=largest.certain or not result.intervals)
    head = short[0].upper() + short[1:]
    if len(found) > 1:
        shown = found if len(found) == 2 else [largest]
        most = "" if len(found) == 2 else "most: "
        each = [
            [f"{most}{_off(one, order, fully=rest)}" for one in shown] for rest in (True, False)
        ]
        colors = [one.color for one in shown]
        ways = [[(head, True, None), *_lines(said, colors)] for said in each]
        return [*ways, [(head, True, None)]]
    if largest.certain:
        ways = [[(head, True, color), *_lines(said, [style.MUTED] * 2)] for said in details]
        return [*ways, [(largest.range.direction.capitalize(), True, color)]]
    said = f"largest deviation: {style.points(abs(largest.range.miscalibration))} points"
    more = [
        [f"{said} over {where}", f"{level} limits {limits}"],
        [said, f"{level} limits {limits}"],
        [said],
        [],
    ]
    return [[(head, True, style.MUTED), *_lines(each, [style.MUTED] * 2)] for each in more]


def _lines(texts: Sequence[str], colors: Sequence[str]) -> list[_Line]:
    return [(text, False, color) for text, color in zip(texts, colors, strict=False)]


def _off(each: Finding, order: Order, *, fully: bool) -> str:
    """Say how far off one of several ranges is."""
    said = f"{each.sign} {style.deviation(each.range)}"
    return f"{said} ({_limits(each.range)}) over {order.range_words(each.range)}" if fully else said


def _limits(each: Interval) -> str:
    """Write limits in the direction of the deviation."""
    limits = sorted(math.copysign(1, each.miscalibration) * limit for limit in each.ci)
    return " to ".join(style.points(limit) for limit in limits)
