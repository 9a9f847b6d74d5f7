"""The top of the page and its end: the verdict, and the numbers to take along."""

import json


def test_the_words_are_those_of_the_printed_verdict(paper, paper_page):
    text = paper_page.read_text(encoding="utf-8")
    headline, _, rest = str(paper).split("\n")[0].partition(". ")
    assert f"<strong>{headline}.</strong> {rest}" in text
    for line in str(paper).split("\n")[1:]:
        assert f"<li>{line}</li>" in text


def test_the_numbers_are_downloaded(visit, paper, paper_page, tmp_path):
    with visit(paper_page) as page:
        with page.expect_download() as waiting:
            page.click("#download")
        path = tmp_path / "numbers.json"
        waiting.value.save_as(path)
    model = json.loads(path.read_text(encoding="utf-8"))["models"][0]
    assert model["ecce_r"]["value"] == paper.ecce_r.value
    assert model["bins"]["uniform"][6]["ece"] == paper.ece(n_bins=15).value
