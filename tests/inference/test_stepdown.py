"""The step-down maximum, and the scale on which tests are compared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant._inference.stepdown import Adjusted, StepDown, bennett, or_beyond, surprise


def by_hand(observed, draws):
    """Compare each test with the largest among it and those less extreme, one after the other."""
    order = sorted(range(len(observed)), key=lambda i: -observed[i])
    pvalues, least = {}, 0.0
    for place, test in enumerate(order):
        beyond = sum(max(draw[i] for i in order[place:]) >= observed[test] for draw in draws)
        least = max(least, (1 + beyond) / (1 + len(draws)))
        pvalues[test] = least
    return [pvalues[test] for test in range(len(observed))]


rows = st.lists(st.integers(0, 5).map(float), min_size=3, max_size=3)


@given(rows, st.lists(rows, min_size=1, max_size=12))
def test_pvalues_are_those_of_the_step_down_maximum(observed, draws):
    tally = StepDown(np.array(observed), np.array(observed), enough=None)
    for draw in draws:
        tally.add(np.array([draw]))
    assert tally.result().pvalues.tolist() == by_hand(observed, draws)
    assert tally.result().draws == len(draws)


def test_it_is_enough_when_the_most_extreme_test_has_enough():
    observed = np.array([1.0, 3.0, 2.0])
    tally = StepDown(observed, observed, enough=2)
    tally.add(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]))
    assert not tally.enough
    tally.add(np.array([[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]]))
    assert tally.enough
    adjusted = tally.result()
    assert adjusted.draws == 4
    assert adjusted.pvalues.tolist() == [1.0, 0.5, 0.5]  # the last would have 2/6


def test_other_pvalues_count_below_what_draws_can_tell():
    drawn = Adjusted(np.array([1, 2, 2]) / 100, 99)
    assert or_beyond(drawn, np.array([3e-9, 3e-9, 0.5])).tolist() == [3e-9, 0.02, 0.02]
    assert or_beyond(drawn, np.array([0.5, 0.5, 0.5])).tolist() == [0.01, 0.02, 0.02]


def test_bennetts_function_has_no_seam_and_no_cancellation():
    u = np.array([0.0, 1e-9, 1e-4, 0.0099999, 0.0100001, 0.1, 0.4, 0.5, 30.0])
    mpmath = optional("mpmath")
    with mpmath.workdps(50):
        expected = [float((1 + mpmath.mpf(x)) * mpmath.log(1 + mpmath.mpf(x)) - x) for x in u]
    np.testing.assert_allclose(bennett(u), expected, rtol=2e-13)


def test_small_ranges_are_in_standard_deviations_and_units_do_not_matter():
    span, variance, unit = np.array([0.3, 3.0, 30.0]), np.full(3, 1e4), np.ones(3)
    assert surprise(span, variance, unit) == pytest.approx(span / 100, rel=1e-2)
    assert surprise(7 * span, 49 * variance, 7 * unit) == pytest.approx(
        surprise(span, variance, unit), rel=1e-12
    )


def test_where_nothing_can_vary_anything_is_a_surprise():
    none = np.zeros(2)
    assert surprise(np.array([0.0, 1e-9]), none, np.ones(2)).tolist() == [0.0, np.inf]
