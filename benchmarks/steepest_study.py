"""The steepest range: how often "off by at least" says too much, and how much it says.

    python benchmarks/steepest_study.py [--quick]

A lower limit is invalid where the range that was named is truly less far off on average. Under
perfect calibration any range that is named is. The limits are judged by themselves; a result shows
them only where ECCE-R has a small P-value, which makes them no less valid. Everything is simulated
from fixed seeds; the tables are those of docs/studies.md.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import secant
from secant._inference import tolerance
from secant._inference.tolerance import steepest

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Design:
    """Scores, the true chance at each, and weights."""

    name: str
    scores: Callable
    chance: Callable
    weights: Callable | None = None


def uniform(rng, n):
    return rng.random(n)


def middle(rng, n):
    return rng.uniform(0.2, 0.8, n)


def rare(rng, n):
    return rng.beta(1, 49, n)


def grid(rng, n):
    return rng.integers(0, 11, n) / 10


def calibrated(p):
    return p


def wave(p):
    return np.clip(p + 0.1 * np.sin(8 * np.pi * p), 0, 1)


def narrow(p):
    return np.where((p > 0.4) & (p < 0.43), np.minimum(p + 0.5, 1), p)


def lognormal(rng, n):
    return rng.lognormal(0, 0.5, n)


DESIGNS = (
    Design("calibrated, uniform scores", uniform, calibrated),
    Design("calibrated, rare events", rare, calibrated),
    Design("calibrated, scores 0, .1, ..., 1", grid, calibrated),
    Design("calibrated, lognormal weights", uniform, calibrated, lognormal),
    Design("2 points too low", middle, lambda p: p + 0.02),
    Design("rare events, half as many as forecast", rare, lambda p: p / 2),
    Design("rare events, twice as many", rare, lambda p: np.minimum(2 * p, 1)),
    Design("scores 0, .1, ..., 1, squeezed", grid, lambda p: 0.05 + 0.9 * p),
    Design("wave of 10 points, 8 lobes", uniform, wave),
    Design("50 points on 3%", uniform, narrow),
    Design("50 points on 3%, lognormal weights", uniform, narrow, lognormal),
)


# Where 3% of uniform scores are off, and by how much.
DEFECTS = ((0.40, -0.39), (0.20, 0.5), (0.60, -0.5), (0.40, 0.5), (0.50, -0.5))


def medians(start, by, n, reps):
    """Return the medians of the limit, of what a result shows, and of the path alone."""
    found = np.zeros((reps, 3))
    for rep in range(reps):
        rng = np.random.default_rng([9, n, rep])
        p = rng.random(n)
        y = rng.random(n) < np.where((p > start) & (p < start + 0.03), p + by, p)
        result = secant.assess(y, p, method="asymptotic")
        blocks, totals = result._blocks, result._totals  # noqa: SLF001  (without the P-value's say)
        alone = tolerance._by_path(blocks, totals, 0.025, None, None)  # noqa: SLF001  (one way of two)
        ways = steepest(blocks, totals, 0.95, None), result.steepest, alone
        found[rep] = [0.0 if each is None else each.at_least for each in ways]
    return np.median(found, axis=0)


def study(design, n, reps):
    """Return the share of invalid limits, how often one is shown, and two medians.

    The medians are those of the limit, and of the limit of the path alone.
    """
    limits, by_path, invalid, shown = np.zeros(reps), np.zeros(reps), 0, 0
    for rep in range(reps):
        rng = np.random.default_rng([n, DESIGNS.index(design), rep])
        p = design.scores(rng, n)
        chance = design.chance(p)
        y = rng.random(n) < chance
        w = None if design.weights is None else design.weights(rng, n)
        result = secant.assess(y, p, sample_weight=w, method="asymptotic")
        blocks, totals = result._blocks, result._totals  # noqa: SLF001  (without the P-value's say)
        found = steepest(blocks, totals, 0.95, None)
        error = 0.025 if w is None else 0.05
        alone = tolerance._by_path(blocks, totals, error, None, None)  # noqa: SLF001  (one way of two)
        by_path[rep] = 0.0 if alone is None else alone.at_least
        shown += result.steepest is not None
        if found is None:
            continue
        inside = (p >= found.blocks.low[0]) & (p <= found.blocks.high[-1])
        off = np.average((chance - p)[inside], weights=None if w is None else w[inside])
        limits[rep] = found.at_least
        sign = 1 if found.limits[0] > 0 else -1
        invalid += sign * off < found.at_least
    return invalid / reps, shown / reps, np.median(limits), np.median(by_path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few repetitions, to see it run")
    quick = parser.parse_args().quick
    print("| predictions | n | samples | invalid | shown | median of at least | path alone |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for design in DESIGNS:
        for n in (300, 2_000, 20_000):
            reps = 20 if quick else 500 if n < 20_000 else 200
            invalid, *rest = study(design, n, reps)
            cells = " | ".join(f"{each:.3f}" for each in (invalid, *rest))
            print(f"| {design.name} | {n:,} | {reps:,} | {cells} |", flush=True)
    print("\n| scores | off by | n | limit | shown | path alone |\n|---|--:|--:|--:|--:|--:|")
    for start, by in DEFECTS:
        for n, reps in ((2_000, 200), (20_000, 100)):
            cells = " | ".join(
                f"{each:.3f}" for each in medians(start, by, n, 20 if quick else reps)
            )
            print(
                f"| {start:.2f} to {start + 0.03:.2f} | {by:+.2f} | {n:,} | {cells} |", flush=True
            )


if __name__ == "__main__":
    main()
