"""Weights: are P-values and limits of weighted predictions what they say?

    python benchmarks/weights_study.py [--reps N] [--processes N] [--limits N] [--only NAME]
    python benchmarks/weights_study.py --drawn
    python benchmarks/weights_study.py --moments

Each design has scores and weights as they occur: rows thinned by outcome or by score, a stratum
sampled at 1 in 200, lognormal weights, heavy rows of rare events among many light ones.

- Size: calibrated outcomes, ``assess(...)`` as everybody calls it (``auto``); the share of P-values
  at or below .05, .01 and .001. It may be 1.5 times the level.
- Limits: outcomes that are not calibrated; the share of samples in which the simultaneous 95%
  limits of some range miss its truth, over 2,016 ranges between 64 quantiles, and in which those of
  one range fixed in advance miss. Of either 6% may.
- Heavy rows drawn, the others as normal steps (``--drawn``): what "auto" draws from above 5,000
  rows. For fixed rows, 60,000 such draws give the values that ECCE-R exceeds with chance .05, .01
  and .001; 40,000 full draws, read at the same places, show how often it does. It may be 1.1, 1.2
  and 1.5 times the level, or as much less, and three standard errors beyond: what the study can see
  is a level off by a sixth, by two fifths, and doubled.
- The large-sample P-value from moments (``--moments``): of weighted rows it knows the sums of
  second and third moments alone. For fixed rows with rho3 just below 1/20, where "auto" takes it,
  40,000 full draws show how often it is at most .1, .05, .01 and .001, beside the Brownian limit.

The study fails if a share is above what it may be by more than chance explains (one-sided binomial
tests at 1% together, by Bonferroni).
"""

from __future__ import annotations

import argparse
import sys
from bisect import bisect_left
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple
from unittest import mock

import numpy as np
from size_study import log_tail

import secant
from secant import null
from secant._blocks.sorting import PathRows
from secant._inference import sampler
from secant._inference.tilt import Bounded, log_pvalue

LEVELS = (0.05, 0.01, 0.001)
RANGES = 64
LOG_BAR = np.log(0.01 / 8)


class Rows(NamedTuple):
    """Rows before their outcomes are known: scores, true chances, weights."""

    score: np.ndarray
    chance: np.ndarray
    weight: np.ndarray | None
    outcome_weights: tuple[float, float] | None = None


def thinned(factor, keep):
    """Rare events, of either outcome a share kept."""

    def rows(rng):
        score = rng.beta(1, 49, 30_000)
        return Rows(score, np.minimum(factor * score, 1), None, (1 / keep[0], 1 / keep[1]))

    return rows


def by_score(factor):
    """Rows kept with a chance that grows with the score."""

    def rows(rng):
        score = rng.beta(1, 9, 20_000)
        share = np.clip(5 * score, 0.02, 1)
        kept = rng.random(20_000) < share
        score, share = score[kept], share[kept]
        return Rows(score, np.minimum(factor * score, 1), 1 / share)

    return rows


def stratum(factor):
    """A stratum sampled at 1 in 200, where events are rare."""

    def rows(rng):
        light, heavy = rng.beta(1, 9, 20_000), np.full(300, 0.0002)
        score = np.concatenate([light, heavy])
        chance = np.concatenate([light, factor * heavy])
        return Rows(score, chance, np.repeat([1.0, 200.0], [20_000, 300]))

    return rows


def lognormal(factor):
    def rows(rng):
        score = rng.beta(1, 49, 5000)
        return Rows(score, np.minimum(factor * score, 1), rng.lognormal(0, 1, 5000))

    return rows


def tied(factor):
    """Weights that grow as events get rarer."""

    def rows(rng):
        score = np.exp(rng.uniform(np.log(1e-4), np.log(0.5), 5000))
        return Rows(score, np.minimum(factor * score, 1), score**-0.7)

    return rows


def sixty(factor):
    """60 heavy rows of rare events among 150,000 others (rho3 = 2)."""

    def rows(rng):
        light, heavy = rng.random(150_000), np.full(60, 0.003)
        score = np.concatenate([light, heavy])
        chance = np.concatenate([light, factor * heavy])
        return Rows(score, chance, np.repeat([1.0, 1500.0], [150_000, 60]))

    return rows


# Name: rows that are calibrated when the factor is 1, the factor that limits are studied with, and
# a range of scores fixed in advance.
DESIGNS = {
    "negatives kept 5%": (partial(thinned, keep=(0.05, 1)), 0.7, (0.01, 0.03)),
    "positives kept 20%": (partial(thinned, keep=(1, 0.2)), 1.5, (0.01, 0.03)),
    "thinned by score": (by_score, 1.5, (0.05, 0.2)),
    "stratum at 1/200": (stratum, 20.0, (0.0, 0.01)),
    "lognormal(1)": (lognormal, 1.5, (0.01, 0.03)),
    "weights tied to rare events": (tied, 2.0, (0.0, 0.01)),
    "60 heavy among 150,000": (sixty, 5.0, (0.0, 0.01)),
}


def drawn(name, factor, seed):
    """Return outcomes of one sample, its rows as they were kept, and a generator."""
    rng = np.random.default_rng(seed)
    rows = DESIGNS[name][0](factor)(rng)
    happened = rng.random(len(rows.score)) < rows.chance
    if rows.outcome_weights is not None:
        o0, o1 = rows.outcome_weights
        kept = rng.random(len(happened)) < np.where(happened, 1 / o1, 1 / o0)
        happened = happened[kept]
        rows = rows._replace(score=rows.score[kept], chance=rows.chance[kept])
    return happened.astype(int), rows


def pvalue(name, seed):
    happened, rows = drawn(name, 1.0, [seed, 1])
    result = secant.assess(
        happened,
        rows.score,
        sample_weight=rows.weight,
        outcome_weights=rows.outcome_weights,
        rng=seed,
    )
    return result.ecce_r.pvalue


def missed(name, seed):
    """Tell whether the limits of some range miss, and those of one fixed in advance."""
    _, factor, (low, high) = DESIGNS[name]
    happened, rows = drawn(name, factor, [seed, 2])
    result = secant.assess(
        happened,
        rows.score,
        sample_weight=rows.weight,
        outcome_weights=rows.outcome_weights,
        method="asymptotic",
    )
    a = np.ones(len(happened)) if rows.weight is None else rows.weight
    o0, o1 = rows.outcome_weights or (1.0, 1.0)
    kept = rows.chance / o1 + (1 - rows.chance) / o0
    columns = np.array([
        a * np.where(happened, o1, o0) * (happened - rows.score),
        a * np.where(happened, o1, o0),
        a * (rows.chance - rows.score) / kept,
        a / kept,
    ])  # fmt: skip
    order = np.argsort(rows.score, kind="stable")
    ends = np.unique(np.quantile(rows.score, np.linspace(0, 1, RANGES)))
    at = np.searchsorted(rows.score[order], ends, side="right")
    sums = np.cumsum(columns[:, order], axis=1)
    sums = np.hstack([np.zeros((4, 1)), sums[:, at - 1]])
    i, j = np.triu_indices(sums.shape[1], 1)
    gain, weight, true_gain, true_weight = sums[:, j] - sums[:, i]
    some = true_weight > 0
    off = np.abs(gain[some] - true_gain[some] / true_weight[some] * weight[some])
    everywhere = off.max() > result._half_width(1.0) * columns[1].sum() * (1 + 1e-9)  # noqa: SLF001
    inside = (rows.score >= low) & (rows.score <= high)
    truth = columns[2, inside].sum() / columns[3, inside].sum()
    limits = result.between(low, high, fixed_in_advance=True).ci
    return everywhere, not limits[0] - 1e-12 <= truth <= limits[1] + 1e-12


# --- heavy rows drawn, the others as normal steps -------------------------------------------------


class Ties(NamedTuple):
    """Rows that share score and weight, in the order of scores."""

    score: np.ndarray
    weight: np.ndarray
    size: np.ndarray


def _ties(score, weight, size=1):
    order = np.lexsort((weight, score))
    return Ties(score[order], weight[order], np.broadcast_to(size, score.shape)[order])


def _with(heavy, score, weight, size=1):
    """Put heavy rows, of these scores, weights and numbers, among the others."""
    more = (np.atleast_1d(column) for column in heavy)
    columns = np.broadcast_arrays(score, weight, size), np.broadcast_arrays(*more)
    return _ties(*map(np.concatenate, zip(*columns, strict=True)))


def sifted_designs(rng):
    uniform, rare = rng.random(10_000), rng.beta(1, 999, 10_000)
    spread = np.exp(rng.uniform(np.log(1e-6), np.log(0.5), 10_000))
    grid = np.linspace(0.005, 0.015, 500)
    tiny = np.linspace(0.5e-6, 1.5e-6, 1000)
    yield "60 heavy rows of .003", _with((np.full(60, 0.003), 500.0, 1), uniform, 1.0)
    yield "60 heavy rows of .997", _with((np.full(60, 0.997), 500.0, 1), uniform, 1.0)
    yield "one heavy row of a half", _with((0.5, 100.0, 1), uniform, 1.0)
    yield (
        "60 of .0001, one likely event in 170",
        _with((np.full(60, 0.0001), 5000.0, 1), uniform, 1.0),
    )
    yield "Cauchy weights", _ties(uniform, np.abs(rng.standard_cauchy(10_000)) + 0.1)
    yield (
        "lognormal(1.5) weights, Beta(1, 49)",
        _ties(rng.beta(1, 49, 10_000), rng.lognormal(0, 1.5, 10_000)),
    )
    yield "all heavy: lognormal(1), V = 10", _ties(rare, rng.lognormal(0, 1, 10_000))
    yield "all heavy: two weights, V = 10", _ties(rare, rng.choice([1.0, 3.0], 10_000))
    yield "weights tied to scores down to 1e-6", _ties(spread, spread**-0.7)
    yield "a million heavy rows of 1e-6", _with((tiny, 100.0, 1000), uniform, 1.0)
    # Light rows as heavy and as rare as they may be: rho3 of all but one row is 1/51.
    yield "rare events just light", _with((0.5, 30.0, 1), grid, 1.0, 530)
    yield "rare events just heavy", _with((0.5, 30.0, 1), grid, 1.0, 400)


def _sampled(ties):
    """Return what "auto" draws from, the last tie of each cell, and the unit of its steps."""
    score, weight = (np.repeat(each, ties.size) for each in ties[:2])
    rows = PathRows(score, np.zeros(len(score), int), weight)
    plan = sampler._plan(sampler._steps([rows], None), sampler.DRAWS)  # noqa: SLF001
    looks, thinned = [], sampler._thinned  # noqa: SLF001  (what is studied, here and above)

    def kept(*given):
        looks.append(thinned(*given))
        return looks[-1]

    with mock.patch.object(sampler, "_thinned", kept):
        paths = sampler._paths(sampler._steps([rows], None), plan)  # noqa: SLF001
    last = np.searchsorted(np.cumsum(ties.size), looks[-1][0], side="right")
    return paths, last, np.ldexp(1.0, plan.shift)


def _fully_drawn(ties, last, rng, draws):
    """Return the range of paths with every outcome drawn."""
    ranges = []
    expected = np.cumsum(ties.weight * ties.size * ties.score)
    single = (ties.size == 1).all()
    for _ in range(draws // 100):
        shape = (100, len(ties.score))
        if single:
            happened = rng.random(shape) < ties.score
        else:
            happened = rng.binomial(ties.size, ties.score, shape)
        path = (np.cumsum(ties.weight * happened, axis=1) - expected)[:, last]
        ranges.append(path.max(axis=1, initial=0.0) - path.min(axis=1, initial=0.0))
    return np.concatenate(ranges)


def drawn_study(only=None, exact=40_000, normal=60_000):
    """Print how often paths exceed what heavy rows and normal steps say they do."""
    rng = np.random.default_rng(12)
    worst = []
    print("| design | heavy rows | cells | .05 | .01 | .001 |")
    print("|---|--:|--:|--:|--:|--:|", flush=True)
    for name, ties in sifted_designs(rng):
        if only is not None and only not in name:
            continue
        paths, last, unit = _sampled(ties)
        ours = []
        for _ in range(normal // 100):
            path = paths.draw(rng, 100)
            ours.append(path.max(axis=1, initial=0.0) - path.min(axis=1, initial=0.0))
        critical = np.quantile(np.concatenate(ours) / unit, 1 - np.array(LEVELS), method="higher")
        full = _fully_drawn(ties, last, rng, exact)
        # At least as extreme, or more so: between them lies what ties with the critical value.
        least, most = ((full[:, None] > critical * (1 + e)).mean(axis=0) for e in (1e-9, -1e-9))
        for level, low, high, may in zip(LEVELS, least, most, (1.1, 1.2, 1.5), strict=True):
            chance = 3 * np.sqrt(level * (1 / exact + 1 / normal))
            if low > may * level + chance or high < level / may - chance:
                worst.append(f"{name}: {low:.5f} to {high:.5f} at {level}")
        shares = " | ".join(f"{low:.5f}" for low in least)
        heavy = len(paths.jump)
        print(f"| {name} | {heavy:,} | {len(paths.noise):,} | {shares} |", flush=True)
    print("\n" + ("\n".join(worst) if worst else "All as they say."))
    return 1 if worst else 0


# --- large samples, from moments ------------------------------------------------------------------


MOMENTS = {
    "uniform, lognormal(1) weights": (41_000, 1, 1.0),
    "Beta(1, 49), lognormal(.5) weights": (45_000, 49, 0.5),
}


def moments_study(draws=40_000):
    """Print how often calibrated predictions are rejected by P-values from moments."""
    failed = []
    print("| design | rho3 | P-value | .1 | .05 | .01 | .001 |")
    print("|---|--:|---|--:|--:|--:|--:|", flush=True)
    for number, (name, (n, b, spread)) in enumerate(MOMENTS.items()):
        rng = np.random.default_rng([8, number])
        score, weight = np.sort(rng.beta(1, b, n)), rng.lognormal(0, spread, n)
        variance = score * (1 - score)
        unit = np.sqrt((weight**2 * variance).sum())
        rho3 = float((weight**3 * variance).sum() / unit**3)
        bounded = Bounded(1.0, rho3, float(weight.max() / unit))
        # P-values fall as ranges grow: the smallest range that is rejected decides.
        ranges = np.sort(_fully_drawn(_ties(score, weight), slice(None), rng, draws)) / unit
        for kind, steps in (("Brownian", None), ("from moments", bounded)):
            shares = [_rejected(ranges, steps, level) / draws for level in (0.1, *LEVELS)]
            shown = " | ".join(f"{share:.4f}" for share in shares)
            print(f"| {name} | {rho3:.4f} | {kind} | {shown} |", flush=True)
            for level, share in zip((0.1, *LEVELS), shares, strict=True):
                if steps is not None and log_tail(round(share * draws), draws, level) < LOG_BAR:
                    failed.append(f"{name}: {share:.5f} at {level}")
    print("\n" + ("\n".join(failed) if failed else "All as they say."))
    return 1 if failed else 0


def _rejected(ranges, steps, level):
    """Count the ranges, in ascending order, whose P-value is at most a level."""

    def log_p(value):
        if steps is None:
            return null.range.logsf(value)
        return log_pvalue(null.range, steps, float(value))

    return len(ranges) - bisect_left(ranges, -np.log(level), key=lambda value: -log_p(value))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=2000, help="samples for sizes")
    parser.add_argument("--limits", type=int, default=1000, help="samples for limits")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=DESIGNS)
    parser.add_argument("--drawn", action="store_true", help="heavy rows drawn, and nothing else")
    parser.add_argument("--moments", action="store_true", help="P-values from moments alone")
    options = parser.parse_args()
    if options.drawn:
        return drawn_study()
    if options.moments:
        return moments_study()
    names = [options.only] if options.only else list(DESIGNS)
    tests = len(names) * (len(LEVELS) + 2)
    failed = []
    print("| design | .05 | .01 | .001 | some range missed | fixed range missed |")
    print("|---|--:|--:|--:|--:|--:|", flush=True)
    with ProcessPoolExecutor(options.processes) as pool:
        for name in names:
            chunk = max(1, options.reps // options.processes // 20)
            found = np.array(
                list(pool.map(partial(pvalue, name), range(options.reps), chunksize=chunk))
            )
            limits = np.array(
                list(pool.map(partial(missed, name), range(options.limits), chunksize=chunk))
            )
            counts = [int((found <= level * (1 + 1e-12)).sum()) for level in LEVELS]
            misses = limits.sum(axis=0).tolist()
            may = [1.5 * level for level in LEVELS]
            checks = [*zip(counts, may, [options.reps] * 3, strict=True)]
            checks += [(count, 0.06, options.limits) for count in misses]
            for count, most, reps in checks:
                if log_tail(count, reps, most) < np.log(0.01 / tests):
                    failed.append(f"{name}: {count} of {reps}, {most:.4g} allowed")
            shares = [count / reps for count, _, reps in checks]
            print(f"| {name} | " + " | ".join(f"{each:.4f}" for each in shares) + " |", flush=True)
    print("\n" + ("\n".join(failed) if failed else "All as they say."))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
