"""Time one point of the paper's convergence experiment: here, and the straightforward way.

    python benchmarks/paper_point.py              # n = 2^18
    python benchmarks/paper_point.py --log2-n 21  # the largest of the paper; a minute

The straightforward way is written from the description of the experiment, as a script for a paper
would do it: draw the responses one by one, walk over the rows and fill the bins, add up the
differences. Both must give the same numbers. Times are processor times of one process, so that
other work on the machine does not matter.
"""

from __future__ import annotations

import argparse
import math
import random
import time

import numpy as np

from secant.paper.experiments import Convergence

REALIZATIONS = 9
ROWS_A_BIN = 16


def probabilities(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the square-rooted scores and the success probabilities."""
    scores = np.sqrt((np.arange(1, n + 1) - 0.5) / n)
    stairs = []
    for j in range(n):
        digits = f"{round(j * 8**7 / n):07o}"
        binary = "".join("0" if digit == "0" else "1" for digit in digits)
        stairs.append(int(binary, 2) / 2**7 / (1 - 2**-7))
    departure = np.sort(stairs) - 1 + np.exp(-(np.e**2) * np.arange(n) / n)
    return scores, scores + departure


def binned(responses: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Return ECE^1 and ECE^2 for bins of sixteen rows, weighted by their widths."""
    n = len(scores)
    m = n // ROWS_A_BIN
    response_sums, score_sums, counts = np.zeros(m), np.zeros(m), np.zeros(m)
    starts = np.ones(m + 1)
    j = 0
    for row in range(n):
        if counts[j] == ROWS_A_BIN and j < m - 1:
            j += 1
        if counts[j] == 0:
            starts[j] = scores[row]
        response_sums[j] += responses[row]
        score_sums[j] += scores[row]
        counts[j] += 1
    gaps = np.abs(response_sums / counts - score_sums / counts)
    widths = starts[1:] - starts[:-1]
    return float((widths * gaps).sum()), float((widths * gaps**2).sum())


def cumulative(responses: np.ndarray, scores: np.ndarray) -> tuple[float, float, float]:
    """Return ECCE-MAD, ECCE-R and sigma."""
    n = len(scores)
    path = np.insert(np.cumsum(responses - scores), 0, 0) / n
    sigma = math.sqrt((scores * (1 - scores)).sum()) / n
    return float(np.abs(path).max()), float(path.max() - path.min()), sigma


def straightforward(n: int) -> dict[str, float]:
    """Compute one point, square-rooted scores, miscalibrated."""
    names = ("ece1", "ece2", "ecce_mad", "ecce_r", "ecce_mad_normalized", "ecce_r_normalized")
    sums = dict.fromkeys(names, 0.0)
    scores, chances = probabilities(n)
    generator = random.Random(987654321)
    for _ in range(REALIZATIONS):
        responses = np.zeros(n)
        for row in range(n):
            if generator.random() <= chances[row]:
                responses[row] = 1
        ece1, ece2 = binned(responses, scores)
        mad, spread, sigma = cumulative(responses, scores)
        values = (ece1, ece2, mad, spread, mad / sigma, spread / sigma)
        for name, value in zip(names, values, strict=True):
            sums[name] += value / REALIZATIONS
    return sums


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log2-n", type=int, default=18)
    n = 2 ** parser.parse_args().log2_n
    point = Convergence(n, "square rooted", calibrated=False)
    Convergence(4096, "square rooted", calibrated=False).run()  # the imports are not at issue

    start = time.process_time()
    ours = point.run()
    ours_time = time.process_time() - start
    start = time.process_time()
    reference = straightforward(n)
    reference_time = time.process_time() - start

    apart = max(abs(ours[name] / value - 1) for name, value in reference.items())
    assert apart < 1e-9, f"the two ways differ by a relative {apart:.1e}"
    print(f"n = {n:,}, {REALIZATIONS} realisations, {n // ROWS_A_BIN:,} bins")
    print(f"secant             {ours_time:8.2f} s")
    print(f"straightforward    {reference_time:8.2f} s")
    print(f"ratio              {reference_time / ours_time:8.1f}")
    print(f"largest relative difference {apart:.1e}")


if __name__ == "__main__":
    main()
