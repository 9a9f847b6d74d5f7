"""The small pictures for notebooks, which bring neither our styles nor our scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secant._drawing.chart import Space
from secant._drawing.evidence import evidence
from secant._drawing.findings import findings
from secant._drawing.graph import cumulative
from secant.report._svg import picture

if TYPE_CHECKING:
    from secant._drawing.chart import Chart
    from secant._results.calibration import Calibration
    from secant._results.monitor import MonitorHistory
    from secant.report._html import Markup

__all__ = ["evidence_picture", "small_picture"]

_BOX = "display:block;width:100%;max-width:36rem;height:9rem;margin-top:.6em"
_SPACE = Space(6.0, 1.5)
_COLUMNS = 300


def small_picture(result: Calibration) -> Markup:
    """Return the curve with secants over what was found, as an SVG that styles itself.

    Where nothing was found the secant over the worst range is grey: it could be noise.

    Parameters
    ----------
    result : Calibration
        The result.

    Returns
    -------
    Markup
        The picture, in the colour of the text around it.
    """
    found = [findings(result)]
    return _small(cumulative([result], _SPACE, found=found, columns=_COLUMNS, words=False))


def evidence_picture(history: MonitorHistory) -> Markup:
    """Return the evidence over time with the line at which an alarm is raised.

    Parameters
    ----------
    history : MonitorHistory
        What a monitor has seen, two batches or more.

    Returns
    -------
    Markup
        The picture, in the colour of the text around it.
    """
    return _small(evidence(history, _SPACE, words=False))


def _small(chart: Chart) -> Markup:
    """Return a picture for those who see it, and what it shows for those who do not."""
    named = {"role": "img", "aria_label": chart.says, "aria_hidden": None}
    return picture(chart, alone=True, style=_BOX, **named)
