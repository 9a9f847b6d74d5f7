"""Watch the calibration of a model day by day, from summaries of fixed size.

    python examples/daily_monitor.py add states/ 2026-03-01 predictions.parquet
    python examples/daily_monitor.py show states/

``add`` reads a day's predictions (columns ``happened`` and ``forecast``), adds them to the state
of the day before, and keeps two files: ``on-DAY.cells``, that day alone, and ``until-DAY.cells``,
all days so far. Each is written whole or not at all, and adding a day again replaces it, so that
a job which failed is simply run again. ``show`` reads no predictions at all.

Needs ``pip install 'secant[files]'``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet

import secant

if TYPE_CHECKING:
    from collections.abc import Iterator


def summary(path: str | Path) -> secant.Cells:
    """Summarise a file of predictions, a batch at a time."""
    cells = secant.Cells()
    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=["happened", "forecast"]):
            cells.update(batch["happened"], batch["forecast"])
    return cells


def add(folder: str | Path, day: str, path: str | Path) -> secant.Cells:
    """Add a day's predictions to those of the days before it; return all of them."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    today = summary(path)
    before = [state for state in sorted(folder.glob("until-*.cells")) if state.stem[6:] < day]
    so_far = secant.Cells.load(before[-1]) + today if before else today
    today.save(folder / f"on-{day}.cells")
    so_far.save(folder / f"until-{day}.cells")
    return so_far


def history(folder: str | Path) -> Iterator[tuple[str, secant.Bounds, secant.Bounds]]:
    """Return every day with what is certain about it alone, and about all days until then."""
    for state in sorted(Path(folder).glob("until-*.cells")):
        day = state.stem[6:]
        alone = secant.Cells.load(state.with_name(f"on-{day}.cells"))
        yield day, alone.bounds(), secant.Cells.load(state).bounds()


def show(folder: str | Path) -> None:
    """Print the history as a table; a P-value is the upper of its bounds."""
    print("day         predictions      ECCE-R that day        P        ECCE-R so far        P")
    for day, alone, so_far in history(folder):
        print(
            f"{day}  {so_far.n:>11,}  {_between(*alone.ecce_r)}  {alone.ecce_r_pvalue[1]:7.2g}"
            f"  {_between(*so_far.ecce_r)}  {so_far.ecce_r_pvalue[1]:7.2g}"
        )


def _between(low: float, high: float) -> str:
    return f"{low:.5f} to {high:.5f}"


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    {"add": add, "show": show}[command](*arguments)
