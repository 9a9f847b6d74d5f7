"""Classes: what splitting by the true class does, and what Westfall and Young's adjustment gains.

    python benchmarks/classes_study.py [--quick]

Everything is simulated from fixed seeds; the numbers are those of docs/classes.md and of decision
record 006.
"""

from __future__ import annotations

import argparse

import numpy as np

import secant
from secant._inference.adjust import holm
from secant._inference.westfall_young import westfall_young


def chances(n, k, rng, spread=2.0):
    """Draw the probabilities of a model: a softmax of normal logits, some classes commoner."""
    logits = spread * rng.standard_normal((n, k)) + np.linspace(-1, 1, k)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def labels(p, rng):
    """Draw a label for each row: the model is perfectly calibrated."""
    return np.minimum((p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1), p.shape[1] - 1)


def splits(reps, n=2000, k=10):
    """Return how often the classes of a calibrated model are rejected at 5%, one by one."""
    rejected = {"predicted": [], "true": []}
    for rep in range(reps):
        rng = np.random.default_rng([1, rep])
        p = chances(n, k, rng)
        y = labels(p, rng)
        correct, confidence, predicted = secant.top_label(y, p)
        for name, by in (("predicted", predicted), ("true", y)):
            for c in range(k):
                rows = by == c
                result = secant.assess(correct[rows], confidence[rows])
                rejected[name].append(result.ecce_r.pvalue <= 0.05)
    return {name: (np.mean(found), len(found)) for name, found in rejected.items()}


def family_wise_error(reps, k, n=300, draws=199, level=0.05):
    """Return the share of calibrated models of which any class is rejected."""
    alarms = 0
    for rep in range(reps):
        rng = np.random.default_rng([2, k, rep])
        p = chances(n, k, rng)
        alarms += westfall_young(p, labels(p, rng), rng=rng, draws=draws).pvalues.min() <= level
    return alarms / reps


def power(reps, k, n, odds):
    """Return how often Westfall-Young and Holm find a class whose odds are told wrong.

    The model tells the odds of class 0 ``odds`` times too high; the other classes share what is
    left, so that they are off by little.
    """
    found = {"westfall-young": 0, "holm": 0}
    for rep in range(reps):
        rng = np.random.default_rng([3, k, rep])
        p = chances(n, k, rng)
        y = labels(p, rng)
        told = p.copy()
        told[:, 0] *= odds
        told /= told.sum(axis=1, keepdims=True)
        result = secant.assess_classes(y, told, kind="one-vs-rest", rng=rep)
        found["westfall-young"] += bool(result.failing)
        found["holm"] += holm([each.ecce_r.pvalue for each in result.values()]).min() <= 0.05
    return {adjust: count / reps for adjust, count in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few repetitions, to see it run")
    share = 0.05 if parser.parse_args().quick else 1
    print("Calibrated model, 10 classes, 2,000 rows; tests of single classes rejected at 5%")
    for name, (rate, tests) in splits(int(100 * share)).items():
        print(f"  rows split by {name} class: {rate:.1%} of {tests:,} tests")
    reps = int(4000 * share)
    error = 1.96 * np.sqrt(0.05 * 0.95 / reps)
    print(f"Family-wise error of Westfall-Young at 5%, 300 rows, 199 draws (+- {error:.2%})")
    for k in (5, 20):
        print(f"  {k} classes: {family_wise_error(reps, k):.2%} of {reps:,} calibrated models")
    reps = int(400 * share)
    print(f"Power at 5%: class 0 told at wrong odds, {reps} models each")
    for k, n, odds in ((2, 300, 1.5), (3, 300, 1.6), (10, 500, 2.0)):
        found = power(reps, k, n, odds)
        print(
            f"  {k} classes, {n:,} rows, odds x {odds:g}: Westfall-Young "
            f"{found['westfall-young']:.1%}, Holm {found['holm']:.1%}"
        )


if __name__ == "__main__":
    main()
