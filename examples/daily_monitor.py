"""Watch the calibration of a model day by day, in a job that runs every night
===========================================================================

::

    python examples/daily_monitor.py add monitor.json 2026-03-01 predictions.parquet
    python examples/daily_monitor.py show monitor.json

``add`` adds a day's predictions (columns ``happened`` and ``forecast``) to the monitor and ends
with 1 once there is an alarm, so that whatever runs the job notices. The file is written whole or
not at all, and a day that is there already is left alone, so that a job which failed is simply run
again. Add a day when all of its outcomes are known. ``show`` reads no predictions at all.

``secant monitor`` does the same from the command line, for a whole folder at once. Needs
``pip install 'secant[files]'``.
"""

# sphinx_gallery_thumbnail_path = "gallery/monitor.png"

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import secant

# A model may be off by half a point before anybody is woken up.
TOLERANCE = 0.005


def load(path: str | Path) -> secant.Monitor:
    """Return the monitor of the last run, or a new one."""
    return secant.Monitor.load(path) if Path(path).exists() else secant.Monitor(tolerance=TOLERANCE)


def add(path: str | Path, day: str, predictions: str | Path) -> int:
    """Add a day's predictions; return 1 if there is an alarm, of this day or an earlier one."""
    monitor, time = load(path), date.fromisoformat(day)
    if time not in [period.time for period in monitor.history]:
        monitor.add("happened", "forecast", data=predictions, time=time)
        monitor.save(path)
    print(monitor)
    return int(monitor.alarm)


def show(path: str | Path) -> int:
    """Print the days, the evidence after each, and the answer."""
    history = load(path).history
    print("day         predictions  forecast  happened   evidence        P")
    for each in history:
        print(
            f"{each.time}  {each.n:>11,}  {each.mean_score:8.2%}  {each.mean_response:8.2%}"
            f"  {each.evidence:9.3g}  {each.pvalue:7.2g}"
        )
    print(history)
    return int(history.alarm)


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    sys.exit({"add": add, "show": show}[command](*arguments))
