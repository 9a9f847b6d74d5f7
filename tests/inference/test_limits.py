"""Limits of metrics and ranges, and the least P-value that could have been."""

import itertools
import math
from dataclasses import replace
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import secant
from samples import copies, predictions, statistics
from secant import null
from secant._api.assess_by import ranked
from secant._inference.limits import _POOLS, across_pools, least_log_pvalue, pooled

# --- confidence intervals -------------------------------------------------------------------------


@given(predictions(), st.sampled_from([0.5, 0.95, 0.999]))
def test_intervals_of_the_metrics_and_of_every_range(data, level):
    y, p, w, kind = data
    result = secant.assess(y, p, sample_weight=w, weight_kind=kind, confidence_level=level)
    y, p, w = copies(y, p, w, kind)
    spread = (
        max(np.sqrt((w**2 * (y - p) ** 2).sum()), np.sqrt((w**2 * p * (1 - p)).sum())) / w.sum()
    )
    alpha = 1 - level
    if spread > 0:
        halves = [
            math.hypot(law.isf(alpha) * spread, missed(p, w, law.isf(alpha), alpha))
            for law in (null.range, null.mad)
        ]
    else:  # every score certain and right: Hoeffding's inequality
        halves = [math.sqrt(2 * math.log(2 / (1 - level)) * (w**2).sum()) / w.sum()] * 2
    # Limits end where no truth can lie: a metric is in [0, 1], a mean response as well.
    for statistic, half in zip(statistics(result), halves, strict=True):
        expected = max(statistic.value - half, 0.0), min(statistic.value + half, 1.0)
        assert statistic.ci == pytest.approx(expected, rel=1e-7, abs=1e-12)
    part = result.between(0.2, 0.8)
    if part.n:
        half = halves[0] / part.weight
        low = max(part.miscalibration - half, -part.mean_score)
        high = min(part.miscalibration + half, 1 - part.mean_score)
        assert part.ci == pytest.approx((low, high), rel=1e-7, abs=1e-9)


def missed(p, w, quantile, alpha):
    """Return how far a path may be off for what did not show, by the twelve largest steps."""
    w, p = w[w > 0], p[w > 0]
    if np.ptp(w) <= 1e-12 * w[0]:
        k = np.array([len(w)])
        steps, shown = w[:1], np.minimum(k, 3)
    else:
        steps = np.sort(w * np.maximum(p, 1 - p))[::-1][:12]
        k = shown = np.arange(1, len(steps) + 1)
    unseen = k * (1 - (alpha / 2) ** (1 / k))  # the chance that k such events stay away is alpha/2
    return (np.maximum(unseen, quantile * np.sqrt(shown) / 2) * steps).max() / w.sum()


def test_hoeffding_where_nothing_varied():
    result = secant.assess([0] * 400, [0.0] * 400)
    assert result.ecce_r.ci == pytest.approx((0, 2.72 / 20), rel=2e-3)


# --- the least P-value, and P-values at the level -------------------------------------------------


@given(st.lists(st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.7, 0.9, 1.0]), min_size=1, max_size=6))
@example([0.05, 0.05, 0.3, 0.7, 0.9, 1.0])  # two sums that are equal but for rounding
def test_the_smallest_pvalue_that_could_have_been(scores):
    """Over every outcome, also those that contradict a score of 0 or 1, by enumeration."""
    outcomes = itertools.product([0, 1], repeat=len(scores))
    results = [secant.assess(y, scores, method="exact") for y in outcomes]
    least = min(result.ecce_r.pvalue for result in results)
    shown = math.exp(least_log_pvalue(results[0]._blocks))
    assert shown == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("weights", [(1, 1, 9), (9, 1, 1), (2, 3, 4)])
def test_the_smallest_pvalue_that_weighted_rows_could_have_had(weights):
    """By enumeration: the chance of the outcome whose weighted ECCE-R is largest."""
    scores = 0.2, 0.4, 0.7
    chance = {}
    for y in itertools.product([0, 1], repeat=3):
        r = secant.assess(y, scores, sample_weight=weights, method="asymptotic").ecce_r.value
        chance[y] = r, math.prod(s if e else 1 - s for e, s in zip(y, scores, strict=True))
    most = max(r for r, _ in chance.values())
    least = sum(p for r, p in chance.values() if r == pytest.approx(most))
    shown = least_log_pvalue(secant.assess(y, scores, sample_weight=weights)._blocks)
    assert math.exp(shown) == pytest.approx(least, rel=1e-9)


def test_a_pvalue_at_the_level_is_a_finding():
    """1 - 0.9 is a little less than 0.1."""
    result = secant.assess([0, 1], [0.4, 0.6], confidence_level=0.9)
    for adjusted, found in ((0.1, True), (0.1 + 1e-9, False)):
        groups = ranked(["a"], [result], np.array([adjusted]), adjust="holm", by=("group",))
        assert bool(groups.failing) is found
        decided = result._decided
        pvalue = decided.pvalue._replace(log10=math.log10(adjusted))
        assert replace(result, _decided=decided._replace(pvalue=pvalue)).found is found


# --- few events -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "b", "factor"), [(20, 1000, 20), (50, 200, 10), (100, 500, 5)])
def test_limits_hold_where_few_events_are_expected(n, b, factor):
    """Events far more frequent than forecast, and still too rare to show in most samples."""
    rng = np.random.default_rng(n)
    p = np.sort(rng.beta(1, b, n))
    chance = np.minimum(factor * p, 1)
    truth = np.concatenate([[0], np.cumsum(chance - p)]) / n
    draws = 1000
    held = 0
    for _ in range(draws):
        result = secant.assess(rng.random(n) < chance, p, method="asymptotic")
        low, high = result.ecce_r.ci
        path = result.curve.difference
        half = result._predictions.half_width(1.0)
        everywhere = np.ptp(path - truth) <= half
        held += (low <= np.ptp(truth) <= high) and everywhere
    assert held >= draws * 0.95 - 3 * math.sqrt(draws * 0.95 * 0.05)


@pytest.mark.parametrize(("low", "high"), [(0.2, 0.6), (0.0, 1.0), (0.9, 0.95)])
@pytest.mark.parametrize("level", [0.9, 0.999])
def test_a_weighted_range_fixed_in_advance(low, high, level):
    rng = np.random.default_rng(5)
    p, w = rng.random(400), rng.lognormal(0, 1, 400)
    y = rng.random(400) < p**1.5
    found = secant.assess(y, p, sample_weight=w, confidence_level=level)
    found = found.between(low, high, fixed_in_advance=True)
    inside = (p >= low) & (p <= high)
    r, s, v = y[inside], p[inside], w[inside]
    around_mean = (v**2 * (r - np.average(r, weights=v)) ** 2).sum()
    calibrated = (v**2 * s * (1 - s)).sum()
    alpha = 1 - level
    quantile = NormalDist().inv_cdf(1 - alpha / 2)
    # What may not have shown: the largest steps of all rows, one, two, up to twelve of them.
    steps = np.sort(np.maximum(w * p, w * (1 - p)))[::-1][:12]
    missed = max(
        step * max(quantile * math.sqrt(k) / 2, k * (1 - (alpha / 2) ** (1 / k)))
        for k, step in enumerate(steps, 1)
    )
    gap = (v * (r - s)).sum() / v.sum()
    half = math.hypot(quantile * math.sqrt(max(around_mean, calibrated)), missed) / v.sum()
    mean = np.average(s, weights=v)
    wanted = max(gap - half, -mean), min(gap + half, 1 - mean)
    assert found.ci == pytest.approx(wanted, abs=1e-12)
    assert found.miscalibration == pytest.approx(gap, abs=1e-12)


def test_responses_vary_around_their_mean_in_ranges_of_equal_weight():
    rng = np.random.default_rng(2)
    o0, o1 = 20.0, 1.0
    n0, n1 = rng.integers(1, 50, (2, 300))
    weight, w1 = n0 * o0 + n1 * o1, n1 * o1
    moments = SimpleNamespace(ww0=n0 * o0**2, ww1=n1 * o1**2)
    blocks = SimpleNamespace(weight=weight, w1=w1, moments=moments)
    total, pools = weight.sum(), {}
    for k in range(300):  # a block belongs to the range that holds its middle
        middle = weight[:k].sum() + weight[k] / 2
        pools.setdefault(min(int(middle * _POOLS / total), _POOLS - 1), []).append(k)
    wanted = 0.0
    for ks in pools.values():
        p = w1[ks].sum() / weight[ks].sum()
        wanted += sum(n1[k] * o1**2 * (1 - p) ** 2 + n0[k] * o0**2 * p**2 for k in ks)
    assert 1 < len(pools) <= _POOLS
    assert pooled(blocks) == pytest.approx(wanted, rel=1e-12)


def test_blocks_across_two_ranges_of_equal_weight_are_resolved():
    class Table(SimpleNamespace):
        def __len__(self):
            return self.weight.size

    weight = np.full(10 * _POOLS + 5, 1.0)
    table = Table(weight=weight, open=np.ones(weight.size, bool))
    cuts = [weight.sum() * k / _POOLS for k in range(1, _POOLS)]
    assert np.flatnonzero(across_pools(table)).tolist() == [math.ceil(cut) - 1 for cut in cuts]
    table.open[:] = False
    assert not across_pools(table).any()
