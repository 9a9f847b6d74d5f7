"""Sums a cell: neither the order of rows nor the way they were cut matters."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant import Cells
from secant._blocks.cell_sums import CellSums, log_losses, summed_log_loss
from secant._blocks.grids import DyadicGrid
from secant._input.observations import Chunk
from states import CELLS, assert_same, batches, rows_of, scores, state


def half_tied(rng, n):
    return np.where(rng.random(n) < 0.5, 0.3, rng.random(n))


def two_clusters(rng, n):
    return rng.choice([0.2, 0.7], n) + 1e-9 * rng.random(n)


@given(st.sampled_from(CELLS), st.lists(batches(), min_size=1, max_size=5), st.data())
def test_order_and_way_of_merging_do_not_matter(n_cells, parts, data):
    expected = state(n_cells, *parts)
    shuffled = data.draw(st.permutations(parts))
    assert_same(state(n_cells, *shuffled), expected)
    assert_same(sum(state(n_cells, part) for part in shuffled), expected)

    # A random tree of sums.
    states = [state(n_cells, part) for part in shuffled]
    while len(states) > 1:
        left = states.pop(data.draw(st.integers(0, len(states) - 1)))
        right = states.pop(data.draw(st.integers(0, len(states) - 1)))
        states.append(left + right)
    assert_same(states[0], expected)

    grown = Cells(n_cells)
    for part in shuffled:
        grown.merge(state(n_cells, part))
    assert_same(grown, expected)


@pytest.mark.parametrize("n_cells", CELLS)
@pytest.mark.parametrize("make", [half_tied, two_clusters])
@pytest.mark.parametrize("weighted", [False, True])
def test_chunking_of_many_rows_does_not_matter(n_cells, make, weighted):
    rng = np.random.default_rng(1)
    n = 150_000
    p = make(rng, n)
    columns = {"y_true": (rng.random(n) < p).astype(int), "y_prob": p}
    if weighted:
        columns["sample_weight"] = rng.choice([0.1, 0.7, 3.3], n)
    whole = state(n_cells, columns)
    cuts = np.sort(rng.integers(0, n, 40))
    order = rng.permutation(n)
    pieces = [
        {name: column[rows] for name, column in columns.items()}
        for rows in np.split(order, cuts)
        if rows.size
    ]
    assert_same(state(n_cells, *pieces), whole)
    assert_same(sum(state(n_cells, piece) for piece in reversed(pieces)), whole)


@pytest.mark.parametrize("n_cells", CELLS)
def test_a_very_common_score_does_not_drift(n_cells):
    n = 1 << 17
    y, p = np.arange(n) % 7 == 0, np.full(n, 0.99)
    whole = state(n_cells, {"y_true": y, "y_prob": p})
    pieces = [{"y_true": y[i::128], "y_prob": p[i::128]} for i in range(128)]
    assert_same(state(n_cells, *pieces), whole)


@given(batches(kinds=["frequency"]))
def test_copies_equal_repeated_rows(batch):
    y, p, _ = rows_of(batch)
    for n_cells in (2, 4096):
        repeated = state(n_cells, {"y_true": y, "y_prob": p})
        assert_same(state(n_cells, batch), repeated)


@given(batches(kinds=["sampling"]), st.floats(1e-6, 1e6))
def test_the_scale_of_sampling_weights_does_not_matter(batch, scale):
    scaled = {**batch, "sample_weight": [scale * w for w in batch["sample_weight"]]}
    assert_same(state(64, scaled), state(64, batch))


@given(
    st.lists(st.tuples(st.integers(0, 1), scores), min_size=1, max_size=30), st.sampled_from(CELLS)
)
def test_means_of_cells_do_not_depend_on_the_order(rows, n_cells):
    forward, backward = (
        state(n_cells, *({"y_true": [y], "y_prob": [p]} for y, p in order))._sums.means()
        for order in (rows, rows[::-1])
    )
    for one, other in zip(forward, backward, strict=True):
        assert (one == other).all()
    assert int(forward.n0.sum() + forward.n1.sum()) == len(rows)
    assert int(forward.n1.sum()) == sum(y for y, _ in rows)
    total = float((forward.mean * (forward.n0 + forward.n1)).sum())
    assert total == pytest.approx(sum(p for _, p in rows), abs=1e-8)
    # Every mean lies in its own cell.
    assert len(set((forward.mean * n_cells).astype(int).tolist())) == forward.mean.shape[0]


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1000])
@pytest.mark.parametrize(
    "scale", [1.0, 1e-3, 1e-9, 1e-17, 1e-300], ids=lambda scale: f"within {scale}"
)
def test_log_loss_of_many_rows_at_once(n, scale):
    """It is the sum over rows, to within what adding them up loses, however little that is."""
    rng = np.random.default_rng(n)
    labels = rng.integers(0, 2, n)
    away = scale * rng.random(n)
    for p in (np.where(labels, 1 - away, away), away):
        expected = math.fsum(log_losses(p, labels))
        assert summed_log_loss(p, labels) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.int64])
def test_log_loss_of_rows_that_were_ruled_out(kind):
    labels = np.arange(40).astype(kind) % 2 if kind is not bool else np.arange(40) % 2 == 1
    p = np.full(40, 0.5)
    assert summed_log_loss(p, labels) == pytest.approx(40 * math.log(2), rel=1e-15)
    p[3] = 0.0
    assert summed_log_loss(p, labels) == np.inf


def summed(chunks, *, sampling, moments=False):
    sums = CellSums(DyadicGrid(4), sampling=sampling, moments=moments)
    for chunk in chunks:
        sums.add(chunk)
    return sums


@pytest.mark.parametrize("moments", [False, True])
def test_rows_with_and_without_weights_add_up_as_if_all_had_them(moments):
    rng = np.random.default_rng(3)
    p, y = rng.random(60), rng.integers(0, 2, 60)
    w = np.concatenate([np.ones(30), rng.random(30) + 0.1])
    nothing = Chunk(p[:0], y[:0], None)
    plain = summed([Chunk(p[:30], y[:30], None), nothing], sampling=False, moments=moments)
    weighted = summed([Chunk(p[30:], y[30:], w[30:])], sampling=True, moments=moments)
    whole = summed([Chunk(p, y, w)], sampling=True, moments=moments)
    for both in (plain.plus(weighted), weighted.plus(plain)):
        assert both.columns().keys() == whole.columns().keys()
        for name, column in whole.columns().items():
            assert getattr(both, name) == pytest.approx(column, rel=1e-13, abs=1e-13), name
        assert both.totals().agrees(whole.totals())
