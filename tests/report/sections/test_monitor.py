"""The sections of a monitor's page, as text."""

import re

import numpy as np
import pytest

from secant import Monitor
from secant.report.sections import monitor as sections


def watched(off, days=12):
    monitor, rng = Monitor(), np.random.default_rng(3)
    for day in range(days):
        scores = rng.random(500)
        monitor.add(rng.random(500) < np.clip(scores - off, 0, 1), scores, time=day)
    return monitor.history


@pytest.mark.parametrize("off", [0.0, 0.2])
def test_the_answer_comes_first_and_says_what_it_rests_on(off):
    history = watched(off)
    words = str(sections.answer(history))
    assert history.headline in words
    assert ("alarm" in words.lower()) >= history.alarm
    assert sections.rests_on(history)
    assert "What a bet of 1 against calibration has become, at its largest so far." in words


def test_every_batch_has_its_row():
    history = watched(0.0, days=7)
    assert str(sections.batches(history)).count("<tr") == 1 + 7


def test_the_chart_of_evidence_has_its_threshold():
    chart = str(sections.evidence(watched(0.2)))
    assert "<path" in chart
    assert "0.05" in chart or "20" in chart  # the level, or its reciprocal


def test_a_range_within_its_noise_has_no_colour_and_another_that_of_its_own_direction():
    monitor, rng = Monitor(), np.random.default_rng(3)
    for day in range(12):
        scores = rng.random(2000)
        monitor.add(
            rng.random(2000) < np.where(scores > 0.3, scores - 0.1, scores), scores, time=day
        )
    history = monitor.history
    assert history.where.direction == "too high"
    moods = {True: 0, False: 0}
    for low, high, sums in sections._joined(history, history.episodes):
        n, events, scored = sums[0]
        kinds = [""] * (5 + len(sums))
        row = str(sections._range_row((low, high, sums), history, kinds))
        noise = 2 * np.sqrt(scored / n * (1 - scored / n) / n)
        beyond = bool((scored - events) / n > noise and history.where.low <= low)
        assert ('data-mood="high"' in row) == beyond
        assert "data-mood" not in row.replace('data-mood="high"', "")
        moods[beyond] += 1
    assert all(moods.values())


def test_a_p_value_too_small_for_a_double_is_not_called_nothing():
    monitor = Monitor()
    for day in range(3):
        monitor.add(np.zeros(2000, int), np.full(2000, 0.6), time=day + 1)
    history = monitor.history
    assert history.pvalue == 0
    (written,) = re.findall(r"P = (\d\.\de-\d+),", str(history))
    for section, chance in (
        (sections.answer(history), written),
        (sections.batches(history), "&lt; 1e-300"),
    ):
        assert f">{chance}<" in str(section)
        assert ">0<" not in str(section)
    monitor.add([1], [0.0], time=9)
    assert ">0<" in str(sections.batches(monitor.history))
