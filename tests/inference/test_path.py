"""The path that was observed, summed as if exactly."""

import math

import numpy as np

from secant._inference.path import compensated_sum, guarded, r_and_mad


def test_running_sums_are_as_good_as_exact():
    rng = np.random.default_rng(8)
    for terms in (np.full(20_000, 0.1), rng.random(20_000), 10 ** rng.uniform(-12, 3, 20_000)):
        sums = compensated_sum(terms)
        for k in (1, 2, 3, 1000, 19_999, 20_000):
            exact = math.fsum(terms[:k].tolist())
            assert abs(sums[k - 1] - exact) <= math.ulp(exact)
    plain = np.cumsum(np.full(20_000, 0.1))
    assert abs(plain[-1] - 2000) > 1e-10  # what this is for


def test_range_and_deviation_count_the_start():
    """A path that only rises has fallen by nothing."""
    paths = np.array([[1.0, 2.0, 3.0], [-1.0, -4.0, -2.0], [2.0, -3.0, 1.0]])
    assert r_and_mad(paths).tolist() == [[3.0, 3.0], [4.0, 4.0], [5.0, 3.0]]


def test_as_extreme_is_a_little_less_than_what_was_seen():
    span, deviation = guarded(r_and_mad(np.array([2.0, -3.0])), 100.0)
    assert 5.0 * (1 - 2e-12) - 5 * math.ulp(100.0) < span < 5.0
    assert 3.0 * (1 - 2e-12) - 5 * math.ulp(100.0) < deviation < 3.0
    assert guarded(2.0, 0.0) == 2.0 * (1 - 1e-12) - 4 * math.ulp(0.0)
