"""Clusters study: rows that belong together, and what `clusters=` makes of them.

    python benchmarks/clusters_study.py [--quick] [--reps N] [--processes N]

Rows come in clusters. Outcomes of a cluster share a shock: the uniform number that decides an
outcome is that of a normal variable, a share of whose variance is the cluster's. Whatever the
share, every score is right on average, so that predictions are calibrated; but the rows are not
independent. Scores of a cluster are alike too (half of their variance is the cluster's). Clusters
have ten rows each, or sizes that vary from one to many (lognormal, sigma 1).

Of calibrated predictions, in % of samples, at 5%:

- alone: ECCE-R rejects as if rows were independent.
- clusters, MAD: ECCE-R and ECCE-MAD reject with ``clusters=``.
- 1%: ECCE-R rejects at 1% with ``clusters=``.

Of miscalibrated ones, at 95%:

- R: ``Statistic.ci`` holds the true ECCE-R.
- all ranges: the simultaneous limits hold the truth of every range of scores at once.
- alone: the same for limits of independent rows.
- found: ECCE-R rejects.

Flips are approximate where clusters are few, so the bars are: no more than 8% rejected at 5%, and
all ranges held in 92%, beyond chance (one-sided binomial tests at 1% together, by Bonferroni).
"""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from size_study import log_tail, percent

import secant
from secant import null
from secant._blocks.key_sums import Ask
from secant._inference import clusters
from secant._inference.limits import half_width
from secant._input.observations import observations
from secant._metrics.ecce import extremes
from secant.sources.rows import RowSource

COUNTS = (20, 50, 200, 2000)
SHOCKS = (0.0, 0.1, 0.4)
# So many clusters take long, and are drawn less often.
MANY = 2000
MEAN_SIZE = 10
BAR = 0.08
GRID = np.linspace(-8, 8, 4097)
BELOW = np.array([NormalDist().cdf(z) for z in GRID])

# Name: scores from uniform numbers, and the chance of the event as a function of the score.
NULLS = {
    "uniform": (lambda u: u, lambda s: s),
    "rare": (lambda u: 0.02 * u, lambda s: s),
}
TRUTHS = {
    "mild": (lambda u: u, lambda s: s**1.2),
    "strong": (lambda u: u, lambda s: s**2),
    "wave": (lambda u: u, lambda s: s + 0.4 * s * (1 - s) * np.sin(6 * np.pi * s)),
    "rare, doubled": (lambda u: 0.02 * u, lambda s: 2 * s),
}

# What the two tables show.
NULL = ("alone", "R", "MAD", "1%")
TRUTH = ("ci", "all", "all alone", "R")


def shared(rng, cluster, share):
    """Return uniform numbers that go together within clusters."""
    ours = rng.standard_normal(cluster[-1] + 1)[cluster]
    mine = rng.standard_normal(cluster.size)
    return np.interp(math.sqrt(share) * ours + math.sqrt(1 - share) * mine, GRID, BELOW)


def sizes(rng, count, *, equal):
    if equal:
        return np.full(count, MEAN_SIZE)
    drawn = rng.lognormal(sigma=1, size=count)
    return np.maximum(1, np.rint(MEAN_SIZE * drawn / drawn.mean())).astype(int)


def path(gains):
    return np.concatenate([[0.0], np.cumsum(gains)]) / len(gains)


class Sample:
    """One set of outcomes, assessed as `assess` does, less what cannot change the answer."""

    def __init__(self, y, score, cluster):
        self.arrays = y, score, cluster
        seen = replace(observations(y, score), clusters=cluster)
        source = RowSource(seen)
        blocks, self.totals = source.blocks()
        planned = clusters.plan(1, 0.95)
        (sums,) = source.sums([Ask(blocks, clusters=True, most=planned.limit)])
        self.flips = clusters.flip(sums, self.totals.weight, planned)
        self.found = extremes(blocks, self.totals.weight)[1]

    def half(self, flips):
        return half_width(null.range, self.totals, 0.05, flips)

    def alone(self):
        return null.range.sf(self.found.ecce_r / self.totals.sigma)

    def rejects(self, level):
        """Return whether ECCE-R and ECCE-MAD reject; the P-value is the larger of two, or one."""
        both = [10**each.log10 <= level for each in (self.flips.r, self.flips.mad)]
        if any(both) and not clusters.suffice(self.totals):
            y, score, cluster = self.arrays
            result = secant.assess(y, score, clusters=cluster)
            return [each.pvalue <= level for each in (result.ecce_r, result.ecce_mad)]
        return both


def cell(task):
    """Return the counts of one design: rejections, and what limits hold."""
    name, count, equal, shock, reps = task
    draw, chance = (NULLS | TRUTHS)[name]
    number = list(NULLS | TRUTHS).index(name)
    rng = np.random.default_rng([9, number, count, equal, round(100 * shock)])
    counts = dict.fromkeys(("alone", "R", "MAD", "1%", "ci", "all", "all alone"), 0)
    cluster = np.repeat(np.arange(count), sizes(rng, count, equal=equal))
    for _ in range(reps):
        score = draw(shared(rng, cluster, 0.5))
        true = chance(score)
        y = shared(rng, cluster, shock) < true
        sample = Sample(y, score, cluster)
        counts["alone"] += sample.alone() <= 0.05
        r, mad = sample.rejects(0.05)
        counts["R"] += r
        counts["MAD"] += mad
        counts["1%"] += r and sample.rejects(0.01)[0]
        order = np.argsort(score)
        expected = np.ptp(path((true - score)[order]))
        half = sample.half(sample.flips)
        counts["ci"] += abs(sample.found.ecce_r - expected) <= half + 1e-12
        off = np.ptp(path((y - true)[order]))
        counts["all"] += off <= half + 1e-12
        counts["all alone"] += off <= sample.half(None) + 1e-12
    return {key: int(value) for key, value in counts.items()}


def tables(tasks, found):
    for family, header, shown in (
        (NULLS, "| scores | clusters | sizes | shock | alone | clusters | MAD | 1% |", NULL),
        (TRUTHS, "| truth | clusters | sizes | shock | R | all ranges | alone | found |", TRUTH),
    ):
        yield f"{header}\n|---|--:|---|--:|--:|--:|--:|--:|"
        for (name, *design, reps), counts in zip(tasks, found, strict=True):
            if name in family:
                told = (percent(counts[key], reps, 1) for key in shown)
                yield f"| {describe(name, *design)} | {' | '.join(told)} |"
        yield ""


def describe(name, count, equal, shock):
    return f"{name} | {count:,} | {'equal' if equal else 'unequal'} | {shock:g}"


def smallest_seen(reps, bar):
    """Return the rate of errors that fails the study nine times in ten, about."""
    fails = next(count for count in range(reps + 1) if log_tail(count, reps, BAR) < bar)
    rates = np.arange(BAR, 1, 0.001)
    enough = reps * rates - 1.2816 * np.sqrt(reps * rates * (1 - rates)) >= fails
    return float(rates[enough.argmax()])


def verdict(tasks, found):
    """Say whether any rate is beyond its bar by more than chance explains."""
    errors = []
    for (name, *design, reps), counts in zip(tasks, found, strict=True):
        wrong = {key: counts[key] for key in ("R", "MAD")}
        if name in TRUTHS:
            wrong = {key: reps - counts[key] for key in ("ci", "all")}
        for key, count in wrong.items():
            errors.append(
                (log_tail(count, reps, BAR), -count / reps, count, reps, key, name, *design)
            )
    bar = math.log(0.01 / len(errors))
    tail, _, count, reps, key, name, *design = min(errors)
    most = max(reps for _, _, _, reps, *_ in errors)
    return (
        f"{'PASS' if tail >= bar else 'FAIL'}: {len(errors)} rates. The farthest out is "
        f"{percent(count, reps, 1)}% ({key}: {describe(name, *design).replace(' | ', ', ')}; "
        f"{reps:,} repetitions, one-sided P = {math.exp(tail):.2g} against {100 * BAR:g}%, the bar "
        f"for all together is {math.exp(bar):.2g}). Of {most:,} repetitions a true rate of "
        f"{100 * smallest_seen(most, bar):.1f}% fails nine times in ten."
    ), tail >= bar


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 200 clusters")
    parser.add_argument("--reps", type=int, help="repetitions (1,000; a fifth of 2,000 clusters)")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    reps = options.reps or (100 if options.quick else 1000)
    tasks = [
        (name, count, equal, shock, reps if count < MANY else max(1, reps // 5))
        for name in NULLS | TRUTHS
        for count in (COUNTS[:3] if options.quick else COUNTS)
        for equal in (True, False)
        for shock in (SHOCKS if name in NULLS else SHOCKS[-1:])
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        found = list(pool.map(cell, tasks, chunksize=1))
    print("\n".join(tables(tasks, found)))
    words, good = verdict(tasks, found)
    print(words)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
