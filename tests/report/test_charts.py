"""The charts as they stand before anybody touches them."""

from itertools import pairwise

import numpy as np
import pytest

import secant
import secant.report


def test_weights_are_named(tmp_path):
    rng = np.random.default_rng(9)
    scores = rng.random(500)
    result = secant.assess(rng.random(500) < scores, scores, sample_weight=rng.lognormal(size=500))
    assert secant.report.render(result).count("share of weight") == 2


def test_labels_below_the_plot_do_not_touch(visit, paper_page):
    for width in (390, 700, 1280):
        with visit(paper_page, viewport={"width": width, "height": 800}) as page:
            spans = page.locator("#area .axis.bottom span:visible")
            boxes = [spans.nth(k).bounding_box() for k in range(spans.count())]
            assert len(boxes) >= 3
            for left, right in pairwise(boxes):
                assert left["x"] + left["width"] < right["x"]


def test_the_triangle_has_its_name_where_the_curve_is_not(visit, tmp_path):
    p = np.full(2000, 0.5) + np.linspace(-0.2, 0.2, 2000)
    for name, happened, side in (("up", p < 0.4, "below"), ("down", p > 0.6, "above")):
        path = tmp_path / f"{name}.html"
        secant.assess(happened, p).report(path)
        with visit(path) as page:
            noise, said = page.locator("#noise"), page.locator("#noise .noise-name")
            assert said.inner_text() == "noise, \N{PLUS-MINUS SIGN}2\N{GREEK SMALL LETTER SIGMA}"
            triangle, box = noise.bounding_box(), said.bounding_box()
            assert noise.get_attribute("data-side") == side
            if side == "above":
                assert box["y"] + box["height"] <= triangle["y"] + 1
            else:
                assert box["y"] >= triangle["y"] + triangle["height"] - 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_line_among_the_bins_wears_the_colour_of_a_model(visit, full_page, scheme):
    with visit(full_page, color_scheme=scheme) as page:
        colors = [
            page.locator(each).first.evaluate("each => getComputedStyle(each).stroke")
            for each in ("path.by-bins.ecce", ".curve.model-0", ".curve.model-1")
        ]
        assert len(set(colors)) == 3
