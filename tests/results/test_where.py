"""Where predictions are off, in words."""

import numpy as np
import pytest

import secant
from secant._results import verdict
from secant._results.verdict import where
from secant._results.wording import points

NUMBER = r"-?[\d.,]+"


def narrow(shift, n=100_000):
    """Return predictions that are too low everywhere, and by more between 0.3 and 0.36."""
    rng = np.random.default_rng(6)
    p = rng.random(n) * 0.6
    off = np.where((p > 0.3) & (p < 0.36), shift, 0.1)
    return secant.assess(rng.random(n) < p + off, p)


@pytest.mark.parametrize(("shift", "said"), [(0.1, False), (0.15, False), (0.35, True)])
def test_the_steepest_place_goes_unsaid_where_it_adds_little(shift, said):
    result = narrow(shift)
    assert result.direction == "too low"
    assert (" Somewhere predictions are too low by at least " in where(result)) == said


def test_half_as_far_again_is_farther(monkeypatch):
    result = narrow(0.15)
    (piece,) = result.intervals
    ratio = result.steepest.at_least / piece.miscalibration
    assert 1.01 < ratio < 1.5  # more than the range seems to be, but not by much
    for least, said in ((ratio * 0.99, True), (ratio * 1.01, False)):
        monkeypatch.setattr(verdict, "_FARTHER", least)
        assert ("Somewhere" in where(result)) == said


@pytest.mark.parametrize(
    ("y", "p", "words"),
    [
        ([0], [1.0], "The event did not happen after the only score of exactly 1."),
        (
            [0] * 499 + [1] * 502,
            [0.0] * 500 + [1.0] * 501,
            "The event happened after 1 of 500 scores of exactly 0.",
        ),
        (
            [1, 0, 0, 1, 0, 1],
            [0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
            (
                "The event happened after 1 of 3 scores of exactly 0 and did not happen after "
                "1 of 3 scores of exactly 1."
            ),
        ),
    ],
)
def test_wrong_certainties_are_named_where_they_are_all_there_is(y, p, words):
    result = secant.assess(y, p)
    assert where(result) == words
    assert "not show for certain" not in str(result)
    assert "predicted classes" in str(result)


def test_the_steepest_place_within_a_range_that_is_off_the_other_way():
    """As real forecasts had it: too low over most scores, and one score far too high."""
    rng = np.random.default_rng(0)
    p = rng.random(40_000)
    y = rng.random(p.size) < np.minimum(p + 0.06, 1)
    one = np.full(300, 0.5)
    result = secant.assess(np.append(y, rng.random(300) < 0.1), np.append(p, one))
    assert result.direction == "too low"
    least = points(result.steepest.at_least)
    words = f" But within these, scores of 0.500 are too high by at least {least} points."
    assert where(result).endswith(words)
