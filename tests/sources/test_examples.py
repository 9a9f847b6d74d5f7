"""The examples do what they say."""

import os
import subprocess
import sys
from datetime import date

import numpy as np
import pytest

import secant
from helpers import PACKAGE, ROOT, optional
from makers import arrow

DAYS = ["2026-02-28", "2026-03-01", "2026-03-02"]


def monitor(*arguments, alarm=False):
    """Run the daily monitor in a process of its own."""
    command = [sys.executable, "-W", "error", ROOT / "examples" / "daily_monitor.py", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    run = subprocess.run(
        [str(part) for part in command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == int(alarm), run.stderr
    assert run.stderr == ""
    return run.stdout


@pytest.fixture
def days(tmp_path):
    """Write a file of predictions for each of three days, the last of them miscalibrated."""
    parquet, rng = optional("pyarrow.parquet"), np.random.default_rng(0)
    made = {}
    for day in DAYS:
        forecast = rng.random(20_000)
        chance = forecast**1.5 if day == DAYS[-1] else forecast
        made[day] = {"happened": (rng.random(20_000) < chance).astype(int), "forecast": forecast}
        parquet.write_table(arrow(made[day]), tmp_path / f"{day}.parquet", row_group_size=7000)
    return made


def test_the_daily_monitor(days, tmp_path):
    state = tmp_path / "monitor.json"
    by_hand = secant.Monitor(tolerance=0.005)
    for day in DAYS:
        monitor("add", state, day, tmp_path / f"{day}.parquet", alarm=day == DAYS[-1])
        by_hand.add(days[day]["happened"], days[day]["forecast"], time=date.fromisoformat(day))
    assert secant.Monitor.load(state).to_dict() == by_hand.to_dict()

    shown = monitor("show", state, alarm=True)
    table = shown.splitlines()
    assert [line[:10] for line in table[1:4]] == DAYS
    assert table[3].split()[1] == "20,000"
    assert table[4].startswith(f"Alarm at {DAYS[-1]}: not calibrated within 0.005.")

    # A day added again counts once, and nothing but the state is left behind.
    monitor("add", state, DAYS[-1], tmp_path / f"{DAYS[-1]}.parquet", alarm=True)
    assert monitor("show", state, alarm=True) == shown
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *(f"{day}.parquet" for day in DAYS),
        "monitor.json",
    ]
