"""secant measures the calibration of probabilistic predictions.

Is a "30%" right 30% of the time? Three answers: is it calibrated, how far off is it, and where.

>>> import secant
>>> print(secant.assess([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.9]))  # doctest: +ELLIPSIS
No miscalibration found. ...
"""

from secant import null
from secant._assess import assess, ecce_mad, ecce_r, ece
from secant._cells import Bounds, Cells
from secant._results import ECE, Calibration, Curve, Interval, Reliability, Statistic
from secant.errors import InputError, MissingExtraError, SecantError

__version__ = "0.1.0"

__all__ = [
    "ECE",
    "Bounds",
    "Calibration",
    "Cells",
    "Curve",
    "InputError",
    "Interval",
    "MissingExtraError",
    "Reliability",
    "SecantError",
    "Statistic",
    "__version__",
    "assess",
    "ecce_mad",
    "ecce_r",
    "ece",
    "null",
]
