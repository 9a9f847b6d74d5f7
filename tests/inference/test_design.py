"""Sampling weights that are one number for each outcome are refused, with both ways out."""

import numpy as np
import pytest

import secant
from secant import InputError
from secant._blocks.table import collapse, merge
from secant._inference.design import _where_they_differ


def rows(n0, n1, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n0, n1])
    return y, rng.random(n0 + n1)


def test_both_ways_out_are_named():
    y, p = rows(50, 10)
    with pytest.raises(InputError, match="sample_weight is one number for each outcome") as caught:
        secant.assess(y, p, sample_weight=np.where(y, 1.5, 30))
    assert "pass outcome_weights 20, 1" in str(caught.value)
    assert "class weights of training, leave them out" in str(caught.value)
    assert caught.value.argument == "sample_weight"


def test_where_limits_are_computed_and_nowhere_else():
    y, p = rows(50, 10)
    weights = np.where(y, 1, 20)
    assert 0 < secant.ecce_r(y, p, sample_weight=weights) < 1
    assert 0 < secant.ece(y, p, sample_weight=weights) < 1
    with pytest.raises(InputError, match="one number for each outcome"):
        secant.assess(y, p, sample_weight=weights, method="asymptotic")
    with pytest.raises(InputError, match="one number for each outcome"):
        secant.assess_by(y, p, np.zeros(60), sample_weight=weights)


def test_comparisons_and_scans_refuse_them_too():
    y, p = rows(50, 60)
    weights = np.where(y, 1, 20)
    with pytest.raises(InputError, match="one number for each outcome"):
        secant.compare_models(y, p, p**2, sample_weight=weights)
    with pytest.raises(InputError, match="one number for each outcome"):
        secant.scan(y, p, sample_weight=weights)
    with pytest.raises(InputError, match="one number for each outcome"):
        secant.compare_groups(y, p, np.arange(110) % 2 == 0, sample_weight=weights)
    cells = secant.Cells()
    cells.update(y, p, sample_weight=weights)
    with pytest.raises(InputError, match="one number for each outcome"):
        cells.bounds()


@pytest.mark.parametrize("spread", [1e-9, 1e-5, 3e-5, 1e-4, 5e-4])
def test_weights_that_hardly_vary_are_innocent(spread):
    y, p = rows(500, 500)
    weights = 1 + spread * np.random.default_rng(1).random(1000)
    result = secant.assess(y, p, sample_weight=weights, method="asymptotic")
    assert not any("for each outcome" in line for line in result.warnings)


@pytest.mark.parametrize(("n0", "n1"), [(50, 9), (9, 50), (2, 2)])
def test_few_rows_are_a_warning(n0, n1):
    y, p = rows(n0, n1)
    result = secant.assess(y, p, sample_weight=np.where(y, 1, 3), method="asymptotic")
    assert "sample_weight is one number for each outcome" in result.warnings[0]


@pytest.mark.parametrize(
    "weights",
    [
        lambda y: np.full(len(y), 3.0),
        lambda y: np.where(y, 1, 20) * np.where(np.arange(len(y)) == 3, 1.001, 1),
        lambda y: np.where(np.arange(len(y)) % 2, 1.0, 2.0),
        lambda y: np.append(np.ones(len(y) - 1), 2.0),
    ],
    ids=["the same", "but for one", "another reason", "one row"],
)
def test_other_weights_are_left_alone(weights):
    y, p = rows(50, 20)
    result = secant.assess(y, p, sample_weight=weights(y), method="asymptotic")
    assert not any("one number for each outcome" in line for line in result.warnings)


def test_a_single_row_of_an_outcome_tells_nothing():
    y, p = rows(50, 1)
    assert not any(
        "outcome (" in line for line in secant.assess(y, p, sample_weight=1 + y).warnings
    )


def test_copies_are_copies():
    y, p = rows(50, 20)
    secant.assess(y, p, sample_weight=1 + y, weight_kind="frequency")


# Weights that differ by outcome somewhere ---------------------------------------------------------


def noted(y, p, w, **more):
    warnings = secant.assess(y, p, sample_weight=w, method="asymptotic", **more).warnings
    return [line for line in warnings if "if weights depend on what happened" in line]


def calibrated(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return rng, p, (rng.random(n) < p).astype(int)


def test_weights_that_depend_on_outcomes_among_some_scores_are_noted():
    _, p, y = calibrated(3000)
    (line,) = noted(y, p, np.where((p > 0.2) & (p < 0.3) & (y == 0), 3.0, 1.0))
    assert "sample_weight is 1 on average where it happened" in line
    low, high = (float(word) for word in line.split("scores from ")[1].split(",")[0].split(" to "))
    assert 0.15 < low < high < 0.35


def test_and_so_are_those_of_a_stratum_that_is_everywhere():
    rng, p, y = calibrated(5000)
    w = np.where((rng.random(5000) < 0.1) & (y == 0), 5.0, 1.0) * rng.lognormal(0, 0.3, 5000)
    (line,) = noted(y, p, w)
    assert "scores from" in line


HONEST = {
    "follow the scores": lambda rng, p: np.exp(5 * p),
    "against the scores": lambda rng, p: 1 / p,
    "a step": lambda rng, p: np.where(p > 0.3, 20.0, 1.0),
    "heavy": lambda rng, p: rng.lognormal(0, 2, len(p)),
    "very heavy": lambda rng, p: rng.random(len(p)) ** -1.2,
    "strata": lambda rng, p: np.array([1, 1, 2, 30, 500])[rng.integers(0, 5, len(p))] * (1 + p),
    "a few heavy ones": lambda rng, p: np.where(rng.random(len(p)) < 0.001, 1e4, 1.0),
    "hardly any difference": lambda rng, p: 1 + 1e-9 * rng.random(len(p)),
}


@pytest.mark.parametrize("b", [1, 200])
@pytest.mark.parametrize("kind", HONEST)
def test_weights_that_do_not_depend_on_outcomes_are_never_noted(kind, b):
    rng = np.random.default_rng(3)
    for n in (30, 300, 3000, 30_000):
        p = rng.beta(1, b, n).clip(1e-9, 1 - 1e-9)
        y = (rng.random(n) < p).astype(int)
        blocks = collapse(p, y, HONEST[kind](rng, p), moments=True)
        assert not _where_they_differ(blocks)
        assert not _where_they_differ(merge(blocks, np.arange(0, len(blocks), 7)))


def test_nothing_is_said_where_it_cannot_be_known():
    """Along another order scores are no longer what rows next to each other have in common."""
    _, p, y = calibrated(3000)
    w = np.where((p > 0.2) & (p < 0.3) & (y == 0), 3.0, 1.0)
    assert not noted(y, p, w, order_by=np.arange(3000.0))
    assert not _where_they_differ(collapse(p, y, w))
    assert not noted(y, p, w.astype(int), weight_kind="frequency")
