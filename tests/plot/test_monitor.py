"""Evidence over time: what is drawn equals the numbers."""

from datetime import date, timedelta

import numpy as np
import pytest

from helpers import optional
from secant import InputError, Monitor, MonitorDisplay
from secant._drawing.style import COLORS

optional("matplotlib")
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


def axes(width=7.2, height=4.2, **options):
    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure.subplots()


def watched(days, change, changed=lambda scores: scores**1.3, name=None, n=500):
    monitor, rng = Monitor(), np.random.default_rng(1)
    for day in range(days):
        scores = rng.random(n)
        chance = scores if day < change else changed(scores)
        time = date(2026, 1, 1) + timedelta(day) if name is None else name(day)
        monitor.add(rng.random(n) < chance, scores, time=time)
    return monitor


def texts(display):
    return [note.get_text() for note in display.notes_]


def test_what_is_drawn_equals_the_numbers():
    monitor = watched(60, 30)
    display = monitor.plot(axes())
    history = monitor.history
    assert isinstance(display, MonitorDisplay)
    assert (display.line_.get_ydata() == [each.log10_evidence for each in history]).all()
    days = [each.time.toordinal() for each in history]
    assert (display.line_.get_xdata() == days).all()
    assert display.threshold_.get_ydata()[0] == pytest.approx(np.log10(20))
    number = [each.alarm for each in history].index(True)
    assert display.alarm_.get_xdata() == [days[number]]
    assert display.alarm_.get_ydata() == [history[number].log10_evidence]
    assert display.since_.get_x() == history.since.toordinal()
    assert display.alarm_.get_color() == COLORS["high-line"][0]
    assert "All scores are too high" in texts(display)
    assert f"since about {history.since}; alarm at {history.alarm_time}" in texts(display)
    assert "alarm at 20" in texts(display)
    assert display.ax_.get_title("left") == "Evidence against calibration: low is good"


def test_without_an_alarm_nothing_is_marked():
    display = watched(60, 99).plot(axes())
    assert display.alarm_ is None
    assert display.since_ is None
    assert texts(display) == ["alarm at 20"]
    low, high = display.ax_.get_ylim()
    assert low < display.log10_evidence.min()
    assert high > display.threshold


@pytest.mark.parametrize("name", [lambda day: day + 1, lambda day: f"sprint {day:02d}"])
def test_periods_of_every_kind(name):
    display = watched(12, 6, name=name).plot(axes(layout="constrained"))
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert len(labels) > 1
    assert display.ax_.get_xlabel() == ("Batch" if isinstance(name(0), int) else "")


def test_one_batch():
    display = watched(1, 9).plot(axes())
    assert len(display.line_.get_xdata()) == 1
    assert display.line_.get_marker() == "o"


def test_options_of_the_line():
    display = watched(50, 99).plot(axes(), lw=3, color="red")
    assert display.line_.get_linewidth() == 3
    assert display.line_.get_color() == "red"


def test_nothing_to_draw():
    with pytest.raises(InputError, match="nothing to draw"):
        Monitor().plot(axes())
    with pytest.raises(InputError, match="only a Monitor"):
        MonitorDisplay([1, 2])


def test_a_new_figure_unless_axes_are_given():
    pyplot = optional("matplotlib.pyplot")
    display = watched(3, 9).plot()
    assert display.figure_ is pyplot.gcf()
    pyplot.close(display.figure_)
