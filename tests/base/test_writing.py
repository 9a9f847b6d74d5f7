"""Files are written whole or not at all."""

import errno
import os
import subprocess
import sys
import textwrap
from unittest import mock

import pytest

from secant import Cells
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
