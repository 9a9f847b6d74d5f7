"""The multiscale scan: written down once more, laws, enumeration, size, and inputs at the edge."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from datasets import datasets
from helpers import optional
from secant._api import scan
from secant._inference.binomial import clopper_pearson
from secant._input.observations import observations
from ties import family


def oracle(y, p, w=None):
    """The statistic and its range of scores, one range after the other."""
    y, p = np.asarray(y, float), np.asarray(p, float)
    w = np.ones(len(p)) if w is None else np.asarray(w, float)
    keep = (p > 0) & (p < 1) & (w > 0)
    y, p, w = y[keep], p[keep], w[keep] / w[keep].mean()
    s = np.maximum(p, 1e-150)
    v = s * (1 - s)
    total = (w**2 * v).sum()
    unit = (w**3 * v).sum() / total
    scores = np.unique(p)
    ends = np.array([(w**2 * v)[p <= score].sum() for score in scores]) / total
    begins = np.concatenate([[0], ends[:-1]])
    best = (-math.inf, 0, 0)
    chosen = {(scores[0], scores[-1])}
    for scale in range(1, 13):
        if 2**scale > 2 * total / unit**2:
            break
        for first, length in itertools.product(range(2**scale), (2, 3)):
            a, b = first / 2**scale, (first + length) / 2**scale
            if b <= 1:
                met = scores[(ends > a + 1e-9) & (begins < b - 1e-9)]
                chosen.add((met[0], met[-1]))
    for low, high in chosen:
        i = (p >= low) & (p <= high)
        variance, third = (w[i] ** 2 * v[i]).sum(), (w[i] ** 3 * v[i]).sum()
        c = third / variance
        a = (w[i] ** 3 * v[i] * s[i]).sum() / third
        b = (w[i] ** 3 * v[i] * (1 - s[i])).sum() / third
        m = variance / (c**2 * a * b)
        x = (w[i] * (y[i] - p[i])).sum() / (c * m)
        terms = [(min(max(a + x, 0), 1), a), (min(max(b - x, 0), 1), b)]
        entropy = sum(t * math.log(t / u) for t, u in terms if t > 0)
        value = math.sqrt(max(2 * m * entropy, 0)) - math.sqrt(
            2 * math.log(math.e * total / variance)
        )
        best = max(best, (value, low, high))
    return best, len(chosen)


@given(datasets(most=120))
def test_it_equals_the_loop(data):
    y, p, w = data
    result = secant.scan(y, p, sample_weight=w, draws=1)
    if not result.n_ranges:
        assert ((p == 0) | (p == 1))[np.ones(len(p), bool) if w is None else w > 0].all()
        return
    (value, _, _), count = oracle(y, p, w)
    assert result.statistic == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert result.n_ranges == count


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_the_range_the_loop_finds(seed):
    rng = np.random.default_rng(seed)
    p = rng.random(2000)
    y = rng.random(2000) < p + 0.5 * ((p > 0.3) & (p < 0.33))
    (value, low, high), count = oracle(y, p)
    result = secant.scan(y, p, draws=1)
    assert (result.worst.low, result.worst.high, result.n_ranges) == (low, high, count)
    assert result.statistic == pytest.approx(value, rel=1e-9)


def test_with_one_score_it_is_the_binomial_likelihood_ratio():
    n, k, s = 50, 21, 0.3
    result = secant.scan(np.arange(n) < k, np.full(n, s), draws=1)
    rate = k / n
    ratio = 2 * n * (rate * math.log(rate / s) + (1 - rate) * math.log((1 - rate) / (1 - s)))
    assert result.statistic == pytest.approx(math.sqrt(ratio) - math.sqrt(2))
    assert result.n_ranges == 1


@given(datasets(), st.integers(0, 2**32))
def test_row_order_does_not_matter(data, seed):
    y, p, w = data
    order = np.random.default_rng(seed).permutation(len(p))
    a = secant.scan(y, p, sample_weight=w, draws=19)
    b = secant.scan(y[order], p[order], sample_weight=None if w is None else w[order], draws=19)
    assert a.statistic == pytest.approx(b.statistic, rel=1e-6, abs=1e-6)
    assert (a.pvalue, a.n_ranges) == (b.pvalue, b.n_ranges)


@given(datasets(), st.integers(-9, 9))
def test_the_scale_of_weights_does_not_matter(data, exponent):
    y, p, w = data
    w = np.ones(len(p)) if w is None else w
    a = secant.scan(y, p, sample_weight=w, draws=19)
    b = secant.scan(y, p, sample_weight=w * 2.0**exponent, draws=19)
    assert a.to_dict() == b.to_dict()


@given(datasets(weighted=False), st.floats(1e-3, 1e3))
def test_equal_weights_are_no_weights(data, weight):
    y, p, _ = data
    plain = secant.scan(y, p, draws=19).to_dict()
    weighed = secant.scan(y, p, sample_weight=np.full(len(p), weight), draws=19).to_dict()
    share = plain["worst"].pop("weight"), weighed["worst"].pop("weight")
    assert share[0] == pytest.approx(share[1])
    assert plain == weighed


@given(datasets())
def test_turning_events_round_mirrors_the_statistic(data):
    y, p, w = data
    p = 1 - (1 - p.astype(float))
    a, b = (secant.scan(*rows, sample_weight=w, draws=1) for rows in ((y, p), (1 - y, 1 - p)))
    assert a.n_ranges == b.n_ranges
    assert a.statistic == pytest.approx(b.statistic, rel=1e-6, abs=1e-6)


@given(datasets())
def test_the_range_found_is_described_by_its_rows(data):
    y, p, w = data
    result = secant.scan(y, p, sample_weight=w, draws=1)
    if not result.n_ranges:
        return
    worst, weight = result.worst, np.ones(len(p)) if w is None else w
    rows = (p >= worst.low) & (p <= worst.high) & (weight > 0)
    assert worst.n == rows.sum()
    assert worst.weight == pytest.approx(weight[rows].sum() / weight.sum())
    assert worst.mean_score == pytest.approx(np.average(p[rows], weights=weight[rows]))
    assert worst.mean_response == pytest.approx(np.average(y[rows], weights=weight[rows]))
    gap = worst.mean_response - worst.mean_score
    assert worst.miscalibration == pytest.approx(gap, abs=1e-9)
    assert worst.ci[0] - 1e-9 <= gap <= worst.ci[1] + 1e-9


@pytest.mark.parametrize("w", [None, [1.0, 2.0, 1.5, 0.5, 1.0, 3.0, 1.0, 0.7]])
def test_the_pvalue_is_the_enumerated_one(w):
    """All 256 outcomes of eight rows; the Monte Carlo error of 9,999 draws is below .005."""
    p = np.array([0.1, 0.1, 0.3, 0.45, 0.6, 0.6, 0.8, 0.95])
    outcomes = np.array(list(itertools.product([0, 1], repeat=8)))
    chance = np.prod(np.where(outcomes, p, 1 - p), axis=1)
    results = [secant.scan(y, p, sample_weight=w, draws=9999) for y in outcomes]
    value = np.array([result.statistic for result in results])
    assert len(np.unique(value.round(6))) > 5
    for result in results:
        exact = min(1.0, chance[value >= result.statistic - 1e-9].sum())
        error = 5 * math.sqrt(exact * (1 - exact) / 9999) + 2e-4
        assert result.pvalue == pytest.approx(exact, abs=error)


@pytest.mark.parametrize("kind", ["uniform", "rare", "ten values"])
def test_size_is_not_above_nominal(kind):
    """The P-value is exact, so 400 null data sets are a check on the code, cheap and binomial."""
    rng = np.random.default_rng(7)
    p = {
        "uniform": rng.random(150),
        "rare": rng.beta(1, 50, 150),
        "ten values": rng.integers(0, 10, 150) / 10 + 0.05,
    }[kind]
    pvalues = [secant.scan(rng.random(150) < p, p).pvalue for _ in range(400)]
    for level, most in ((0.05, 38), (0.01, 13)):  # scipy.stats.binom.isf(1e-4, 400, level)
        assert np.sum(np.array(pvalues) <= level) <= most


def test_the_thresholds_of_the_size_test_are_binomial():
    stats = optional("scipy.stats")
    assert [stats.binom.isf(1e-4, 400, level) for level in (0.05, 0.01)] == [38, 13]


def test_limits_hold_for_all_ranges_at_once():
    """The exact probability that a range's limits miss, added up over all ranges, is below 5%."""
    rng = np.random.default_rng(4)
    p = np.sort(rng.random(60))
    truth = p ** rng.uniform(0.5, 2)
    seen = observations(rng.random(60) < truth, p)
    ties, ranges = family(seen.labels, p)
    missed = []
    for i, share in enumerate(ranges.share()):
        rows = slice(ranges.start[i], ranges.stop[i])
        n, mean = rows.stop - rows.start, truth[rows].mean()
        low, high = clopper_pearson(np.arange(n + 1), n, 1 - 0.05 * share)
        count = np.ones(1)  # the law of the number of events, one coin after the other
        for chance in truth[rows]:
            count = np.convolve(count, [1 - chance, chance])
        missed.append(count[(mean < low) | (mean > high)].sum())
        happened = int(seen.labels[rows].sum())
        shown = np.array(scan._interval(seen, ties, ranges, i, 0.95).ci) + p[rows].mean()
        assert shown == pytest.approx([low[happened], high[happened]], abs=1e-9)
    assert len(missed) > 20
    assert (np.array(missed) <= 0.05 * ranges.share()).all()
    assert 0 < sum(missed) <= 0.05


def test_weighted_limits_are_hoeffdings():
    rng = np.random.default_rng(4)
    p, w = np.sort(rng.random(60)), rng.lognormal(0, 1, 60)
    seen = observations(rng.random(60) < p, p, w)
    ties, ranges = family(seen.labels, p, w)
    for i, share in enumerate(ranges.share()):
        found = scan._interval(seen, ties, ranges, i, 0.95)
        rows = (p >= found.low) & (p <= found.high)
        scale = math.sqrt((w[rows] ** 2).sum()) / w[rows].sum()
        half = scale * math.sqrt(math.log(2 / (0.05 * share)) / 2)
        rate, score = found.mean_response, found.mean_score
        expected = max(rate - half, 0) - score, min(rate + half, 1) - score
        assert found.ci == pytest.approx(expected, abs=1e-9)


def test_a_narrow_defect_is_found_where_ecce_finds_nothing():
    rng = np.random.default_rng(0)
    p = rng.random(10_000)
    y = rng.random(10_000) < p + 0.3 * ((p > 0.5) & (p < 0.515))
    result = secant.scan(y, p)
    assert result.pvalue == 0.001
    assert 0.48 < result.worst.low < result.worst.high < 0.53
    assert result.worst.ci[0] > 0
    assert secant.assess(y, p).ecce_r.pvalue > 0.05
    assert str(result).startswith("A range of scores is off. Over scores 0.5")
    assert "twice the smaller P-value" in str(result)


def test_the_critical_value_and_the_pvalue_agree():
    rng = np.random.default_rng(3)
    p = rng.random(200)
    results = [secant.scan(rng.random(200) < p**1.2, p) for _ in range(100)]
    assert len({result.critical for result in results}) == 1
    assert {result.found for result in results} == {True, False}
    for result in results:
        assert result.found == (result.statistic > result.critical)
    few = secant.scan(rng.random(200) < p, p, draws=9)
    assert few.critical == math.inf
    assert not few.found
