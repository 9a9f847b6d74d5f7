"""Every number says what it means, to the pointer, the finger and the keyboard."""

import pytest

from secant.report._definitions import DEFINITIONS


def test_definitions_show_on_hover_and_on_focus(visit, paper_page):
    with visit(paper_page) as page:
        triangle = page.locator("#noise")
        triangle.hover()
        assert "scale of noise" in triangle.inner_text()
        word = page.locator("#metrics .term").first
        assert not word.locator("[role=tooltip]").is_visible()
        word.hover()
        assert word.locator("[role=tooltip]").is_visible()
        page.mouse.move(0, 0)
        assert not word.locator("[role=tooltip]").is_visible()
        word.focus()
        assert word.locator("[role=tooltip]").is_visible()


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_definitions_stay_on_the_screen(visit, full_page, width):
    with visit(full_page, viewport={"width": width, "height": 900}) as page:
        words = page.locator(".term")
        for number in range(words.count()):
            words.nth(number).focus()
            box = words.nth(number).locator("[role=tooltip]").bounding_box()
            assert box["x"] >= 0, words.nth(number).inner_text()
            assert box["x"] + box["width"] <= width, words.nth(number).inner_text()


def test_definitions_are_sentences():
    for label, says in DEFINITIONS.items():
        assert says.endswith("."), label
        assert "{" not in says, label
