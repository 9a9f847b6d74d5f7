"""Comparing models: inputs that are refused or not there."""

import math

import numpy as np
import pytest

import secant
from datasets import KINDS, draw_outcomes
from samples import compare_models


def test_rows_of_weight_zero_do_not_count():
    y, a, b = np.array([0, 1, 1]), np.array([0.1, 0.5, 0.9]), np.array([0.1, 0.5, 0.2])
    assert compare_models(y, a, b, [1, 1, 0]).ci == (0, 0)
    assert compare_models(y, a, b, [1, 2, 1]).ci != (0, 0)


@pytest.mark.parametrize(
    ("a", "b", "complaint"),
    [
        ([0.1, 1.2], [0.1, 0.2], r"y_prob_a\[1\] is 1.2"),
        ([0.1, 0.2], [math.nan, 0.2], r"y_prob_b\[0\] is nan"),
        ([0.1, 0.2], [0.1], "y_true and y_prob_b must have one length"),
        ([[0.1], [0.2]], [0.1, 0.2], "y_prob_a must be one-dimensional"),
    ],
)
def test_complaints_name_the_model(a, b, complaint):
    with pytest.raises(secant.InputError, match=complaint):
        compare_models([0, 1], a, b)


def test_other_arguments_are_checked_like_everywhere():
    with pytest.raises(secant.InputError, match="confidence_level"):
        compare_models([0, 1], [0.1, 0.2], [0.1, 0.3], confidence_level=1)
    named = compare_models(["no", "yes"], [0.1, 0.2], [0.1, 0.3], pos_label="yes")
    assert named == compare_models([0, 1], [0.1, 0.2], [0.1, 0.3])


def test_outcomes_of_every_kind_are_compared():
    rng = np.random.default_rng(2)
    for kind in KINDS.values():
        a, b = kind(rng, 50), kind(rng, 50)
        result = compare_models(draw_outcomes(rng, a), a, b)
        assert -1 <= result.ci[0] <= result.difference <= result.ci[1] <= 1
