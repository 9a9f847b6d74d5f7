"""Comparing groups: inputs that are refused, and notes that warn the reader."""

import math

import numpy as np
import pytest

import secant
from samples import compare_groups


def test_scores_that_are_not_equal_enough_are_named():
    rng = np.random.default_rng(1)
    p = np.append(rng.random(20_000), np.full(500, 0.3))
    member = np.arange(len(p)) >= 20_000
    y = rng.random(len(p)) < p
    result = compare_groups(y, p, member)
    assert result.mismatch == pytest.approx(0.2, abs=0.02)
    assert any("not equal enough" in warning for warning in result.warnings)


def test_few_events_are_named():
    rng = np.random.default_rng(1)
    p = rng.beta(1, 500, 2000)
    result = compare_groups(rng.random(2000) < p, p, rng.random(2000) < 0.1)
    assert any("approximate" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("member", "complaint"),
    [
        ([True], "member must have one value a row; it has 1, not 3"),
        ([True, "yes", False], r"member\[\d\] is"),
        ([1, 2, 0], r"member\[1\] is 2"),
        ([1.0, math.nan, 0.0], r"member\[1\] is nan"),
        ([True, None, False], r"member\[1\] is None"),
        ([False, False, False], "nobody to compare"),
        ([[True], [True], [False]], "member must be one-dimensional"),
    ],
)
def test_bad_membership_is_refused(member, complaint):
    with pytest.raises(secant.InputError, match=complaint):
        compare_groups([0, 1, 1], [0.1, 0.2, 0.3], member)


def test_members_of_weight_zero_are_nobody():
    with pytest.raises(secant.InputError, match="nobody to compare"):
        compare_groups([0, 1], [0.1, 0.2], [True, False], [0, 1])


def test_other_arguments_are_checked_like_everywhere():
    with pytest.raises(secant.InputError, match="confidence_level"):
        compare_groups([0, 1], [0.1, 0.2], [True, False], confidence_level=2)
    with pytest.raises(secant.InputError, match=r"y_prob\[1\]"):
        compare_groups([0, 1], [0.1, 1.2], [True, False])
    named = compare_groups(["no", "yes"], [0.1, 0.2], [True, False], pos_label="yes")
    assert named.to_dict() == compare_groups([0, 1], [0.1, 0.2], [1, 0]).to_dict()


@pytest.mark.parametrize(
    ("members", "few"),
    [(79, True), (80, False)],  # variances of 79^2 / (4 * 157) = 9.94 and 80^2 / (4 * 159) = 10.06
)
def test_a_variance_below_ten_is_little(members, few):
    """As many others, and half of everybody: m / 2 * m^2 / (2m (2m - 1)) is the variance."""
    y, member = np.arange(2 * members) % 2, np.arange(2 * members) < members
    result = compare_groups(y, np.full(2 * members, 0.5), member)
    assert (result.ecce_r.method == "simulated") == few
    assert any(line.startswith("Few events") for line in result.warnings) == few


@pytest.mark.parametrize(("apart", "worth_a_word"), [(0.95, False), (1.05, True)])
def test_scores_apart_by_half_a_sigma_are_worth_a_word(apart, worth_a_word):
    y, member = np.arange(200) % 2, np.arange(200) < 100
    sigma = math.sqrt(100**2 / (4 * 199)) / 100
    # Members are half of everybody, so the mean score of all is half as far from theirs.
    result = compare_groups(y, np.where(member, 0.5, 0.5 + apart * sigma), member)
    assert result.sigma == pytest.approx(sigma)
    assert result.mismatch == pytest.approx(apart * sigma / 2)
    assert any("not equal enough" in line for line in result.warnings) == worth_a_word


@pytest.mark.parametrize(
    ("alone", "members", "worth_a_word"), [(5, 10, False), (6, 11, True), (9, 9, False)]
)
def test_more_than_half_of_the_members_alone_are_worth_a_word(alone, members, worth_a_word):
    """Those with a score of 0.1 are nearest to nobody else."""
    p = np.concatenate([np.full(alone, 0.1), np.full(members - alone, 0.9), [0.9] * 5])
    member = np.arange(len(p)) < members
    if alone == members:
        p, member = p[member], member[member]
    warnings = compare_groups(np.arange(len(p)) % 2, p, member).warnings
    assert any("had nobody else" in line for line in warnings) == worth_a_word


# P-values from exchanged responses ----------------------------------------------------------------


def test_auto_exchanges_where_events_are_few():
    rng = np.random.default_rng(1)
    p, member = rng.random(500), rng.random(500) < 0.3
    often, seldom = (compare_groups(rng.random(500) < c * p, p, member) for c in (1, 0.02))
    assert (often.ecce_r.method, often.ecce_r.draws) == ("large-sample", None)
    assert seldom.ecce_r.draws
    seeds = [
        compare_groups(rng.random(500) < 0.02, p, member, rng=3, method="monte-carlo") for _ in "ab"
    ]
    assert {result.ecce_r.method for result in seeds} == {"simulated"}
    with pytest.raises(secant.InputError, match="method must be one of"):
        compare_groups([0, 1], [0.1, 0.2], [1, 0], method="exact")
    with pytest.raises(secant.InputError, match="rng must be"):
        compare_groups([0, 1], [0.1, 0.2], [1, 0], rng="x")
