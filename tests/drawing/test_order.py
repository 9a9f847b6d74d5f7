"""An axis of another kind has other words, and only they change."""

import secant
from helpers import optional
from secant._drawing.order import SCORES, Order
from secant._drawing.ticks import each_score, equal_fractions

optional("matplotlib")
from matplotlib.figure import Figure  # noqa: E402

from secant.plot._graph import Graph  # noqa: E402

RESULT = secant.assess([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.9])
YEARS = Order(
    "Year",
    "year of the prediction",
    "years",
    lambda values, **_: [f"{2000 + 10 * value:.0f}" for value in values],
    lambda each: f"years {each.low} to {each.high}",
)


def test_labels_are_written_as_the_order_says():
    assert each_score(RESULT.curve, 9, 10, YEARS)[1] == ["2001", "2004", "2005", "2009"]
    assert equal_fractions(RESULT.curve, 9, 10, YEARS)[1][-1] == "2009"
    assert each_score(RESULT.curve, 9, 10)[1] == ["0.10", "0.40", "0.50", "0.90"]


def test_a_graph_names_its_axis_after_the_order():
    for order in (SCORES, YEARS):
        graph = Graph(Figure().subplots(), order)
        graph.curve(RESULT.curve, 0, label="a")
        graph.scores([RESULT.curve], 0)
        assert graph.ax.get_xlabel() == order.name
