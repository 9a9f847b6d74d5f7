"""Cells fed with batches of rows, for the tests of their sums and of their files."""

import numpy as np
import pytest
from hypothesis import strategies as st

from secant import Cells

Y, P, W = [0, 1, 0, 1, 1], [0.2, 0.3, 0.6, 0.8, 1.0], [1, 2.5, 3, 0.5, 1]
CELLS = [1, 2, 16, 4096, 65536]


def state(n_cells, *batches):
    cells = Cells(n_cells)
    for batch in batches:
        cells.update(**batch)
    return cells


def assert_same(one, other):
    """Assert that two states know the same, within 1e-12."""
    a, b = one.bounds(), other.bounds()
    assert (one.n, one.n_cells, one.forbidden) == (other.n, other.n_cells, other.forbidden)
    assert a.ecce_r == pytest.approx(b.ecce_r, rel=0, abs=1e-12)
    assert a.ecce_mad == pytest.approx(b.ecce_mad, rel=0, abs=1e-12)
    # Below the absolute limit w^2 s(1 - s) underflows: it stands for scores such as 5e-324.
    assert a.sigma == pytest.approx(b.sigma, rel=1e-12, abs=1e-150)
    assert a.n == b.n


near = st.integers(-9, 9).map(lambda k: k * 1e-10)
scores = st.one_of(
    st.floats(0, 1),
    st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0, 5e-324, 1e-9, 1 - 2**-53]),
    st.tuples(st.sampled_from([0.25, 0.7]), near).map(sum),  # two clusters of width 2e-9
    st.integers(0, 16).map(lambda k: k / 16),  # edges of cells
)


@st.composite
def batches(draw, kinds=(None, "sampling", "frequency")):
    """Return a batch: rows without weights, with sampling weights or with copies."""
    rows = draw(st.lists(st.tuples(st.integers(0, 1), scores), min_size=1, max_size=12))
    y, p = map(list, zip(*rows, strict=True))
    kind = draw(st.sampled_from(kinds))
    if kind is None:
        return {"y_true": y, "y_prob": p}
    positive = st.integers(1, 4) if kind == "frequency" else st.floats(1e-3, 1e3)
    others = st.lists(positive | st.just(0), min_size=len(y) - 1, max_size=len(y) - 1)
    weights = [draw(positive), *draw(others)]
    return {"y_true": y, "y_prob": p, "sample_weight": weights, "weight_kind": kind}


def rows_of(batch):
    """Return labels, scores and weights, copies of rows as rows of weight one."""
    y, p = batch["y_true"], batch["y_prob"]
    w = batch.get("sample_weight", [1] * len(y))
    if batch.get("weight_kind") == "frequency":
        y, p = (np.repeat(column, w).tolist() for column in (y, p))
        w = [1] * len(y)
    kept = [i for i, x in enumerate(w) if x]
    return [[column[i] for i in kept] for column in (y, p, w)]
