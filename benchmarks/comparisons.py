"""Size, coverage and power of compare_groups, scan and compare_models, by simulation.

    python benchmarks/comparisons.py [--quick] [groups] [scan] [models]

prints the tables of docs/comparing.md. Seeds are fixed; ``--quick`` takes a tenth of the
replicates.
"""

import argparse
import math
from statistics import NormalDist

import numpy as np

import secant
from secant import null
from secant._api import scan as _scan
from secant._inference import multiscale
from secant._input.observations import observations
from secant._metrics.subgroup import Compared, compared_rows, stretches

SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "squared": lambda rng, n: rng.random(n) ** 2,
    "rare, Beta(1, 50)": lambda rng, n: rng.beta(1, 50, n),
    "ten values": lambda rng, n: (rng.integers(0, 10, n) + 0.5) / 10,
}
LEVELS = (0.05, 0.01)


def table(title, header, rows):
    print(f"\n{title}\n\n| " + " | ".join(header) + " |")
    print("| " + " | ".join("---" for _ in header) + " |")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def share(values):
    return f"{np.mean(values):.3f}"


def coins(rng, chance):
    return rng.random(chance.shape) < chance


# --- a group against everybody --------------------------------------------------------------------


def population(scores, *, members=0.1, weighted=False, steep=False):
    """Return a maker of scores, membership and weights."""

    def make(rng, n):
        p = scores(rng, n)
        member = rng.random(n) < members * (2 * p if steep else 1)
        member[0] = True
        return p, member, rng.lognormal(0, 0.7, n) if weighted else None

    return make


def without_the_highest(rng, n):
    """Five scores, of which members never have the highest."""
    p = rng.integers(1, 6, n) / 6
    return p, (rng.random(n) < 0.2) & (p < 5 / 6), None


POPULATIONS = {
    "uniform": (300, population(SCORES["uniform"])),
    "uniform, half are members": (300, population(SCORES["uniform"], members=0.5)),
    "uniform ": (3000, population(SCORES["uniform"])),
    "members have higher scores": (3000, population(SCORES["uniform"], steep=True)),
    "lognormal weights": (3000, population(SCORES["uniform"], weighted=True)),
    "ten values": (3000, population(SCORES["ten values"])),
    "rare, Beta(1, 50)": (3000, population(SCORES["rare, Beta(1, 50)"])),
    "rarer, Beta(1, 500)": (3000, population(lambda rng, n: rng.beta(1, 500, n))),
    "five values, members lack the highest": (20_000, without_the_highest),
}


def nearest(replicates):
    """Return what is found when every row is compared with the nearest score of members."""
    rng = np.random.default_rng(1)
    pvalues = []
    for _ in range(replicates):
        p, member, _ = without_the_highest(rng, 20_000)
        point = np.unique(p[member])
        stretch = np.searchsorted(point[:-1] + np.diff(point) / 2, p)
        sums = stretches(Compared(point, stretch, p, coins(rng, p), member, None))
        path = np.append(0, np.cumsum(sums.gain)) / np.sqrt(sums.variance.sum())
        pvalues.append((null.range.sf(np.ptp(path)), null.mad.sf(np.abs(path).max())))
    return [share(x <= level) for x in np.array(pvalues).T for level in LEVELS]


def groups(replicates):
    rows = []
    for name, (n, make) in POPULATIONS.items():
        for events, curve in (("s", lambda p: p), ("s squared", np.square)):
            rng = np.random.default_rng(1)
            pvalues = []
            for _ in range(replicates):
                p, member, w = make(rng, n)
                result = secant.compare_groups(coins(rng, curve(p)), p, member, sample_weight=w)
                pvalues.append((result.ecce_r.pvalue, result.ecce_mad.pvalue))
            found = [share(x <= level) for x in np.array(pvalues).T for level in LEVELS]
            rows.append((name, events, f"{n:,}", *found))
    rows.append(
        ("the same, nearest scores instead of equal ones", "s", "20,000", *nearest(replicates))
    )
    header = ["scores", "chance of the event", "n", "R at 5%", "R at 1%", "MAD at 5%", "MAD at 1%"]
    table(f"Groups without a difference: found ({replicates:,} replicates)", header, rows)

    rows = []
    for n, shift in ((3000, 0.05), (3000, 0.1), (30_000, 0.02), (30_000, 0.05)):
        rng = np.random.default_rng(2)
        found, shown, covered = [], [], []
        for _ in range(max(100, replicates // 4)):
            p, member = 0.9 * rng.random(n), rng.random(n) < 0.1
            y = coins(rng, p + shift * member)
            result = secant.compare_groups(y, p, member)
            found.append(result.ecce_r.pvalue <= 0.05)
            sums = stretches(compared_rows(p, y, member, None))
            truth = shift * (sums.members * sums.others / sums.everybody).sum() / member.sum()
            covered.append(result.ecce_r.ci[0] <= truth <= result.ecce_r.ci[1])
            shown.append(result.detectable > truth or found[-1])
        rows.append((f"{n:,}", f"{100 * shift:g} points", *map(share, (found, covered, shown))))
    header = ["n", "members have more", "found at 5%", "limits of ECCE-R cover", "as announced"]
    table("Groups with a difference (a tenth are members)", header, rows)


# --- scan -----------------------------------------------------------------------------------------


class Design:
    """Fixed scores, with ECCE-R and the scan computed for many outcomes at once."""

    def __init__(self, p):
        seen = observations(np.zeros(len(p), int), p)
        self.ties = _scan._ties(seen)  # noqa: SLF001  (many outcomes at once)
        self.family = multiscale.ranges(self.ties)
        self.order = np.argsort(p, kind="stable")
        self.p = p

    def statistics(self, rng, chance, replicates):
        """Return the scan's statistic and the range of the path for outcomes drawn anew."""
        values = []
        batch = max(1, 2_000_000 // len(self.p))
        for made in range(0, replicates, batch):
            size = min(batch, replicates - made)
            happened = coins(rng, np.broadcast_to(chance[self.order], (size, len(self.p))))
            path = np.cumsum(happened, axis=1)[:, self.ties.ends] - self.ties.reached
            ecce = path.max(axis=1, initial=0) - path.min(axis=1, initial=0)
            scan_values = self.family.largest(self.family.sums(path[:, self.family.at]))
            values.append(np.column_stack([scan_values, ecce]))
        return np.concatenate(values)

    def pvalues(self, rng, chance, replicates, draws=999):
        """Return P-values of both, each from the same number of null draws."""
        null_values = np.sort(self.statistics(rng, self.p, draws), axis=0)
        observed = self.statistics(rng, chance, replicates)
        return np.column_stack(
            [
                (1 + draws - np.searchsorted(column, seen - 1e-9)) / (1 + draws)
                for column, seen in zip(null_values.T, observed.T, strict=True)
            ]
        )


def scan(replicates):
    rows = []
    for name, scores in SCORES.items():
        for n in (100, 1000, 10_000):
            rng = np.random.default_rng(3)
            each = max(1, replicates // 20)
            pvalues = np.concatenate(
                [Design(p).pvalues(rng, p, each) for p in (scores(rng, n) for _ in range(20))]
            )
            found = [share(pvalues[:, 0] <= level) for level in LEVELS]
            rows.append((name, f"{n:,}", *found))
    table(
        f"Scan, perfect calibration: found ({20 * each:,} replicates, 20 sets of scores)",
        ["scores", "n", "at 5%", "at 1%"],
        rows,
    )

    rows = []
    defects = [
        ("1% of scores off by 20 points", 0.01, 0.2),
        ("1% of scores off by 30 points", 0.01, 0.3),
        ("2% of scores off by 15 points", 0.02, 0.15),
        ("5% of scores off by 10 points", 0.05, 0.1),
        ("20% of scores off by 5 points", 0.2, 0.05),
        ("half of scores off by 2 points", 0.5, 0.02),
        ("all scores off by 1.5 points", 1.0, 0.015),
        ("overconfidence: slope 0.95 around 0.5", None, 0.05),
        ("overconfidence: slope 0.93 around 0.5", None, 0.07),
    ]
    for n in (1000, 10_000):
        for name, width, shift in defects:
            rng = np.random.default_rng(4)
            found = []
            for _ in range(20):
                p = rng.random(n)
                chance = defective(rng, p, width, shift)
                found.append(Design(p).pvalues(rng, chance, max(1, replicates // 40)) <= 0.05)
            rows.append((name, f"{n:,}", *map(share, np.concatenate(found).T)))
    header = ["defect (uniform scores)", "n", "scan", "ECCE-R"]
    table("Defects found at 5%", header, rows)


def defective(rng, p, width, shift):
    """Return chances that differ from the scores in a stretch somewhere, or everywhere in slope."""
    if width is None:
        return p - shift * (p - 0.5)
    start = rng.uniform(0, 1 - width)
    inside = (p >= start) & (p < start + width)
    sign = 1 if start + width / 2 <= 0.5 else -1  # towards the middle, where there is room
    return np.clip(p + sign * shift * inside, 0, 1)


# --- two models -----------------------------------------------------------------------------------


def wave(p, size, turns):
    return np.clip(p + size * np.sign(np.sin(2 * np.pi * turns * p)), 0, 1)


def rounded(p):
    return (np.floor(10 * p) + 0.5) / 10


UNIFORM, RARE = SCORES["uniform"], SCORES["rare, Beta(1, 50)"]
MODELS = {
    "both calibrated, one rounded": (UNIFORM, lambda p: p, rounded),
    "both calibrated, one constant": (UNIFORM, lambda p: p, lambda p: np.full_like(p, 0.5)),
    "one mildly off (p^1.1)": (UNIFORM, lambda p: p, lambda p: p**1.1),
    "one clearly off (p^1.5)": (UNIFORM, lambda p: p, lambda p: p**1.5),
    "off by 5 points, low and high": (
        UNIFORM,
        lambda p: np.clip(p + 0.05 * (p < 0.5), 0, 1),
        lambda p: np.clip(p + 0.05 * (p >= 0.5), 0, 1),
    ),
    "2 points too high, 2 too low": (
        UNIFORM,
        lambda p: np.clip(p + 0.02, 0, 1),
        lambda p: np.clip(p - 0.02, 0, 1),
    ),
    "waves of 3 points": (UNIFORM, lambda p: wave(p, 0.03, 4), lambda p: wave(p, -0.03, 4)),
    "waves, one rounded": (UNIFORM, lambda p: wave(p, 0.06, 8), rounded),
    "rare, half and calibrated": (RARE, lambda p: p, lambda p: p / 2),
    "rare, half and half as much again": (RARE, lambda p: p / 2, lambda p: 1.5 * p),
}


class Path:
    """One model's path, and what candidate limits need to know of it."""

    def __init__(self, y, p):
        self.order = np.argsort(p, kind="stable")
        s = p[self.order]
        self.ends = np.append(np.flatnonzero(s[1:] != s[:-1]), len(s) - 1)
        self.residual = (y - p)[self.order]
        self.path = self.at_ends(np.ones((1, len(y))))[0]
        self.r = float(np.ptp(self.path))

    def at_ends(self, weight):
        """Return the paths with rows weighted, the origin first."""
        sums = np.cumsum(weight[:, self.order] * self.residual, axis=1)[:, self.ends]
        total = weight.sum(axis=1, keepdims=True)
        return np.concatenate([np.zeros((len(sums), 1)), sums / total], axis=1)

    def influence(self):
        """Return each row's influence on the range, in the caller's order."""
        places = np.append(-1, self.ends)
        low, high = places[self.path.argmin()], places[self.path.argmax()]
        position = np.arange(len(self.residual))
        inside = (position > min(low, high)) & (position <= max(low, high))
        value = np.empty(len(position))
        value[self.order] = np.where(high > low, 1, -1) * inside * self.residual - self.r
        return value


def candidates(rng, y, a, b):
    """Return 95% limits for R_A - R_B by several methods."""
    n, one, two = len(y), Path(y, a), Path(y, b)
    observed = one.r - two.r
    half = 1.96 * np.std(one.influence() - two.influence()) / math.sqrt(n)
    limits = {"jackknife": (observed - half, observed + half)}
    if n <= 1000:
        weight = rng.multinomial(n, np.full(n, 1 / n), size=300).astype(float)
        drawn = np.ptp(one.at_ends(weight), axis=1) - np.ptp(two.at_ends(weight), axis=1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        limits["bootstrap"] = low, high
        limits["bootstrap, recentred"] = 2 * observed - high, 2 * observed - low
    limits["secant"] = secant.compare_models(y, a, b).ci
    return limits


def true_difference(scores, model_a, model_b):
    p = scores(np.random.default_rng(0), 2_000_000)
    values = []
    for model in (model_a, model_b):
        s = model(p)
        order = np.argsort(s, kind="stable")
        path = np.cumsum((p - s)[order])
        ends = np.append(s[order][1:] != s[order][:-1], [True])
        values.append(np.ptp(np.append(path[ends], 0)) / len(p))
    return values[0] - values[1]


def models(replicates):
    replicates = max(100, replicates // 4)
    methods = ("bootstrap", "bootstrap, recentred", "jackknife", "secant")
    rows = []
    for name, (scores, model_a, model_b) in MODELS.items():
        truth = true_difference(scores, model_a, model_b)
        for n in (300, 1000, 10_000):
            rng = np.random.default_rng(5)
            missed = {method: [] for method in methods}
            width, told = [], []
            for _ in range(replicates):
                p = scores(rng, n)
                limits = candidates(rng, coins(rng, p).astype(float), model_a(p), model_b(p))
                for method, (low, high) in limits.items():
                    missed[method].append(not low - 1e-4 <= truth <= high + 1e-4)
                low, high = limits["secant"]
                width.append((high - low) / 2)
                told.append(low > 0 or high < 0)
            shown = [share(missed[m]) if missed[m] else "" for m in methods]
            rows.append(
                (name, f"{n:,}", f"{truth:+.4f}", *shown, f"{np.mean(width):.3f}", share(told))
            )
    table(
        f"Two models: 95% limits that miss the true difference ({replicates:,} replicates)",
        ["models", "n", "true difference", *methods, "half-width", "told apart"],
        rows,
    )
    quantiles(20 * replicates)


def views(slope_a, slope_b):
    """Two models that know different halves of what decides, each too extreme by a factor."""

    def make(rng, n):
        x = rng.standard_normal((2, n))
        a, b = (
            normal_cdf(slope * each / math.sqrt(2))
            for slope, each in zip((slope_a, slope_b), x, strict=True)
        )
        return normal_cdf(x.sum(axis=0)), a, b

    return make


def normal_cdf(x):
    return np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in x])


def of_one(scores, model_a, model_b):
    def make(rng, n):
        p = scores(rng, n)
        return p, model_a(p), model_b(p)

    return make


def too_high(by):
    """Scores up to .9 that are right, and the same ones too high."""
    return of_one(lambda rng, n: 0.9 * rng.random(n), lambda p: p, lambda p: p + by)


# Pairs of models, and the true difference of what miscalibration costs: none, or which loses more.
PAIRS = {
    "both calibrated, one rounded": ("none", of_one(*MODELS["both calibrated, one rounded"])),
    "both calibrated, one constant": ("none", of_one(*MODELS["both calibrated, one constant"])),
    "both calibrated, different views": ("none", views(1, 1)),
    "equally too extreme, different views": ("none", views(1.5, 1.5)),
    "off by 5 points, low and high": ("none", of_one(*MODELS["off by 5 points, low and high"])),
    "2 points too high, 2 too low": ("none", of_one(*MODELS["2 points too high, 2 too low"])),
    "waves of 3 points": ("none", of_one(*MODELS["waves of 3 points"])),
    "rare, half and half as much again": (
        "none",
        of_one(*MODELS["rare, half and half as much again"]),
    ),
    "p and p^1.1": ("B", of_one(*MODELS["one mildly off (p^1.1)"])),
    "p and p^1.5": ("B", of_one(*MODELS["one clearly off (p^1.5)"])),
    "calibrated, 3 points too high": ("B", too_high(0.03)),
    "calibrated, 5 points too high": ("B", too_high(0.05)),
    "calibrated, 10 points too high": ("B", too_high(0.10)),
    "p^1.2 and p^1.1": ("A", of_one(UNIFORM, lambda p: p**1.2, lambda p: p**1.1)),
    "too extreme by 1 and 1.5, different views": ("B", views(1, 1.5)),
    "too extreme by 1 and 2, different views": ("B", views(1, 2)),
    "waves, one rounded": ("A", of_one(*MODELS["waves, one rounded"])),
    "rare, calibrated and half": ("B", of_one(*MODELS["rare, half and calibrated"])),
}


def pairs(replicates):
    rows = []
    for name, (loses, make) in PAIRS.items():
        for n in (300, 1000, 10_000):
            rng = np.random.default_rng(7)
            found = {"A": 0, "B": 0}
            limits = 0
            each = max(40, replicates // (5 if n < 10_000 else 20))
            for _ in range(each):
                p, a, b = make(rng, n)
                result = secant.compare_models(coins(rng, p), a, b)
                if result.pvalue <= 0.05:
                    found["B" if result.mcb_difference < 0 else "A"] += 1
                limits += result.ci[0] > 0 or result.ci[1] < 0
            shares = (f"{count / each:.3f}" for count in (found["A"], found["B"], limits))
            rows.append((name, loses, f"{n:,}", f"{each:,}", *shares))
    table(
        "Two models, paired test at 5%: which is said to lose more",
        ["models A and B", "loses more", "n", "replicates", "test: A", "test: B", "limits tell"],
        rows,
    )


def quantiles(replicates):
    """The quantile of range plus normal variable against the sum of their quantiles."""
    rng = np.random.default_rng(6)
    steps = 1000
    span, end = [], []
    for _ in range(0, replicates, 500):
        walk = np.cumsum(rng.standard_normal((500, steps)), axis=1) / math.sqrt(steps)
        span.append(walk.max(axis=1, initial=0) - walk.min(axis=1, initial=0))
        end.append(walk[:, -1])
    # A walk of many steps misses this much of the range of Brownian motion on average.
    span = np.concatenate(span) + 2 * 0.5826 / math.sqrt(steps)
    end = np.concatenate(end)
    other = rng.standard_normal(len(end))
    rows = []
    for level in (0.9, 0.95, 0.99):
        q, z = null.range.isf((1 - level) / 2), NormalDist().inv_cdf((1 + level) / 2)
        for ratio in (0.1, 0.3, 1, 3, 10):
            found = [
                np.quantile(
                    span + ratio * (rho * end + math.sqrt(1 - rho**2) * other), (1 + level) / 2
                )
                for rho in (0, 0.5, 0.9, 1)
            ]
            rows.append(
                (
                    f"{level:.0%}",
                    ratio,
                    *(f"{value:.2f}" for value in found),
                    f"{q + ratio * z:.2f}",
                )
            )
    table(
        f"Quantile of range + ratio x normal, by correlation ({len(end):,} walks)",
        ["level", "ratio of sigmas", "0", "0.5", "0.9", "1", "sum of quantiles"],
        rows,
    )


def main():
    studies = {"groups": groups, "scan": scan, "models": models, "pairs": pairs}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "studies", nargs="*", default=list(studies), metavar="groups|scan|models|pairs"
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the replicates")
    options = parser.parse_args()
    for name in options.studies:
        if name not in studies:
            parser.error(f"no study is called {name!r}")
        studies[name](200 if options.quick else 2000)


if __name__ == "__main__":
    main()
