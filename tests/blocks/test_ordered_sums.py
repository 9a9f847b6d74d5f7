"""Sums along another order: few rows sorted, many in cells, the same numbers."""

import numpy as np
import pytest

from secant._blocks.ordered_sums import KeyCells, edges_of, pairs_of
from secant._blocks.table import merge
from secant._input.observations import Chunk

COLUMNS = ("low", "high", "n0", "n1", "w0", "w1", "down", "up", "least", "most")


def rows(seed, n=500, weights=None):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 11, n) / 10
    labels = (rng.random(n) < score).astype(np.int64)
    weight = {None: None, "sampling": rng.random(n) + 0.1, "frequency": rng.integers(1, 4, n) * 1.0}
    return rng.integers(-3, 9, n), Chunk(score, labels, weight[weights])


@pytest.mark.parametrize("weights", [None, "sampling", "frequency"])
@pytest.mark.parametrize("outcome_weights", [None, (0.5, 0.25)])
def test_cells_of_one_key_are_ties(weights, outcome_weights):
    keys, chunk = rows(1, weights=weights)
    counted = weights == "frequency"
    ties = pairs_of(keys, chunk, counted=counted, outcome_weights=outcome_weights).blocks()
    cells = KeyCells(
        np.unique(keys),
        sampling=weights == "sampling",
        counted=counted,
        outcome_weights=outcome_weights,
    )
    cells.add(chunk, keys)
    found = cells.blocks()
    for name in COLUMNS:
        assert getattr(found, name) == pytest.approx(getattr(ties, name), abs=1e-12), name
    for name in ("wv", "variance", "ww0", "ww1"):
        columns = (getattr(each.moments, name) for each in (found, ties))
        assert next(columns) == pytest.approx(next(columns), abs=1e-12), name
    assert not found.open.any()


def test_against_plain_sums():
    keys, chunk = rows(2, weights="sampling")
    score, labels, weight = chunk[:3]
    blocks = pairs_of(keys, Chunk(score, labels, weight), counted=False).blocks()
    for number, key in enumerate(np.unique(keys)):
        here = keys == key
        gain = (weight * (labels - score))[here].sum()
        assert blocks.gain[number] == pytest.approx(gain, abs=1e-12)
        assert blocks.n[number] == here.sum()
        assert (blocks.least[number], blocks.most[number]) == (score[here].min(), score[here].max())


def test_heavy_ties_do_not_drift():
    """A million scores of .3 at one key are a million times .3."""
    n = 1 << 18
    chunk = Chunk(np.full(n, 0.3), np.zeros(n, np.int64), None)
    cells = KeyCells(np.array([0]), sampling=False, counted=False, outcome_weights=None)
    for _ in range(4):
        cells.add(chunk, np.zeros(n, np.int64))
    assert cells.blocks().down[0] == pytest.approx(4 * n * 0.3, rel=1e-15)


def test_edges_give_common_keys_cells_of_their_own():
    sample = np.sort(np.concatenate([np.arange(50), np.full(50, 17), [99]]))
    edges = edges_of(sample, 10)
    assert {17, 18} <= set(edges.tolist())
    assert edges_of(np.full(9, 2**63 - 1), 3).tolist() == [2**63 - 1]
    assert edges_of(np.full(9, 0.5), 3).tolist() == [0.5, np.nextafter(0.5, 1)]


def test_whole_keys_beyond_doubles_stay_apart():
    keys = np.array([2**60 + 1, 2**60, 2**60 + 2])
    chunk = Chunk(np.full(3, 0.5), np.array([1, 0, 1]), None)
    blocks = pairs_of(keys, chunk, counted=False).blocks()
    assert blocks.low.tolist() == [2**60, 2**60 + 1, 2**60 + 2]
    assert blocks.n1.tolist() == [0, 1, 1]


@pytest.mark.parametrize("weights", [None, "sampling", "frequency"])
@pytest.mark.parametrize("outcome_weights", [None, (0.5, 0.25)])
def test_totals_are_those_of_the_rows_in_however_many_chunks(weights, outcome_weights):
    """More chunks than are kept apart, some of them empty."""
    keys, chunk = rows(4, weights=weights)
    counted = weights == "frequency"
    cells = KeyCells(
        np.unique(keys),
        sampling=weights == "sampling",
        counted=counted,
        outcome_weights=outcome_weights,
    )
    for part in [*np.array_split(np.arange(500), 70), np.arange(0)]:
        some = (None if column is None else column[part] for column in chunk)
        cells.add(Chunk(*some), keys[part])
    totals = cells.totals(cells.blocks())
    score, labels, weight = chunk[:3]
    copies = weight if counted else np.ones(500)
    a = np.ones(500) if weight is None or counted else weight
    o0, o1 = outcome_weights or (1.0, 1.0)
    w = a * np.where(labels == 1, o1, o0)
    wanted = {
        "n": copies.sum(),
        "weight": (copies * w).sum(),
        "ww": (copies * w * w).sum(),
        "ww1": (copies * w * w * labels).sum(),
        "variance": (copies * a * a * o0 * o1 * score * (1 - score)).sum(),
        "squares": (copies * w * w * (labels - score) ** 2).sum(),
        "squared_error": (copies * w * (labels - score) ** 2).sum(),
    }
    for name, value in wanted.items():
        assert getattr(totals, name) == pytest.approx(value, rel=1e-12), name


@pytest.mark.parametrize("counted", [False, True])
def test_scores_are_counted_whatever_their_order(counted):
    rng = np.random.default_rng(6)
    score = np.append(rng.random(800), [0.0, 1.0, 1.0])
    copies = rng.integers(1, 4, 803) * 1.0 if counted else None
    cells = KeyCells(np.array([0]), sampling=False, counted=counted, outcome_weights=None)
    cells.add(Chunk(score, np.zeros(803, np.int64), copies), rng.integers(0, 5, 803))
    n, mean = cells.by_score
    many = np.ones(803) if copies is None else copies
    place = np.floor(score * 4096)
    wanted = [
        (many[place == k].sum(), (many * score)[place == k].sum() / many[place == k].sum())
        for k in np.unique(place)
    ]
    assert np.array([n, mean]) == pytest.approx(np.array(wanted).T, rel=1e-12)
    assert mean[-1] == 1


def test_merged_blocks_know_the_limits_of_all_their_scores():
    keys, chunk = rows(7)
    ties = pairs_of(keys, chunk, counted=False).blocks()
    starts = np.array([0, 1, 5, 6])
    merged = merge(ties, starts)
    groups = np.searchsorted(ties.low[starts], keys, side="right") - 1
    for number in range(4):
        here = chunk.scores[groups == number]
        assert (merged.least[number], merged.most[number]) == (here.min(), here.max())
        assert merged.n[number] == len(here)


@pytest.mark.parametrize("places", [1, 3, 700, 1 << 17, 10**9])
def test_rows_are_put_in_the_order_of_keys_and_scores(places):
    """As by a sort that compares, however many share a key, or how many keys there are."""
    rng = np.random.default_rng(places)
    n = 1 << 17 if places > 1000 else 4000
    keys = rng.integers(0, places, n).astype(rng.choice([np.int64, np.float64])) - places // 2
    score = np.where(rng.random(n) < 0.1, -0.0, rng.integers(0, 50, n) / 49)
    labels = rng.integers(0, 2, n)
    found = pairs_of(keys, Chunk(score, labels, None), counted=False)
    ties = found.ties
    pairs, number = np.unique(np.stack([keys, score + 0.0]), axis=1, return_inverse=True)
    number = number.ravel()  # numpy 2.0 gives it another shape
    assert np.array_equal(np.stack([found.key, ties.low]), pairs)
    assert np.array_equal(ties.n1, np.bincount(number, labels).astype(int))
    assert np.array_equal(ties.n, np.bincount(number))
