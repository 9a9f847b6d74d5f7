"""A monitor straight from its definition, row by row and sum by sum, for small streams."""

import math
from fractions import Fraction

import numpy as np

RANGES = [(level, place) for level in range(5) for place in range(2**level)]
SIZES = [0.0125 * 2**k for k in range(8)]
TILTS = [*(-size for size in reversed(SIZES)), *SIZES]
POWERS = [math.exp(b) for b in (-0.05, -0.1, -0.2, -0.4, 0.05, 0.1, 0.2, 0.4)]


def slow_log_e(rows, tolerance, edges):
    """Return log e of every component, one row at a time; 65 edges, or the two of no cuts yet."""
    found = []
    for level, place in RANGES:
        step = (len(edges) - 1) >> level
        low, high = edges[place * step], edges[(place + 1) * step] if step else -1
        inside = [(s, r) for s, r in rows if low <= s < high or (s >= low and high == 1)]
        for d in TILTS:
            total = 0.0
            for s, r in inside if step else []:
                u = min(max(s + math.copysign(tolerance, d), 0), 1)
                total += d * r - math.log(1 + u * (math.exp(d) - 1))
            found.append(total)
    for b in POWERS:
        total = 0.0
        for s, r in rows:
            if 0 < s < 1 and tolerance == 0:
                odds = (s / (1 - s)) ** b
                q = odds / (1 + odds)
                total += math.log(q / s) if r else math.log((1 - q) / (1 - s))
        found.append(total)
    return np.array(found)


def slow_prior(tolerance):
    """Return the stakes: levels alike, a quarter for slopes where nothing is tolerated."""
    slopes = 0.25 if tolerance == 0 else 0.0
    ranges = [(1 - slopes) / 5 / 2**level / 16 for level, _ in RANGES for _ in TILTS]
    return np.array([*ranges, *[slopes / 8] * 8])


def slow_cuts(scores):
    """Return edges of 65536 cells with nearly k / 64 of the scores below, next to that quantile."""
    grid = np.arange(65537) / 65536
    below = np.searchsorted(np.sort(scores), grid, side="left")
    edges = [0.0]
    for k in range(1, 64):
        wanted = k * len(scores) / 64
        nearest = np.flatnonzero(abs(below - wanted) == abs(below - wanted).min())
        reached = nearest[below[nearest] >= wanted]
        edges.append(float(grid[reached[0] if reached.size else nearest[-1]]))
    return [*edges, 1.0]


def slow_monitor(log_es, prior):
    """Return log M, the heaviest component and its best start, after each batch."""
    found = []
    for t in range(1, len(log_es) + 1):
        total, heaviest = Fraction(0), (-math.inf, None, None)
        for i, stake in enumerate(prior):
            won = [
                math.exp(sum(e[i] for e in log_es[start - 1 : t])) / (start * (start + 1))
                for start in range(1, t + 1)
            ]
            weight = stake * sum(won)
            total += Fraction(weight)
            if weight > heaviest[0]:
                heaviest = weight, i, 1 + int(np.argmax(won))
        found.append((math.log(float(total) + 1 / (t + 1)), *heaviest[1:]))
    return found
