"""Cells of scores whose ends do not depend on the data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._blocks.score_cells import BITS, CellFinder, anchors, finest

SCORES = st.lists(
    st.floats(0, 1) | st.floats(0, 1e-5) | st.floats(1 - 1e-5, 1), min_size=1, max_size=50
).map(np.array)


@given(SCORES, st.sampled_from(BITS))
def test_cells_are_ranges_of_scores(scores, bits):
    ordered = np.sort(scores)
    assert (np.diff(anchors(ordered, bits)) >= 0).all()


@given(SCORES, st.integers(2, 30), st.integers(1, 29))
def test_coarser_cells_are_made_of_whole_finer_ones(scores, fine, less):
    coarse = max(1, fine - less)
    assert (anchors(anchors(scores, fine), coarse) == anchors(scores, coarse)).all()


@given(SCORES, st.integers(1, 5))
def test_pieces_and_order_do_not_matter(scores, pieces):
    finder = CellFinder(8)
    for part in np.array_split(scores[::-1], pieces):
        finder.add(part)
    cells, number = finest(scores, 8)
    assert (finder.anchors == cells).all()
    assert (cells[number] == anchors(scores, finder.bits)).all()


@pytest.mark.parametrize("a", [0.05, 1, 50])
@pytest.mark.parametrize("b", [0.05, 1, 200])
def test_there_are_64_to_256_cells_for_scores_of_every_shape(a, b):
    scores = np.random.default_rng(0).beta(a, b, 50_000)
    assert 64 <= len(finest(scores, 256)[0]) <= 256


def test_scores_that_crowd_are_cut_finely_as_well():
    crowd = 0.5 + 1e-6 * np.random.default_rng(0).random(10_000)
    assert 64 <= len(finest(crowd, 256)[0]) <= 256
    assert len(finest(np.arange(11) / 10, 256)[0]) == 11
