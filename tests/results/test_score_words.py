"""Proper scores and the older tests in words."""

import pytest

import secant
from secant._results import score_words
from secant._results.wording import metric


def test_noise_is_not_called_miscalibration():
    result = secant.assess([1], [0.3])
    assert not result.found
    assert metric(result.brier.value) in str(result)
    assert "is miscalibration" not in str(result)


def test_a_score_is_written_as_the_sum_it_is():
    result = secant.assess([0, 1, 1, 0], [0.25, 0.75, 0.75, 0.75])
    score = result.brier
    assert str(score) == score_words.one(score)
    said = [float(word) for word in str(score).rstrip(".").split() if word[0].isdigit()]
    value, mcb, dsc, unc = said
    assert value == pytest.approx(mcb - dsc + unc, abs=1e-3)
