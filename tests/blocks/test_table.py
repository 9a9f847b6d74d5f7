"""Blocks of distinct scores: counted one by one as the oracle, put together in any order."""

import math
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant import SecantError
from secant._blocks.table import (
    Totals,
    add_totals,
    collapse,
    concatenate,
    fixed_running_sum,
    merge,
    with_fixed,
)

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
    assert blocks.moments.variance.tolist() == (ww * v).tolist()


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
    """Return every column as a list, those of the moments and of whole sums among them."""
    columns = {field.name: getattr(table, field.name) for field in fields(table)}
    nested = [columns.pop(name, None) for name in ("moments", "fixed")]
    assert all(columns.pop(name, None) is None for name in ("inside", "least", "most", "scale"))
    plain = {name: column.tolist() for name, column in columns.items()}
    for more in nested:
        plain |= {} if more is None else {type(more).__name__: as_dict(more)}
    return plain


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
    assert ("Moments" in as_dict(whole)) == moments
    for several in (parts, parts[::-1]):
        assert as_dict(concatenate(several)) == as_dict(whole)


def test_neighbours_are_merged():
    ties = collapse(np.array([0.1, 0.2, 0.3, 0.6, 0.7]), np.array([1, 0, 1, 1, 0]), None)
    merged = merge(ties, np.array([0, 2, 3]))
    assert (merged.low.tolist(), merged.high.tolist()) == ([0.1, 0.3, 0.6], [0.2, 0.3, 0.7])
    assert (merged.n0.tolist(), merged.n1.tolist()) == ([1, 0, 1], [1, 1, 1])
    assert merged.open.tolist() == [True, False, True]


CHANGES = {
    "nothing": {},
    "rounding": {"up": 1e-12, "w0": 1e-12},
    "a failure more": {"n0": 1},
    "a success more": {"n1": 1},
    "a response turned round": {"n0": -1, "n1": 1},
    "more weight": {"w0": 1e-6},
    "another score": {"up": 1e-6},
}


@pytest.mark.parametrize("change", CHANGES)
def test_finer_blocks_must_hold_the_same_observations(change):
    ties = collapse(np.array([0.1, 0.2, 0.3, 0.6]), np.array([1, 0, 1, 1]), np.full(4, 2.0))
    cells = merge(ties, np.array([0, 2]))
    coarse, finer = np.array([True, False]), ties.select(slice(2))
    finer = replace(
        finer, **{name: getattr(finer, name) + by for name, by in CHANGES[change].items()}
    )
    if change in ("nothing", "rounding"):
        assert cells.replace(coarse, finer).low.tolist() == [0.1, 0.2, 0.3]
    else:
        with pytest.raises(SecantError, match="the data were changed after they were assessed"):
            cells.replace(coarse, finer)


@pytest.mark.parametrize(
    ("variance", "few"), [(0.0, False), (1e-9, True), (9.99, True), (10.0, False), (10.01, False)]
)
@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_ten_events_are_no_longer_few(variance, few, weight):
    """The variance counts in units of an average squared weight."""
    square = weight**2
    totals = Totals(400, 400 * weight, 400 * square, variance * square, 100 * square)
    assert totals.few_events == few


def test_totals_add_up_and_what_one_lacks_both_lack():
    rng = np.random.default_rng(1)
    steps = [tuple(sorted(rng.random(n).tolist(), reverse=True)) for n in (3, 12, 7)]
    parts = [Totals(n, n, n, 1.0, 2.0, 1.0, 3.0, 4.0, 5.0, each) for n, each in enumerate(steps, 1)]
    whole = add_totals(parts)
    assert (whole.n, whole.weight, whole.variance, whole.third) == (6, 6, 3, 9)
    assert whole.steps == tuple(sorted((s for each in steps for s in each), reverse=True)[:12])
    assert whole == add_totals([add_totals(parts[:1]), add_totals(parts[1:])])
    old = Totals(1, 1.0, 1.0, 1.0, 2.0)
    for name in ("ww1", "third", "squared_error", "log_loss", "steps"):
        assert getattr(add_totals([*parts, old]), name) is None
    assert add_totals([*parts, old]).squares == 8


@pytest.mark.parametrize("variance", [400.0, 1e-300, 1e300])
def test_rho3_is_one_by_the_root_of_the_variance_where_nothing_is_weighted(variance):
    totals = Totals(9, 9.0, 9.0, variance, variance, third=variance)
    assert totals.rho3 == pytest.approx(variance**-0.5, rel=1e-12)
    assert replace(totals, variance=0.0, third=0.0).rho3 == math.inf


@pytest.mark.parametrize("many", [0, 1000])
def test_finer_blocks_take_the_places_of_coarse_ones(monkeypatch, many):
    monkeypatch.setattr("secant._blocks.table._FEW_PLACES", many)
    rng = np.random.default_rng(0)
    scores, labels = np.sort(rng.random(400)), rng.integers(0, 2, 400)
    ties = collapse(scores, labels, None, moments=True)
    coarse = merge(ties, np.arange(0, 400, 10))
    marked = np.zeros(40, bool)
    marked[[0, 7, 8, 39]] = True
    inside = np.isin(np.arange(400) // 10, np.flatnonzero(marked))
    found = coarse.replace(marked, ties.select(inside))
    expected = concatenate([coarse.select(~marked), ties.select(inside)])
    for name in ("low", "high", "n0", "n1", "down", "up"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.moments.wv, expected.moments.wv)
    assert len(found) == 36 + 40


@given(data=rows)
def test_whole_sums_of_ties_are_those_of_their_rows(data):
    p = np.array([score for score, _ in data]) + 0.0
    y = np.array([label for _, label in data])
    blocks = with_fixed(collapse(p, y, None))
    units = (int(y.sum()) << 52) - sum(round(Fraction(score) * 2**52) for score in p)
    whole = (int(blocks.fixed.high.sum()) << 26) + int(blocks.fixed.low.sum())
    assert whole == units
    assert blocks.total_gain == pytest.approx((y - p).sum(), rel=0, abs=1e-13)
    assert fixed_running_sum(blocks.fixed) == pytest.approx(
        np.cumsum(blocks.gain), rel=0, abs=1e-13
    )


@given(data=rows, cut=st.floats(0, 1))
def test_whole_sums_survive_joining_with_ties_alone(data, cut):
    p = np.array([score for score, _ in data]) + 0.0
    y = np.array([label for _, label in data])
    expected = with_fixed(collapse(p, y, None))
    parts = [collapse(p[some], y[some], None) for some in (p < cut, p >= cut) if some.any()]
    parts[0] = with_fixed(parts[0])
    assert as_dict(concatenate(parts)) == as_dict(expected)
    if len(parts) > 1:  # of a cell without whole sums nobody knows them
        parts[1] = replace(parts[1], high=parts[1].high + 1)
        assert concatenate(parts).fixed is None
