"""Two models on the same outcomes: laws, coverage where it is hardest, and inputs at the edge."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets import KINDS, datasets
from helpers import optional
from oracle import ecce, sigma
from samples import compare_models
from secant import null
from secant._inference.limits import unseen
from secant._input.observations import observations
from secant.sources.rows import RowSource

EXACT = {"rel": 0, "abs": 1e-12}
Z, Q = 1.959963984540054, null.range.isf(0.025)


@st.composite
def two_models(draw, **kwargs):
    y, a, w = draw(datasets(**kwargs))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return y, a, KINDS[draw(st.sampled_from(sorted(KINDS)))](rng, len(y)), w


def noise(y, p, w, quantile):
    """Return what noise exceeds in 2.5% of samples, events that did not show among it."""
    totals = RowSource(observations(y, p, w)).blocks()[1]
    w = np.ones(len(p)) if w is None else w
    p = p.astype(float)
    seen = max(sigma(p, w), np.sqrt((w**2 * (y - p) ** 2).sum()) / w.sum())
    return math.hypot(quantile * seen, unseen(totals, quantile, 0.025)) if seen else 0.0


@given(two_models())
def test_it_equals_the_formula(data):
    y, a, b, w = data
    result = compare_models(y, a, b, w)
    r_a, r_b = ecce(y, a, w)[0], ecce(y, b, w)[0]
    assert (result.ecce_r_a, result.ecce_r_b) == pytest.approx((r_a, r_b), **EXACT)
    one_a, one_b = noise(y, a, w, Z), noise(y, b, w, Z)
    if min(one_a, one_b) == 0 or np.array_equal(a, b):
        return
    low = max(r_a - r_b - noise(y, a, w, Q) - one_b, -1)
    high = min(r_a - r_b + one_a + noise(y, b, w, Q), 1)
    assert result.ci == pytest.approx((low, high), rel=1e-9, abs=1e-9)
    assert result.difference == pytest.approx(r_a - r_b, **EXACT)


@given(two_models())
def test_swapping_the_models_flips_the_sign(data):
    y, a, b, w = data
    first, second = compare_models(y, a, b, w), compare_models(y, b, a, w)
    assert first.difference == -second.difference
    assert first.ci == pytest.approx((-second.ci[1], -second.ci[0]), **EXACT)
    swapped = {None: None, "A": "B", "B": "A"}
    assert first.better == swapped[second.better]


@given(two_models(), st.integers(0, 2**32))
def test_row_order_does_not_matter(data, seed):
    y, a, b, w = data
    order = np.random.default_rng(seed).permutation(len(y))
    first = compare_models(y, a, b, w)
    second = compare_models(y[order], a[order], b[order], None if w is None else w[order])
    assert first.difference == pytest.approx(second.difference, **EXACT)
    assert first.ci == pytest.approx(second.ci, **EXACT)


@given(two_models(), st.floats(1e-3, 1e3))
def test_the_scale_of_weights_does_not_matter(data, scale):
    y, a, b, w = data
    w = np.ones(len(y)) if w is None else w
    first, second = compare_models(y, a, b, w), compare_models(y, a, b, w * scale)
    assert first.difference == pytest.approx(second.difference, rel=1e-9, abs=1e-12)
    assert first.ci == pytest.approx(second.ci, rel=1e-9, abs=1e-12)


@given(two_models())
def test_turning_events_round_changes_nothing(data):
    y, a, b, w = data
    a, b = (1 - (1 - p.astype(float)) for p in (a, b))
    first, second = compare_models(y, a, b, w), compare_models(1 - y, 1 - a, 1 - b, w)
    assert first.difference == pytest.approx(second.difference, **EXACT)
    assert first.ci == pytest.approx(second.ci, **EXACT)


@given(two_models(), st.floats(0.5, 0.95))
def test_a_higher_level_gives_wider_limits(data, level):
    y, a, b, w = data
    narrow, wide = (
        compare_models(y, a, b, w, confidence_level=c) for c in (level, (1 + level) / 2)
    )
    assert wide.ci[0] <= narrow.ci[0] <= narrow.difference <= narrow.ci[1] <= wide.ci[1]


@given(datasets())
def test_the_same_scores_differ_by_nothing(data):
    y, p, w = data
    result = compare_models(y, p, p.copy(), w)
    assert (result.difference, result.ci, result.better) == (0, (0, 0), None)
    assert str(result).startswith("The two models give the same scores.")


def test_a_model_that_is_certain_and_right_has_hoeffdings_limits():
    n = 1000
    y = np.arange(n) % 2
    b = np.full(n, 0.5)
    result = compare_models(y, y.astype(float), b)
    hoeffding = math.sqrt(2 * math.log(2 / 0.025) / n)
    expected = -hoeffding - noise(y, b, None, Z), hoeffding + noise(y, b, None, Q)
    assert result.ci == pytest.approx(expected, rel=1e-9)


REGIMES = {
    "both calibrated": (lambda p: p, lambda p: np.full_like(p, 0.5), 0.0),
    "one clearly off": (lambda p: p, lambda p: p**1.5, 1 / 2.5 - 0.5),
    "equally off": (lambda p: p + 0.1 * (0.5 - p), lambda p: np.where(p < 0.5, 0.9 * p, p), None),
    "ties": (lambda p: (np.floor(10 * p) + 0.5) / 10, lambda p: np.ceil(10 * p) / 10, -0.05),
}


@pytest.mark.parametrize("regime", REGIMES)
def test_limits_cover_the_truth(regime):
    """At most what 5% can be among 200 data sets, at odds of 10,000 to 1 (binomial)."""
    model_a, model_b, truth = REGIMES[regime]
    if truth is None:  # both are monotone in p, so the true path is an integral over p
        grid = (np.arange(200_000) + 0.5) / 200_000
        truth = ecce(grid, model_a(grid))[0] - ecce(grid, model_b(grid))[0]
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(200):
        p = rng.random(500)
        low, high = compare_models(rng.random(500) < p, model_a(p), model_b(p)).ci
        missed += not low <= truth <= high
    assert missed <= 23  # scipy.stats.binom.isf(1e-4, 200, 0.05)


def test_the_threshold_of_the_coverage_test_is_binomial():
    assert optional("scipy.stats").binom.isf(1e-4, 200, 0.05) == 23


def test_quantiles_of_the_two_noises_add_up_to_a_bound():
    """Range and end of one random walk: fully correlated, which is the worst case found."""
    rng = np.random.default_rng(1)
    steps = 2 * rng.integers(0, 2, (4000, 1000)) - 1
    walk = np.cumsum(steps, axis=1) / math.sqrt(1000)
    span = walk.max(axis=1, initial=0) - walk.min(axis=1, initial=0)
    for ratio in (0.3, 1, 3):
        bound = Q + ratio * Z
        exceeded = int((span + ratio * walk[:, -1] > bound).sum())
        assert exceeded <= 139  # scipy.stats.binom.isf(1e-4, 4000, 0.025)
