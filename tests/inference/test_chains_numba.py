"""The kernel that numba compiles has the numbers of the numpy kernel."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given

from helpers import optional
from secant._inference import chains, chains_numba
from secant._inference.finite import BUDGET, certified_mad, certified_r, exact_mad
from secant._inference.path import observe
from secant.errors import MissingExtraError
from ties import any_chain, as_table, close, every_chain, every_pair, random_ties, tables


@given(tables())
def test_python_and_compiled_code_are_one(ties):
    """The kernel that numba compiles, run as it stands, has the numbers of the numpy kernel."""
    path, c, span = observe(*ties)
    if len(path) == 0 or not 0 < c <= span:
        return
    for chain in every_chain(path, c, span):
        numpy = chains.absorbed(chain)
        python = chains_numba.run(chains_numba.absorb, [chain])[0]
        assert np.allclose(python, numpy, rtol=1e-13, atol=0)
    for pair in every_pair(path, span):
        python = chains.of_either(chains_numba.run(chains_numba.absorb, pair))
        assert np.allclose(python, chains.either(*pair), rtol=1e-13, atol=0)


@pytest.mark.parametrize("seed", range(28))
def test_numba_has_the_same_numbers(seed):
    optional("numba")
    ties = random_ties(seed)
    for budget in (0, BUDGET):
        for function in (certified_mad, certified_r):
            slow = function(*ties, budget=budget, fast=False)
            quick = function(*ties, budget=budget, fast=True)
            assert quick == pytest.approx(slow, rel=0, abs=1e-11)
    slow, quick = exact_mad(*ties, fast=False), exact_mad(*ties, fast=True)
    assert quick == pytest.approx(slow, rel=0, abs=1e-11)


@pytest.mark.parametrize("seed", range(14))
def test_python_kernel_on_larger_tables(seed):
    ties = random_ties(seed)
    path, c, span = observe(*ties)
    if path.total[-1] > 400:
        return
    for chain in every_chain(path, c, span):
        python = chains_numba.run(chains_numba.absorb, [chain])[0]
        assert np.allclose(python, chains.absorbed(chain), rtol=1e-12, atol=0)


def test_chains_that_no_path_has():
    for seed in range(300):
        chain = any_chain(seed)
        python = chains_numba.run(chains_numba.absorb, [chain])[0]
        numpy = chains.absorbed(chain)
        assert np.allclose(python, numpy, rtol=1e-12, atol=1e-300 * chains.SCALE), seed


def test_where_compiled_code_cannot_be_kept_it_is_compiled_all_the_same(monkeypatch):
    asked = []

    def njit(**options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError
        return lambda function: ("compiled", function)

    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(njit=njit))
    assert chains_numba._compiled.__wrapped__() == ("compiled", chains_numba.absorb)
    assert asked == [{"cache": True, "nogil": True}, {"nogil": True}]


def test_numba_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    chains_numba._compiled.cache_clear()
    with pytest.raises(MissingExtraError, match=r"secant\[fast\]"):
        exact_mad(*as_table([0.5, 0.6], [1, 1], [1, 1]), fast=True)
    assert close(exact_mad(*as_table([0.5, 0.6], [1, 1], [1, 1])).high, 0.5)
    chains_numba._compiled.cache_clear()
