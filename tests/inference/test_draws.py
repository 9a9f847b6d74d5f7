"""Draws: how many, when they are enough, and what they give."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._base.progress import showing
from secant._inference.draws import (
    DRAWS,
    ENOUGH,
    FEWEST_DRAWS,
    FEWEST_REDRAWS,
    PValue,
    Tally,
    count,
    same_every_time,
)


def test_without_a_generator_draws_are_the_same():
    assert same_every_time(None).random() == same_every_time(None).random()


def test_a_generator_given_is_used():
    ours = np.random.default_rng(5)
    assert same_every_time(ours) is ours


def test_early_stopping_leaves_a_valid_pvalue_at_every_number():
    # (1 + b) / (1 + B) reaches the usual levels exactly.
    assert ENOUGH < FEWEST_REDRAWS < FEWEST_DRAWS < DRAWS
    assert (1 + FEWEST_DRAWS) % 1000 == (1 + DRAWS) % 1000 == (1 + FEWEST_REDRAWS) % 200 == 0


def by_hand(values, limit, enough):
    """Go through draws one by one: Besag and Clifford's P-value."""
    exceedances = 0
    for draw, value in enumerate(values, 1):
        exceedances += value >= limit
        if exceedances == enough:
            return enough / draw, exceedances, draw
    return (1 + exceedances) / (1 + len(values)), exceedances, len(values)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30),
    st.sampled_from([None, 1, 2, 5]),
    st.integers(1, 7),
)
def test_a_tally_counts_as_one_does_draw_by_draw(values, enough, batch):
    values = np.array(values, float)
    tally = Tally([1.0, 3.0], enough)
    for start in range(0, len(values), batch):
        tally.add(values[start : start + batch])
    for found, column, limit in zip(tally.found(), values.T, (1.0, 3.0), strict=True):
        pvalue, exceedances, draws = by_hand(column, limit, enough)
        method = "simulated" if exceedances else "upper bound"
        assert found == PValue(math.log10(pvalue), method, draws)
    assert tally.enough == all(each == enough for each in tally.exceedances)


def test_drawing_stops_when_every_statistic_has_enough():
    values = iter(np.column_stack([np.ones(50), np.arange(50) >= 20]))
    made = []
    tally = Tally([1.0, 1.0], 3)
    with showing(lambda *pair: made.append(pair)):
        tally.fill(lambda some: np.array([next(values) for _ in range(some)]), draws=50, batch=10)
    assert made == [(10, 50), (20, 50), (30, 50)]
    assert tally.draws.tolist() == [3, 23]
    assert tally.pvalues().tolist() == [1.0, 3 / 23]


def test_a_batch_is_one_draw_at_least_and_no_more_than_are_left():
    asked = []

    def statistics(some):
        asked.append(some)
        return np.zeros((some, 1))

    Tally([1.0]).fill(statistics, draws=3, batch=0)
    Tally([1.0]).fill(statistics, draws=5, batch=3)
    assert asked == [1, 1, 1, 3, 2]


@pytest.mark.parametrize("cost", [0.5, 40.0, 1e9])
def test_what_a_path_costs_changes_no_draw_of_normal_steps(cost):
    def paths(rng, draws):
        return np.cumsum(rng.standard_normal((draws, 40)), axis=1)

    def found(cost):
        rng = np.random.default_rng(3)
        return count(paths, (12.0, 15.0), rng=rng, cost=cost, draws=600, enough=30)

    assert found(cost) == found(7.0)
