"""Where numbers stand in a chart, and the marks along its axes."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from secant.report._scale import UNIT, Axis, axis, polyline, ticks

numbers = st.floats(-1, 1)


def test_values_stand_between_the_ends():
    scale = Axis(-1.0, 3.0)
    values = np.asarray([-1.0, 0.0, 3.0])
    assert scale.across(values).tolist() == [0, UNIT / 4, UNIT]
    assert scale.up(values).tolist() == [UNIT, 3 * UNIT / 4, 0]  # counted downwards
    assert [scale.share(value) for value in values] == [0, 0.25, 1]


@given(st.lists(numbers, min_size=1), st.sampled_from([0.03, 0.1]))
def test_an_axis_holds_its_values_with_room_to_spare(values, margin):
    found = axis([*values, math.nan, math.inf], margin=margin)
    assert found.low < min(values)
    assert found.high > max(values)
    span = max(values) - min(values)
    if margin * span > 0:
        assert found.high - found.low == pytest.approx((1 + 2 * margin) * span)


# Down to steps of a millionth, which is where labels are no longer written in full.
@given(numbers, st.floats(1e-5, 2), st.integers(2, 8))
def test_marks_are_round_and_about_as_many_as_wanted(low, span, about):
    high = low + span
    assume(span / about > 2e-6)
    found = ticks(low, high, about)
    values = [value for value, _ in found]
    assert all(low - 1e-8 * span <= value <= high + 1e-8 * span for value in values)
    # Of steps of 1, 2, 5 and 10 the nearest is at most 1.43 times the wanted one, or 1/1.75 of it.
    assert math.floor(about / 1.43) <= len(found) <= 1.75 * about + 1
    steps = [b - a for a, b in pairwise(values)]
    for step in steps:
        assert step == pytest.approx(steps[0], rel=1e-6)
        assert f"{step:.0e}"[0] in "125"
        assert step == pytest.approx(float(f"{step:.0e}"), rel=1e-6)
    for value, label in found:
        assert float(label.replace("\N{MINUS SIGN}", "-")) == pytest.approx(value, abs=1e-12)
    labels = [label for _, label in found]
    assert len(set(labels)) == len(labels)


def test_marks_of_an_axis_are_shares_of_it():
    assert Axis(-1.0, 3.0).ticks(4) == [
        (0.0, "\N{MINUS SIGN}1"), (0.25, "0"), (0.5, "1"), (0.75, "2"), (1.0, "3"),
    ]  # fmt: skip


def test_a_line_goes_through_its_points():
    x, y = np.asarray([0.0, 12.34, 1000.0]), np.asarray([1000.0, 0.04, 500.0])
    assert polyline(x, y) == "M0 1000L12.3 0L1000 500"


@pytest.mark.parametrize(
    ("low", "high", "about", "written"),
    [
        (0, 1.3e-6, 6, ["0", "2e-07", "4e-07", "6e-07", "8e-07", "1.0e-06", "1.2e-06"]),
        (1e-6, 1.5e-6, 5, ["1.0e-06", "1.1e-06", "1.2e-06", "1.3e-06", "1.4e-06", "1.5e-06"]),
        (-2e-8, 1e-8, 3, ["-2e-08", "-1e-08", "0", "1e-08"]),
    ],
)
def test_tiny_values_are_told_apart(low, high, about, written):
    labels = [label for _, label in ticks(low, high, about)]
    assert [label.replace("\N{MINUS SIGN}", "-") for label in labels] == written
