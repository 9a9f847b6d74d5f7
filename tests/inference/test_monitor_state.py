"""What a monitor takes, in any form cut alike; cuts wait until enough scores have been seen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import secant
from monitors import fed, rows, same
from secant import InputError
from secant._inference.evalues import GRID, cuts
from secant._inference.monitor_state import ENOUGH, CellBatch, RowBatch, Summed, Table


def test_cuts_are_quantiles_of_the_first_batch():
    batch = rows(5000)
    state = fed(batch, rows(5000, 1))
    assert (state.edges == cuts(batch.counts(GRID))).all()
    assert [record.table.n.sum() for record in state.records] == [5000, 5000]


def test_tables_add_up_to_that_of_all_rows():
    parts = [rows(200, seed) for seed in range(3)]
    state = fed(rows(1000), *parts)
    together = Table.added(record.table for record in state.records[1:])
    whole = RowBatch(
        *(
            np.concatenate([getattr(each, name) for each in parts])
            for name in ("_scores", "_labels")
        )
    )
    wanted = fed(rows(1000), whole).records[1].table
    assert (together.n == wanted.n).all()
    assert (together.events == wanted.events).all()
    assert together.scored == pytest.approx(wanted.scored, rel=1e-12)
    nothing = Table.added([])
    assert (nothing.n.sum(), nothing.events.sum(), nothing.scored.sum()) == (0, 0, 0)
    assert nothing.n.shape == together.n.shape


def test_cuts_wait_until_enough_scores_have_been_seen():
    small = [rows(20, seed) for seed in range(7)]
    state = fed(*small)
    assert state.edges is None
    assert state.waiting == 140
    assert all(record.table is None for record in state.records)
    # Meanwhile the whole range is watched, and nothing else.
    assert np.count_nonzero(state.evidence.won[16:-8] != state.evidence.won[16]) == 0
    after = state.after(rows(20, 8), None)
    assert after.waiting == 0
    assert [record.table.n.sum() for record in after.records] == [20] * 8
    everything = RowBatch(
        np.concatenate([batch._scores for batch in [*small, rows(20, 8)]]), np.zeros(160, int)
    )
    assert (after.edges == cuts(everything.counts(GRID))).all()
    assert [record.totals for record in after.records[:7]] == [
        record.totals for record in state.records
    ]


@given(st.lists(st.integers(0, 90), min_size=1, max_size=6))
@settings(max_examples=20)
def test_however_small_batches_are_all_rows_are_kept(sizes):
    state = fed(*(rows(size, seed) for seed, size in enumerate(sizes)))
    assert (state.edges is not None) == (sum(sizes) >= ENOUGH)
    assert [record.n for record in state.records] == sizes
    if state.edges is not None:
        assert [int(record.table.n.sum()) for record in state.records] == sizes


def test_sums_added_up_elsewhere_are_a_batch():
    first, then = rows(1000), rows(300, 1, 1.4)
    state = fed(first)
    sums = Summed(then.sums(state.edges, 0.0))
    assert sums.n == then.n
    same(state.after(sums, None), fed(first, then))


def test_coarse_cells_cut_at_their_own_edges():
    cells = secant.Cells(256)
    rng = np.random.default_rng(2)
    cells.update(rng.integers(0, 2, 1000), rng.random(1000))
    batch = CellBatch.of(cells._sums, cells.n_cells, cells.forbidden)
    state = fed(batch, batch)
    assert not (state.edges * 256 % 1).any()
    state = state.after(rows(100), None)  # rows fit any cuts
    with pytest.raises(InputError, match=r"n_cells=256.*n_cells=\d+ or more are needed"):
        fed(rows(5000), batch)


def test_few_cells_wait_too():
    cells = secant.Cells(1024)
    cells.update([0, 1, 1], [0.2, 0.2001, 1.0])
    state = fed(CellBatch.of(cells._sums, cells.n_cells, 0), rows(200))
    assert state.waiting == 0
    assert not (state.edges * 1024 % 1).any()
    assert state.records[0].table.n.sum() == 3
