"""Data of every kind: random, tied, skewed, degenerate, clustered, weighted."""

import numpy as np
from hypothesis import strategies as st

KINDS = {
    "uniform": lambda rng, n: rng.random(n),
    "float32": lambda rng, n: rng.random(n, dtype=np.float32),
    "tied": lambda rng, n: rng.integers(0, 11, n) / 10,
    "two values": lambda rng, n: rng.choice([0.3, 0.7], n),
    "one value": lambda rng, n: np.full(n, 0.3),
    "certain": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "skewed": lambda rng, n: rng.beta(0.05, 5, n),
    "confident": lambda rng, n: rng.beta(5, 0.3, n),
    "rare": lambda rng, n: rng.beta(1, 200, n),
    "half tied": lambda rng, n: np.where(rng.random(n) < 0.5, 0.3, rng.random(n)),
    "clusters": lambda rng, n: rng.choice([0.2, 0.7], n) + 1e-9 * rng.random(n),
    "narrow": lambda rng, n: 0.5 + 1e-12 * rng.random(n),
    "next doubles": lambda rng, n: 0.5 + np.spacing(0.5) * rng.integers(0, 5, n),
    "ends": lambda rng, n: rng.choice([0.0, 5e-324, 1e-300, 1 - 1e-16, 1.0, 0.5], n),
    "edges": lambda rng, n: rng.integers(0, 65, n) / 64,
}

WEIGHTS = {
    "none": lambda rng, n: None,
    "lognormal": lambda rng, n: rng.lognormal(0, 2, n),
    "some zero": lambda rng, n: np.append(rng.integers(0, 3, n - 1) * 0.1, 0.1),
    "equal": lambda rng, n: np.full(n, 0.1),
}


def draw_outcomes(rng, p):
    """Outcomes of forecasts that are right, or too high, or turned upside down."""
    chance = {0: p, 1: p**2, 2: 1 - p}[int(rng.integers(3))]
    return (rng.random(len(p)) < chance).astype(np.int64)


def make(kind, weight, n, seed):
    rng = np.random.default_rng(seed)
    p = KINDS[kind](rng, n)
    return draw_outcomes(rng, p), p, WEIGHTS[weight](rng, n)


@st.composite
def datasets(draw, *, weighted=True, most=300):
    """(y, p, w) of a drawn kind and size."""
    weight = draw(st.sampled_from(sorted(WEIGHTS) if weighted else ["none"]))
    kind = draw(st.sampled_from(sorted(KINDS)))
    return make(kind, weight, draw(st.integers(1, most)), draw(st.integers(0, 2**32)))
