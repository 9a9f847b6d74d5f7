"""Rows in the order of their scores, whether they fit into memory or not."""

import tempfile
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant import SecantError
from secant._blocks.sorting import Sorting
from secant._input.observations import Chunk

scores = st.integers(0, 8).map(lambda k: k / 8) | st.floats(0, 1) | st.sampled_from([-0.0, 5e-324])
rows = st.lists(st.tuples(scores, st.integers(0, 1)), min_size=1, max_size=60)


def ordered(p, y, w, *, run, size, fed=7):
    sorting = Sorting(len(p), weighted=w is not None, run=run)
    for start in range(0, len(p), fed):
        part = slice(start, start + fed)
        sorting.add(Chunk(p[part], y[part], None if w is None else w[part]))
    return list(sorting.chunks(size))


@pytest.mark.parametrize("weighted", [False, True])
@given(data=rows, run=st.integers(1, 70), size=st.integers(1, 70))
def test_rows_come_in_order_and_no_tie_is_cut(weighted, data, run, size):
    p, y = np.array([s for s, _ in data]), np.array([r for _, r in data])
    w = np.arange(1.0, len(p) + 1) if weighted else None
    chunks = ordered(p, y, w, run=run, size=size)
    together = [np.concatenate(column) for column in list(zip(*chunks, strict=True))[:2]]
    expected = np.lexsort((y, p))
    assert together[0].tolist() == (p[expected] + 0.0).tolist()
    assert together[1].tolist() == y[expected].tolist()
    assert all(a.scores[-1] < b.scores[0] for a, b in pairwise(chunks))
    assert not any(np.signbit(chunk.scores).any() for chunk in chunks)
    if weighted:
        rows_of = {(s + 0.0, r, weight) for s, r, weight in zip(p, y, w, strict=True)}
        found = {row for chunk in chunks for row in zip(*chunk[:3], strict=True)}
        assert found == rows_of


@given(data=rows, run=st.integers(1, 70), size=st.integers(1, 10))
def test_chunks_hold_about_as_many_rows_as_asked_for(data, run, size):
    p, y = np.array([s for s, _ in data]), np.array([r for _, r in data])
    _, counts = np.unique(p + 0.0, return_counts=True)
    for chunk in ordered(p, y, None, run=run, size=size):
        runs = -(-len(p) // run)
        assert len(chunk.scores) <= max(size, runs) + counts.max()


def test_no_rows_at_all_are_no_chunks():
    assert ordered(np.empty(0), np.empty(0, np.int64), None, run=10, size=5) == []


def test_where_there_is_no_room_the_message_says_where(monkeypatch, tmp_path):
    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    p = np.linspace(0, 1, 20)
    with pytest.raises(SecantError, match=f"80 bytes could not be put aside in {tmp_path}.*space"):
        ordered(p, np.zeros(20, np.int64), None, run=10, size=5)
