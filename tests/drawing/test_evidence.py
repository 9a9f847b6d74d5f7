"""Evidence over time, described."""

import math
from datetime import date, timedelta

import numpy as np
import pytest

from secant import Monitor
from secant._drawing.chart import Space
from secant._drawing.evidence import evidence, mood_of

SPACE = Space(6, 3, 10)


def watched(days, change, changed=lambda scores: scores**1.3, name=None):
    monitor, rng = Monitor(), np.random.default_rng(1)
    for day in range(days):
        scores = rng.random(500)
        chance = scores if day < change else changed(scores)
        time = date(2026, 1, 1) + timedelta(day) if name is None else name(day)
        monitor.add(rng.random(500) < chance, scores, time=time)
    return monitor.history


def words(chart):
    return [mark.says for mark in chart.of("head", "note", "hint")]


def test_marks_are_the_numbers():
    history = watched(60, 30)
    chart = evidence(history, SPACE)
    [line], [threshold], [alarm], [since] = map(
        chart.of, ("evidence", "threshold", "alarm", "since")
    )
    days = [each.time.toordinal() for each in history]
    assert line.x.tolist() == days
    assert line.y.tolist() == [each.log10_evidence for each in history]
    assert threshold.y.tolist() == [math.log10(20)] * 2
    number = [each.alarm for each in history].index(True)
    assert (alarm.x[0], alarm.y[0]) == (days[number], history[number].log10_evidence)
    assert since.x[0] == history.since.toordinal()
    assert (alarm.mood, since.mood, mood_of(history)) == ("high",) * 3
    assert words(chart) == [
        "All scores are too high",
        f"since about {history.since}; alarm at {history.alarm_time}",
        "alarm at 20",
    ]
    assert evidence(history, SPACE, words=False).of("head", "note") == []


def test_without_an_alarm_nothing_is_marked():
    history = watched(20, 99)
    chart = evidence(history, SPACE)
    assert chart.of("alarm", "since") == []
    assert (words(chart), mood_of(history)) == (["alarm at 20"], "")
    assert len(chart.of("batches")) == 1  # so few that each has a dot


def test_directions_have_their_colours():
    assert mood_of(watched(20, 5, lambda scores: scores**0.7)) == "low"

    def flatter(scores):
        odds = (scores / (1 - scores)) ** 0.5
        return odds / (1 + odds)

    assert mood_of(watched(20, 5, flatter)) == "unsure"


@pytest.mark.parametrize("space", [SPACE, Space(2.2, 1.5, 10)])
@pytest.mark.parametrize("change", [0, 20, 99])
def test_words_are_inside_and_above_the_line(space, change):
    chart = evidence(watched(40, change), space)
    [line] = chart.of("batches")
    left, right = chart.x.low, chart.x.high
    for mark in chart.of("head", "note"):
        half = space.share(mark.says, mark.role) / 2 * (right - left)
        assert left - 1e-6 <= mark.x - half
        assert mark.x + half <= right + 1e-6
        bottom = chart.y.high - (mark.row + 1) * space.line * (chart.y.high - chart.y.low)
        assert bottom >= line.y.max()


@pytest.mark.parametrize("name", [lambda day: day + 1, lambda day: f"sprint {day:02d}"])
def test_periods_of_every_kind(name):
    chart = evidence(watched(12, 6, name=name), SPACE)
    assert len(chart.x.ticks(6, 10)) > 1
    assert chart.x.name == ("Batch" if isinstance(name(0), int) else "")
    assert chart.y.ticks(3)[0][1] == "1"
