"""The path that was observed, summed as if exactly."""

import math

import numpy as np

from secant._inference.path import compensated_sum


def test_running_sums_are_as_good_as_exact():
    rng = np.random.default_rng(8)
    for terms in (np.full(20_000, 0.1), rng.random(20_000), 10 ** rng.uniform(-12, 3, 20_000)):
        sums = compensated_sum(terms)
        for k in (1, 2, 3, 1000, 19_999, 20_000):
            exact = math.fsum(terms[:k].tolist())
            assert abs(sums[k - 1] - exact) <= math.ulp(exact)
    plain = np.cumsum(np.full(20_000, 0.1))
    assert abs(plain[-1] - 2000) > 1e-10  # what this is for
