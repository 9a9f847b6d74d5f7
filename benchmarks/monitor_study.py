"""The monitor beside tests of every day: false alarms, what is found, and how soon.

    python benchmarks/monitor_study.py [--quick] [--data DIR]

Streams of 200 days are simulated from fixed seeds, all streams of a setting at once, with the
library's own evidence. Beside the monitor stand

- *daily*: all days so far tested every day at 5% (ECCE-R, in the limit of many predictions);
- *divided*: every day by itself at 5% / 200;
- *at the end*: all days tested once, after the last, at 5%.

``--data`` names the folder of real predictions (fivethirtyeight.parquet), of which two streams are
monitored. The numbers are those of docs/monitoring.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import secant
from secant import null
from secant._inference.evalues import (
    FINE,
    GRID,
    SLOPES,
    TILTS,
    Evidence,
    Sums,
    cuts,
    log_evalues,
    log_prior,
    slope_terms,
    tilt_terms,
)

DAYS, ALPHA, TOLERANCE = 200, 0.05, 0.01
COARSE = 1024  # cells for the test of all days so far
LIMIT = -np.log(ALPHA)


def expit(x):
    return 1 / (1 + np.exp(-x))


def logit(p):
    return np.log(p) - np.log1p(-p)


# How scores are distributed.
SHAPES = {
    "uniform": lambda rng, size: rng.random(size),
    "rare, Beta(1, 60)": lambda rng, size: rng.beta(1, 60, size),
    "sure, Beta(5, 0.5)": lambda rng, size: rng.beta(5, 0.5, size),
    "grid of tenths": lambda rng, size: rng.integers(1, 10, size) / 10,
    "middle, Beta(20, 20)": lambda rng, size: rng.beta(20, 20, size),
}


def from_day(start, changed):
    """Return chances that equal the scores until a day, and are changed from then on."""
    return lambda scores, day: changed(scores) if day >= start else scores


def shifted(by):
    return lambda scores: expit(logit(scores) + by)


def sloped(b):
    return lambda scores: expit(b * logit(scores))


def raised(by, low=0.0, high=2.0):
    return lambda scores: np.clip(scores + by * ((scores >= low) & (scores < high)), 0, 1)


def either_way(scores, day):
    """Return chances at the tolerance, above on one day and below on the next."""
    return np.clip(scores + TOLERANCE * (1 if day % 2 else -1), 0, 1)


calibrated, always_above = from_day(DAYS, None), from_day(0, raised(TOLERANCE))


class Streams:
    """Several streams, day by day: the monitor's evidence and the three tests."""

    def __init__(self, streams, tolerance):
        self.streams, self.tolerance = streams, tolerance
        self.evidence = Evidence.none(streams)
        self.prior = log_prior(tolerance)
        self.edges = None
        self.path = np.zeros((streams, COARSE))
        self.variance = np.zeros(streams)
        self.first = {name: np.full(streams, DAYS + 1) for name in ("monitor", "daily", "divided")}
        self.ends = np.zeros(streams)
        self.since = np.zeros(streams, int)
        self.daily_limit = null.range.isf(ALPHA)
        self.divided_limit = null.range.isf(ALPHA / DAYS)

    def add(self, day, scores, happened):
        if self.edges is None:
            places = (scores * GRID).astype(int)
            self.edges = np.array([cuts(np.bincount(each, minlength=GRID + 1)) for each in places])
        self.evidence = self.evidence.after(log_evalues(self._sums(scores, happened)))
        alarm = self.evidence.log_mixture(self.prior) >= LIMIT
        new = alarm & (self.first["monitor"] > DAYS)
        heaviest = self.evidence.heaviest(self.prior)
        started = self.evidence.start[np.arange(self.streams), heaviest]
        self.since[new] = started[new]
        self._note("monitor", alarm, day)
        self._tests(day, scores, happened)

    def _sums(self, scores, happened):
        """Add up all streams at once: cells of a stream follow those of the one before."""
        cell = np.concatenate(
            [
                FINE * stream + np.searchsorted(edges[1:-1], row, "right")
                for stream, (edges, row) in enumerate(zip(self.edges, scores, strict=True))
            ]
        )
        order = np.argsort(cell, kind="stable")
        cell, scores, happened = cell[order], scores.ravel()[order], happened.ravel()[order]
        starts = np.flatnonzero(np.diff(cell, prepend=-1))
        shape = self.streams, FINE
        tilted, events = np.zeros((TILTS.size, *shape)), np.zeros(shape)
        for number, terms in enumerate(tilt_terms(scores, self.tolerance)):
            tilted[number].ravel()[cell[starts]] = np.add.reduceat(terms, starts)
        events.ravel()[cell[starts]] = np.add.reduceat(happened.astype(float), starts)
        slopes = None
        if self.tolerance == 0:
            terms = slope_terms(scores, happened, np.empty((SLOPES.size, scores.size)))
            slopes = terms.reshape(SLOPES.size, self.streams, -1).sum(-1).T
        return Sums(events, events, events, np.moveaxis(tilted, 0, 1), slopes, (0, 0), 0.0, 0.0)

    def _tests(self, day, scores, happened):
        order = np.argsort(scores, axis=1)
        ordered = np.take_along_axis(scores, order, 1)
        gain = np.take_along_axis(happened, order, 1) - ordered
        variance = (ordered * (1 - ordered)).sum(1)
        today = spread(np.cumsum(gain, 1), ordered) / np.sqrt(variance)
        self._note("divided", today > self.divided_limit, day)
        cell = (scores * COARSE).astype(int).clip(max=COARSE - 1)
        cell += COARSE * np.arange(self.streams)[:, None]
        added = np.bincount(cell.ravel(), (happened - scores).ravel(), minlength=self.path.size)
        self.path += added.reshape(self.path.shape)
        self.variance += variance
        so_far = spread(np.cumsum(self.path, 1)) / np.sqrt(self.variance)
        self._note("daily", so_far > self.daily_limit, day)
        self.ends = so_far > self.daily_limit

    def _note(self, name, alarm, day):
        first = self.first[name]
        first[alarm & (first > DAYS)] = day + 1


def spread(path, ordered=None):
    """Return the range of cumulative differences, at the ends of ties where scores are given."""
    if ordered is not None:
        inside = np.concatenate(
            [ordered[:, 1:] == ordered[:, :-1], np.zeros_like(path[:, :1], bool)], 1
        )
        path = np.where(inside, 0.0, path)
    return np.maximum(path.max(1), 0) - np.minimum(path.min(1), 0)


def simulate(shape, chance, *, rows, streams, tolerance=0.0, seed=0):
    rng = np.random.default_rng([seed, rows, int(1e6 * tolerance)])
    run = Streams(streams, tolerance)
    for day in range(DAYS):
        scores = SHAPES[shape](rng, (streams, rows))
        happened = rng.random((streams, rows)) < chance(scores, day)
        run.add(day, scores, happened)
    return run


def ever(first):
    return f"{np.mean(first <= DAYS):6.3f}"


def null_table(streams, rows):
    print(f"\nFalse alarms of calibrated models, {DAYS} days x {rows} rows, {streams} streams each")
    print(f"{'scores':22} {'tolerance':>9}  {'monitor':>7} {'daily':>7} {'divided':>7} {'end':>7}")
    for number, shape in enumerate(SHAPES):
        for words, tolerance, chance in (
            ("0", 0.0, calibrated),
            ("0.01 +-", TOLERANCE, either_way),
            ("0.01", TOLERANCE, always_above),
        ):
            run = simulate(
                shape, chance, rows=rows, streams=streams, tolerance=tolerance, seed=10 + number
            )
            cells = [ever(run.first["monitor"])]
            if not tolerance:
                cells += [ever(run.first["daily"]), ever(run.first["divided"])]
                cells += [f"{run.ends.mean():.3f}"]
            print(f"{shape:22} {words:>9}  {' '.join(f'{c:>7}' for c in cells)}", flush=True)


def power_table(streams):
    print(
        f"\nEver found, and the median day of the alarm among those found, {streams} streams each"
    )
    print(
        f"{'what is off':34} {'rows':>5} {'tol':>5}  {'monitor':>12} {'daily':>12} {'divided':>12} "
        f"{'end':>6} {'since':>6}"
    )
    cases = (
        ("log odds +0.05, always", 1, shifted(0.05), 500, 0.0),
        ("log odds +0.05 from day 101", 101, shifted(0.05), 500, 0.0),
        ("log odds +0.1 from day 101", 101, shifted(0.1), 500, 0.0),
        ("slope 0.95, always", 1, sloped(0.95), 500, 0.0),
        ("0.2 to 0.3 lower by 0.05, day 101", 101, raised(-0.05, 0.2, 0.3), 500, 0.0),
        ("chances +0.015, always", 1, raised(0.015), 1000, TOLERANCE),
        ("chances +0.02, always", 1, raised(0.02), 1000, TOLERANCE),
    )
    for number, (name, begins, changed, rows, tolerance) in enumerate(cases):
        chance = from_day(begins - 1, changed)
        run = simulate(
            "uniform", chance, rows=rows, streams=streams, tolerance=tolerance, seed=100 + number
        )
        cells = [found(run.first[each]) for each in ("monitor", "daily", "divided")]
        alarmed = run.first["monitor"] <= DAYS
        since = f"{np.median(run.since[alarmed]):6.0f}" if alarmed.any() else ""
        print(
            f"{name:34} {rows:5} {tolerance:5g}  {' '.join(f'{each:>12}' for each in cells)} "
            f"{run.ends.mean():6.2f} {since:>6}   (truly {begins})",
            flush=True,
        )


def found(first):
    some = first[first <= DAYS]
    return f"{some.size / first.size:.2f} @ {np.median(some):.0f}" if some.size else "0.00"


def recurring(streams, rows=500):
    """Return how often a calibrated model raises an alarm when the same rows return every day."""
    rng = np.random.default_rng(7)
    run = Streams(streams, 0.0)
    scores = rng.random((streams, rows))
    happened = rng.random((streams, rows)) < scores
    for day in range(30):
        run.add(day, scores, happened)
    return np.mean(run.first["monitor"] <= DAYS)


def cells_loss():
    """Return how much log evidence Cells lose against rows, slopes apart."""
    rng = np.random.default_rng(8)
    n = 1_000_000
    scores = rng.random(n)
    happened = rng.random(n) < scores**1.02
    cells = secant.Cells()
    cells.update(happened, scores)
    rows, sums = secant.Monitor(tolerance=1e-9), secant.Monitor(tolerance=1e-9)
    rows.add(happened, scores)
    sums.add(cells)
    lost = rows._state.evidence.won - sums._state.evidence.won  # noqa: SLF001  (all of them)
    return float(np.max(lost))


def real(folder, batch=100):
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(folder / "fivethirtyeight.parquet")
    for group in ("mlb_games", "nba_games"):
        names = np.array(table["group"].to_pylist()) == group
        ours = names & (np.array(table["column"].to_pylist()) == "prob1")
        scores, happened = (table[name].to_numpy()[ours] for name in ("score", "response"))
        monitor = secant.Monitor()
        for start in range(0, scores.size, batch):
            piece = slice(start, start + batch)
            monitor.add(happened[piece], scores[piece])
        whole = secant.assess(happened, scores)
        print(f"\n{group}, batches of {batch} in the order of the file")
        print(monitor)
        print(f"assessed once, after the last: P = {whole.ecce_r.pvalue:.2g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few streams, to see it run")
    parser.add_argument("--data", type=Path, help="the folder of real predictions")
    asked = parser.parse_args()
    start = time.monotonic()
    streams = 30 if asked.quick else 300
    null_table(streams, 100 if asked.quick else 200)
    power_table(20 if asked.quick else 100)
    print(f"\nThe same rows again every day, 30 days: false alarms {recurring(streams):.2f}")
    print(f"Log evidence that Cells lose at a million rows, at most: {cells_loss():.1e}")
    if asked.data is not None:
        real(asked.data)
    print(f"\n{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
