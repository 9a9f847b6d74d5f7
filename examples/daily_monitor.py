"""Watch the calibration of a model day by day, in a job that runs every night
===========================================================================

::

    python examples/daily_monitor.py add monitor.json 2026-03-01 predictions.parquet
    python examples/daily_monitor.py show monitor.json

``add`` adds a day's predictions (columns ``happened`` and ``forecast``) to the monitor and ends
with 1 once there is an alarm, so that whatever runs the job notices. The file is written whole or
not at all, and a day that is there already is left alone, so that a job which failed is simply run
again. Add a day when all of its outcomes are known. ``show`` reads no predictions at all. Without a
command, three made-up days show what comes out.

``secant monitor`` does the same from the command line, for a whole folder at once. Needs
``pip install 'secant[files]'``.
"""

# sphinx_gallery_thumbnail_path = "gallery/monitor.png"

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import date
from pathlib import Path

import numpy as np

import secant

# A model may be off by half a point before anybody is woken up.
TOLERANCE = 0.005


def load(path: str | Path) -> secant.Monitor:
    """Return the monitor of the last run, or a new one."""
    return secant.Monitor.load(path) if Path(path).exists() else secant.Monitor(tolerance=TOLERANCE)


def add(state: str | Path, day: date, predictions: str | Path) -> int:
    """Add a day's predictions; return 1 if there is an alarm, of this day or an earlier one."""
    monitor = load(state)
    if day not in [period.time for period in monitor.history]:
        monitor.add("happened", "forecast", data=predictions, time=day)
        monitor.save(state)
    print(monitor)
    return int(monitor.alarm)


def show(state: str | Path) -> int:
    """Print the days, the evidence after each, and the answer."""
    history = load(state).history
    print("day         predictions  forecast  happened   evidence        P")
    for each in history:
        print(
            f"{each.time}  {each.n:>11,}  {each.mean_score:8.2%}  {each.mean_response:8.2%}"
            f"  {each.evidence:9.3g}  {each.pvalue:7.2g}"
        )
    print(history)
    return int(history.alarm)


def demo() -> int:
    """Add three made-up days, of which the last is miscalibrated, and show them."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        state, predictions = Path(folder) / "monitor.json", Path(folder) / "predictions.csv"
        for day in (date(2026, 2, 28), date(2026, 3, 1), date(2026, 3, 2)):
            forecast = rng.random(20_000)
            chance = forecast**1.5 if day.day == 2 else forecast
            rows = np.column_stack([rng.random(20_000) < chance, forecast])
            np.savetxt(predictions, rows, "%.6g", ",", header="happened,forecast", comments="")
            add(state, day, predictions)
        show(state)
    return 0


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description="Without a command: three made-up days.")
    commands = parser.add_subparsers()
    adding = commands.add_parser("add", help="add a day's predictions")
    showing = commands.add_parser("show", help="print the days so far")
    for command, does in ((adding, add), (showing, show)):
        command.add_argument("state", help="file that keeps the monitor")
        command.set_defaults(does=does)
    adding.add_argument("day", type=date.fromisoformat, help="as in 2026-03-01")
    adding.add_argument("predictions", help="file with columns happened and forecast")
    given = vars(parser.parse_args())
    return given.pop("does", demo)(**given)


if __name__ == "__main__":
    sys.exit(main())
