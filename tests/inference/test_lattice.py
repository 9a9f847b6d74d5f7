"""The walk on a lattice in numpy, beside the same one cell by cell."""

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from secant._inference import lattice
from secant._inference.lattice import SCALE, Run, absorbed_in_numpy, log10_share
from secant._inference.walk import exact_runs, observe
from ties import observed_table


def cell_by_cell(run, walk):
    """Follow one walk between barriers, as the description reads."""
    alive, gone = {0: 1.0}, 0.0
    for k in range(len(run.low)):
        part = slice(run.offset[k], run.offset[k + 1])
        new = defaultdict(float)
        for cell, mass in alive.items():
            for place, chance in zip(run.places[part], run.chances[part, walk], strict=True):
                new[cell + run.first[k, walk] + place] += mass * chance
        low, high = run.low[k, walk], run.high[k, walk]
        gone += sum(mass for cell, mass in new.items() if not low < cell < high)
        alive = {cell: mass for cell, mass in new.items() if low < cell < high}
    return gone


def two_sides(run):
    """Follow a rise and a fall, each of which takes from the rest of the other what it absorbs."""
    rests, alive, gone = [1.0, 1.0], [{}, {}], [0.0, 0.0]
    for k in range(len(run.low)):
        part, crossed = slice(run.offset[k], run.offset[k + 1]), [0.0, 0.0]
        for side in (0, 1):
            new, rest = defaultdict(float), 0.0
            moves = [
                (int(run.first[k, side] + place), float(chance))
                for place, chance in zip(run.places[part], run.chances[part, side], strict=True)
            ]
            for move, chance in moves:
                for cell, mass in alive[side].items():
                    new[cell + move] += mass * chance
                if move <= run.hold[k, side]:
                    rest += rests[side] * chance
                else:
                    new[int(run.door[k, side]) + move] += rests[side] * chance
            low, high = run.low[k, side], run.high[k, side]
            rests[side] = rest + sum(mass for cell, mass in new.items() if cell <= low)
            crossed[side] = sum(mass for cell, mass in new.items() if cell >= high)
            alive[side] = {cell: mass for cell, mass in new.items() if low < cell < high}
        gone = [one + more for one, more in zip(gone, crossed, strict=True)]
        rests = [rests[0] - crossed[1], rests[1] - crossed[0]]
    return gone


def between_barriers(seed, walks=3, most=9):
    rng = np.random.default_rng(seed)
    steps = int(rng.integers(1, 12))
    taps = rng.integers(1, 5, steps)
    low = np.cumsum(rng.choice([0, 0, 1, 2, 7], (steps, walks)), axis=0) - rng.integers(1, most)
    return Run(
        np.cumsum([0, *taps]),
        np.concatenate([np.sort(rng.choice(9, size, replace=False)) for size in taps]),
        np.concatenate([rng.dirichlet(np.ones(size), walks).T for size in taps]),
        rng.integers(0, 3, (steps, walks)),
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
    rise, _ = exact_runs(observe([ties]), 60.0)
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
    longer = replace(
        run,
        offset=np.append(run.offset, run.offset[-1] + 1),
        places=np.append(run.places, 0),
        chances=np.vstack([run.chances, np.ones(3)]),
        first=np.vstack([run.first, np.zeros(3, int)]),
        low=np.vstack([run.low, run.low[-1:]]),
        high=np.vstack([run.high, run.high[-1:]]),
    )
    assert len(longer.low) == steps + 1
    assert absorbed_in_numpy(longer) == pytest.approx(absorbed_in_numpy(run), rel=1e-14)
