"""Thinned curves: few points, and every column's extremes among them."""

import numpy as np

from secant._drawing.thin import thin


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
