"""How often the test that decides finds a shift or a slope: laws, and known distributions."""

import math

import numpy as np
import pytest

from secant._inference import bridge, power

SPREAD = np.linspace(0.0005, 0.9995, 1000)
SKEWED = np.sort(np.random.default_rng(0).beta(1, 30, 500))


@pytest.mark.parametrize("alpha", [0.2, 0.05, 1e-3, 1e-8])
def test_the_product_has_its_level(alpha):
    x = power.level_of_product(alpha)
    assert x * (1 - math.log(x)) == pytest.approx(alpha, rel=1e-12)


@pytest.mark.parametrize("scores", [SPREAD, SKEWED])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_where_nothing_is_wrong_the_power_is_the_level(scores, alpha):
    """Of the slope to 1%, what steps of the lattice make of Kolmogorov's law."""
    assert power.of_shift(scores, 0.0, 1000, alpha) == pytest.approx(alpha, rel=1e-6)
    assert power.of_slope(scores, 1.0, 1000, alpha) == pytest.approx(alpha, rel=0.015)


@pytest.mark.parametrize("excursion", [0.5, 0.8, 1.0, 1.3581, 2.0, 2.5])
def test_a_bridge_without_drift_follows_kolmogorovs_law(excursion):
    (found,) = power._strays(np.zeros(64), np.array([excursion]))
    assert found == pytest.approx(10 ** bridge.log10_kolmogorov(excursion), rel=0.015)


def test_a_bridge_with_a_drift_strays_as_drawn_ones_do():
    """20,000 bridges of 1,024 steps: a share is off by at most .0035 in 3 standard errors.

    What they stray between steps, .58 of a step's deviation, makes up less than .01.
    """
    rng, steps = np.random.default_rng(0), 1024
    at = np.arange(1, steps + 1) / steps
    drift = 1.2 * at * (1 - at) * np.cos(3 * at) * 4
    barriers = np.array([0.7, 1.0, 1.5, 2.0])
    beyond = np.zeros(4)
    for _ in range(20):
        path = np.cumsum(rng.standard_normal((1000, steps)), axis=1) / math.sqrt(steps)
        far = np.abs(path - path[:, -1:] * at + drift).max(axis=1)
        beyond += (far[:, None] > barriers - 0.5826 / math.sqrt(steps)).sum(axis=0)
    found = power._strays(np.interp(np.arange(1, 65) / 64, at, drift), barriers)
    assert found == pytest.approx(beyond / 20_000, abs=0.0135)


@pytest.mark.parametrize("of", [power.of_shift, power.of_slope])
def test_more_predictions_and_larger_faults_are_found_sooner(of):
    start = 0.0 if of is power.of_shift else 1.0
    by_size = [of(SPREAD, start + size, 2000, 0.05) for size in (0, 0.05, 0.1, 0.2, 0.4, 2)]
    by_rows = [of(SPREAD, start + 0.2, n, 0.05) for n in (10, 100, 1000, 10_000, 10**7)]
    assert by_size == sorted(by_size)
    assert by_rows == sorted(by_rows)
    assert by_rows[-1] == pytest.approx(1)


def test_opposite_shifts_of_scores_that_mirror_are_found_alike():
    assert power.of_shift(SPREAD, 0.2, 500, 0.05) == pytest.approx(
        power.of_shift(SPREAD, -0.2, 500, 0.05), rel=1e-9
    )
    up, down = (power.of_slope(each, 1.3, 3000, 0.05) for each in (SKEWED, 1 - SKEWED))
    assert up == pytest.approx(down, rel=1e-3)  # the path walks backward over other steps


def test_what_is_not_found_is_infinite():
    assert power.least(lambda _: 0.5, 0.6, 0.1, 10.0) == math.inf
