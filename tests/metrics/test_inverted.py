"""Scores that look like chances of the opposite."""

import numpy as np
import pytest

import secant
from samples import miscalibrated


def relation(n, strength, base, seed=0):
    rng = np.random.default_rng(seed)
    odds = base / (1 - base) * np.exp(strength * rng.standard_normal(n))
    p = odds / (1 + odds)
    return (rng.random(n) < p).astype(int), p


def inverted(y, p, w=None):
    return secant.assess(y, p, sample_weight=w, method="asymptotic").inverted


@pytest.mark.parametrize("base", [0.01, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_column_of_the_other_class_is_recognised(base, weighted):
    y, p = relation(5000, 2.0, base)
    w = np.linspace(1, 3, 5000) if weighted else None
    assert inverted(y, 1 - p, w)
    assert not inverted(y, p, w)
    assert not inverted(1 - y, 1 - p, w)


@pytest.mark.parametrize("seed", range(20))
def test_scores_without_any_relation_are_not_inverted(seed):
    """Not even where the base rate is far off, so that 1 - score does fit better."""
    rng = np.random.default_rng(seed)
    p, y = rng.uniform(0.7, 1, 3000), (rng.random(3000) < 0.1).astype(int)
    assert not inverted(y, p)


def test_a_moved_base_rate_is_not_an_inversion():
    y, p = relation(5000, 1.5, 0.05)
    assert not inverted(y, p**0.1)
    assert not inverted(*miscalibrated(power=3))


@pytest.mark.parametrize(("y", "p"), [([1], [0.0]), ([0, 1], [1, 0]), ([1, 1], [0.2, 0.2])])
def test_little_data_say_nothing(y, p):
    assert not inverted(y, p)


def test_rounding_of_weights_is_no_error():
    assert not inverted([1, 1, 1], [0.0, 0.5, 0.0], [1.0, 48.0, 15.29570571])


def test_rows_taken_together_show_it_too():
    """Of many rows only sums over ranges of scores are kept."""
    y, p = relation(200_000, 1.5, 0.3)
    result = secant.assess(y, 1 - p)
    assert result._blocks.open.any()
    assert result.inverted
