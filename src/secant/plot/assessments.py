"""The graphs of many groups: a panel each, or all on the same axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from secant._base.extras import require
from secant._drawing.findings import findings, in_short
from secant._drawing.style import SMALL
from secant._results import group_words
from secant.errors import Argument, InputError
from secant.plot._draw import color, text_size
from secant.plot._graph import draw_graph
from secant.plot.cumulative import CumulativeDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from secant._results.assessments import Assessments, Group

__all__ = ["AssessmentsDisplay"]

# Panels side by side, and the size of one in inches.
_COLUMNS = 3
_WIDTH, _HEIGHT = 3.3, 2.5


class AssessmentsDisplay:
    """Graphs of cumulative differences of many groups, the worst first.

    A group is coloured only if it is miscalibrated among all of them, after adjustment; others are
    grey: they could be noise. All graphs have the same scale.

    Parameters
    ----------
    groups : Assessments
        What to draw.
    most : int
        How many groups to draw at most; the picture says how many are left out.

    Attributes
    ----------
    groups : Assessments
        What is drawn.
    shown : tuple of Group
        The groups drawn, worst first.
    left_out : int
        How many are not.
    figure_ : Figure
        Where it was drawn.
    axes_ : list of Axes
        The panels, in the order of ``shown``; or the axes that hold all of them.

    Raises
    ------
    InputError
        If there is no group, or ``most`` is not a whole number of at least 1.

    Examples
    --------
    >>> import secant
    >>> groups = secant.assess_by([0, 1, 1, 0], [0.2, 0.6, 0.7, 0.4], ["a", "a", "b", "b"])
    >>> display = groups.plot()
    >>> [ax.get_title() for ax in display.axes_], display.left_out
    (['a', 'b'], 0)
    """

    groups: Assessments
    shown: tuple[Group, ...]
    left_out: int
    figure_: Figure | SubFigure
    axes_: list[Axes]

    def __init__(self, groups: Assessments, *, most: Any = 9) -> None:
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise InputError(
                Argument("most"), f" must be a whole number of at least 1; got {most!r}"
            )
        if not groups.rows:
            raise InputError(f"there is no {groups.what} to draw")
        self.groups, self.shown = groups, groups.rows[:most]
        self.left_out = len(groups.rows) - len(self.shown)

    def plot(self, ax: Axes | None = None) -> AssessmentsDisplay:
        """Draw a panel a group in a new figure, or all on the axes given.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw all groups together.

        Returns
        -------
        AssessmentsDisplay
            Itself.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        if ax is None:
            self._panels()
        else:
            self._together(ax)
        return self

    def _panels(self) -> None:
        plt = require("matplotlib.pyplot", "plot", "drawing needs")
        columns = min(_COLUMNS, len(self.shown))
        rows = math.ceil(len(self.shown) / columns)
        size = (_WIDTH * columns, _HEIGHT * rows + 0.3)
        self.figure_ = figure = plt.figure(figsize=size, layout="constrained")
        every = list(figure.subplots(rows, columns, squeeze=False).flat)
        self.axes_ = every[: len(self.shown)]
        for row, ax in zip(self.shown, self.axes_, strict=True):
            self._panel(row, ax)
        low, high = zip(*(ax.get_ylim() for ax in self.axes_), strict=True)
        for number, ax in enumerate(self.axes_):
            ax.set_ylim(min(low), max(high))
            if number % columns:
                ax.set_ylabel("")
                ax.tick_params(axis="y", labelleft=False)
        for empty in every[len(self.shown) :]:
            empty.remove()
        if words := self._words():
            figure.suptitle(words, x=0.01, ha="left", fontsize="medium", color=color(ax, "muted"))

    def _panel(self, row: Group, ax: Axes) -> None:
        found = findings(row.calibration, found=_stands(row))
        draw_graph(ax, [row.calibration], [_name(row)], found=[found])
        ax.set_title(_name(row))

    def _together(self, ax: Axes) -> None:
        labels = [f"{_name(row)}: {_words_of(row)}" for row in self.shown]
        results = [row.calibration for row in self.shown]
        drawn = CumulativeDisplay(results).plot(ax, worst=False, label=labels)
        self.figure_, self.axes_ = drawn.figure_, [ax]
        if drawn.legend_ is not None and (words := self._words()):
            drawn.legend_.set_title(words)
            drawn.legend_.get_title().set_fontsize(SMALL * text_size(ax))

    def _words(self) -> str:
        """Say how many groups there are, and how many are left out."""
        every = len(self.groups.rows)
        if every == 1:
            return ""
        what = {"class": "classes"}.get(self.groups.what, f"{self.groups.what}s")
        said = f"{len(self.shown):,} of {every:,} {what}" if self.left_out else f"{every:,} {what}"
        left = f"; {self.left_out:,} are not drawn" if self.left_out > 1 else ""
        left = "; 1 is not drawn" if self.left_out == 1 else left
        return f"{said}, worst first{left}"


def _stands(row: Group) -> bool:
    return row.status == "miscalibrated"


def _words_of(row: Group) -> str:
    return in_short(row.calibration, found=_stands(row))


def _name(row: Group) -> str:
    """Return the name of a group, in which no dollar begins a formula."""
    key: Any = row.key
    parts = key if isinstance(key, tuple) else (key,)
    return ", ".join(map(group_words.name, parts)).replace("$", r"\$")
