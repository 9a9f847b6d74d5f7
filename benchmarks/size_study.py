"""Size study: how often calibrated predictions are called miscalibrated.

    python benchmarks/size_study.py [--quick] [--reps N] [--workers N] [--plot FILE]
    python benchmarks/size_study.py --peers [--quick]      (in an environment that has the peers)

A test at level a must reject at most a share a of calibrated predictions. For every score family
and n the scores are drawn once and the outcomes again and again. Given the scores a P-value is a
function of the statistic that does not increase, so the outcomes need not be assessed one by one:
the smallest statistic that ``secant.assess`` rejects is found by bisection among the simulated
ones, calling it on their outcomes, and everything at least as large is rejected. That
this is so is checked by calling it on both sides of each such value and on random outcomes.

The study fails if any rejection rate of ``method="auto"`` is above its level by more than chance
explains (one-sided binomial tests, all of them together at 1% by Bonferroni), or if a check fails.
"""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import peers
import secant

LEVELS = (0.1, 0.05, 0.01, 0.001)
SIZES = (20, 50, 100, 300, 1000, 3000, 10_000)
FAMILIES = {
    "uniform": lambda rng, n: rng.random(n),
    "squared": lambda rng, n: rng.random(n) ** 2,
    "Beta(.5, .5)": lambda rng, n: rng.beta(0.5, 0.5, n),
    "rare, Beta(1, 200)": lambda rng, n: rng.beta(1, 200, n),
    "ten values": lambda rng, n: rng.integers(1, 11, n) / 11,
}
STATISTICS = ("ecce_r", "ecce_mad")
NAMES = {"ecce_r": "ECCE-R", "ecce_mad": "ECCE-MAD"}
# Coins tossed at once, and simulated outcomes assessed to check each cell, besides boundaries.
COINS = 1 << 21
CHECKS = 10


class Outcomes:
    """Outcomes of calibrated predictions, simulated in batches that can be made again."""

    def __init__(self, family, n, reps):
        number = list(FAMILIES).index(family)
        self.score = np.sort(FAMILIES[family](np.random.default_rng([number, n]), n))
        self.reps, self._seed = reps, (number, n)
        self._batch, self._made = max(1, COINS // n), (None, None)
        self._ends = np.flatnonzero(np.append(self.score[1:] != self.score[:-1], True))

    def _labels(self, batch):
        if batch != self._made[0]:
            rng = np.random.default_rng([*self._seed, batch])
            self._made = batch, rng.random((self._batch, len(self.score))) < self.score
        return self._made[1]

    def statistics(self):
        """Return both statistics of every repetition, times n."""
        expected = np.cumsum(self.score)[self._ends]
        found = {name: np.empty(self.reps) for name in STATISTICS}
        for batch, start in enumerate(range(0, self.reps, self._batch)):
            rows = slice(start, min(start + self._batch, self.reps))
            path = np.cumsum(self._labels(batch), axis=1, dtype=np.float64)
            if self._ends.size < path.shape[1]:
                path = path[:, self._ends]
            path -= expected
            high, low = path.max(axis=1, initial=0), path.min(axis=1, initial=0)
            found["ecce_r"][rows] = (high - low)[: rows.stop - start]
            found["ecce_mad"][rows] = np.maximum(high, -low)[: rows.stop - start]
        return found

    def __getitem__(self, rep):
        return self._labels(rep // self._batch)[rep % self._batch]


class Assessed:
    """P-values of single repetitions, from ``secant.assess``."""

    def __init__(self, outcomes):
        self._outcomes, self._known = outcomes, {}
        self.methods = set()

    def pvalue(self, rep, statistic):
        if rep not in self._known:
            result = secant.assess(self._outcomes[rep], self._outcomes.score)
            self._known[rep] = {name: getattr(result, name).pvalue for name in STATISTICS}
            self.methods |= {getattr(result, name).method for name in STATISTICS}
        return self._known[rep][statistic]


def first_rejected(reps_in_order, rejected, guess):
    """Return the place of the first repetition rejected, looking around a guess first."""
    last = len(reps_in_order)
    low, high, step = -1, last, max(1, last // 2000)
    place = min(max(guess, 0), last - 1)
    while low < place < high:  # gallop
        if rejected(reps_in_order[place]):
            high, place = place, place - step
        else:
            low, place = place, place + step
        step *= 2
    while high - low > 1:
        place = (low + high) // 2
        if rejected(reps_in_order[place]):
            high = place
        else:
            low = place
    return high


def study_cell(task):
    """Return the rejection rates of one family and n, and what the checks said."""
    family, n, reps = task
    outcomes = Outcomes(family, n, reps)
    assessed = Assessed(outcomes)
    sigma = math.sqrt((outcomes.score * (1 - outcomes.score)).sum())
    rows, checks, broken = [], 0, 0
    for name, values in outcomes.statistics().items():
        # Values that differ by rounding are one; one repetition stands for all that have it.
        distinct, stands, tie = np.unique(
            np.round(values, 9), return_index=True, return_inverse=True
        )
        law = secant.null.range if name == "ecce_r" else secant.null.mad
        limit = law.sf(distinct / sigma)[tie]
        for level in LEVELS:

            def rejected(rep, name=name, level=level):
                return assessed.pvalue(rep, name) <= level

            guess = int(np.searchsorted(distinct, np.quantile(values, 1 - level)))
            first = first_rejected(stands, rejected, guess)
            beside = range(max(first - 3, 0), min(first + 3, len(distinct)))
            random = np.random.default_rng(n).integers(0, reps, CHECKS)
            for place in {*beside, *tie[random].tolist()}:
                checks += 1
                broken += rejected(stands[place]) != (place >= first)
            count = int((tie >= first).sum())
            rows.append((name, level, count, int((limit <= level).sum())))
    return family, n, rows, checks, broken, sorted(assessed.methods)


def log_tail(count, reps, level):
    """Return the logarithm of the chance of at least so many rejections in a test of that size."""
    if count <= reps * level:
        return 0.0  # not above: nothing to explain

    def log_chance(k):
        ways = math.lgamma(reps + 1) - math.lgamma(k + 1) - math.lgamma(reps - k + 1)
        return ways + k * math.log(level) + (reps - k) * math.log1p(-level)

    # Above the mean the terms fall faster than a geometric series; these are all that matter.
    terms = [log_chance(k) for k in range(count, min(count + 5000, reps) + 1)]
    return float(np.logaddexp.reduce(terms))


def percent(count, reps, digits=2):
    return f"{100 * count / reps:.{digits}f}"


def digits(level):
    return 2 if level >= 0.01 else 3


def tables(cells, reps):
    """Yield the tables of both statistics, a row a family and n."""
    shown = [f"{100 * level:g}%" for level in LEVELS]
    header = [*(f"auto {x}" for x in shown), *(f"limit {x}" for x in shown)]
    for name in STATISTICS:
        yield f"\n**{NAMES[name]}**, share rejected in %\n"
        yield f"| scores | n | {' | '.join(header)} |"
        yield "|---|--:|" + "--:|" * len(header)
        for family, n, rows, *_ in cells:
            numbers = [
                percent(row[place], reps, digits(row[1]))
                for place in (2, 3)
                for row in rows
                if row[0] == name
            ]
            yield f"| {family} | {n:,} | {' | '.join(numbers)} |"


def verdict(cells, reps):
    """Say whether any rate is above its level beyond chance; return the words and the answer."""
    tests = [(log_tail(row[2], reps, row[1]), *cell[:2], *row) for cell in cells for row in cell[2]]
    bar = math.log(0.01 / len(tests))
    worst = min(tests)
    broken, checks = sum(cell[4] for cell in cells), sum(cell[3] for cell in cells)
    good = worst[0] >= bar and not broken
    rate = percent(worst[5], reps, digits(worst[4]))
    words = (
        f"{'PASS' if good else 'FAIL'}: {len(tests)} rates from {reps:,} repetitions each. The "
        f"furthest above its level is {rate}% at {100 * worst[4]:g}% "
        f"({NAMES[worst[3]]}, {worst[1]}, n = {worst[2]:,}; one-sided P = "
        f"{math.exp(worst[0]):.2g}, the bar for all together is {math.exp(bar):.2g}). Checked with "
        "secant.assess one by one: "
        f"{checks:,} outcomes, {broken} disagree. How P-values were obtained: "
        f"{', '.join(sorted({method for cell in cells for method in cell[5]}))}."
    )
    return words, good


def study_peers(task):
    """Return the rejection rates of the peers that are installed, outcomes assessed one by one."""
    family, n, reps = task
    outcomes = Outcomes(family, n, reps)
    counts = {}
    for name, what, function in peers.installed():
        if "with P" in what:
            p = np.array(
                [function(outcomes[rep].astype(int), outcomes.score) for rep in range(reps)]
            )
            counts[name] = [int((p <= level).sum()) for level in LEVELS]
    return family, n, counts


def peer_table(cells, reps):
    """Yield one table of all peers, at two levels."""
    chosen = [LEVELS.index(level) for level in (0.05, 0.001)]
    header = [f"{name}, {100 * LEVELS[i]:g}%" for name in cells[0][2] for i in chosen]
    yield f"| scores | n | {' | '.join(header)} |"
    yield "|---|--:|" + "--:|" * len(header)
    for family, n, counts in cells:
        numbers = [percent(peer[i], reps) for peer in counts.values() for i in chosen]
        yield f"| {family} | {n:,} | {' | '.join(numbers)} |"


def draw(cells, reps, path):
    """Draw rejection rates over their levels against n: the limit's and ours."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from secant.plot._draw import model_line

    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), sharex=True, sharey=True)
    for row, level in zip(axes, (0.05, 0.001), strict=True):
        error = 1.96 * math.sqrt(level * (1 - level) / reps) / level
        for ax, place, title in zip(
            row, (3, 2), ("asymptotic limit", "secant, method='auto'"), strict=True
        ):
            ax.axhspan(1 - error, 1 + error, color="0.85", lw=0)
            ax.axhline(1, color="0.4", lw=0.8)
            for number, family in enumerate(FAMILIES):
                own = [cell for cell in cells if cell[0] == family]
                ratio = [
                    next(r[place] for r in cell[2] if r[:2] == ("ecce_r", level)) / reps / level
                    for cell in own
                ]
                ax.plot(
                    [cell[1] for cell in own],
                    ratio,
                    **model_line(number),
                    ms=4.5,
                    lw=1.2,
                    label=family,
                )
            ax.set(xscale="log", yscale="log")
            ax.set_xticks([cell[1] for cell in cells if cell[0] == cells[0][0]], minor=False)
            ax.xaxis.set_major_formatter("{x:,.0f}")
            ax.xaxis.set_minor_formatter("")
            ax.tick_params(axis="x", which="minor", length=0)
            ax.yaxis.set_major_formatter("{x:g}")
            ax.set_yticks([0.2, 0.5, 1, 2, 5, 10, 20], minor=False)
            ax.yaxis.set_minor_formatter("")
            ax.set_title(f"{title}, at {100 * level:g}%", fontsize=10)
            ax.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("rejected / level")
    for ax in axes[1]:
        ax.set_xlabel("n")
    axes[0, 1].legend(fontsize=8, frameon=False)
    figure.suptitle(
        "ECCE-R: calibrated predictions that are rejected, relative to the level", fontsize=11
    )
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="n up to 300, 2,000 repetitions")
    parser.add_argument("--reps", type=int, help="repetitions (100,000; peers 2,000)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--plot", type=Path, help="write the picture to this file")
    parser.add_argument("--peers", action="store_true", help="the peers instead of secant")
    options = parser.parse_args()
    reps = options.reps or (2000 if options.quick or options.peers else 100_000)
    sizes = [n for n in SIZES if n <= (300 if options.quick else 10_000)]
    tasks = [(family, n, reps) for family in FAMILIES for n in sizes]
    study = study_peers if options.peers else study_cell
    with ProcessPoolExecutor(options.workers) as pool:
        # The longest first, so that no worker is left with one at the end.
        order = sorted(tasks, key=lambda task: -task[1])
        done = dict(zip(order, pool.map(study, order), strict=True))
    cells = [done[task] for task in tasks]
    if options.peers:
        print("\n".join(peer_table(cells, reps)))
        return 0
    print("\n".join(tables(cells, reps)))
    words, good = verdict(cells, reps)
    print(f"\n{words}")
    if options.plot:
        draw(cells, reps, options.plot)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
