"""What is called very little, and what is not."""

import numpy as np

import secant
from secant._results.tolerance import VERY_LITTLE, Tolerance, tolerance_of
from secant._results.verdict import what_now


def test_very_little_is_called_so_and_is_a_setting():
    rng = np.random.default_rng(2)
    p = rng.random(2_000_000)
    result = secant.assess(rng.random(p.size) < p * 0.992, p)
    assert result.found
    assert 0.0035 < result.ecce_r.value < VERY_LITTLE.ecce_r
    assert (result.negligible, result.trifling, result.direction) == (True, True, "too high")
    assert VERY_LITTLE.words in result.verdict
    assert what_now(result) == ""
    assert not result.asked(Tolerance(0.0035, 0.02)).negligible
    assert not result.asked(Tolerance(0.006, 0.0)).negligible
    assert tolerance_of(None, None) == VERY_LITTLE
    for limits in ((0.02, None), (None, 0.2)):
        asked = result.asked(tolerance_of(*limits))
        assert asked.negligible
        assert asked.tolerance.words in asked.verdict
    for limits in ((0.001, 0.2), (0.02, 0.001), (0.0, None)):
        assert not result.asked(tolerance_of(*limits)).negligible


def test_far_off_on_few_predictions_is_not_little():
    rng = np.random.default_rng(3)
    p = np.concatenate([rng.random(990_000), np.full(10_000, 0.5)])
    y = rng.random(p.size) < np.concatenate([p[:990_000], np.full(10_000, 0.9)])
    result = secant.assess(y, p)
    assert result.ecce_r.value < VERY_LITTLE.ecce_r
    assert result.found
    assert not result.negligible


def test_a_factor_of_two_is_not_little_however_rare_the_event():
    rng = np.random.default_rng(4)
    p = rng.uniform(0, 0.004, 1_000_000)
    result = secant.assess(rng.random(p.size) < p / 2, p)
    assert result.ecce_r.value < 0.002
    assert result.found
    assert not result.negligible


def test_what_is_tolerated_is_not_called_a_trifle():
    rng = np.random.default_rng(0)
    p = rng.random(6000)
    result = secant.assess(rng.random(6000) < p, 1 / (1 + ((1 - p) / p) ** 2))
    for asked in (tolerance_of(0.1, None), tolerance_of(None, 0.5)):
        other = result.asked(asked)
        assert (other.negligible, other.trifling) == (True, False)
        assert other.tolerance.words in other.verdict
        assert what_now(other) == what_now(result) != ""
