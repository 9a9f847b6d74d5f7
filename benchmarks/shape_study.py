"""Mean and shape: how often the test that decides rejects, calibrated predictions and others.

    python benchmarks/shape_study.py [--reps N] [--power N] [--plans N] [--only NAME]

- Size: outcomes are drawn from the scores; the share of P-values at or below .05, .01 and .001,
  which may be the level, as P is valid whatever the number of rows. Weighted and clustered rows
  have P by rank, of 999 paths.
- Cells: the same of rows summed in 200 cells of equal width before anything else is known.
- Power at .05 against what goes wrong with forecasts, beside ECCE-R, ECCE-MAD, the scan of narrow
  ranges, the asymptotic form of the test (the R package cumulcalib), Cox's likelihood ratio,
  Spiegelhalter's Z, and Hosmer and Lemeshow's chi square over 10 groups of equal size.

- Plans: what `detectable` says is found at a power of .80, a shift of logits or a slope that leaves
  the mean right, and how often it is.

The study fails if a size is above its level by more than chance explains: one-sided binomial tests
at 1% together, by Bonferroni. Clusters may reject 1.5 times as often as the level says.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np
from size_study import log_tail

import secant
from secant._blocks.table import collapse, merge
from secant._inference import bridge, mean_and_shape

LEVELS = (0.05, 0.01, 0.001)
DRAWS = 999
CELLS = 200
SHOCK = 0.4


def table(score, y):
    each, where = np.unique(score, return_inverse=True)
    return each, np.bincount(where), np.bincount(where, y).astype(np.int64)


def decided(score, y):
    [found] = mean_and_shape.of_ties([table(score, y)])
    return 10**found.pvalue.log10


# --- size -----------------------------------------------------------------------------------------


def uniform(rng, n):
    return rng.random(n)


def rare(rng, n):
    return rng.beta(1, 99, n)


def grid(rng, n):
    return rng.integers(1, 10, n) / 10


def two_ends(rng, n):
    return rng.beta(0.2, 0.2, n).clip(1e-6, 1 - 1e-6)


def of_ties(rng, score):
    return decided(score, rng.random(len(score)) < score)


def in_cells(rng, score):
    blocks = collapse(score, (rng.random(len(score)) < score).astype(int), None)
    edges = np.linspace(0, float(blocks.high[-1]), CELLS, endpoint=False)
    starts = np.unique(np.searchsorted(blocks.low, edges).clip(0, len(blocks) - 1))
    sums = mean_and_shape.sums_of(merge(blocks, starts))
    return 10 ** mean_and_shape.of_sums(sums).pvalue.log10


def along(rng, score):
    """Along an order that scores have nothing to do with, 12 places."""
    place = np.sort(rng.integers(0, 12, len(score)))
    ends = np.append(np.flatnonzero(np.diff(place)), len(score) - 1)
    y = (rng.random(len(score)) < score).astype(np.int64)
    [found] = mean_and_shape.of_ties([(score, np.ones(len(score), int), y)], ends)
    return 10**found.pvalue.log10


def weighted(rng, score):
    """Lognormal weights: the rank of the observed path among drawn ones."""
    score, weight = np.sort(score), rng.lognormal(0, 1, len(score))
    happened = rng.random((DRAWS + 1, len(score))) < score
    paths = np.cumsum((happened - score) * weight, axis=1)
    variance = np.cumsum(weight**2 * score * (1 - score))
    deviation = math.sqrt(variance[-1])
    surprise = mean_and_shape.surprises(paths, variance / variance[-1], deviation)[:, 0]
    return float((surprise >= surprise[0]).mean())


def clustered(rng, score):
    """Twenty rows a cluster, which share a shock."""
    score = np.sort(score)
    cluster = rng.permutation(np.arange(len(score)) // 20)
    logit = np.log(score / (1 - score))
    chance = 1 / (1 + np.exp(-logit - rng.normal(0, SHOCK, cluster.max() + 1)[cluster]))
    # Scores are what chances are on average over shocks.
    node, weight = np.polynomial.hermite_e.hermegauss(20)
    score = (1 / (1 + np.exp(-logit[:, None] - SHOCK * node))) @ (weight / weight.sum())
    y = rng.random(len(score)) < chance
    variance = np.cumsum(score * (1 - score))
    signs = np.vstack([np.ones(cluster.max() + 1), rng.choice([-1, 1], (DRAWS, cluster.max() + 1))])
    paths = np.cumsum((y - score) * signs[:, cluster], axis=1)
    found = mean_and_shape.ends_and_excursions(paths, variance / variance[-1])
    return 10 ** mean_and_shape.of_flips(*found)[0].log10


# Name: scores, rows, how P is had, and how many times the level may be exceeded.
SIZES = {
    "uniform, 20": (uniform, 20, of_ties, 1.0),
    "uniform, 300": (uniform, 300, of_ties, 1.0),
    "uniform, 2,000": (uniform, 2000, of_ties, 1.0),
    "uniform, 20,000": (uniform, 20_000, of_ties, 1.0),
    "rare, 100": (rare, 100, of_ties, 1.0),
    "rare, 3,000": (rare, 3000, of_ties, 1.0),
    "nine scores, 1,000": (grid, 1000, of_ties, 1.0),
    "both ends, 1,000": (two_ends, 1000, of_ties, 1.0),
    "uniform, 5,000, cells": (uniform, 5000, in_cells, 1.0),
    "rare, 20,000, cells": (rare, 20_000, in_cells, 1.0),
    "uniform, 300, along 12 places": (uniform, 300, along, 1.0),
    "lognormal weights, 500": (uniform, 500, weighted, 1.0),
    "lognormal weights, rare, 2,000": (rare, 2000, weighted, 1.0),
    "50 clusters of 20": (uniform, 1000, clustered, 1.5),
}


def sizes(reps, only):
    bar, failed = math.log(0.01 / (len(SIZES) * len(LEVELS))), []
    print(f"\n| calibrated, {reps:,} samples | .05 | .01 | .001 |\n| --- | --: | --: | --: |")
    for name, (scores, n, pvalue, factor) in SIZES.items():
        if only not in name:
            continue
        rng = np.random.default_rng(hash_of(name))
        p = np.array([pvalue(rng, scores(rng, n)) for _ in range(reps)])
        hits = [int((p <= level * (1 + 1e-12)).sum()) for level in LEVELS]
        shares = " | ".join(share(hit, reps, 4) for hit in hits)
        print(f"| {name} | {shares} |", flush=True)
        for hit, level in zip(hits, LEVELS, strict=True):
            if log_tail(hit, reps, factor * level) < bar:
                failed.append(f"{name} at {level}")
    return failed


def share(hit, reps, digits):
    """Return a share and its Monte Carlo standard error, as text."""
    found = hit / reps
    error = math.sqrt(found * (1 - found) / reps)
    return f"{found:.{digits}f} \u00b1 {error:.{digits}f}"


def hash_of(name):
    """Return a number that a name always gives."""
    return int.from_bytes(name.encode(), "big") % (1 << 32)


# --- power ----------------------------------------------------------------------------------------


def logits(score, slope=1.0, shift=0.0):
    return 1 / (1 + np.exp(-(slope * np.log(score / (1 - score)) + shift)))


def in_turn(points, parts):
    """Up, down, up by so many points in as many parts of the scores."""

    def chance(score):
        part = np.minimum((score * parts).astype(int), parts - 1)
        return np.clip(score + np.where(part % 2, -points, points), 0, 1)

    return chance


def bump(score):
    """Ten points too low on 3% of the scores."""
    return np.where((score > 0.6) & (score < 0.63), score + 0.1, score)


POWERS = {
    "slope 1.1": (uniform, 10_000, lambda s: logits(s, 1.1)),
    "slope 0.8, 500 rows": (uniform, 500, lambda s: logits(s, 0.8)),
    "shift 0.07": (uniform, 5000, lambda s: logits(s, 1.0, 0.07)),
    "thirds of 2 points": (uniform, 10_000, in_turn(0.02, 3)),
    "sixths of 3 points": (uniform, 10_000, in_turn(0.03, 6)),
    "rare, slope 0.85": (rare, 20_000, lambda s: logits(s, 0.85, -0.6)),
    "rare, times 1.2": (rare, 20_000, lambda s: np.minimum(1.2 * s, 1)),
    "10 points on 3%": (uniform, 10_000, bump),
}


def chi2_sf(x, pairs):
    """Return the upper tail of chi square with an even number of degrees of freedom."""
    half = 0.5 * x
    return math.exp(-half) * math.fsum(half**i / math.factorial(i) for i in range(pairs))


def asymptotic(score, y):
    """Return P of the mean and the bridge as their limits have them."""
    order = np.argsort(score)
    variance = np.cumsum((score * (1 - score))[order])
    path = np.cumsum((y - score)[order]) / math.sqrt(variance[-1])
    far = float(np.abs(path - path[-1] * variance / variance[-1]).max())
    x = math.erfc(abs(path[-1]) / math.sqrt(2)) * 10 ** bridge.log10_kolmogorov(far)
    return x * (1 - math.log(x)) if x > 0 else 0.0


def hosmer_lemeshow(score, y):
    order = np.argsort(score)
    groups = np.array_split(order, 10)
    gaps = [(y[g].sum() - score[g].sum()) ** 2 / (score[g] * (1 - score[g])).sum() for g in groups]
    return chi2_sf(math.fsum(gaps), 5)  # forecasts that were not fitted: as many as groups


def others(score, y):
    found = secant.assess(y, score)
    cox = found.cox.pvalue
    return [
        decided(score, y),
        found.ecce_r.pvalue,
        found.ecce_mad.pvalue,
        secant.scan(y, score).pvalue,
        asymptotic(score, y),
        1.0 if math.isnan(cox) else cox,
        found.spiegelhalter.pvalue,
        hosmer_lemeshow(score, y),
    ]


def powers(reps, only):
    tests = "mean and shape", "ECCE-R", "ECCE-MAD", "scan", "asymptotic", "Cox", "Spiegelhalter"
    print(f"\n| found at .05, {reps:,} samples | {' | '.join(tests)} | Hosmer-Lemeshow |")
    print("| --- |" + " --: |" * 8)
    for name, (scores, n, chance) in POWERS.items():
        if only not in name:
            continue
        rng = np.random.default_rng(hash_of(name))
        hits = np.zeros(8)
        for _ in range(reps):
            score = scores(rng, n)
            y = rng.random(n) < chance(score)
            hits += np.array(others(score, y)) <= 0.05
        shares = " | ".join(share(hit, reps, 2) for hit in hits)
        print(f"| {name} | {shares} |", flush=True)


# --- plans ----------------------------------------------------------------------------------------

PLANS = {
    "shift, uniform, 300": (uniform, 300, "shift"),
    "shift, uniform, 3,000": (uniform, 3000, "shift"),
    "shift, rare, 10,000": (rare, 10_000, "shift"),
    "slope, uniform, 300": (uniform, 300, "slope"),
    "slope, uniform, 3,000": (uniform, 3000, "slope"),
    "slope, rare, 10,000": (rare, 10_000, "slope"),
}


def right_on_average(score, slope):
    """Return chances with so steep a slope and the mean of the scores."""
    low, high = -20.0, 20.0
    for _ in range(60):
        shift = 0.5 * (low + high)
        above = logits(score, slope, shift).mean() > score.mean()
        low, high = (low, shift) if above else (shift, high)
    return logits(score, slope, high)


def plans(reps, only):
    """Print how often what is detectable at a power of 0.8 is found, either way."""
    print(f"\n| planned for a power of .80, {reps:,} samples | size | upward | downward |")
    print("| --- | --: | --: | --: |")
    for name, (scores, n, kind) in PLANS.items():
        if only not in name:
            continue
        rng = np.random.default_rng(hash_of(name))
        size = secant.detectable(n, kind=kind, scores=scores(rng, 10_000), power=0.8)
        hits = np.zeros(2)
        for _ in range(reps):
            score = scores(rng, n)
            if kind == "shift":
                chances = logits(score, 1.0, size), logits(score, 1.0, -size)
            else:
                chances = right_on_average(score, size), right_on_average(score, 1 / size)
            hits += [decided(score, rng.random(n) < chance) <= 0.05 for chance in chances]
        shares = " | ".join(share(hit, reps, 3) for hit in hits)
        print(f"| {name} | {size:.3f} | {shares} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=20_000, help="samples for each size")
    parser.add_argument("--power", type=int, default=1000, help="samples for each power")
    parser.add_argument("--only", default="", help="only what has this in its name")
    parser.add_argument("--plans", type=int, default=2000, help="samples for each plan")
    options = parser.parse_args()
    above = sizes(options.reps, options.only) if options.reps else []
    if options.power:
        powers(options.power, options.only)
    if options.plans:
        plans(options.plans, options.only)
    print("\nFAIL: " + "; ".join(above) if above else "\nPASS")
    sys.exit(bool(above))
