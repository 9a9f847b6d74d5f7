"""Results and predictions to draw."""

import numpy as np
import pytest

import secant
from secant.paper import synthetic


@pytest.fixture(scope="session")
def paper():
    n, family = 4096, "square rooted"
    return secant.assess(synthetic.responses(n, family)[0], synthetic.scores(n, family))


@pytest.fixture
def models():
    rng = np.random.default_rng(3)
    p = rng.random(2000)
    y = rng.random(2000) < p
    return y, {"right": p, "high": np.sqrt(p), "low": p**2}


@pytest.fixture(scope="session")
def predictions():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    return rng.random(1000) < p**1.3, p
