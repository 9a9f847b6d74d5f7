"""Sums by combinations of levels and cells, against a loop over rows."""

import numpy as np
import pytest

from secant._blocks.segment_sums import Adder
from secant._input.observations import Chunk


@pytest.mark.parametrize("kind", ["none", "sampling", "counted"])
def test_sums_are_those_of_a_loop(kind):
    rng = np.random.default_rng(0)
    n, sizes, cells = 200, [3, 2], 4
    levels = [rng.integers(0, size + 1, n) for size in sizes]  # the last is not searched
    cell, scores, labels = rng.integers(0, cells, n), rng.random(n), rng.integers(0, 2, n)
    weights = {"none": None, "sampling": rng.random(n), "counted": rng.integers(1, 4, n) * 1.0}
    weight = weights[kind]
    adder = Adder(
        sizes, [(0,), (0, 1)], cells, sampling=kind == "sampling", counted=kind == "counted"
    )
    # The first chunk is empty, as where a file is sorted by the feature that a segment is cut from.
    for rows in (np.arange(0), *np.array_split(np.arange(n), 3)):
        chunk = Chunk(scores[rows], labels[rows], None if weight is None else weight[rows])
        adder.add(chunk, [each[rows] for each in levels], cell[rows])
    alone, pairs = adder.sums()
    for a in range(3):
        for b in range(2):
            ours = (levels[0] == a) & (levels[1] == b)
            w = np.ones(n) if weight is None else weight
            copies = w if kind == "counted" else np.ones(n)
            v = scores * (1 - scores)
            power = 1 if kind == "counted" else 2
            assert pairs.n1[a, b] == (copies * labels)[ours].sum()
            assert pairs.wwv[a, b] == pytest.approx((w**power * v)[ours].sum())
            if kind == "sampling":
                assert pairs.wwwv[a, b] == pytest.approx((w**3 * v)[ours].sum())
            for c in range(cells):
                here = ours & (cell == c)
                assert pairs.n[a, b, c] == copies[here].sum()
                assert pairs.w[a, b, c] == pytest.approx(w[here].sum())
                assert pairs.gain[a, b, c] == pytest.approx((w * (labels - scores))[here].sum())
        assert alone.n[a].sum() == copies[levels[0] == a].sum()
