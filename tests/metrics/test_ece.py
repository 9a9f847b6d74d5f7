"""Bins: counted one by one as the oracle, their limits, and the paper's own numbers."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import secant
from helpers import optional
from samples import EXACT, MANY, N_MANY, RELATIVE, as_many, copies, miscalibrated, predictions
from secant._metrics.ece import Binning, _across_edges

STRATEGY = {"equispaced": "uniform", "equal-count": "quantile"}


def test_binned_metrics(case):
    golden, y, p = case
    for entry in golden["ece"]:
        for weighting in ("width", "count"):
            options = {
                "n_bins": entry["n_bins"],
                "strategy": STRATEGY[entry["bins"]],
                "weighting": weighting,
            }
            ece1 = secant.ece(y, p, **options)
            ece2 = secant.ece(y, p, norm="l2", squared=True, **options)
            assert ece1 == pytest.approx(entry[f"{weighting}_ece1"], **RELATIVE)
            assert ece2 == pytest.approx(entry[f"{weighting}_ece2"], **RELATIVE)


# --- bins -----------------------------------------------------------------------------------------


OPTIONS = [
    {"strategy": strategy, "norm": norm, "squared": squared, "weighting": weighting}
    for strategy in ("uniform", "quantile")
    for norm, squared in (("l1", False), ("l2", False), ("l2", True), ("max", False))
    for weighting in ("count", "width")
]


@pytest.mark.parametrize("n", [700, N_MANY])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(map(str, o.values())))
def test_both_ways_to_the_binned_error_agree(options, n):
    rng = np.random.default_rng(n)
    p = MANY["half tied"](rng)[:n]
    y = (rng.random(n) < p**1.05).astype(int)
    for weights in (None, np.linspace(0.5, 2, n)):
        error = secant.assess(y, p, sample_weight=weights, method="asymptotic").ece(
            n_bins=10, **options
        )
        direct = secant.ece(y, p, n_bins=10, sample_weight=weights, **options)
        assert error.value == pytest.approx(direct, **EXACT)
        assert {name: getattr(error, name) for name in options} == options
        assert error.n_bins == len(error.bins.count) == 10


@given(predictions(), st.integers(1, 20), st.booleans())
@example((np.array([0, 1, 1]), np.array([0.0, 1 / 3, 2 / 3]), None, "sampling"), 3, False)
def test_uniform_bins_equal_counting(data, m, cut):
    y, p, w, kind = data
    with as_many(cut):
        bins = secant.assess(y, p, sample_weight=w, weight_kind=kind).reliability(n_bins=m)
    y, p, w = copies(y, p, w, kind)
    edges = [b / m for b in range(m + 1)]
    assert bins.edges.tolist() == edges
    for b in range(m):
        inside = (p <= edges[b + 1]) & ((p > edges[b]) if b else True)
        assert bins.count[b] == inside.sum()
        assert bins.weight[b] == pytest.approx(w[inside].sum() / w.sum(), **EXACT)
        if inside.any():
            loose = {"rel": 0, "abs": 1e-12 / min(1, bins.weight[b])}
            assert bins.mean_score[b] == pytest.approx(
                np.average(p[inside], weights=w[inside]), **loose
            )
            assert bins.mean_response[b] == pytest.approx(
                np.average(y[inside], weights=w[inside]), **loose
            )
        else:
            empty = (bins.mean_score, bins.mean_response, bins.low, bins.high)
            assert np.isnan([column[b] for column in empty]).all()


@pytest.mark.parametrize(("n", "m"), [(10, 1), (10, 3), (10, 10), (103, 7)])
def test_quantile_bins_of_distinct_scores(n, m):
    rng = np.random.default_rng(n * m)
    y, p = rng.integers(0, 2, n), rng.permutation(np.linspace(0.01, 0.99, n))
    bins = secant.assess(y, p).reliability(n_bins=m, strategy="quantile")
    order, q = np.argsort(p), n // m
    groups = [order[b * q : (b + 1) * q if b < m - 1 else n] for b in range(m)]
    assert bins.count == pytest.approx([len(group) for group in groups], **EXACT)
    assert bins.mean_score == pytest.approx([p[group].mean() for group in groups], **EXACT)
    assert bins.mean_response == pytest.approx([y[group].mean() for group in groups], **EXACT)
    assert bins.edges.tolist() == [p[group[0]] for group in groups] + [1.0]


def test_a_tie_across_a_quantile_edge_is_shared():
    # Two bins of three rows: the first holds the row at 0.2 and two thirds of the tie at 0.4.
    y, p = np.array([1, 1, 0, 0, 0, 1]), np.array([0.2, 0.4, 0.4, 0.4, 0.9, 0.9])
    for order in (np.arange(6), np.arange(6)[::-1], np.array([3, 0, 5, 2, 4, 1])):
        bins = secant.assess(y[order], p[order]).reliability(n_bins=2, strategy="quantile")
        assert bins.count == pytest.approx([3, 3], **EXACT)
        assert bins.mean_score == pytest.approx([1 / 3, (0.4 + 1.8) / 3], **EXACT)
        assert bins.mean_response == pytest.approx([(1 + 2 / 3) / 3, (1 / 3 + 1) / 3], **EXACT)
        assert bins.edges.tolist() == [0.2, 0.4, 1.0]


@given(predictions(), st.integers(1, 5), st.sampled_from(["uniform", "quantile"]))
def test_bins_of_copies_equal_bins_of_repeated_rows(data, m, strategy):
    y, p, w, _ = data
    w = np.ones(len(y), int) if w is None else np.ceil(w % 5).astype(int) + 1
    m = min(m, len(y))
    copied = secant.assess(y, p, sample_weight=w, weight_kind="frequency")
    repeated = secant.assess(np.repeat(y, w), np.repeat(p, w))
    one, two = (r.reliability(n_bins=m, strategy=strategy) for r in (copied, repeated))
    for name in ("edges", "count", "weight", "mean_score", "mean_response", "low", "high"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), nan_ok=True, **EXACT)


@pytest.mark.parametrize("limits", ["clopper-pearson", "wilson"])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_limits_of_bins(limits, level):
    scipy_stats = optional("scipy.stats")
    rng = np.random.default_rng(1)
    p = rng.random(400) ** 3
    y = rng.random(400) < p
    y[p > 0.9], y[p < 0.1] = True, False  # bins without failures, without events
    bins = secant.assess(y, p, confidence_level=level).reliability(n_bins=10, limits=limits)
    assert (bins.limits, bins.confidence_level, bins.strategy) == (limits, level, "uniform")
    method = {"clopper-pearson": "exact", "wilson": "wilson"}[limits]
    for b in range(10):
        inside = (p > b / 10) & (p <= (b + 1) / 10)
        test = scipy_stats.binomtest(int(y[inside].sum()), int(inside.sum()))
        expected = test.proportion_ci(level, method)
        # binomtest finds the exact limits by bisection, to about 1e-12.
        assert (bins.low[b], bins.high[b]) == pytest.approx(expected, rel=0, abs=1e-11)
    assert 0 in bins.low
    assert 1 in bins.high


def test_limits_of_weighted_bins_use_the_effective_number():
    y, p = miscalibrated(1000)
    equal = secant.assess(y, p, sample_weight=np.full(1000, 3.0)).reliability()
    plain = secant.assess(y, p).reliability()
    assert equal.low == pytest.approx(plain.low, **EXACT)
    uneven = secant.assess(
        y, p, sample_weight=np.where(np.arange(1000) % 2, 1.0, 20.0)
    ).reliability()
    assert (uneven.high - uneven.low > plain.high - plain.low).all()


def test_a_bin_of_very_unequal_weights():
    """One row that dwarfs the others of its bin must not end in a division by zero."""
    error = secant.assess([0, 1], [0.1, 0.15], sample_weight=[1, 1e-20]).ece(n_bins=2, norm="l2")
    assert math.isfinite(error.debiased)
    json.dumps(error.to_dict(), allow_nan=False)


def test_bins_of_single_rows_are_counted():
    error = secant.assess([0, 1, 1], [0.1, 0.15, 0.9]).ece(n_bins=4, norm="l2", squared=True)
    assert error.dropped_bins == 1
    assert secant.assess([0, 1, 1], [0.1, 0.15, 0.9]).ece(n_bins=4).dropped_bins == 0  # l1: none


def test_quantile_bins_look_into_the_blocks_of_their_cuts_alone():
    weight = np.full(1000, 2.0)
    totals = SimpleNamespace(n=2000, weight=2000.0)
    binning = Binning(n_bins=7, strategy="quantile")
    marked = _across_edges(totals, binning)(SimpleNamespace(weight=weight))
    inside = 285 * np.arange(1, 7)  # whole observations, 2000 // 7 of them in a bin
    assert marked[inside // 2].all()
    assert marked.sum() <= 2 * (len(inside) + 2)  # both sides of a cut, and the two ends
