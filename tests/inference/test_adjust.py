"""Adjusted P-values against the definitions they abbreviate."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant import InputError
from secant._inference.adjust import ADJUSTMENTS, adjusted, adjusted_logs, benjamini_hochberg, holm
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
