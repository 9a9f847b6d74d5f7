"""Time one point of the paper's convergence experiment: here, and the straightforward way.

    python benchmarks/paper_point.py              # n = 2^18
    python benchmarks/paper_point.py --log2-n 21  # the largest of the paper; some minutes

The straightforward way is written from the description of the experiment, one observation at a
time in plain Python as a script for a paper would do it: draw the responses, walk over them and
fill the bins, walk over them and add up the differences. Both must give the same numbers.
"""

from __future__ import annotations

import argparse
import math
import random
import time

from secant.paper.experiments import Convergence

REALIZATIONS = 9
ROWS_A_BIN = 16


def probabilities(n: int) -> tuple[list[float], list[float]]:
    """Return the square-rooted scores and the success probabilities."""
    scores = [math.sqrt((k - 0.5) / n) for k in range(1, n + 1)]
    stairs = []
    for j in range(n):
        digits = f"{round(j * 8**7 / n):07o}"
        binary = "".join("0" if digit == "0" else "1" for digit in digits)
        stairs.append(int(binary, 2) / 2**7 / (1 - 2**-7))
    stairs.sort()
    chances = [
        score + stair - 1 + math.exp(-math.exp(2) * j / n)
        for j, (score, stair) in enumerate(zip(scores, stairs, strict=True))
    ]
    return scores, chances


def binned(responses: list[int], scores: list[float]) -> tuple[float, float]:
    """Return ECE^1 and ECE^2 for bins of sixteen rows, weighted by their widths."""
    n = len(scores)
    response_sums, score_sums, counts, starts = [], [], [], []
    for row in range(n):
        if row % ROWS_A_BIN == 0:
            response_sums.append(0.0)
            score_sums.append(0.0)
            counts.append(0)
            starts.append(scores[row])
        response_sums[-1] += responses[row]
        score_sums[-1] += scores[row]
        counts[-1] += 1
    starts.append(1.0)
    ece1 = ece2 = 0.0
    for j, count in enumerate(counts):
        gap = abs(response_sums[j] / count - score_sums[j] / count)
        ece1 += (starts[j + 1] - starts[j]) * gap
        ece2 += (starts[j + 1] - starts[j]) * gap**2
    return ece1, ece2


def cumulative(responses: list[int], scores: list[float]) -> tuple[float, float, float]:
    """Return ECCE-MAD, ECCE-R and sigma."""
    n = len(scores)
    total = lowest = highest = variance = 0.0
    for response, score in zip(responses, scores, strict=True):
        total += response - score
        lowest, highest = min(lowest, total), max(highest, total)
        variance += score * (1 - score)
    return max(highest, -lowest) / n, (highest - lowest) / n, math.sqrt(variance) / n


def straightforward(n: int) -> dict[str, float]:
    """Compute one point, square-rooted scores, miscalibrated."""
    names = ("ece1", "ece2", "ecce_mad", "ecce_r", "ecce_mad_normalized", "ecce_r_normalized")
    sums = dict.fromkeys(names, 0.0)
    scores, chances = probabilities(n)
    generator = random.Random(987654321)
    for _ in range(REALIZATIONS):
        responses = [1 if generator.random() <= chance else 0 for chance in chances]
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

    start = time.perf_counter()
    ours = point.run()
    ours_time = time.perf_counter() - start
    start = time.perf_counter()
    reference = straightforward(n)
    reference_time = time.perf_counter() - start

    apart = max(abs(ours[name] / value - 1) for name, value in reference.items())
    assert apart < 1e-9, f"the two ways differ by a relative {apart:.1e}"
    print(f"n = {n:,}, {REALIZATIONS} realisations, {n // ROWS_A_BIN:,} bins")
    print(f"secant             {ours_time:8.2f} s")
    print(f"straightforward    {reference_time:8.2f} s")
    print(f"ratio              {reference_time / ours_time:8.1f}")
    print(f"largest relative difference {apart:.1e}")


if __name__ == "__main__":
    main()
