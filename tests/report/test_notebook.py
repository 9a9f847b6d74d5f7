"""The picture that a notebook shows beside a result."""

import re

import pytest

import secant
from pages import EDGES, Outline
from secant._drawing.style import COLORS
from secant.report import small_picture

LINES = [COLORS[f"{mood}-line"][0] for mood in ("high", "low", "unsure")]


@pytest.mark.parametrize("name", EDGES)
def test_degenerate_results_have_a_picture_for_notebooks(name):
    shown = secant.assess(*EDGES[name])._repr_html_()
    assert "nan" not in shown
    assert not re.search(r"\binf\b", shown)  # but "infinite", in words
    assert not [each for each, _ in Outline(shown).elements if each in ("script", "style")]


def test_a_notebook_shows_the_curve(paper, visit, tmp_path):
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{paper._repr_html_()}", encoding="utf-8")
    with visit(path) as page:
        box = page.locator("path[stroke=currentColor]").bounding_box()
        assert box["width"] == pytest.approx(576, abs=8)  # 36rem, and the width of the line
        assert 100 < box["height"] < 144
        assert page.locator(f'path[stroke="{LINES[1]}"]').count() == 2  # too low, and its ends


def test_secants_say_which_way_and_noise_is_grey(paper):
    def strokes(result):
        return [
            each["stroke"]
            for _, each in Outline(small_picture(result)).elements
            if each.get("stroke") in LINES and "stroke-linecap" not in each
        ]

    assert strokes(paper) == [LINES[1], LINES[0]]
    assert strokes(secant.assess([1, 1, 0], [0.4, 0.5, 0.6])) == [LINES[2]]


def test_without_a_worst_range_there_is_no_secant():
    shown = small_picture(secant.assess([0, 1], [0.0, 1.0]))
    assert not [color for color in LINES if color in shown]


def test_it_is_named_for_those_who_do_not_see_it():
    (_, picture), *_ = Outline(small_picture(secant.assess([0, 1], [0.4, 0.5]))).elements
    assert picture["role"] == "img"
    assert "aria-hidden" not in picture
    assert picture["aria-label"].startswith("Cumulative difference")
