"""Laws of the cumulative metrics, against a sort-based oracle."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import secant
from datasets import KINDS, WEIGHTS, datasets, make
from oracle import ecce, largest_interval_sum, path, sigma
from secant.sources import rows as row_source

EXACT = {"rel": 0, "abs": 1e-12}


@pytest.fixture(params=["sorted", "cells", "cells cut to the last double"])
def route(request, monkeypatch):
    """Send small data through the code for large data: cells, and cells cut again and again."""
    if request.param != "sorted":
        monkeypatch.setattr(row_source, "SORT_UP_TO", 0)
        monkeypatch.setattr(row_source, "CHUNK", 64)
        monkeypatch.setattr(row_source, "COLLECT_UP_TO", 50 if request.param == "cells" else 0)
        monkeypatch.setattr(row_source, "PIECES", 64)
    return request.param


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 37, 400])
def test_metrics_equal_the_oracle(route, kind, weight, n):
    for seed in range(5):
        y, p, w = make(kind, weight, n, seed)
        result = secant.assess(y, p, sample_weight=w)
        assert (result.ecce_r.value, result.ecce_mad.value) == pytest.approx(ecce(y, p, w), **EXACT)
        assert result.sigma == pytest.approx(sigma(p, w), rel=1e-13, abs=1e-300)
        counted = np.ones(n) if w is None else w
        assert result.mean_score == pytest.approx(np.average(p, weights=counted), rel=1e-13)
        assert result.base_rate == pytest.approx(np.average(y, weights=counted), rel=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_large_data_take_the_same_answer_through_cells(kind):
    y, p, w = make(kind, "none", 200_000, 1)
    assert (secant.ecce_r(y, p), secant.ecce_mad(y, p)) == pytest.approx(ecce(y, p), **EXACT)
    y, p, w = make(kind, "lognormal", 200_000, 2)
    got = secant.ecce_r(y, p, sample_weight=w), secant.ecce_mad(y, p, sample_weight=w)
    assert got == pytest.approx(ecce(y, p, w), **EXACT)


@given(datasets(most=60))
def test_ecce_r_is_the_largest_interval_sum(data):
    y, p, w = data
    expected = largest_interval_sum(y, p, w)
    assert secant.ecce_r(y, p, sample_weight=w) == pytest.approx(expected, **EXACT)


@given(datasets())
def test_mad_and_range_bound_each_other(data):
    y, p, w = data
    result = secant.assess(y, p, sample_weight=w)
    mad, r = result.ecce_mad.value, result.ecce_r.value
    assert 0 <= mad <= r <= 2 * mad
    assert r <= 1


@given(datasets(), st.integers(0, 2**32))
def test_row_order_does_not_matter(data, seed):
    y, p, w = data
    anyhow = np.random.default_rng(seed).permutation(len(p))
    for order in (anyhow, np.lexsort((y, p)), np.lexsort((-y, p))):
        shuffled = secant.assess(y[order], p[order], sample_weight=None if w is None else w[order])
        result = secant.assess(y, p, sample_weight=w)
        for name in ("ecce_r", "ecce_mad"):
            a, b = getattr(result, name), getattr(shuffled, name)
            assert a.value == pytest.approx(b.value, rel=0, abs=1e-13)
            assert a.pvalue == pytest.approx(b.pvalue, rel=1e-9, abs=1e-300)


@given(datasets(weighted=False, most=100), st.integers(0, 2**32))
def test_frequency_weights_equal_repeated_rows(data, seed):
    y, p, _ = data
    copies = np.random.default_rng(seed).integers(0, 4, len(p))
    copies[0] += 1
    counted = secant.assess(y, p, sample_weight=copies, weight_kind="frequency")
    repeated = secant.assess(np.repeat(y, copies), np.repeat(p, copies))
    assert counted.n == repeated.n
    assert counted.sigma == pytest.approx(repeated.sigma, rel=1e-13)
    for name in ("ecce_r", "ecce_mad"):
        a, b = getattr(counted, name), getattr(repeated, name)
        assert a.value == pytest.approx(b.value, rel=0, abs=1e-14)
        assert a.pvalue == pytest.approx(b.pvalue, rel=1e-9, abs=1e-300)
        assert a.ci == pytest.approx(b.ci, rel=1e-9, abs=1e-14)
    assert counted.worst.n == repeated.worst.n


def test_frequency_weights_equal_repeated_rows_in_cells(route):
    rng = np.random.default_rng(5)
    for kind in KINDS:
        y, p, _ = make(kind, "none", 150, 3)
        copies = rng.integers(0, 4, len(p))
        counted = secant.assess(y, p, sample_weight=copies, weight_kind="frequency")
        expected = ecce(np.repeat(y, copies), np.repeat(p, copies))
        assert (counted.ecce_r.value, counted.ecce_mad.value) == pytest.approx(expected, **EXACT)
        assert counted.sigma == pytest.approx(sigma(np.repeat(p, copies)), rel=1e-13)


@given(datasets(), st.floats(1e-3, 1e3))
def test_the_scale_of_sampling_weights_does_not_matter(data, scale):
    y, p, w = data
    w = np.ones(len(p)) if w is None else w
    a = secant.assess(y, p, sample_weight=w, method="asymptotic")
    b = secant.assess(y, p, sample_weight=w * scale, method="asymptotic")
    assume(min(a.sigma, b.sigma) > 1e-150 or a.sigma == b.sigma)  # squares of less vanish
    assert a.ecce_r.value == pytest.approx(b.ecce_r.value, rel=1e-9, abs=1e-14)
    assert a.sigma == pytest.approx(b.sigma, rel=1e-12)
    assert a.ecce_r.ci == pytest.approx(b.ecce_r.ci, rel=1e-9, abs=1e-14)


@given(datasets(weighted=False))
def test_unit_weights_change_nothing(data):
    y, p, _ = data
    plain, ones = secant.assess(y, p), secant.assess(y, p, sample_weight=np.ones(len(p)))
    assert ones.ecce_r.value == pytest.approx(plain.ecce_r.value, rel=0, abs=1e-14)
    assert ones.sigma == pytest.approx(plain.sigma, rel=1e-13)
    assert ones.ecce_r.ci == pytest.approx(plain.ecce_r.ci, rel=1e-9, abs=1e-14)


@given(datasets())
def test_turning_events_round_mirrors_everything(data):
    """Predicting the opposite with 1 - p: the same metrics, seen from the other end."""
    y, p, w = data
    p = 1 - (1 - p.astype(float))  # the smallest scores drown in 1 - p: round them first
    q = 1 - p
    a, b = (secant.assess(*args, sample_weight=w) for args in ((y, p), (1 - y, q)))
    assert a.ecce_r.value == pytest.approx(b.ecce_r.value, rel=0, abs=1e-13)
    assert a.sigma == pytest.approx(b.sigma, rel=1e-13)


@given(datasets())
def test_the_worst_interval_attains_ecce_r(data):
    y, p, w = data
    result = secant.assess(y, p, sample_weight=w)
    worst = result.worst
    if result.ecce_r.value < 1e-13:
        return
    assert abs(worst.miscalibration) * worst.weight == pytest.approx(result.ecce_r.value, abs=1e-13)
    rows = (p >= worst.low) & (p <= worst.high) & (True if w is None else w > 0)
    assert worst.n == rows.sum()
    assert worst.low in p
    assert worst.high in p


@pytest.mark.parametrize("happened", ["never", "always", "by chance"])
@pytest.mark.parametrize("kind", ["uniform", "half tied", "confident"])
def test_the_worst_interval_ends_at_scores_that_occur(route, kind, happened):
    """Also where the path only falls or only rises, so that one of its extremes is the origin."""
    y, p, _ = make(kind, "none", 20_000, 6)  # several scores in each cell
    y = {"never": np.zeros_like(y), "always": np.ones_like(y), "by chance": y}[happened]
    worst = secant.assess(y, p, method="asymptotic").worst
    assert {worst.low, worst.high} <= set(p.tolist())
    assert worst.n == ((p >= worst.low) & (p <= worst.high)).sum()


def test_the_curve_is_exact_at_every_point(route):
    for kind in KINDS:
        y, p, w = make(kind, "lognormal", 150, 4)
        curve = secant.assess(y, p, sample_weight=w).curve
        assert (curve.fraction[0], curve.difference[0]) == (0, 0)
        for score, fraction, difference in zip(
            curve.score[1:], curve.fraction[1:], curve.difference[1:], strict=True
        ):
            below = p <= score
            assert fraction == pytest.approx(w[below].sum() / w.sum(), rel=1e-12)
            expected = (w * (y - p))[below].sum() / w.sum()
            assert difference == pytest.approx(expected, **EXACT)
        assert curve.difference.max() - curve.difference.min() == pytest.approx(
            ecce(y, p, w)[0], **EXACT
        )


def test_distinct_scores_keep_every_point_of_a_small_curve():
    y, p, _ = make("tied", "none", 200, 0)
    score, c = path(y, p)
    curve = secant.assess(y, p).curve
    assert curve.score[1:].tolist() == score.tolist()
    assert curve.difference == pytest.approx(c, **EXACT)


@given(datasets(weighted=False), st.integers(0, 2**32))
def test_random_ties_can_only_add_points_to_the_path(data, seed):
    y, p, _ = data
    collapsed, shuffled = secant.assess(y, p), secant.assess(y, p, ties="random", rng=seed)
    assert shuffled.ecce_r.value >= collapsed.ecce_r.value - 1e-13
    assert shuffled.sigma == pytest.approx(collapsed.sigma, rel=1e-13)
    if len(np.unique(p)) == len(p):
        assert shuffled.ecce_r.value == pytest.approx(collapsed.ecce_r.value, rel=0, abs=1e-14)


def test_heavy_ties_are_summed_from_counts():
    """Adding .3 five million times drifts by 1e-9; counting does not."""
    n = 2_000_000
    p = np.where(np.arange(n) % 2 == 0, 0.3, np.linspace(0.4, 0.9, n))
    y = (np.arange(n) % 10 < 3).astype(np.int8)
    for rows in (slice(None), np.argsort(p, kind="stable")):
        got = secant.ecce_r(y[rows], p[rows]), secant.ecce_mad(y[rows], p[rows])
        assert got == pytest.approx(ecce(y, p), rel=0, abs=1e-13)
        w = np.full(n, 0.1)
        got = secant.ecce_r(y[rows], p[rows], sample_weight=w)
        assert got == pytest.approx(ecce(y, p)[0], rel=0, abs=1e-13)


@pytest.mark.parametrize("n", [1, 2, 50, 9000])
@pytest.mark.parametrize("digits", [1, 17])
def test_a_metric_alone_has_the_bits_of_the_whole_assessment(n, digits):
    """Few rows give their extremes without blocks, tied or not."""
    rng = np.random.default_rng(n)
    p = rng.random(n).round(digits)
    y = rng.random(n) < p
    result = secant.assess(y, p, method="asymptotic")
    assert secant.ecce_r(y, p) == result.ecce_r.value
    assert secant.ecce_mad(y, p) == result.ecce_mad.value
