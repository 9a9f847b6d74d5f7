"""Measure `assess` on data built against it: what may it cost, whatever the data?

    python benchmarks/hostile.py                  # 1e6 rows, a minute or two
    python benchmarks/hostile.py --rows 10000000  # the same at 1e7; needs 2 GB
    python benchmarks/hostile.py --files          # from Parquet files instead of arrays
    python benchmarks/hostile.py --weights        # every row with a weight, unequal ones
    python benchmarks/hostile.py --write          # also keep the table in docs/benchmarks.md

Every time is a whole `assess` with its P-values, against `np.sort` of the same scores in the same
process, taken in turns; it is the processor's, all threads added up, so that other work on the
machine does not show. Peak memory is what was allocated beyond the input. Of files reading is part
of the time; what pyarrow takes to read the same columns once, on one core, stands beside it.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from run import peak_memory

import secant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- hostile -->", "<!-- end of hostile -->"
# A whole assess may cost so many sorts of its scores; more where events are rare, or weights so
# heavy that outcomes are drawn.
LAW, RARE, DRAWN_SECONDS = 3.0, 8.0, 10.0


class Family(NamedTuple):
    """Data of one kind: outcomes, scores, weights, the most sorts it may cost, and the order."""

    name: str
    y_true: Any
    y_prob: Any
    weight: Any
    most: float
    order: Any = None


class Measured(NamedTuple):
    family: str
    seconds: float
    sort: float
    most: float
    megabytes: float
    method: str
    reading: float | None = None


def families(n: int, rng: np.random.Generator) -> Iterator[Family]:
    """Yield what is friendly first, then what was made to be expensive."""

    def drawn(name: str, p: Any, weight: Any = None, most: float = LAW) -> Family:
        return Family(name, (rng.random(n) < p).astype(np.int64), p, weight, most)

    uniform = rng.random(n)
    yield drawn("uniform, calibrated", uniform)
    yield Family(
        "outcomes spread evenly: every cell could hold the extreme", *_diffused(uniform), None, LAW
    )
    yield Family(
        "the same, weights in addition", *_diffused(uniform), rng.lognormal(0, 0.3, n), LAW
    )
    saw = np.sort(uniform)
    yield Family("sawtooth: outcomes alternate along the scores", np.arange(n) % 2, saw, None, LAW)
    yield Family("the same, scores descending", np.arange(n)[::-1] % 2, saw[::-1], None, LAW)
    yield drawn("rare events, V about 200", rng.random(n) * (400 / n), most=RARE)
    yield drawn("rare events, V about 30", rng.random(n) * (60 / n), most=RARE)
    yield drawn("rare failures, V about 200", 1 - rng.random(n) * (400 / n), most=RARE)
    yield drawn(
        "scores within 1e-9 of 0 or 1",
        np.where(uniform < 0.5, 1e-9 * uniform, 1 - 1e-9 * uniform),
        most=RARE,
    )
    other = np.random.default_rng(1)
    for v in (30, 200, 390):
        for places in (12, 300, 2000, n):
            p = other.random(n) * (2 * v / n)
            y = (other.random(n) < 1.2 * p).astype(np.int64)
            x = other.random(n) if places == n else other.integers(0, places, n)
            name = (
                f"rare events along {'a continuous order' if places == n else f'{places} places'}"
            )
            yield Family(f"{name}, V about {v}", y, p, None, RARE, x)
    centres = rng.random(1000)
    yield drawn(
        "a thousand clusters 1e-12 wide", centres[rng.integers(0, 1000, n)] * (1 - 1e-12 * uniform)
    )
    yield drawn("everything within 1e-12 of a half", 0.5 + 1e-12 * uniform)
    yield drawn("denormal scores", uniform * 1e-310, most=RARE)
    yield drawn(
        "two grids in one another",
        np.where(uniform < 0.5, rng.integers(0, 4096, n) / 4096, rng.integers(0, 4095, n) / 4095),
    )
    yield drawn("all scores equal but one", np.where(np.arange(n) == n // 2, 0.7, 0.3))
    yield drawn("lognormal weights", uniform, rng.lognormal(0, 1, n))
    heavy = np.where(np.arange(n) < 60, 5000.0, 1.0)
    yield drawn(
        "60 heavy rows of rare events", np.where(heavy > 1, 0.002, uniform), heavy, most=np.inf
    )


def weighed(family: Family, rng: np.random.Generator) -> Family:
    """Return the same data with weights, where it has none; events are drawn for if rare."""
    if family.weight is not None:
        return family
    weight = rng.lognormal(0, 0.5, family.y_prob.shape[0])
    return family._replace(weight=weight, most=np.inf if family.most == RARE else family.most)


def _diffused(p: Any) -> tuple[Any, Any]:
    """Return outcomes that keep the path as close to 0 as they can, so that nowhere stands out."""
    order = np.argsort(p)
    rounded = np.floor(np.cumsum(p[order]) + 0.5)
    y = np.empty(p.shape[0], np.int64)
    y[order] = np.diff(rounded, prepend=0.0) > 0
    return y, p


def best(function: Callable[[], Any], repetitions: int) -> float:
    """Return the shortest of several times of the processor."""
    times = []
    for _ in range(repetitions):
        gc.collect()
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def measure(family: Family, repetitions: int, folder: Path | None) -> Measured:
    reading = None
    if folder is None:

        def whole() -> Any:
            return secant.assess(
                family.y_true, family.y_prob, sample_weight=family.weight, order_by=family.order
            )

    else:
        from pyarrow import parquet

        path = _written(family, folder)
        weight = None if family.weight is None else "w"
        order = None if family.order is None else "x"

        def whole() -> Any:
            return secant.assess("y", "p", data=path, sample_weight=weight, order_by=order)

        reading = best(lambda: parquet.read_table(path, use_threads=False), repetitions + 1)
    method = whole().ecce_r.method
    sort = best(lambda: np.sort(family.y_prob), repetitions)
    ours = best(whole, repetitions)
    sort = min(sort, best(lambda: np.sort(family.y_prob), repetitions))
    megabytes = peak_memory(whole) / 1e6
    return Measured(family.name, ours, sort, family.most, megabytes, method, reading)


def _written(family: Family, folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"y": family.y_true, "p": family.y_prob}
    if family.weight is not None:
        columns["w"] = family.weight
    if family.order is not None:
        columns["x"] = family.order
    path = folder / "rows.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def table(rows: list[Measured]) -> str:
    names = ["data", "`assess`", *["reading"] * (rows[0].reading is not None), "`np.sort`"]
    names += ["ratio", "at most", "holds", "memory", "P-value"]
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for row in rows:
        ratio = row.seconds / row.sort
        drawn = np.isinf(row.most)
        holds = row.seconds <= DRAWN_SECONDS if drawn else ratio <= row.most
        most = f"{DRAWN_SECONDS:.0f} s" if drawn else f"{row.most:.0f}"
        seconds = [row.seconds, row.sort] if row.reading is None else [row[1], row.reading, row[2]]
        times = " | ".join(f"{1e3 * each:,.0f} ms" for each in seconds)
        lines.append(
            f"| {row.family} | {times} | {ratio:.1f} | "
            f"{most} | {'yes' if holds else 'NO'} | {row.megabytes:,.0f} MB | {row.method} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--files", action="store_true", help="read Parquet files")
    parser.add_argument("--weights", action="store_true", help="give every row a weight")
    parser.add_argument("--only", default="", help="families whose name contains this")
    parser.add_argument("--write", action="store_true", help="keep the table in docs/benchmarks.md")
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) if asked.files else None
        for family in families(asked.rows, np.random.default_rng(0)):
            if asked.only in family.name:
                data = weighed(family, np.random.default_rng(1)) if asked.weights else family
                rows.append(measure(data, asked.repetitions, where))
                print(table(rows[-1:]).splitlines()[-1], flush=True)
    if asked.write:
        how = f"{', all with weights' * asked.weights}{' in a Parquet file' * asked.files}"
        keep(f"{asked.rows:,} rows{how}", table(rows))


def keep(title: str, measured: str) -> None:
    """Put a table into the document, in place of the one with its title."""
    before, rest = DOCUMENT.read_text().split(BEGIN)
    between, after = rest.split(END)
    pieces = [piece.strip() for piece in between.split("### ")[1:]]
    kept = dict(piece.split("\n\n", 1) for piece in pieces)
    kept[title] = measured
    text = "\n\n".join(f"### {name}\n\n{kept[name]}" for name in kept)
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


if __name__ == "__main__":
    main()
