"""The words of prediction intervals."""

import numpy as np
import pytest

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


def test_noise_is_that_of_intervals_which_keep_their_promise():
    y = np.random.default_rng(3).normal(size=400)
    said = str(secant.assess_coverage(y, y * 0 - 1, y * 0 + 1, 0.68))
    assert "sigma, intervals that keep their promise give about" in said
    pairs = str(secant.assess_coverage(y, y * 0 - 1, y * 0 + 1, 0.68, clusters=np.arange(400) // 2))
    assert "sigma, intervals that keep their promise in such clusters give about" in pairs


def test_one_and_many():
    assert coverage_words.intervals(1) == "1 interval"
    assert coverage_words.intervals(1234) == "1,234 intervals"


def test_alternating_coverage_keeps_its_words():
    rng = np.random.default_rng(0)
    x = np.arange(9000)
    y = rng.random(9000)
    half = np.where((x // 1500) % 2, 0.35, 0.5)
    result = secant.assess_coverage(y, 0.5 - half, 0.5 + half, 0.85, order_by=x)
    assert "6 ranges of x have in turn too much coverage and too little" in str(result)
    assert "too high" not in str(result)
    assert "alternating" in str(result)


def test_never_more_than_there_can_be():
    """Of intervals of 99.9% no more than 1 in 1,000 can cover too many."""
    y = np.random.default_rng(0).normal(size=500)
    ends = np.full(500, 9.0)
    order = np.arange(500)
    said = {
        level: str(secant.assess_coverage(y, -ends * side, ends * side, level, order_by=order))
        for level, side in ((0.999, 1), (0.001, 0))
    }
    assert " in 1,000 too few would almost surely have shown." in said[0.999]
    assert " in 1,000 too many would almost surely have shown." in said[0.001]
    half = np.full(500, 0.6745)
    even = str(secant.assess_coverage(y, -half, half, 0.5, order_by=order))
    assert "too few or too many" in even


def test_notes_speak_of_intervals():
    said = str(secant.assess_coverage([0.0], [-1.0], [1.0], 0.9))
    assert "1 interval can show next to nothing." in said
    assert "check" not in said
    zero, one = np.zeros(40), np.ones(40)
    said += str(secant.assess_coverage(zero, -one, one, 0.9))
    assert "Every interval covers; check y, low and high." in said
    assert "event" not in said
    assert "prediction can" not in said
    none = secant.assess_coverage(5 * one, -one, one, 0.9)
    assert "No interval covers; check y, low and high." in none.warnings
    above = secant.assess_coverage(zero, None, one, 0.9)
    assert "Every quantile is at or above y; check y and high." in above.warnings
    below = secant.assess_coverage(zero, one, None, 0.9)
    assert "No quantile is at or below y; check y and low." in below.warnings


def test_what_is_not_certain_where_is_said_of_coverage():
    y = [0.0] * 10 + [2.0] * 10
    result = secant.assess_coverage(y, [-1.0] * 20, [1.0] * 20, 0.5, order_by=np.arange(20) // 10)
    assert result.found
    assert "the largest deviation: where x is 0 they cover 100% where 50% was promised" in str(
        result
    )
    assert "predictions were" not in str(result)


@pytest.mark.parametrize("side", ["low", "high"])
def test_quantiles_have_their_own_words(side):
    rng = np.random.default_rng(1)
    y = rng.normal(size=2000)
    ends = {"low": None, "high": None, side: rng.normal(size=2000) * 0.1}
    does = "at or above y" if side == "high" else "at or below y"
    for level in (0.9, 0.5):
        result = secant.assess_coverage(y, **ends, level=level)
        everything = f"{result}{result.details}{result.intervals!r}{result.between(-1, 1)}"
        assert f" are {does}" in everything
        assert "2,000 quantiles" in everything
        assert "quantiles that keep their promise give about" in everything
        for word in ("interval", "cover ", "width", f"at each {side}", "narrower", "calibrated"):
            assert word not in everything
    assert "moves quantiles" in str(secant.assess_coverage(y, **ends, level=0.9))
    assert str(result.between(8, 9)) == f"No quantiles with {side} from 8 to 9."
