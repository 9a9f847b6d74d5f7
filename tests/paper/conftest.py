"""The paper's experiments, run once for all who look at them."""

import pytest

from secant.paper import experiments


@pytest.fixture(scope="session")
def known_sizes():
    """Return the experiments at the sample sizes for which the paper's values are known."""
    return experiments.compute(
        experiments.all_fixed([32768]), experiments.all_convergence([2**k for k in range(12, 16)])
    )
