"""Calibrated overall, and wrong for some: what assess alone cannot see
====================================================================

::

    python examples/segments_hidden.py

A model of whether a customer stays. For young customers in the north it is 12 points too high; for
everybody else a little too low, so that the whole comes out right: `assess` finds nothing.
`assess_segments` searches all kinds of customers, accounts for having done so, and names them.

Needs nothing but secant.
"""

# sphinx_gallery_thumbnail_path = "gallery/calibrated.png"

from __future__ import annotations

import numpy as np

import secant


def customers(n: int = 20_000, seed: int = 0) -> dict[str, np.ndarray]:
    """Make up customers, a forecast for each, and what happened."""
    rng = np.random.default_rng(seed)
    made = {
        "region": rng.choice(["north", "south", "east", "west"], n),
        "age": rng.integers(18, 78, n),
        "device": rng.choice(["phone", "tablet", "desktop"], n, p=[0.6, 0.1, 0.3]),
        "months": rng.exponential(20, n).round(1),
    }
    forecast = rng.uniform(0.2, 0.8, n)
    young = (made["region"] == "north") & (made["age"] < 30)
    off = np.where(young, -0.12, 0.12 * young.mean() / (1 - young.mean()))
    return {**made, "forecast": forecast, "stayed": rng.random(n) < forecast + off}


def main() -> None:
    """Assess the whole, then its segments."""
    data = customers()
    print(secant.assess("stayed", "forecast", data=data))
    print()
    features = ["region", "age", "device", "months"]
    print(secant.assess_segments("stayed", "forecast", data=data, features=features))


if __name__ == "__main__":
    main()
