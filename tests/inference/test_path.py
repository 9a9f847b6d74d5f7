"""The path that was observed, summed as if exactly."""

import math

import numpy as np

from secant._inference.path import compensated_sum, thresholds


def test_running_sums_are_as_good_as_exact():
    rng = np.random.default_rng(8)
    for terms in (np.full(20_000, 0.1), rng.random(20_000), 10 ** rng.uniform(-12, 3, 20_000)):
        sums = compensated_sum(terms)
        for k in (1, 2, 3, 1000, 19_999, 20_000):
            exact = math.fsum(terms[:k].tolist())
            assert abs(sums[k - 1] - exact) <= math.ulp(exact)
    plain = np.cumsum(np.full(20_000, 0.1))
    assert abs(plain[-1] - 2000) > 1e-10  # what this is for


def test_thresholds_are_a_little_below_what_was_seen():
    deviation, span = thresholds(2.0, -3.0, 100.0)
    assert 3.0 * (1 - 2e-12) - 5 * math.ulp(100.0) < deviation < 3.0
    assert 5.0 * (1 - 2e-12) - 5 * math.ulp(100.0) < span < 5.0
    # The path starts at 0: one that only rises has fallen by nothing.
    assert thresholds(2.0, 1.0, 0.0) == (2.0 * (1 - 1e-12) - 4 * math.ulp(0.0),) * 2
