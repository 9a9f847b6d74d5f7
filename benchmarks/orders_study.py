"""Orders study: predictions along another order than that of their scores.

    python benchmarks/orders_study.py [--quick] [--reps N]

Of calibrated predictions ECCE-R along x rejects 5% at 5%, whatever x is: independent of the scores
or not, with ties or without. Two things are shown beside it: what the order by score cannot see
and the order along x does, and the other way round; and forecasts made from earlier outcomes (an
urn: each outcome adds a ball of its colour), for which the order along time is valid, and the
order by score is not.

- large: 2,000 rows (500 for the urn), ``method="asymptotic"``.
- exact: 300 rows, ``method="auto"``, which computes P-values for that many.

The bar for sizes: no more than 5% beyond chance, by one-sided binomial tests at 1% together
(Bonferroni). With 800 samples ("large") a cell fails from 7.9% on, and a true size of 9.2% would be
seen in 9 studies of 10; with 200 ("exact") from 11% on, and 14% would. The urn's finite-sample
P-values are not exact, and none are computed.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from size_study import log_tail

import secant

ROWS, FEW_ROWS, URN_ROWS = 2000, 300, 500


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.random(n)


def rare(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.beta(1, 19, n)


# Name: scores, and x given the scores.
ORDERS = {
    "x independent of scores": (uniform, lambda rng, s: rng.normal(size=s.size)),
    "x with 12 values": (uniform, lambda rng, s: rng.integers(0, 12, s.size)),
    "x with 2 values": (uniform, lambda rng, s: rng.integers(0, 2, s.size)),
    "half of all rows at one x": (
        uniform,
        lambda rng, s: np.maximum(rng.normal(size=s.size), 0.0),
    ),
    "x = score + noise": (uniform, lambda rng, s: s + 0.2 * rng.normal(size=s.size)),
    "x = -score": (uniform, lambda _, s: -s),
    "x = distance of the score from 1/2": (uniform, lambda _, s: np.abs(s - 0.5)),
    "rare events, x independent": (rare, lambda rng, s: rng.normal(size=s.size)),
    "rare events, 12 values": (rare, lambda rng, s: rng.integers(0, 12, s.size)),
}


def urn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes and forecasts, each the share of events so far."""
    luck, happened, forecast, events = rng.random(n), np.zeros(n, int), np.empty(n), 0
    for t in range(n):
        forecast[t] = (1 + events) / (2 + t)
        happened[t] = luck[t] < forecast[t]
        events += int(happened[t])
    return happened, forecast


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def rejects(y: np.ndarray, s: np.ndarray, x: np.ndarray | None, method: str) -> bool:
    return secant.assess(y, s, order_by=x, method=method).ecce_r.pvalue <= 0.05


def size(name: str, n: int, method: str, reps: int) -> float:
    """Return how often calibrated predictions are rejected along x."""
    scores, order = ORDERS[name]
    hits = 0
    for seed in range(reps):
        rng = np.random.default_rng([seed, n])
        s = scores(rng, n)
        x = order(rng, s)
        hits += rejects(rng.random(n) < s, s, x, method)
    return hits / reps


def along_time(reps: int) -> tuple[float, float]:
    """Return how often forecasts made from earlier outcomes are rejected: by time, by score."""
    hits = np.zeros(2)
    for seed in range(reps):
        y, s = urn(np.random.default_rng([seed, 1]), URN_ROWS)
        hits += [
            rejects(y, s, np.arange(URN_ROWS), "asymptotic"),
            rejects(y, s, None, "asymptotic"),
        ]
    return tuple((hits / reps).tolist())


def power(reps: int) -> dict[str, tuple[float, float]]:
    """Return how often faults are found: along x, by score."""
    found = {
        "8 points off by the half of x": np.zeros(2),
        "8 points off by the half of s": np.zeros(2),
    }
    for seed in range(reps):
        rng = np.random.default_rng([seed, 2])
        s, x = rng.uniform(0.1, 0.9, ROWS), rng.random(ROWS)
        luck = rng.random(ROWS)
        for name, half in zip(found, (x < 0.5, s < 0.5), strict=True):
            y = luck < s + np.where(half, 0.08, -0.08)
            found[name] += [rejects(y, s, each, "asymptotic") for each in (x, None)]
    return {name: tuple((hits / reps).tolist()) for name, hits in found.items()}


def main() -> int:
    """Print the tables; fail if a size is beyond the bar."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the samples")
    parser.add_argument("--reps", type=int, default=800, help="samples for a cell")
    options = parser.parse_args()
    reps = options.reps // 20 if options.quick else options.reps
    few = max(reps // 4, 20)
    failed = []

    def judged(name: str, share: float, samples: int) -> str:
        if log_tail(round(share * samples), samples, 0.05) < np.log(0.01 / (2 * len(ORDERS) + 1)):
            failed.append(name)
        return percent(share)

    print("| calibrated, rejected at 5%, in % | large | exact |\n|---|--:|--:|")
    for name in ORDERS:
        large = judged(name, size(name, ROWS, "asymptotic", reps), reps)
        exact = judged(name, size(name, FEW_ROWS, "auto", few), few)
        print(f"| {name} | {large} | {exact} |", flush=True)
    time, score = along_time(reps)
    print("\n| forecasts made from earlier outcomes, rejected at 5%, in % | |\n|---|--:|")
    print(f"| along time | {judged('urn', time, reps)} |\n| by score | {percent(score)} |")
    print("\n| found, in % | along x | by score |\n|---|--:|--:|")
    for name, (along, by) in power(max(reps // 5, 20)).items():
        print(f"| {name} | {percent(along)} | {percent(by)} |")
    for name in failed:
        print(f"FAILED: {name}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
