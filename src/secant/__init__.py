"""secant measures the calibration of probabilistic predictions.

Is a "30%" right 30% of the time? Three answers: is it calibrated, how far off is it, and where.

>>> import secant
>>> print(secant.assess([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.9]))  # doctest: +ELLIPSIS
No miscalibration found. ...
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from secant import null
from secant._assess import assess, ecce_mad, ecce_r, ece
from secant._calibration import Calibration
from secant._cells import Bounds, Cells
from secant._results import ECE, Curve, Interval, Reliability, Statistic
from secant.errors import InputError, MissingExtraError, SecantError

if _TYPE_CHECKING:
    from secant.plot import CumulativeDisplay, ReliabilityDisplay

__version__ = "0.1.0"

__all__ = [
    "ECE",
    "Bounds",
    "Calibration",
    "Cells",
    "CumulativeDisplay",
    "Curve",
    "InputError",
    "Interval",
    "MissingExtraError",
    "Reliability",
    "ReliabilityDisplay",
    "SecantError",
    "Statistic",
    "__version__",
    "assess",
    "ecce_mad",
    "ecce_r",
    "ece",
    "null",
]

_LATER = ("CumulativeDisplay", "ReliabilityDisplay")  # loaded when first asked for


def __getattr__(name: str) -> _Any:
    if name not in _LATER:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from secant import plot  # noqa: PLC0415

    return getattr(plot, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
