"""Monitors made for tests."""

import numpy as np

from secant._inference.monitor_batches import RowBatch
from secant._inference.monitor_file import pack
from secant._inference.monitor_state import State


def rows(n, seed=0, power=1.0):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    return RowBatch(scores, rng.random(n) < scores**power)


def fed(*batches, alpha=0.05, tolerance=0.0):
    state = State.new(alpha, tolerance)
    for batch in batches:
        state = state.after(batch, None)
    return state


def same(one, other):
    assert pack(one) == pack(other)
