"""The example of clusters does what it says, and the numbers of its page are true."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import secant

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "clusters_questions.py"
REAL = ROOT / ".." / "shared" / "data"
PAGE = (ROOT / "docs" / "independence.md").read_text()


def test_the_example_runs():
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    alone, together = done.stdout.split("As 400 questions:")
    assert "Miscalibrated" in alone
    assert "question has 10 rows each" in alone
    assert "No miscalibration found" in together
    assert "4,000 predictions among 400 clusters" in together


def test_the_page_says_what_the_example_gives():
    data = runpy.run_path(str(EXAMPLE))["answers"]()
    for clusters, row in ((None, "4,000 independent rows"), ("question", "400 questions")):
        result = secant.assess("right", "confidence", data=data, clusters=clusters)
        low, high = result.ecce_r.ci
        told = f"| as {row} | {result.ecce_r.pvalue:.2g} | {low:.2g} to {high:.2g} |"
        assert told in PAGE


@pytest.mark.skipif(not REAL.is_dir(), reason="real data are elsewhere")
def test_the_page_says_what_real_answers_give():
    parquet = pytest.importorskip("pyarrow.parquet")
    path = REAL / "llm_mcqa_plaut.parquet"
    rows = parquet.read_table(path, filters=[("dataset", "=", "mmlu")])
    y, p, question = (rows[name].to_numpy() for name in ("response", "score", "q"))
    for clusters in (None, question):
        result = secant.assess(y, p, clusters=clusters)
        low, high = result.ecce_r.ci
        assert f"{low:.3f} to {high:.3f}" in PAGE
    assert f"{result.n:,} rows in all" in PAGE
