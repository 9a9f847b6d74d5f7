"""Evidence against calibration over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._drawing.evidence import evidence
from secant._drawing.timeline import places
from secant._results.monitor import MonitorHistory
from secant.errors import InputError
from secant.plot._draw import draw, new_axes, space_of
from secant.plot._room import name_axes, write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.text import Text

    from secant._base.types import FloatArray

__all__ = ["MonitorDisplay"]


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
        ax = new_axes(7.2, 4.2) if ax is None else ax
        space = space_of(ax)
        chart = evidence(self.history, space)
        drawn = draw(chart, ax, **kwargs)
        self.ax_, self.figure_ = ax, ax.figure
        [self.line_] = [*drawn["evidence"], *drawn["batches"]]
        [self.threshold_] = drawn["threshold"]
        [self.alarm_, self.since_] = [next(iter(drawn[role]), None) for role in ("alarm", "since")]
        self.notes_ = [*drawn["head"], *drawn["note"], *drawn["hint"]]
        ax.set_xlim(chart.x.low, chart.x.high)
        ax.set_ylim(chart.y.low, chart.y.high)
        ax.set_xticks(*zip(*chart.x.ticks(space.width, space.size), strict=True))
        ax.set_yticks(*zip(*chart.y.ticks(space.height, space.size), strict=True))
        name_axes(ax, chart)
        write_title(ax, None, chart)
        return self
