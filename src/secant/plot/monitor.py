"""Evidence against calibration over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._drawing import style
from secant._drawing.timeline import evidence_ticks, places, time_ticks
from secant._results.monitor import MonitorHistory
from secant._results.monitor_words import written_time
from secant.errors import InputError
from secant.plot._room import Captions, make_room, write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.text import Text

    from secant._base.types import FloatArray

__all__ = ["MonitorDisplay"]

_WORDS = Captions(
    title="Evidence against calibration: low is good",
    short_title="Low is good",
    ordinate="Evidence against calibration",
    short_ordinate="Evidence",
)
_MARGIN = 0.07
# The share of the axes that is left free above the line for what is written there.
_WORDS_SHARE = 0.2
_FEW = 40  # batches up to which each has a dot


class MonitorDisplay:
    """Evidence against calibration, batch by batch, and the line at which an alarm is raised.

    Evidence is what a bet of 1 against calibration has become: under calibration it stays about 1
    or falls, and ever reaches the line with a probability of at most alpha, however often one
    looks. After an alarm the batches since it probably began are shaded.

    Parameters
    ----------
    history : MonitorHistory or Monitor
        What to draw.

    Attributes
    ----------
    history : MonitorHistory
        Every number behind the picture.
    places : ndarray
        Where batches stand: days, numbers, or one after the other.
    log10_evidence : ndarray
        The evidence after each batch, as a power of ten.
    threshold : float
        The power of ten at which an alarm is raised.
    ax_, figure_
        Where it was drawn.
    line_ : Line2D
        The evidence.
    threshold_ : Line2D
        The line at which an alarm is raised.
    alarm_ : Line2D or None
        The batch that raised it.
    since_ : Rectangle or None
        The batches since it began.
    notes_ : list of Text
        What is written in the picture.

    Raises
    ------
    InputError
        If there is nothing to draw.

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> from matplotlib.figure import Figure
    >>> rng = np.random.default_rng(0)
    >>> monitor = secant.Monitor()
    >>> for day in range(5):
    ...     forecast = rng.random(1000)
    ...     monitor.add(rng.random(1000) < forecast**1.3, forecast)
    >>> display = secant.MonitorDisplay(monitor).plot(Figure().subplots())
    >>> display.line_.get_ydata().argmax(), display.alarm_.get_xdata()
    (np.int64(4), array([2.]))
    """

    __module__ = "secant"

    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    threshold_: Line2D
    alarm_: Line2D | None
    since_: Rectangle | None
    notes_: list[Text]

    def __init__(self, history: Any) -> None:
        history = getattr(history, "history", history)
        if not isinstance(history, MonitorHistory):
            msg = f"only a Monitor or its history can be drawn; got {type(history).__name__}"
            raise InputError(msg)
        if not len(history):
            msg = "nothing has been added to this monitor yet, so there is nothing to draw"
            raise InputError(msg)
        self.history: MonitorHistory = history

    @property
    def places(self) -> FloatArray:
        """Where batches stand: days, numbers, or one after the other."""
        return places([each.time for each in self.history])

    @property
    def log10_evidence(self) -> FloatArray:
        """The evidence after each batch, as a power of ten."""
        return np.array([each.log10_evidence for each in self.history])

    @property
    def threshold(self) -> float:
        """The power of ten at which an alarm is raised."""
        return -math.log10(self.history.alpha)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> MonitorDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        **kwargs
            Passed on to ``ax.plot`` for the evidence.

        Returns
        -------
        MonitorDisplay
            Itself.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        ax = style.new_axes(width=7.2, height=4.2) if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        self.notes_, self.alarm_, self.since_ = [], None, None
        at, evidence = self.places, self.log10_evidence
        options: dict[str, Any] = {"color": style.model_color(ax, 0), "linewidth": 1.3, "zorder": 3}
        if len(at) <= _FEW:
            options |= {"marker": "o", "markersize": 3}
        [self.line_] = ax.plot(at, evidence, **{**options, **style.line_options(kwargs)})
        self.threshold_ = ax.axhline(self.threshold, color=style.MUTED, linewidth=1, dashes=(5, 3))
        self._axes(at, evidence)
        if self.history.alarm:
            self._mark(at, evidence)
        self._name_threshold(at, evidence)
        write_title(ax, None, _WORDS)
        make_room(ax, _WORDS)
        return self

    def _axes(self, at: FloatArray, evidence: FloatArray) -> None:
        ax = self.ax_
        width, height = style.inches(ax)
        size = float(ax.xaxis.label.get_fontsize())
        side = 0.5 if len(at) == 1 else 0.01 * (at[-1] - at[0])
        ax.set_xlim(at[0] - side, at[-1] + side)
        low, high = min(float(evidence.min()), 0.0), max(float(evidence.max()), self.threshold)
        room = high - low
        ax.set_ylim(low - _MARGIN * room, high + _WORDS_SHARE * room)
        times = [each.time for each in self.history]
        ticks = time_ticks(times, int(width / style.text_width("0", size)))
        ax.set_xticks([place for place, _ in ticks], [label for _, label in ticks])
        powers = evidence_ticks(*ax.get_ylim(), most=max(2, int(height / 0.5)))
        ax.set_yticks([place for place, _ in powers], [label for _, label in powers])
        fits = style.text_width(_WORDS.ordinate, size) <= height + 0.3
        ax.set_ylabel(_WORDS.ordinate if fits else _WORDS.short_ordinate)
        if isinstance(times[0], int):
            ax.set_xlabel("Batch")

    def _mark(self, at: FloatArray, evidence: FloatArray) -> None:
        """Shade the batches since it began, mark the alarm, and say both in words."""
        ax, history = self.ax_, self.history
        assert history.where is not None  # noqa: S101
        assert history.first_off is not None  # noqa: S101
        color = _color(history.where.direction)
        begins = float(at[history.first_off])
        self.since_ = ax.axvspan(
            begins, ax.get_xlim()[1], color=color, alpha=0.07, linewidth=0, zorder=0
        )
        number = next(i for i, each in enumerate(history) if each.alarm)
        [self.alarm_] = ax.plot(
            at[[number]],
            evidence[[number]],
            color=color,
            marker="o",
            markersize=6,
            markerfacecolor=ax.get_facecolor(),
            markeredgewidth=1.6,
            linestyle="none",
            zorder=4,
        )
        size = float(ax.xaxis.label.get_fontsize())
        words = history.where.words
        since, alarm = written_time(history.since), written_time(history.alarm_time)
        said = (
            (f"{words[0].upper()}{words[1:]}", size, color),
            (f"since about {since}; alarm at {alarm}", style.SMALL * size, style.MUTED),
        )
        middle = (begins + ax.get_xlim()[1]) / 2
        share = (middle - ax.get_xlim()[0]) / np.ptp(ax.get_xlim())
        widest = max(style.text_width(text, points) for text, points, _ in said)
        half = widest / style.inches(ax)[0] / 2 + 0.01
        share = float(np.clip(share, min(half, 0.5), max(1 - half, 0.5)))
        down = 5.0
        for text, points, shade in said:
            place = {"xy": (share, 1), "xytext": (0, -down), "ha": "center", "va": "top"}
            self._write(text, fontsize=points, color=shade, **place)
            down += 1.3 * points

    def _name_threshold(self, at: FloatArray, evidence: FloatArray) -> None:
        """Write at which end of its line the threshold is, where the evidence is not in the way."""
        ax = self.ax_
        low, high = ax.get_ylim()
        size = style.SMALL * float(ax.xaxis.label.get_fontsize())
        text = f"alarm at {self.history.threshold:,.4g}"
        width, height = style.inches(ax)
        wide = style.text_width(text, size) / width * (at[-1] - at[0])
        above = evidence - self.threshold
        near = (above > -0.02 * (high - low)) & (above < size / 36 / height * (high - low))
        right = bool(near[at <= at[0] + wide].any() and not near[at >= at[-1] - wide].any())
        share = (self.threshold - low) / (high - low)
        shift, side = ((-4, 3), "right") if right else ((4, 3), "left")
        place = {"xy": (float(right), share), "xytext": shift, "ha": side, "va": "bottom"}
        self._write(text, fontsize=size, color=style.MUTED, **place)

    def _write(self, text: str, **options: Any) -> None:
        """Write inside the axes, at a share of them and so many points beside it."""
        at = {"xycoords": "axes fraction", "textcoords": "offset points", "in_layout": False}
        self.notes_.append(self.ax_.annotate(text, **{**at, **options}))


def _color(direction: str) -> str:
    known = {"too high": style.TOO_HIGH, "too low": style.TOO_LOW}
    return known.get(direction, style.MUTED)
