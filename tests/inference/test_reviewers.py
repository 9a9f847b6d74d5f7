"""Cox's regression and Spiegelhalter's Z."""

import math

import numpy as np
import pytest

import secant
from helpers import optional
from samples import MANY, miscalibrated
from secant._blocks.table import collapse
from secant._inference.reviewers import _errors, _Points, cox_fit, spiegelhalter_z


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
        assert found.pvalue == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=1e-9)


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
    z = spiegelhalter_z(secant.assess(y, p, method="asymptotic")._blocks)
    assert abs(z - spiegelhalter_z(ties)) < 0.01


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
