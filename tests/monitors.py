"""Monitors made for tests."""

from datetime import date, timedelta

import numpy as np

from secant import Monitor
from secant._inference.monitor_file import pack
from secant._inference.monitor_state import RowBatch, State


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


def watched(days=30, change=15, power=1.3, *, seed=0, n=800, name=None, **options):
    monitor, rng = Monitor(**options), np.random.default_rng(seed)
    for day in range(days):
        scores = rng.random(n)
        chance = scores if day < change else scores**power
        time = date(2026, 1, 1) + timedelta(day) if name is None else name(day)
        monitor.add(rng.random(n) < chance, scores, time=time)
    return monitor
