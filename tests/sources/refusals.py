"""Rows that cannot be used, and what every source says of them: one table, one snapshot.

``REFUSALS`` changes good columns so that one thing is wrong. ``complaint`` asks a source about them
and returns what it says. The words of all sources stand in ``tests/snapshots/refusals.txt``;
``make snapshots`` writes them anew, to be read before they are committed.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import secant
from helpers import ROOT, optional
from makers import MAKERS
from secant.sources import open as front_door

if TYPE_CHECKING:
    from collections.abc import Iterator

SNAPSHOT = ROOT / "tests" / "snapshots" / "refusals.txt"
NAN, INF = float("nan"), float("inf")
N = 60
# Where a row is faulty, and where a second one is.
HERE, THERE = 41, 55


def good() -> dict[str, list[Any]]:
    """Return columns that can be used."""
    return {
        "happened": [int(i % 7 in {1, 3, 6}) for i in range(N)],
        "forecast": [(i * 37 % N + 0.5) / N for i in range(N)],
        "weight": [1.0 + i % 3 for i in range(N)],
        "segment": [f"g{i % 3}" for i in range(N)],
        "patient": [i % 30 for i in range(N)],
        "day": [float(i // 4) for i in range(N)],
    }


class Refusal(NamedTuple):
    """What is wrong: values in place of those of some rows of a column, or of the whole column."""

    column: str
    values: dict[int, Any] | list[Any]
    options: dict[str, Any] = {}  # noqa: RUF012  (never written to)


BY_WEIGHT = {"sample_weight": "weight"}
COPIES = {"sample_weight": "weight", "weight_kind": "frequency"}
REFUSALS = {
    "score missing": Refusal("forecast", {HERE: None, THERE: None}),
    "score NaN": Refusal("forecast", {HERE: NAN}),
    "score above one": Refusal("forecast", {HERE: 1.2, THERE: 1.1}),
    "score next above one": Refusal("forecast", {HERE: 1.0000001}),
    "score below zero": Refusal("forecast", {HERE: -1e-7}),
    "score infinite": Refusal("forecast", {HERE: INF}),
    "scores in percent": Refusal("forecast", [i * 1.5 for i in range(N)]),
    "scores are logits": Refusal("forecast", [i / 10 - 3 for i in range(N)]),
    "scores are texts": Refusal("forecast", ["high", "low"] * (N // 2)),
    "outcome missing": Refusal("happened", {HERE: None}),
    "outcome a third number": Refusal("happened", {HERE: 2}),
    "outcome -1 beside 0": Refusal("happened", {HERE: -1}),
    "outcomes never change": Refusal("happened", [3] * N),
    "outcomes are words": Refusal("happened", ["no", "yes"] * (N // 2)),
    "outcome a third word": Refusal(
        "happened", ["no", "yes"] * (N // 2 - 1) + ["no", "maybe"], {"pos_label": "yes"}
    ),
    "pos_label is no outcome": Refusal("happened", {}, {"pos_label": 5}),
    "swapped": Refusal("happened", [(i * 37 % N + 0.5) / N for i in range(N)]),
    "weight missing": Refusal("weight", {HERE: None}, BY_WEIGHT),
    "weight negative": Refusal("weight", {HERE: -2.0}, BY_WEIGHT),
    "weight infinite": Refusal("weight", {HERE: INF}, BY_WEIGHT),
    "weight tiny": Refusal("weight", {HERE: 1e-120}, BY_WEIGHT),
    "weight huge": Refusal("weight", {HERE: 1e120}, BY_WEIGHT),
    "weights zero": Refusal("weight", [0.0] * N, BY_WEIGHT),
    "copies no whole number": Refusal("weight", {HERE: 1.5}, COPIES),
    "weights by outcome": Refusal(
        "weight", [1.0 + 4.0 * (i % 7 in {1, 3, 6}) for i in range(N)], BY_WEIGHT
    ),
    "cluster missing": Refusal("patient", {HERE: None}, {"clusters": "patient"}),
    "clusters too few": Refusal("patient", [i % 9 for i in range(N)], {"clusters": "patient"}),
    "clusters by outcome": Refusal("happened", {}, {"clusters": "happened"}),
    "order missing": Refusal("day", {HERE: None}, {"order_by": "day"}),
    "order infinite": Refusal("day", {HERE: INF}, {"order_by": "day"}),
    "order by outcome": Refusal("happened", {}, {"order_by": "happened"}),
    "groups by outcome": Refusal("segment", {}, {"by": "happened"}),
    "no rows": Refusal("happened", []),
}
SOURCES = [*MAKERS, "tensors"]


def columns_of(name: str) -> dict[str, list[Any]]:
    """Return the columns of a case."""
    refusal, columns = REFUSALS[name], good()
    if name == "no rows":
        return {column: [] for column in columns}
    if isinstance(refusal.values, list):
        columns[refusal.column] = refusal.values
    else:
        for row, value in refusal.values.items():
            columns[refusal.column][row] = value
    return columns


def as_arrays(columns: dict[str, list[Any]]) -> dict[str, np.ndarray]:
    """Return columns as arrays, of objects where one of several types holds them."""
    made = {}
    for name, column in columns.items():
        mixed = None in column or any(isinstance(value, str) for value in column)
        made[name] = np.array(column, object) if mixed else np.array(column)
    return made


def complaint(source: str, name: str, folder: Path) -> str:
    """Return what a source says of a case, and what the error's fields are."""
    columns, options = columns_of(name), dict(REFUSALS[name].options)
    ask = secant.assess_by if "by" in options else secant.assess
    given = _given(source, as_arrays(columns), options, folder)
    try:
        found = ask(**given)
    except secant.InputError as error:
        said = re.sub(rf"{re.escape(str(folder))}\S+\.\w+", "FILE", str(error))
        known = {field: getattr(error, field) for field in ("argument", "row", "value", "column")}
        fields = [f"{field}={value!r}" for field, value in known.items() if value is not None]
        return f"{said.replace(str(folder), 'FOLDER')} [{', '.join(fields)}]"
    return f"ANSWERED: n = {getattr(found, 'n', len(found))}"


def _given(
    source: str, made: dict[str, np.ndarray], options: dict[str, Any], folder: Path
) -> dict[str, Any]:
    """Return the arguments of a call."""
    named = {"y_true": "happened", "y_prob": "forecast"}
    roles = ("sample_weight", "by", "clusters", "order_by")
    named |= {role: options.pop(role) for role in roles if role in options}
    if source == "arrays":
        return {role: made[column] for role, column in named.items()} | options
    if source == "tensors":
        tensors = {column: _tensor(made[column]) for column in named.values()}
        return {role: tensors[column] for role, column in named.items()} | options
    return {**named, **options, "data": MAKERS[source](made, folder)}


def _tensor(column: np.ndarray) -> Any:
    return optional("torch").tensor(column.astype(float) if column.dtype == object else column)


def are_tensors(*columns: Any) -> bool:
    """Tell whether any of some columns is a tensor, wherever it lies."""
    return any(isinstance(column, optional("torch").Tensor) for column in columns)


def read() -> dict[tuple[str, str], str]:
    """Return the words of the snapshot by case and source."""
    found, name, words = {}, "", ""
    for line in SNAPSHOT.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            name = line.removeprefix("## ")
        elif line.startswith("    "):
            found |= {(name, source): line.strip() for source in words.split(", ")}
        elif line and not line.startswith("#"):
            words = line.removesuffix(":")
    return found


def _lines(told: dict[tuple[str, str], str]) -> Iterator[str]:
    """Put the words of all sources together, those that say the same in one place."""
    yield "# What every source says of rows that cannot be used. `make snapshots` writes this file."
    for name in REFUSALS:
        yield f"\n## {name}"
        sources: dict[str, list[str]] = {}
        for source in SOURCES:
            if (name, source) in told:
                sources.setdefault(told[name, source], []).append(source)
        for words, several in sources.items():
            yield f"{', '.join(several)}:\n    {words}"


def write() -> None:
    """Ask every source that is there, and write the snapshot; keep the words of the others."""
    told = read() if SNAPSHOT.exists() else {}
    front_door.on_a_device = are_tensors
    for source in SOURCES:
        for name in REFUSALS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    told[name, source] = complaint(source, name, Path(folder))
                except Exception as error:
                    if type(error).__module__.startswith("secant"):
                        raise
                    told.pop((name, source), None)
                    print(f"{source}, {name}: not made ({type(error).__name__})", file=sys.stderr)  # noqa: T201
    SNAPSHOT.parent.mkdir(exist_ok=True)
    SNAPSHOT.write_text("\n".join(_lines(told)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
