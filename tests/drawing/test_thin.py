"""Laws of thinning: nothing that a picture can show is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._drawing.thin import thin


@st.composite
def curves(draw, most=600):
    """(x, y) with x ascending, perhaps with ties and gaps, and y of any shape."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = {
        "even": lambda: np.arange(n) / n,
        "random": lambda: np.sort(rng.random(n)),
        "tied": lambda: np.sort(rng.integers(0, 5, n) / 4),
        "one place": lambda: np.full(n, 0.5),
        "gap": lambda: np.sort(rng.choice([0.0, 1.0], n) + 1e-6 * rng.random(n)),
    }
    shape = {
        "walk": lambda: np.cumsum(rng.choice([-1.0, 1.0], n)),
        "noise": lambda: rng.normal(size=n),
        "flat": lambda: np.zeros(n),
        "spike": lambda: np.where(np.arange(n) == rng.integers(n), 1.0, 0.0),
    }
    x = spread[draw(st.sampled_from(sorted(spread)))]()
    return x, shape[draw(st.sampled_from(sorted(shape)))]()


columns = st.integers(1, 40)


@given(curves(), columns)
def test_extremes_and_ends_are_kept(curve, columns):
    x, y = curve
    kept = thin(x, y, columns)
    assert y[kept].min() == y.min()
    assert y[kept].max() == y.max()
    assert (kept[0], kept[-1]) == (0, len(x) - 1)


@given(curves(), columns)
def test_order_is_kept_and_points_are_few(curve, columns):
    kept = thin(*curve, columns)
    assert (np.diff(kept) > 0).all()
    assert len(kept) <= 4 * columns


@given(curves(), columns)
def test_short_curves_are_kept_whole(curve, columns):
    x, y = curve
    if len(x) <= 4 * columns:
        assert thin(x, y, columns).tolist() == list(range(len(x)))


@given(curves(), columns)
def test_the_thinned_line_is_within_a_pixel_of_every_point(curve, columns):
    """At the height of each point the thinned line passes less than a column to its side."""
    x, y = curve
    kept = thin(x, y, columns)
    width = (x[-1] - x[0]) / columns * (1 + 1e-9)
    lines = np.column_stack([x[kept[:-1]], x[kept[1:]], y[kept[:-1]], y[kept[1:]]])
    for place, height in zip(x, y, strict=True):
        ends = lines[
            (np.minimum(*lines[:, 2:].T) <= height) & (height <= np.maximum(*lines[:, 2:].T))
        ]
        x0, x1, y0, y1 = ends.T
        # Where a line lies at this height all along, any of its points will do.
        share = np.divide(height - y0, y1 - y0, out=np.zeros_like(y0), where=y1 != y0)
        crossing = x0 + share * (x1 - x0)
        level = y0 == y1
        near = np.where(level, np.clip(place, x0, x1), crossing)
        points = place == x[kept]
        assert (points & (height == y[kept])).any() or np.abs(near - place).min() <= width


@given(curves(), columns)
def test_thinning_twice_is_thinning_once(curve, columns):
    x, y = curve
    once = thin(x, y, columns)
    again = thin(x[once], y[once], columns)
    assert again.tolist() == list(range(len(once)))


def test_a_long_curve_keeps_what_happens_once():
    n = 3_000_000
    x = np.linspace(0, 1, n)
    y = np.zeros(n)
    y[1_234_567], y[2_345_678] = 1, -2
    kept = thin(x, y, 1000)
    assert {1_234_567, 2_345_678} <= set(kept.tolist())
    assert len(kept) <= 4000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inputs_are_not_changed(dtype):
    x, y = np.linspace(0, 1, 500, dtype=dtype), np.sin(np.arange(500, dtype=dtype))
    before = x.copy(), y.copy()
    x.flags.writeable = y.flags.writeable = False
    thin(x, y, 10)
    assert (x == before[0]).all()
    assert (y == before[1]).all()


def test_a_column_keeps_its_ends_and_its_extremes():
    y = np.zeros(1000)
    y[[333, 777]] = 1, -1
    keep = thin(np.arange(1000) / 999, y, 10)
    assert {0, 333, 777, 999} <= set(keep.tolist())
    assert len(keep) <= 40
    assert (np.diff(keep) > 0).all()


def test_a_curve_without_width_is_thinned_as_well():
    y = np.random.default_rng(0).random(1000)
    keep = thin(np.zeros(1000), y, 10)
    assert set(keep.tolist()) == {0, 999, int(y.argmin()), int(y.argmax())}
