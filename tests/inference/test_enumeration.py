"""Exact P-values of few observations, against fractions and against what chains bound."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._inference import enumeration
from secant._inference.enumeration import MOST
from secant._inference.finite import certified_r, exact_mad
from ties import as_table, close, table, tables


def log10_pvalues(some, ends=None):
    return enumeration.log10_pvalues([(*each, ends) for each in some])


def oracle(score, n, n1, ends=None):
    """Return both P-values in exact arithmetic, from one outcome after the other."""
    read = range(len(n)) if ends is None else ends

    def extremes(outcome):
        path = [Fraction(0)]
        for s, size, successes in zip(score, n, outcome, strict=True):
            path.append(path[-1] + int(successes) - int(size) * Fraction(float(s)))
        path = [path[0], *(path[1 + end] for end in read)]
        return max(path) - min(path), max(map(abs, path))

    def chance(outcome):
        return math.prod(
            math.comb(size, j) * Fraction(float(s)) ** j * (1 - Fraction(float(s))) ** (size - j)
            for s, size, j in zip(score, n.tolist(), outcome, strict=True)
        )

    seen = extremes(n1)
    ulp = 4 * Fraction(math.ulp(math.fsum(n * score)))
    outcomes = [
        (extremes(each), chance(each)) for each in itertools.product(*(range(k + 1) for k in n))
    ]
    return [
        sum(p for values, p in outcomes if values[i] >= seen[i] * (1 - Fraction(1e-12)) - ulp)
        for i in (0, 1)
    ]


@given(tables(most=7))
def test_every_outcome_counts_with_its_chance(ties):
    expected = oracle(*ties)
    (found,) = log10_pvalues([ties])
    if found is None:
        assert min(expected) < 1e-240
    else:
        assert all(map(close, found, expected))


@given(tables(most=7), st.data())
def test_steps_may_hold_several_scores(ties, data):
    """All outcomes branch, and the path is read where steps end."""
    inside = st.sets(st.integers(0, len(ties[0]) - 1))
    ends = np.array(sorted(data.draw(inside) | {len(ties[0]) - 1}))
    order = np.array(data.draw(st.permutations(range(len(ties[0])))))
    ties = tuple(column[order] for column in ties)
    expected = oracle(*ties, ends.tolist())
    (found,) = log10_pvalues([ties], ends)
    if found is None:
        assert min(expected) < 1e-240
    else:
        assert all(map(close, found, expected))


@given(st.lists(tables(most=8), min_size=1, max_size=12))
def test_together_is_as_one_by_one(some):
    """Bit for bit."""
    for found, ties in zip(log10_pvalues(some), some, strict=True):
        assert log10_pvalues([ties]) == [found]


@pytest.mark.parametrize("seed", range(20))
def test_chains_bound_what_is_found(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, MOST + 1))
    scores = rng.random(rows).round(1 + seed % 3)
    ties = table(scores, rng.random(rows) < scores**2)
    ((r, mad),) = log10_pvalues([ties])
    bracket = certified_r(*ties)
    assert bracket.low - 1e-13 <= r <= bracket.high + 1e-13
    assert mad == pytest.approx(exact_mad(*ties).high, abs=1e-13)


def test_more_tables_than_are_gone_through_together(monkeypatch):
    rng = np.random.default_rng(1)
    score = np.sort(rng.random((50, 6)), axis=1)
    one = np.ones(6, int)
    some = [(row, one, rng.integers(0, 2, 6)) for row in score]
    expected = log10_pvalues(some)
    monkeypatch.setattr(enumeration, "_TOGETHER", 1)
    assert log10_pvalues(some) == expected


def test_nothing_that_could_happen_is_likelier_than_all_of_it():
    even = as_table([0.1, 0.2, 0.7], [2, 5, 7], [0, 1, 5])
    (found,) = log10_pvalues([even])
    assert max(found) <= 0.0


def test_what_is_next_to_impossible_is_left_to_chains():
    assert log10_pvalues([as_table([1e-200, 1e-199], [1, 1], [1, 1])]) == [None]
    assert log10_pvalues([]) == []
