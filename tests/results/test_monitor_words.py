"""What a monitor says."""

import pytest

from monitors import watched
from secant import Cells, Monitor
from secant._results.monitor_words import ASSUMES, written_evidence


@pytest.fixture(scope="module")
def off():
    return watched().history


@pytest.fixture(scope="module")
def calm():
    return watched(change=99).history


def test_an_alarm_in_words(off):
    text = str(off)
    headline, evidence_line, extent = text.split("\n")
    assert headline.startswith(f"Alarm at {off.alarm_time}: not calibrated. All scores have been ")
    assert f"too high since about {off.since}: " in headline
    assert "mean forecast " in headline
    assert "an alarm is raised at 20 to 1" in evidence_line
    assert "valid however often one looks" in evidence_line
    assert extent == "24,000 predictions in 30 batches, 2026-01-01 to 2026-01-30."


def test_no_alarm_is_no_proof(calm):
    assert str(calm).startswith("No alarm in 30 batches. No scores are seen to be off. That is no ")
    assert calm.where is calm.since is calm.alarm_time is None


def test_a_tolerance_is_named():
    history = watched(power=1.8, tolerance=0.02).history
    assert "not calibrated within 0.02" in str(history)
    quiet = watched(change=99, tolerance=0.02).history
    assert "by more than 0.02" in str(quiet)


def test_numbered_batches_get_a_word():
    history = watched(name=lambda day: day + 1).history
    assert f"Alarm at batch {history.alarm_time}" in str(history)


def test_impossible_outcomes_in_words():
    monitor = Monitor()
    monitor.add([1], [0.0])
    assert "1 event came after a score of exactly 0, the first at batch 1" in str(monitor)
    assert "has the P-value 0" in str(monitor)
    assert "that alone refutes them" in str(monitor)
    monitor = Monitor()
    monitor.add([0, 0], [1.0, 1.0])
    assert "2 failures came after a score of exactly 1" in str(monitor)


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
