"""The gate: crossed only by what is beyond chance and beyond the tolerance."""

import math

import numpy as np
import pytest

import secant
from secant._results.gate import Gate


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


def test_at_a_limit_chance_is_ruled_out_and_the_deviation_tolerated():
    result = secant.assess([1], [0.25])  # ECCE-R 0.75, P = 0.25
    assert Gate(0.3, 0.74).crossed(result, pvalue=0.3)
    assert Gate(0.3, 0.74).crossed(result, pvalue=0.1 + 0.2)  # a rounding error above
    assert not Gate(0.3, 0.74).crossed(result, pvalue=0.3 + 1e-9)
    assert not Gate(0.3, 0.75).crossed(result)


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
    gate = Gate(0.01, 0.02)
    assert gate.group_words(secant.assess_by(y, p, g)).startswith(
        "Gate crossed by 1 of 4 groups: off (tolerance 0.02"
    )
    keep = g != "off"
    results = secant.assess_by(y[keep], p[keep], g[keep])
    assert "Gate passed by all 3 groups" in gate.group_words(results)
    # A P-value that passes unadjusted limits need not pass adjusted ones.
    row = results.rows[0]
    gate = Gate((row.calibration.ecce_r.pvalue + row.adjusted_pvalue) / 2, 0)
    assert gate.crossed(row.calibration)
    assert gate.crossing(results) == ()


def certain_and_right():
    """Return calibrated predictions, some of which rule the event out."""
    y, p = predictions(400, 0.0)
    return np.append(y, np.zeros(200)), np.append(p, np.zeros(200))


def with_an_impossible_event():
    """Return the same, where one of those events happened."""
    y, p = certain_and_right()
    y[-1] = 1
    return y, p


@pytest.mark.parametrize(
    ("max_ecce_r", "crossed", "stands"),
    [(0.0, True, "Gate crossed"), (0.5, False, "Detectable, and within your tolerance")],
)
def test_an_impossible_outcome_is_beyond_chance_whatever_the_pvalue(max_ecce_r, crossed, stands):
    y, p = certain_and_right()
    gate = Gate(0.01, max_ecce_r)
    before = secant.assess(y, p)
    assert before.n_forbidden == 0
    assert not gate.crossed(before)
    y, p = with_an_impossible_event()
    result = secant.assess(y, p)
    assert result.n_forbidden == 1
    assert result.ecce_r.pvalue > 0.01
    assert gate.crossed(result) is crossed
    words = gate.words(result)
    assert words.startswith(f"{stands}: ECCE-R 0.0")
    assert words.endswith(
        "; 1 wrong score of exactly 0 or 1 rules out chance, whatever the P-value."
    )
    # Where the P-value is small enough it is the reason that is given.
    assert "wrong score" not in Gate(0.999, max_ecce_r).words(result)


def test_several_impossible_outcomes_are_counted():
    y, p = with_an_impossible_event()
    y[-3:] = 1
    words = Gate(1e-12).words(secant.assess(y, p))
    assert words.endswith(
        "; 3 wrong scores of exactly 0 or 1 rule out chance, whatever the P-value."
    )


def test_a_row_without_weight_refutes_nothing():
    y, p = with_an_impossible_event()
    weights = np.append(np.ones(len(y) - 1), 0.0)
    assert not Gate(0.01).crossed(secant.assess(y, p, sample_weight=weights))


def test_a_group_may_be_refuted_by_impossible_outcomes():
    y, p = certain_and_right()
    off, q = predictions(2000, -0.15, seed=1)
    bad_y, bad_p = with_an_impossible_event()
    groups = ["fine"] * len(y) + ["off"] * 2000 + ["refuted"] * len(bad_y)
    results = secant.assess_by(
        np.concatenate([y, off, bad_y]), np.concatenate([p, q, bad_p]), groups
    )
    gate = Gate(0.01)
    assert gate.crossing(results) == ("off", "refuted")
    assert results.failing == ("off",)
    assert gate.group_words(results) == (
        "Gate crossed by 2 of 3 groups: off, refuted (tolerance 0, level 0.01, adjusted P-values). "
        "In refuted wrong scores of exactly 0 or 1 rule out chance, whatever the P-value."
    )
    row = next(line for line in str(results).splitlines() if line.startswith("refuted"))
    assert row.endswith("  1 score of exactly 0 or 1 was wrong")


def test_one_group_is_the_only_one():
    y, p = predictions(500, 0.0)
    fine = secant.assess_by(y, p, ["a"] * 500)
    assert Gate(0.01).group_words(fine).startswith("Gate passed by the only group (tolerance 0,")
    off = secant.assess_by(np.ones(500), p, ["a"] * 500)
    assert Gate(0.01).group_words(off).startswith("Gate crossed by the only group: a (tolerance")


def test_many_names_are_cut_short():
    groups = secant.assess_by(np.ones(1400), np.full(1400, 0.2), np.repeat(np.arange(7), 200))
    assert ": 0, 1, 2, 3, 4 and 2 more (tolerance" in Gate(0.01).group_words(groups)


@pytest.mark.parametrize("alpha", [0.3, 0.01, 1e-12, 1e-17, 1e-300])
def test_the_level_of_the_verdict_is_one_minus_alpha_as_far_as_numbers_go(alpha):
    level = Gate(alpha).confidence_level
    assert 0 < level < 1
    assert level == pytest.approx(1 - alpha, rel=0, abs=1e-12)


@pytest.mark.parametrize(
    "limits",
    [(0, 0.1), (1, 0.1), ("a", 0), (0.05, -0.1), (0.05, 1), (math.nan, 0), (0.05, math.nan)],
)
def test_limits_out_of_range_are_refused(limits):
    with pytest.raises(secant.InputError, match=r"alpha must lie|max_ecce_r must lie"):
        Gate(*limits)
