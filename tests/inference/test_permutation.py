"""Responses exchanged among equal scores: every exchange is counted as it should be."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import ecce_of_members
from samples import compare_groups
from secant._inference.permutation import exchanged
from secant._metrics.subgroup import compared_rows, stretches


def test_exchanges_stop_when_enough_are_as_extreme():
    """At 9,999 draws, or the hundredth that is as extreme."""
    member = np.arange(200) < 50
    far, near = (
        compare_groups(y, np.full(200, 0.5), member, method="monte-carlo")
        for y in (member, np.arange(200) % 2)
    )
    assert (far.ecce_r.method, far.ecce_r.draws) == ("upper bound", 9999)
    assert far.ecce_r.pvalue == pytest.approx(1e-4)
    assert near.ecce_r.method == "simulated"
    assert near.ecce_r.pvalue == pytest.approx(100 / near.ecce_r.draws)


# P-values from exchanged responses ----------------------------------------------------------------


def arrangements(y, member, stretch):
    """Every way to deal the responses of each stretch out to its rows."""
    rows = [np.flatnonzero(stretch == k) for k in np.unique(stretch)]
    dealt = [itertools.combinations(place, int(y[place].sum())) for place in rows]
    for parts in itertools.product(*dealt):
        outcome = np.zeros(len(y), int)
        outcome[list(itertools.chain(*parts))] = 1
        yield outcome


@pytest.mark.parametrize("w", [None, [1.0, 2.0, 1.5, 0.5, 1.0, 3.0, 1.0, 0.7, 1.2, 0.9]])
def test_exchanged_pvalues_are_the_enumerated_ones(w):
    """Three stretches of ten rows; all arrangements are equally likely."""
    p = np.array([0.1, 0.1, 0.1, 0.4, 0.4, 0.4, 0.4, 0.9, 0.9, 0.9])
    member = np.array([1, 0, 0, 1, 1, 0, 0, 1, 0, 0], bool)
    y = np.array([1, 0, 0, 1, 1, 0, 0, 1, 0, 1])
    dealt = [
        compare_groups(outcome, p, member, w, method="asymptotic")
        for outcome in arrangements(y, member, p)
    ]
    assert len(dealt) == 3 * 6 * 3
    result = compare_groups(y, p, member, w, method="monte-carlo")
    for name in ("ecce_r", "ecce_mad"):
        value = np.array([getattr(other, name).value for other in dealt])
        found = getattr(result, name)
        exact = np.mean(value >= found.value - 1e-9)
        # Early stopping makes p = h / l, whose relative error is about 1 / sqrt(h).
        assert found.method == "simulated"
        error = 5 * max(exact / 10, math.sqrt(exact * (1 - exact) / found.draws)) + 2e-4
        assert found.pvalue == pytest.approx(exact, abs=error)


class EveryOrder:
    """Deals in every possible way, one after the other, where a generator would draw one."""

    def hypergeometric(self, good, bad, taken, size):
        hands = [
            [sum(card < g for card in hand) for hand in itertools.combinations(range(g + b), t)]
            for g, b, t in zip(good, bad, taken, strict=True)
        ]
        return np.array(list(itertools.product(*hands))).reshape(size)

    def random(self, size):
        return np.array(list(itertools.permutations(np.arange(size[1]) / size[1]))).reshape(size)


@st.composite
def few_rows(draw, most):
    """One to three scores, each with members and others; both outcomes at the lowest score."""
    scores = draw(st.sampled_from([(0.4,), (0.1, 0.4), (0.1, 0.4, 0.9)]))
    sizes = [draw(st.integers(2, most // len(scores))) for _ in scores]
    member = np.concatenate([np.arange(size) < draw(st.integers(1, size - 1)) for size in sizes])
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=len(member), max_size=len(member))))
    y[sizes[0] - 1] = 1 - y[0]
    return y, np.repeat(scores, sizes), member


def check_every_exchange(data, w, ways):
    y, p, member = data
    rows = compared_rows(p, y == 1, member, w)
    found = exchanged(rows, stretches(rows), rng=EveryOrder(), draws=ways, enough=None)
    observed = ecce_of_members(y, p, member, w)[:2]
    dealt = np.array(
        [ecce_of_members(other, p, member, w)[:2] for other in arrangements(y, member, p)]
    )
    share = (dealt > np.array(observed) - 1e-9).mean(axis=0)
    for estimate, expected in zip(found, share, strict=True):
        assert estimate.log10 == math.log10((1 + round(expected * ways)) / (1 + ways))


@given(few_rows(most=8))
def test_every_exchange_is_counted_as_it_should_be(data):
    """No randomness is left: those as extreme are counted one by one, ties with the data too."""
    y, p, member = data
    groups = [p == score for score in np.unique(p) if 0 < y[p == score].mean() < 1]
    ways = math.prod(math.comb(rows.sum(), member[rows].sum()) for rows in groups)
    check_every_exchange(data, None, ways)


@given(few_rows(most=6), st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=6, max_size=6))
def test_every_exchange_of_weighted_rows_is_counted_as_it_should_be(data, weights):
    y, p, _ = data
    mixed = sum((p == score).sum() for score in np.unique(p) if 0 < y[p == score].mean() < 1)
    check_every_exchange(data, np.array(weights)[: len(y)], math.factorial(mixed))
