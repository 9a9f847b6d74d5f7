"""The curve as a small picture for notebooks, which bring neither our styles nor our scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant._drawing.findings import findings
from secant._drawing.order import order_of
from secant._drawing.thin import thin
from secant._drawing.timeline import places
from secant.report._charts import height, line, picture
from secant.report._scale import UNIT, Axis, axis

if TYPE_CHECKING:
    from secant._results.calibration import Calibration
    from secant._results.monitor import MonitorHistory
    from secant.report._html import Markup

__all__ = ["evidence_picture", "small_picture"]

_COLUMNS = 300
_BOX = "display:block;width:100%;max-width:36rem;height:9rem;margin-top:.6em"
_SAYS = (
    "Cumulative difference of what happened and what was forecast, in the order of {}: slope "
    "is miscalibration, flat is good."
)
_EVIDENCE_SAYS = (
    "Evidence against calibration over time, in powers of ten; the dashed line raises an alarm."
)


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
    curve, vertical = result.curve, height([result])
    kept = thin(curve.fraction, curve.difference, _COLUMNS)
    across, up = UNIT * curve.fraction, vertical.up(curve.difference)
    secants = [
        line(UNIT * each.ends[:, 0], vertical.up(each.ends[:, 1]), **_stroke(each.color, 3))
        for each in findings(result)
    ]
    zero = np.asarray([0.0, UNIT]), vertical.up(np.zeros(2))
    noise = vertical.up(np.asarray([-2, 0, 2]) * result.noise)

    return picture(
        line(np.asarray([0.0, 25.0, 0.0]), noise, fill="currentColor", fill_opacity=0.25),
        line(*zero, **_stroke("currentColor", 1, stroke_opacity=0.3)),
        line(across[kept], up[kept], **_stroke("currentColor", 1.5)),
        *secants,
        style=_BOX,
        role="img",
        aria_label=_SAYS.format(order_of(result).plural),
        aria_hidden=None,
    )


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
    at = places([each.time for each in history])
    evidence = np.array([each.log10_evidence for each in history])
    alarm = -np.log10(history.alpha)
    across, vertical = Axis(at[0], at[-1]), axis((*evidence.tolist(), alarm, 0.0))
    ends = np.asarray([0.0, UNIT])
    dashed = _stroke("currentColor", 1, stroke_opacity=0.6) | {"stroke_dasharray": "5 3"}
    return picture(
        line(ends, vertical.up(np.full(2, alarm)), **dashed),
        line(across.across(at), vertical.up(evidence), **_stroke("currentColor", 1.5)),
        style=_BOX,
        role="img",
        aria_label=_EVIDENCE_SAYS,
        aria_hidden=None,
    )


def _stroke(color: str, width: float, **more: Any) -> dict[str, Any]:
    fixed = {"fill": "none", "vector_effect": "non-scaling-stroke"}
    return {**fixed, "stroke": color, "stroke_width": width, **more}
