"""The graph of cumulative differences: exact at every point, and the paper's own numbers."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import DATA
from samples import EXACT, RELATIVE, as_many, assert_covers, copies, gone, predictions
from secant.paper import synthetic

CONVERGENCE = json.loads((DATA / "convergence.json").read_text())


def test_cumulative_metrics(case):
    golden, y, p = case
    result = secant.assess(y, p)
    assert result.sigma == pytest.approx(golden["sigma"], **RELATIVE)
    for name in ("ecce_r", "ecce_mad"):
        statistic = getattr(result, name)
        assert statistic.value == pytest.approx(golden[name], **RELATIVE)
        assert statistic.normalized == pytest.approx(golden[f"{name}_normalized"], **RELATIVE)


@pytest.mark.parametrize(
    "golden", CONVERGENCE, ids=lambda c: f"{c['n']}-{c['scores']}-{c['calibrated']}"
)
def test_convergence(golden):
    n = golden["n"]
    p = synthetic.scores(n, golden["scores"])
    blocks = synthetic.responses(
        n, golden["scores"], calibrated=golden["calibrated"], realizations=golden["realizations"]
    )
    bins = {"n_bins": n // 16, "strategy": "quantile", "weighting": "width"}
    rows = []
    for y in blocks:
        result = secant.assess(y, p)
        rows.append(
            [
                secant.ece(y, p, **bins),
                secant.ece(y, p, norm="l2", squared=True, **bins),
                result.ecce_mad.value,
                result.ecce_r.value,
                result.ecce_mad.normalized,
                result.ecce_r.normalized,
            ]
        )
    names = ("ece1", "ece2", "ecce_mad", "ecce_r", "ecce_mad_normalized", "ecce_r_normalized")
    expected = [golden[name] for name in names]
    assert np.mean(rows, axis=0) == pytest.approx(expected, **RELATIVE)


# --- where ----------------------------------------------------------------------------------------


def assert_worst_attains(result, y, p, w):
    worst = result.worst
    assert abs(worst.miscalibration) * worst.weight == pytest.approx(result.ecce_r.value, **EXACT)
    assert worst.low in p
    assert worst.high in p
    assert_covers(worst, y, p, w, (worst.low <= p) & (p <= worst.high))
    assert worst.direction == ("too high" if worst.miscalibration < 0 else "too low")


@given(predictions(), st.booleans())
def test_the_worst_range_attains_ecce_r(data, cut):
    y, p, w, kind = data
    with as_many(cut):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
    if result.ecce_r.value == 0:
        assert (result.worst.n, result.worst.weight, result.worst.direction) == (0, 0, "even")
    else:
        assert_worst_attains(result, *copies(y, p, w, kind))


def test_the_worst_range_of_many_rows(many):
    y, p = many
    assert_worst_attains(secant.assess(y, p), y, p, np.ones(len(y)))
    w = np.random.default_rng(2).lognormal(0, 1, len(y))
    assert_worst_attains(secant.assess(y, p, sample_weight=w, method="asymptotic"), y, p, w)


# --- the curve ------------------------------------------------------------------------------------


def assert_curve(result, y, p, w):
    curve = result.curve
    assert len(curve.score) == len(curve.fraction) == len(curve.difference)
    assert (curve.fraction[0], curve.difference[0]) == (0, 0)
    assert curve.fraction[-1] == pytest.approx(1, **EXACT)
    assert curve.score[0] <= p.min()
    assert p.max() <= curve.score[-1] <= 1
    assert (np.diff(curve.score[1:]) > 0).all()
    assert (np.diff(curve.fraction) > 0).all()
    order = np.argsort(p, kind="stable")
    after = np.searchsorted(p[order], curve.score[1:], side="right")
    for column, gains in ((curve.fraction, w), (curve.difference, w * (y - p))):
        expected = np.concatenate([[0], np.cumsum(gains[order])])[after] / w.sum()
        assert np.abs(column[1:] - expected).max() <= 1e-12
    assert np.ptp(curve.difference) == pytest.approx(result.ecce_r.value, **EXACT)
    assert np.abs(curve.difference).max() == pytest.approx(result.ecce_mad.value, **EXACT)


@given(predictions(), st.booleans())
def test_the_curve_is_exact_at_every_point(data, cut):
    y, p, w, kind = data
    with as_many(cut):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
    if not cut:
        assert result.curve.score[1:].tolist() == sorted(set(p.tolist()))
    assert_curve(result, *copies(y, p, w, kind))


def test_the_curve_of_many_rows(many):
    y, p = many
    assert_curve(secant.assess(y, p), y, p, np.ones(len(y)))
    w = np.random.default_rng(5).lognormal(0, 1, len(y))
    result = secant.assess(y, p, sample_weight=w, method="asymptotic")
    assert_curve(result, y, p, w)
    assert_curve(gone(result), y, p, w)
