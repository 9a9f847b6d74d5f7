"""Rows that wait: all come back, those of a group together, wherever they waited."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._input.observations import Chunk, pick
from secant.sources.files import spool
from secant.sources.files.spool import Spool, in_groups

N, GROUPS = 500, 7


def rows(*, weights=False):
    rng = np.random.default_rng(0)
    p, y, group = rng.random(N), rng.integers(0, 2, N), rng.integers(0, GROUPS, N)
    place = rng.integers(-(2**60), 2**60, N)
    return Chunk(p, y, p + 1 if weights else None, group, None, place)


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other)


def filled(chunk, size, *, in_groups=True):
    waiting = Spool(in_groups=in_groups)
    for start in range(0, N, size):
        waiting.add(pick(chunk, slice(start, start + size)))
    return waiting


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("room", [99, N])
@pytest.mark.parametrize("size", [10, 130])
def test_rows_come_back_as_they_came(size, room, weights, monkeypatch):
    monkeypatch.setattr(spool, "IN_MEMORY", room)
    chunk = rows(weights=weights)
    waiting = filled(chunk, size, in_groups=False)
    assert waiting.size == N
    same(waiting.rows(), chunk)


@pytest.mark.parametrize("room", [99, N])
@given(first=st.integers(0, GROUPS), last=st.integers(0, GROUPS), size=st.integers(20, N))
def test_rows_of_groups_come_together_in_their_order(room, first, last, size):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(spool, "IN_MEMORY", max(room, size))
        chunk = rows()
        found = filled(chunk, size).of(slice(first, last))
        inside = pick(chunk, (chunk.group >= first) & (chunk.group < last))
        assert (found is None) == (not inside.scores.size)
        if found is not None:
            same(found, in_groups(inside))


@pytest.mark.parametrize("room", [99, N])
def test_some_groups_are_given_and_forgotten(room, monkeypatch):
    monkeypatch.setattr(spool, "IN_MEMORY", room)
    chunk = rows()
    waiting = filled(chunk, 40)
    wanted = np.isin(np.arange(GROUPS), [2, 5])
    scores = np.concatenate([part.scores for part in waiting.among(wanted)])
    assert sorted(scores) == sorted(chunk.scores[wanted[chunk.group]])
    assert waiting.size == N
    waiting.drop(wanted)
    assert waiting.size < N
    for group in np.flatnonzero(~wanted).tolist():
        same(waiting.of(slice(group, group + 1)), pick(chunk, chunk.group == group))


def test_what_is_added_may_be_written_over_afterwards():
    chunk = rows()
    waiting = filled(chunk, N)
    before = chunk.scores.copy()
    chunk.scores[:] = 0
    np.testing.assert_array_equal(waiting.rows().scores, before)
