"""Many small tables at once: each has the P-values of full enumeration, whatever its neighbours."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant._base.progress import showing
from secant._inference import chains_numba, enumeration, many
from secant._inference.finite import certified_r, exact_mad
from secant._inference.many import log10_pvalues
from ties import as_table, observed_table, tables


def agree(found, expected):
    assert (found is None) is (expected is None)
    if found is not None and expected is not None:
        assert found == pytest.approx(expected, rel=0, abs=1e-12)


@given(st.lists(tables(), min_size=1, max_size=5))
def test_every_outcome_counts_once(some):
    """What takes no chain is told elsewhere; all else is as if outcomes were gone through."""
    some = [each for each in some if many.suit(each[1])]
    listed = enumeration.log10_pvalues([(*each, None) for each in some])
    for ties, found, expected in zip(some, log10_pvalues(some), listed, strict=True):
        if found is not None and expected is not None:
            agree(found, expected)
        elif found is None:
            random = (ties[0] > 0) & (ties[0] < 1)
            brackets = certified_r(*ties), exact_mad(*ties)
            known = random.sum() < 2 or any(b.high in {0.0, -300.0, -math.inf} for b in brackets)
            assert known


def some_tables(count=60):
    """Draw tables of 2 to 250 rows, with scores of every kind and outcomes more or less so."""
    rng = np.random.default_rng(count)
    for number in range(count):
        n = int(rng.integers(2, 250))
        scores = [
            rng.random(n),
            rng.beta(1, 30, n),
            rng.random(n).round(1),
            rng.choice([0.0, 0.2, 0.75, 1.0], n),
            rng.beta(0.2, 0.2, n),
            np.full(n, 0.5) + 0.25 * (np.arange(n) % 2),
        ][number % 6]
        ties = observed_table(rng, scores, rng.choice([0.0, 0.0, 0.1, -0.2, 0.6]))
        if many.suit(ties[1]):
            yield ties


def test_chains_run_one_by_one_agree():
    some = list(some_tables())
    chained = 0
    for ties, found in zip(some, log10_pvalues(some), strict=True):
        if found is not None:
            chained += 1
            agree(found, (certified_r(*ties).high, exact_mad(*ties).high))
    assert chained > 40


def test_neighbours_change_nothing(monkeypatch):
    """Bit for bit, in any order and however many are described together."""
    some = list(some_tables())
    found = log10_pvalues(some)
    assert log10_pvalues(some[::-1])[::-1] == found
    assert [log10_pvalues([each])[0] for each in some] == found
    monkeypatch.setattr(many, "_TOGETHER", 7)
    assert log10_pvalues(some) == found


def test_compiled_code_as_it_stands_agrees(monkeypatch):
    some = [ties for ties in some_tables(40) if ties[1].sum() < 70]
    run = chains_numba.run
    monkeypatch.setattr(chains_numba, "_compiled", lambda: chains_numba.absorb)
    asked = []
    monkeypatch.setattr(chains_numba, "run", lambda *given: asked.append(given) or run(*given))
    for found, expected in zip(log10_pvalues(some, fast=True), log10_pvalues(some), strict=True):
        agree(found, expected)
    assert asked


def test_numba_has_the_same_numbers():
    optional("numba")
    some = list(some_tables())
    quick = log10_pvalues(some, fast=True)
    for found, expected in zip(quick, log10_pvalues(some), strict=True):
        agree(found, expected)
    assert log10_pvalues(some[:1], fast=True) == quick[:1]


@pytest.mark.parametrize(
    "ties",
    [
        as_table([0.0, 1.0], [1, 1], [0, 1]),  # nothing is random
        as_table([0.0, 0.5], [1, 1], [0, 1]),  # one score is
        as_table([0.0, 0.2, 0.4], [3, 1, 1], [3, 0, 0]),  # forbidden, and not so far otherwise
        as_table([1e-200, 2e-200], [2, 2], [2, 2]),  # next to impossible
    ],
)
def test_what_takes_no_chain_is_left_to_others(ties):
    assert log10_pvalues([ties, ties]) == [None, None]


def test_tables_that_suit():
    assert many.suit(np.array([64, 1]))
    assert not many.suit(np.array([65, 1]))
    assert not many.suit(np.array([5]))


def test_it_is_told_how_far_it_is(monkeypatch):
    monkeypatch.setattr(many, "_TOGETHER", 2)
    told = []
    with showing(lambda done, total: told.append((done, total))):
        log10_pvalues([as_table([0.3, 0.6], [2, 2], [1, 1])] * 5)
    assert told == [(2, 5), (4, 5), (5, 5)]
    assert log10_pvalues([]) == []


def test_work_grows_with_scores_and_observations():
    assert many.work_of(10, 100) < many.work_of(100, 100) < many.work_of(100, 200)
