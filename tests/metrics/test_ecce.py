"""The paper's synthetic experiments, against numbers from the paper's own code."""

import json

import numpy as np
import pytest

import secant
from helpers import ROOT
from secant.paper import synthetic

DATA = ROOT / "tests" / "data"
SYNTHETIC = json.loads((DATA / "synthetic.json").read_text())
CONVERGENCE = json.loads((DATA / "convergence.json").read_text())
STRATEGY = {"equispaced": "uniform", "equal-count": "quantile"}
CLOSE = {"rel": 1e-12, "abs": 0}


@pytest.fixture(scope="module", params=SYNTHETIC, ids=lambda case: case["scores"])
def case(request):
    golden = request.param
    p = synthetic.scores(golden["n"], golden["scores"])
    y = synthetic.responses(golden["n"], golden["scores"])[0]
    return golden, y, p


def test_cumulative_metrics(case):
    golden, y, p = case
    result = secant.assess(y, p)
    assert result.sigma == pytest.approx(golden["sigma"], **CLOSE)
    for name in ("ecce_r", "ecce_mad"):
        statistic = getattr(result, name)
        assert statistic.value == pytest.approx(golden[name], **CLOSE)
        assert statistic.normalized == pytest.approx(golden[f"{name}_normalized"], **CLOSE)


def test_binned_metrics(case):
    golden, y, p = case
    for entry in golden["ece"]:
        for weighting in ("width", "count"):
            options = {
                "n_bins": entry["n_bins"],
                "strategy": STRATEGY[entry["bins"]],
                "weighting": weighting,
            }
            ece1 = secant.ece(y, p, **options)
            ece2 = secant.ece(y, p, norm="l2", squared=True, **options)
            assert ece1 == pytest.approx(entry[f"{weighting}_ece1"], **CLOSE)
            assert ece2 == pytest.approx(entry[f"{weighting}_ece2"], **CLOSE)


def test_the_worked_example_of_the_verdict():
    p = synthetic.scores(32768, "square rooted")
    y = synthetic.responses(32768, "square rooted")[0]
    result = secant.assess(y, p, method="asymptotic")
    assert result.ecce_mad.pvalue == pytest.approx(7.1e-8, rel=0.01)
    assert result.ecce_r.pvalue == pytest.approx(1.2e-23, rel=0.01)
    printed = str(secant.assess(y, p))
    assert "Over scores 0.292 to 1.000 predictions are too high by 2.51 points" in printed
    assert "95% limits 1.87 to 3.15" in printed
    assert "29,955 predictions" in printed
    assert "10.2 sigma, where perfect calibration gives about 1.6" in printed


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
    assert np.mean(rows, axis=0) == pytest.approx(expected, **CLOSE)
