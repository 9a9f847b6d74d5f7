"""A bar appears on terminals, late, and leaves nothing behind."""

import io
from types import SimpleNamespace

import pytest

from secant._base import progress
from secant._base.progress import reporting, showing


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def shown(self):
        """Return what a reader sees: the text after the last return to the line's beginning."""
        return self.getvalue().split("\r")[-1]


@pytest.fixture
def clock(monkeypatch):
    """Give the bar a clock that stands still until it is told otherwise."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    # Not sys.stderr itself, which pytest sets anew before every test.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    return stream


def test_short_work_shows_nothing(clock, terminal):
    with reporting("Reading") as report:
        clock[0] = 0.9
        report(1, 2)
    assert terminal.getvalue() == ""


def test_long_work_shows_how_far_it_is(clock, terminal):
    with reporting("Reading 3 files") as report:
        clock[0] = 1.1
        report(25, 100)
        assert terminal.shown() == "Reading 3 files [########......................]  25%"
        clock[0] = 1.15
        report(30, 100)  # too soon after the last one
        assert terminal.shown().endswith(" 25%")
        clock[0] = 1.3
        report(300, 100)  # an estimate that was too low
        assert terminal.shown().endswith("[##############################] 100%")
    assert terminal.shown() == ""
    assert terminal.getvalue().split("\r")[-2].isspace()


def test_the_line_is_cleared_after_an_interruption(clock, terminal):
    def work():
        with reporting("Reading") as report:
            clock[0] = 2
            report(1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert terminal.shown() == ""
    assert terminal.getvalue().split("\r")[-2].isspace()


def test_no_total_is_no_reason_to_fail(clock, terminal):
    with reporting("Reading") as report:
        clock[0] = 2
        report(0, 0)
    assert "0%" in terminal.getvalue()


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_nothing_is_written_where_there_is_no_terminal(clock, monkeypatch, stream):
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    with reporting("Reading") as report:
        clock[0] = 2
        report(1, 2)
    assert stream is None or stream.getvalue() == ""


def test_notebooks_show_a_bar_too(clock, monkeypatch):
    """Their streams are no terminals, and obey a return to the line's beginning."""

    class OutStream(io.StringIO):
        pass

    OutStream.__module__ = "ipykernel.iostream"
    stream = OutStream()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    with reporting("Reading") as report:
        clock[0] = 2
        report(1, 2)
        assert " 50%" in stream.getvalue().split("\r")[-1]
    assert stream.getvalue().split("\r")[-1] == ""


def test_a_terminal_that_goes_away_costs_nothing(clock, terminal):
    with reporting("Reading") as report:
        clock[0] = 2
        report(1, 2)
        terminal.close()
        clock[0] = 3
        report(2, 2)


def test_a_program_with_its_own_display_gets_the_reports(clock, terminal):
    told = []
    taken = showing(lambda done, total: told.append((done, total)))
    with taken, reporting("Reading") as report:
        clock[0] = 2
        report(1, 2)
    assert told == [(1, 2)]
    assert terminal.getvalue() == ""
    with reporting("Reading") as report:
        clock[0] = 4
        report(1, 2)
    assert told == [(1, 2)]
    assert "50%" in terminal.getvalue()
