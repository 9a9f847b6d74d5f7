"""The words of prediction intervals."""

import numpy as np

import secant
from secant._results import coverage_words


def test_directions_are_those_of_coverage():
    assert coverage_words.shape("too high") == "too little"
    assert coverage_words.shape("too low, then too high") == "too much, then too little"
    assert coverage_words.shape("alternating, 4 times") == "alternating, 4 times"


def test_probabilities_are_not_intervals():
    result = secant.assess([0, 1], [0.4, 0.6], order_by=[1, 2])
    assert not coverage_words.is_about(result)
    assert not coverage_words.is_about(result.worst)
    covered = secant.assess_coverage([0.0, 1.0], [0.0, 2.0], [1.0, 4.0], 0.5)
    assert coverage_words.is_about(covered)
    assert coverage_words.is_about(covered.worst)


def test_one_and_many():
    assert coverage_words.intervals(1) == "1 interval"
    assert coverage_words.intervals(1234) == "1,234 intervals"


def test_alternating_coverage_keeps_its_words():
    rng = np.random.default_rng(0)
    x = np.arange(9000)
    y = rng.random(9000)
    half = np.where((x // 1500) % 2, 0.35, 0.5)
    result = secant.assess_coverage(y, 0.5 - half, 0.5 + half, 0.85, order_by=x)
    assert "ranges of x are in turn" in str(result)
    assert "alternating" in str(result)
