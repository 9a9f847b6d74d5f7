"""Cox's regression and Spiegelhalter's Z."""

import math

import numpy as np
import pytest

import secant
from helpers import optional
from samples import MANY, miscalibrated
from secant._blocks.cell_sums import row_totals
from secant._blocks.table import collapse
from secant._inference.classic_tests import _errors, _Points, cox_fit, spiegelhalter
from secant._input.observations import Chunk


def logit(p):
    return np.log(p) - np.log1p(-p)


def test_scikit_learn_fits_the_same():
    regression = optional("sklearn.linear_model").LogisticRegression
    y, p = miscalibrated(2000, power=1.5)
    fitted = regression(C=np.inf, tol=1e-12, max_iter=1000).fit(logit(p)[:, None], y)
    found = secant.assess(y, p).cox
    assert found.intercept == pytest.approx(float(fitted.intercept_[0]), abs=1e-5)
    assert found.slope == pytest.approx(float(fitted.coef_[0, 0]), abs=1e-5)
    assert found.exact
    assert found.pvalue < 1e-10


def test_the_fit_is_where_the_likelihood_is_flat():
    y, p = miscalibrated(500)
    fit = secant.assess(y, p).cox
    x = logit(p)
    chance = 1 / (1 + np.exp(-fit.intercept - fit.slope * x))
    assert abs((y - chance).sum()) < 1e-8
    assert abs(((y - chance) * x).sum()) < 1e-8
    v = chance * (1 - chance)
    information = np.array([[v.sum(), (v * x).sum()], [(v * x).sum(), (v * x * x).sum()]])
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    assert (fit.intercept_error, fit.slope_error) == pytest.approx(errors, rel=1e-9)


def test_z_is_that_of_the_definition():
    y, p = miscalibrated(700)
    w = np.random.default_rng(0).lognormal(0, 1, 700)
    for weights in (np.ones(700), w):
        found = secant.assess(y, p, sample_weight=weights, method="asymptotic").spiegelhalter
        step, v = weights * (y - p) * (1 - 2 * p), p * (1 - p)
        z = step.sum() / math.sqrt((weights**2 * v * (1 - 2 * p) ** 2).sum())
        assert found.z == pytest.approx(z, rel=1e-10)


def test_calibrated_data_pass_and_pvalues_are_uniform():
    rng = np.random.default_rng(2)
    cox, z = [], []
    for _ in range(300):
        p = rng.random(300)
        result = secant.assess(rng.random(300) < p, p, method="asymptotic")
        cox.append(result.cox.pvalue)
        z.append(result.spiegelhalter.pvalue)
    for pvalues in (cox, z):
        # 300 coins of .05: between 4 and 28 in all but one of a thousand samples.
        assert 4 <= np.sum(np.array(pvalues) < 0.05) <= 28


@pytest.mark.parametrize("kind", MANY)
def test_cells_give_what_ties_give(kind):
    rng = np.random.default_rng(3)
    p = MANY[kind](rng)
    y = (rng.random(len(p)) < p).astype(int)
    rough = cox_fit(secant.assess(y, p, method="asymptotic")._blocks)
    ties = collapse(p, y, None)
    exact = cox_fit(ties)
    assert abs(rough.intercept - exact.intercept) < 0.02 * exact.errors[0]
    assert abs(rough.slope - exact.slope) < 0.02 * exact.errors[1]
    assert rough.left_out == exact.left_out
    found = secant.assess(y, p, method="asymptotic").spiegelhalter
    z, pvalue = spiegelhalter(ties, secant.assess(y, p, method="asymptotic")._totals)
    assert abs(found.z - z) < 0.01
    assert found.pvalue == pytest.approx(pvalue, rel=0.02 * (1 + abs(z)))


# Spiegelhalter's P-value --------------------------------------------------------------------------


def z_and_pvalue(y, p, weights=None):
    blocks = collapse(p, y, weights, moments=True)
    w = np.ones(len(p)) if weights is None else weights
    return spiegelhalter(blocks, row_totals(Chunk(p, y, w), p * (1 - p), sampling=True))


SCORES = {
    "spread out": lambda rng, n: rng.random(n),
    "skewed": lambda rng, n: rng.beta(1, 9, n),
    "one score": lambda rng, n: np.full(n, 0.5 * rng.random()),
    "rare": lambda rng, n: rng.beta(1, 200, n),
    "three scores": lambda rng, n: rng.choice([0.1, 0.3, 0.9], n),
    "U-shaped": lambda rng, n: rng.beta(0.2, 0.2, n).clip(1e-9, 1 - 1e-9),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", SCORES)
def test_pvalues_are_not_below_those_of_all_outcomes(kind, weighted):
    rng = np.random.default_rng(6)
    for n in (1, 2, 3, 5, 8, 10):
        p = np.sort(SCORES[kind](rng, n))
        w = rng.lognormal(0, 1, n) if weighted else None
        outcomes = np.arange(2**n)[:, None] >> np.arange(n) & 1
        sums = np.abs((outcomes - p) * (1 - 2 * p) @ (np.ones(n) if w is None else w))
        chance = np.prod(np.where(outcomes, p, 1 - p), axis=1)
        for i in rng.choice(2**n, min(2**n, 25), replace=False):
            truth = chance[sums >= sums[i] * (1 - 1e-9)].sum()
            if truth < 0.3:
                assert z_and_pvalue(outcomes[i], p, w)[1] >= 0.95 * truth


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("n", [60, 400])
def test_levels_are_kept(kind, n):
    """The normal law rejects rare events up to ten times too often at .001."""
    rng = np.random.default_rng(7)
    p = np.sort(SCORES[kind](rng, n))
    outcomes = rng.random((20_000, n)) < p
    sums = np.abs((outcomes - p) @ (1 - 2 * p))
    order = np.argsort(sums)
    for level in (0.05, 0.01, 0.001):
        low, high = 0, len(order)  # P-values fall as sums grow
        while low < high:
            middle = (low + high) // 2
            y = outcomes[order[middle]].astype(int)
            low, high = (low, middle) if z_and_pvalue(y, p)[1] <= level else (middle + 1, high)
        rejected = np.mean(sums >= sums[order[low]] * (1 - 1e-9)) if low < len(order) else 0.0
        assert rejected <= level + 4 * math.sqrt(level / len(order))


def test_it_is_the_normal_one_where_that_is_right():
    rng = np.random.default_rng(8)
    p = rng.random(20_000)
    z, pvalue = z_and_pvalue((rng.random(20_000) < p**1.01).astype(int), p)
    assert pvalue == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=0.02)


def test_one_heavy_row_is_not_taken_for_many():
    """A row that has most of the variance: its event has its chance, not that of a normal law."""
    p, w = np.append(np.full(500, 0.4), 0.01), np.append(np.ones(500), 1000.0)
    y = np.append(np.arange(500) < 200, True).astype(int)
    z, pvalue = z_and_pvalue(y, p, w)
    assert z > 9
    assert 0.0099 <= pvalue <= 0.05


def test_blocks_of_several_weights_are_bounded():
    rng = np.random.default_rng(9)
    p, w = rng.integers(1, 20, 3000) / 40, rng.lognormal(0, 0.3, 3000)
    y = (rng.random(3000) < 1.04 * p).astype(int)
    bounded, exact = z_and_pvalue(y, p, w), z_and_pvalue(y, p + 1e-9 * rng.random(3000), w)
    assert bounded[0] == pytest.approx(exact[0], rel=1e-6)
    assert exact[1] <= bounded[1] <= 6 * exact[1]


def test_an_outcome_that_scores_rule_out_counts_as_the_most_there_can_be():
    z, pvalue = z_and_pvalue(np.array([1, 1, 1]), np.array([0.0, 0.1, 0.2]))
    assert z > 3
    assert 0.02 <= pvalue <= 0.05


@pytest.mark.parametrize(
    ("y", "p", "slope"),
    [
        ([0, 1], [0.2, 0.8], math.inf),
        ([1, 0], [0.2, 0.8], -math.inf),
        ([0, 1, 0, 1], [0.0, 1.0, 0.3, 0.4], math.inf),
        ([1, 1], [0.2, 0.8], math.nan),
        ([0, 1], [0.5, 0.5], math.nan),
        ([1], [0.0], math.nan),
        ([0, 1], [0.0, 1.0], math.nan),
        ([0, 0, 1, 1], [5e-324, 0.5, 0.5, 1 - 2**-53], math.inf),
        ([0, 1], [0.4999, 0.5001], math.inf),  # at once
    ],
)
def test_degenerate_data(y, p, slope):
    result = secant.assess(y, p)
    assert result.cox.slope == pytest.approx(slope, nan_ok=True)
    assert math.isnan(result.cox.pvalue)
    assert result.cox.left_out == sum(each in (0, 1) for each in p)
    assert "nan" not in str(result.cox)
    assert "nan" not in str(result.spiegelhalter)
    assert result.to_dict()["cox"]["pvalue"] is None


def test_what_errors_do_not_know_is_left_out():
    y, p = miscalibrated(500)
    weighted = secant.assess(y, p, sample_weight=1 + p, method="asymptotic").cox
    assert math.isfinite(weighted.slope)
    assert math.isnan(weighted.slope_error)
    assert math.isnan(weighted.pvalue)
    assert "P" not in str(weighted)
    together = secant.assess(y, p, clusters=np.arange(500) // 5)
    assert math.isnan(together.cox.pvalue)
    assert math.isnan(together.spiegelhalter.z)


def test_errors_that_cannot_be_had_are_not_numbers():
    """One logit for all rows leaves intercept and slope undetermined."""
    one = np.ones(2)
    found = _errors(np.ones((2, 2)), np.zeros(2), _Points(one / 2, one, one))
    assert all(map(math.isnan, found))
