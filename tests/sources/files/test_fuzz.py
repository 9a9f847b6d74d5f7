"""Damaged files by the hundred: each is refused in words or read right, and none ends the process.

In the tests the files are few and always the same. Without an end, with the damage drawn anew and
kept in a folder where something was found::

    PYTHONPATH=src:tests:tests/sources python tests/sources/files/test_fuzz.py FOLDER
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections import Counter
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from files import child, corpus
from helpers import PACKAGE, optional

optional("pyarrow")

EACH = 60
_PATIENCE = 120  # seconds after which a file has stopped the reader for good
# Other readers of binary files read columns that are not used, and may stumble over them.
_FINE = {
    name: {"right", "refused"} | ({"read alone"} if "text" not in name else set())
    for name in corpus.WHOLE
}


class Child:
    """A process that examines files, and is started anew when one has ended it."""

    def __init__(self) -> None:
        self._process = self._start()

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        command = [sys.executable, "-W", "error", child.__file__]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, env={"PYTHONPATH": str(PACKAGE.parent)}
        )

    def examine(self, path: Path) -> tuple[str, str]:
        """Return the outcome and what was told."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], _PATIENCE)
        line = process.stdout.readline() if ready else ""
        if line:
            found = json.loads(line)
            return found["outcome"], found["told"]
        process.kill()
        self.close()
        self._process = self._start()
        return "ended", f"the process ended with {process.returncode}"

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@pytest.fixture(scope="module")
def reader():
    made = Child()
    yield made
    made.close()


@pytest.mark.parametrize("name", corpus.WHOLE)
def test_damaged_files_are_refused_or_read_right(name, reader, tmp_path):
    content = corpus.WHOLE[name]()
    path = tmp_path / name
    path.write_bytes(content)
    assert reader.examine(path) == ("right", "")
    rng = np.random.default_rng(sum(map(ord, name)))
    outcomes = Counter()
    for _ in range(EACH):
        path.write_bytes(corpus.damage(rng, content))
        outcome, told = reader.examine(path)
        assert outcome in _FINE[name], told
        if outcome == "refused":
            assert str(path) in told
        outcomes[outcome] += 1
    assert outcomes["refused"]


def without_end(folder: Path) -> None:
    """Damage files until interrupted; keep those that are not handled."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, reader, outcomes = np.random.default_rng(), Child(), Counter()
    whole = {name: make() for name, make in corpus.WHOLE.items()}
    for number in count():
        name = list(whole)[number % len(whole)]
        path = folder / name
        path.write_bytes(corpus.damage(rng, whole[name]))
        outcome, told = reader.examine(path)
        outcomes[f"{name}: {outcome}"] += 1
        if outcome not in _FINE[name]:
            kept = path.rename(folder / f"{number}-{outcome}-{name}")
            sys.stdout.write(f"{kept}\n{told}\n")
        if number % 1000 == 999:
            sys.stdout.write(f"{number + 1:,} files: {dict(sorted(outcomes.items()))}\n")


if __name__ == "__main__":
    without_end(Path(sys.argv[1] if len(sys.argv) > 1 else "fuzzed"))
