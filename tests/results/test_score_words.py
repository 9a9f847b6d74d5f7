"""Proper scores and the older tests in words."""

import math

import pytest

import secant
from secant._results import score_words


def test_noise_is_not_called_miscalibration():
    result = secant.assess([1], [0.3])
    assert not result.found
    assert "Brier score 0.490; log loss 1.20." in str(result)
    assert "is miscalibration" not in str(result)


def test_a_score_is_written_as_the_sum_it_is():
    result = secant.assess([0, 1, 1, 0], [0.25, 0.75, 0.75, 0.75])
    score = result.brier
    assert str(score) == score_words.one(score)
    said = [float(word) for word in str(score).rstrip(".").split() if word[0].isdigit()]
    value, mcb, dsc, unc = said
    assert value == pytest.approx(mcb - dsc + unc, abs=1e-3)


def test_what_cannot_be_fitted_is_said():
    alike = secant.assess([0, 1, 1], [0.5, 0.5, 0.5])
    assert "cannot be fitted" in str(alike.cox)
    assert "cannot be had" in str(alike.spiegelhalter)
    apart = secant.assess([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    assert math.isinf(apart.cox.slope)
    assert "infinite" in str(apart.cox)
    refuted = secant.assess([1, 0, 1], [0.0, 0.5, 0.6])
    assert str(refuted.log_loss) == "Log loss infinite: a score of exactly 0 or 1 was wrong."
