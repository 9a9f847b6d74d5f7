"""Charts as SVG: marks with their looks, labels by percentages."""

import math
from itertools import pairwise

import numpy as np
import pytest

import secant
import secant.report
from pages import Outline
from secant._drawing.chart import Axis, Chart, Mark
from secant._drawing.style import COLORS, LOOKS
from secant.report._svg import UNIT, css, frame, picture, swatch

X, Y = np.array([0.0, 0.5, 1.0]), np.array([0.0, 2.0, 1.0])
CHART = Chart("title", Axis(0, 1, "across"), Axis(0, 2, "up"))


def paths(mark, **options):
    drawn = Outline(picture(Chart("", CHART.x, CHART.y, [mark]), **options))
    return [found for element, found in drawn.elements if element == "path"]


@pytest.mark.parametrize(
    ("mark", "path"),
    [
        (Mark("line", "curve", X, Y), "M0 1000L500 0L1000 500"),
        (Mark("area", "triangle", X, Y), "M0 1000L500 0L1000 500Z"),
        (Mark("span", "shade", X[:2]), "M0 0H500V1000H0Z"),
        (Mark("dots", "alarm", X[:1], Y[:1]), "M0 1000h0"),
        # A bar stands on the axis, and an empty one is not drawn.
        (Mark("bars", "weight", X, Y[[1, 0]]), "M40 1000V0H460V1000Z"),
        (Mark("bars", "weight", X[:2], Y[:1]), "M0 0"),
    ],
    ids=["line", "area", "span", "dots", "bars", "empty bar"],
)
def test_every_kind_of_mark_is_a_path(mark, path):
    [drawn] = paths(mark)
    assert drawn["d"] == path
    assert mark.role in drawn["class"].split()


def test_a_picture_alone_brings_its_colours_and_one_on_a_page_does_not():
    mark = Mark("line", "secant", X, Y, mood="high")
    line, dots = paths(mark, alone=True)
    assert line["stroke"] == dots["stroke"] == COLORS["high-line"][0]
    assert (line["fill"], line["vector-effect"]) == ("none", "non-scaling-stroke")
    assert line["stroke-width"] == f"{LOOKS['secant'].width:g}pt"
    ink = paths(Mark("line", "curve", X, Y), alone=True)[0]
    assert ink["stroke"] == "currentColor"  # that of the text around
    [styled, _] = paths(mark)
    assert (styled["class"], styled["data-mood"]) == ("secant", "high")
    assert "stroke" not in styled
    [second] = paths(Mark("line", "curve", X, Y, number=1))
    assert (second["class"], second["data-series"]) == ("curve model-1", "1")


def test_styles_have_every_role_and_every_colour_twice():
    text = css()
    for role in LOOKS:
        assert f"svg .{role.replace(' ', '-')}{{" in text
    for name, colors in COLORS.items():
        assert [f"--{name}:{color}" in text for color in colors] == [True, True]


def test_words_stand_at_their_place_or_at_the_end_of_the_axes():
    marks = [
        Mark("text", "note", 0.25, math.inf, "a < b", "low", anchor="s", row=2),
        Mark("text", "hint", -math.inf, 1.0, "c", anchor="e"),
    ]
    shown = frame(Chart("", CHART.x, CHART.y, marks), picture(CHART), class_="x")
    spans = [each for _, each in Outline(shown).elements if "label" in each.get("class", "")]
    assert [each["style"] for each in spans] == ["left:25%;top:0%;--row:2", "left:0%;top:50%"]
    assert [each["data-at"] for each in spans] == ["s", "e"]
    assert spans[0]["data-mood"] == "low"
    assert "a &lt; b" in shown


def test_axes_have_their_names_and_labels_on_a_screen_and_on_a_phone():
    narrow = Axis(0, 4, "", write=lambda inches, _: [(2.0, "wide" if inches > 5 else "narrow")])
    shown = frame(Chart("", narrow, CHART.y, top=Axis(0, 1, "above")), picture(CHART), class_="x")
    for name in ("up", "above"):
        assert f">{name}</p>" in shown
    for kind in ("wide", "narrow"):
        assert f'<div class="axis bottom {kind}" aria-hidden="true">' in shown
        assert f'<span style="left:50%">{kind}</span>' in shown
    assert '<span style="top:100%">0</span>' in shown


def test_a_swatch_is_a_piece_of_the_line():
    assert f'd="M0 500h{UNIT}" class="curve model-2"' in swatch(7)


# In a page ----------------------------------------------------------------------------------------


def test_weights_are_named(tmp_path):
    rng = np.random.default_rng(9)
    scores = rng.random(500)
    result = secant.assess(rng.random(500) < scores, scores, sample_weight=rng.lognormal(size=500))
    assert secant.report.render(result).count("Fraction of weight") == 1


def test_labels_below_the_plot_do_not_touch(visit, paper_page):
    for width in (390, 700, 1280):
        with visit(paper_page, viewport={"width": width, "height": 800}) as page:
            spans = page.locator("#area .axis.bottom span:visible")
            boxes = [spans.nth(k).bounding_box() for k in range(spans.count())]
            assert len(boxes) >= 3
            for left, right in pairwise(boxes):
                assert left["x"] + left["width"] < right["x"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_line_among_the_bins_wears_the_colour_of_a_model(visit, full_page, scheme):
    with visit(full_page, color_scheme=scheme) as page:
        colors = [
            page.locator(each).first.evaluate("each => getComputedStyle(each).stroke")
            for each in ("path.ecce", ".curve.model-0", ".curve.model-1")
        ]
        assert len(set(colors)) == 3


def test_the_triangle_says_that_clusters_are_in_it():
    rows = ([0, 1] * 40, [0.4, 0.6] * 40)
    alone, together = (
        secant.assess(*rows),
        secant.assess(*rows, clusters=[i // 2 for i in range(80)]),
    )
    pages = [secant.report.render(each) for each in (alone, together)]
    assert ["noise in clusters" in page for page in pages] == [False, True]
    assert ["times what clusters add" in page for page in pages] == [False, True]


# Points of the curve inside the box of an element, as the browser has them.
INSIDE = """each => {
  const box = each.getBoundingClientRect(), curve = document.querySelector("#picture .curve");
  const length = curve.getTotalLength(), to = curve.getScreenCTM();
  let inside = 0;
  for (let k = 0; k <= 4000; k++) {
    const { x, y } = curve.getPointAtLength((length * k) / 4000).matrixTransform(to);
    inside += x > box.left && x < box.right && y > box.top && y < box.bottom;
  }
  return inside;
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_the_name_of_the_triangle_stands_clear_of_the_curve_and_of_signs(visit, tmp_path, width):
    p = np.linspace(0.01, 0.99, 4000)
    rng = np.random.default_rng(3)
    steep, flat = (1 / (1 + (1 / p - 1) ** power) for power in (0.5, 0.97))
    for number, truth in enumerate((steep, flat, p**0.3, p**3, np.maximum(p, 0.9), p)):
        path = tmp_path / f"{number}.html"
        secant.assess(rng.random(4000) < truth, p).report(path)
        with visit(path, viewport={"width": width, "height": 844}) as page:
            name = page.locator(".noise-name")
            assert name.inner_text() == "noise, \N{PLUS-MINUS SIGN}2\N{GREEK SMALL LETTER SIGMA}"
            assert name.evaluate(INSIDE) == 0
            box = name.bounding_box()
            signs = page.locator("#signs b:visible")
            for k in range(signs.count()):
                assert box["y"] + box["height"] <= signs.nth(k).bounding_box()["y"]


def test_without_a_script_the_plot_stands_as_with_one(visit, paper_page):
    places = []
    for script in (True, False):
        with visit(paper_page, java_script_enabled=script) as page:
            boxes = [page.locator(each).bounding_box() for each in (".noise-name", "#noise")]
            tops = page.locator("#area .axis.left span").all_inner_texts()
            places.append([[round(box["y"]) for box in boxes], tops])
    assert places[0] == places[1]
