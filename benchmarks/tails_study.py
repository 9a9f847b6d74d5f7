"""Tails study: what large-sample P-values are worth, far out and at the usual levels.

    python benchmarks/tails_study.py [--quick] [--processes N]

Three questions, each with a table.

- *Far out*: on predictions that are badly off the tilted P-value (``method="auto"`` beyond its
  budget) stands beside the certified one. It fails if it is below the certified upper limit by more
  than that limit is wide, or more than 1.6 times above it. (With one distinct score no large-sample
  P-value is ever taken; it is shown for what few scores do to it.)
- *Size*: calibrated predictions; how often the large-sample P-value is at most .1, .05, .01, .001.
  It fails if a rate is above its level by more than chance explains (one-sided binomial tests, all
  of them together at 1%).
- *One number*: how wide the certified limits of ECCE-R's P-value are, in units of its second digit,
  before and after what comes after a first rise or fall is taken into account.
"""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import secant
from secant import null
from secant._inference import finite
from secant._inference.tilt import Bounded, Jumps, log_pvalue

LEVELS = (0.1, 0.05, 0.01, 0.001)
LOG_10 = math.log(10)

ONE = "one score of .01"
DESIGNS = {
    "Beta(1, 49), 1.6 times too rare": (20_000, 49, lambda s: 1.6 * s),
    "Beta(1, 49), half as frequent": (20_000, 49, lambda s: 0.5 * s),
    "Beta(1, 170), 1.45 times too rare": (70_000, 170, lambda s: 1.45 * s),
    "uniform, s^1.4": (5000, 1, lambda s: s**1.4),
    "Beta(1, 9), 1.9 times too rare": (3000, 9, lambda s: 1.9 * s),
    "Beta(1, 9), 0.4 times": (3000, 9, lambda s: 0.4 * s),
    "uniform, off above .8": (4000, 1, lambda s: np.where(s > 0.8, s - 0.25, s)),
    ONE: (3000, None, lambda s: 3 * s),
    "the paper's, square rooted": (32_768, "paper", None),
}


def far_out(name):
    """Return one design's variance, distance, and P-values: Brownian, tilted, certified."""
    n, b, truth = DESIGNS[name]
    rng = np.random.default_rng(list(DESIGNS).index(name))
    if b == "paper":
        from secant.paper import synthetic

        s, y = synthetic.scores(n, "square rooted"), synthetic.responses(n, "square rooted")[0]
    else:
        s = np.sort(np.full(n, 0.01) if b is None else rng.beta(1, b, n))
        y = rng.random(n) < truth(s)
    score, inverse, count = np.unique(s, return_inverse=True, return_counts=True)
    n1 = np.bincount(inverse, y).astype(np.int64)
    r = secant.assess(y, s, method="asymptotic").ecce_r
    tilted = log_pvalue(null.range, Jumps(count, score), n * r.value) / LOG_10
    certified = finite.certified_r(score, count, n1, budget=8 * finite.BUDGET)
    variance = float((count * score * (1 - score)).sum())
    return name, n, variance, r.normalized, r.log10_pvalue, tilted, certified


CALIBRATED = {
    "uniform, V = 337": (2022, 1, 0),
    "Beta(1, 49), V = 410": (21_350, 49, 0),
    "uniform, lognormal(1) weights": (37_000, 1, 1),
    "Beta(1, 49), lognormal(1) weights": (20_000, 49, 1),
}


def drawn_scores(kind):
    """Return scores, weights, the sum of w^2 v and that of w^3 v."""
    n, b, spread = CALIBRATED[kind]
    rng = np.random.default_rng(list(CALIBRATED).index(kind))
    s = np.sort(rng.beta(1, b, n))
    w = rng.lognormal(0, spread, n) if spread else np.ones(n)
    v = s * (1 - s)
    return s, w, float((w**2 * v).sum()), float((w**3 * v).sum())


def rejected(task):
    """Return how many of some draws the Brownian, tilted and bounded P-values reject, by level."""
    kind, seed, draws = task
    s, w, variance, third = drawn_scores(kind)
    unit = math.sqrt(variance)
    jumps = Jumps(np.ones(len(s)), s, w if CALIBRATED[kind][2] else 1.0)
    bounded = Bounded(1.0, third / unit**3, float(w.max()) / unit)
    rng = np.random.default_rng([7, list(CALIBRATED).index(kind), seed])
    spans = []
    for _ in range(draws):
        path = np.cumsum(((rng.random(len(s)) < s) - s) * w)
        spans.append(max(path.max(), 0) - min(path.min(), 0))
    # P-values fall as spans grow: the smallest span that is rejected decides.
    spans = np.sort(spans)
    pvalues = (
        lambda span: null.range.logsf(span / unit),
        lambda span: log_pvalue(null.range, jumps, span),
        lambda span: log_pvalue(null.range, bounded, span / unit),
    )
    rates = [[_above(spans, p, math.log(level)) for level in LEVELS] for p in pvalues]
    return kind, draws, rates


def _above(spans, pvalue, log_level):
    """Count the spans, in ascending order, whose P-value is at most a level."""
    low, high = 0, len(spans)
    while low < high:
        middle = (low + high) // 2
        if pvalue(float(spans[middle])) <= log_level:
            high = middle
        else:
            low = middle + 1
    return len(spans) - low


def widths(task):
    """Return P-values and the widths of their limits, before and after, in second digits."""
    kind, n, samples = task
    rng = np.random.default_rng([11, n, len(kind)])
    s = {"uniform": rng.random, "rare": lambda k: rng.beta(1, 20, k)}.get(
        kind, lambda k: rng.integers(1, 11, k) / 11
    )(n)
    score, inverse, count = np.unique(s, return_inverse=True, return_counts=True)
    rows = []
    for _ in range(samples):
        n1 = np.bincount(inverse, rng.random(n) < s).astype(np.int64)
        pair = []
        for mostly in (0.0, 0.75):
            finite._MOSTLY = mostly  # noqa: SLF001  (what is studied)
            low, high = (10**bound for bound in finite.certified_r(score, count, n1))
            pair.append((high - low) / 10.0 ** (math.floor(math.log10(high)) - 1))
        rows.append((high, *pair))
    return kind, n, rows


def _tail(rate, level, draws):
    """Return the binomial chance of at least so many rejections (normal approximation)."""
    z = (rate - level) / math.sqrt(level * (1 - level) / draws)
    return 0.5 * math.erfc(z / math.sqrt(2))


def table(*header):
    print("\n| " + " | ".join(header) + " |")
    print("|---" * len(header) + "|")


def show_far_out(pool):
    """Print the first table and return what is wrong with it."""
    table("predictions", "n", "V", "sigmas", "Brownian", "tilted", "certified", "ratio")
    for name, n, variance, x, brownian, tilted, (low, high) in pool.map(far_out, DESIGNS):
        ratio = 10 ** (tilted - high)
        print(
            f"| {name} | {n:,} | {variance:.0f} | {x:.1f} | {_p(brownian)} | {_p(tilted)} | "
            f"{_p(low)} to {_p(high)} | {ratio:.2f} |"
        )
        if tilted < low or (ratio > 1.6 and name != ONE):
            yield f"{name}: {ratio:.2f} times the certified value"


def show_sizes(pool, draws, batches):
    """Print the second table and return what is wrong with it."""
    sums = {kind: [0, np.zeros((3, len(LEVELS)))] for kind in CALIBRATED}
    tasks = [(kind, seed, draws) for kind in CALIBRATED for seed in range(batches)]
    for kind, made, counts in pool.map(rejected, tasks):
        sums[kind][0] += made
        sums[kind][1] += counts
    table("calibrated predictions", "rho3", "P-value", *(f"{100 * level:g}%" for level in LEVELS))
    tests = 2 * len(CALIBRATED) * len(LEVELS)
    for kind, (made, counts) in sums.items():
        _, _, variance, third = drawn_scores(kind)
        for which, row in zip(("Brownian", "tilted", "from moments"), counts, strict=True):
            rates = row / made
            shown = " | ".join(f"{100 * rate:.3g}" for rate in rates)
            print(f"| {kind} | {third / variance**1.5:.3f} | {which} | {shown} |")
            for rate, level in zip(rates, LEVELS, strict=True):
                if which != "Brownian" and _tail(rate, level, made) < 0.01 / tests:
                    yield f"{kind}, {which}: {rate:.4f} at {level}"
    least = 0.001 + 3.5 * math.sqrt(0.001 / made)
    print(f"\n{made:,} draws each: a rate of {100 * least:.2f}% at 0.1% would have been seen.")


def show_widths(pool, samples):
    """Print the third table and return what is wrong with it."""
    tasks = [(kind, n, samples) for kind in ("uniform", "rare", "ten values") for n in (30, 300)]
    table("scores", "n", "P-values", "before", "after", "largest after")
    for kind, n, rows in pool.map(widths, tasks):
        for low, high in ((0.01, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.75)):
            some = np.array([row[1:] for row in rows if low < row[0] <= high])
            if not len(some):
                continue
            (before, after), worst = some.mean(axis=0), some[:, 1].max()
            shown = f"{before:.1f} | {after:.2f} | {worst:.2f}"
            print(f"| {kind} | {n} | {low} to {high} | {shown} |")
            if high <= 0.3 and worst > 1:
                yield f"{kind}, n = {n}: the second digit is open"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    quick = options.quick
    with ProcessPoolExecutor(options.processes) as pool:
        failures = [
            *show_far_out(pool),
            *show_sizes(pool, *((500, 4) if quick else (2500, 40))),
            *show_widths(pool, 20 if quick else 120),
        ]
    print("\nFAIL: " + "; ".join(failures) if failures else "\nPASS")
    return bool(failures)


def _p(log10):
    exponent = math.floor(log10)
    return f"{10 ** (log10 - exponent):.2f}e{exponent}"


if __name__ == "__main__":
    sys.exit(main())
