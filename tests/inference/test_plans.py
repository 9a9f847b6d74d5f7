"""Plans: what a P-value costs, and what more work buys."""

import numpy as np
import pytest

from secant._blocks import grains
from secant._inference import chains, plans
from secant._inference.finite import certified_r, exact_mad, operations
from secant._inference.path import observe_grains
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

    def count(chain):
        cells = (chain.high - chain.low - 1).clip(0) * (
            1 if chain.entry is None else chain.entry.shape[1]
        )
        done.append(int((2 * cells).sum()))
        columns = 1 if chain.entry is None else chain.entry.shape[1]
        return np.full(columns, chains.SCALE)

    monkeypatch.setattr(chains, "absorbed", count)
    monkeypatch.setattr(chains, "either", lambda *both: np.sum([count(way) for way in both], 0))
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


@pytest.mark.parametrize("more", [0, 1])
def test_the_work_of_very_many_grains_is_counted_but_once(more, monkeypatch):
    """As a last resort, and not at every spacing, for it is never afforded but in pools."""
    monkeypatch.setattr(grains, "MANY_TIES", 1)
    rng = np.random.default_rng(14)
    ties = observed_table(rng, 0.004 * rng.random(3000), 0.0)
    path, _, span = observe_grains(grains.grind(grains.Ties(*ties), 1e-3))
    monkeypatch.setattr(plans, "_MANY_GRAINS", len(path) - more)
    monkeypatch.setattr(plans, "_KEYED", 0)
    whole = [plan for plan in plans.r_plans(path, span) if plan.path is path]
    assert len(path) > 100
    assert len(whole) == (1 if more else 1 + plans._MUCH_COARSER)
