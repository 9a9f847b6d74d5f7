"""Graphs on axes: what a description becomes, and what happens beside others."""

import numpy as np
import pytest

import secant
from helpers import optional
from secant import CumulativeDisplay
from secant._drawing.graph import Bare
from secant.plot._draw import artists
from secant.plot._graph import draw_graph

optional("matplotlib")
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


def axes(width=7.2, height=4.8, **options):
    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure.subplots()


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def test_the_lower_axis_shows_scores_and_the_upper_one_fractions(paper):
    display = paper.plot(axes())
    places = display.ax_.get_xticks()
    assert places == pytest.approx(np.linspace(0, 1, 11))
    # Scores are square roots of fractions.
    assert [float(text) for text in labels(display.ax_.xaxis)] == pytest.approx(
        np.sqrt(places), abs=0.012
    )
    assert labels(display.fraction_axis_.xaxis)[:3] == ["0", "0.1", "0.2"]
    minor = display.ax_.get_xticks(minor=True)
    assert minor == pytest.approx((np.arange(2, 100) / 100) ** 2, abs=1 / 4096)


def test_few_scores_get_a_part_of_the_axis_each():
    rng = np.random.default_rng(0)
    p = rng.choice([0.1, 0.3, 0.9], 300)
    display = CumulativeDisplay.from_predictions(rng.random(300) < p, p, ax=axes())
    assert labels(display.ax_.xaxis) == ["0.10", "0.30", "0.90"]
    assert (display.ax_.get_xticks(minor=True) == display.curves[0].fraction).all()


def test_models_are_told_apart_without_colour(models):
    y, forecasts = models
    display = CumulativeDisplay.from_predictions(y, forecasts, ax=axes())
    for look in ("get_color", "_dash_pattern", "get_marker"):
        # matplotlib calls every custom dash "--"
        values = [getattr(line, look) for line in display.lines_]
        values = [str(value() if callable(value) else value) for value in values]
        assert len(set(values)) == len(display.lines_)
    assert all(line.get_markevery() for line in display.lines_)


def test_each_model_has_its_row_of_scores(models):
    y, forecasts = models
    display = CumulativeDisplay.from_predictions(y, forecasts, ax=axes())
    rows = [child for child in display.ax_.child_axes if child.get_gid() == "secant:row"]
    assert len(rows) == 2
    shown = [labels(display.ax_.xaxis)[5], *(labels(row.xaxis)[5] for row in rows)]
    expected = [np.median(forecast) for forecast in forecasts.values()]
    assert [float(text) for text in shown] == pytest.approx(expected, abs=0.02)


def test_a_second_graph_finds_the_first(paper):
    ax = axes()
    ax.plot([0, 1], [0, 1])  # not ours
    assert artists(ax, "curve") == []
    _, first = draw_graph(ax, [paper], ["a"], bands=[0.2])
    _, second = draw_graph(ax, [Bare(paper.curve, paper.noise)], ["b"], color="green")
    assert artists(ax, "curve") == first["curve"] + second["curve"]
    assert second["zero"] == first["zero"]
    assert second["triangle"][0].get_facecolor()[:3] == pytest.approx((0, 0.502, 0), abs=1e-3)
    low, high = ax.get_ylim()
    assert low < -0.2 < 0.2 < high  # the band of the first


def test_words_above_the_curve_stand_above_it_in_the_picture():
    p = (np.arange(400) + 0.5) / 400
    y = (np.arange(400) % 2 == 0) & (np.abs(p - 0.3) > 0.05)
    for width in (4, 7, 16):
        display = secant.assess(y, np.full(400, 0.5) + p * 1e-6).plot(axes(width, 3), band=True)
        display.figure_.canvas.draw()
        box = display.ax_.get_window_extent()
        extents = [text.get_window_extent() for text in display.notes_]
        assert all(box.x0 - 1 <= each.x0 < each.x1 <= box.x1 + 1 for each in extents)
        top = display.ax_.transData.transform((0, display.line_.get_ydata().max()))[1]
        assert min(each.y0 for each in extents) > top
