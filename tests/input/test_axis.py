"""What keys along an axis mean."""

import datetime as dt
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from secant import InputError, assess
from secant._input.axis import Axis


def test_places_and_values_in_words():
    number, day = Axis("age"), Axis("day", "time", "D")
    assert number.place(40, 52) == "where age is 40 to 52"
    assert number.place(40, 40) == "where age is 40"
    assert day.place(day.key("2026-03-03"), day.key("2026-03-03")) == "on March 3, 2026"
    assert Axis("t", "time", "m").place(5, 5) == "at January 1, 1970, 00:05"
    assert day.plain(day.value(0)) == "1970-01-01"
    assert pickle.loads(pickle.dumps(day)) == day  # noqa: S301  (our own)


def test_values_between_keys_are_between_them():
    day = Axis("day", "time", "D")
    noon = day.key(dt.datetime(2026, 3, 3, 12))  # noqa: DTZ001
    assert day.key("2026-03-03") < noon < day.key("2026-03-04")
    before = day.key(dt.datetime(1969, 3, 3, 12))  # noqa: DTZ001
    assert day.key("1969-03-03") < before < day.key("1969-03-04")
    for value in ("yesterday", 3, None, np.datetime64("NaT")):
        with pytest.raises(InputError, match="needs a date, a time"):
            day.key(value)
    for value in ("3", None, np.nan):
        with pytest.raises(InputError, match="needs a number"):
            Axis("age").key(value)


def test_limits_may_lie_beyond_what_units_can_count():
    hours = np.datetime64("2026-01-01", "ns") + np.arange(48) * np.timedelta64(1, "h")
    result = assess([0, 1] * 24, np.full(48, 0.5), order_by=hours)
    assert result.between("0001-01-01", "9999-12-31").n == 48
    assert result.between("2026-01-01", "2400-01-01").n == 48
    assert result.between("2026-01-02", "2400-01-01").n == 24
    never = result.between("2300-01-01", "2400-01-01")
    assert str(never) == "No predictions with x from January 1, 2300 to January 1, 2400."
    assert never.to_dict()["low"] == "2300-01-01"
    mixed = result.between("0001-01-01", hours[0] - np.timedelta64(1, "ns"))
    assert "January 1, 0001" in str(mixed)


@given(
    st.integers(-(2**40), 2**40),
    st.sampled_from(["W", "D", "h", "m", "s", "ms", "us"]),
    st.sampled_from(["D", "h", "m", "s", "ms", "us", "ns"]),
)
def test_units_are_converted_as_numpy_does(count, unit, finer):
    """A count of a coarser unit, as far as numpy can count it in the finer one."""
    value, axis = np.datetime64(count, finer), Axis("t", "time", unit)
    key = axis.key(value)
    assume(abs(key) < 2**63 - 2)  # what numpy can count
    scale = Axis("t", "time", "ns")
    below, above = (scale.key(axis.value(math.floor(key) + i)) for i in (0, 1))
    exact = scale.key(value)
    assert exact == below if key == int(key) else below < exact < above


@pytest.mark.parametrize("unit", ["M", "W"])
def test_between_two_units_is_what_was_asked(unit):
    days = np.array(["2026-03-26", "2026-04-02"] * 10, "M8[D]").astype(f"M8[{unit}]")
    result = assess([0, 1] * 10, np.full(20, 0.5), order_by=days)
    nothing = result.between("2026-03-30", "2026-03-31")
    assert str(nothing) == "No predictions with x from March 30 to March 31, 2026."
    numbers = assess([0, 1] * 10, np.full(20, 0.5), order_by=np.arange(20))
    assert str(numbers.between(3.2, 3.7)) == "No predictions with x from 3.2 to 3.7."
    lasting = assess([0, 1] * 10, np.full(20, 0.5), order_by=np.arange(20).astype("m8[h]"))
    minutes = np.timedelta64(90, "m"), np.timedelta64(99, "m")
    assert str(lasting.between(*minutes)) == "No predictions with x from 1.5 hours to 1.65 hours."
    assert lasting.between(3, 5).n == 3


@pytest.mark.parametrize(
    ("kind", "unit"), [("number", ""), ("time", "D"), ("time", "ns"), ("duration", "h")]
)
def test_values_are_those_of_the_keys(kind, unit):
    axis, keys = Axis("x", kind, unit), np.array([-3, 0, 20_000])
    values = axis.values(keys)
    assert [axis.value(key) for key in keys] == list(values)
    assert [axis.key(value) for value in values] == keys.tolist()
    for key, value in zip(keys, values, strict=True):
        assert axis.write(key) == axis.between(key, key) == axis.between_values(value, value)


def test_a_month_is_its_first_day_on_an_axis_of_days():
    day, month = Axis("t", "time", "D"), Axis("t", "time", "M")
    assert day.key("2026-03") == day.key("2026-03-01")
    assert day.key(np.datetime64("2026")) == day.key("2026-01-01")
    assert month.key("2026-03-01") == month.key("2026-03")
    assert month.key("2026-03") < month.key("2026-03-15") < month.key("2026-04")
    years = Axis("t", "duration", "Y")
    assert years.key(np.timedelta64(18, "M")) == 1.5
    assert years.key(np.timedelta64(-18, "M")) == -1.5


def test_plain_values_are_what_json_has():
    assert Axis("t", "duration", "h").plain(np.timedelta64(3, "h")) == "3 hours"
    assert [Axis("x").plain(value) for value in (3, 0.5, math.inf, -math.inf)] == [
        3,
        0.5,
        None,
        None,
    ]
    zoned = Axis("t", "time", "s", "Europe/Berlin")
    assert zoned.plain(zoned.value(0)) == "1970-01-01T00:00:00+00:00"
