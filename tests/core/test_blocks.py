"""Blocks of distinct scores: counted one by one as the oracle, put together in any order."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._blocks import collapse, concatenate

# Where doubles, or their bits, could be taken for one another.
SCORES = [0.0, -0.0, 5e-324, 1e-310, 0.25, 0.5, 0.5 + 2**-53, 1 - 2**-53, 1.0]
LABELS = [bool, np.int8, np.uint8, np.int16, np.uint32, np.int64]

rows = st.lists(st.tuples(st.sampled_from(SCORES), st.integers(0, 1)), min_size=1, max_size=40)


def counted_by_hand(scores, labels, weights):
    """Return the distinct scores, and the weights of failures and successes at each."""
    seen = {}
    for score, label, weight in zip(scores, labels, weights, strict=True):
        seen.setdefault(score, [0, 0])[int(label)] += weight  # -0.0 is the same key as 0.0
    score = np.array(sorted(seen))
    return score, *np.array([seen[s] for s in score.tolist()]).T


def assert_counted(p, y, weights=None, *, counted=False):
    """Check every column; weights are such that their sums are exact."""
    ones = np.ones(len(p), int)
    copies = weights.astype(int) if counted else ones
    w = ones if weights is None else weights
    score, n0, n1 = counted_by_hand(p, y, copies)
    _, w0, w1 = counted_by_hand(p, y, w)
    ww = sum(counted_by_hand(p, y, w if counted else w**2)[1:])
    blocks = collapse(p, y, weights, counted=counted, moments=True)
    assert blocks.low.tolist() == blocks.high.tolist() == score.tolist()
    assert not np.signbit(blocks.low).any()
    assert blocks.n0.dtype == blocks.n1.dtype == np.int64
    assert (blocks.n0.tolist(), blocks.n1.tolist()) == (n0.tolist(), n1.tolist())
    assert (blocks.w0.tolist(), blocks.w1.tolist()) == (w0.tolist(), w1.tolist())
    assert blocks.down.tolist() == (w0 * score).tolist()
    assert blocks.up.tolist() == (w1 * (1 - score)).tolist()
    v = score * (1 - score)
    assert blocks.moments.ww.tolist() == ww.tolist()
    assert blocks.moments.wv.tolist() == ((w0 + w1) * v).tolist()
    assert blocks.moments.wwv.tolist() == (ww * v).tolist()


@pytest.mark.parametrize("dtype", LABELS)
@given(data=rows)
def test_rows_are_counted_by_score_and_response(dtype, data):
    p = np.array([score for score, _ in data])
    y = np.array([label for _, label in data]).astype(dtype)
    before = p.tobytes(), y.tobytes()
    some = np.arange(len(p)) % 3 + 1.0
    assert_counted(p, y)
    assert_counted(p, y, some, counted=True)
    assert_counted(p, y, some / 4)
    assert (p.tobytes(), y.tobytes()) == before


@pytest.mark.parametrize("dtype", LABELS)
@pytest.mark.parametrize("score", SCORES)
def test_more_ties_than_small_integers_can_count(dtype, score):
    p, y = np.full(1000, score), (np.arange(1000) % 10 > 0).astype(dtype)
    assert_counted(p, y)
    assert_counted(p, y, np.ones(1000))


def test_rows_in_a_given_order_are_a_block_each():
    p, y, order = np.array([0.5, -0.0, 0.5, 1.0]), np.array([1, 0, 0, 1], np.int8), [1, 2, 0, 3]
    blocks = collapse(p, y, None, order=np.array(order))
    assert blocks.low.tolist() == [0.0, 0.5, 0.5, 1.0]
    assert not np.signbit(blocks.low).any()
    assert blocks.n1.tolist() == [0, 0, 1, 1]


def as_dict(table):
    """Return every column as a list, those of the moments among them."""
    columns = {field.name: getattr(table, field.name) for field in fields(table)}
    moments = columns.pop("moments", None)
    plain = {name: column.tolist() for name, column in columns.items()}
    return plain | ({} if moments is None else as_dict(moments))


@pytest.mark.parametrize("moments", [False, True])
@given(data=rows, owners=st.lists(st.integers(0, 2), min_size=9, max_size=9))
def test_disjoint_tables_are_joined_in_the_order_of_scores(moments, data, owners):
    """Whichever table a score is in, and whichever comes first."""
    p = np.array([score for score, _ in data]) + 0.0
    y = np.array([label for _, label in data])
    w = np.arange(len(p)) % 3 + 0.25
    owner = np.array(owners)[np.searchsorted(np.unique(SCORES), p)]
    whole = collapse(p, y, w, moments=moments)
    parts = [
        collapse(p[owner == i], y[owner == i], w[owner == i], moments=moments)
        for i in np.unique(owner)
    ]
    assert ("wwv" in as_dict(whole)) == moments
    for several in (parts, parts[::-1]):
        assert as_dict(concatenate(several)) == as_dict(whole)
