"""What a monitor says."""

import pytest

from monitors import watched
from secant import Cells, Monitor
from secant._results.base import say
from secant._results.monitor_words import ASSUMES, written_evidence


@pytest.fixture(scope="module")
def off():
    return watched().history


@pytest.fixture(scope="module")
def calm():
    return watched(change=99).history


def test_an_alarm_names_its_batch_the_direction_and_since_when(off):
    said = say(off)
    assert said.headline == f"{off.headline}."
    assert str(off.alarm_time) in said.headline
    for part in (off.where.direction, str(off.since), f"{off.where.n:,} predictions"):
        assert part in said.then
    assert off.evidence_words in said.lines
    assert "24,000 predictions in 30 batches" in off.extent


def test_without_an_alarm_nothing_is_claimed_to_be_off(calm):
    assert calm.where is calm.since is calm.alarm_time is None
    assert "no proof" in calm.story


def test_a_tolerance_is_named():
    assert "0.02" in watched(power=1.8, tolerance=0.02).history.headline
    assert "0.02" in watched(change=99, tolerance=0.02).history.story


def test_numbered_batches_get_a_word():
    history = watched(name=lambda day: day + 1).history
    assert f"batch {history.alarm_time}" in history.headline


def test_notes_about_cells_and_recurring_rows():
    monitor, cells = Monitor(), Cells()
    cells.update([0, 1] * 100, [0.3, 0.6] * 100)
    monitor.add(cells)
    assert "too extreme or too moderate as a whole" in monitor.history.notes[0]
    tolerant = Monitor(tolerance=0.1)
    tolerant.add(cells)
    assert tolerant.history.notes == ()
    assert "every row is new" in ASSUMES


@pytest.mark.parametrize(
    ("log10", "text"),
    [
        (0, "1"),
        (-2.5, "0.0032"),
        (2.0, "100"),
        (5.2, "158,489"),
        (8.9999, "1.0e9"),
        (400.5, "3.2e400"),
    ],
)
def test_evidence_for_reading(log10, text):
    assert written_evidence(log10) == text
