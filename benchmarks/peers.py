"""What other libraries compute of the same predictions, where they are installed."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def argsort_cumsum(y: Any, p: Any, w: Any = None) -> tuple[float, float]:
    """Both cumulative metrics as everybody writes them: sort, gather, add up."""
    order = np.argsort(p)
    difference = y[order] - p[order]
    if w is not None:
        difference *= w[order]
    path = np.cumsum(difference) / (len(p) if w is None else w.sum())
    return max(path.max(), 0.0) - min(path.min(), 0.0), float(np.abs(path).max())


def packed_sort(y: Any, p: Any) -> tuple[float, float]:
    """Do the same with the quickest sort there is: of integers that carry score and outcome."""
    rows = p.astype(np.float64).view(np.int64)
    rows <<= 1
    rows += y
    rows.sort()
    path = np.cumsum((rows & 1) - (rows >> 1).view(np.float64)) / len(p)
    return max(path.max(), 0.0) - min(path.min(), 0.0), float(np.abs(path).max())


def installed() -> Iterator[tuple[str, str, Callable[[Any, Any], Any]]]:
    """Yield (name, what it computes, function of y and p) for every peer that is here."""
    if importlib.util.find_spec("sklearn"):
        from sklearn.calibration import calibration_curve

        yield (
            "scikit-learn calibration_curve",
            "bins",
            lambda y, p: calibration_curve(y, p, n_bins=15),
        )
    if importlib.util.find_spec("mapie"):
        from mapie.metrics.calibration import (
            kolmogorov_smirnov_p_value,
            kuiper_p_value,
        )

        yield "MAPIE kuiper_p_value", "ECCE-R with P", kuiper_p_value
        yield "MAPIE kolmogorov_smirnov_p_value", "ECCE-MAD with P", kolmogorov_smirnov_p_value
    if importlib.util.find_spec("mcgrad"):
        from mcgrad.metrics import ecce_pvalue

        yield "MCGrad ecce_pvalue", "ECCE-R with P", ecce_pvalue
    if importlib.util.find_spec("torchmetrics"):
        import torch
        from torchmetrics.functional.classification import (
            binary_calibration_error,
        )

        yield (
            "torchmetrics binary_calibration_error",
            "bins",
            lambda y, p: binary_calibration_error(torch.from_numpy(p), torch.from_numpy(y)),
        )
    if importlib.util.find_spec("relplot"):
        import relplot

        yield "relplot smECE", "smooth ECE", lambda y, p: relplot.smECE(p, y)
