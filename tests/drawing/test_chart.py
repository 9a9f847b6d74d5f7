"""Where numbers stand in a chart, what is written along its axes, and how much room there is."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from secant._drawing.chart import Axis, Chart, Mark, Space, hold, round_ticks

numbers = st.floats(-1, 1)


def test_values_stand_between_the_ends():
    scale = Axis(-1.0, 3.0)
    assert scale.share(np.asarray([-1.0, 0.0, 3.0])).tolist() == [0, 0.25, 1]


@given(st.lists(numbers, min_size=1), st.sampled_from([0.03, 0.1]))
def test_an_axis_holds_its_values_with_room_to_spare(values, margin):
    low, high = hold([*values, math.nan, math.inf], margin=margin)
    assert low < min(values)
    assert high > max(values)
    span = max(values) - min(values)
    if margin * span > 0:
        assert high - low == pytest.approx((1 + 2 * margin) * span)


@given(st.lists(numbers, min_size=2), st.floats(0, 0.4), st.floats(0, 0.4))
def test_words_have_their_share_of_an_axis(values, above, below):
    low, high = hold(values, above=above, below=below)
    assert high - max(values) >= (above - 1e-9) * (high - low)
    assert min(values) - low >= (below - 1e-9) * (high - low)


# Down to steps of a millionth, which is where labels are no longer written in full.
@given(numbers, st.floats(1e-5, 2), st.integers(2, 8))
def test_marks_are_round_and_about_as_many_as_wanted(low, span, about):
    high = low + span
    assume(span / about > 2e-6)
    found = round_ticks(low, high, about)
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


def test_an_axis_writes_round_values_unless_told_otherwise():
    assert [text for _, text in Axis(-1.0, 3.0).ticks(3)] == ["\N{MINUS SIGN}1", "0", "1", "2", "3"]
    own = Axis(0, 1, write=lambda inches, size: [(0.5, f"{inches} {size}")])
    assert own.ticks(3, 9) == [(0.5, "3 9")]


def test_marks_are_found_by_their_role():
    marks = [Mark("line", role, [0, 1], [0, 1]) for role in ("curve", "zero", "curve")]
    assert Chart("", Axis(0, 1), Axis(0, 1), marks).of("curve") == [marks[0], marks[2]]


def test_text_takes_its_share_of_the_room():
    wide, narrow = Space(8, 4, 10), Space(4, 4, 10)
    assert narrow.share("words") == 2 * wide.share("words")
    assert wide.share("words", "head") > wide.share("words", "note")
    assert Space(8, 2, 10).line == 2 * wide.line


@pytest.mark.parametrize(
    ("low", "high", "about", "written"),
    [
        (0, 1.3e-6, 6, ["0", "2e-07", "4e-07", "6e-07", "8e-07", "1.0e-06", "1.2e-06"]),
        (1e-6, 1.5e-6, 5, ["1.0e-06", "1.1e-06", "1.2e-06", "1.3e-06", "1.4e-06", "1.5e-06"]),
        (-2e-8, 1e-8, 3, ["-2e-08", "-1e-08", "0", "1e-08"]),
    ],
)
def test_tiny_values_are_told_apart(low, high, about, written):
    labels = [label for _, label in round_ticks(low, high, about)]
    assert [label.replace("\N{MINUS SIGN}", "-") for label in labels] == written
