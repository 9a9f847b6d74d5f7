"""The gate: what each of its limits lets pass, and how often it fails wrongly or misses.

    python benchmarks/gate_study.py [--quick]

First near the tolerance of ECCE-R: scores are uniform in [0.2, 0.8], and the event happens more
often than forecast by the same amount everywhere, which is the true ECCE-R. Then kinds of models,
each judged by every limit. Everything is simulated from fixed seeds; the numbers are those of
docs/gates.md.
"""

from __future__ import annotations

import argparse

import numpy as np

import secant
from secant._results.gate import Gate

GATE = Gate(alpha=0.01, max_ecce_r=0.02)
# True ECCE-R and number of predictions.
CASES = (
    *((0.018, n) for n in (5_000, 15_000, 50_000, 150_000)),
    *((true, 15_000) for true in (0.0, 0.01, 0.02, 0.025, 0.03, 0.04)),
)

ALPHA = 0.01
LIMITS = {
    "max_ecce_r 0.02": Gate(ALPHA, max_ecce_r=0.02),
    "max_miscalibration 0.05": Gate(ALPHA, max_miscalibration=0.05),
    "within 0.02": Gate(ALPHA, within=0.02),
}
# How much more often than forecast the event happens at a score; scores uniform in [0.1, 0.9].
MODELS = {
    "calibrated": lambda p: 0 * p,
    "1 point everywhere": lambda p: 0.01 + 0 * p,
    "2 points everywhere": lambda p: 0.02 + 0 * p,
    "5 points everywhere": lambda p: 0.05 + 0 * p,
    "wave of 5 points, 8 lobes": lambda p: 0.05 * np.sin(10 * np.pi * (p - 0.1)),
    "wave of 10 points, 8 lobes": lambda p: 0.1 * np.sin(10 * np.pi * (p - 0.1)),
    "50 points on 3%": lambda p: 0.5 * ((p > 0.3) & (p < 0.324)),
    "20 points on 3%": lambda p: 0.2 * ((p > 0.3) & (p < 0.324)),
}


def crossings(model, n, reps):
    """Return how often each limit is crossed, and of the last how often for want of data."""
    found = np.zeros(len(LIMITS) + 1)
    for rep in range(reps):
        rng = np.random.default_rng([n, list(MODELS).index(model), rep])
        scores = rng.uniform(0.1, 0.9, n)
        outcomes = rng.random(n) < scores + MODELS[model](scores)
        level = 1 - ALPHA
        result = secant.assess(outcomes, scores, method="asymptotic", confidence_level=level)
        stands = [gate.judge(result) for gate in LIMITS.values()]
        found[:-1] += [stand.crossed for stand in stands]
        found[-1] += stands[-1].judgements[0].answer == "not enough data"
    return found / reps


def failures(true, n, reps):
    """Return how often each half of the rule holds, how often both do, and the lower limit's."""
    found = np.zeros(4)
    for rep in range(reps):
        rng = np.random.default_rng([n, int(1e6 * true), rep])
        scores = rng.uniform(0.2, 0.8, n)
        outcomes = rng.random(n) < scores + true
        level = GATE.confidence_level
        result = secant.assess(outcomes, scores, method="asymptotic", confidence_level=level)
        ecce_r = result.ecce_r
        found += (
            ecce_r.pvalue <= GATE.alpha,
            ecce_r.value > GATE.max_ecce_r,
            GATE.crossed(result),
            ecce_r.ci[0] > GATE.max_ecce_r,
        )
    return found / reps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few repetitions, to see it run")
    quick = parser.parse_args().quick
    reps = 50 if quick else 2000
    print(f"alpha {GATE.alpha}, max_ecce_r {GATE.max_ecce_r}, {reps:,} samples each")
    print("    true        n   P small  too large  gate crossed  lower limit beyond tolerance")
    for true, n in CASES:
        chance, size, gate, limit = failures(true, n, reps if n <= 15_000 else reps // 4)
        print(f"{true:8g} {n:8,} {chance:9.1%} {size:10.1%} {gate:13.1%} {limit:29.1%}", flush=True)
    columns = " | ".join([*LIMITS, "for want of data"])
    print(f"\nalpha {ALPHA}\n\n| model | n | samples | {columns} |\n|---|{'--:|' * 6}")
    for model in MODELS:
        for n in (2_000, 20_000, 100_000):
            reps = 10 if quick else 400 if n < 100_000 else 100
            cells = " | ".join(f"{rate:.1%}" for rate in crossings(model, n, reps))
            print(f"| {model} | {n:,} | {reps:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
