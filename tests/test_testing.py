"""``assert_calibrated``: the gate for tests and pipelines."""

import numpy as np
import pytest

from secant.testing import assert_calibrated


def predictions(n, shift, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.2, 0.8, n)
    return rng.random(n) < p + shift, p


def test_the_message_says_how_far_off_and_where():
    y, p = predictions(5000, 0.08)
    with pytest.raises(AssertionError) as caught:
        assert_calibrated(y, p)
    message = str(caught.value)
    assert message.startswith("Gate crossed: ECCE-R 0.0")
    assert "tolerance 0.02, level 0.01." in message
    assert "predictions are too low by" in message
    assert "99% limits" in message


def test_columns_and_options_are_passed_on():
    table = {"y": ["no", "yes", "yes", "no"], "p": [0.1, 0.8, 0.7, 0.2], "g": [1, 1, 2, 2]}
    options = {"data": table, "pos_label": "yes", "method": "asymptotic"}
    assert assert_calibrated("y", "p", **options).ecce_r.method == "asymptotic"
    assert set(assert_calibrated("y", "p", by="g", **options)) == {1, 2}
