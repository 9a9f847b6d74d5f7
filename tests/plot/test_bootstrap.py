"""Resampling counts is resampling rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from datasets import datasets
from secant._input.observations import observations
from secant.plot._bootstrap import resample_result, resample_rows
from secant.sources import rows as row_source

strategies = st.sampled_from(["uniform", "quantile"])


def averages(y, p, w=None, *, n_bins, strategy):
    """Mean score and mean response of the bins of some rows."""
    result = secant.assess(y, p, sample_weight=w, method="asymptotic")
    bins = result.reliability(n_bins=n_bins, strategy=strategy, limits="wilson")
    return bins.mean_score, bins.mean_response


@given(datasets(weighted=False, most=60), st.integers(1, 8), strategies, st.integers(0, 9))
def test_a_resample_has_the_bins_of_the_rows_drawn(data, n_bins, strategy, seed):
    y, p, _ = data
    p = p.astype(np.float64)
    n_bins = min(n_bins, len(p))
    result = secant.assess(y, p)
    drawn = resample_result(result, n_bins=n_bins, strategy=strategy, size=2, rng=seed)
    rng = np.random.default_rng(seed)
    scores = np.unique(p)
    kinds = np.concatenate([scores, scores]), np.repeat([0, 1], len(scores))
    counts = np.array([((p == s) & (y == r)).sum() for s, r in zip(*kinds, strict=True)])
    for number in range(2):
        times = rng.multinomial(len(p), counts / len(p))
        rows = np.repeat(kinds[1], times), np.repeat(kinds[0], times)
        score, response = averages(*rows, n_bins=n_bins, strategy=strategy)
        assert drawn.mean_score[number] == pytest.approx(score, abs=1e-12, nan_ok=True)
        assert drawn.mean_response[number] == pytest.approx(response, abs=1e-12, nan_ok=True)


@given(datasets(most=60), st.integers(1, 8), strategies, st.integers(0, 9))
def test_weighted_rows_are_drawn_one_by_one(data, n_bins, strategy, seed):
    y, p, w = data
    if w is None:
        return
    y, p, w = y[w > 0], p[w > 0].astype(np.float64), w[w > 0]
    n_bins = min(n_bins, len(p))
    result, seen = secant.assess(y, p, sample_weight=w), observations(y, p, w)
    drawn = resample_rows(seen, result, n_bins=n_bins, strategy=strategy, size=2, rng=seed)
    rng = np.random.default_rng(seed)
    for number in range(2):
        rows = rng.integers(len(p), size=len(p))
        expected = averages(y[rows], p[rows], w[rows], n_bins=n_bins, strategy=strategy)
        assert drawn.mean_score[number] == pytest.approx(expected[0], abs=1e-12, nan_ok=True)
        assert drawn.mean_response[number] == pytest.approx(expected[1], abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("route", ["ties", "cells"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_lines_vary_like_those_of_resampled_rows(route, strategy, monkeypatch):
    if route == "cells":
        monkeypatch.setattr(row_source, "SORT_UP_TO", 0)
    rng = np.random.default_rng(7)
    n, size, options = 900, 200, {"n_bins": 6, "strategy": strategy}
    p = rng.beta(2, 2, n)
    y = (rng.random(n) < p**1.5).astype(int)
    drawn = resample_result(secant.assess(y, p), **options, size=size, rng=1)
    rows = rng.integers(n, size=(size, n))
    direct = np.array([averages(y[each], p[each], **options) for each in rows])
    for ours, theirs in zip(drawn, direct.transpose(1, 0, 2), strict=True):
        spread = theirs.std(axis=0)
        # Six standard errors of a difference of means, and of a ratio of standard deviations.
        assert (
            np.abs(ours.mean(axis=0) - theirs.mean(axis=0)).max()
            < (6 * spread * np.sqrt(2 / size)).max()
        )
        assert ours.std(axis=0) / spread == pytest.approx(1, abs=6 / np.sqrt(size))


def test_cells_respect_the_edges_of_uniform_bins(monkeypatch):
    monkeypatch.setattr(row_source, "SORT_UP_TO", 0)
    rng = np.random.default_rng(7)
    p = rng.integers(0, 1001, 5000) / 1000
    drawn = resample_result(
        secant.assess(rng.random(5000) < p, p), n_bins=50, strategy="uniform", size=5, rng=0
    )
    edges = np.arange(51) / 50
    assert (drawn.mean_score >= edges[:-1]).all()
    assert (drawn.mean_score <= edges[1:]).all()


def test_frequency_weights_are_resampled_as_copies():
    y, p, w = np.array([0, 1, 1, 0]), np.array([0.2, 0.4, 0.6, 0.9]), np.array([5, 3, 8, 2])
    counted = secant.assess(y, p, sample_weight=w, weight_kind="frequency")
    repeated = secant.assess(np.repeat(y, w), np.repeat(p, w))
    options = {"n_bins": 3, "strategy": "quantile", "size": 4}
    one, other = (resample_result(each, **options, rng=2) for each in (counted, repeated))
    assert (one.mean_score == other.mean_score).all()
    assert (one.mean_response == other.mean_response).all()


def test_the_generator_decides():
    result = secant.assess([0, 1, 1, 0, 1], [0.2, 0.4, 0.6, 0.7, 0.9])
    options = {"n_bins": 2, "strategy": "uniform", "size": 10}
    first, again, other = (resample_result(result, **options, rng=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.mean_response, again.mean_response, equal_nan=True)
    assert not np.array_equal(first.mean_response, other.mean_response, equal_nan=True)
    generator = np.random.default_rng(3)
    resample_result(result, **options, rng=generator)
    assert generator.random() != np.random.default_rng(3).random()  # it was used, not copied
