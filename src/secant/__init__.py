"""secant measures the calibration of probabilistic predictions.

Is a "30%" right 30% of the time? Three answers: is it calibrated, how far off is it, and where.

>>> import secant
>>> print(secant.assess([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.9]))  # doctest: +ELLIPSIS
No miscalibration found. ...
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from secant import null
    from secant._api.assess import assess, ecce_mad, ecce_r, ece
    from secant._api.assess_by import assess_by
    from secant._api.assess_classes import TopLabel, assess_classes, top_label
    from secant._api.assess_models import assess_models
    from secant._api.assess_segments import assess_segments
    from secant._api.cells import Bounds, Cells
    from secant._api.compare_groups import compare_groups
    from secant._api.compare_models import compare_models
    from secant._api.coverage import assess_coverage
    from secant._api.monitor import Monitor
    from secant._api.planning import detectable, predictions_needed
    from secant._api.scan import scan
    from secant._results.assessments import Assessments, Group
    from secant._results.calibration import Calibration
    from secant._results.group_comparison import Contrast, GroupComparison
    from secant._results.model_comparison import ModelComparison
    from secant._results.models import Models
    from secant._results.monitor import MonitorHistory, Period, Where
    from secant._results.parts import (
        ECE,
        Bridge,
        Curve,
        Interval,
        MeanDifference,
        Reliability,
        Statistic,
    )
    from secant._results.scan import Scan
    from secant._results.scores import Cox, IsotonicFit, Score, Spiegelhalter
    from secant._results.segments import Segment
    from secant.errors import InputError, MissingExtraError, SecantError
    from secant.plot import CumulativeDisplay, ReliabilityDisplay
    from secant.plot.monitor import MonitorDisplay

__version__ = "0.1.0"

__all__ = [
    "ECE",
    "Assessments",
    "Bounds",
    "Bridge",
    "Calibration",
    "Cells",
    "Contrast",
    "Cox",
    "CumulativeDisplay",
    "Curve",
    "Group",
    "GroupComparison",
    "InputError",
    "Interval",
    "IsotonicFit",
    "MeanDifference",
    "MissingExtraError",
    "ModelComparison",
    "Models",
    "Monitor",
    "MonitorDisplay",
    "MonitorHistory",
    "Period",
    "Reliability",
    "ReliabilityDisplay",
    "Scan",
    "Score",
    "SecantError",
    "Segment",
    "Spiegelhalter",
    "Statistic",
    "TopLabel",
    "Where",
    "__version__",
    "assess",
    "assess_by",
    "assess_classes",
    "assess_coverage",
    "assess_models",
    "assess_segments",
    "compare_groups",
    "compare_models",
    "detectable",
    "ecce_mad",
    "ecce_r",
    "ece",
    "null",
    "predictions_needed",
    "scan",
    "top_label",
]

# Where each name lives. A module is loaded when one of its names is first asked for.
_HOMES = {
    "_api.assess": ("assess", "ecce_mad", "ecce_r", "ece"),
    "_api.assess_by": ("assess_by",),
    "_api.assess_classes": ("TopLabel", "assess_classes", "top_label"),
    "_api.assess_models": ("assess_models",),
    "_api.assess_segments": ("assess_segments",),
    "_api.cells": ("Bounds", "Cells"),
    "_api.compare_groups": ("compare_groups",),
    "_api.compare_models": ("compare_models",),
    "_api.coverage": ("assess_coverage",),
    "_api.monitor": ("Monitor",),
    "_api.planning": ("detectable", "predictions_needed"),
    "_api.scan": ("scan",),
    "_results.assessments": ("Assessments", "Group"),
    "_results.calibration": ("Calibration",),
    "_results.group_comparison": ("Contrast", "GroupComparison"),
    "_results.model_comparison": ("ModelComparison",),
    "_results.models": ("Models",),
    "_results.monitor": ("MonitorHistory", "Period", "Where"),
    "_results.parts": (
        "ECE",
        "Bridge",
        "Curve",
        "Interval",
        "MeanDifference",
        "Reliability",
        "Statistic",
    ),
    "_results.scan": ("Scan",),
    "_results.scores": ("Cox", "IsotonicFit", "Score", "Spiegelhalter"),
    "_results.segments": ("Segment",),
    "errors": ("InputError", "MissingExtraError", "SecantError"),
    "plot.cumulative": ("CumulativeDisplay",),
    "plot.monitor": ("MonitorDisplay",),
    "plot.reliability": ("ReliabilityDisplay",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # to a type checker it would make every misspelt name a name

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415  (so that dir() shows what is secant's)

        import_module("secant._base.forking")
        if name == "null":
            return import_module("secant.null")
        if name not in _HOME_OF:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(import_module(f"secant.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value


del TYPE_CHECKING  # not a name of secant


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
