"""Plans: what a P-value costs, and what more work buys."""

import numpy as np
import pytest

from secant._inference import chains, plans
from secant._inference.finite import certified_r, exact_mad, operations
from ties import observed_table


def test_a_budget_buys_tighter_bounds():
    rng = np.random.default_rng(12)
    ties = observed_table(rng, rng.random(2000), 0.05)
    least = operations(*ties, "r")
    widths = []
    for budget in (0, least, 2 * least, 10**12):
        bracket = certified_r(*ties, budget=budget)
        widths.append(bracket.high - bracket.low)
    assert widths[0] == widths[1] >= widths[2] >= widths[3] > 0
    assert widths[0] > 2 * widths[3]


def test_operations_count_what_is_done(monkeypatch):
    """Multiplications of the chains that are run, from the chains themselves."""
    done = []

    def count(chain, marks):
        cells = (chain.high - chain.low - 1).clip(0) * (
            1 if chain.entry is None else chain.entry.shape[1]
        )
        done.append(int((2 * cells).sum()))
        columns = 1 if chain.entry is None else chain.entry.shape[1]
        return np.full((len(marks), columns), chains.SCALE)

    monkeypatch.setattr(chains, "absorbed", count)
    rng = np.random.default_rng(13)
    for n in (1000, 5000):
        ties = observed_table(rng, rng.random(n), 0.05)
        exact_mad(*ties, fast=False)
        charge = n * plans.STEP_MAD
        assert operations(*ties, "exact-mad") - charge == pytest.approx(done.pop(), rel=0.02)
        certified_r(*ties, budget=0, fast=False)
        charge = 2 * n * plans.STEP_R
        assert operations(*ties, "r") - charge == pytest.approx(done.pop() + done.pop(), rel=0.02)
        assert not done
