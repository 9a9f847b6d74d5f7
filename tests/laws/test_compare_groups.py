"""A subpopulation against the full population: a loop as oracle, laws, and inputs at the edge."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets import datasets
from oracle import ecce_of_members
from samples import compare_groups
from secant import null
from secant._metrics.subgroup import compared_rows, stretches

EXACT = {"rel": 0, "abs": 1e-12}


@st.composite
def with_members(draw, **kwargs):
    y, p, w = draw(datasets(**kwargs))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    member = rng.random(len(p)) < draw(st.sampled_from([0.05, 0.3, 0.9]))
    member[len(p) - 1] = True  # the last row never has weight zero
    return y, p, member, w


@given(with_members(most=80))
def test_it_equals_the_loop(data):
    y, p, member, w = data
    result = compare_groups(y, p, member, w)
    r, mad, sigma = ecce_of_members(y, p, member, w)
    assert (result.ecce_r.value, result.ecce_mad.value) == pytest.approx((r, mad), **EXACT)
    assert result.sigma == pytest.approx(sigma, rel=1e-9, abs=1e-12)


@given(with_members(weighted=False, most=80))
def test_the_variance_factor_is_one_for_single_members_without_weights(data):
    _, p, member, _ = data
    p = p.astype(float)
    once = np.isin(p, p[member], invert=True)  # others anywhere, members each at their own score
    once[np.flatnonzero(member)[np.unique(p[member], return_index=True)[1]]] = True
    p, member = p[once], member[once]
    half = np.arange(len(p)) % 2 == 0
    sums = stretches(compared_rows(p, half, member, None))
    rate = (sums.members1 + sums.others1) / sums.everybody
    expected = np.where(sums.others > 0, rate * (1 - rate), 0)
    assert sums.variance == pytest.approx(expected, **EXACT)


@given(with_members(), st.integers(0, 2**32))
def test_row_order_does_not_matter(data, seed):
    y, p, member, w = data
    order = np.random.default_rng(seed).permutation(len(p))
    a = compare_groups(y, p, member, w)
    b = compare_groups(y[order], p[order], member[order], None if w is None else w[order])
    assert a.ecce_r.value == pytest.approx(b.ecce_r.value, rel=0, abs=1e-13)
    assert a.ecce_mad.value == pytest.approx(b.ecce_mad.value, rel=0, abs=1e-13)
    assert a.sigma == pytest.approx(b.sigma, rel=1e-9, abs=1e-13)
    assert a.mismatch == pytest.approx(b.mismatch, rel=0, abs=1e-13)


@given(with_members(), st.floats(1e-3, 1e3))
def test_the_scale_of_weights_does_not_matter(data, scale):
    y, p, member, w = data
    w = np.ones(len(p)) if w is None else w
    a, b = compare_groups(y, p, member, w), compare_groups(y, p, member, w * scale)
    assert a.ecce_r.value == pytest.approx(b.ecce_r.value, rel=1e-9, abs=1e-13)
    assert a.ecce_r.ci == pytest.approx(b.ecce_r.ci, rel=1e-9, abs=1e-13)
    assert a.sigma == pytest.approx(b.sigma, rel=1e-9, abs=1e-13)


@given(with_members(weighted=False))
def test_unit_weights_change_nothing(data):
    y, p, member, _ = data
    assert (
        compare_groups(y, p, member).to_dict()
        == compare_groups(y, p, member, np.ones(len(p))).to_dict()
    )


@given(with_members(weighted=False), st.integers(0, 2**32))
def test_rows_of_weight_zero_are_not_there(data, seed):
    y, p, member, _ = data
    w = np.random.default_rng(seed).integers(0, 3, len(p)) * 1.0
    w[-1] = 1.0
    a, b = compare_groups(y, p, member, w), compare_groups(*(c[w > 0] for c in (y, p, member, w)))
    assert a.to_dict() == b.to_dict()


@given(with_members())
def test_naming_the_other_outcome_turns_the_path_over(data):
    y, p, member, w = data
    a, b = compare_groups(y, p, member, w), compare_groups(1 - y, p, member, w)
    assert a.curve.difference == pytest.approx(-b.curve.difference, **EXACT)
    assert a.sigma == pytest.approx(b.sigma, rel=1e-9, abs=1e-13)
    assert a.ecce_r.value == pytest.approx(b.ecce_r.value, **EXACT)


@given(with_members())
def test_predicting_the_opposite_mirrors_everything(data):
    """With 1 - p for the opposite outcome; scores halfway between members have to choose a side."""
    y, p, member, w = data
    p = 1 - (1 - p.astype(float))
    counted = member if w is None else member & (w > 0)  # a member of no weight is no point
    points = np.unique(p[counted])
    halfway = np.isclose(p[:, None], (points[:-1] + points[1:])[None, :] / 2, rtol=0, atol=1e-15)
    keep = counted | ~halfway.any(axis=1)
    y, p, member = y[keep], p[keep], member[keep]
    w = None if w is None else w[keep]
    a, b = compare_groups(y, p, member, w), compare_groups(1 - y, 1 - p, member, w)
    assert a.ecce_r.value == pytest.approx(b.ecce_r.value, **EXACT)
    assert a.sigma == pytest.approx(b.sigma, rel=1e-9, abs=1e-13)
    assert a.mismatch == pytest.approx(b.mismatch, **EXACT)


@given(with_members())
def test_laws_of_the_two_metrics_and_of_the_worst_range(data):
    y, p, member, w = data
    result = compare_groups(y, p, member, w)
    r, mad = result.ecce_r.value, result.ecce_mad.value
    assert 0 <= mad <= r <= min(1, 2 * mad)
    assert np.ptp(result.curve.difference) == r
    for statistic, law in ((result.ecce_r, null.range), (result.ecce_mad, null.mad)):
        low, high = statistic.ci
        assert 0 <= low <= statistic.value <= high <= 1
        if result.sigma > 0:
            limit = compare_groups(y, p, member, w, method="asymptotic")
            limit = limit.ecce_r if law is null.range else limit.ecce_mad
            assert limit.pvalue == pytest.approx(law.sf(statistic.value / result.sigma))
    worst = result.worst
    if worst.n:
        assert abs(worst.difference) * worst.weight == pytest.approx(r, **EXACT)
        counts = member & (p >= worst.low) & (p <= worst.high) & (True if w is None else w > 0)
        assert worst.n == counts.sum()
        assert worst.ci[0] <= worst.difference <= worst.ci[1]


@pytest.mark.parametrize("weighted", [False, True])
def test_limits_are_those_of_the_steps_themselves(weighted):
    """Sigma hat is what the squared steps amount to, where that is more than sigma."""
    rng = np.random.default_rng(0)
    p, member = rng.random(800), rng.random(800) < 0.3
    y = rng.random(800) < np.where(member & (p > 0.5), 0.2 * p, p)
    result = compare_groups(y, p, member, rng.lognormal(size=800) if weighted else None)
    steps = np.diff(result.curve.difference)
    sigma_hat = math.sqrt((steps**2).sum())
    assert sigma_hat > result.sigma
    half = null.range.isf(0.05) * sigma_hat
    r, worst = result.ecce_r, result.worst
    assert r.ci == pytest.approx((max(r.value - half, 0), r.value + half))
    assert worst.weight < 0.8
    assert worst.ci == pytest.approx(
        (max(worst.difference - half / worst.weight, -1), worst.difference + half / worst.weight)
    )


def test_everybody_a_member():
    y, p = [0, 1, 1, 0, 1], [0.1, 0.1, 0.5, 0.6, 0.9]
    result = compare_groups(y, p, [True] * 5)
    assert (result.ecce_r.value, result.ecce_r.pvalue, result.sigma) == (0, 1, 0)
    assert result.ecce_r.ci == (0, 0)
    assert result.worst.n == 0
    assert result.detectable == 1
    assert "nobody else" in str(result)


def test_one_member():
    """Against two others at the same score: R = 1, Rt = 2/3, V = (2/3)(1/3)."""
    result = compare_groups([1, 1, 0, 0], [0.4, 0.4, 0.4, 0.9], [True, False, False, False])
    assert result.ecce_r.value == result.ecce_mad.value == pytest.approx(1 / 3)
    assert result.sigma == pytest.approx(math.sqrt(2) / 3)
    assert result.worst.direction == "more often"
    assert result.population_rate == pytest.approx(2 / 3)


@pytest.mark.parametrize("outcome", [0, 1])
@pytest.mark.parametrize("w", [None, [0.1, 0.3, 0.7, 0.2]])
def test_all_responses_equal(outcome, w):
    result = compare_groups([outcome] * 4, [0.1, 0.2, 0.3, 0.4], [True, False, True, False], w)
    assert (result.ecce_r.value, result.ecce_r.pvalue, result.sigma) == (0, 1, 0)
    assert result.ecce_r.ci[1] > 0.5  # nothing was seen to vary, much may have been missed
    assert "something else happened" in str(result)


def test_huge_and_tiny_weights():
    y, p = [1, 0, 1, 0], [0.2, 0.2, 0.8, 0.8]
    result = compare_groups(y, p, [True, False, True, False], [1e20, 1.0, 1.0, 1e20])
    assert 0 < result.sigma < 1
    assert math.isfinite(result.ecce_r.normalized)


def test_minus_zero_is_zero():
    result = compare_groups([1, 0, 0], [-0.0, 0.0, -0.0], [True, False, False])
    assert (str(result.worst.low), str(result.worst.high)) == ("0.0", "0.0")
    assert not np.signbit(result.curve.score).any()


def test_size_is_not_above_nominal():
    """200 data sets without any difference: at most what 5% can be, at 1 in 10,000 (binomial)."""
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(200):
        p = np.round(rng.random(600), 2)
        member = rng.random(600) < 0.2 * p
        found += compare_groups(rng.random(600) < p**2, p, member).ecce_r.pvalue <= 0.05
    assert found <= 23  # scipy.stats.binom.isf(1e-4, 200, 0.05)


# P-values from exchanged responses ----------------------------------------------------------------


@given(with_members(most=60), st.integers(0, 2**32))
def test_exchanged_pvalues_do_not_depend_on_row_order(data, seed):
    y, p, member, w = data
    order = np.random.default_rng(seed).permutation(len(p))
    a = compare_groups(y, p, member, w, method="monte-carlo")
    b = compare_groups(
        y[order], p[order], member[order], None if w is None else w[order], method="monte-carlo"
    )
    assert a.ecce_r.pvalue == b.ecce_r.pvalue
    assert a.ecce_mad.pvalue == b.ecce_mad.pvalue


def test_size_is_not_above_nominal_where_events_are_few():
    """At most what 5% and 1% can be among 300 data sets, at 1 in 10,000 (binomial)."""
    rng = np.random.default_rng(2)
    pvalues = []
    for _ in range(300):
        p, member = rng.beta(1, 300, 2000), rng.random(2000) < 0.1
        pvalues.append(compare_groups(rng.random(2000) < p, p, member).ecce_r.pvalue)
    assert np.sum(np.array(pvalues) <= 0.05) <= 31  # scipy.stats.binom.isf(1e-4, 300, 0.05)
    assert np.sum(np.array(pvalues) <= 0.01) <= 11  # scipy.stats.binom.isf(1e-4, 300, 0.01)
