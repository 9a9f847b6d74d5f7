"""Assess a file of predictions: the paper's synthetic set, n = 32768, square-rooted scores.

Writes the predictions to ``out/predictions.csv``, reads them back as anybody's file would be read,
and prints the verdict.
"""

from pathlib import Path

import numpy as np

import secant
from secant.paper import synthetic


def write_predictions(path: Path) -> None:
    """Write the paper's synthetic predictions as a table with a header."""
    scores = synthetic.scores(32768, "square rooted")
    responses = synthetic.responses(32768, "square rooted")[0]
    path.parent.mkdir(exist_ok=True)
    np.savetxt(
        path,
        np.column_stack([responses, scores]),
        fmt=["%d", "%.17g"],
        delimiter=",",
        header="happened,forecast",
        comments="",
    )


def main() -> None:
    """Write, read, assess, print."""
    path = Path("out") / "predictions.csv"
    write_predictions(path)
    happened, forecast = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
    result = secant.assess(happened, forecast)
    ece = result.ece(n_bins=15)

    print(f"{path}: {len(forecast):,} predictions\n")
    print(result)
    print("\nAny range of scores can be asked for; the limits stay valid after looking:")
    for low, high in ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)):
        print(f"  {result.between(low, high)}")
    print(
        f"\nThe binned ECE with 15 bins is {ece.value:.3g}; noise alone would give "
        f"{ece.noise_floor:.3g}. With 1,024 bins it is "
        f"{result.ece(n_bins=1024).value:.3g}, and noise gives "
        f"{result.ece(n_bins=1024).noise_floor:.3g}."
    )


if __name__ == "__main__":
    main()
