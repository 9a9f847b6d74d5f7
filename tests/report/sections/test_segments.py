"""Segments on the page: the tree, the curves it opens, and hostile names."""

import numpy as np
import pytest

import secant
import secant.report
from helpers import CLOSING, HOSTILE
from secant.errors import InputError
from secant.report.sections.segments import tree


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(3)
    n = 20_000
    p = rng.uniform(0.3, 0.7, n)
    columns = {HOSTILE: rng.choice(["a", CLOSING, "c"], n), "age": rng.integers(18, 68, n)}
    whole = columns[HOSTILE] == CLOSING
    part = whole & (columns["age"] < 28)
    chance = np.where(part, p - 0.25, np.where(whole, p - 0.08, p))
    y = rng.random(n) < chance
    return secant.assess(y, p), secant.assess_segments(y, p, features=columns, adjust="holm")


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("segments") / "report.html"
    secant.report.write(path, found[0], segments=found[1])
    return path


def test_a_part_stands_below_its_whole(found):
    rows = found[1].rows
    assert len(rows) == 2
    (whole, outer), (part, inner) = tree(rows)
    assert (outer, inner) == (0, 1)
    assert rows[part].parent == rows[whole].key


def test_rows_open_their_curves(visit, page, found):
    rows = found[1].rows
    with visit(page) as opened:
        section = opened.locator("section.segments")
        assert section.locator("tbody tr").count() == 2
        first, second = section.locator("tbody button").all()
        assert second.inner_text().startswith("part of it: age 18 to 27")
        second.click()
        assert second.get_attribute("aria-pressed") == "true"
        shown = opened.locator("#series button[aria-pressed=true]").inner_text()
        assert shown.startswith("Segment ")
        part = max(rows, key=lambda row: len(row.conditions))
        assert f"{part.calibration.worst.n:,} predictions" in opened.inner_text("#read-says")
        alone = opened.inner_text("#read-alone")
        assert f"all {found[1].searched} segments searched" in alone
        assert "95% limits" in opened.inner_text("#readout")
        first.click()
        assert second.get_attribute("aria-pressed") == "false"


def test_the_page_of_segments_alone(visit, found, tmp_path):
    path = tmp_path / "alone.html"
    found[1].report(path)
    with visit(path, viewport={"width": 390, "height": 844}) as opened:
        assert opened.locator("section.segments tbody tr").count() == 2
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390


def test_nothing_found_has_no_page_of_its_own_and_a_line_beside_the_whole(visit, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    y, x = rng.random(2000) < p, rng.choice(list("ab"), 2000)
    nothing = secant.assess_segments(y, p, features={"x": x})
    path = tmp_path / "page.html"
    with pytest.raises(InputError, match="no segment was found"):
        nothing.report(path)
    secant.report.write(path, secant.assess(y, p), segments=nothing)
    with visit(path) as opened:
        section = opened.locator("section.segments")
        assert "None of 2 segments searched" in section.inner_text()
        assert section.locator("table").count() == 0


def test_segments_of_several_models(found, tmp_path):
    result, segments = found
    path = tmp_path / "page.html"
    models = {"one": result, "two": result}
    secant.report.write(path, models, segments={"one": segments, "two": segments})
    text = path.read_text()
    assert 'id="segments-0"' in text
    assert 'id="segments-1"' in text
    with pytest.raises(
        InputError, match="segments must be Assessments, as assess_segments returns"
    ):
        secant.report.render(result, segments=[1])
