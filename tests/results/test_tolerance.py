"""What is called very little, and what is not."""

import numpy as np

import secant
from secant._results.base import say
from secant._results.tolerance import VERY_LITTLE, Tolerance, tolerance_of


def test_very_little_is_called_so_and_is_a_setting():
    rng = np.random.default_rng(2)
    p = rng.random(2_000_000)
    result = secant.assess(rng.random(p.size) < p * 0.992, p)
    assert result.found
    assert 0.0035 < result.ecce_r.value < VERY_LITTLE.ecce_r
    text = str(result)
    assert text.startswith("Miscalibrated by very little: too high. ")
    many = f"{1000 * result.ecce_r.value:.2g}"
    assert f"only {many} forecast events did not happen in the worst range; 2,000,000" in text
    assert "What usually helps" not in text
    assert result.asked(Tolerance(0.0035, 0.02)).verdict == "Miscalibrated: too high"
    assert result.asked(Tolerance(0.006, 0.0)).verdict == "Miscalibrated: too high"
    assert tolerance_of(None, None) == VERY_LITTLE
    for limits in ((0.02, None), (None, 0.2)):
        said = result.asked(tolerance_of(*limits)).verdict
        assert said == "Miscalibrated within your tolerance: too high"
    for limits in ((0.001, 0.2), (0.02, 0.001), (0.0, None)):
        said = result.asked(tolerance_of(*limits)).verdict
        assert said == "Miscalibrated: too high"


def test_far_off_on_few_predictions_is_not_little():
    rng = np.random.default_rng(3)
    p = np.concatenate([rng.random(990_000), np.full(10_000, 0.5)])
    y = rng.random(p.size) < np.concatenate([p[:990_000], np.full(10_000, 0.9)])
    result = secant.assess(y, p)
    assert result.ecce_r.value < VERY_LITTLE.ecce_r
    assert str(result).startswith("Miscalibrated: too low. ")


def test_a_factor_of_two_is_not_little_however_rare_the_event():
    rng = np.random.default_rng(4)
    p = rng.uniform(0, 0.004, 1_000_000)
    result = secant.assess(rng.random(p.size) < p / 2, p)
    assert result.ecce_r.value < 0.002
    assert str(result).startswith("Miscalibrated: too high. ")


def test_what_is_tolerated_is_not_called_a_trifle():
    rng = np.random.default_rng(0)
    p = rng.random(6000)
    result = secant.assess(rng.random(6000) < p, 1 / (1 + ((1 - p) / p) ** 2))
    for asked in (tolerance_of(0.1, None), tolerance_of(None, 0.5)):
        said = say(result.asked(asked)).text()
        assert said.startswith("Miscalibrated within your tolerance: too extreme")
        assert "only" not in said
        assert "show even that" not in said
        assert "What usually helps" in said
