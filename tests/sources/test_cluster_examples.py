"""The numbers of the page on clusters are true."""

import runpy
from pathlib import Path

import pytest

import secant

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "clusters_questions.py"
REAL = ROOT / ".." / "shared" / "data"
PAGE = (ROOT / "docs" / "independence.md").read_text()


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
