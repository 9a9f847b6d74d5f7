"""Blocks cut finer by rows in chunks: the ties that sorting all rows would give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._blocks.grids import DyadicGrid, Scratch
from secant._blocks.refining import Refinement, _owners
from secant._blocks.table import collapse, merge, with_fixed
from secant._input.observations import Chunk, pick

rows = st.lists(
    st.tuples(st.integers(0, 8).map(lambda k: k / 8) | st.floats(0, 1), st.integers(0, 1)),
    min_size=1,
    max_size=40,
)


def refined(chunk, blocks, *, light, common=-1.0, size=7, run=1000, pieces=64):
    """Feed all rows, a few at a time, to a refinement of some blocks."""
    finer = Refinement(
        blocks,
        np.full(len(blocks), light),
        np.broadcast_to(common, len(blocks)),
        pieces,
        DyadicGrid(3),
        run=run,
        sampling=chunk.weights is not None,
        counted=False,
    )
    for start in range(0, len(chunk.scores), size):
        finer.add(pick(chunk, slice(start, start + size)))
    return finer.blocks()


def assert_equal(found, expected):
    for name in ("low", "high", "n0", "n1"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    for name in ("w0", "w1", "down", "up"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=0, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@given(data=rows, every=st.integers(1, 5), common=st.sampled_from([-1.0, 0.25, 0.5]))
def test_light_blocks_become_ties(weighted, data, every, common):
    p, y = np.array([s for s, _ in data]) + 0.0, np.array([r for _, r in data])
    chunk = Chunk(p, y, np.arange(1.0, len(p) + 1) if weighted else None)
    ties = collapse(*chunk[:3])
    coarse = merge(ties, np.arange(0, len(ties), every))
    # A score may be common in the one block that holds it.
    common = np.where((coarse.low <= common) & (common <= coarse.high), common, -1.0)
    assert_equal(refined(chunk, coarse, light=True, common=common), ties)
    # Every other block alone: rows elsewhere are passed over.
    inside = (np.arange(len(ties)) // every) % 2 == 0
    some = slice(None, None, 2)
    found = refined(chunk, coarse.select(some), light=True, common=common[some])
    assert_equal(found, ties.select(inside))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("run", [5, 1000])
@given(data=rows, every=st.integers(3, 20), common=st.sampled_from([-1.0, 0.25]))
def test_heavy_blocks_are_cut_where_the_path_turns(weighted, run, data, every, common):
    p, y = np.array([s for s, _ in data]) + 0.0, np.array([r for _, r in data])
    chunk = Chunk(p, y, np.arange(1.0, len(p) + 1) if weighted else None)
    ties = collapse(*chunk[:3])
    coarse = merge(ties, np.arange(0, len(ties), every))
    common = np.where((coarse.low <= common) & (common <= coarse.high), common, -1.0)
    finer = refined(chunk, coarse, light=False, common=common, run=run, pieces=2)
    # Blocks refuse to be replaced by others than their own observations.
    assert coarse.replace(np.ones(len(coarse), bool), finer).n.sum() == len(p)
    assert (finer.low[1:] > finer.high[:-1]).all()
    heights = np.concatenate([[0.0], np.cumsum(ties.gain)])
    ends = np.concatenate([[0.0], np.cumsum(finer.gain)])
    # What is highest and lowest over every block is at the end of a piece, if not at its start.
    assert ends.max() == pytest.approx(heights.max(), abs=1e-12)
    assert ends.min() == pytest.approx(heights.min(), abs=1e-12)
    for number in range(len(finer)):
        first = np.searchsorted(ties.low, finer.low[number])
        stop = np.searchsorted(ties.low, finer.high[number], side="right")
        part = heights[first : stop + 1] - heights[first]
        if finer.open[number]:
            assert finer.rise[number] == pytest.approx(part.max(), abs=1e-12)
            assert finer.fall[number] == pytest.approx(-part.min(), abs=1e-12)


@given(data=rows, every=st.integers(3, 20))
def test_pieces_have_the_whole_sums_of_their_ties(data, every):
    p, y = np.array([s for s, _ in data]) + 0.0, np.array([r for _, r in data])
    ties = with_fixed(collapse(p, y, None))
    coarse = merge(ties, np.arange(0, len(ties), every))
    finer = refined(Chunk(p, y, None), coarse, light=False, pieces=2)
    wanted = merge(ties, np.searchsorted(ties.low, finer.low)).fixed
    assert finer.fixed.high.tolist() == wanted.high.tolist()
    assert finer.fixed.low.tolist() == wanted.low.tolist()


@pytest.mark.parametrize("common", [-1.0, 0.5, 0.875])
@pytest.mark.parametrize("together", [1, 3, 12, 24, 1000])
def test_rows_that_are_put_together_a_few_at_a_time_are_all_there(monkeypatch, together, common):
    """In many parts, in two, and in one; a common score comes where it belongs."""
    monkeypatch.setattr("secant._blocks.refining._TOGETHER", together)
    p, y = np.tile(np.arange(24) / 24 + 1 / 48, 2).round(3), np.arange(48) % 2
    p[:6] = 0.5
    ties = collapse(p, y, None)
    coarse = merge(ties, np.arange(0, len(ties), 6))
    inside = (coarse.low <= common) & (common <= coarse.high)
    found = refined(Chunk(p, y, None), coarse, light=True, common=np.where(inside, common, -1.0))
    assert_equal(found, ties)


@pytest.mark.parametrize("seed", range(6))
def test_every_bucket_knows_which_block_it_meets(seed):
    """Or that it meets none, or several: then rows are compared with the blocks themselves."""
    rng = np.random.default_rng(seed)
    ties = collapse(np.unique(rng.random(60) ** 2), np.zeros(60, int), None)
    cells = merge(ties, np.append(0, np.flatnonzero(rng.random(59) < 0.4) + 1))
    blocks = cells.select(rng.random(len(cells)) < 0.5)
    grid = DyadicGrid(5)
    first, last = (grid.bucket(end, Scratch()) for end in (blocks.low, blocks.high))
    for bucket, owner in enumerate(_owners(grid, blocks).tolist()):
        met = np.flatnonzero((first <= bucket) & (bucket <= last)).tolist()
        assert owner == (met[0] if len(met) == 1 else -2 if met else -1)
