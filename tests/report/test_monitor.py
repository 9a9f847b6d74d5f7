"""The page about a monitor: what it holds, and what a reader does with it in a browser."""

import json
import re
from datetime import date, timedelta

import numpy as np
import pytest

import secant.report
from helpers import CLOSING, HOSTILE
from secant import InputError, Monitor


def watched(days=40, change=20, name=None, n=600):
    monitor, rng = Monitor(), np.random.default_rng(2)
    for day in range(days):
        scores = rng.random(n)
        chance = np.where((scores > 0.5) & (day >= change), scores - 0.15, scores)
        time = date(2026, 1, 1) + timedelta(day) if name is None else name(day)
        monitor.add(rng.random(n) < chance, scores, time=time)
    return monitor


@pytest.fixture(scope="module")
def off():
    return watched()


@pytest.fixture(scope="module")
def off_page(off, tmp_path_factory):
    path = tmp_path_factory.mktemp("monitor") / "page.html"
    off.report(path, title="Churn")
    return path


def numbers(path):
    text = path.read_text()
    block = re.search(r'<script type="application/json" id="numbers">(.*?)</script>', text)
    return json.loads(block.group(1))


def test_it_has_the_numbers(off, off_page):
    found = numbers(off_page)
    assert found["monitor"] == off.to_dict()
    since, before = found["models"]
    history = off.history
    assert since["name"] == f"Since {history.since}"
    assert since["curve"]["n"][-1] + before["curve"]["n"][-1] == history.n
    [interval] = since["intervals"]
    assert interval["low"] == pytest.approx(history.where.low)
    assert interval["high"] == history.where.high
    assert before["intervals"] == []


def test_a_reader_sees_the_answer_first(visit, off, off_page):
    history = off.history
    with visit(off_page) as page:
        verdict = page.inner_text(".verdict")
        assert verdict == f"{history.headline}. {history.story}"
        headings = [each.inner_text() for each in page.locator("h2").all()]
        assert headings[:4] == [
            "Evidence over time",
            "Where is it off?",
            "Which scores?",
            "All batches",
        ]
        box = page.locator("#evidence .area").bounding_box()
        assert box["y"] < 800  # the chart begins on the first screen


def test_the_tool_reads_the_batches_since_and_before(visit, off, off_page):
    where = off.history.where
    with visit(off_page) as page:
        shown = page.locator("#readout").evaluate("each => ({...each.dataset})")
        assert float(shown["n"]) == where.n
        assert float(shown["forecast"]) == pytest.approx(where.mean_score, abs=1e-9)
        assert float(shown["happened"]) == pytest.approx(where.mean_response, abs=1e-9)
        assert shown["mood"] == "high"
        page.get_by_role("button", name=re.compile("^Before ")).click()
        again = page.locator("#readout").evaluate("each => ({...each.dataset})")
        assert float(again["n"]) + off.history.episodes[1].n.sum() == off.history.n


def test_the_chart_is_the_evidence(visit, off, off_page):
    with visit(off_page) as page:
        path = page.locator("#evidence path.batches:not(.dots)").get_attribute("d")
        points = [[float(x) for x in each.split()] for each in path[1:].split("L")]
        assert len(points) == len(off.history)
        heights = np.array([y for _, y in points])
        truth = np.array([each.log10_evidence for each in off.history])
        assert np.corrcoef(heights, truth)[0, 1] == pytest.approx(-1, abs=1e-6)
        assert page.locator("#evidence .since").count() == 1
        assert page.locator("#batches tbody tr").count() == 40
        assert page.locator("#ranges tr[data-mood]").count() > 2


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_nothing_sticks_out(visit, off_page, width):
    with visit(off_page, viewport={"width": width, "height": 844}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_download(visit, off, off_page):
    with visit(off_page) as page:
        with page.expect_download() as waiting:
            page.click("#download")
        found = json.loads(waiting.value.path().read_text())
        assert found["monitor"]["since"] == off.to_dict()["since"]


@pytest.mark.parametrize("change", [99, 0])
def test_pages_of_every_kind_open(visit, tmp_path, change):
    path = tmp_path / "page.html"
    watched(8, change).report(path)
    with visit(path) as page:
        assert page.locator("#evidence .since").count() == (change == 0)
        assert page.inner_text("h1") == "Calibration over time"


def test_few_predictions_and_one_batch(visit, tmp_path):
    monitor = Monitor()
    monitor.add([0, 1, 1], [0.2, 0.5, 0.7])
    monitor.report(tmp_path / "page.html")
    with visit(tmp_path / "page.html") as page:
        assert ", 3 predictions:" in page.inner_text("#read-says")
    refuted = Monitor()
    refuted.add([1], [0.0])
    refuted.report(tmp_path / "other.html")
    with visit(tmp_path / "other.html") as page:
        assert "came after a score of exactly 0" in page.inner_text(".verdict")


def test_hostile_names_stay_text(visit, tmp_path):
    monitor = watched(6, 2, name=lambda day: f"{day} {HOSTILE} {CLOSING}")
    monitor.report(tmp_path / "page.html", title=HOSTILE)
    with visit(tmp_path / "page.html") as page:
        assert page.locator("img").count() == 0
        assert HOSTILE in page.inner_text("#batches")


def test_what_it_rests_on_is_said(off_page):
    text = off_page.read_text()
    assert "every row is new" in text
    assert "all of its outcomes are known" in text


def test_nothing_to_report(tmp_path):
    with pytest.raises(InputError, match="nothing to report"):
        Monitor().report(tmp_path / "page.html")
    with pytest.raises(InputError, match="only the history of a Monitor"):
        secant.report.render_monitor([1])
    empty = Monitor()
    empty.add([], [])
    with pytest.raises(InputError, match="nothing to report"):
        empty.report(tmp_path / "page.html")
