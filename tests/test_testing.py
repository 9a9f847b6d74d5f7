"""``assert_calibrated``: the gate for tests and pipelines."""

import numpy as np
import pytest

import secant
from secant._results.gate import Gate
from secant.testing import assert_calibrated


def predictions(n, shift, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.2, 0.8, n)
    return rng.random(n) < p + shift, p


@pytest.mark.parametrize(
    ("n", "shift", "limits", "fails"),
    [
        (20_000, 0.05, {}, True),  # beyond chance and the usual tolerance
        (20_000, 0.05, {"max_ecce_r": 0.2}, False),  # beyond chance, tolerated
        (20_000, 0.05, {"alpha": 1e-200}, False),  # as likely as that
        (30, 0.05, {}, False),  # beyond the tolerance, may be chance
        (20_000, 0.0, {"max_ecce_r": 0.0}, False),  # neither
    ],
)
def test_it_fails_where_the_gate_is_crossed(n, shift, limits, fails):
    y, p = predictions(n, shift)
    result = secant.assess(y, p)
    assert Gate(**{"alpha": 0.01, "max_ecce_r": 0.02, **limits}).crossed(result) is fails
    if fails:
        with pytest.raises(AssertionError, match="Gate failed"):
            assert_calibrated(y, p, **limits)
    else:
        assert assert_calibrated(y, p, **limits).ecce_r.value == result.ecce_r.value


def test_every_group_must_pass():
    y, p = (
        np.concatenate(each)
        for each in zip(predictions(6000, 0), predictions(2000, -0.1, 1), strict=True)
    )
    g = np.repeat(["a", "b", "<c>", "off"], 2000)
    with pytest.raises(AssertionError) as caught:
        assert_calibrated(y, p, by=g)
    assert "Gate failed by 1 of 4 groups: off (tolerance 0.02" in str(caught.value)
    keep = g != "off"
    assert set(assert_calibrated(y[keep], p[keep], by=g[keep])) == {"a", "b", "<c>"}


def test_an_impossible_outcome_is_beyond_chance_whatever_the_pvalue():
    y, p = (np.append(each, np.zeros(200)) for each in predictions(400, 0.0))
    assert assert_calibrated(y, p, max_ecce_r=0.0).n_forbidden == 0
    y[-1] = 1
    with pytest.raises(AssertionError, match="1 wrong score of exactly 0 or 1 rules out chance"):
        assert_calibrated(y, p, max_ecce_r=0.0)
    passed = assert_calibrated(y, p, max_ecce_r=0.5)
    assert passed.n_forbidden == 1
    assert passed.ecce_r.pvalue > 0.01


@pytest.mark.parametrize("alpha", [0.3, 0.01, 1e-17, 1e-300])
def test_the_verdict_speaks_at_the_level_of_the_gate_unless_told(alpha):
    y, p = predictions(200, 0.0)
    assert assert_calibrated(y, p, alpha=alpha).confidence_level == Gate(alpha).confidence_level
    assert assert_calibrated(y, p, alpha=alpha, confidence_level=0.5).confidence_level == 0.5


def test_limits_out_of_range_are_refused():
    with pytest.raises(secant.InputError, match="alpha must lie"):
        assert_calibrated([0, 1], [0.2, 0.7], alpha=0)


def test_the_message_says_how_far_off_and_where():
    y, p = predictions(5000, 0.08)
    with pytest.raises(AssertionError) as caught:
        assert_calibrated(y, p)
    message = str(caught.value)
    assert message.startswith("Gate failed: P = ")
    assert "ECCE-R 0.0" in message
    assert "(level 0.01)" in message
    assert "(tolerance 0.02)" in message
    assert " are too low by " in message
    assert "99% limits" in message


def test_columns_and_options_are_passed_on():
    table = {"y": ["no", "yes", "yes", "no"], "p": [0.1, 0.8, 0.7, 0.2], "g": [1, 1, 2, 2]}
    options = {"data": table, "pos_label": "yes", "method": "asymptotic"}
    assert assert_calibrated("y", "p", **options).ecce_r.method == "large-sample"
    assert set(assert_calibrated("y", "p", by="g", **options)) == {1, 2}
