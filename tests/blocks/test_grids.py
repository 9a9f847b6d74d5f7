"""Grids: whatever the cuts, cells follow the scores and lose nothing of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant import InputError
from secant._blocks import grids
from secant._blocks.grids import (
    DyadicGrid,
    PointGrid,
    SampledGrid,
    Scratch,
    SpreadGrid,
    survey_scores,
)

# Edges of cells, neighbouring doubles, and the smallest there are.
scores = st.one_of(
    st.floats(0, 1),
    st.integers(0, 16).map(lambda k: k / 16),
    st.sampled_from([-0.0, 5e-324, 1e-310, 0.5 - 2**-54, 0.5 + 2**-53, 1 - 2**-53]),
)

GRIDS = {
    "dyadic": lambda p: DyadicGrid(4),
    "sampled": lambda p: SampledGrid(p, p[0], p[-1], 8),
    "sampled from a few": lambda p: SampledGrid(p[::5], p[0], p[-1], 8),
    "points": lambda p: PointGrid(np.unique(p)),
}


@pytest.mark.parametrize("make", GRIDS.values(), ids=GRIDS)
@given(st.lists(scores, min_size=1, max_size=40))
def test_cells_follow_the_order_of_scores_and_hold_them(make, values):
    p = np.sort(np.array(values) + 0.0)
    grid = make(p)
    cell, offset = grid.locate(p, Scratch())
    assert (np.diff(cell) >= 0).all()
    assert (np.diff(cell)[np.diff(p) == 0] == 0).all()
    assert (grid.low[cell] <= p).all()
    assert (p <= grid.high[cell]).all()
    assert grid.anchor[cell] + offset * grid.unit == pytest.approx(p, rel=0, abs=2**-53)
    assert (grid.low[1:] > grid.high[:-1]).all()


def test_a_score_of_one_has_a_cell_of_its_own():
    cell, _ = DyadicGrid(3).locate(np.array([1 - 2**-53, 1.0]), Scratch())
    assert cell.tolist() == [7, 8]


@pytest.mark.parametrize("count", [1, grids._FEW_EDGES, grids._FEW_EDGES + 1])
def test_few_edges_are_ranked_as_many_are(count):
    edges = np.arange(count) / count
    p = np.concatenate([edges, np.nextafter(edges, 2), np.random.default_rng(0).random(50)])
    assert grids.rank(edges, p).tolist() == [int((edges <= each).sum()) for each in p]


@pytest.mark.parametrize("n_cells", [0, 3, 2 * grids.MOST_CELLS, 8.0, True, "8"])
def test_only_powers_of_two_make_a_dyadic_grid(n_cells):
    assert grids.dyadic_grid(8).n_cells == 8
    with pytest.raises(InputError, match="n_cells must be a power of two between 1 and 16,777,216"):
        grids.dyadic_grid(n_cells)


@given(st.lists(scores, min_size=1, max_size=20), st.sampled_from([0, 1, 4, 16]))
def test_the_filled_cells_of_a_grid_are_those_of_the_grid(values, bits):
    p, whole = np.array(values) + 0.0, DyadicGrid(bits)
    cell, offset = (each.copy() for each in whole.locate(p, Scratch()))
    filled = grids.dyadic_grid(whole.n_cells, np.unique(cell))
    place, distance = filled.locate(p, Scratch())
    assert filled.cells[place].tolist() == whole.cells[cell].tolist() == cell.tolist()
    assert distance.tolist() == offset.tolist()
    for name in ("low", "high", "anchor"):
        assert getattr(filled, name)[place].tolist() == getattr(whole, name)[cell].tolist()


@given(
    st.lists(scores, min_size=1, max_size=40),
    st.sampled_from([1, 4, 64]),
    st.sampled_from([0, -3, -13]),
)
def test_spread_cells_follow_the_order_of_scores_and_hold_them(values, n_cells, widest):
    p = np.sort(np.array(values) + 0.0)
    grid = SpreadGrid(p[::3], n_cells, widest)
    cell = grid.bucket(p, Scratch())
    assert (np.diff(cell) >= 0).all()
    assert ((cell >= 0) & (cell < grid.n_buckets)).all()
    assert (grid.low[cell] <= p).all()
    assert (p <= grid.high[cell]).all()
    assert (grid.low[1:] > grid.high[:-1]).all()
    assert (grid.high - grid.low <= 2.0**widest).all()


@pytest.mark.parametrize("ulps", [0, 5, 600, 1022, 1023, 1024, 5000])
def test_spread_cells_of_scores_next_to_one(ulps):
    """So near that each double there could have a cell."""
    p = np.sort(1 - np.append(np.linspace(0, ulps, 200).round(), [0]) * 2.0**-53)
    grid = SpreadGrid(p, 64, 0)
    cell = grid.bucket(p, Scratch())
    assert (np.diff(cell) >= 0).all()
    assert (grid.low[cell] <= p).all()
    assert (p <= grid.high[cell]).all()
    assert len(np.unique(cell)) >= min(len(np.unique(p)), 32)


def test_spread_cells_are_more_than_were_asked_for_where_none_may_be_wide():
    grid = SpreadGrid(np.linspace(0.1, 0.9, 50), 1, -14)
    assert grid.n_buckets > 1 << 12
    assert (np.diff(grid.low) > 0).all()
    assert (grid.bucket(grid.low, Scratch()) == np.arange(grid.n_buckets)).all()
    assert (grid.bucket(grid.high, Scratch()) == np.arange(grid.n_buckets)).all()


@given(st.lists(scores, min_size=1, max_size=40))
def test_what_a_survey_tells_of_a_sample(values):
    p = np.sort(np.array(values) + 0.0)
    variance, repeated, longest = survey_scores(p)
    counts = np.unique(p, return_counts=True)[1]
    assert variance == pytest.approx((p * (1 - p)).mean(), rel=1e-12, abs=1e-300)
    assert repeated == p.size - counts.size
    assert longest == counts.max()
