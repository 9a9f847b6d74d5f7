"""Tilt study: is the P-value of large samples ever below the truth, from where it is taken on?

    python benchmarks/tilt_study.py [--designs N] [--seed S]

An adversary searches paths with more than 300 steps, a variance of at least 30 and h <= 1/10, the
sum over steps of (share of the variance)^1.5; ``method="auto"`` takes it up to h = 1/20. Half of
the designs are drawn from families and half are mutations of those that came out lowest, or
highest, for their statistic and size of P: other scores, orders, ties, values of the statistic. One
in three lies at the thresholds. Values of the statistic are attainable ones, between which a true
P-value is constant.

The truth is the chain of all rows with nothing rounded, pooled or bounded: a state is the number of
events since the running minimum, by the place of that minimum; rises and falls run side by side,
and what one absorbs is taken from the other, so that nothing counts twice (:func:`either`).

It ends with FAIL if a P-value is below the truth. Those further above it than is meant are listed.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from typing import NamedTuple

import numba
import numpy as np

from secant import null
from secant._inference.choose import LARGE_STEPS
from secant._inference.tilt import Jumps, log_pvalue

STEPS, VARIANCE, SHARE = 301, 30.0, 0.1
# A true path ties with the observed one within this.
GUARD = 1e-9
BANDS = (1.0, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-6, 1e-12, 0.0)
# How far above the truth a P-value that is taken may be, by its size.
MEANT = (1.5, 1.5, 1.5, 1.5, 1.5, 2.1, 2.5, math.inf)
LAWS = {"R": null.range, "MAD": null.mad}
# Sizes of h apart.
COARSE = (0.0, 0.05, 1 / 15, 1 / 12, 0.1)
# How many designs are kept for mutations, by statistic, sizes of P and h, and side.
KEPT = 4


class Design(NamedTuple):
    """Rows of one score each, the last of each step, and how large the statistics are."""

    family: str
    score: np.ndarray
    n: np.ndarray
    ends: np.ndarray
    log_p: float  # about, in the Brownian limit
    snap: tuple[float, float]  # which attainable value near it


# The truth ----------------------------------------------------------------------------------------


@numba.njit(cache=True)
def advance(mass, base, width, k, reached, c, first, law, rest, room):  # noqa: PLR0917  (numba)
    """Take one step of paths above their minimum; return what came to it, and what reached c."""
    mass[k, 0], base[k], width[k] = rest, 0, 1
    came = gone = 0.0
    for j in range(k + 1):
        if width[j] == 0:
            continue
        drop = reached[k + 1] - reached[j]
        low = math.floor(drop + GUARD) + 1
        top = math.ceil(c + drop - GUARD)
        count = width[j] + len(law) - 1
        room[:count] = 0.0
        for i in range(width[j]):
            for a in range(len(law)):
                room[i + a] += mass[j, i] * law[a]
        start = base[j] + first
        w = 0
        for i in range(count):
            d = start + i
            if d < low:
                came += room[i]
            elif d >= top:
                gone += room[i]
            else:
                mass[j, w] = room[i]
                w += 1
        base[j], width[j] = max(low, start), w
    return came, gone


@numba.njit(cache=True)
def either(reached, trials, first, at, laws, c):  # noqa: PLR0917  (numba)
    """Return P(max X - min X >= c)."""
    steps = len(first)
    longest = np.max(at[1:] - at[:-1])
    mass = np.zeros((2, steps, int(c) + 3))
    base, width = np.zeros((2, steps), np.int64), np.zeros((2, steps), np.int64)
    room = np.zeros(int(c) + 4 + longest)
    falls = trials - reached
    up = down = 1.0
    found = 0.0
    for k in range(steps):
        law = laws[at[k] : at[k + 1]]
        came, rise = advance(mass[0], base[0], width[0], k, reached, c, first[k], law, up, room)
        failures = trials[k + 1] - trials[k] - first[k] - len(law) + 1
        turned = law[::-1].copy()
        left, fall = advance(mass[1], base[1], width[1], k, falls, c, failures, turned, down, room)
        # Who has just risen by c is at the top of his path, where falls are counted from.
        up, down = came - fall, left - rise
        found += rise + fall
    return found


@numba.njit(cache=True)
def beyond(reached, first, at, laws, c):
    """Return P(max|X| >= c)."""
    longest = np.max(at[1:] - at[:-1])
    mass, room = np.zeros(2 * int(c) + 4), np.zeros(2 * int(c) + 4 + longest)
    mass[0], base, width, found = 1.0, 0, 1, 0.0
    for k in range(len(first)):
        low = math.floor(reached[k + 1] - c + GUARD) + 1
        top = math.ceil(reached[k + 1] + c - GUARD)
        law = laws[at[k] : at[k + 1]]
        count, start, w = width + len(law) - 1, base + first[k], 0
        room[:count] = 0.0
        for i in range(width):
            for a in range(len(law)):
                room[i + a] += mass[i] * law[a]
        for i in range(count):
            if low <= start + i < top:
                mass[w] = room[i]
                w += 1
            else:
                found += room[i]
        base, width = max(low, start), w
    return found


def binomial(n, s, faint):
    """Return where the binomial law starts, and what is above exp(-faint) times its mode."""
    if n == 1:
        return 0, np.array([1.0 - s, s])
    k = np.arange(n + 1.0)
    choose = np.cumsum(np.append(0.0, np.log((n - k[:-1]) / (k[:-1] + 1.0))))
    log = choose + k * math.log(s) + (n - k) * math.log1p(-s)
    near = np.flatnonzero(log > log.max() - faint)
    law = np.exp(log[near] - log.max())
    return int(near[0]), law / law.sum()


def chain(design):
    """Return what the chains are told: sums at the ends of steps, and the laws of these."""
    firsts, laws, start, faint = [], [], 0, min(60.0 - 2.0 * design.log_p, 700.0)
    for end in design.ends.tolist():
        first, law = 0, np.ones(1)
        for i in range(start, end + 1):
            lo, more = binomial(int(design.n[i]), float(design.score[i]), faint)
            first, law = first + lo, np.convolve(law, more)
        firsts.append(first)
        laws.append(law)
        start = end + 1
    reached = np.append(0.0, np.cumsum(design.n * design.score)[design.ends])
    trials = np.append(0, np.cumsum(design.n)[design.ends]).astype(float)
    at = np.append(0, np.cumsum([len(law) for law in laws]))
    return reached, trials, np.array(firsts), at, np.concatenate(laws)


# The designs --------------------------------------------------------------------------------------


def variance(design):
    return float((design.n * design.score * (1 - design.score)).sum())


def large_steps(design):
    """Return h."""
    v = design.n * design.score * (1 - design.score)
    share = np.add.reduceat(v, np.append(0, design.ends[:-1] + 1)) / v.sum()
    return float((share**1.5).sum())


def is_taken(design):
    many = len(design.ends) >= STEPS
    return many and variance(design) >= VARIANCE and large_steps(design) <= SHARE


def _expit(x):
    return 1 / (1 + np.exp(-np.clip(x, -30, 30)))


def _logit(s):
    return np.log(s) - np.log1p(-s)


FAMILIES = {
    "uniform": lambda rng, m: rng.random(m),
    "near 1/2": lambda rng, m: 0.5 + rng.choice([1e-6, 1e-3, 0.05]) * rng.normal(size=m),
    "skewed": lambda rng, m: rng.beta(rng.choice([0.3, 1, 2]), rng.choice([4, 9, 30]), m),
    "U-shaped": lambda rng, m: rng.beta(*[rng.choice([0.05, 0.2, 0.5])] * 2, m),
    "rounded": lambda rng, m: rng.integers(1, 20, m) / 20,
    "one score": lambda rng, m: np.full(m, rng.choice([0.5, 0.25, 0.1, 0.9, rng.random()])),
    "two places": lambda rng, m: np.where(rng.random(m) < rng.random(), *rng.beta(0.5, 0.5, 2)),
}


def drawn(rng):
    """Return a design that is taken."""
    while True:
        family = str(rng.choice(list(FAMILIES)))
        edge = rng.random() < 1 / 3
        m = STEPS if edge else int(STEPS * 10 ** rng.uniform(0, 0.4))
        rows = m + int(m * rng.choice([0, 0, 0.3, 2]))
        score = np.clip(FAMILIES[family](rng, rows), 1e-6, 1 - 1e-6)
        n = np.ones(rows, np.int64)
        ties = rng.choice(["none", "none", "few", "many"])
        if ties == "few":
            big = rng.integers(0, rows, rng.integers(1, 9))
            n[big] = rng.integers(2, rng.choice([20, 300]), len(big))
        elif ties == "many":
            n = 1 + rng.geometric(rng.choice([0.5, 0.1]), rows)
        order = rng.choice(["scores", "scores", "any", "turns"])
        if order == "scores":
            score = np.sort(score)
        elif order == "turns":
            score = np.sort(score)
            score[1::2] = score[1::2][::-1]
        cuts = np.sort(rng.choice(rows - 1, m - 1, replace=False))
        ends = np.append(cuts, rows - 1)
        name = family
        name += ", ties" if n.max() > 1 else ""
        name += ", another order" if order != "scores" else ""
        found = Design(name, score, n, ends, 0.0, (rng.random(), rng.random()))
        wanted = rng.choice([30, 31, 35, 60]) if edge else 30 * 10 ** rng.uniform(0, 0.7)
        found = scaled(found, wanted * (1 + 1e-9), shifted=rng.random() < 0.5)
        if rng.random() < 0.2:
            found = with_large_step(rng, found)
        if is_taken(found):
            return found._replace(log_p=drawn_log_p(rng))


def drawn_log_p(rng):
    """Return log P, from log .99 to that of 1e-14, now and then far beyond."""
    how = rng.random()
    if how < 0.4:
        return math.log(rng.uniform(0.01, 0.99))
    return -rng.uniform(4.6, 32) if how < 0.95 else -rng.uniform(32, 120)


def scaled(design, wanted, *, shifted):
    """Return a design with less variance: logits moved down, or apart."""
    if variance(design) <= wanted:
        return design
    logit = _logit(design.score)

    def moved(by):
        return design._replace(score=_expit(logit - by if shifted else logit * (1 + by)))

    low, high = 0.0, 1.0
    while variance(moved(high)) > wanted:
        low, high = high, 2 * high
        if high > 100:  # scores of 1/2 do not move apart
            return scaled(design, wanted, shifted=True)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if variance(moved(middle)) > wanted else (low, middle)
    return moved(low)


def with_large_step(rng, design):
    """Make one tie so large that h is just within its threshold."""
    at = int(rng.integers(len(design.n)))
    low, high = int(design.n[at]), 3000
    while high - low > 1:
        middle = (low + high) // 2
        n = design.n.copy()
        n[at] = middle
        low, high = (middle, high) if large_steps(design._replace(n=n)) <= SHARE else (low, middle)
    n = design.n.copy()
    n[at] = low
    return design._replace(n=n, family=design.family + ", one large step")


def mutated(rng, design):  # noqa: C901  (one branch for each way)
    """Return a design that is taken and differs a little."""
    for _ in range(20):
        score, n, ends = design.score.copy(), design.n.copy(), design.ends
        log_p, snap = design.log_p, design.snap
        how = rng.integers(8)
        some = rng.random(len(score)) < rng.choice([0.05, 0.3, 1])
        if how == 0:
            score[some] = _expit(_logit(score[some]) + rng.normal(0, 0.3, some.sum()))
        elif how == 1:
            score = _expit(_logit(score) * rng.uniform(0.8, 1.25) + rng.normal(0, 0.2))
        elif how == 2:
            score[some] = rng.permutation(score[some])
        elif how == 3:
            n[some] = np.maximum(n[some] + rng.integers(-1, 2, some.sum()), 1)
        elif how == 4:
            start = int(rng.integers(len(score)))
            score, n = np.roll(score, start), np.roll(n, start)
        elif how == 5 and len(ends) > STEPS:
            ends = np.delete(ends, rng.integers(len(ends) - 1))
        elif how == 6:
            log_p = min(log_p * rng.uniform(0.7, 1.4), -0.005)
        snap = (rng.random(), rng.random()) if rng.random() < 0.5 else snap
        made = Design(design.family, score, n, ends, log_p, snap)
        if rng.random() < 0.3:
            made = scaled(made, VARIANCE * (1 + 1e-9), shifted=rng.random() < 0.5)
        if is_taken(made):
            return made
    return design


def values(design, reached):
    """Return attainable values of both statistics about as large as wanted."""
    deviation = math.sqrt(variance(design))
    steps = len(reached) - 1
    p = min(math.exp(design.log_p), 0.9999)
    j = int(design.snap[0] * steps)
    k = j + 1 + int(design.snap[1] * (steps - j))
    sign = 1 if design.snap[1] > 0.5 else -1
    found = []
    for law, drop in ((null.range, reached[k] - reached[j]), (null.mad, reached[k])):
        wanted = law.isf(p) * deviation
        events = round(drop + sign * wanted)
        value = abs(events - drop)
        found.append(value if events >= 0 and value > GUARD else wanted)
    return found


def judged(design):
    """Return true log P and log(reported/true) of both statistics."""
    reached, trials, first, at, laws = chain(design)
    r, mad = values(design, reached)
    jumps = Jumps(design.n, design.score)
    found = []
    for which, c in (("R", r), ("MAD", mad)):
        sums = (reached, trials) if which == "R" else (reached,)
        p = (either if which == "R" else beyond)(*sums, first, at, laws, c)
        if p > 1e-290:
            log_p = math.log(min(p, 1.0))
            found.append((which, log_p, log_pvalue(LAWS[which], jumps, c) - log_p))
    return found


def band(log_p):
    return next(i for i in range(len(BANDS) - 1) if log_p >= math.log(BANDS[i + 1] or 1e-300))


def coarseness(h):
    return next(i for i in range(len(COARSE) - 1) if h <= COARSE[i + 1] + GUARD)


# The search ---------------------------------------------------------------------------------------


def searched(designs, seed):
    """Return rows of family, statistic, true log P, log ratio, coarseness; and worst designs."""
    rng = np.random.default_rng(seed)
    rows, worst, start = [], {}, time.monotonic()
    for number in range(designs):
        places = list(worst)
        climbs = number > designs // 20 and rng.random() < 0.5
        if climbs:
            place = worst[places[rng.integers(len(places))]]
            design = mutated(rng, place[rng.integers(len(place))][1])
        else:
            design = drawn(rng)
        coarse = coarseness(large_steps(design))
        for which, log_p, ratio in judged(design):
            rows.append((design.family, which, log_p, ratio, coarse))
            for side in (1, -1):
                place = worst.setdefault((which, band(log_p), side, coarse), [])
                place.append((side * ratio, design))
                place.sort(key=lambda each: each[0])
                del place[KEPT:]
        if number % 500 == 499:
            least = min(math.exp(row[3]) for row in rows)
            took = time.monotonic() - start
            print(f"{number + 1} designs, {took:.0f} s, lowest {least:.4f}", file=sys.stderr)
    return rows, worst


def show(rows, key, title, keys, label=str):
    """Print minimum, median and maximum of ratios by a key."""
    print(f"\n| {title} | designs | ECCE-R | | | ECCE-MAD | | |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    print("| | | lowest | median | highest | lowest | median | highest |")
    for name in keys:
        cells, counts = [], []
        for which in LAWS:
            ratios = np.exp([row[3] for row in rows if row[1] == which and key(row) == name])
            counts.append(len(ratios))
            cells += [
                f"{f(ratios):.3f}" if len(ratios) else "" for f in (np.min, np.median, np.max)
            ]
        if max(counts):
            print(f"| {label(name)} | {max(counts):,} | " + " | ".join(cells) + " |")


def show_highest(rows):
    """Print how far above the truth a P-value is at most, by how large steps may be."""
    least = 1e-3, 1e-6, 1e-12
    head = [f"{name}: P from {p:g}" for name in ("ECCE-R", "ECCE-MAD") for p in least]
    print("\n| h at most | " + " | ".join(head) + " |")
    print("|--:|" + "--:|" * len(head))
    for i, most in enumerate(COARSE[1:]):
        kept = [row for row in rows if row[4] <= i]
        cells = []
        for which in LAWS:
            for p in least:
                some = [row[3] for row in kept if row[1] == which and row[2] >= math.log(p)]
                cells.append(f"{math.exp(max(some)):.2f}" if some else "")
        print(f"| 1/{round(1 / most)} | " + " | ".join(cells) + " |")


def label(size):
    low, high = BANDS[size + 1], BANDS[size]
    return f"{low:g} to {high:g}" if low else f"below {high:g}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--designs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows, worst = searched(options.designs, options.seed)
    sizes = range(len(BANDS) - 1)
    show(rows, lambda row: band(row[2]), "true P", sizes, label)
    show(rows, lambda row: row[0].split(",")[0], "scores", FAMILIES)
    for i in range(len(COARSE) - 1):
        some = [row for row in rows if row[4] == i]
        show(
            some,
            lambda row: band(row[2]),
            f"h {COARSE[i]:.3f} to {COARSE[i + 1]:.3f}",
            sizes,
            label,
        )
    show_highest(rows)
    for kind in ("ties", "another order", "one large step"):
        show([row for row in rows if kind in row[0]], lambda _, kind=kind: kind, "with", (kind,))
    print("\nThe lowest and highest of each size:\n")
    below, above = [], []
    for (which, size, side, coarse), place in sorted(worst.items()):
        ratio, design = math.exp(side * place[0][0]), place[0][1]
        where = f"{which}, {label(size)}, h to {COARSE[coarse + 1]:.3f}: {ratio:.4f}"
        print(
            f"- {where} ({design.family}; {len(design.ends)} steps, {design.n.sum()} rows, "
            f"V {variance(design):.2f}, h {large_steps(design):.4f}, log P {design.log_p:.2f})"
        )
        if ratio < 1:
            below.append(where)
        elif side < 0 and COARSE[coarse + 1] <= LARGE_STEPS and ratio > MEANT[size]:
            above.append(where)
    print(f"\nFurther above than is meant: {'; '.join(above) or 'none'}")
    print("\nFAIL: " + "; ".join(below) if below else "\nPASS")
    return bool(below)


if __name__ == "__main__":
    sys.exit(main())
