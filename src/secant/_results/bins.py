"""Sums over bins as results: bins with their limits, and binned metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant._input.options import BinLimits, check_choice
from secant._metrics.ece import debiased, error, noise_floor
from secant._results.parts import ECE, Reliability

if TYPE_CHECKING:
    from secant._input.options import Strategy
    from secant._metrics.ece import Binning, BinSums
    from secant._results.calibration import Calibration

__all__ = ["binned_metric", "reliability"]


def binned_metric(binning: Binning, bins: BinSums, shown: Reliability) -> ECE:
    """Return a binned metric with its noise floor and its bins."""
    value, dropped = debiased(bins, binning)
    return ECE(
        value=error(bins, binning),
        noise_floor=noise_floor(bins, binning),
        debiased=value,
        dropped_bins=dropped,
        bins=shown,
        n_bins=int(binning.n_bins),
        strategy=binning.strategy,
        norm=binning.norm,
        squared=bool(binning.squared),
        weighting=binning.weighting,
    )


def reliability(
    bins: BinSums, strategy: Strategy, limits: BinLimits, inflation: float, of: Calibration
) -> Reliability:
    """Return bins with limits for each, of a result whose variances clusters make larger."""
    from secant._inference.binomial import clopper_pearson, wilson  # noqa: PLC0415  (bins alone need it)

    check_choice("limits", limits, BinLimits)
    assert bins.aa is not None  # noqa: S101
    method = clopper_pearson if limits == "clopper-pearson" else wilson
    filled = bins.filled
    rate = bins.mean(bins.weight1)
    low, high = np.full((2, len(filled)), np.nan)
    # Kish's effective number of predictions; their number itself when nothing is weighted.
    effective = bins.weight[filled] ** 2 / bins.aa[filled]
    effective = np.minimum(effective, bins.count[filled]) / inflation
    successes = np.clip(rate[filled], 0, 1) * effective
    low[filled], high[filled] = method(successes, effective, of.confidence_level)
    return Reliability(
        edges=bins.edges,
        count=bins.count,
        weight=bins.weight / bins.weight.sum(),
        mean_score=bins.mean(bins.scored),
        mean_response=rate,
        low=low,
        high=high,
        strategy=strategy,
        limits=limits,
        confidence_level=of.confidence_level,
        _of=of,
    )
