"""The paper's experiments: golden numbers, the public functions, and what goes into the file."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import secant
from helpers import ROOT
from secant import null
from secant.paper import experiments, synthetic
from secant.paper.experiments import Convergence, Fixed

CLOSE = {"rel": 1e-12, "abs": 0}
STRATEGY = {"equispaced": "uniform", "equal-count": "quantile"}
FIXED_KEYS = [
    "n",
    "scores",
    "sigma",
    "ecce_mad",
    "ecce_r",
    "ecce_mad_normalized",
    "ecce_r_normalized",
    "ecce_mad_pvalue",
    "ecce_r_pvalue",
    "ece",
]
CONVERGENCE_KEYS = [
    "n",
    "scores",
    "calibrated",
    "ece1",
    "ece2",
    "ecce_mad",
    "ecce_r",
    "ecce_mad_normalized",
    "ecce_r_normalized",
]


def golden(name):
    return json.loads((ROOT / "tests" / "data" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", golden("synthetic"), ids=lambda row: row["scores"])
def test_fixed_sizes_are_the_papers(known_sizes, row):
    [ours] = [each for each in known_sizes["synthetic"] if each["scores"] == row["scores"]]
    for name in ("n", "sigma", "ecce_mad", "ecce_r", "ecce_mad_normalized", "ecce_r_normalized"):
        assert ours[name] == pytest.approx(row[name], **CLOSE)
    assert len(ours["ece"]) == len(row["ece"])
    for entry, expected in zip(ours["ece"], row["ece"], strict=True):
        assert (entry["bins"], entry["n_bins"]) == (expected["bins"], expected["n_bins"])
        assert entry["ece1"] == pytest.approx(expected["width_ece1"], **CLOSE)
        assert entry["ece2"] == pytest.approx(expected["width_ece2"], **CLOSE)


@pytest.mark.parametrize(
    "row", golden("convergence"), ids=lambda r: f"{r['n']} {r['scores']} {r['calibrated']}"
)
def test_averages_are_the_papers(known_sizes, row):
    [ours] = [
        each
        for each in known_sizes["convergence"]
        if all(each[name] == row[name] for name in ("n", "scores", "calibrated"))
    ]
    for name in CONVERGENCE_KEYS[3:]:
        assert ours[name] == pytest.approx(row[name], **CLOSE)


def test_small_pvalues_keep_their_digits(known_sizes):
    row = known_sizes["synthetic"][2]
    assert row["ecce_mad_pvalue"] == pytest.approx(7.1e-8, rel=0.005)
    assert row["ecce_r_pvalue"] == pytest.approx(1.2e-23, rel=0.005)  # the paper prints 0
    assert row["ecce_mad_pvalue"] == null.mad.sf(row["ecce_mad_normalized"])
    assert row["ecce_r_pvalue"] == null.range.sf(row["ecce_r_normalized"])


@pytest.mark.parametrize("n", [4096, 131072])  # sorted, and cut into cells
def test_bins_are_those_of_the_public_function(n):
    row = Fixed(n, "squared").run()
    y, p = synthetic.responses(n, "squared")[0], synthetic.scores(n, "squared")
    for entry in row["ece"][:: 1 if n == 4096 else 7]:
        options = {
            "n_bins": entry["n_bins"],
            "strategy": STRATEGY[entry["bins"]],
            "weighting": "width",
        }
        assert entry["ece1"] == pytest.approx(secant.ece(y, p, **options), **CLOSE)
        squared = secant.ece(y, p, norm="l2", squared=True, **options)
        assert entry["ece2"] == pytest.approx(squared, **CLOSE)


def test_metrics_are_those_of_the_public_functions():
    row = Fixed(131072, "square rooted").run()
    y, p = (
        synthetic.responses(row["n"], row["scores"])[0],
        synthetic.scores(row["n"], row["scores"]),
    )
    assert row["ecce_r"] == pytest.approx(secant.ecce_r(y, p), **CLOSE)
    assert row["ecce_mad"] == pytest.approx(secant.ecce_mad(y, p), **CLOSE)


@pytest.mark.parametrize("calibrated", [True, False])
def test_averages_are_those_of_the_public_functions(calibrated):
    n, family = 131072, "equispaced"
    p = synthetic.scores(n, family)
    drawn = synthetic.responses(n, family, calibrated=calibrated, realizations=9)
    row = Convergence(n, family, calibrated).run()
    assert row["ecce_r"] == pytest.approx(np.mean([secant.ecce_r(y, p) for y in drawn]), **CLOSE)
    bins = {"n_bins": n // 16, "strategy": "quantile", "weighting": "width"}
    assert row["ece1"] == pytest.approx(np.mean([secant.ece(y, p, **bins) for y in drawn]), **CLOSE)


def test_laws_hold_in_every_row(known_sizes):
    for row in [*known_sizes["synthetic"], *known_sizes["convergence"]]:
        for suffix in ("", "_normalized"):
            mad, spread = row[f"ecce_mad{suffix}"], row[f"ecce_r{suffix}"]
            assert mad <= spread <= 2 * mad
        for entry in row.get("ece", [row]):
            assert 0 <= entry["ece2"] <= entry["ece1"]


def test_what_is_in_the_file(known_sizes):
    assert list(known_sizes) == ["synthetic", "convergence"]
    again = json.loads(json.dumps(known_sizes, allow_nan=False))
    assert again == known_sizes
    for row in known_sizes["synthetic"]:
        assert list(row) == FIXED_KEYS
        assert [list(entry) for entry in row["ece"]] == [["bins", "n_bins", "ece1", "ece2"]] * 22
        kinds = {(entry["bins"], entry["n_bins"]) for entry in row["ece"]}
        sizes = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
        assert kinds == {(bins, m) for bins in STRATEGY for m in sizes}
    for row in known_sizes["convergence"]:
        assert list(row) == CONVERGENCE_KEYS
        assert isinstance(row["calibrated"], bool)


def test_the_paper_has_these_experiments():
    fixed = [(job.n, job.family) for job in experiments.all_fixed()]
    assert fixed == [(n, f) for n in (8192, 32768, 131072) for f in synthetic.FAMILIES]
    growing = [(job.n, job.family, job.calibrated) for job in experiments.all_convergence()]
    sizes = [2**k for k in range(12, 22)]
    assert growing == [(n, f, c) for n in sizes for f in synthetic.FAMILIES for c in (True, False)]


def test_noise_keeps_ece_up_and_lets_ecce_go():
    """The paper's main point, on calibrated predictions."""
    small, large = (Convergence(n, "equispaced", calibrated=True).run() for n in (4096, 65536))
    assert large["ece1"] == pytest.approx(small["ece1"], rel=0.02)
    assert large["ece2"] == pytest.approx(small["ece2"], rel=0.05)
    # The expected squared ECE is the mean of v/16, that is 1/96.
    assert large["ece2"] == pytest.approx(1 / 96, rel=0.02)
    assert large["ecce_r"] < small["ecce_r"] / 3
    assert large["ecce_r_normalized"] == pytest.approx(null.range.mean, rel=0.2)


def test_exact_expectations():
    for row in golden("synthetic"):
        curve = experiments.expected_curve(row["n"], row["scores"])
        assert (curve.fraction[0], curve.fraction[-1]) == (0, 1)
        assert abs(curve.difference).max() == pytest.approx(row["exact_ecce_mad"], **CLOSE)
        spread = curve.difference.max() - curve.difference.min()
        assert spread == pytest.approx(row["exact_ecce_r"], **CLOSE)


def test_outcomes_do_not_depend_on_processes():
    jobs = [*experiments.all_convergence([4096]), *experiments.all_convergence([8192])]
    seen = []
    alone = experiments.run_all(jobs)
    together = experiments.run_all(jobs, workers=2, done=seen.append)
    assert together == alone
    assert sorted(map(repr, seen)) == sorted(map(repr, jobs))


@dataclass(frozen=True)
class Broken:
    cost: int = 1

    def run(self):
        msg = "broken"
        raise RuntimeError(msg)


def test_a_job_that_fails_is_heard_of():
    with pytest.raises(RuntimeError, match="broken"):
        experiments.run_all([Broken()])
