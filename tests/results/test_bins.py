"""Bins of a result, which need the rows."""

import numpy as np
import pytest

import secant
from samples import EXACT, N_MANY, gone, miscalibrated
from secant import InputError
from secant._metrics.ece import Binning


def test_bins_of_many_rows_need_the_rows(many):
    stored = gone(secant.assess(*many))
    with pytest.raises(InputError, match="gone"):
        stored.ece()
    with pytest.raises(InputError, match="gone"):
        stored.reliability()


def test_bins_across_cells_need_the_rows():
    """Groups of an engine, and classes of many rows, keep sums for bins but not every score."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(20, 0.3), 70_000)
    truth = (probs.cumsum(axis=1) < rng.random((70_000, 1))).sum(axis=1)
    found = secant.assess_classes(truth, probs, kind="one-vs-rest", draws=9)[3]
    assert found.ece().value > 0
    stored = gone(found)
    if stored._blocks.moments is not None:
        assert stored._blocks.open.any()
    with pytest.raises(InputError, match="gone"):
        stored.ece(n_bins=1000)


@pytest.mark.parametrize("n", [300, N_MANY])
def test_bins_asked_for_at_once_are_those_asked_for_one_by_one(n):
    """The page asks for many sets of bins in the same looks."""
    result = secant.assess(*miscalibrated(n))
    wanted = [Binning(15, "uniform"), Binning(7, "quantile"), Binning(15, "uniform", "l2")]
    for binning, found in zip(wanted, result._predictions.eces(wanted, "wilson"), strict=True):
        alone = result.ece(
            n_bins=binning.n_bins, strategy=binning.strategy, norm=binning.norm, limits="wilson"
        )
        assert found.value == pytest.approx(alone.value, **EXACT)
        assert found.noise_floor == pytest.approx(alone.noise_floor, **EXACT)
        for name in ("edges", "count", "mean_score", "mean_response", "low", "high"):
            expected = pytest.approx(getattr(alone.bins, name), abs=1e-12, nan_ok=True)
            assert getattr(found.bins, name) == expected
