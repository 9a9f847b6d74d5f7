"""What depends on bins, described."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from secant._drawing.chart import Axis, Space
from secant._drawing.diagrams import _APART, _apart, by_bins, counts, distribution, reliability

SPACE = Space(5, 5, 10)


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    return secant.assess(rng.random(1000) < p**1.3, p)


def test_a_diagram_is_its_bins(result):
    bins = result.reliability(n_bins=10)
    chart = reliability(SPACE, [bins], limits=True, recalibrated=[result.recalibrated])
    [line], [limits], [stairs] = chart.of("bins"), chart.of("limits"), chart.of("recalibrated")
    filled = bins.count > 0
    assert (line.x == bins.mean_score[filled]).all()
    assert (line.y == bins.mean_response[filled]).all()
    assert (limits.y == np.column_stack([bins.low, bins.high])[filled]).all()
    assert (stairs.x == result.recalibrated.line[0]).all()
    assert (stairs.mood, line.mood) == ("muted", "")  # of one model, what explains is grey
    lines = [(np.zeros((20, 10)), np.ones((20, 10)))] * 2
    of_one, of_two = (reliability(SPACE, [bins] * k, resamples=lines[:k]) for k in (1, 2))
    assert [mark.mood for mark in of_one.of("resamples")] == ["muted"]
    assert [(mark.mood, mark.number) for mark in of_two.of("resamples")] == [("", 0), ("", 1)]
    assert chart.of("diagonal")[0].x.tolist() == [0, 1]


def test_the_two_sides_of_the_diagonal_are_named():
    chart = reliability(SPACE)
    sides = {mark.says: (mark.x, mark.y, mark.mood) for mark in chart.of("hint")}
    # They say which side is which and not what was found, so that they have no direction's colour.
    assert sides == {"too low": (-math.inf, math.inf, ""), "too high": (math.inf, -math.inf, "")}


def test_hints_are_written_one_above_the_other_where_they_have_room():
    said = reliability(SPACE, hints=["bars", "", "lines"]).of("hint")[2:]
    assert [(mark.says, mark.row) for mark in said] == [("bars", 1), ("lines", 2)]
    assert reliability(Space(0.5, 1, 10), hints=["a great many words"]).of("hint")[2:] == []


@pytest.mark.parametrize(("scores", "whole"), [((0.1, 0.9), True), ((0.01, 0.03), False)])
def test_a_diagram_shows_the_part_of_the_scale_in_use(scores, whole):
    chart = reliability(SPACE, seen=scores)
    found = (-0.03, 1.03) if whole else (0.0088, 0.0312)
    assert (chart.x.low, chart.x.high) == pytest.approx(found, abs=1e-12)
    assert (chart.y.low, chart.y.high) == (chart.x.low, chart.x.high)


def test_many_bins_are_drawn_finer(result):
    for n_bins, role in ((32, "bins"), (33, "many bins")):
        assert len(reliability(SPACE, [result.reliability(n_bins=n_bins)]).of(role)) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_bins": 1}, " (1 bin)"),
        ({"n_bins": 7}, " (7 bins of equal width)"),
        ({"n_bins": 7, "strategy": "quantile"}, " (7 bins of equal count)"),
    ],
)
def test_the_abscissa_says_how_many_bins(result, options, words):
    bins = result.reliability(**options)
    assert reliability(SPACE, [bins]).x.name == f"Mean forecast{words}"
    several = reliability(SPACE, [bins, result.reliability(n_bins=3)])
    assert several.x.name == several.x.short == "Mean forecast"


def test_counts_are_bars_of_one_model_and_outlines_of_several(result):
    bins = result.reliability(n_bins=5)
    [bars] = counts([bins], Axis(0, 1)).marks
    assert (bars.kind, bars.y.sum()) == ("bars", result.n)
    assert [mark.kind for mark in counts([bins, bins], Axis(0, 1)).marks] == ["stairs"] * 2
    assert counts([bins], Axis(0, 1), first=1).marks[0].number == 1


def test_a_distribution_is_written_in_percent():
    numbers = {"edges": [0.0, 0.5, 1.0], "weight": [0.25, 0.75], "happened": [0.1, 0.5]}
    chart = distribution(numbers, "share of weight")
    assert [mark.y.tolist() for mark in chart.marks] == [[0.25, 0.75], [0.1, 0.5]]
    assert chart.y.name == "share of weight"
    assert chart.y.ticks(4)[:2] == [(0.0, "0%"), (0.2, "20%")]


def test_each_kind_of_bins_is_a_view_with_its_names():
    rows = [{"n_bins": m, "ece": 0.01 * m, "noise_floor": 0.005 * m} for m in (4, 8)]
    chart = by_bins({"uniform": rows, "quantile": []}, 0.02)
    [ecce] = chart.of("ecce")
    assert (ecce.view, ecce.y.tolist()) == ("", [0.02, 0.02])
    [ece] = chart.of("ece")
    assert (ece.view, ece.x.tolist(), ece.y.tolist()) == ("uniform", [2, 3], [0.04, 0.08])
    names = [mark.says for mark in chart.of("hint")]
    assert sorted(names) == ["ECCE-R", "ECE", "noise floor"]
    assert {mark.view for mark in chart.of("hint")} == {"uniform"}
    assert chart.x.ticks(5)[:2] == [(2, "4"), (4, "16")]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_labels_at_the_side_do_not_touch(places):
    ticks = [(at, str(number)) for number, at in enumerate(places)]
    moved = _apart(ticks, 1.0)
    assert [text for _, text in moved] == [text for _, text in sorted(ticks)]
    assert all(b - a >= _APART - 1e-12 for (a, _), (b, _) in pairwise(moved))
    assert moved[-1][0] <= 1
    far_apart = all(b - a >= _APART for a, b in pairwise(sorted(places)))
    assert not far_apart or moved == sorted(ticks)
