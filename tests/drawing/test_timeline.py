"""Places and labels of periods on an axis of time."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._drawing.timeline import evidence_ticks, places, time_ticks

START = date(2026, 1, 5)


def days(count, step=1):
    return [START + timedelta(step * k) for k in range(count)]


SERIES = st.one_of(
    st.integers(1, 3000).map(days),
    st.integers(1, 40).map(lambda count: days(count, 400)),
    st.integers(1, 500).map(lambda count: list(range(-3, count - 3))),
    st.integers(1, 500).map(lambda count: [f"name {k:03d}" for k in range(count)]),
    st.integers(1, 500).map(
        lambda count: [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=k) for k in range(count)]
    ),
)


@given(SERIES, st.integers(5, 150))
def test_ticks_lie_among_the_periods_and_have_room(times, room):
    at = places(times)
    ticks = time_ticks(times, room)
    assert ticks
    assert all(at[0] <= place <= at[-1] for place, _ in ticks)
    assert [place for place, _ in ticks] == sorted({place for place, _ in ticks})
    if len(ticks) > 1:
        assert (len(ticks) - 1) * max(len(label) for _, label in ticks) <= room


def test_places_keep_distances():
    assert np.diff(places(days(5, 7))).tolist() == [7.0] * 4
    hours = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=k) for k in range(4)]
    assert np.diff(places(hours)) == pytest.approx([1 / 24] * 3)
    assert places([datetime(2026, 1, 5)])[0] == START.toordinal()  # noqa: DTZ001
    assert places(["x", "a"]).tolist() == [0.0, 1.0]
    assert places([3, 10]).tolist() == [3.0, 10.0]


@pytest.mark.parametrize(
    ("times", "labels"),
    [
        (days(8), ["2026-01-05", "2026-01-07", "2026-01-09", "2026-01-11"]),
        (days(40), ["2026-01-05", "2026-01-19", "2026-02-02"]),
        (days(200), ["2026-02", "2026-03", "2026-04", "2026-05", "2026-06", "2026-07"]),
        (days(10, 400), ["2028", "2030", "2032", "2034"]),
        ([7], ["7"]),
        ([f"w{k}" for k in range(5)], ["w0", "w1", "w2", "w3", "w4"]),
        ([], []),
    ],
)
def test_labels_are_round(times, labels):
    assert [label for _, label in time_ticks(times, 50)] == labels


def test_powers_of_ten():
    assert evidence_ticks(-1.2, 1.5, 5) == [(-1.0, "0.1"), (0.0, "1"), (1.0, "10")]
    assert [label for _, label in evidence_ticks(-6, 30, 6)] == ["1", "10¹⁰", "10²⁰", "10³⁰"]
    assert evidence_ticks(-4.5, -3.5, 2) == [(-4.0, "10⁻⁴")]
