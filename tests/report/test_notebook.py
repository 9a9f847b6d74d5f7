"""The picture that a notebook shows beside a result."""

import pytest

import secant
from pages import EDGES, Outline


@pytest.mark.parametrize("name", EDGES)
def test_degenerate_results_have_a_picture_for_notebooks(name):
    shown = secant.assess(*EDGES[name])._repr_html_()
    assert "nan" not in shown
    assert "inf" not in shown.replace("infinitely", "")
    assert not [each for each, _ in Outline(shown).elements if each in ("script", "style")]


def test_a_notebook_shows_the_curve(paper, visit, tmp_path):
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{paper._repr_html_()}", encoding="utf-8")
    with visit(path) as page:
        box = page.locator("path").nth(2).bounding_box()
        assert box["width"] == pytest.approx(576, abs=8)  # 36rem, and the width of the line
        assert 100 < box["height"] < 144
        assert page.locator("path").nth(3).get_attribute("stroke") == "#d55e00"  # too high
