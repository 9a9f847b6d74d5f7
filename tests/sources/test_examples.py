"""The examples do what they say."""

import os
import subprocess
import sys

import numpy as np
import pytest

import secant
from helpers import PACKAGE, ROOT, optional
from makers import arrow

DAYS = ["2026-02-28", "2026-03-01", "2026-03-02"]


def monitor(*arguments):
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
    assert run.returncode == 0, run.stderr
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
    states = tmp_path / "states"
    for day in DAYS:
        monitor("add", states, day, tmp_path / f"{day}.parquet")
    y, p = (np.concatenate([days[day][name] for day in DAYS]) for name in ("happened", "forecast"))
    so_far = secant.Cells.load(states / f"until-{DAYS[-1]}.cells")
    assert so_far.n == 60_000
    low, high = so_far.bounds().ecce_r
    assert low <= secant.ecce_r(y, p) <= high
    alone = [secant.Cells.load(states / f"on-{day}.cells").bounds() for day in DAYS]
    assert [bounds.n for bounds in alone] == [20_000] * 3
    assert alone[-1].ecce_r_pvalue[1] < 1e-6 < min(b.ecce_r_pvalue[0] for b in alone[:-1])

    table = monitor("show", states).splitlines()
    assert [line[:10] for line in table[1:]] == DAYS
    assert table[-1].split()[1] == "60,000"

    # A day added again counts once, and nothing but states is left behind.
    monitor("add", states, DAYS[-1], tmp_path / f"{DAYS[-1]}.parquet")
    assert monitor("show", states).splitlines() == table
    assert len(list(states.iterdir())) == 2 * len(DAYS)
