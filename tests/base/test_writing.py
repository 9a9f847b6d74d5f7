"""Files are written whole or not at all."""

import errno
import os
import stat
import subprocess
import sys
import textwrap
from types import SimpleNamespace
from unittest import mock

import pytest

from faults import ERRORS, content_of, counting
from secant import Cells
from secant._base.writing import write_whole
from states import P, Y, state


def test_what_cannot_be_saved_names_the_file_asked_for(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "nowhere" / "cells", tmp_path / "file" / "cells"):
        with pytest.raises(OSError, match="cells") as caught:
            Cells().save(path)
        assert caught.value.filename == str(path)


def test_saving_replaces_an_older_state(tmp_path):
    target = tmp_path / "état 1.cells"
    for n in (1, 2):
        state(16, *[{"y_true": Y, "y_prob": P}] * n).save(target)
        assert Cells.load(target).n == 5 * n
    assert os.listdir(tmp_path) == [target.name]  # noqa: PTH208


def test_a_saved_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "ordinary").touch()
    state(16, {"y_true": Y, "y_prob": P}).save(tmp_path / "state")
    modes = {(tmp_path / name).stat().st_mode for name in ("ordinary", "state")}
    assert len(modes) == 1, "others could read an ordinary file"


@pytest.mark.parametrize(
    "function", ["os.fsync", "os.replace", "pathlib.Path.replace", "os.rename"]
)
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
def test_a_failing_save_leaves_the_old_file(saved, function, error):
    before = saved.read_bytes()
    cells = state(64, {"y_true": Y * 2, "y_prob": P * 2})
    with mock.patch(function, side_effect=error) as called:
        try:
            cells.save(saved)
        except (OSError, KeyboardInterrupt) as raised:
            assert raised is error  # noqa: PT017
    if called.called:
        assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]  # noqa: PTH208
    assert Cells.load(saved).n == (5 if called.called else 10)


def test_at_least_one_of_these_failures_can_happen(saved):
    with (
        mock.patch("os.fsync", side_effect=OSError(errno.ENOSPC, "No space left on device")),
        pytest.raises(OSError, match="No space left"),
    ):
        Cells(16).save(saved)


def test_a_disk_that_is_full_half_way(saved):
    """The system itself cuts the write short, in a process of its own."""
    pytest.importorskip("resource", reason="limits on file sizes exist on POSIX only")
    before = saved.read_bytes()
    script = """
        import resource, signal, sys
        import numpy as np, secant
        rng = np.random.default_rng(0)
        cells = secant.Cells()
        cells.update(rng.integers(0, 2, 20_000), rng.random(20_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            cells.save(sys.argv[1])
        except OSError:
            sys.exit(7)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(saved)]
    assert subprocess.run(command, check=False).returncode == 7
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]  # noqa: PTH208


# --- faults at every step -------------------------------------------------------------------------


@pytest.mark.parametrize("there", ["nothing", "a file", "a link", "a file of somebody else"])
def test_a_fault_at_any_step_leaves_what_was_there(tmp_path, there):
    """Not one of these steps may fail in a way that loses the old file or leaves a new one."""
    folder, target = tmp_path / "folder", tmp_path / "folder" / "target"
    folder.mkdir()
    if there != "nothing":
        target.write_bytes(b"old")
    if there == "a file of somebody else":
        if not hasattr(os, "geteuid") or os.geteuid():
            pytest.skip("only the superuser gives files away")
        os.chown(target, 12345, 12345)
    if there == "a link":
        target.rename(tmp_path / "place")
        target.symlink_to(tmp_path / "place")
    before = content_of(folder)
    with counting() as dry:
        write_whole(target, b"new")
    steps = list(dry.steps)
    assert {"open", "write", "fsync", "close", "replace"} <= set(steps)
    assert steps.count("write") > 1, "the system wrote less than asked for, so it was asked again"
    assert ("chown" in steps) == (there == "a file of somebody else")
    assert ("chmod" in steps) == (there != "nothing")
    assert content_of(folder) == {"target": b"new"}
    target.unlink() if there == "nothing" else write_whole(target, b"old")
    for number, step in enumerate(steps):
        for error in ERRORS:
            with counting(number, error) as run, pytest.raises(type(error)) as caught:
                write_whole(target, b"new")
            assert run.steps[number] == step
            assert caught.value is error
            assert content_of(folder) == before, (number, step)
            assert target.is_symlink() == (there == "a link")
            if isinstance(error, OSError):
                assert (error.filename, error.filename2) == (str(target), None)
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"


# --- the file that is replaced --------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664, 0o755, 0o222])
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000])
def test_a_replaced_file_keeps_its_mode(tmp_path, mode, umask):
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(mode)
    before = os.umask(umask)
    try:
        write_whole(target, b"new")
        write_whole(tmp_path / "another", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == mode
    assert stat.S_IMODE((tmp_path / "another").stat().st_mode) == 0o666 & ~umask


def test_what_is_private_is_never_public(tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(0o600)
    seen = []

    def watch(handle, *arguments):
        seen.extend(stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir())
        return os.write(handle, *arguments)

    with counting(write=watch):
        write_whole(target, b"new")
    assert seen == [0o600, 0o600]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the superuser")
def test_a_replaced_file_keeps_its_owner(tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"old")
    os.chown(target, 12345, 54321)
    target.chmod(0o4640)  # which giving a file away would take off
    write_whole(target, b"new")
    found = target.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 54321, 0o4640)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners are POSIX")
def test_a_file_whose_owner_cannot_be_kept_is_refused(tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"old")
    # To whoever is not the superuser, before anything is written; and when the system says no.
    for name in ("geteuid", "chown"):
        owned = os.stat_result([*target.stat()[:4], 12345, 12345, *target.stat()[6:]])
        system = {
            "stat": lambda path, owned=owned: owned if path == target else path.stat(),
            "geteuid": lambda name=name: 7 if name == "geteuid" else 12345,
            "chown": mock.Mock(side_effect=PermissionError(errno.EPERM, "not permitted")),
        }
        with (
            counting(**system),
            pytest.raises(PermissionError, match="belongs to somebody else"),
        ):
            write_whole(target, b"new")
        assert content_of(tmp_path) == {"target": b"old"}


@pytest.mark.parametrize("mode", [0o444, 0o400, 0o555, 0o000])
def test_a_read_only_file_is_not_replaced(tmp_path, mode):
    """The folder would allow it, and to the superuser so would the file."""
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(mode)
    with pytest.raises(PermissionError, match="read-only") as caught:
        write_whole(target, b"new")
    assert caught.value.filename == str(target)
    target.chmod(0o600)
    assert content_of(tmp_path) == {"target": b"old"}


def test_the_longest_names_there_are(tmp_path):
    longest = os.pathconf(tmp_path, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
    write_whole(tmp_path / ("n" * longest), b"new")
    assert content_of(tmp_path) == {"n" * longest: b"new"}
    for name in ("n" * (longest + 1), "é" * longest):
        with pytest.raises(OSError, match="too long"):
            write_whole(tmp_path / name, b"new")
    assert content_of(tmp_path) == {"n" * longest: b"new"}


def test_links_that_lead_nowhere(tmp_path):
    (tmp_path / "to a file").symlink_to("not there yet")
    write_whole(tmp_path / "to a file", b"new")
    assert (tmp_path / "to a file").is_symlink()
    assert (tmp_path / "not there yet").read_bytes() == b"new"
    (tmp_path / "to a folder").symlink_to(tmp_path / "missing" / "file")
    (tmp_path / "round").symlink_to("round")
    for name in ("to a folder", "round"):
        with pytest.raises(OSError, match=name):
            write_whole(tmp_path / name, b"new")
        assert (tmp_path / name).is_symlink()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, b"new")


def test_a_full_device_is_an_error():
    if not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("a device that is always full exists on Linux")
    with pytest.raises(OSError, match="No space left"):
        write_whole("/dev/full", b"new")
    write_whole(os.devnull, b"new")


# --- what must not be lost ------------------------------------------------------------------------


class ChangedError(Exception):
    pass


def unless(target, expected):
    def check():
        now = target.read_bytes() if target.exists() else None
        if now != expected:
            raise ChangedError

    return check


@pytest.mark.parametrize("old", [None, b"old"])
def test_a_file_is_replaced_only_while_it_is_what_it_was(tmp_path, old):
    target = tmp_path / "target"
    if old is not None:
        target.write_bytes(old)
    write_whole(target, b"first", unless(target, old))
    with pytest.raises(ChangedError):
        write_whole(target, b"second", unless(target, old))
    assert content_of(tmp_path) == {"target": b"first"}


def test_between_the_check_and_the_replacement_nobody_else_writes(tmp_path):
    pytest.importorskip("fcntl", reason="files are locked on POSIX only")
    target = tmp_path / "target"
    target.write_bytes(b"old")

    def check():
        with pytest.raises(BlockingIOError, match="another process is writing that file") as found:
            write_whole(target, b"other", unless(target, b"old"))
        assert found.value.filename == str(target)

    write_whole(target, b"new", check)
    assert content_of(tmp_path) == {"target": b"new"}


def test_a_place_that_is_taken_at_the_last_moment(tmp_path):
    target, calls = tmp_path / "target", []

    def check():
        calls.append(None)
        if target.exists():
            raise ChangedError
        target.write_bytes(b"other")

    with pytest.raises(ChangedError):
        write_whole(target, b"new", check)
    assert len(calls) == 2
    assert content_of(tmp_path) == {"target": b"other"}


@pytest.mark.parametrize("old", [None, b"old"])
@pytest.mark.parametrize("locks", [None, SimpleNamespace(LOCK_EX=2, LOCK_NB=4)])
def test_a_file_system_without_links_and_locks(tmp_path, monkeypatch, old, locks):
    def missing(*_):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    if locks is not None:
        locks.flock = missing
    monkeypatch.setattr("secant._base.writing.fcntl", locks)
    target = tmp_path / "target"
    if old is not None:
        target.write_bytes(old)
    with counting(link=missing):
        write_whole(target, b"new", unless(target, old))
        with pytest.raises(ChangedError):
            write_whole(target, b"newer", unless(target, old))
    assert content_of(tmp_path) == {"target": b"new"}
