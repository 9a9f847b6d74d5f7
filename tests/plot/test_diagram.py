"""Reliability diagrams on axes: one range, the counts below, and others beside."""

import pytest

import secant
from helpers import optional
from secant import ReliabilityDisplay
from secant._drawing.chart import Space
from secant._drawing.diagrams import reliability
from secant.plot._diagram import below, draw_counts, draw_diagram, lines

optional("matplotlib")
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


def axes(width=5.4, height=5.4, **options):
    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure.subplots()


def test_the_diagonal_and_its_sides(predictions):
    display = ReliabilityDisplay.from_predictions(*predictions, ax=axes())
    assert display.diagonal_.get_xydata().tolist() == [[0, 0], [1, 1]]
    sides = {text.get_text(): text.xy for text in display.ax_.texts}
    assert sides["too low"] == (0, 1)
    assert sides["too high"] == (1, 0)
    assert "bars: 95% limits of each bin" in sides


def test_both_axes_have_one_range(predictions):
    y, p = predictions
    whole = ReliabilityDisplay.from_predictions(y, p, ax=axes()).ax_
    assert whole.get_xlim() == whole.get_ylim() == pytest.approx((-0.03, 1.03))
    rare = ReliabilityDisplay.from_predictions(
        y & (p < 0.05), p / 20, strategy="quantile", n_bins=5, counts=True, ax=axes()
    )
    assert rare.ax_.get_xlim() == rare.ax_.get_ylim() == rare.counts_ax_.get_xlim()
    assert rare.ax_.get_xlim()[1] < 0.1
    one = ReliabilityDisplay.from_predictions([1], [0.3], n_bins=1, ax=axes())
    assert one.ax_.get_xlim() == one.ax_.get_ylim()


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_counts_stand_below_and_inside_the_room_of_the_axes(predictions, layout):
    figure = Figure(figsize=(8, 4), layout=layout)
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    display = ReliabilityDisplay.from_predictions(*predictions, counts=True, ax=left)
    figure.canvas.draw()
    above, under = left.get_position(), display.counts_ax_.get_position()
    assert under.y1 < above.y0
    assert (under.x0, under.x1) == pytest.approx((above.x0, above.x1))
    assert above.x1 < right.get_position().x0
    assert display.ax_ is left


def test_counts_below_axes_placed_by_hand(predictions):
    figure = Figure()
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0.1, 0.2, 0.8, 0.7))
    display = ReliabilityDisplay.from_predictions(*predictions, counts=True, ax=ax)
    under = display.counts_ax_.get_position()
    assert under.y0 == pytest.approx(0.2)
    assert under.y1 < ax.get_position().y0
    assert ax.get_position().y1 == pytest.approx(0.9)


def test_a_second_diagram_finds_the_first(predictions):
    bins = secant.assess(*predictions).reliability(n_bins=4)
    ax = axes()
    chart = reliability(Space(4, 4), [bins], hints=["bars"])
    first = draw_diagram(ax, chart, ["a"])
    assert below(ax) is None
    [drawn] = draw_counts(ax, [bins], chart, 0)
    under = below(ax)
    assert drawn[0].axes is under
    second = draw_diagram(ax, reliability(Space(4, 4), [bins], first=1, hints=["bars"]), ["b"])
    assert second["diagonal"] == first["diagonal"]
    [outline] = draw_counts(ax, [bins], chart, 1)
    assert (outline.axes, below(ax)) == (under, under)
    assert lines(ax) == first["bins"] + second["bins"]
    # What bars are is said once.
    said = [text.get_text() for text in ax.texts]
    assert sorted(said) == ["bars", "too high", "too low"]
