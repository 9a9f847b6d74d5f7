"""How pictures look: one table, styles that can be told apart, colours that can be read."""

import pytest

from secant._drawing import style
from secant._drawing.chart import Mark

DIRECTIONS = {"high", "low", "high-line", "low-line"}


def luminance(color: str) -> float:
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_no_two_of_many_models_look_alike():
    styles = [style.model_style(number) for number in range(25)]
    assert len(set(styles)) == 25
    assert len({each.dash for each in styles[:5]}) == len({each.marker for each in styles[:5]}) == 5
    assert not {each.color for each in styles} & DIRECTIONS


@pytest.mark.parametrize("name", ["ink", "muted", "high", "low", "unsure"])
def test_words_can_be_read_on_light_and_on_dark_paper(name):
    for color, paper in zip(style.COLORS[name], ("#ffffff", "#15181c"), strict=True):
        one, other = sorted((luminance(color), luminance(paper)))
        assert (other + 0.05) / (one + 0.05) >= 4.5  # as WCAG asks of text


def test_every_role_has_a_colour_that_exists():
    for role, look in style.LOOKS.items():
        for mood in ("high", "low", "unsure", ""):
            for kind in ("line", "text"):
                shown = style.look_of(Mark(kind, role, 0, mood=mood))
                assert shown.color in style.COLORS
                if look.color == "mood" and mood:
                    assert shown.color == (mood if kind == "text" else f"{mood}-line")


def test_a_curve_wears_the_colour_and_the_dashes_of_its_model():
    for number in range(7):
        model = style.model_style(number)
        look = style.look_of(Mark("line", "curve", 0, number=number))
        assert (look.color, look.dash) == (model.color, model.dash)
