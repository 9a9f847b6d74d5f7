"""What two models lose to miscalibration, compared row by row."""

import math
from itertools import product

import numpy as np
import pytest

import secant
from samples import EXACT, miscalibrated
from secant._inference import paired as module
from secant._inference.paired import in_loss, not_worse, paired


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    chance = rng.random(n)
    return (rng.random(n) < chance).astype(float), chance, rng


def test_costs_are_those_of_the_brier_scores():
    y, p, rng = rows()
    b, w = np.round(p, 1), rng.lognormal(0, 1, len(y))
    for weights in (None, w):
        found = paired(y, p, b, weights)
        wanted = [secant.assess(y, s, sample_weight=weights).brier.mcb for s in (p, b)]
        assert found.mcb == pytest.approx(wanted, **EXACT)


@pytest.mark.parametrize("weighted", [False, True])
def test_models_that_rank_alike_differ_in_brier_score_alone(weighted):
    """One recalibration serves both, so nothing is taken off: the test is Diebold and Mariano's."""
    y, p, rng = rows(2000)
    w = rng.lognormal(0, 1, len(y)) if weighted else np.ones(len(y))
    found = paired(y, p, p**1.5, w)
    each = (y - p) ** 2 - (y - p**1.5) ** 2
    mean = (w @ each) / w.sum()
    assert found.difference == pytest.approx(mean, **EXACT)
    seen = math.sqrt((w**2) @ (each - mean) ** 2) / w.sum()
    assert seen * (1 - 1e-12) <= found.error <= 1.1 * seen
    assert found.pvalue == pytest.approx(math.erfc(abs(mean) / found.error / math.sqrt(2)))


def test_what_a_fit_makes_of_noise_is_taken_off():
    """A constant is recalibrated for nothing, two hundred steps of calibrated scores are not."""
    differences, raw = [], []
    for seed in range(60):
        y, p, _ = rows(400, seed)
        found = paired(y, p, np.full(400, 0.5), None)
        differences.append(found.difference / found.error)
        raw.append((found.mcb[0] - found.mcb[1]) / found.error)
    assert np.mean(raw) > 2
    assert abs(np.mean(differences)) < 0.4


def test_neither_order_nor_scale_nor_name_matters():
    y, p, rng = rows()
    b, w = np.round(p, 1) * 0.9, rng.integers(1, 5, len(y)).astype(float)
    here = paired(y, p, b, w)
    order = rng.permutation(len(y))
    for other in (paired(y[order], p[order], b[order], w[order]), paired(y, p, b, 7 * w)):
        assert other.difference == pytest.approx(here.difference, **EXACT)
        assert other.pvalue == pytest.approx(here.pvalue, rel=1e-9)
    swapped = paired(y, b, p, w)
    assert swapped.difference == pytest.approx(-here.difference, **EXACT)
    assert swapped.pvalue == pytest.approx(here.pvalue, rel=1e-9)


def test_the_same_scores_are_never_told_apart():
    y, p, _ = rows()
    assert paired(y, p, p.copy(), None)[1:3] == (0, pytest.approx(0))
    assert paired(y, p, p.copy(), None).pvalue == 1


@pytest.mark.parametrize(
    ("y", "a", "b"), list(product((0.0, 1.0), (0.0, 0.5, 1.0), (0.0, 0.5, 1.0)))
)
@pytest.mark.parametrize("n", [1, 2, 8])
def test_few_rows_show_no_more_than_coins_do(y, a, b, n):
    found = paired(np.full(n, y), np.full(n, a), np.full(n, b), None)
    assert found.pvalue >= min(1, 2.0 ** (1 - n))
    assert all(map(math.isfinite, (found.difference, found.error, found.pvalue)))


def test_more_rows_than_it_takes_are_left_to_the_limits(monkeypatch):
    monkeypatch.setattr("secant._api.compare_models.MOST_ROWS", 999)
    y, p = miscalibrated(1000)
    told = secant.compare_models(y, p, p**1.3)
    assert told.pvalue is None
    assert told.mcb_ci is None
    tested = secant.compare_models(y[1:], p[1:], p[1:] ** 1.3)
    assert 0 < tested.pvalue <= 1
    assert tested.mcb_ci[0] <= tested.mcb_difference <= tested.mcb_ci[1]


def test_few_draws_do_for_many_rows(monkeypatch):
    y, p, _ = rows()
    many = paired(y, p, np.round(p, 1), None)
    monkeypatch.setattr(module, "_MANY_ROWS", 10)
    few = paired(y, p, np.round(p, 1), None)
    assert few.mcb == many.mcb
    assert abs(few.difference - many.difference) < many.error


def test_a_loss_is_infinite_where_an_outcome_was_ruled_out():
    y, fine, sure = np.array([0.0, 1.0, 1.0]), np.array([0.2, 0.7, 0.9]), np.array([0.0, 0.0, 1.0])
    assert in_loss(y, fine, sure, None, logarithmic=True) == (np.inf, 0.0, 0.0)
    assert in_loss(y, sure, fine, None, logarithmic=True) == (-np.inf, 0.0, 0.0)
    assert in_loss(y, sure, sure, None, logarithmic=True)[2] == 1


@pytest.mark.parametrize("logarithmic", [False, True])
def test_the_difference_of_losses_has_its_level(logarithmic):
    """Forecasts wrong by as much in opposite directions, 1,000 sets: .05 +- .023 is 3.3 errors."""
    rng, hits = np.random.default_rng(0), 0
    for _ in range(1000):
        p = np.full(300, 0.5)
        y = (rng.random(300) < p).astype(float)
        off = rng.choice([-0.1, 0.1], 300)
        _, error, pvalue = in_loss(y, p + off, p - off, None, logarithmic=logarithmic)
        hits += pvalue <= 0.05
        assert error > 0
    assert hits / 1000 == pytest.approx(0.05, abs=0.023)


def test_weights_count_rows_and_all_pairs_are_counted():
    y, a, b = np.array([0.0, 1, 1, 0]), np.array([0.1, 0.6, 0.9, 0.3]), np.full(4, 0.5)
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    difference, _, _ = in_loss(y, a, b, weight)
    assert difference == pytest.approx(np.average((y - b) ** 2 - (y - a) ** 2, weights=weight))
    assert not_worse([0.5, 0.01, 0.02], 6) == pytest.approx([1, 0.06, 0.1])
