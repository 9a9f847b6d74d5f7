"""Grains: the same whatever the order, the batches and the source of rows; few, and no memory."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._blocks import grains
from secant._blocks.grains import Grains, Grinding, Ties, grain_size, grind, grind_along
from secant._input.observations import Chunk


@pytest.fixture
def few_ties(monkeypatch):
    """Pool from eleven distinct scores on."""
    monkeypatch.setattr(grains, "MANY_TIES", 10)


def rare_rows(rng, n, kind="low"):
    scores = rng.beta(0.5, 0.05 * n, n)
    if kind == "high":
        scores = 1 - scores
    elif kind == "both":
        scores = np.where(rng.random(n) < 0.5, scores, 1 - scores)
    elif kind == "ties":
        scores = np.append(scores[1:].round(4), 0.25)
    elif kind == "certain":
        scores = np.where(rng.random(n) < 0.3, rng.integers(0, 2, n), scores)
    return scores, (rng.random(n) < scores).astype(np.int64)


def ground(scores, labels, size, *, weights=None, run=None, chunk=None):
    run, chunk = run or len(scores), chunk or len(scores)
    grinding = Grinding(size, len(scores), counted=weights is not None, run=run)
    for start in range(0, len(scores), chunk):
        part = slice(start, start + chunk)
        grinding.add(Chunk(scores[part], labels[part], None if weights is None else weights[part]))
    return grinding.grains()


def same(one, other):
    assert isinstance(one, Grains)
    for name, value in vars(one).items():
        if value is not None:
            assert np.array_equal(value, getattr(other, name)), name


def variance(scores):
    return float((scores * (1 - scores)).sum())


@pytest.mark.parametrize("kind", ["low", "high", "both", "ties", "certain"])
def test_order_and_batches_change_no_bit(few_ties, monkeypatch, kind):
    rng = np.random.default_rng(1)
    scores, labels = rare_rows(rng, 5000, kind)
    size = 20 * grain_size(variance(scores))
    whole = ground(scores, labels, size)
    assert 10 < len(whole.n) < 5000
    order = rng.permutation(5000)
    same(whole, ground(scores[order], labels[order], size, chunk=700))
    monkeypatch.setattr(grains, "_TOGETHER", 64)
    same(whole, ground(scores, labels, size, run=900, chunk=333))
    score, tie = np.unique(scores, return_inverse=True)
    happened = np.bincount(tie, labels).astype(np.int64)
    same(whole, grind(Ties(score, np.bincount(tie), happened), size))


def test_counted_copies_are_rows(few_ties):
    rng = np.random.default_rng(2)
    scores, labels = rare_rows(rng, 3000)
    copies = rng.integers(1, 4, 3000)
    size = 16 * grain_size(variance(scores))
    counted = ground(scores, labels, size, weights=copies.astype(float))
    same(counted, ground(np.repeat(scores, copies), np.repeat(labels, copies), size))


@pytest.mark.parametrize("kind", ["low", "high", "both", "ties", "certain"])
def test_grains_say_what_is_in_them(few_ties, kind):
    rng = np.random.default_rng(3)
    scores, labels = rare_rows(rng, 4000, kind)
    size = 64 * grain_size(variance(scores))
    found = ground(scores, labels, size)
    order = np.argsort(scores, kind="stable")
    s, r = scores[order], labels[order]
    last = np.append(s[1:] != s[:-1], True)
    x = np.cumsum(r - s)[last]
    assert found.highest == pytest.approx(max(x.max(), 0), abs=1e-11)
    assert found.lowest == pytest.approx(min(x.min(), 0), abs=1e-11)
    assert found.expected == math.fsum(s.tolist())
    random = s[(s > 0) & (s < 1)]
    assert found.n.sum() == len(random)
    edges = np.concatenate([[0], np.cumsum(found.n)])
    for k, (start, stop) in enumerate(itertools.pairwise(edges.tolist())):
        inside = random[start:stop]
        assert (found.low[k], found.high[k]) == (inside[0], inside[-1])
        assert (inside < 0.5).all() or (inside >= 0.5).all()
        chances = np.minimum(inside, 1 - inside)
        assert found.rare[k] == pytest.approx(math.fsum(chances) / len(inside), rel=1e-13)
        assert found.square[k] == pytest.approx((chances**2).mean(), rel=1e-12)
        below = s[: np.searchsorted(s, inside[-1], side="right")]
        assert found.reached[k] == pytest.approx(math.fsum(below), rel=1e-15)
        # A tie that is too large stands alone; the others share what they expect.
        assert inside[0] == inside[-1] or chances.sum() <= 2 * size


def pooled_by_hand(scores, size):
    """Return where grains begin and end: one tie after the other, each with its neighbours."""
    found, before, expected = [], None, 0.0
    for score, n in zip(*np.unique(scores, return_counts=True), strict=True):
        if score in (0, 1):
            continue
        rare = n * min(score, 1 - score)
        expected += rare
        here = math.floor(expected / size), score < 0.5
        if rare > size:
            here = None  # alone
        if here is None or here != before:
            found.append([score, score])
        found[-1][1] = score
        before = here
    return np.array(found).T


@pytest.mark.parametrize("factor", [1, 20, 400])
@pytest.mark.parametrize("kind", ["low", "high", "both", "ties", "certain"])
def test_neighbours_share_a_grain_until_it_expects_its_size(few_ties, kind, factor):
    scores, labels = rare_rows(np.random.default_rng(5), 2000, kind)
    size = factor * grain_size(variance(scores))
    found, wanted = ground(scores, labels, size), pooled_by_hand(scores, size)
    assert [found.low.tolist(), found.high.tolist()] == wanted.tolist()


@pytest.mark.parametrize(("distinct", "pooled"), [(10, False), (11, True)])
def test_few_ties_stay_as_they_are(few_ties, distinct, pooled):
    scores = np.tile(np.linspace(1e-3, 2e-3, distinct), 50)
    found = ground(scores, np.arange(len(scores)) % 2, 1e-1)
    assert isinstance(found, Grains if pooled else Ties)
    if not pooled:
        assert found.score.tolist() == np.unique(scores).tolist()
        assert found.n.tolist() == [50] * distinct
        assert found.n1.sum() == len(scores) // 2


@given(st.floats(1e-320, 1e9))
def test_size_is_a_share_of_the_variance(v):
    size = grain_size(v)
    assert size > 0
    assert math.frexp(size)[0] == 0.5
    assert size == 5e-324 or v / 2**16 <= size * (1 + 1e-8) <= v / 2**15 * (1 + 1e-8)


def test_rounding_of_the_variance_does_not_change_the_size():
    for exact in (1.0, 256.0, 2.0**-40):
        sizes = {grain_size(exact * (1 + rounded)) for rounded in (-1e-13, 0.0, 1e-13)}
        assert len(sizes) == 1


@pytest.mark.parametrize("n", [1 << 18, 1 << 20])
def test_how_many_and_how_much_memory_whatever_the_rows(n):
    rng = np.random.default_rng(4)
    scores = rng.random(n) * (400 / n)
    labels = (rng.random(n) < scores).astype(np.int64)
    tracemalloc.start()
    found = ground(scores, labels, grain_size(variance(scores)), run=1 << 16, chunk=1 << 16)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1 << 14 <= len(found.n) <= 1 << 17
    assert peak < 40e6


# Along another order ------------------------------------------------------------------------------


def rows_along(rng, n, kind, places):
    """Return ties in the order of their places, the last of each place, and those places."""
    scores, labels = rare_rows(rng, n, kind)
    place = rng.integers(0, places, n) if places < n else rng.permutation(n)
    order = np.lexsort((scores, place))
    ends = np.append(np.flatnonzero(np.diff(place[order])), n - 1)
    return Ties(scores[order], np.ones(n, np.int64), labels[order]), ends, place[order]


@pytest.mark.parametrize("places", [3, 40, 500, 5000])
@pytest.mark.parametrize("kind", ["low", "high", "both", "ties", "certain"])
def test_grains_along_another_order_say_what_is_in_them(kind, places):
    ties, ends, place = rows_along(np.random.default_rng(places), 5000, kind, places)
    size = 50 * grain_size(variance(ties.score))
    found = grind_along(ties, ends, size)
    random = (ties.score > 0) & (ties.score < 1)
    score, place = ties.score[random], place[random]
    assert found.n.sum() == random.sum()
    edges = np.concatenate([[0], np.cumsum(found.n)])
    is_end = np.zeros(len(found.n), bool)
    is_end[found.ends] = True
    for k, (start, stop) in enumerate(itertools.pairwise(edges.tolist())):
        inside = score[start:stop]
        chance = np.minimum(inside, 1 - inside)
        assert (inside < 0.5).all() or (inside >= 0.5).all()
        assert (found.low[k], found.high[k]) == (inside.min(), inside.max())
        assert found.rare[k] == pytest.approx(chance.mean(), rel=1e-12)
        assert found.square[k] == pytest.approx((chance**2).mean(), rel=1e-12)
        assert found.across[k] == (place[start] != place[stop - 1])
        assert found.across[k] <= (chance.sum() <= 2 * size * (1 + 1e-9))
        # A grain ends a step exactly if the next row is elsewhere; one that pools several, always.
        assert is_end[k] == (stop == len(score) or place[stop] != place[stop - 1])
        if k and found.across[k]:
            assert place[start] != place[start - 1]
    path = (np.cumsum(ties.n1) - np.cumsum(ties.score))[ends]
    assert found.highest == pytest.approx(max(path.max(), 0), abs=1e-9)
    assert found.lowest == pytest.approx(min(path.min(), 0), abs=1e-9)
    assert found.expected == pytest.approx(ties.score.sum())


def test_the_order_of_scores_is_an_order(few_ties):
    """Along the scores themselves, grains are those of scores."""
    scores, labels = rare_rows(np.random.default_rng(3), 5000)
    order = np.argsort(scores)
    ties = Ties(scores[order], np.ones(5000, np.int64), labels[order])
    size = 20 * grain_size(variance(scores))
    along, by_score = grind_along(ties, np.arange(5000), size), ground(scores, labels, size)
    for name in ("n", "low", "high"):
        assert np.array_equal(getattr(along, name), getattr(by_score, name))
    assert np.allclose(along.rare, by_score.rare, rtol=1e-12, atol=0)
    assert along.across.tolist() == (by_score.n > 1).tolist()
