"""P-values of 5,000 fixed designs: what a change of the algorithms does to them.

    python benchmarks/pvalue_designs.py --save FILE       # before the change
    python benchmarks/pvalue_designs.py --compare FILE    # after it

The designs are the same every time: 2 to 100,000 predictions, scores spread out, skewed, U-shaped,
rare, rounded or few, calibrated or off, with and without weights, by score and in other orders.
``--compare`` prints the ratios of new to old P-values, by size and by how each was obtained.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings

import numpy as np

import secant

DESIGNS = 5000
SIZES = (2, 13, 100, 301, 3_000, 30_000, 100_001)
# How often each size comes: large ones are few, as they take long.
OFTEN = (0.1, 0.2, 0.15, 0.25, 0.18, 0.12)
KINDS = {"none": 0.6, "weights": 0.2, "copies": 0.05, "order": 0.1, "outcomes": 0.05}
SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "skewed": lambda rng, n: rng.beta(1, rng.choice([4, 19]), n),
    "U-shaped": lambda rng, n: rng.beta(0.2, 0.2, n),
    "rare": lambda rng, n: rng.beta(1, rng.choice([200, 5000]), n),
    "rounded": lambda rng, n: np.round(rng.beta(1, 2, n), rng.choice([1, 2])),
    "few": lambda rng, n: rng.choice(rng.random(rng.integers(1, 6)), n),
    "near 1/2": lambda rng, n: 0.5 + 0.01 * rng.normal(size=n).clip(-9, 9),
}


def design(number):
    """Return outcomes, scores and further arguments."""
    rng = np.random.default_rng([27, number])
    size = int(rng.choice(len(OFTEN), p=OFTEN))
    low, high = SIZES[size], SIZES[size + 1]
    n = int(np.exp(rng.uniform(np.log(low), np.log(high))))
    p = SCORES[str(rng.choice(list(SCORES)))](rng, n)
    off = rng.choice([0, 0, 0.1, 0.5, 2]) * min(1, (300 / n) ** 0.5) * rng.normal()
    logit = np.log(np.maximum(p, 1e-300)) - np.log1p(-np.minimum(p, 1 - 1e-16))
    truth = np.where((p > 0) & (p < 1), 1 / (1 + np.exp(-np.clip(logit + off, -700, 700))), p)
    y = rng.random(n) < truth
    more = {}
    kind = rng.choice(
        ["none", "weights", "copies", "order", "outcomes"], p=[0.6, 0.2, 0.05, 0.1, 0.05]
    )
    if kind == "weights":
        more["sample_weight"] = rng.lognormal(0, rng.choice([0.01, 0.3, 1, 2]), n)
    elif kind == "copies":
        more |= {"sample_weight": rng.integers(1, 6, n), "weight_kind": "frequency"}
    elif kind == "order":
        more["order_by"] = rng.integers(0, max(2, n // rng.choice([1, 5])), n).astype(float)
    elif kind == "outcomes":
        more["outcome_weights"] = (float(rng.choice([2, 20])), 1.0)
    return y.astype(int), p, more


def assessed(number):
    """Return size, log10 P-values, and how they were obtained."""
    y, p, more = design(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = secant.assess(y, p, **more)
    both = found.ecce_r, found.ecce_mad
    kind = next(iter(more), "none")
    return (
        len(p),
        kind,
        [each.log10_pvalue for each in both],
        [str(each.method).split(",")[0] for each in both],
    )


def everything(designs):
    start = time.process_time()
    rows = []
    for number in range(designs):
        rows.append(assessed(number))
        if number % 500 == 499:
            print(f"{number + 1}: {time.process_time() - start:.0f} s", file=sys.stderr)
    n, kind, log10, how = zip(*rows, strict=True)
    return {
        "n": np.array(n),
        "kind": np.array(kind),
        "log10": np.array(log10),
        "how": np.array(how),
    }


def show(old, new):
    ratios = " | lowest | median | highest |"
    names = f"ECCE-R: P-values{ratios} ECCE-MAD: P-values{ratios}"
    print(f"| predictions | before | now | {names}")
    print("|--:|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    how = np.char.add(np.char.add(old["how"], " | "), new["how"])
    for low, high in itertools.pairwise(SIZES):
        sized = (old["n"] >= low) & (old["n"] < high)
        for name in np.unique(how[sized]):
            cells = []
            for which in range(2):
                pair = old["log10"][:, which], new["log10"][:, which]
                # Before, P-values below 1e-300 were not told apart.
                known = sized & (how[:, which] == name) & (pair[0] > -300)
                change = 10.0 ** (pair[1] - pair[0])[known]
                cells.append(f"{len(change):,}")
                cells += (
                    [f"{f(change):.3g}" for f in (np.min, np.median, np.max)]
                    if len(change)
                    else [""] * 3
                )
            print(f"| {low:,} to {high - 1:,} | {name} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save")
    parser.add_argument("--compare")
    parser.add_argument("--designs", type=int, default=DESIGNS)
    options = parser.parse_args()
    found = everything(options.designs)
    if options.save:
        np.savez(options.save, **found)
    if options.compare:
        with np.load(options.compare) as old:
            show({name: old[name][: options.designs] for name in found}, found)


if __name__ == "__main__":
    main()
