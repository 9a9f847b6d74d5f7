"""The examples of segments do what they say."""

import os
import subprocess
import sys

from helpers import PACKAGE, ROOT, optional


def printed(name):
    """Run an example in a process of its own; return what it prints of the whole and segments."""
    run = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name)],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split("\n\n", 1)


def test_what_the_whole_hides():
    whole, segments = printed("segments_hidden.py")
    assert whole.startswith("No miscalibration found.")
    assert segments.startswith("2 of 124 segments searched are miscalibrated")
    assert "region = north and age 18 to 30" in segments


def test_patients_that_a_small_model_gets_wrong():
    optional("sklearn")
    whole, segments = printed("segments_diabetes.py")
    assert whole.startswith("No miscalibration found.")
    assert "log triglycerides" in segments.splitlines()[-1]
