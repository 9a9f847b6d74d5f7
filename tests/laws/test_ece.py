"""Laws of the binned metrics, against definitions written down row by row."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import secant
from datasets import KINDS, WEIGHTS, datasets, make
from secant.sources import rows as row_source

BINS = st.integers(1, 40)
STRATEGIES = st.sampled_from(["uniform", "quantile"])
WEIGHTINGS = st.sampled_from(["count", "width"])


def row_shares(p, m, strategy, w):
    """a[i, j]: the weight with which row i enters bin j; and each bin's width."""
    w = np.ones(len(p)) if w is None else np.asarray(w, float)
    if strategy == "uniform":
        a = np.zeros((len(p), m))
        a[np.arange(len(p)), oracle.uniform_bins(p, m)] = w
        return a, np.full(m, 1 / m)
    a = oracle.shares(p, m, w)
    first = [np.min(np.asarray(p, float)[a[:, j] > 1e-9]) for j in range(m)]
    return a * w[:, None], np.diff([*first, 1.0])


def importance(a, width, weighting):
    return width if weighting == "width" else a.sum(axis=0) / a.sum()


def drop_weightless(y, p, w):
    if w is None:
        return y, p, None
    return y[w > 0], p[w > 0], w[w > 0]


@pytest.fixture(params=["sorted", "cells"])
def route(request, monkeypatch):
    if request.param == "cells":
        monkeypatch.setattr(row_source, "SORT_UP_TO", 0)
        monkeypatch.setattr(row_source, "CHUNK", 64)
        monkeypatch.setattr(row_source, "COLLECT_UP_TO", 50)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_every_norm_equals_its_definition(route, kind, weight, strategy):
    for seed, m in enumerate((1, 3, 10, 49)):
        y, p, w = drop_weightless(*make(kind, weight, 150, seed))
        a, width = row_shares(p, m, strategy, w)
        for weighting in ("count", "width"):
            factor = importance(a, width, weighting)
            options = {"n_bins": m, "strategy": strategy, "weighting": weighting}
            ece1 = secant.ece(y, p, sample_weight=w, **options)
            ece2 = secant.ece(y, p, sample_weight=w, norm="l2", squared=True, **options)
            root = secant.ece(y, p, sample_weight=w, norm="l2", **options)
            assert ece1 == pytest.approx(oracle.ece(y, p, a, factor), rel=1e-9, abs=1e-12)
            assert ece2 == pytest.approx(oracle.ece(y, p, a, factor, power=2), rel=1e-9, abs=1e-12)
            assert root == pytest.approx(math.sqrt(ece2), rel=1e-12)
            assert ece1 >= ece2
        filled = a.sum(axis=0) > 0
        largest = np.abs((y - p.astype(float)) @ a)[filled] / a.sum(axis=0)[filled]
        got = secant.ece(y, p, sample_weight=w, norm="max", n_bins=m, strategy=strategy)
        assert got == pytest.approx(largest.max(), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_noise_floor_and_debiased_value_equal_their_definitions(route, kind, weight, strategy):
    y, p, w = drop_weightless(*make(kind, weight, 150, 7))
    m = 12
    a, width = row_shares(p, m, strategy, w)
    p = p.astype(float)
    total = a.sum(axis=0)
    filled = total > 0
    v = p * (1 - p)
    variance = np.where(filled, (a**2).T @ v / np.where(filled, total, 1) ** 2, 0)
    for weighting in ("count", "width"):
        factor = importance(a, width, weighting)
        options = {"n_bins": m, "strategy": strategy, "weighting": weighting}
        result = secant.assess(y, p, sample_weight=w)
        square = result.ece(norm="l2", squared=True, **options)
        assert square.noise_floor == pytest.approx((factor * variance).sum(), rel=1e-9, abs=1e-15)
        root = result.ece(norm="l2", **options)
        assert root.noise_floor == pytest.approx(math.sqrt(square.noise_floor), rel=1e-12)
        floor = (factor * np.sqrt(2 * variance / math.pi)).sum()
        ece1 = result.ece(**options)
        assert ece1.noise_floor == pytest.approx(floor, rel=1e-9, abs=1e-12)
        assert ece1.debiased is None
        assert result.ece(norm="max", **options).noise_floor is None

        expected, dropped = 0.0, 0
        for j in np.flatnonzero(filled):
            share = a[:, j]
            if (share > 1e-9 * total[j]).sum() == 1:
                dropped += 1
                continue
            e = y - p
            mean = (share @ e) / total[j]
            s2 = (share**2).sum()
            spread = (share @ (e - mean) ** 2) / (total[j] - s2 / total[j])
            expected += factor[j] * (mean**2 - spread * s2 / total[j] ** 2)
        assert square.debiased == pytest.approx(expected, rel=1e-7, abs=1e-12)
        assert square.dropped_bins == dropped
        assert root.debiased == pytest.approx(math.sqrt(max(expected, 0)), rel=1e-6, abs=1e-6)


@given(datasets(), BINS, STRATEGIES, WEIGHTINGS, st.integers(0, 2**32))
def test_row_order_does_not_matter(data, m, strategy, weighting, seed):
    y, p, w = drop_weightless(*data)
    m = min(m, len(p))
    order = np.random.default_rng(seed).permutation(len(p))
    values = [
        secant.ece(
            y[rows],
            p[rows],
            sample_weight=None if w is None else w[rows],
            n_bins=m,
            strategy=strategy,
            weighting=weighting,
        )
        for rows in (np.arange(len(p)), order, np.lexsort((y, p)), np.lexsort((-y, p)))
    ]
    assert values == pytest.approx([values[0]] * 4, rel=1e-9, abs=1e-13)


@given(datasets(weighted=False, most=80), BINS, STRATEGIES, WEIGHTINGS, st.integers(0, 2**32))
def test_frequency_weights_equal_repeated_rows(data, m, strategy, weighting, seed):
    y, p, _ = data
    copies = np.random.default_rng(seed).integers(0, 4, len(p))
    copies[0] += 1
    m = min(m, int(copies.sum()))
    options = {"n_bins": m, "strategy": strategy, "weighting": weighting}
    counted = secant.assess(y, p, sample_weight=copies, weight_kind="frequency")
    repeated = secant.assess(np.repeat(y, copies), np.repeat(p, copies))
    for norm in ({}, {"norm": "l2", "squared": True}, {"norm": "max"}):
        a, b = counted.ece(**options, **norm), repeated.ece(**options, **norm)
        assert a.value == pytest.approx(b.value, rel=1e-9, abs=1e-13)
        if norm != {"norm": "max"}:
            assert a.noise_floor == pytest.approx(b.noise_floor, rel=1e-9, abs=1e-15)
        if "squared" in norm:
            assert a.debiased == pytest.approx(b.debiased, rel=1e-9, abs=1e-12)
        assert a.dropped_bins == b.dropped_bins
        assert a.bins.count == pytest.approx(b.bins.count, rel=1e-12)
        assert a.bins.low == pytest.approx(b.bins.low, rel=1e-7, abs=1e-9, nan_ok=True)


@given(datasets(weighted=False), BINS, STRATEGIES, WEIGHTINGS, st.floats(1e-3, 1e3))
def test_equal_weights_of_any_size_change_nothing(data, m, strategy, weighting, scale):
    y, p, _ = data
    options = {"n_bins": min(m, len(p)), "strategy": strategy, "weighting": weighting}
    plain = secant.ece(y, p, **options)
    equal = secant.ece(y, p, sample_weight=np.full(len(p), scale), **options)
    assert equal == pytest.approx(plain, rel=1e-9, abs=1e-12)


@given(st.integers(1, 5000), st.data())
def test_scores_on_an_edge_belong_to_the_bin_below(m, data):
    """Edges are the doubles b / m; ceil(s m) puts some of them into the wrong bin."""
    b = data.draw(st.integers(0, m))
    edge = b / m
    reliability = secant.assess([1], [edge]).reliability(n_bins=m)
    assert int(np.flatnonzero(reliability.count)[0]) == max(b - 1, 0)
    if 0 < b < m:
        above = secant.assess([1], [np.nextafter(edge, 1)]).reliability(n_bins=m)
        assert int(np.flatnonzero(above.count)[0]) == b


def test_quantile_bins_hold_equal_counts_and_the_last_the_rest():
    p = np.linspace(0.01, 0.99, 103)
    bins = secant.assess(np.arange(103) % 2, p).reliability(n_bins=10, strategy="quantile")
    assert bins.count.tolist() == [10.0] * 9 + [13.0]
    assert bins.edges.tolist() == [*p[0:100:10], 1.0]


def test_large_data_take_the_same_answer_through_cells():
    for kind in KINDS:
        for weight in ("none", "lognormal"):
            y, p, w = make(kind, weight, 150_000, 11)
            order = np.argsort(p, kind="stable")
            for strategy in ("uniform", "quantile"):
                through_cells = secant.ece(y, p, sample_weight=w, strategy=strategy, norm="l2")
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(row_source, "SORT_UP_TO", 1 << 30)
                    w_sorted = None if w is None else w[order]
                    sorting = secant.ece(
                        y[order], p[order], sample_weight=w_sorted, strategy=strategy, norm="l2"
                    )
                assert through_cells == pytest.approx(sorting, rel=1e-9, abs=1e-12)
