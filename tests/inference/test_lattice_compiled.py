"""The compiled walk and the one in numpy: the same mass, on walks of every kind."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant._base import extras
from secant._inference import lattice_compiled
from secant._inference.lattice import Run, absorbed_in_numpy
from secant._inference.walk import exact_runs, observe
from ties import observed_table, random_ties, tables


def plain(run):
    """Run what numba compiles as it stands."""
    return lattice_compiled.absorbed(run, lattice_compiled.walk)


def same(run, absorbed):
    expected = absorbed_in_numpy(run)
    assert absorbed(run) == pytest.approx(expected, rel=1e-13, abs=0)


@given(st.lists(tables(most=6), min_size=1, max_size=3))
def test_small_tables_uncompiled(some):
    paths = observe(some)
    if len(paths.n):
        for run in exact_runs(paths, 60.0):
            same(run, plain)


def any_run(seed, *, rests):
    """Describe walks that no path has, with steps of every kind and barriers that jump."""
    rng = np.random.default_rng(seed)
    steps, half = int(rng.integers(1, 12)), int(rng.integers(1, 3))
    walks = 2 * half if rests else half
    taps = rng.integers(1, 5, steps)
    places = np.concatenate([np.sort(rng.choice(9, size, replace=False)) for size in taps])
    chances = np.concatenate([rng.dirichlet(np.ones(size), walks).T for size in taps])
    chances[rng.random(chances.shape) < 0.1] = 0.0
    first = rng.integers(0, 3, (steps, walks))
    low = np.cumsum(rng.choice([0, 0, 1, 2, 7], (steps, walks)), axis=0)
    low = low if rests else low - rng.integers(1, 9)
    high = np.maximum.accumulate(low + rng.integers(1, 20, (steps, walks)), axis=0)
    at = np.vstack([np.zeros((1, walks), int), low[:-1]])
    return Run(
        np.cumsum([0, *taps]),
        places,
        chances,
        first,
        low,
        high,
        rng.integers(0, 4, (steps, walks)) if rests else None,
        at + rng.integers(0, 2, (steps, walks)) if rests else None,
    )


@pytest.mark.parametrize("rests", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_walks_that_no_path_has(seed, rests):
    same(any_run(seed, rests=rests), plain)


@pytest.mark.parametrize("seed", range(7))
def test_large_tables_compiled(seed):
    optional("numba")
    rise, band = exact_runs(observe([random_ties(seed)]), 60.0)
    for run in (rise, band):
        same(run, lattice_compiled.absorbed)


def test_many_tables_compiled():
    optional("numba")
    rng = np.random.default_rng(0)
    some = [observed_table(rng, rng.random(rng.integers(1, 40)), 0.1) for _ in range(30)]
    for run in exact_runs(observe(some), 60.0):
        same(run, lattice_compiled.absorbed)


@pytest.mark.parametrize("seed", range(5))
def test_a_walk_of_one_side_has_no_other_to_take_from(seed):
    """As on coarse lattices: a rise alone, whose mass at rest nobody takes."""
    rise, _ = exact_runs(observe([observed_table(np.random.default_rng(seed), [0.2, 0.3, 0.7])]))
    columns = "chances", "first", "low", "high", "hold", "door"
    alone = replace(rise, **{name: getattr(rise, name)[:, :1] for name in columns})
    same(alone, plain)
    assert absorbed_in_numpy(alone)[0] >= absorbed_in_numpy(rise)[0]


def test_without_a_place_for_compiled_code_it_is_compiled_in_every_process(monkeypatch):
    numba = optional("numba")
    asked = []

    def njit(**options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    lattice_compiled._compiled.cache_clear()
    rise, band = exact_runs(observe([observed_table(np.random.default_rng(0), [0.2, 0.7])]), 60.0)
    for run in (rise, band):
        same(run, lattice_compiled.absorbed)
    lattice_compiled._compiled.cache_clear()
    assert asked == [{"cache": True, "nogil": True}, {"nogil": True}]
    assert extras.is_usable("numba")
