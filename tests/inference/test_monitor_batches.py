"""Batches of a monitor: rows, cells and sums made elsewhere, cut alike."""

import numpy as np
import pytest

import secant
from monitors import fed, rows, same
from secant import InputError
from secant._inference.monitor_batches import CellBatch, Summed


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
    batch = CellBatch(cells._sums, cells.n_cells, cells.forbidden)
    state = fed(batch, batch)
    assert not (state.edges * 256 % 1).any()
    state = state.after(rows(100), None)  # rows fit any cuts
    with pytest.raises(InputError, match=r"n_cells=256.*n_cells=\d+ or more are needed"):
        fed(rows(5000), batch)


def test_few_cells_wait_too():
    cells = secant.Cells(1024)
    cells.update([0, 1, 1], [0.2, 0.2001, 1.0])
    state = fed(CellBatch(cells._sums, cells.n_cells, 0), rows(200))
    assert state.waiting.n == 0
    assert not (state.edges * 1024 % 1).any()
    assert state.records[0].table.n.sum() == 3
