"""Other libraries on the same predictions: where they agree with secant, and where they are wrong.

`make test-peers` runs these in an environment of their own; elsewhere a library that is missing is
skipped. What is wrong today is pinned too: when such a test fails, a peer was mended, and the pages
that say otherwise (docs/alternatives.md, docs/studies.md) have to follow.
"""

import numpy as np
import pytest

import secant

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]  # theirs, not ours


def predictions(n=2000, seed=0, *, off=0.0):
    """Return outcomes and scores without ties."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 0.9, n)
    return (rng.random(n) < np.clip(p - off, 0, 1)).astype(int), p


# scikit-learn ------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_bins_of_scikit_learn_are_ours(strategy):
    calibration = pytest.importorskip("sklearn.calibration")
    y, p = predictions()
    outcome, forecast = calibration.calibration_curve(y, p, n_bins=10, strategy=strategy)
    ours = secant.assess(y, p).reliability(n_bins=10, strategy=strategy)
    np.testing.assert_allclose(ours.mean_score, forecast, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.mean_response, outcome, rtol=0, atol=1e-12)


def test_brier_score_and_log_loss_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    y, p = predictions()
    result = secant.assess(y, p)
    assert result.brier.value == pytest.approx(metrics.brier_score_loss(y, p), abs=1e-12)
    assert result.log_loss.value == pytest.approx(metrics.log_loss(y, p), abs=1e-12)


# torchmetrics ------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["l1", "max"])
def test_the_ece_of_torchmetrics_is_ours(norm):
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchmetrics.functional.classification")
    y, p = predictions()
    theirs = functional.binary_calibration_error(
        torch.tensor(p), torch.tensor(y), n_bins=15, norm=norm
    )
    # they add up single precision
    assert float(theirs) == pytest.approx(secant.ece(y, p, n_bins=15, norm=norm), abs=1e-6)


def test_torchmetrics_takes_what_is_above_1_for_logits():
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchmetrics.functional.classification")
    y, p = predictions()
    right = float(functional.binary_calibration_error(torch.tensor(p), torch.tensor(y)))
    p[7] = 1 + 2e-7
    wrong = float(functional.binary_calibration_error(torch.tensor(p), torch.tensor(y)))
    assert wrong > right + 0.05  # one score in 2,000, and every score was squashed
    with pytest.raises(secant.InputError, match=r"y_prob\[7\]|row 7|index 7"):
        secant.ece(y, p)


# MCGrad ------------------------------------------------------------------------------------------


def test_the_metric_of_mcgrad_is_ecce_r_where_no_scores_are_tied():
    mcgrad = pytest.importorskip("mcgrad.metrics")
    y, p = predictions(off=0.05)
    result = secant.assess(y, p, method="asymptotic")
    assert mcgrad.ecce(y, p) == pytest.approx(result.ecce_r.value, abs=1e-12)
    assert mcgrad.ecce_sigma(y, p) == pytest.approx(result.ecce_r.normalized, rel=1e-9)
    assert mcgrad.ecce_pvalue(y, p) == pytest.approx(result.ecce_r.pvalue, rel=1e-6, abs=1e-12)


def test_mcgrad_depends_on_the_order_of_tied_rows():
    mcgrad = pytest.importorskip("mcgrad.metrics")
    y, p = predictions()
    p = p.round(1)
    first = np.argsort(y, kind="stable")
    answers = [mcgrad.ecce(y[order], p[order]) for order in (first, first[::-1])]
    assert max(answers) > 1.5 * secant.ecce_r(y, p)
    assert secant.ecce_r(y[first], p[first]) == secant.ecce_r(y, p)


# MAPIE -------------------------------------------------------------------------------------------


def test_mapie_agrees_where_the_path_crosses_its_start():
    mapie = pytest.importorskip("mapie.metrics.calibration")
    y, p = predictions()
    result = secant.assess(y, p, method="asymptotic")
    curve = result.curve.difference
    assert curve.min() < 0 < curve.max()
    # They add noise of 1e-8 to the scores, unseeded.
    assert mapie.kuiper_statistic(y, p) == pytest.approx(result.ecce_r.normalized, abs=1e-5)
    theirs = mapie.kolmogorov_smirnov_statistic(y, p)
    assert theirs == pytest.approx(result.ecce_mad.normalized, abs=1e-5)


def test_the_kuiper_statistic_of_mapie_forgets_where_the_path_starts():
    mapie = pytest.importorskip("mapie.metrics.calibration")
    y, p = np.zeros(1, int), np.array([0.9])  # one forecast of 90%, and nothing happened
    assert mapie.kuiper_statistic(y, p) == 0
    assert secant.ecce_r(y, p) == 0.9


# relplot -----------------------------------------------------------------------------------------


def test_smooth_ece_sees_what_ecce_r_sees_and_not_what_cancels():
    relplot = pytest.importorskip("relplot")
    y, p = predictions(20_000)
    off_y, off_p = predictions(20_000, off=0.1)
    assert relplot.smECE(off_p, off_y) > 3 * relplot.smECE(p, y)
    assert secant.ecce_r(off_y, off_p) > 3 * secant.ecce_r(y, p)


def test_relplot_answers_for_scores_that_are_no_probabilities():
    relplot = pytest.importorskip("relplot")
    y, p = predictions()
    p[7] = 1 + 2e-7
    assert 0 < relplot.smECE(p, y) < 1
    with pytest.raises(secant.InputError):
        secant.assess(y, p)
