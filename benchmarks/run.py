"""Measure speed and memory against what users would otherwise run, side by side in one process.

    python benchmarks/run.py             # everything, about five minutes; needs 4 GB of memory
    python benchmarks/run.py --quick     # without the growth from 1e7 to 1e8 rows
    python benchmarks/run.py --write     # also keep the tables in docs/benchmarks.md
    python benchmarks/run.py --sizes     # only calls of a thousand to ten million rows, a minute
    python benchmarks/run.py --remember NAME    # also add a line to history.json
    python benchmarks/run.py --check     # say what became slower than its last line, and exit 1

Every time is the best of several runs; every claim is a ratio to a reference timed right beside it.
"""

from __future__ import annotations

import argparse
import gc
import platform
import subprocess
import sys
import time
import tracemalloc
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from history import compared, remember

import secant
from peers import argsort_cumsum, installed, packed_sort
from secant._blocks import kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N = 10_000_000
DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"


@dataclass(frozen=True)
class Row:
    """One comparison; ``required`` is the largest ratio that meets the project's target."""

    work: str
    ours: float
    reference: float
    required: float | None = None
    ours_memory: float | None = None
    reference_memory: float | None = None
    argsort: float | None = None
    reading: float | None = None

    @property
    def ratio(self) -> float:
        return self.ours / self.reference

    def cells(self) -> list[str]:
        met = "" if self.required is None else ("yes" if self.ratio <= self.required else "NO")
        return [
            self.work,
            _seconds(self.ours),
            _seconds(self.reference),
            _ratio(self.ratio),
            "" if self.required is None else _ratio(self.required),
            met,
            "" if self.argsort is None else _ratio(self.ours / self.argsort),
            "" if self.reading is None else f"{self.ours / self.reading:.0f}",
            _megabytes(self.ours_memory),
            _megabytes(self.reference_memory),
        ]


def best(function: Callable[[], Any], repetitions: int) -> float:
    """Return the shortest of several wall-clock times."""
    times = []
    for _ in range(repetitions):
        gc.collect()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def _once(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def peak_memory(function: Callable[[], Any]) -> float:
    """Return the most bytes allocated beyond the inputs at any moment."""
    gc.collect()
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak)


def assess(y: Any, p: Any, w: Any = None) -> Any:
    """Both metrics, sigma, asymptotic P-values and everything else a result holds."""
    return secant.assess(y, p, sample_weight=w, method="asymptotic")


def compare(work: str, data: tuple[Any, ...], required: float | None) -> Row:
    """Time secant against sorting, and make sure that they agree."""
    result = assess(*data)
    if "tie" not in work and "float32" not in work:  # sorting orders ties by accident
        expected = argsort_cumsum(*data)
        np.testing.assert_allclose(
            (result.ecce_r.value, result.ecce_mad.value), expected, rtol=0, atol=1e-12
        )
    # Weights cannot be packed into what is sorted.
    reference = packed_sort if len(data) == 2 else argsort_cumsum
    return Row(
        work,
        best(lambda: assess(*data), 7),
        best(lambda: reference(*data), 3),
        required,
        peak_memory(lambda: assess(*data)),
        peak_memory(lambda: reference(*data)),
        best(lambda: argsort_cumsum(*data), 2),
        best(data[1].sum, 7),
    )


def datasets(rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, ...], float | None]]:
    """Yield (work, data, required ratio): every row of the design's table for arrays."""

    def with_outcomes(p: Any, *more: Any) -> tuple[Any, ...]:
        return ((rng.random(N) < p).astype(np.int64), p, *more)

    yield "uniform scores", with_outcomes(rng.random(N)), 1 / 5
    yield "confident, Beta(5, .3)", with_outcomes(rng.beta(5, 0.3, N)), 1 / 5
    yield "skewed, Beta(.05, 5)", with_outcomes(rng.beta(0.05, 5, N)), 1 / 5
    yield "rare events, Beta(1, 200)", with_outcomes(rng.beta(1, 200, N)), 1 / 5
    yield "lognormal weights", with_outcomes(rng.random(N), rng.lognormal(0, 1, N)), 1 / 8
    yield "ties, a grid of .01", with_outcomes(rng.integers(0, 101, N) / 100), 1 / 3
    yield "ties, ten values", with_outcomes((rng.integers(0, 10, N) + 0.5) / 10), 1 / 3
    yield "half the rows tied at .3", with_outcomes(_half_tied(rng)), None
    yield "two clusters 1e-9 wide", with_outcomes(_clusters(rng)), None
    y, p = with_outcomes(rng.random(N))
    yield "float32 scores, int8 outcomes", (y.astype(np.int8), p.astype(np.float32)), None


def _half_tied(rng: np.random.Generator) -> Any:
    return np.where(rng.random(N) < 0.5, 0.3, rng.random(N))


def _clusters(rng: np.random.Generator) -> Any:
    return np.where(rng.random(N) < 0.5, 0.2, 0.7) + 1e-9 * rng.random(N)


def sizes(rng: np.random.Generator) -> Iterator[Row]:
    """One metric of calls of every size, against a good sort; alternately, for machines in use."""
    for n in (1_000, 10_000, 100_000, 1_000_000, N):
        for name, p in (("uniform", rng.random(n)), ("rare", rng.beta(1, 200, n))):
            y = (rng.random(n) < p).astype(np.int64)
            functions = (
                partial(secant.ecce_r, y, p),
                partial(packed_sort, y, p),
                partial(argsort_cumsum, y, p),
                p.sum,
            )
            times = [float("inf")] * len(functions)
            for _ in range(max(5, min(200, 2_000_000 // n))):
                times = [min(a, _once(f)) for a, f in zip(times, functions, strict=True)]
            work = f"ecce_r, n = {n:,}, {name} scores"
            yield Row(work, times[0], times[1], argsort=times[2], reading=times[3])


def warm_up() -> str:
    """Have compiled passes loaded, where numba is installed; say what is measured."""
    if find_spec("numba") is None:
        return "numpy alone"
    rng = np.random.default_rng(0)
    p = rng.random(kernels.FEWEST_ROWS)
    y = (rng.random(p.shape[0]) < p).astype(np.int64)
    secant.ecce_r(y, p)
    return "the extra fast"


def small_call(rng: np.random.Generator) -> Row:
    """A thousand rows, where overhead is everything."""
    p = rng.random(1000)
    y = (rng.random(1000) < p).astype(np.int64)

    def bare() -> tuple[float, ...]:
        r, mad = argsort_cumsum(y, p)
        sigma = np.sqrt((p * (1 - p)).sum()) / 1000
        return r, mad, secant.null.range.sf(r / sigma), secant.null.mad.sf(mad / sigma)

    def many(function: Callable[[], Any]) -> float:
        def repeat() -> None:
            for _ in range(500):
                function()

        return best(repeat, 7) / 500

    return Row("n = 1,000: a whole assess()", many(lambda: assess(y, p)), many(bare), 3)


def groups(rng: np.random.Generator) -> Row:
    """Many groups; the reference assesses them one after the other."""
    n, count = 1_500_000, 230
    p, group = rng.random(n), rng.integers(0, count, n)
    y = rng.random(n) < p

    def one_by_one() -> list[Any]:
        return [secant.assess(y[group == key], p[group == key]) for key in range(count)]

    work = "1.5 million rows in 230 groups, against one by one"
    together, apart = best(lambda: secant.assess_by(y, p, group), 2), best(one_by_one, 1)
    return Row(work, together, apart)


def small_groups(rng: np.random.Generator) -> Row:
    """Many groups of ten rows; the reference assesses a hundredth of them one after the other."""
    count, size = 20_000, 10
    p, group = rng.random(count * size), np.repeat(np.arange(count), size)
    y = rng.random(count * size) < p
    some = [slice(start, start + size) for start in range(0, count // 100 * size, size)]
    together = best(lambda: secant.assess_by(y, p, group), 3)
    apart = 100 * best(lambda: [secant.assess(y[rows], p[rows]) for rows in some], 3)
    return Row("20,000 groups of ten rows, against one by one", together, apart)


def growth(rng: np.random.Generator) -> Row:
    """Ten times the rows; the reference is ten million of the same."""
    p = rng.random(10 * N)
    y = rng.random(10 * N) < p
    large = best(lambda: assess(y, p), 3)
    small = best(lambda: assess(y[:N], p[:N]), 5)
    return Row("growth from 1e7 to 1e8 rows", large, small, 11, peak_memory(lambda: assess(y, p)))


def import_time() -> Row:
    """Start Python and import, against importing numpy alone."""

    def start(module: str) -> None:
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    def alternate(repetitions: int) -> tuple[float, float]:
        ours, numpy = [], []
        for _ in range(repetitions):
            ours.append(best(lambda: start("secant"), 1))
            numpy.append(best(lambda: start("numpy"), 1))
        return min(ours), min(numpy)

    return Row("import secant, against import numpy", *alternate(15), 1.2)


def peer_rows(rng: np.random.Generator) -> Iterator[Row]:
    """Time every peer that is installed on ten million uniform scores."""
    p = rng.random(N)
    y = (rng.random(N) < p).astype(np.int64)
    ecce, bins = best(lambda: assess(y, p), 5), best(lambda: secant.ece(y, p), 3)
    for name, what, function in installed():
        run = partial(function, y, p)
        theirs, memory = best(run, 2), peak_memory(run)
        yield Row(f"assess, against {name} ({what})", ecce, theirs, None, None, memory)
        if what == "bins":
            yield Row(f"ece, against {name}", bins, theirs, None, None, memory)


def table(rows: list[Row]) -> str:
    head = ["work", "secant", "reference", "ratio", "target", "met"]
    head += ["of argsort", "of p.sum()", "secant +MB", "reference +MB"]
    lines = [head, ["---"] * len(head), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _seconds(value: float) -> str:
    return f"{value * 1e6:.0f} us" if value < 1e-3 else f"{value * 1e3:.0f} ms"


def _ratio(value: float) -> str:
    return f"1/{1 / value:.1f}" if value < 0.5 else f"{value:.2f}"


def _megabytes(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out 1e8 rows")
    parser.add_argument("--write", action="store_true", help="keep them in docs/benchmarks.md")
    parser.add_argument("--sizes", action="store_true", help="only calls of several sizes")
    parser.add_argument("--remember", metavar="NAME", help="add a line to history.json")
    parser.add_argument("--check", action="store_true", help="compare with its last line")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    measured = warm_up()
    rows = []
    for row in sizes(rng):
        rows.append(row)
        print(" ".join(row.cells()), flush=True)
    peers: list[Row] = []
    if not options.sizes:
        rows += everything(rng, quick=options.quick)
        peers = list(peer_rows(rng))
        text = f"{table(rows)}\n\n{table(peers)}\n" if peers else f"{table(rows)}\n"
        print(text)
        if options.write:
            keep(text, measured)
    ratios = {row.work: row.ratio for row in [*rows, *peers]}
    said, slower = compared(ratios) if options.check else ([], False)
    print("\n".join(said))
    if options.remember:
        remember(options.remember, ratios)
    if slower:
        sys.exit(1)


def everything(rng: np.random.Generator, *, quick: bool) -> list[Row]:
    """Measure all but calls of several sizes and the peers."""
    rows = []
    for work, data, required in datasets(rng):
        rows.append(compare(f"n = 1e7: {work}", data, required))
        print(" ".join(rows[-1].cells()), flush=True)
    rows += [small_call(rng), groups(rng), import_time()]
    if not quick:
        rows.append(growth(rng))
    return rows


def keep(text: str, measured: str) -> None:
    """Put the tables between the marks in the document, whose prose stays."""
    begin, end = "<!-- tables -->\n", "<!-- end of tables -->"
    before, _, rest = DOCUMENT.read_text().partition(begin)
    after = rest.partition(end)[2]
    about = (
        "Except where a row names another, the reference is a good sort: `numpy.sort` of integers "
        "that carry score and\noutcome, `cumsum`, maximum and minimum, without any check of the "
        "input; with weights, and in the column of that\nname, `argsort`, gather, `cumsum`.\n\n"
    )
    machine = f"Python {platform.python_version()}, numpy {np.__version__}, {measured}.\n\n"
    DOCUMENT.write_text(f"{before}{begin}{about}{machine}{text}{end}{after}")


if __name__ == "__main__":
    main()
