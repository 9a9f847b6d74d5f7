"""The gate: crossed only by what is beyond chance and beyond the tolerance."""

import math

import numpy as np
import pytest

import secant
from secant._gate import Gate
from secant.testing import assert_calibrated


def predictions(n, shift, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.2, 0.8, n)
    return rng.random(n) < p + shift, p


@pytest.mark.parametrize(
    ("n", "shift", "alpha", "max_ecce_r", "fails"),
    [
        (20_000, 0.05, 0.01, 0.02, True),  # beyond both
        (20_000, 0.05, 0.01, 0.2, False),  # beyond chance, tolerated
        (30, 0.05, 0.01, 0.02, False),  # beyond the tolerance, may be chance
        (20_000, 0.0, 0.01, 0.0, False),  # neither
    ],
)
def test_both_limits_must_be_crossed(n, shift, alpha, max_ecce_r, fails):
    y, p = predictions(n, shift)
    result = secant.assess(y, p)
    beyond_chance, beyond_tolerance = (
        result.ecce_r.pvalue <= alpha,
        result.ecce_r.value > max_ecce_r,
    )
    assert (beyond_chance and beyond_tolerance) == fails
    assert Gate(alpha, max_ecce_r).crossed(result) == fails
    if fails:
        with pytest.raises(AssertionError, match="Gate crossed"):
            assert_calibrated(y, p, alpha=alpha, max_ecce_r=max_ecce_r)
    else:
        passed = assert_calibrated(y, p, alpha=alpha, max_ecce_r=max_ecce_r)
        assert passed.ecce_r.value == result.ecce_r.value


def test_at_a_limit_chance_is_ruled_out_and_the_deviation_tolerated():
    result = secant.assess([1], [0.25])  # ECCE-R 0.75, P = 0.25
    assert Gate(0.3, 0.74).crossed(result, pvalue=0.3)
    assert Gate(0.3, 0.74).crossed(result, pvalue=0.1 + 0.2)  # a rounding error above
    assert not Gate(0.3, 0.74).crossed(result, pvalue=0.3 + 1e-9)
    assert not Gate(0.3, 0.75).crossed(result)


def test_the_message_says_how_far_off_and_where():
    y, p = predictions(5000, 0.08)
    with pytest.raises(AssertionError) as caught:
        assert_calibrated(y, p)
    message = str(caught.value)
    assert message.startswith("Gate crossed: ECCE-R 0.0")
    assert "tolerance 0.02, level 0.01." in message
    assert "predictions are too low by" in message
    assert "99% limits" in message


def test_words_when_detectable_and_within_tolerance():
    y, p = predictions(200_000, 0.005)
    words = Gate(0.01, 0.02).words(secant.assess(y, p))
    assert words.startswith("Detectable, and within your tolerance: ECCE-R 0.00")
    assert "n = 200,000" in words
    assert Gate(0.01, 0.02).words(secant.assess([0, 1], [0.4, 0.6])).startswith("Gate passed:")


def test_groups_pass_or_fail_by_adjusted_pvalues():
    y, p = predictions(6000, 0.0)
    bad, q = predictions(2000, -0.1, seed=1)
    g = np.repeat(["a", "b", "<c>", "off"], 2000)
    y, p = np.concatenate([y, bad]), np.concatenate([p, q])
    with pytest.raises(AssertionError) as caught:
        assert_calibrated(y, p, by=g)
    assert "Gate crossed by 1 of 4 groups: off (tolerance 0.02" in str(caught.value)
    keep = g != "off"
    results = assert_calibrated(y[keep], p[keep], by=g[keep])
    assert len(results) == 3
    assert "Gate passed by all 3 groups" in Gate(0.01, 0.02).group_words(results)
    # A P-value that passes unadjusted limits need not pass adjusted ones.
    row = results.rows[0]
    gate = Gate((row.calibration.ecce_r.pvalue + row.adjusted_pvalue) / 2, 0)
    assert gate.crossed(row.calibration)
    assert gate.crossing(results) == ()


def test_columns_and_options_are_passed_on():
    table = {"y": ["no", "yes", "yes", "no"], "p": [0.1, 0.8, 0.7, 0.2], "g": [1, 1, 2, 2]}
    options = {"data": table, "pos_label": "yes", "method": "asymptotic"}
    assert assert_calibrated("y", "p", **options).ecce_r.method == "asymptotic"
    assert set(assert_calibrated("y", "p", by="g", **options)) == {1, 2}


@pytest.mark.parametrize(
    "limits",
    [(0, 0.1), (1, 0.1), ("a", 0), (0.05, -0.1), (0.05, 1), (math.nan, 0), (0.05, math.nan)],
)
def test_limits_out_of_range_are_refused(limits):
    with pytest.raises(secant.InputError, match=r"alpha must lie|max_ecce_r must lie"):
        Gate(*limits)
