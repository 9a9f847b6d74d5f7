"""Coverage study: do the limits that secant prints hold the truth as often as they say?

    python benchmarks/coverage_study.py [--quick] [--reps N] [--workers N]

For each scenario and n the scores are drawn once, the chances follow from them, and the outcomes
are drawn again and again. The true ECCE is that of the expected path, the partial sums of
(chance - score)/n. All at 95%:

- R, MAD: ``Statistic.ci`` holds the true metric.
- all ranges: the simultaneous limits hold the truth of every range of scores at once.
- worst: those of ``Calibration.worst``, picked for being the worst, hold the truth of that range.
- fixed: ``between(a, b, fixed_in_advance=True)``, Clopper-Pearson, for a range fixed here.
- false: ``Calibration.intervals`` has a range that is not off in the direction it says.
- bootstrap: the percentile bootstrap of ECCE-R, which secant does not offer, holds the true one.

The study fails if a coverage is below its level, or the rate of false ranges above it, by more than
chance explains (one-sided binomial tests at 1% together, by Bonferroni). The bootstrap is no part
of that.
"""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from size_study import log_tail, percent

import secant

LEVEL = 0.95
SIZES = (300, 1000, 5000)
# A range of scores fixed in advance, and the defect that the last table looks for.
RANGE = {"rare events": (0.01, 0.03)}
USUAL_RANGE = (0.2, 0.4)
RESAMPLES = 200


def uniform(rng, n):
    return rng.random(n)


def rare(rng, n):
    return rng.beta(1, 50, n)


# Name: how scores are drawn, and the chance of the event as a function of the score.
SCENARIOS = {
    "null": (uniform, lambda s: s),
    "mild": (uniform, lambda s: s**1.1),
    "strong": (uniform, lambda s: s**2),
    "oscillating": (uniform, lambda s: s + 0.4 * s * (1 - s) * np.sin(6 * np.pi * s)),
    "local": (uniform, lambda s: s - 0.25 * ((s > 0.6) & (s < 0.7))),
    "rare events": (rare, lambda s: np.minimum(1.5 * s, 1)),
}
MEASURES = ("R", "MAD", "all ranges", "worst", "fixed", "false")


def path(gains):
    return np.concatenate([[0.0], np.cumsum(gains)]) / len(gains)


def holds(limits, truth):
    slack = 1e-12  # a truth of exactly 0 may be computed as a rounding error
    return limits[0] - slack <= truth <= limits[1] + slack


class Truth:
    """What is true of the scores of a cell."""

    def __init__(self, scenario, n):
        draw, chance = SCENARIOS[scenario]
        number = list(SCENARIOS).index(scenario)
        self.score = np.sort(draw(np.random.default_rng([4, number, n]), n))
        self.chance = chance(self.score)
        expected = path(self.chance - self.score)
        self.r, self.mad = float(np.ptp(expected)), float(np.abs(expected).max())
        self.seed = 5, number, n

    def outcomes(self, reps):
        rng = np.random.default_rng(self.seed)
        return (rng.random(len(self.score)) < self.chance for _ in range(reps))

    def mean(self, low, high):
        """Return the true mean miscalibration of a range of scores."""
        inside = (self.score >= low) & (self.score <= high)
        return float((self.chance - self.score)[inside].mean())


def intervals(limit, y, score):
    """Return the intervals by finite-sample P-values, computed only where they can matter.

    There are none unless the limits of ECCE-R exclude 0, and all of them once P is at most 5%,
    which it surely is when the asymptotic one is below 0.1%.
    """
    if limit.ecce_r.ci[0] == 0:
        return ()
    return (limit if limit.ecce_r.pvalue < 1e-3 else secant.assess(y, score)).intervals


def study_cell(task):
    """Return the counts of one scenario and n."""
    scenario, n, reps = task
    truth = Truth(scenario, n)
    counts = dict.fromkeys(MEASURES, 0)
    for y in truth.outcomes(reps):
        result = secant.assess(y, truth.score, method="asymptotic")
        counts["R"] += holds(result.ecce_r.ci, truth.r)
        counts["MAD"] += holds(result.ecce_mad.ci, truth.mad)
        # Half the width of the limits for a range is this, times n over the range's n.
        half = result.ecce_r.value - result.ecce_r.ci[0]
        if result.ecce_r.ci[0] == 0:
            half = result.ecce_r.ci[1] - result.ecce_r.value
        counts["all ranges"] += bool(np.ptp(path(y - truth.chance)) <= half + 1e-12)
        worst = result.worst
        counts["worst"] += holds(worst.ci, truth.mean(worst.low, worst.high))
        fixed = RANGE.get(scenario, USUAL_RANGE)
        limits = result.between(*fixed, fixed_in_advance=True).ci
        counts["fixed"] += holds(limits, truth.mean(*fixed))
        counts["false"] += any(
            truth.mean(part.low, part.high) * part.miscalibration <= 1e-15
            for part in intervals(result, y, truth.score)
        )
    return truth, counts


def bootstrap_cell(task):
    """Return how often the percentile bootstrap of ECCE-R holds the true one."""
    scenario, n, reps = task
    truth = Truth(scenario, n)
    rng = np.random.default_rng([6, *truth.seed])
    held = 0
    for y in truth.outcomes(reps):
        # Rows are sorted by score already: a resample is the same rows, some several times.
        copies = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
        paths = np.cumsum(copies * (y - truth.score), axis=1) / n
        r = paths.max(axis=1, initial=0) - paths.min(axis=1, initial=0)
        held += holds(np.quantile(r, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]), truth.r)
    return held


def power_cell(task):
    """Return how often a narrow defect is found: by ECCE-R, in its place, by scan, by either."""
    width, size, n, reps = task
    score = np.sort(np.random.default_rng([7, n]).random(n))
    low, high = 0.5, 0.5 + width
    chance = score - size * ((score >= low) & (score < high))
    rng = np.random.default_rng([8, n, round(1000 * width)])
    counts = np.zeros(4, int)
    for _ in range(reps):
        y = rng.random(n) < chance
        result = secant.assess(y, score)
        by_scan = secant.scan(y, score).pvalue
        places = [part for part in result.intervals if part.low < high and part.high > low]
        counts += (
            result.ecce_r.pvalue <= 0.05,
            bool(places),
            by_scan <= 0.05,
            2 * min(by_scan, result.ecce_r.pvalue) <= 0.05,
        )
    return counts


def coverage_table(tasks, cells, held, reps, resamples):
    yield f"\n| scenario | n | true ECCE-R | {' | '.join(MEASURES)} | bootstrap |"
    yield "|---|--:|--:|" + "--:|" * (len(MEASURES) + 1)
    for (scenario, n, _), (truth, counts), count in zip(tasks, cells, held, strict=True):
        numbers = " | ".join(percent(counts[name], reps, 1) for name in MEASURES)
        yield (
            f"| {scenario} | {n:,} | {truth.r:.4f} | {numbers} | {percent(count, resamples, 0)} |"
        )


def verdict(tasks, cells, reps):
    """Say whether any rate is on the wrong side of its level beyond chance."""
    misses = [
        (count if name == "false" else reps - count, scenario, n, name)
        for (scenario, n, _), (_, counts) in zip(tasks, cells, strict=True)
        for name, count in counts.items()
    ]
    bar = math.log(0.01 / len(misses))
    count, scenario, n, name = max(misses)
    tail = log_tail(count, reps, 1 - LEVEL)
    return (
        f"{'PASS' if tail >= bar else 'FAIL'}: {len(misses)} rates from {reps:,} repetitions each. "
        f"The largest rate of errors is {percent(count, reps)}% ({name}, {scenario}, n = {n:,}; "
        f"one-sided P = {math.exp(tail):.2g}, the bar for all together is {math.exp(bar):.2g})."
    ), tail >= bar


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="200 repetitions, n up to 1,000")
    parser.add_argument("--reps", type=int, help="repetitions (4,000)")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    reps = options.reps or (200 if options.quick else 4000)
    few = max(50, reps // 20)
    sizes = [n for n in SIZES if n <= (1000 if options.quick else 5000)]
    tasks = [(scenario, n, reps) for scenario in SCENARIOS for n in sizes]
    defects = [
        (width, size, n, few)
        for n in sizes
        for width, size in ((0.02, 0.4), (0.05, 0.3), (0.1, 0.2), (0.3, 0.1))
    ]
    # A table is printed as soon as it is there.
    with ProcessPoolExecutor(options.workers) as pool:
        run = partial(pool.map, chunksize=1)
        cells = list(run(study_cell, tasks))
        held = list(run(bootstrap_cell, [(*task[:2], few) for task in tasks]))
        print("\n".join(coverage_table(tasks, cells, held, reps, few)))
        words, good = verdict(tasks, cells, reps)
        print(f"\n{words}\n", flush=True)
        powers = list(run(power_cell, defects))
    print("| defect | n | ECCE-R | in its place | scan | either, doubled |")
    print("|---|--:|--:|--:|--:|--:|")
    for (width, size, n, _), counts in zip(defects, powers, strict=True):
        numbers = " | ".join(percent(count, few, 0) for count in counts)
        print(f"| {100 * size:g} points over {100 * width:g}% of scores | {n:,} | {numbers} |")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
