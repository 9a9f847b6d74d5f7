"""Random draws: how many, when they are enough, and what a P-value from them is called."""

from __future__ import annotations

import numpy as np

__all__ = ["DRAWS", "ENOUGH", "FEWEST_DRAWS", "by_draws", "same_every_time"]

# Draws of a Monte Carlo P-value; drawing stops when so many are at least as extreme.
DRAWS = 9999
ENOUGH = 100
# What is left of them where each draw takes long.
FEWEST_DRAWS = 999


def same_every_time(rng: np.random.Generator | None) -> np.random.Generator:
    """Return the generator given, or one that makes the same draws in every run."""
    return np.random.default_rng(0) if rng is None else rng


def by_draws(draws: int) -> str:
    """Say how a P-value was obtained from so many draws."""
    return f"Monte Carlo, {draws:,} draws"
