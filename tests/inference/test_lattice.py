"""Walks on a lattice, in numpy and compiled, beside the same ones cell by cell."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant._base import extras
from secant._inference import lattice
from secant._inference.lattice import (
    SCALE,
    Laws,
    Run,
    absorbed_compiled,
    absorbed_in_numpy,
    log10_share,
    one_by_one,
    rounded,
)
from secant._inference.walk import exact_runs, observe
from ties import observed_table, random_ties, tables


def moves(run, walk, k):
    """Return how far a walk moves in a step, and how likely each of these is."""
    offset, places, chances, first = run.laws
    part = slice(offset[k], offset[k + 1])
    far = (int(first[k, walk] + place) for place in places[part])
    return list(zip(far, chances[part, walk].tolist(), strict=True))


def cell_by_cell(run, walk):
    """Follow one walk between barriers, as the description reads."""
    alive, gone = {0: 1.0}, 0.0
    for k in range(len(run.low)):
        new = defaultdict(float)
        for cell, mass in alive.items():
            for move, chance in moves(run, walk, k):
                new[cell + move] += mass * chance
        low, high = run.low[k, walk], run.high[k, walk]
        gone += sum(mass for cell, mass in new.items() if not low < cell < high)
        alive = {cell: mass for cell, mass in new.items() if low < cell < high}
    return gone


def two_sides(run):
    """Follow a rise and a fall, each of which takes from the rest of the other what it absorbs."""
    alive, gone = [{0: 1.0}, {0: 1.0}], [0.0, 0.0]
    for k in range(len(run.low)):
        crossed = [0.0, 0.0]
        for side in (0, 1):
            new = defaultdict(float)
            low, high = int(run.low[k, side]), run.high[k, side]
            for cell, mass in alive[side].items():
                for move, chance in moves(run, side, k):
                    new[max(cell + move, low)] += mass * chance
            crossed[side] = sum(mass for cell, mass in new.items() if cell >= high)
            alive[side] = {cell: mass for cell, mass in new.items() if cell < high}
        for side in (0, 1):
            gone[side] += crossed[side]
            alive[side][int(run.low[k, side])] = (
                alive[side].get(int(run.low[k, side]), 0.0) - crossed[1 - side]
            )
    return gone


def between_barriers(seed, walks=3, most=9):
    rng = np.random.default_rng(seed)
    steps = int(rng.integers(1, 12))
    taps = rng.integers(1, 5, steps)
    low = np.cumsum(rng.choice([0, 0, 1, 2, 7], (steps, walks)), axis=0) - rng.integers(1, most)
    return Run(
        Laws(
            np.cumsum([0, *taps]),
            np.concatenate([np.sort(rng.choice(9, size, replace=False)) for size in taps]),
            np.concatenate([rng.dirichlet(np.ones(size), walks).T for size in taps]),
            rng.integers(0, 3, (steps, walks)),
        ),
        low,
        np.maximum.accumulate(low + rng.integers(1, 20, (steps, walks)), axis=0),
    )


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("many", [0, 64])
def test_walks_between_barriers(seed, many, monkeypatch):
    monkeypatch.setattr(lattice, "_MANY", many)
    run = between_barriers(seed)
    expected = [cell_by_cell(run, walk) for walk in range(3)]
    assert absorbed_in_numpy(run) / SCALE == pytest.approx(expected, rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("many", [0, 64])
def test_a_rise_and_a_fall_side_by_side(seed, many, monkeypatch):
    monkeypatch.setattr(lattice, "_MANY", many)
    rng = np.random.default_rng(seed)
    ties = observed_table(rng, rng.random(rng.integers(1, 15)).round(rng.integers(1, 4)))
    rise, _ = exact_runs(observe([ties], 60.0))
    found = absorbed_in_numpy(rise) / SCALE
    assert found == pytest.approx(two_sides(rise), rel=1e-12, abs=1e-300)
    assert 0 <= found.sum() <= 1 + 1e-12


@pytest.mark.parametrize("places", [1, 12, 40])
def test_every_way_of_adding_moves(places):
    """By convolution, place by place, and cell by cell: few cells, many, gaps between places."""
    rng = np.random.default_rng(places)
    for alive in (2, 10, 60):
        for walks in (1, 3):
            for gaps in (False, True):
                where = (
                    np.sort(rng.choice(90, places, replace=False)) if gaps else np.arange(places)
                )
                cells, chances = rng.random((walks, alive)), rng.random((places, walks))
                new = np.zeros((walks, alive + int(where[-1]) + 2))
                lattice._spread(cells, where, chances, new)
                expected = np.zeros_like(new)
                for cell in range(alive):
                    for place, chance in zip(where, chances, strict=True):
                        expected[:, 1 + cell + place] += cells[:, cell] * chance
                assert new == pytest.approx(expected, rel=1e-13)


def test_shares_are_logarithms_of_what_walks_start_with():
    found = log10_share(np.array([SCALE, SCALE / 8, 0.0, SCALE * (1 + 1e-15)]))
    assert found.tolist() == pytest.approx([0.0, -3 * math.log10(2), -math.inf, 0.0], abs=1e-12)
    assert log10_share(np.array([5e-324]))[0] < -590  # P-values down to there have digits


def test_steps_without_a_law_of_their_own_leave_everything_as_it_is():
    """As shorter walks have among longer ones."""
    run = between_barriers(1)
    steps = len(run.low)
    laws = Laws(
        np.append(run.laws.offset, run.laws.offset[-1] + 1),
        np.append(run.laws.places, 0),
        np.vstack([run.laws.chances, np.ones(3)]),
        np.vstack([run.laws.first, np.zeros(3, int)]),
    )
    longer = Run(laws, np.vstack([run.low, run.low[-1:]]), np.vstack([run.high, run.high[-1:]]))
    assert len(longer.low) == steps + 1
    assert absorbed_in_numpy(longer) == pytest.approx(absorbed_in_numpy(run), rel=1e-14)


def test_laws_of_failures_are_those_of_events_turned_round():
    laws = Laws(
        np.array([0, 2, 5]),
        np.array([0, 3, 0, 1, 2]),
        np.arange(5.0)[:, None],
        np.array([[1], [2]]),
    )
    most = np.array([[9], [4]])
    turned = laws.mirrored(most)
    assert turned.places.tolist() == [0, 3, 0, 1, 2]
    assert turned.chances[:, 0].tolist() == [1, 0, 4, 3, 2]
    assert turned.first[:, 0].tolist() == [5, 0]
    for one, other in zip(turned.mirrored(most), laws, strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("rests", [False, True])
def test_moves_between_cells_keep_their_mean(rests):
    """Two of them in one cell are one; what is beyond both barriers is moved next to them."""
    places, chances = np.array([0.0, 0.25, 2.5, 1e300]), np.array([[0.4], [0.3], [0.2], [0.1]])
    laws = Laws(np.array([0, 4]), places, chances, np.zeros((1, 1)))
    run = rounded(laws, np.array([[-5.0]]), np.array([[40.0]]), rests=rests)
    found = dict(moves(run, 0, 0))
    assert list(found) == [0, 1, 2, 3, 41]
    assert list(found.values()) == pytest.approx([0.4 + 0.3 * 0.75, 0.3 * 0.25, 0.1, 0.1, 0.1])


# Compiled -----------------------------------------------------------------------------------------


def plain(run):
    """Run what numba compiles as it stands."""
    return absorbed_compiled(run, one_by_one)


def same(run, absorbed):
    expected = absorbed_in_numpy(run)
    assert absorbed(run) == pytest.approx(expected, rel=1e-13, abs=0)


@given(st.lists(tables(most=6), min_size=1, max_size=3))
def test_small_tables_uncompiled(some):
    paths = observe(some)
    if len(paths.n):
        for run in exact_runs(paths):
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
    # Of two sides neither takes all that rests in the other.
    nearest = 8 if rests else 1
    high = np.maximum.accumulate(low + rng.integers(nearest, 20, (steps, walks)), axis=0)
    return Run(Laws(np.cumsum([0, *taps]), places, chances, first), low, high, rests)


@pytest.mark.parametrize("rests", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_walks_that_no_path_has(seed, rests):
    same(any_run(seed, rests=rests), plain)


@pytest.mark.parametrize("seed", range(7))
def test_large_tables_compiled(seed):
    optional("numba")
    rise, band = exact_runs(observe([random_ties(seed)], 60.0))
    for run in (rise, band):
        same(run, absorbed_compiled)


def test_many_tables_compiled():
    optional("numba")
    rng = np.random.default_rng(0)
    some = [observed_table(rng, rng.random(rng.integers(1, 40)), 0.1) for _ in range(30)]
    for run in exact_runs(observe(some, 60.0)):
        same(run, absorbed_compiled)


@pytest.mark.parametrize("seed", range(5))
def test_a_walk_of_one_side_has_no_other_to_take_from(seed):
    """As on coarse lattices: a rise alone, whose mass at rest nobody takes."""
    rise, _ = exact_runs(observe([observed_table(np.random.default_rng(seed), [0.2, 0.3, 0.7])]))
    offset, places, chances, first = rise.laws
    laws = Laws(offset, places, chances[:, :1], first[:, :1])
    alone = Run(laws, rise.low[:, :1], rise.high[:, :1], rests=True)
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
    lattice._compiled.cache_clear()
    rise, band = exact_runs(observe([observed_table(np.random.default_rng(0), [0.2, 0.7])]))
    for run in (rise, band):
        same(run, absorbed_compiled)
    lattice._compiled.cache_clear()
    assert asked == [{"cache": True, "nogil": True}, {"nogil": True}]
    assert extras.is_usable("numba")
