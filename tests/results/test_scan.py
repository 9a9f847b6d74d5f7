"""What a scan returns, and when it says that it found something."""

import re

import numpy as np
import pytest

import secant
from secant._api import scan
from secant._inference import multiscale
from secant._input.observations import observations


def test_results_are_plain_json():
    numbers = secant.scan([0, 1, 1, 0], [0.1, 0.4, 0.6, 0.7], draws=9).to_dict()
    assert numbers["verdict"] == "No range of scores stands out"
    assert numbers["critical"] is None
    assert numbers["worst"]["direction"] in {"too high", "too low", "even"}


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_the_critical_value_is_what_a_finding_exceeds(level):
    """With 1,000 - 1 draws P is at most 1 - level when fewer than that share of them exceed it."""
    rng = np.random.default_rng(4)
    p = rng.random(400)
    results = [secant.scan(rng.random(400) < p, p, confidence_level=level) for _ in range(30)]
    for result in results:
        assert result.found == (result.statistic > result.critical)
    ties = scan._ties(observations(np.zeros(400), p))
    drawn = multiscale.null_draws(ties, multiscale.ranges(ties), draws=999, rng=None)
    (critical,) = {result.critical for result in results}
    assert np.count_nonzero(drawn >= critical) >= round(1000 * (1 - level))
    assert np.count_nonzero(drawn > critical) < round(1000 * (1 - level))


def test_the_smallest_p_value_that_draws_can_give_is_an_upper_bound():
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    off, fine = (secant.scan(rng.random(2000) < each, p) for each in (p / 2, p))
    assert (off.method, off.draws, fine.method) == ("upper bound", 999, "simulated")
    assert "(P <= 0.001, upper bound)" in str(off)
    assert re.search(r"\(P = [\d.]+, simulated\)", str(fine))
    certain = secant.scan([0, 1], [0.0, 1.0])
    assert (certain.method, certain.draws) == ("exact", None)
