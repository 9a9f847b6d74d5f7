"""Where the extremes of the path will be: can a part of the rows tell?

    python benchmarks/extremes_study.py

Files of many rows are read twice: the second pass fetches the rows of the cells that could hold an
extreme. If those cells were known early, their rows could be kept in the first pass. After part of
the rows, the cells nearest to the extremes so far are kept; how often are the places of both final
extremes among them? Paths are simulated cell by cell, with the noise of uniform scores and a wave
of errors whose range is so many sigma; the seed is fixed, and the table is that of docs/studies.md.
"""

from __future__ import annotations

import numpy as np

CELLS = 1 << 14
SAMPLES = 400
EFFECTS = (0, 5, 20, 100, 1000)
PARTS = (1 / 16, 1 / 4, 1 / 2)
KEPT = (1 / 64, 1 / 16)


def sums(rng, part, drift, variance):
    """Return the path of a part of the rows, at the ends of cells."""
    return np.cumsum(part * drift + rng.normal(0, np.sqrt(part * variance)))


def held(part, kept, effect, rng):
    """Return the share of samples in which both places are among the cells kept."""
    x = (np.arange(CELLS) + 0.5) / CELLS
    variance = x * (1 - x) / np.sum(x * (1 - x))  # so that sigma is 1
    wave = np.sin(2 * np.pi * x)
    drift = effect * wave / np.ptp(np.cumsum(wave))
    each = int(CELLS * kept / 2)
    count = 0
    for _ in range(SAMPLES):
        early = sums(rng, part, drift, variance)
        final = early + sums(rng, 1 - part, drift, variance)
        order = np.argpartition(early, (each, CELLS - each))
        count += final.argmin() in order[:each] and final.argmax() in order[CELLS - each :]
    return count / SAMPLES


def main():
    rng = np.random.default_rng(0)
    print(
        "| both extremes are where rows are kept, in % | " + " | ".join(map(_named, PARTS)) + " |"
    )
    print("|---|" + "--:|" * len(PARTS))
    for effect in EFFECTS:
        for kept in KEPT:
            shares = [100 * held(part, kept, effect, rng) for part in PARTS]
            name = f"{effect:,} sigma, {_named(kept)} of the cells kept"
            print(
                f"| {name} | " + " | ".join(f"{share:.0f}" for share in shares) + " |", flush=True
            )


def _named(part):
    return f"1/{round(1 / part)}"


if __name__ == "__main__":
    main()
