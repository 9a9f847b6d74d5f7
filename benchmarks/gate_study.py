"""The gate near its tolerance: how often it fails a model that is truly so far off.

    python benchmarks/gate_study.py [--quick]

Scores are uniform in [0.2, 0.8], and the event happens more often than forecast by the same amount
everywhere, which is the true ECCE-R. Everything is simulated from fixed seeds; the numbers are
those of docs/cli.md.
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
    reps = 50 if parser.parse_args().quick else 2000
    print(f"{GATE}, {reps:,} samples each")
    print("    true        n   P small  too large  gate crossed  lower limit beyond tolerance")
    for true, n in CASES:
        chance, size, gate, limit = failures(true, n, reps if n <= 15_000 else reps // 4)
        print(f"{true:8g} {n:8,} {chance:9.1%} {size:10.1%} {gate:13.1%} {limit:29.1%}", flush=True)


if __name__ == "__main__":
    main()
