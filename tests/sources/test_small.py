"""Many small sources at once: the blocks and the sums that each has by itself."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from secant._input.observations import observations
from secant._input.options import Reading
from secant.sources import small
from secant.sources.rows import RowSource
from secant.sources.small import blocks_of

score = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 0.5, 0.25]), st.floats(0, 1))
rows = st.lists(st.tuples(score, st.booleans()), min_size=1, max_size=9)


def source(pairs, *, log_loss=None, dtype=np.float64, reading=None):
    scores, labels = zip(*pairs, strict=True)
    seen = observations(np.array(labels), np.array(scores, dtype), None, reading or Reading())
    return RowSource(seen, log_loss=log_loss)


def same(found, expected):
    (blocks, totals), (known, sums) = found, expected
    for field in dataclasses.fields(totals):
        a, b = getattr(totals, field.name), getattr(sums, field.name)
        assert a == b or a == pytest.approx(b, rel=1e-14, abs=1e-15), field.name
    for name in ("low", "high", "n0", "n1", "w0", "w1", "down", "up"):
        a, b = getattr(blocks, name), getattr(known, name)
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)
        assert not np.signbit(a).any()
    for name in ("wv", "variance", "ww0", "ww1"):
        assert np.array_equal(getattr(blocks.moments, name), getattr(known.moments, name))


@pytest.mark.parametrize("most", [1, 10, 1 << 20])
@given(st.lists(rows, min_size=1, max_size=8), st.sampled_from([True, False, None]))
def test_together_is_as_one_by_one(most, groups, log_loss):
    sources = [source(each, log_loss=log_loss) for each in groups]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(small, "_TOGETHER", most)
        several = blocks_of(sources)
    for found, each in zip(several, sources, strict=True):
        same(found, each.blocks())


def test_large_ones_and_weighted_ones_stay_by_themselves(monkeypatch):
    asked = []
    monkeypatch.setattr(small, "_together", lambda some: asked.append(some) or [None] * len(some))
    few = source([(0.25, True)] * 3)
    many = source([(0.25, True)] * 513)
    outcomes = source([(0.25, True)] * 3, reading=Reading(outcome_weights=(2.0, 1.0)))
    weights = RowSource(observations([0, 1], [0.2, 0.7], [1.0, 2.0]))
    blocks_of([many, few, outcomes, weights])
    assert asked == [[few]]


def test_short_floats_are_read_as_they_are():
    sources = [source([(0.1, True), (0.7, False)], dtype=np.float32) for _ in range(2)]
    for found in blocks_of(sources):
        same(found, sources[0].blocks())


@pytest.mark.parametrize("size", [1, 7, 14, 15, 40])
def test_a_group_among_many_is_as_if_it_were_alone(size):
    rng = np.random.default_rng(size)
    group = np.repeat(np.arange(30), size)
    p = rng.random(group.size).round(2)
    y = rng.random(group.size) < p
    found = secant.assess_by(y, p, group)
    for key, result in found.items():
        alone = secant.assess(y[group == key], p[group == key])
        assert result.ecce_r.method == alone.ecce_r.method
        for name in ("ecce_r", "ecce_mad"):
            a, b = getattr(result, name), getattr(alone, name)
            assert a.value == pytest.approx(b.value, abs=1e-14)
            assert a.pvalue == pytest.approx(b.pvalue, rel=1e-12)
            assert a.ci == pytest.approx(b.ci, abs=1e-14)
        assert result.warnings == alone.warnings
        assert result.worst == alone.worst
