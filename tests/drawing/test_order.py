"""An axis of another kind has other words, and only they change."""

from dataclasses import replace

import numpy as np
import pytest

import secant
import secant.report
from helpers import optional
from secant._drawing.graph import abscissa
from secant._drawing.order import (
    SCORES,
    Order,
    check_one_axis,
    order_of,
    score_labels,
    score_range,
)
from secant._drawing.ticks import each_score, equal_fractions
from secant._input.ordering import ordering

RESULT = secant.assess([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.9])
YEARS = Order(
    "Year",
    "years",
    lambda values, **_: [f"{2000 + 10 * value:.0f}" for value in values],
    lambda each: f"years {each.low} to {each.high}",
)


def test_labels_are_written_as_the_order_says():
    assert each_score(RESULT.curve, 9, 10, YEARS)[1] == ["2001", "2004", "2005", "2009"]
    assert equal_fractions(RESULT.curve, 9, 10, YEARS)[1][-1] == "2009"
    assert each_score(RESULT.curve, 9, 10)[1] == ["0.10", "0.40", "0.50", "0.90"]


def test_an_axis_is_named_after_the_order():
    for order in (SCORES, YEARS):
        assert abscissa(RESULT.curve, order).name == order.name


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.2, 0.6, "scores 0.200 to 0.600"),
        (0.0, 1.0, "scores 0.000 to 1.000"),
        (1.234e-5, 0.5, "scores 1.23e-05 to 0.500"),
        (0.5, 0.5, "score 0.500"),
    ],
)
def test_a_range_of_scores_in_words(low, high, words):
    assert score_range(replace(RESULT.between(0, 1), low=low, high=high)) == words


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([0, 3e-7, 1], ["0", "3e-7", "1"]),
        ([0.5, 0.5004], ["0.5000", "0.5004"]),
        ([0.003, 0.25], ["0.003", "0.250"]),
    ],
)
def test_scores_have_the_digits_they_need(scores, labels):
    assert score_labels(scores) == labels


def along(values, name="day", seed=0):
    """Return a result along an axis; predictions are too high in the middle of it."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(0.2, 0.8, 3000)
    place = rng.integers(0, len(values), 3000)
    off = np.abs(place - len(values) / 2) < len(values) / 6
    data = {"y": rng.random(3000) < score - 0.2 * off, "s": score, name: np.asarray(values)[place]}
    return secant.assess("y", "s", data=data, order_by=name)


def test_another_axis_has_its_own_words_and_labels():
    days = np.datetime64("2026-01-01") + np.arange(200)
    order = order_of(along(days))
    assert order.name == "day"
    assert order.labels(days[[0, 40, 199]], ends=False) == ["Jan 1", "Feb 10", "Jul 19"]
    assert order.range_words(along(days).worst).endswith(", 2026")
    number = along(np.arange(1, 13), "month")
    assert order_of(number).range_words(number.worst).startswith("month ")
    assert order_of(number).labels(np.arange(1, 4)) == ["1", "2", "3"]
    assert order_of(object()) is SCORES


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (np.array(["2025-12-31", "2026-01-01"], "M8[D]"), ["Dec 31, 2025", "Jan 1, 2026"]),
        (np.array(["2026-01-01T03:00", "2026-01-01T04:30"], "M8[m]"), ["03:00", "04:30"]),
        (np.array(["2026-01-01T03:00", "2026-01-02T04:30"], "M8[m]"), ["Jan 1", "Jan 2"]),
        (np.array(["2026-01", "2026-02"], "M8[M]"), ["Jan", "Feb"]),
        (np.array(["2025", "2026"], "M8[Y]"), ["2025", "2026"]),
        (np.array([30, 90], "m8[s]"), ["30 seconds", "1.5 minutes"]),
        (np.array([0.5, 1.25]), ["0.5", "1.2"]),
        (np.array([1000.25, 1000.5]), ["1000.2", "1000.5"]),
    ],
)
def test_labels_tell_apart(values, labels):
    _, axis = ordering(values, name="x")
    assert axis.labels(values) == labels


def test_pictures_and_pages_along_an_axis(tmp_path):
    optional("matplotlib")
    result = along(np.datetime64("2026-01-01") + np.arange(200))
    display = result.plot()
    labels = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert labels[0] == "Jan 1"
    assert display.ax_.get_xlabel() == "day"
    start, end = display.findings[0][0].ends
    assert end[1] - start[1] == pytest.approx(result.worst.total, abs=1e-3)
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Along day: whether predictions are right on average at each day" in page
    assert '"along": "day"' in page or '"along":"day"' in page
    assert result._repr_html_().count("in the order of day") == 1


def test_results_along_different_axes_do_not_share_a_picture():
    y, p = [0, 1, 0, 1], [0.2, 0.4, 0.6, 0.7]
    by_score, by_x = secant.assess(y, p), secant.assess(y, p, order_by=[4, 3, 2, 1])
    widths = secant.assess_coverage(y, [0, 0, 0, 0], [1, 2, 3, 4], 0.9)
    upper = secant.assess_coverage(y, None, [1, 2, 3, 4], 0.9)
    named_width = {"y": y, "p": p, "width": [1, 2, 3, 4]}
    by_width = secant.assess("y", "p", data=named_width, order_by="width")
    for alike in ([by_score] * 2, [by_x, by_x], [widths, widths], [upper]):
        check_one_axis(alike)
        secant.CumulativeDisplay(alike)
        assert "</html>" in secant.report.render(alike)
    for unlike, words in (
        ([by_score, by_x], "along scores and x "),
        ([widths, upper], "along high and width "),
        ([by_width, widths], "of two kinds (width) "),
    ):
        for draw in (check_one_axis, secant.CumulativeDisplay, secant.report.render):
            with pytest.raises(secant.InputError) as refused:
                draw(unlike)
            assert words in str(refused.value)
    groups = secant.assess_by(y * 5, p * 5, [0, 1] * 10, order_by=range(20))
    with pytest.raises(secant.InputError, match="have no axis in common"):
        secant.report.render(by_score, groups=groups)
