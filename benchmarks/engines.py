"""Measure what engines do and what comes back from them, at ten million rows.

    python benchmarks/engines.py             # DuckDB and Spark, about three minutes
    python benchmarks/engines.py --write     # also keep the tables in docs/scale.md

A Parquet file is written to a temporary folder. Every time is the best of several runs after a
first one, and stands beside two references of the same process: secant on arrays in memory, and
pyarrow reading the two columns. What a cluster would cost is computed from the figures measured.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np

import secant
from secant.sources.engines import queries
from secant.sources.engines.budget import CELL_BITS, Budget

N = 10_000_000
GROUPS = 200
DOCUMENT = Path(__file__).parents[1] / "docs" / "scale.md"
PLAIN = {"y_true": "happened", "y_prob": "forecast", "method": "asymptotic"}


@dataclass
class Watch:
    """What goes through ``collect``: seconds, rows and bytes of each query."""

    seconds: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._collect = queries.collect

        def collect(frame):
            start = time.perf_counter()
            answer = self._collect(frame)
            self.seconds.append(time.perf_counter() - start)
            self.rows.append(len(answer))
            self.bytes.append(int(answer.estimated_size()))
            return answer

        queries.collect = collect
        return self

    def __exit__(self, *_: object) -> None:
        queries.collect = self._collect


def write_predictions(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    forecast = rng.random(N)
    happened = (rng.random(N) < forecast**1.001).astype(np.int8)
    segment = rng.integers(0, GROUPS, N)
    table = pa.table({"happened": happened, "forecast": forecast, "segment": segment})
    pq.write_table(table, path, row_group_size=1 << 20)
    return happened, forecast, segment


def best(function, repetitions):
    times = []
    for _ in range(repetitions + 1):  # the first run warms up
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def measure(name, work, references):
    """Run some work several times and return a row of the table."""
    watches = []

    def watched():
        with Watch() as watch:
            start = time.perf_counter()
            work()
            watches.append((time.perf_counter() - start, watch))

    best(watched, 3)
    seconds, watch = min(watches[1:], key=lambda pair: pair[0])
    arrays, reading = references
    return [
        name,
        f"{seconds:.2f} s",
        f"{sum(watch.seconds) / seconds:.0%}",
        f"{len(watch.rows)}",
        " + ".join(f"{rows:,}" for rows in watch.rows),
        f"{sum(watch.bytes) / 1e6:.1f} MB",
        f"{seconds / arrays:.1f}",
        f"{seconds / reading:.1f}",
    ]


def engine_tables(path, arrays):
    """Time both engines, and return the table with the shuffled bytes of Spark's first pass."""
    import pyarrow.parquet as pq

    happened, forecast, segment = arrays
    plain = best(lambda: secant.assess(happened, forecast, method="asymptotic"), 3)
    grouped = best(lambda: secant.assess_by(happened, forecast, segment, method="asymptotic"), 1)
    two = best(lambda: pq.read_table(path, columns=["happened", "forecast"]), 3)
    three = best(lambda: pq.read_table(path), 3)
    rows = []
    for engine, opened in (("DuckDB", open_duckdb), ("Spark, local[2]", open_spark)):
        table, close = opened(path)
        all_of_it = partial(secant.assess, **PLAIN, data=table)
        by_segment = partial(secant.assess_by, **PLAIN, by="segment", data=table)
        rows.append(measure(engine, all_of_it, (plain, two)))
        print(*rows[-1], flush=True)
        rows.append(measure(f"{engine}, {GROUPS} groups", by_segment, (grouped, three)))
        print(*rows[-1], flush=True)
        shuffled = close()
    return rows, shuffled


def open_duckdb(path):
    import duckdb

    return duckdb.read_parquet(str(path)), lambda: None


def open_spark(path):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.log.level", "ERROR")
    builder = builder.config("spark.driver.memory", "4g").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()

    def close():
        context = spark.sparkContext
        context.setJobGroup("first pass", "")
        secant.assess(**PLAIN, data=spark.read.parquet(str(path)))
        store = context._jsc.sc().statusStore()  # noqa: SLF001  (Python has no other way)
        tracker = context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup("first pass")]
        stages = [store.lastStageAttempt(stage) for job in jobs for stage in job.stageIds]
        # The first pass shuffles cells, the second one a few ties.
        most = max(stages, key=lambda stage: stage.shuffleWriteBytes())
        written = most.shuffleWriteBytes(), most.numTasks()
        spark.stop()
        return written

    return spark.read.parquet(str(path)), close


# What a cluster would cost ------------------------------------------------------------------------


def passes(n, rng):
    """Simulate which cells n calibrated uniform scores leave to look at: rows fetched by pass.

    The sums of cells are drawn directly; a cell that could hold an extreme is cut by the rule of
    ``secant.sources.engines.source``, its sum shared out as a random walk between known ends
    shares it.
    """
    cells, budget = 1 << CELL_BITS, Budget()
    budget.brought = cells
    score = (np.arange(cells) + 0.5) / cells
    rows = np.full(cells, n / cells)
    gain = rng.standard_normal(cells) * np.sqrt(rows * score * (1 - score))
    fetched = [cells]
    while True:
        swing = rows * score * (1 - score)  # the positive parts, and the negative ones, on average
        ends = np.concatenate([[0.0], np.cumsum(gain)])
        open_cells = rows > 1
        above = ends[:-1] + swing >= ends.max()
        below = ends[:-1] - swing <= ends.min()
        candidates = np.flatnonzero((above | below) & open_cells)
        wanted = rows[candidates].sum()
        if not candidates.size:
            return fetched
        if wanted <= budget.room:
            return [*fetched, int(wanted)]
        pieces = max(2, budget.cells(int(wanted), 1) // len(candidates))
        fetched.append(pieces * len(candidates))
        budget.brought += fetched[-1]
        times = np.ones(len(rows), int)
        times[candidates] = pieces
        first = np.cumsum(times) - times
        share = np.repeat(1 / times, times)
        noise = rng.standard_normal(len(share)) * np.sqrt(
            np.repeat(rows * score * (1 - score) / times, times)
        )
        mean = np.repeat(np.add.reduceat(noise, first) / times, times)
        gain = np.repeat(gain, times) * share + np.where(share < 1, noise - mean, 0)
        rows, score = np.repeat(rows, times) * share, np.repeat(score, times)


def cluster_rows(shuffled, returned):
    """Return the table of costs for more and more rows, from the bytes of a line on either way."""
    table = []
    for power in range(8, 13):
        fetched = [passes(10**power, np.random.default_rng([power, seed])) for seed in range(20)]
        typical = sorted(fetched, key=lambda each: (len(each), sum(each)))[len(fetched) // 2]
        longest = max(len(each) for each in fetched)
        table.append(
            [
                f"1e{power}",
                f"{len(typical)}" + (f" (at most {longest})" if longest > len(typical) else ""),
                " + ".join(f"{rows:,}" for rows in typical),
                f"{max(typical) * shuffled / 1e6:.0f} MB",
                f"{sum(typical) * returned / 1e6:.0f} MB",
            ]
        )
    return table


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the tables in docs/scale.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        arrays = write_predictions(path)
        rows, (shuffled, tasks) = engine_tables(path, arrays)
    header = ["ten million rows", "time", "in the engine", "passes", "rows that came back"]
    header += ["bytes", "times secant on arrays", "times reading"]
    engines = markdown(header, rows)
    came_back = [int(count.replace(",", "")) for count in rows[0][4].split(" + ")]
    shuffled_line = shuffled / tasks / came_back[0]
    returned_line = float(rows[0][5].removesuffix(" MB")) * 1e6 / sum(came_back)
    print(engines)
    print(f"\nSpark's first pass shuffled {shuffled / 1e6:.1f} MB from {tasks} tasks,")
    print(f"{shuffled_line:.0f} bytes a cell and task; {returned_line:.0f} came back for each.\n")
    header = ["rows", "passes", "rows that come back, by pass"]
    header += ["sent by a task, in a pass, at most", "through the driver, in all"]
    costs = markdown(header, cluster_rows(shuffled_line, returned_line))
    print(costs)
    if arguments.write:
        replace_between("engines", engines)
        replace_between("cluster", costs)


def replace_between(name, text):
    """Put text between the marks of that name in the document."""
    document = DOCUMENT.read_text(encoding="utf-8")
    before, rest = document.split(f"<!-- {name} -->\n")
    _, after = rest.split(f"<!-- end of {name} -->")
    DOCUMENT.write_text(
        f"{before}<!-- {name} -->\n{text}\n<!-- end of {name} -->{after}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
