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


def test_why_there_is_no_paired_test_is_said():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.1, 0.9, 400)
    y = rng.random(400) < p
    assert secant.compare_models(y, p, p**1.2).untested is None
    counted = {"sample_weight": np.full(400, 2), "weight_kind": "frequency"}
    cases = [
        (p < 0.11, {}, "there are fewer than 50 events"),
        (p > 0.11, {}, "there are fewer than 50 rows without the event"),
        (y, counted, "weights count copies of rows"),
        (y, {"outcome_weights": (3, 1)}, "rows were kept by their outcome"),
    ]
    for labels, options, why in cases:
        models = secant.assess_models(labels, {"a": p, "b": p**1.2}, **options)
        [found] = models.comparisons.values()
        assert found.pvalue is None
        assert found.untested == why
        assert f", which is sharper: {why}.\n" in str(found)
    assert "paired" not in str(secant.compare_models(p < 0.11, p, p))
