"""How long many groups take: `python benchmarks/groups.py`, in milliseconds a group and in sorts.

Time is that of the processor: whatever else a machine does is left out, and one core is at work
here. A sort is `np.lexsort` of all rows by group and score, in the same process. Each case is
measured a second time, when what is compiled is loaded; `--cold` measures the first time. A part of
a case's name measures that case alone.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import secant

CASES = {
    "20,000 groups of 10": np.full(20_000, 10),
    "20,000 groups of 14": np.full(20_000, 14),
    "2,000 groups of 50": np.full(2_000, 50),
    "2,000 groups of 50, ten scores": np.full(2_000, 50),
    "5,000 groups of 100": np.full(5_000, 100),
    "200 groups of 1,000": np.full(200, 1_000),
    "1,000 groups of 1 to 1,000": np.geomspace(1, 1_000, 1_000).astype(int),
}


def rows(case: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw calibrated outcomes of uniform scores, in groups, in any order."""
    rng = np.random.default_rng(14)
    sizes = CASES[case]
    n = int(sizes.sum())
    score = rng.random(n)
    if "ten scores" in case:
        score = (rng.integers(0, 10, n) + 0.5) / 10
    order = rng.permutation(n)
    happened = rng.random(n) < score
    return happened[order], score[order], np.repeat(np.arange(len(sizes)), sizes)[order]


def seconds(work: object, *given: object) -> float:
    """Return how long a call takes."""
    start = time.process_time()
    work(*given)  # type: ignore[operator]
    return time.process_time() - start


def main() -> None:
    """Measure every case."""
    print("| case | time | a group | sorts |\n|---|---|---|---|")
    wanted = [part for part in sys.argv[1:] if part != "--cold"]
    for case, sizes in CASES.items():
        if wanted and not any(part in case for part in wanted):
            continue
        happened, score, group = rows(case)
        took = seconds(secant.assess_by, happened, score, group)
        if "--cold" not in sys.argv:
            took = seconds(secant.assess_by, happened, score, group)
        sort = min(seconds(np.lexsort, (score, group)) for _ in range(3))
        each = 1e3 * took / len(sizes)
        print(f"| {case} | {took:.2f} s | {each:.3f} ms | {took / sort:.0f} |", flush=True)


if __name__ == "__main__":
    main()
