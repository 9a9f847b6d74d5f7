"""The parts of a reliability diagram: the diagonal, the range of the axes, the counts below."""

import pytest

import secant
from helpers import optional
from secant import ReliabilityDisplay
from secant._drawing import style
from secant.plot._diagram import Diagram

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
    sides = {text.get_text(): text for text in display.ax_.texts}
    assert sides["too low"].xy == (0, 1)
    assert sides["too high"].xy == (1, 0)
    # They say which side is which and not what was found, so that they have no direction's colour.
    assert {sides[each].get_color() for each in ("too low", "too high")} == {style.MUTED}
    assert "bars: 95% limits of each bin" in sides


def test_both_axes_have_one_range(predictions):
    y, p = predictions
    whole = ReliabilityDisplay.from_predictions(y, p, ax=axes()).ax_
    assert whole.get_xlim() == whole.get_ylim() == pytest.approx((-0.02, 1.02))
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
    above, below = left.get_position(), display.counts_ax_.get_position()
    assert below.y1 < above.y0
    assert (below.x0, below.x1) == pytest.approx((above.x0, above.x1))
    assert above.x1 < right.get_position().x0
    assert display.ax_ is left


def test_counts_below_axes_placed_by_hand(predictions):
    figure = Figure()
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0.1, 0.2, 0.8, 0.7))
    display = ReliabilityDisplay.from_predictions(*predictions, counts=True, ax=ax)
    below = display.counts_ax_.get_position()
    assert below.y0 == pytest.approx(0.2)
    assert below.y1 < ax.get_position().y0
    assert ax.get_position().y1 == pytest.approx(0.9)


def test_a_second_diagram_finds_the_first(predictions):
    bins = secant.assess(*predictions).reliability(n_bins=4)
    ax = axes()
    first = Diagram(ax)
    diagonal = first.diagonal()
    assert first.lines == []  # the diagonal is none of them
    line = first.line(bins, 0, label="a")
    assert first.below is None
    below = first.counts()
    again = Diagram(ax)
    assert again.diagonal() is diagonal
    assert again.counts() is again.below is below
    assert again.lines == [line]


def test_what_bars_are_is_said_once(predictions):
    bins = secant.assess(*predictions).reliability(n_bins=4)
    diagram = Diagram(axes())
    for words in ("bars", "bars", "lines", ""):
        diagram.label([bins], words)
    assert [text.get_text() for text in diagram.ax.texts] == ["bars", "lines"]
    first, second = diagram.ax.texts
    assert second.get_position()[1] > first.get_position()[1]  # not on top of each other


@pytest.mark.parametrize(("n_bins", "words"), [(1, "1 bin"), (7, "7 bins of equal width")])
def test_the_abscissa_says_how_many_bins(predictions, n_bins, words):
    diagram = Diagram(axes())
    diagram.label([secant.assess(*predictions).reliability(n_bins=n_bins)], "")
    assert diagram.ax.get_xlabel() == f"Mean forecast ({words})"


def test_many_bins_are_drawn_finer(predictions):
    result, diagram = secant.assess(*predictions), Diagram(axes())
    few, many = (diagram.line(result.reliability(n_bins=m), 0, label="") for m in (32, 33))
    assert many.get_markersize() < few.get_markersize()
    assert many.get_linewidth() < few.get_linewidth()
