"""Sums by key and cell: nothing is lost, and pieces and order make no difference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant._blocks.key_sums import (
    COARSE,
    ENDS,
    Ask,
    KeyAdder,
    _Finder,
    coarsened,
    equal_cells,
    pooled,
    shifted_scores,
)
from secant._blocks.table import collapse
from secant._input.observations import Chunk, pick
from secant.errors import SecantError

mpmath = optional("mpmath")


def rows(n, clusters, seed=0, *, weights=None, decimals=None):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    if decimals is not None:
        scores = scores.round(decimals)
    labels = (rng.random(n) < scores).astype(np.int64)
    mass = None if weights is None else weights(rng, n)
    cluster = rng.integers(0, clusters, n)
    return Chunk(scores, labels, mass, cluster=cluster), cluster


def added(chunk, cluster, limit=10**9, *, counted=False, pieces=1):
    blocks = collapse(*chunk[:3], counted=counted)
    adder = KeyAdder(Ask(blocks, clusters=True, most=limit), counted=counted)
    for part in np.array_split(np.arange(cluster.size), pieces):
        adder.add(pick(chunk, part))
    return adder.sums()


@given(
    st.lists(st.floats(1e-20, 10), min_size=1, max_size=60),
    st.integers(1, 70),
)
def test_cells_are_consecutive_and_none_holds_much_more_than_its_share(weight, most):
    weight = np.array(weight)
    cell = equal_cells(weight, most)
    assert cell[0] == 0
    assert set(np.diff(cell)) <= {0, 1}
    assert cell[-1] < most
    if weight.size > most:
        held = np.bincount(cell, weight)
        assert held.max() <= weight.sum() / most + weight.max() + 1e-9


def test_as_many_blocks_as_cells_stay_as_they_are_and_one_more_does_not():
    assert equal_cells(np.ones(ENDS), ENDS).tolist() == list(range(ENDS))
    assert np.unique(equal_cells(np.ones(ENDS + 1), ENDS)).size <= ENDS
    assert np.unique(equal_cells(np.ones(4 * ENDS), ENDS)).size == ENDS


@pytest.mark.parametrize("distinct", [ENDS, ENDS + 1])
def test_paths_are_read_at_every_score_until_there_are_too_many(distinct):
    scores = np.arange(distinct) / distinct
    chunk = Chunk(scores, np.ones(distinct, np.int64), None)
    sums = added(chunk, np.arange(distinct) % 30)
    assert np.unique(sums.cell).size <= ENDS
    assert (np.unique(sums.cell).size == distinct) == (distinct <= ENDS)


WEIGHTS = {
    "none": (None, False),
    "sampling": (lambda rng, n: rng.lognormal(size=n), False),
    "frequency": (lambda rng, n: rng.integers(1, 5, n).astype(float), True),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_sums_are_those_of_a_loop(kind):
    weights, counted = WEIGHTS[kind]
    chunk, cluster = rows(300, 25, weights=weights, decimals=1)
    sums = added(chunk, cluster, counted=counted)
    w = np.ones(300) if chunk.weights is None else chunk.weights
    copies = w if counted else np.ones(300)
    ends = np.unique(chunk.scores)
    wanted = {}
    for i in range(300):
        r, s = chunk.labels[i], chunk.scores[i]
        key = cluster[i], np.searchsorted(ends, s)
        n, gain = wanted.get(key, (0, 0))
        wanted[key] = n + copies[i], gain + w[i] * (r - s)
    pairs = zip(sums.key, sums.cell, strict=True)
    found = dict(zip(pairs, zip(sums.n, sums.gain, strict=True), strict=True))
    assert found.keys() == wanted.keys()
    for key, each in wanted.items():
        assert found[key] == pytest.approx(each, abs=1e-12)


@pytest.mark.parametrize("limit", [10**9, 1000])
def test_pieces_and_order_make_no_difference(limit, monkeypatch):
    monkeypatch.setattr("secant._blocks.key_sums._WAITING", 100)
    chunk, cluster = rows(6000, 40, seed=3)
    whole = added(chunk, cluster, limit)
    shuffle = np.random.default_rng(1).permutation(6000)
    for other in (
        added(chunk, cluster, limit, pieces=37),
        added(pick(chunk, shuffle), cluster[shuffle], limit, pieces=5),
    ):
        for name in ("key", "cell", "n"):
            assert (getattr(other, name) == getattr(whole, name)).all()
        np.testing.assert_allclose(other.gain, whole.gain, atol=1e-12)
    assert (np.unique(whole.cell).size == COARSE) == (limit == 1000)


def test_cells_become_fewer_just_above_the_limit():
    chunk, cluster = rows(3000, 40)
    pairs = added(chunk, cluster).cell.size
    assert np.unique(added(chunk, cluster, pairs).cell).size == 3000
    few = added(chunk, cluster, pairs - 1)
    assert np.unique(few.cell).size == COARSE
    assert np.bincount(few.cell, few.n).max() <= 3000 // COARSE + 1


def test_what_is_coarse_already_stays():
    chunk, cluster = rows(500, 40, decimals=2)
    sums = added(chunk, cluster)
    assert coarsened(sums, np.ones(101), 1) is sums


def test_nothing_added_is_nothing():
    assert added(rows(10, 3)[0], np.empty(0, np.int64)).cell.size == 0
    assert pooled(added(*rows(10, 3))).n.sum() == 10


def test_a_score_beyond_all_others_was_not_there_before():
    chunk, _ = rows(10, 3)
    adder = KeyAdder(Ask(collapse(*chunk[:3])), counted=False)
    with pytest.raises(SecantError, match="changed"):
        adder.add(chunk._replace(scores=chunk.scores + 1))


@given(st.floats(0, 1), st.floats(-30, 30))
def test_shifted_scores_have_logits_larger_by_the_shift(score, shift):
    q, spread = shifted_scores(np.array([score]), shift)
    with mpmath.workdps(50):  # next to 1, 1 - q takes more digits than doubles have
        odds = mpmath.mpf(score) * mpmath.exp(shift)
        wanted = odds / (1 - mpmath.mpf(score) + odds)
        assert q[0] == pytest.approx(float(wanted), rel=1e-14)
        assert spread[0] == pytest.approx(float(wanted * (1 - wanted)), rel=1e-14, abs=1e-300)


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_shifted_sums_are_those_of_rows(kind, clusters):
    weights, counted = WEIGHTS[kind]
    chunk, cluster = rows(300, 25, weights=weights, decimals=1)
    ask = Ask(collapse(*chunk[:3], counted=counted), clusters=clusters, shift=0.7)
    adder = KeyAdder(ask, counted=counted)
    for part in np.array_split(np.arange(300), 7):
        adder.add(pick(chunk, part))
    found = adder.sums()
    w = np.ones(300) if chunk.weights is None else chunk.weights
    q, spread = shifted_scores(chunk.scores, 0.7)
    cell = np.unique(chunk.scores, return_inverse=True)[1]
    key = cluster if clusters else 0 * cluster
    pairs = np.unique(np.column_stack([key, cell]), axis=0)
    assert found.n.sum() == (w if counted else w**0).sum()
    np.testing.assert_array_equal(np.column_stack(found[:2]), pairs)
    for k, c, gain, moved, noise in zip(found.key, found.cell, *found[3:], strict=True):
        here = (key == k) & (cell == c)
        assert gain == pytest.approx((w * (chunk.labels - chunk.scores))[here].sum(), abs=1e-12)
        assert moved == pytest.approx((w * q)[here].sum(), rel=1e-13)
        assert noise == pytest.approx(((w if counted else w * w) * spread)[here].sum(), rel=1e-13)


@given(
    st.lists(st.floats(0, 1) | st.sampled_from([0.5, 0.25, 2**-6]), min_size=1, max_size=40),
    st.lists(st.floats(0, 1) | st.integers(0, 64).map(lambda k: k / 64), min_size=1),
)
def test_cells_are_found_by_a_table_as_by_comparing(ends, scores):
    ends, scores = np.unique(ends), np.array(scores)
    expected = np.searchsorted(ends, scores).tolist()
    for rows in (0, 10**9):
        assert _Finder(ends, rows)(scores).tolist() == expected
