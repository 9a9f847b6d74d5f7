"""Progress bars: on terminals, on standard error, and nowhere else."""

import pytest

from helpers import optional

optional("click")
optional("rich")

from secant.cli._bar import bar  # noqa: E402  (it imports click)


def show(*, transient):
    with bar("Done: {task.completed}", transient=transient) as shown:
        task = shown.add_task("", total=3)
        shown.update(task, completed=2)


@pytest.mark.parametrize("transient", [False, True])
def test_nothing_is_shown_where_there_is_no_terminal(capsys, transient):
    show(transient=transient)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("transient", [False, True])
def test_a_terminal_gets_it_on_standard_error(capsys, monkeypatch, transient):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    monkeypatch.setenv("TERM", "xterm")
    show(transient=transient)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Done: 2" in err
    erases_a_line = "\x1b[2K"
    assert err.endswith(erases_a_line) is transient
