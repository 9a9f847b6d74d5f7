"""Paths drawn event by event go as far as often as they do for certain."""

import math

import numpy as np
import pytest

from secant._blocks import grains
from secant._inference.finite import certified_r
from secant._inference.path import observe, observe_grains
from secant._inference.rare_draws import events, share_as_extreme

DRAWS = 4000

TABLES = {
    "rare": lambda rng: (0.02 * rng.random(300), np.ones(300, int), np.arange(300)),
    "ties that are hardly rare": lambda rng: (
        np.array([0.05, 0.2, 0.3, 0.45]),
        np.array([40, 9, 7, 5]),
        np.arange(4),
    ),
    "few places": lambda rng: (0.04 * rng.random(240), np.ones(240, int), np.arange(59, 240, 60)),
    "failures are rare": lambda rng: (
        1 - 0.02 * rng.random(300),
        np.ones(300, int),
        np.arange(1, 300, 2),
    ),
    "one event at most": lambda rng: (np.array([0.1, 0.2]), np.ones(2, int), np.arange(2)),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", TABLES)
def test_shares_are_probabilities(kind, seed):
    rng = np.random.default_rng(seed)
    score, n, ends = TABLES[kind](rng)
    n1 = rng.binomial(n, score)
    path, _, c = observe(score, n, n1, ends)
    share = share_as_extreme(path, c, rng=rng, draws=DRAWS)
    low, high = (10**bound for bound in certified_r(score, n, n1, ends))
    error = 4.5 * math.sqrt(high * (1 - low) / DRAWS) + 1 / DRAWS
    assert low - error <= share <= high + error
    expected = (n * np.minimum(score, 1 - score)).sum()
    assert expected <= events(path) <= -n @ np.log1p(-np.minimum(score, 1 - score)) * (1 + 1e-9)


def test_grains_have_the_paths_of_their_rows(monkeypatch):
    monkeypatch.setattr(grains, "MANY_TIES", 1)
    rng = np.random.default_rng(1)
    score = np.sort(0.01 * rng.random(3000))
    ties = score, np.ones(3000, int), (rng.random(3000) < score).astype(int)
    whole, _, c = observe(*ties)
    pooled, _, _ = observe_grains(grains.grind(grains.Ties(*ties), 0.01))
    assert len(pooled) < len(whole) / 2
    shares = [
        share_as_extreme(path, c, rng=np.random.default_rng(2), draws=DRAWS)
        for path in (whole, pooled)
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)


def test_the_memory_at_hand_changes_what_is_drawn_together_only(monkeypatch):
    score = np.full(200, 0.05)
    path, _, c = observe(score, np.ones(200, int), np.zeros(200, int))
    monkeypatch.setattr("secant._inference.rare_draws._POINTS", 1)
    share = share_as_extreme(path, 0.0 * c, rng=np.random.default_rng(0), draws=50)
    assert share == 1.0
    assert share_as_extreme(path, 1e9, rng=np.random.default_rng(0), draws=50) == 1 / 51


def test_scores_on_both_sides_are_not_drawn_for():
    path, _, _ = observe(np.array([0.1, 0.9]), np.ones(2, int), np.array([0, 1]))
    assert events(path) is None
