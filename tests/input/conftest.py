"""Many rows, and what secant says about them."""

import numpy as np
import pytest

from doors import many_told
from secant.sources import rows as row_source


@pytest.fixture(scope="module", params=["spread out", "skewed", "tied"])
def many(request):
    """Return enough rows that they are cut into cells and not sorted, with scores of float32."""
    rng = np.random.default_rng(7)
    n = row_source.SORT_UP_TO + 5000
    scores = {
        "spread out": rng.random(n),
        "skewed": rng.beta(0.05, 5, n),
        "tied": rng.integers(0, 101, n) / 128,
    }[request.param]
    scores = scores.astype(np.float32).astype(np.float64)
    labels = (rng.random(n) < scores**1.1).astype(np.int64)
    weights = rng.integers(0, 5, n).astype(np.float64)
    return labels, scores, weights


@pytest.fixture(scope="module")
def expected(many):
    """Return what secant says about these rows as plain arrays, without and with their weights."""
    labels, scores, weights = many
    return many_told(labels, scores), many_told(labels, scores, weights)
