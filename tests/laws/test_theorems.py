"""The paper's theorems as simulations; seeds are fixed, and error bars are stated."""

import numpy as np
import pytest

import secant
from secant import null


def perfectly_calibrated(n, repetitions, seed, scores=None):
    rng = np.random.default_rng(seed)
    p = (np.arange(n) + 0.5) / n if scores is None else scores
    for _ in range(repetitions):
        yield (rng.random(n) < p).astype(np.int8), p


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("weighting", ["count", "width"])
def test_theorem_1_the_noise_floor_of_the_squared_ece(strategy, weighting):
    """E ECE^2 under perfect calibration is the sum of bin weight x variance of the bin mean."""
    options = {"n_bins": 20, "strategy": strategy, "weighting": weighting}
    options["limits"] = "wilson"  # the quickest: nothing here looks at them
    tied = np.round(np.linspace(0.001, 0.999, 500) ** 2, 2)
    weights = np.random.default_rng(3).lognormal(0, 0.5, 500)
    for p, w in ((None, None), (tied, None), (tied, weights)):
        values, floors, linear, linear_floor = [], [], [], []
        for y, scores in perfectly_calibrated(500, 800, 1, p):
            result = secant.assess(y, scores, sample_weight=w, method="asymptotic")
            square = result.ece(norm="l2", squared=True, **options)
            values.append(square.value)
            floors.append(square.noise_floor)
            ece1 = result.ece(**options)
            linear.append(ece1.value)
            linear_floor.append(ece1.noise_floor)
        standard_error = np.std(values) / np.sqrt(len(values))
        assert np.ptp(floors) < 1e-12  # it depends on scores and bins, not on outcomes
        assert abs(np.mean(values) - floors[0]) < 4 * standard_error
        # The normal approximation of each bin's |gap| is good to a few per cent at 25 rows a bin.
        assert np.mean(linear) == pytest.approx(linear_floor[0], rel=0.05)


def test_the_debiased_ece_is_unbiased_with_and_without_miscalibration():
    rng = np.random.default_rng(2)
    p = (np.arange(600) + 0.5) / 600
    for chance in (p, p**1.5):
        # What the squared ECE would be with chances in place of outcomes: no noise, no bias.
        edges = np.arange(16) / 15
        bins = np.searchsorted(edges[1:-1], p)
        truth = np.mean([np.mean((chance - p)[bins == b]) ** 2 for b in range(15)])
        values = [
            secant.assess(rng.random(600) < chance, p, method="asymptotic")
            .ece(norm="l2", squared=True, limits="wilson")
            .debiased
            for _ in range(1500)
        ]
        assert abs(np.mean(values) - truth) < 4 * np.std(values) / np.sqrt(len(values))


def test_normalised_metrics_of_calibrated_predictions_have_the_brownian_means():
    """The discrete path misses peaks between its points: means fall short by about 1 / sqrt(n)."""
    n, repetitions = 20_000, 2000
    r, mad = [], []
    for y, p in perfectly_calibrated(n, repetitions, 4):
        result = secant.assess(y, p, method="asymptotic")
        r.append(result.ecce_r.normalized)
        mad.append(result.ecce_mad.normalized)
    assert null.range.mean == pytest.approx(1.5958, abs=5e-5)
    assert null.mad.mean == pytest.approx(1.2533, abs=5e-5)
    for values, law in ((r, null.range), (mad, null.mad)):
        standard_error = np.std(values) / np.sqrt(repetitions)
        shortfall = 1.2 / np.sqrt(n / 6)  # 0.58 a side per step's standard deviation
        assert law.mean - shortfall - 4 * standard_error < np.mean(values)
        assert np.mean(values) < law.mean + 4 * standard_error


def test_pvalues_of_calibrated_predictions_are_uniform():
    scipy_stats = pytest.importorskip("scipy.stats")
    pvalues = [
        secant.assess(y, p, method="asymptotic").ecce_r.pvalue
        for y, p in perfectly_calibrated(20_000, 2000, 6)
    ]
    # The path's steps make the asymptotic P-value conservative by about 1% at this n, which a
    # Kolmogorov-Smirnov distance of 2000 values (critical 0.036 at 1%) does not see.
    assert scipy_stats.kstest(pvalues, "uniform").pvalue > 0.01


def test_ece_stays_up_while_ecce_falls():
    """With bins of a fixed number of rows, noise holds the ECE up however many rows there are."""
    small, large = (
        np.mean(
            [
                (
                    secant.ece(y, p, n_bins=n // 16, strategy="quantile", weighting="width"),
                    secant.ecce_r(y, p),
                )
                for y, p in perfectly_calibrated(n, 20, 8)
            ],
            axis=0,
        )
        for n in (1024, 1024 * 64)
    )
    assert large[0] == pytest.approx(small[0], rel=0.05)
    assert large[1] == pytest.approx(small[1] / 8, rel=0.35)
