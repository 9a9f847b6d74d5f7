"""Names of periods: one kind, one order, and the same after a round trip."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant import InputError
from secant._input.periods import (
    from_text,
    in_order,
    next_time,
    number_in,
    period_of,
    to_text,
    written,
)

NAMES = st.one_of(
    st.integers(-(2**70), 2**70),
    st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable()),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
)


@given(NAMES)
def test_a_name_survives_a_round_trip(time):
    kind, text = to_text(time)
    again = from_text(kind, text)
    assert again == time
    assert type(again) is type(time)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("number", "1.5"), ("number", " 1"), ("date", "2026-13-01"), ("date", "x"), ("text", 5),
     ("code", "1"), (None, "1"), (["date"], "2026-01-01"), ("text", "x" * 201),
     ("datetime", "2026-01-01")],
)  # fmt: skip
def test_what_was_never_written_is_refused(kind, text):
    with pytest.raises(ValueError):  # noqa: PT011  (its message is read by nobody)
        from_text(kind, text)


def test_periods_are_numbered_unless_they_have_names():
    assert next_time(None, None) == 1
    assert next_time(None, 41) == 42
    assert next_time(np.int32(7), 3) == 7
    with pytest.raises(InputError, match="time must be given, as it was before: the last was 2026"):
        next_time(None, date(2026, 1, 1))


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.datetime64("2026-03-01"), date(2026, 3, 1)),
        (np.datetime64("2026-03"), date(2026, 3, 1)),
        (np.datetime64("2026-03-01T10:30:00", "ns"), datetime(2026, 3, 1, 10, 30)),  # noqa: DTZ001
        (np.str_("week 1"), "week 1"),
        (np.int64(3), 3),
    ],
)
def test_names_are_as_python_has_them(value, plain):
    found = next_time(value, None)
    assert found == plain
    assert type(found) is type(plain)


def test_pandas_names():
    pandas = optional("pandas")
    assert next_time(pandas.Timestamp("2026-03-01 10:30"), None) == datetime(2026, 3, 1, 10, 30)  # noqa: DTZ001
    with pytest.raises(InputError, match="must be a date"):
        next_time(pandas.NaT, None)


@pytest.mark.parametrize("value", [1.5, True, "", "x" * 201, [1], np.datetime64("NaT"), b"x"])
def test_what_is_no_name_is_refused(value):
    with pytest.raises(InputError, match="time must be a date, a time, a whole number or a short"):
        next_time(value, None)


@pytest.mark.parametrize(
    ("time", "last", "complaint"),
    [
        (3, 3, "the period 3 has been added already"),
        (date(2026, 1, 1), date(2026, 1, 2), "the period 2026-01-01 comes before 2026-01-02"),
        ("day 10", "day 9", "texts are compared letter by letter"),
        (3, "2", r"must be of one kind: got 3 \(number\) after 2 \(text\)"),
        (date(2026, 1, 1), datetime(2025, 1, 1, tzinfo=UTC), "must be of one kind"),
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2025, 1, 1), "a time zone always or never"),  # noqa: DTZ001
    ],
)
def test_a_period_out_of_order_is_refused_by_name(time, last, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        next_time(time, last)
    assert caught.value.argument == "time"


@pytest.mark.parametrize(
    ("value", "every", "period"),
    [
        (date(2026, 3, 19), None, date(2026, 3, 19)),
        (date(2026, 3, 19), "day", date(2026, 3, 19)),
        (date(2026, 3, 19), "week", date(2026, 3, 16)),
        (date(2026, 3, 16), "week", date(2026, 3, 16)),
        (date(2026, 3, 19), "month", date(2026, 3, 1)),
        ("2026-03-19", None, date(2026, 3, 19)),
        (" 2026-03-19 23:59:59", "month", date(2026, 3, 1)),
        ("20260319", "week", date(2026, 3, 16)),
        ("2026-03-19T23:59:59+02:00", None, date(2026, 3, 19)),
        (datetime(2026, 3, 19, 23, tzinfo=timezone(timedelta(hours=5))), "day", date(2026, 3, 19)),
        ("sprint 4", None, "sprint 4"),
        (17, None, 17),
    ],
)
def test_values_fall_into_periods(value, every, period):
    assert period_of(value, every) == period


@pytest.mark.parametrize(("value", "every"), [(17, "day"), ("soon", "month"), (None, None)])
def test_values_that_fall_into_none_are_refused(value, every):
    with pytest.raises(InputError, match=r"time (must hold dates for a period|is missing)"):
        period_of(value, every)


def test_periods_in_their_order():
    assert in_order([3, 1, 2, 1]) == [1, 2, 3]
    assert in_order([]) == []
    with pytest.raises(InputError, match="of one kind"):
        in_order([1, "2"])
    with pytest.raises(InputError, match="time zone always or never"):
        in_order([datetime(2026, 1, 1), datetime(2026, 1, 2, tzinfo=UTC)])  # noqa: DTZ001


def test_numbers_and_names_for_reading():
    assert [number_in(each) for each in ("12", "20260301", "x", 5)] == [12, "20260301", "x", 5]
    assert written(datetime(2026, 1, 1, 10, 30)) == "2026-01-01 10:30"  # noqa: DTZ001
    assert written(datetime(2026, 1, 1, 10, 30, 5)) == "2026-01-01 10:30:05"  # noqa: DTZ001
    assert written(7) == "7"
