"""How values along an axis are written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._input.axis import Axis


def test_weeks_months_and_hours_in_words():
    week, month, hour = (Axis("t", "time", unit) for unit in ("W", "M", "h"))
    first, last = week.key("2026-03-26"), week.key("2026-04-09")
    assert week.place(first, first) == "in the week of March 26, 2026"
    assert week.place(first, last) == "from the week of March 26 to that of April 9, 2026"
    assert month.place(0, 0) == "in January 1970"
    assert hour.place(0, 0) == "at January 1, 1970, 00:00"
    assert hour.place(0, 5) == "from January 1, 1970, 00:00 to 05:00"


@pytest.mark.parametrize(
    ("unit", "values", "labels"),
    [
        ("D", ["2026-03-03", "2026-05-09"], ["Mar 3", "May 9"]),
        ("D", ["2025-12-31", "2026-01-01"], ["Dec 31, 2025", "Jan 1, 2026"]),
        ("M", ["2026-03", "2026-05"], ["Mar", "May"]),
        ("M", ["2025-03", "2026-05"], ["Mar 2025", "May 2026"]),
        ("Y", ["2025", "2026"], ["2025", "2026"]),
        ("m", ["2026-03-03T10:00", "2026-03-03T11:30"], ["10:00", "11:30"]),
        ("m", ["2026-03-03T00:00", "2026-03-04T00:00"], ["Mar 3", "Mar 4"]),
        (
            "m",
            ["2026-03-03T00:00", "2026-03-03T12:00", "2026-03-04T00:00"],
            ["Mar 3 00:00", "Mar 3 12:00", "Mar 4 00:00"],
        ),
        ("m", ["2026-03-03T10:00", "2026-03-04T11:00"], ["Mar 3", "Mar 4"]),
    ],
)
def test_times_along_an_axis_say_no_more_than_tells_them_apart(unit, values, labels):
    assert Axis("t", "time", unit).labels(np.array(values, f"M8[{unit}]")) == labels


@given(
    st.sampled_from(["Y", "M", "D", "h", "m", "s", "ms"]),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=6, unique=True),
)
def test_labels_tell_times_apart(unit, keys):
    labels = Axis("t", "time", unit).labels(np.array(sorted(keys), f"M8[{unit}]"))
    assert len(set(labels)) == len(keys)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0.0, 0.25, 0.5], ["0", "0.25", "0.5"]),
        ([0.301, 0.302], ["0.301", "0.302"]),
        ([0.3010001, 0.3010002], ["0.3010001", "0.3010002"]),
        ([1.0, 1.0 + 1e-9], ["1", "1"]),  # finer than any axis is drawn
        ([1e-7, 2e9], ["1e-07", "2,000,000,000"]),
        ([1.5e-7, 2.5e6], ["1.5e-07", "2,500,000"]),
        ([-np.inf, 0.5, np.inf], ["-infinite", "0.5", "infinite"]),
    ],
)
def test_numbers_along_an_axis(values, labels):
    assert Axis("x").labels(np.array(values)) == labels


@pytest.mark.parametrize(
    ("count", "unit", "words"),
    [
        (1, "Y", "1 year"),
        (2, "Y", "2 years"),
        (1, "M", "1 month"),
        (1500, "M", "1,500 months"),
        (2, "W", "14 days"),
        (1, "D", "1 day"),
        (-90, "m", "-1.5 hours"),
        (59, "s", "59 seconds"),
        (60, "s", "1 minute"),
        (250, "ms", "0.25 seconds"),
        (0, "ns", "0 seconds"),
    ],
)
def test_durations_in_words(count, unit, words):
    axis = Axis("t", "duration", unit)
    assert axis.write(count) == words
    assert axis.labels(np.array([count], f"m8[{unit}]")) == [words]
