"""Measure files against pyarrow reading the same columns once: time, memory, growth with rows.

    python benchmarks/files.py             # 1e7 and 1e8 rows; needs 2 GB of memory, 1 GB of disk
    python benchmarks/files.py --quick     # 1e6 and 1e7 rows
    python benchmarks/files.py --write     # also keep the table in docs/scale.md

A Parquet file of outcomes (int8) and scores (float64) is written in pieces to a temporary folder,
measured, and removed. Times are the best of several runs in one process that takes turns, the file
being in the system's cache. Memory is the peak of a fresh process that only assesses the file.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from run import best

import secant

DOCUMENT = Path(__file__).parents[1] / "docs" / "scale.md"
HEAD = (
    "| rows | scores | file | secant | pyarrow, into memory | pyarrow, streamed | ratio | peak |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)
PIECE = 1_000_000
ROUNDS = 4
COLUMNS = ["happened", "forecast"]
SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "rare events, Beta(1, 200)": lambda rng, n: rng.beta(1, 200, n),
    "ties, a grid of .01": lambda rng, n: np.round(rng.random(n), 2),
}
# Run by itself: what the system saw of the process at its largest.
MEMORY = """
import sys
import secant
import pyarrow.parquet
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
before = peak()
secant.assess("happened", "forecast", data=sys.argv[1])
print(before, peak())
"""


def write(path, n, scores):
    """Write the file piece by piece, a row group each."""
    rng = np.random.default_rng(0)
    schema = pa.schema({"happened": pa.int8(), "forecast": pa.float64()})
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n, PIECE):
            p = scores(rng, min(PIECE, n - start))
            y = (rng.random(len(p)) < p).astype(np.int8)
            writer.write_table(pa.table({"happened": y, "forecast": p}, schema))


def read(path):
    """Read both columns into memory."""
    parquet.read_table(path, columns=COLUMNS)


def stream(path):
    """Read both columns batch by batch and look at none."""
    with parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
        for _ in file.iter_batches(batch_size=1 << 18, columns=COLUMNS):
            pass


def assess(path):
    return secant.assess("happened", "forecast", data=path)


def memory(path):
    """Return the peak of a fresh process in MB, before the assessment and after it."""
    if not Path("/proc/self/status").exists():
        return float("nan"), float("nan")
    command = [sys.executable, "-c", MEMORY, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(int(kilobytes) / 1000 for kilobytes in run.stdout.split())


def measure(folder, n, name):
    """Return one row of the table, and the time."""
    path = folder / "predictions.parquet"
    write(path, n, SCORES[name])
    # In turns: what else the machine does meets all alike. Twice in a row: the second time pyarrow
    # has the memory already.
    jobs = [partial(job, path) for job in (assess, read, stream)]
    rounds = [[best(job, 2) for job in jobs] for _ in range(ROUNDS)]
    ours, whole, streamed = np.min(rounds, axis=0)
    before, peak = memory(path)
    megabytes = path.stat().st_size / 1e6
    path.unlink()
    power = len(str(n)) - 1
    row = (
        f"| 1e{power} | {name} | {megabytes:.0f} MB | {ours:.2f} s | {whole:.2f} s | "
        f"{streamed:.2f} s | {ours / whole:.2f} | {peak:.0f} MB ({before:.0f}) |"
    )
    print(row, flush=True)
    return row, ours


def keep(text):
    """Put the table between the marks in the document."""
    start, end = "<!-- files -->\n", "<!-- end of files -->"
    document = DOCUMENT.read_text(encoding="utf-8")
    before, rest = document.split(start)
    DOCUMENT.write_text(before + start + text + end + rest.split(end)[1], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--write", action="store_true", help="keep the table in docs/scale.md")
    options = parser.parse_args()
    n = 10**6 if options.quick else 10**7
    versions = f"numpy {np.__version__}, pyarrow {pa.__version__}, {os.cpu_count()} processors"
    lines = [f"Python {platform.python_version()}, {versions}.", "", *HEAD]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in SCORES:
            row, _ = measure(Path(folder), n, name)
            lines.append(row)
        _, small = measure(Path(folder), n, "uniform")  # again, beside the large one
        row, large = measure(Path(folder), 10 * n, "uniform")
    growth = f"Ten times the rows take {large / small:.1f} times the time."
    print(f"\n{growth}")
    if options.write:
        keep("\n".join([*lines, row, "", growth, ""]))


if __name__ == "__main__":
    main()
