"""What killed processes have left is removed, and nothing else."""

import os
import signal
import subprocess
import sys

import pytest

from secant._base import leftovers
from secant._base.leftovers import beginning
from secant._base.writing import write_whole

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="processes are asked on POSIX")


@pytest.fixture
def dead():
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def named(pid, started="1", machine=None):
    return f".secant-{machine or leftovers._machine()}-{pid}-{started}-00ff"


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_killed_run_is_tidied_up_after_by_the_next(tmp_path):
    script = f"""
import os, signal
from secant._base.writing import write_whole
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_whole({str(tmp_path / "a")!r}, b"new")
"""
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [name.startswith(".secant-") for name in left(tmp_path)] == [True]
    write_whole(tmp_path / "a", b"new")
    assert left(tmp_path) == ["a"]


def test_folders_too(tmp_path, dead):
    (tmp_path / named(dead)).mkdir()
    (tmp_path / named(dead) / "figure.svg").touch()
    beginning(tmp_path)
    assert left(tmp_path) == []


def test_what_may_be_in_use_stays(tmp_path, dead):
    mine = os.getpid()
    names = [
        named(mine, leftovers._started(mine)),
        named(dead, machine="0" * 12),
        f".secant-{leftovers._machine()}-x-1-00ff",
        f".secant-{leftovers._machine()}",
        ".secant-notes",
        "secant",
    ]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / named(dead, "2")).symlink_to(tmp_path / "secant")
    beginning(tmp_path)
    assert left(tmp_path) == sorted([*names, named(dead, "2")])


def test_a_later_process_of_the_same_number_does_not_keep_it(tmp_path, monkeypatch):
    old = tmp_path / named(os.getpid(), "12")
    old.touch()
    monkeypatch.setattr(leftovers, "_started", lambda _: "0")  # where that is not told it may be it
    beginning(tmp_path)
    assert old.exists()
    monkeypatch.setattr(leftovers, "_started", lambda _: "34")
    beginning(tmp_path)
    assert not old.exists()


def test_what_somebody_else_has_stays(tmp_path, dead, monkeypatch):
    (tmp_path / named(dead)).touch()
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    beginning(tmp_path)
    assert left(tmp_path) == [named(dead)]


def test_a_process_of_somebody_else_lives(monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    mine = os.getpid()
    assert leftovers._lives(mine, leftovers._started(mine))


def test_a_folder_that_cannot_be_listed_is_no_matter(tmp_path):
    assert beginning(tmp_path / "nowhere").startswith(".secant-")
