"""Marks become artists: every kind, on light and on dark paper."""

import math

import numpy as np
import pytest

from helpers import optional
from secant._drawing.chart import Axis, Chart, Mark
from secant._drawing.style import COLORS
from secant.plot._draw import artists, color, draw, model_line, remove, space_of

optional("matplotlib")
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

X, Y = np.array([0.0, 0.5, 1.0]), np.array([0.0, 2.0, 1.0])
UNIT = Axis(0, 1)
MARKS = [
    Mark("line", "curve", X, Y),
    Mark("area", "triangle", X, Y),
    Mark("span", "shade", X[:2], mood="high"),
    Mark("dots", "alarm", X, Y, mood="low"),
    Mark("lines", "resamples", [X, X], [Y, np.array([1.0, math.nan, 2.0])]),
    Mark("bars", "counts", X, Y[:2]),
    Mark("stairs", "outline", X, Y[:2], number=1),
    Mark("text", "sign", 0.5, -math.inf, "words", "high", anchor="n"),
]


@pytest.fixture
def ax():
    return Figure().subplots()


def test_every_kind_of_mark_is_an_artist_with_its_numbers(ax):
    drawn = draw(Chart("", UNIT, UNIT, MARKS), ax, labels=["a"])
    assert {role: len(found) for role, found in drawn.items()} == dict.fromkeys(
        [mark.role for mark in MARKS], 1
    )
    [line], [triangle], [dots] = drawn["curve"], drawn["triangle"], drawn["alarm"]
    assert line.get_xydata().tolist() == np.column_stack([X, Y]).tolist()
    assert (line.get_label(), line.get_marker()) == ("a", "None")
    assert triangle.get_xy()[:3].tolist() == np.column_stack([X, Y]).tolist()
    assert (dots.get_linestyle(), dots.get_color()) == ("None", COLORS["low-line"][0])
    whole, broken = drawn["resamples"][0].get_segments()
    assert (len(whole), broken.tolist()) == (3, [[0, 1], [1, 2]])
    assert [bar.get_height() for bar in drawn["counts"][0]] == [0, 2]
    assert drawn["outline"][0].get_data().values.tolist() == [0, 2]
    [text] = drawn["sign"]
    assert (text.get_text(), text.xy, text.xycoords) == (
        "words", (0.5, 0.0), ("data", "axes fraction"),
    )  # fmt: skip
    assert (text.get_verticalalignment(), text.get_horizontalalignment()) == ("bottom", "center")
    assert text.get_color() == COLORS["high"][0]


def test_artists_are_found_and_taken_away_by_their_role(ax):
    draw(Chart("", UNIT, UNIT, [*MARKS, Mark("line", "zero", X, Y)]), ax)
    [zero] = artists(ax, "zero")
    again = draw(Chart("", UNIT, UNIT, [Mark("line", "zero", X, Y)]), ax)
    assert again["zero"] == [zero]  # which is there once
    remove(ax, "sign", "shade")
    assert artists(ax, "sign", "shade") == []
    assert len(artists(ax, "curve", "zero")) == 2


def test_a_model_that_is_given_a_colour_has_it_everywhere(ax):
    drawn = draw(Chart("", UNIT, UNIT, MARKS), ax, c="green", lw=3)
    assert drawn["curve"][0].get_color() == "green"
    assert drawn["curve"][0].get_linewidth() == 3
    assert to_hex(drawn["triangle"][0].get_facecolor()) == "#008000"
    assert drawn["alarm"][0].get_color() == COLORS["low-line"][0]


@pytest.mark.parametrize("paper", ["white", "black", "none"])
def test_colours_are_those_of_the_paper(ax, paper):
    ax.set_facecolor(paper)
    assert color(ax, "ink") == COLORS["ink"][paper == "black"]
    assert color(ax, "high") == COLORS["high"][paper == "black"]


def test_a_model_has_one_look():
    looks = [model_line(number) for number in range(3)]
    assert [look["color"] for look in looks] == [
        COLORS[name][0] for name in ("ink", "model-1", "model-2")
    ]
    assert looks[0]["linestyle"] == (0, None)  # solid
    assert len({str(look) for look in looks}) == 3


def test_space_is_measured_inside_the_axes(ax):
    space = space_of(ax)
    assert (space.width, space.height) == pytest.approx((6.4 * 0.775, 4.8 * 0.77))
    assert space.size == 10
