"""Tensors on a GPU against torch.sort, torchmetrics and reading them once.

    PYTHONPATH=src python benchmarks/gpu.py [largest power of ten, 9 if not given]

Prints the table of docs/benchmarks.md. A time is the best of several, from call to answer on the
host: `ecce_r`, which finds ECCE-R, ECCE-MAD and sigma exactly and checks every value, and a whole
`assess`. The reference sorts scores, gathers labels, adds up in doubles and takes maximum and
minimum, without any check; its ratio is to `ecce_r`. "of a read" is the time in which torch reads
the tensors once (`max`), as a share of that of `ecce_r`.
"""

import platform
import sys
import time

import torch
import torchmetrics

import secant

DEVICE = "cuda"
PIECE = 50_000_000
BETA = {"confident, Beta(5, .3)": (5.0, 0.3), "rare, Beta(1, 200)": (1.0, 200.0)}
KINDS = ("uniform", "a grid of .01", *BETA)


def drawn(kind, n, power):
    """Return labels in bytes and float32 scores."""
    torch.manual_seed(1)
    p = torch.empty(n, device=DEVICE)
    y = torch.empty(n, dtype=torch.uint8, device=DEVICE)
    for start in range(0, n, PIECE):
        size = min(PIECE, n - start)
        if kind in BETA:
            a, b = (torch.tensor(x, device=DEVICE) for x in BETA[kind])
            s = torch.distributions.Beta(a, b).sample((size,)).clamp(0, 1)
        else:
            s = torch.rand(size, device=DEVICE)
            s = s if kind == "uniform" else (s * 100).round() / 100
        p[start : start + size] = s
        chance = s.double() ** power
        y[start : start + size] = torch.rand(size, device=DEVICE, dtype=torch.float64) < chance
    return y, p


def best(work, times=5):
    """Return the shortest time in milliseconds, and what came out."""
    found = float("inf")
    for _ in range(times):
        torch.cuda.synchronize()
        start = time.perf_counter()
        answer = work()
        torch.cuda.synchronize()
        found = min(found, 1e3 * (time.perf_counter() - start))
    return found, answer


def by_sorting(y, p, w=None):
    """Return ECCE-R by hand."""
    scores, order = torch.sort(p)
    steps = y[order].double() - scores
    if w is not None:
        steps *= w[order]
    path = torch.cumsum(steps, 0)
    total = len(p) if w is None else float(w.sum(dtype=torch.float64))
    return float(path.max().clamp(min=0) - path.min().clamp(max=0)) / total


def at_ends_of_ties(y, p, w=None):
    """Return ECCE-R by hand, equal scores taken together."""
    scores, order = torch.sort(p)
    steps = y[order].double() - scores
    if w is not None:
        steps *= w[order]
    path = torch.cumsum(steps, 0)[torch.cat([scores[1:] != scores[:-1], scores[:1] >= 0])]
    total = len(p) if w is None else float(w.sum(dtype=torch.float64))
    return float(path.max().clamp(min=0) - path.min().clamp(max=0)) / total


def row(name, n, y, p, w=None):
    """Print a line of the table."""
    ours, found = best(lambda: secant.ecce_r(y, p, sample_weight=w))
    assert found == secant.ecce_r(y, p, sample_weight=w)
    whole, _ = best(lambda: secant.assess(y, p, sample_weight=w, method="asymptotic"), 3)
    torch.cuda.empty_cache()
    sort, _ = best(lambda: by_sorting(y, p, w), 3)
    torch.cuda.empty_cache()
    by_hand = at_ends_of_ties(y, p, w)
    assert abs(by_hand - found) < 1e-9, (by_hand, found)
    torch.cuda.empty_cache()
    tensors = [p, y] if w is None else [p, y, w]
    read, _ = best(lambda: [tensor.max() for tensor in tensors])
    binned = ""
    if w is None and n <= 10**8:
        error = torchmetrics.functional.classification.binary_calibration_error
        binned = f"{best(lambda: float(error(p, y.long(), n_bins=15)), 2)[0]:.1f} ms"
        torch.cuda.empty_cache()
    cells = [f"{each:.1f} ms" for each in (ours, whole, sort)]
    cells += [f"{ours / sort:.2f}", binned, f"{read / ours:.0%}"]
    print(f"| 1e{len(str(n)) - 1} | {name} | {' | '.join(cells)} |", flush=True)


def main():
    """Print the table."""
    versions = f"torch {torch.__version__}, CuPy {__import__('cupy').__version__}"
    print(f"{torch.cuda.get_device_name()}, {versions}, torchmetrics {torchmetrics.__version__}, ")
    print(f"Python {platform.python_version()}.\n")
    print(
        "| rows | scores | ecce_r | assess | torch.sort | ratio | torchmetrics' bins | of a read |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for power in range(6, int(sys.argv[1]) + 1 if len(sys.argv) > 1 else 10):
        n = 10**power
        for kind in KINDS:
            for effect in (1.05, 1.0):
                y, p = drawn(kind, n, effect)
                name = f"{kind}{', calibrated' if effect == 1 else ''}"
                row(name, n, y, p)
                if kind == "uniform":
                    w = torch.empty(n, device=DEVICE).log_normal_()
                    row(f"{name}, lognormal weights", n, y, p, w)
                    del w
                    p = p.double()
                    row(f"{name}, float64", n, y, p)
                del y, p
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
