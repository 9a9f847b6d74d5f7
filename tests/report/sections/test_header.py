"""The head of the page and its foot."""

import json
import re
from datetime import UTC, datetime

from secant.report import Provenance
from secant.report.sections import header


def test_the_numbers_are_downloaded(visit, paper, paper_page, tmp_path):
    with visit(paper_page) as page:
        with page.expect_download() as waiting:
            page.click("#download")
        path = tmp_path / "numbers.json"
        waiting.value.save_as(path)
    model = json.loads(path.read_text(encoding="utf-8"))["models"][0]
    assert model["ecce_r"]["value"] == paper.ecce_r.value
    assert model["steepest"]["ci"] == list(paper.steepest.ci)
    assert model["bins"]["uniform"][6]["ece"] == paper.ece(n_bins=15).value


def test_the_header_names_the_first_files_and_counts_the_rest():
    started = datetime(2024, 3, 5, 9, 7, tzinfo=UTC)
    about = Provenance(files=[f"folder/{each}" for each in "abcde"], started=started)
    dot = " \N{MIDDLE DOT} "
    words = re.sub("<[^>]*>", "", header.header("T", 1200, about))
    assert words == "T" + dot.join(
        ["a", "b", "c", "and 2 more", "1,200 predictions", "5 March 2024, 09:07"]
    )


def test_the_gate_stands_where_the_numbers_come_from():
    made = header.provenance(Provenance(gate=["<b>"]), None, [], "1.2")
    assert "<dt>Gate</dt><dd>&lt;b&gt;</dd>" in made
    assert "<dt>Versions</dt><dd>secant 1.2, numpy " in made
