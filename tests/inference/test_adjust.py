"""Adjusted P-values against the definitions they abbreviate; the scale that tests share."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant import InputError
from secant._inference.adjust import (
    ADJUSTMENTS,
    Adjusted,
    StepDown,
    adjusted,
    adjusted_logs,
    benjamini_hochberg,
    bennett,
    holm,
    or_beyond,
    surprise,
)
from secant._input.options import Adjust, ClassAdjust, words

# Coarse values make ties; tiny ones, 0 and 1 are among them.
PVALUES = st.lists(
    st.one_of(
        st.floats(0, 1),
        st.sampled_from([0.0, 1e-320, 1e-300, 0.01, 0.02, 0.05, 0.5, 1.0]),
    ),
    max_size=8,
)


def closed_testing(p):
    """Reject i when every set of hypotheses that holds i is rejected by Bonferroni's test."""
    every = range(len(p))
    sets = list(chain.from_iterable(combinations(every, k + 1) for k in every))
    return [max(min(1, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in every]


def step_up(p):
    """Find the smallest level at which the step-up procedure rejects i, by trying all of them."""
    m = len(p)
    levels = sorted({min(1.0, p[j] * (m / rank)) for j in range(m) for rank in range(1, m + 1)})

    def rejected(level):
        # Multiplied as above, so that a level is not missed by a unit in the last place.
        ranks = [k for k in range(1, m + 1) if sorted(p)[k - 1] * (m / k) <= level]
        return sorted(p)[max(ranks) - 1] if ranks else -1.0

    return [min((lv for lv in levels if p[i] <= rejected(lv)), default=1.0) for i in range(m)]


@given(PVALUES)
def test_holm_is_closed_testing(p):
    np.testing.assert_allclose(holm(p), closed_testing(p), rtol=1e-15, atol=0)


@given(PVALUES)
def test_benjamini_hochberg_is_the_smallest_level_that_rejects(p):
    np.testing.assert_allclose(benjamini_hochberg(p), step_up(p), rtol=1e-15, atol=0)


@given(PVALUES.filter(len))
def test_benjamini_hochberg_agrees_with_scipy(p):
    stats = optional("scipy.stats")
    np.testing.assert_allclose(
        benjamini_hochberg(p), stats.false_discovery_control(p), rtol=1e-14, atol=1e-310
    )


@given(PVALUES, st.randoms(use_true_random=False))
def test_order_of_tests_does_not_matter(p, random):
    order = list(range(len(p)))
    random.shuffle(order)
    for adjust in (holm, benjamini_hochberg):
        np.testing.assert_array_equal(adjust([p[i] for i in order]), adjust(p)[order])


@given(PVALUES)
def test_adjusting_never_lowers_and_holm_asks_more(p):
    least, most = benjamini_hochberg(p), holm(p)
    assert (np.asarray(p) <= least).all()
    assert (least <= most * (1 + 1e-15)).all()
    assert (most <= 1).all()


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_one_test_or_none_needs_no_adjusting(adjust):
    assert adjust([0.03]) == 0.03
    assert adjust([]).shape == (0,)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_many_tests_and_an_untouched_input(adjust):
    p = np.random.default_rng(0).random(1000)
    before = p.copy()
    adjusted = adjust(p)
    np.testing.assert_array_equal(p, before)
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


def test_family_wise_error_is_kept():
    # 20,000 families of 21 true hypotheses: 5% give any false alarm (66% without adjusting).
    p = np.random.default_rng(1).random((20_000, 21))
    alarms = np.mean([holm(family).min() <= 0.05 for family in p])
    assert abs(alarms - (1 - (1 - 0.05 / 21) ** 21)) < 4 * np.sqrt(0.05 * 0.95 / 20_000)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize(
    ("pvalues", "message"),
    [
        ([0.1, float("nan")], r"got nan at index 1"),
        ([0.1, 0.2, 1.1], r"got 1.1 at index 2"),
        ([-1e-9], r"got -1e-09 at index 0"),
        ([[0.1, 0.2]], r"shape \(1, 2\)"),
        (0.1, r"shape \(\)"),
        (["small"], "must be numbers"),
        ([None, 0.5], "nan at index 0"),
    ],
)
def test_unusable_pvalues_are_refused(adjust, pvalues, message):
    with pytest.raises(InputError, match=message):
        adjust(pvalues)


def test_every_word_an_argument_takes_has_an_adjustment():
    assert tuple(ADJUSTMENTS) == words(ClassAdjust)
    assert set(words(Adjust)) == {name for name, each in ADJUSTMENTS.items() if each.function}


def test_adjusting_by_name():
    np.testing.assert_array_equal(adjusted("holm", [0.01, 0.04]), holm([0.01, 0.04]))


@pytest.mark.parametrize("adjust", ["holm", "benjamini-hochberg", "westfall-young"])
def test_logarithms_are_those_of_the_adjusted_and_go_on_where_doubles_end(adjust):
    p = np.array([1e-9, 0.2, 1e-12, 0.04, 1e-9, 1.0])
    same = holm(p) if adjust == "westfall-young" else adjusted(adjust, p)
    np.testing.assert_allclose(10.0 ** np.array(adjusted_logs(adjust, same, np.log10(p))), same)
    # The same tests with all P-values 10^-900 times as large, which adjustments are blind to.
    logs = np.log10(p[:5]) - 900
    smaller = adjusted_logs(adjust, np.zeros(5), logs)
    alone = adjusted_logs(adjust, np.zeros(5), logs + 890)
    np.testing.assert_allclose(smaller, np.array(alone) - 890)
    assert adjusted_logs(adjust, np.zeros(2), [-np.inf, -400.0])[0] == -np.inf


# From draws that all tests share ------------------------------------------------------------------


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
