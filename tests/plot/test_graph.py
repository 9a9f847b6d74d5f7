"""The parts of a graph of cumulative differences: the curve, its axes and the words inside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant import CumulativeDisplay
from secant.plot._graph import _CLOSE, _ROOMY, Graph, _inside

optional("matplotlib")
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


def axes(width=7.2, height=4.8, **options):
    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure.subplots()


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def test_long_curves_are_thinned_with_their_extremes():
    n = 200_000
    rng = np.random.default_rng(0)
    p = rng.random(n)
    result = secant.assess(rng.random(n) < p, p)
    display = result.plot(axes())
    drawn, whole = display.line_.get_ydata(), result.curve.difference
    assert len(drawn) < len(whole)
    assert (drawn.min(), drawn.max()) == (whole.min(), whole.max())
    assert drawn.max() - drawn.min() == result.ecce_r.value
    assert set(display.line_.get_xdata()) <= set(result.curve.fraction)


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


def test_few_scores_get_a_stretch_each():
    rng = np.random.default_rng(0)
    p = rng.choice([0.1, 0.3, 0.9], 300)
    display = CumulativeDisplay.from_predictions(rng.random(300) < p, p, ax=axes())
    assert labels(display.ax_.xaxis) == ["0.10", "0.30", "0.90"]
    assert (display.ax_.get_xticks(minor=True) == display.curves[0].fraction).all()


@pytest.mark.parametrize("width", [2.6, 4, 7, 16])
@pytest.mark.parametrize("center", [0.02, 0.3, 0.5, 0.99])
def test_words_stay_inside_the_axes(width, center):
    p = (np.arange(400) + 0.5) / 400
    y = (np.arange(400) % 2 == 0) & (np.abs(p - center) > 0.05)
    display = secant.assess(y, np.full(400, 0.5) + p * 1e-6).plot(axes(width, 3), band=True)
    display.figure_.canvas.draw()
    box = display.ax_.get_window_extent()
    for text in display.notes_:
        extent = text.get_window_extent()
        assert extent.x0 >= box.x0 - 1
        assert extent.x1 <= box.x1 + 1
    if width >= 4:
        lowest = min(text.get_window_extent().y0 for text in display.notes_)
        top = display.ax_.transData.transform((0, display.line_.get_ydata().max()))[1]
        assert lowest > top


def test_models_are_told_apart_without_colour(models):
    y, forecasts = models
    display = CumulativeDisplay.from_predictions(y, forecasts, ax=axes())
    for look in ("get_color", "get_linestyle", "get_marker"):
        values = [str(getattr(line, look)()) for line in display.lines_]
        if look == "get_linestyle":  # matplotlib calls every custom dash "--"
            values = [str(line._dash_pattern) for line in display.lines_]
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


@given(st.floats(0, 1), st.floats(0, 0.98))
def test_a_text_is_written_where_it_does_not_leave_the_axes(center, width):
    place, align = _inside(center, width)
    left = place - {"left": 0, "center": width / 2, "right": width}[align]
    assert left >= 0.01 - 1e-12
    assert left + width <= 0.99 + 1e-12
    assert align != "center" or place == center


def test_a_second_graph_finds_the_first(paper):
    ax = axes()
    first = Graph(ax)
    ax.plot([0, 1], [0, 1])  # not ours
    assert first.curves == []
    line = first.curve(paper.curve, 0, label="a")
    before = len(ax.get_children())
    again = Graph(ax)
    assert again.curves == [line]
    assert len(ax.get_children()) == before  # no second line at zero


def test_a_box_is_free_where_no_curve_runs_through_it(paper):
    graph = Graph(axes())
    graph.curve(paper.curve, 0, label="a")
    low, high = paper.curve.difference.min(), paper.curve.difference.max()
    assert graph._drawn((0.0, 1.0), (low, high))
    assert not graph._drawn((0.0, 1.0), (high, high + 1))
    assert not graph._drawn((0.0, 1.0), (low - 1, low))
    assert not graph._drawn((1.1, 1.2), (low, high))


@pytest.mark.parametrize("height", [2.0, 6.0])
def test_the_ordinate_has_room_for_all_that_is_drawn(paper, height):
    graph = Graph(axes(height=height))
    line = graph.curve(paper.curve, 0, label="a")
    graph.triangle(paper.sigma, "black")
    graph.band(0.2)
    graph.fit(0.95)
    low, high = graph.ax.get_ylim()
    assert low < min(line.get_ydata().min(), -2 * paper.sigma, -0.2)
    assert high > max(line.get_ydata().max(), 2 * paper.sigma, 0.2)
    assert {text.get_text() for text in graph.ax.texts} == {
        "\N{PLUS-MINUS SIGN}2\N{GREEK SMALL LETTER SIGMA}",
        "95% of calibrated curves stay inside",
    }


def test_more_rows_of_scores_take_more_room():
    for rows in (_ROOMY, _CLOSE):
        needed = [rows.needed(count, 10) for count in (1, 2, 3)]
        assert needed == sorted(set(needed))
    assert _CLOSE.needed(3, 10) < _ROOMY.needed(3, 10)
