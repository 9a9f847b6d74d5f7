"""The examples with tensors do what they say."""

import os
import subprocess
import sys

from helpers import PACKAGE, ROOT, optional


def printed(name, *libraries):
    """Run an example in a process of its own."""
    for library in ("torch", "torchmetrics", *libraries):
        optional(library)
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name)],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_network_grows_overconfident():
    _, early, late, cells = printed("torch_loop.py").splitlines()
    assert float(late.split()[1]) > 2 * float(early.split()[1])
    assert cells.startswith("<secant.Cells: 20,000 predictions")


def test_lightning_logs_what_was_computed():
    lines = printed("lightning_module.py", "pytorch_lightning").splitlines()
    logged = dict(line.split() for line in lines)
    assert set(logged) == {"val/ecce_r", "val/ecce_mad", "val/pvalue"}
    assert 0 < float(logged["val/ecce_mad"]) <= float(logged["val/ecce_r"]) < 0.2


def test_a_tiny_language_model_trusts_itself_too_much():
    assert printed("token_confidence.py").startswith("Miscalibrated: too high.")


def test_a_temperature_helps():
    temperature, before, after = printed("temperature_scaling.py").split("\n\n")[:3]
    assert 1.4 < float(temperature.split()[1]) < 1.6
    assert before.startswith("before: Miscalibrated: too high.")
    assert after.startswith("after: No miscalibration found.")
