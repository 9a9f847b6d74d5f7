"""What the benchmarks gave before: one line a release, or whenever somebody asks for one.

    python benchmarks/run.py --remember 0.3.0    # add a line to history.json
    python benchmarks/run.py --check             # compare with its last line; make bench-check

Only ratios are kept, each to a reference timed in the same process: they can be compared from one
computer to the next, which seconds cannot.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

HISTORY = Path(__file__).with_name("history.json")
# How many times slower than before is told apart from noise.
SLOWER = 1.3


class Line(TypedDict):
    """What was measured at one time: ratios by the work they are of."""

    name: str
    ratios: dict[str, float]


def lines(path: Path = HISTORY) -> list[Line]:
    """Return everything remembered, the oldest first."""
    return json.loads(path.read_text()) if path.exists() else []


def remember(name: str, ratios: Mapping[str, float], path: Path = HISTORY) -> None:
    """Add a line, in the place of an earlier one of the same name."""
    rounded = {work: float(f"{ratio:.3g}") for work, ratio in ratios.items()}
    kept = [line for line in lines(path) if line["name"] != name]
    text = ",\n".join(json.dumps(line) for line in [*kept, Line(name=name, ratios=rounded)])
    path.write_text(f"[\n{text}\n]\n")


def compared(ratios: Mapping[str, float], path: Path = HISTORY) -> tuple[list[str], bool]:
    """Say what became slower than the last line, and what cannot be told.

    Returns
    -------
    list of str, bool
        Lines to print, and whether anything became slower.
    """
    known = lines(path)
    if not known:
        return [f"{path.name} has no line yet: --remember NAME adds one."], False
    last = known[-1]
    before = last["ratios"]
    said = [
        f"{work}: {ratio / before[work]:.2f} times as long as in {last['name']}"
        for work, ratio in ratios.items()
        if work in before and ratio > SLOWER * before[work]
    ]
    slower = bool(said)
    both = len(before.keys() & ratios.keys())
    if not slower:
        said = [f"Nothing takes more than {SLOWER} times as long as in {last['name']} ({both})."]
    gone = [
        f"{work}: measured in {last['name']}, not now" for work in before.keys() - ratios.keys()
    ]
    new = [f"{work}: not measured in {last['name']}" for work in ratios.keys() - before.keys()]
    return [*said, *sorted(gone), *sorted(new)], slower
