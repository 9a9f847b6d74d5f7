"""Few events: do limits hold at 95%, 99% and 99.9% where hardly anything happens?

    python benchmarks/few_events_study.py [--draws N]

Scores from Beta(1, b), chances a multiple of the score; and one tiny score for all, with a few
events to be expected nevertheless, most of which may not show. For every cell of the grid outcomes
are drawn again and again. Limits hold when they hold the truth of *every* range of scores at once,
which is when the range of (outcomes - chances) stays within the half-width. They are those of
``secant``, with what they allow for unseen events, and for comparison with other allowances: none,
and three quarters of an event at every level.

The study fails if a share of misses is above its level by more than chance explains (one-sided
binomial tests at 1% together, by Bonferroni).
"""

from __future__ import annotations

import argparse
import itertools
import sys

import numpy as np
from size_study import log_tail

from secant import null
from secant._blocks.table import Totals
from secant._inference.limits import critical, unseen

LEVELS = (0.05, 0.01, 0.001)
SIZES = (20, 60, 300, 1000)
ALLOWANCES = ("none", "3/4 event", "secant")


def grid(rng):
    """Yield a name, scores in ascending order, and chances."""
    for n, b, factor in itertools.product(SIZES, (20, 100, 1000), (1, 2, 5, 20)):
        scores = np.sort(rng.beta(1, b, n))
        yield f"Beta(1, {b}) x {factor}, n = {n}", scores, np.minimum(factor * scores, 1)
    for n, events in itertools.product((60, 1000), (1, 2, 2.5, 3, 4, 6, 8)):
        yield f"1e-6, {events} expected, n = {n}", np.full(n, 1e-6), np.full(n, events / n)


def misses(rng, scores, chances, draws):
    """Return how often limits miss, by level and allowance."""
    n = len(scores)
    variance = float((scores * (1 - scores)).sum())
    totals = Totals(n, n, n, variance, variance, steps=(1.0,))
    found = np.zeros((len(LEVELS), len(ALLOWANCES)), int)
    for start in range(0, draws, 2000):
        happened = rng.random((min(2000, draws - start), n)) < chances
        path = np.cumsum(happened - chances, axis=1)
        reach = np.maximum(path.max(axis=1), 0) - np.minimum(path.min(axis=1), 0)
        seen = np.maximum(((happened - scores) ** 2).sum(axis=1), variance)
        for i, alpha in enumerate(LEVELS):
            quantile = critical(null.range, alpha)
            missed = unseen(totals, quantile, alpha) * n
            for j, more in enumerate((0.0, 0.75 * quantile**2, missed**2)):
                found[i, j] += int((reach > np.sqrt(quantile**2 * seen + more)).sum())
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20_000)
    draws = parser.parse_args().draws
    cells = list(grid(np.random.default_rng(9)))
    rng = np.random.default_rng(10)
    counts = np.array([misses(rng, *cell[1:], draws) for cell in cells])
    failed = []
    print(f"{len(cells)} cells, {draws:,} draws each\n")
    print("| level | allowance | largest share of misses | where |\n|---|---|--:|---|")
    for i, alpha in enumerate(LEVELS):
        for j, name in enumerate(ALLOWANCES):
            worst = int(counts[:, i, j].argmax())
            share = counts[worst, i, j] / draws
            print(f"| {1 - alpha:.1%} | {name} | {share:.4f} | {cells[worst][0]} |")
        most = int(counts[:, i, -1].max())
        if log_tail(most, draws, alpha) < np.log(0.01 / len(cells) / len(LEVELS)):
            failed.append(f"{1 - alpha:.1%}: {most} misses in {draws}")
    print("\n" + ("\n".join(failed) if failed else "Limits hold."))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
