"""The charts as they stand before anybody touches them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
import secant.report
from secant.report import _charts


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


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_labels_at_the_side_do_not_touch(places):
    ticks = [(at, str(number)) for number, at in enumerate(places)]
    moved = _charts._apart(ticks)
    assert [text for _, text in moved] == [text for _, text in sorted(ticks)]
    assert all(b - a >= _charts._APART - 1e-12 for (a, _), (b, _) in pairwise(moved))
    assert moved[-1][0] <= 1
    far_apart = all(b - a >= _charts._APART for a, b in pairwise(sorted(places)))
    assert not far_apart or moved == sorted(ticks)


def test_the_axis_has_room_for_every_curve_and_for_noise():
    tall, flat = (secant.assess([1] * 9, np.linspace(a, a + 0.1, 9)) for a in (0.1, 0.8))
    for read, other in ((tall, flat), (flat, tall)):
        found = _charts.view(read, [other])
        for each in (tall, flat):
            assert found["low"] < min(each.curve.difference.min(), -2 * each.sigma)
            assert found["high"] > max(each.curve.difference.max(), 2 * each.sigma)
    assert _charts.view(tall, [])["steps"] != "M0 0"
    assert _charts.view(tall, [], steps=False)["steps"] == "M0 0"


def test_the_triangle_says_that_clusters_are_in_it():
    rows = ([0, 1] * 40, [0.4, 0.6] * 40)
    alone, together = (
        secant.assess(*rows),
        secant.assess(*rows, clusters=[i // 2 for i in range(80)]),
    )
    pages = [secant.report.render(each) for each in (alone, together)]
    assert ["noise in clusters" in page for page in pages] == [False, True]
    assert ["times what clusters add" in page for page in pages] == [False, True]


def test_a_bar_stands_on_the_axis_and_an_empty_one_is_not_drawn():
    drawn = _charts._bars(np.asarray([0.0, 100.0, 200.0]), np.asarray([400.0, 1000.0]))
    assert drawn == "M8 1000V400H92V1000Z"
    assert _charts._bars(np.asarray([0.0, 1000.0]), np.asarray([1000.0])) == "M0 0"


@pytest.mark.parametrize(("scores", "whole"), [((0.1, 0.9), True), ((0.01, 0.03), False)])
def test_a_diagram_shows_the_part_of_the_scale_in_use(scores, whole):
    row = {"n_bins": 4, "mean_score": scores, "mean_response": scores}
    far = {"n_bins": 64, "mean_score": (0.0, 1.0), "mean_response": (0.0, 1.0)}
    found = _charts._reliability_axis({"uniform": [row, far], "quantile": []})
    assert (found.low, found.high) == pytest.approx(
        (-0.03, 1.03) if whole else (0.0088, 0.0312), abs=1e-12
    )


def test_the_name_of_the_triangle_stands_clear_of_the_signs_below(visit, tmp_path):
    p = np.linspace(0.01, 0.99, 4000)
    rng = np.random.default_rng(3)
    steep, flat = (1 / (1 + (1 / p - 1) ** power) for power in (0.5, 0.97))
    for number, truth in enumerate((steep, flat, p**0.3, np.maximum(p, 0.9))):
        path = tmp_path / f"{number}.html"
        secant.assess(rng.random(4000) < truth, p).report(path)
        with visit(path, viewport={"width": 390, "height": 844}) as page:
            name = page.locator(".noise-name").bounding_box()
            signs = page.locator("#signs b:visible")
            for k in range(signs.count()):
                assert name["y"] + name["height"] <= signs.nth(k).bounding_box()["y"]
