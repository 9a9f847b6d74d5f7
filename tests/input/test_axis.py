"""What predictions can be put along, and how it is written."""

import datetime as dt
import math
import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers import optional
from secant import InputError, assess
from secant._input.axis import Axis, are_equal, are_outcomes, ordering

BERLIN = dt.timezone(dt.timedelta(hours=2))


@pytest.mark.parametrize(
    ("values", "kind", "unit", "words"),
    [
        (np.array(["2026-03-03", "2026-05-09"], "M8[D]"), "time", "D", "March 3 to May 9, 2026"),
        (
            np.array(["2025-12-31", "2026-01-02"], "M8[D]"),
            "time",
            "D",
            "December 31, 2025 to January 2, 2026",
        ),
        (np.array(["2026-03", "2026-05"], "M8[M]"), "time", "M", "March to May 2026"),
        (np.array(["2020", "2026"], "M8[Y]"), "time", "Y", "2020 to 2026"),
        (
            np.array(["2026-03-03T10:00", "2026-03-03T11:30"], "M8[m]"),
            "time",
            "m",
            "March 3, 2026, 10:00 to 11:30",
        ),
        (
            np.array(["2026-03-03", "2026-03-04"], "M8[ns]"),
            "time",
            "ns",
            "March 3 to March 4, 2026",
        ),
        ([dt.date(2026, 3, 3), dt.date(2026, 5, 9)], "time", "D", "March 3 to May 9, 2026"),
        ([dt.timedelta(seconds=3), dt.timedelta(days=2)], "duration", "us", "3 seconds to 2 days"),
        (np.array([1, 90], "m8[m]"), "duration", "m", "1 minute to 1.5 hours"),
        (np.array([3, 5], "m8[2h]"), "duration", "h", "6 hours to 10 hours"),
        ([3, 12], "number", "", "3 to 12"),
        ([2024, 2026], "number", "", "2024 to 2026"),
        ([-1.5, 2.25], "number", "", "-1.5 to 2.25"),
        ([0.30001, 0.30002], "number", "", "0.30001 to 0.30002"),
        ([1234.5, 99999.0], "number", "", "1234.5 to 99,999"),
        ([False, True], "number", "", "0 to 1"),
        ([Decimal("0.1"), Decimal("0.25")], "number", "", "0.1 to 0.25"),
        (
            [2**60, 2**60 + 1],
            "number",
            "",
            "1,152,921,504,606,846,976 to 1,152,921,504,606,846,977",
        ),
    ],
)
def test_what_can_be_put_along_and_how_it_is_written(values, kind, unit, words):
    keys, axis = ordering(values, name="x")
    assert (axis.kind, axis.unit) == (kind, unit)
    assert axis.between(*keys) == words
    assert keys[0] < keys[1]
    for key in keys.tolist():
        assert axis.key(axis.value(key)) == key


def test_keys_merge_no_two_values():
    """Beyond 2^53 doubles would; and unsigned numbers go further than signed ones."""
    for values in ([2**53, 2**53 + 1], [2**63, 2**63 + 1], [-(2**62), -(2**62) + 1]):
        keys, axis = ordering(values)
        assert len(np.unique(keys)) == 2
        assert [axis.value(key) for key in keys] == values
    assert ordering([-0.0, 0.0])[0].view(np.int64).tolist() == [0, 0]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=9))
def test_keys_sort_as_values_do(values):
    keys, _ = ordering(np.array(values))
    assert np.argsort(keys, kind="stable").tolist() == sorted(
        range(len(values)), key=values.__getitem__
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, np.nan], r"order_by\[1\] is NaN, and every row needs its place"),
        ([1, None], r"order_by\[1\] is None"),
        ([np.inf, 1.0], r"order_by\[0\] is inf, which has no place on an axis"),
        ([1.0, -np.inf], r"order_by\[1\] is -inf"),
        (np.array(["2026-03-03", "NaT"], "M8[D]"), r"order_by\[1\] is NaT"),
        (np.array([1, "NaT"], "m8[s]"), r"order_by\[1\] is NaT"),
        (["low", "high"], "holds text, which have no order that means anything.*'low'"),
        (["2026-01-01", "2026-01-02"], "convert them first"),
        ([1, "a"], "text"),
        (np.array([1, "a"], object), r"order_by\[1\] is 'a', which has no place on an axis"),
        (np.array([dt.time(3)] * 2, object), r"order_by\[0\] is 03:00:00"),
        ([1j, 2j], "values of type complex128"),
        ([[1, 2]], "one-dimensional"),
        ([1, 2, 3], "one value a row"),
        (np.array([1, 2], "m8"), "times without a unit"),
        ([dt.date(2026, 1, 1), 3.5], r"order_by\[1\] is 3.5, which has no place"),
        ([dt.timedelta(1), dt.date(2026, 1, 1)], r"order_by\[1\] is .*2026.*no place"),
        ([2**70, 1], "beyond 64 bits"),
        (np.array(["2026-01-01", "2026-01-02"], "M8[ps]"), "nanoseconds are the finest"),
        ([dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 2, tzinfo=dt.UTC)], "always or never"),  # noqa: DTZ001
    ],
)
def test_what_cannot(values, words):
    with pytest.raises(InputError, match=words) as caught:
        ordering(values, 2)
    assert caught.value.argument == "order_by"


def test_zones_are_kept_in_words_and_keys_count_in_utc():
    times = [dt.datetime(2026, 3, 3, 1, tzinfo=BERLIN), dt.datetime(2026, 3, 3, 2, tzinfo=BERLIN)]
    keys, axis = ordering(times)
    assert axis.value(keys[0]) == np.datetime64("2026-03-02T23:00")
    assert axis.plain(axis.value(keys[0])).endswith("+00:00")
    assert axis.key(times[0]) == keys[0]
    with pytest.raises(InputError, match="needs a date"):
        Axis("day", "time", "us").key(times[0])


def test_columns_of_libraries():
    pandas, polars, arrow = optional("pandas"), optional("polars"), optional("pyarrow")
    days = [dt.date(2026, 3, 3), dt.date(2026, 5, 9)]
    stamps = pandas.Series(pandas.to_datetime(days), name="day")
    zoned = stamps.dt.tz_localize("Europe/Berlin")
    for column in (
        zoned,
        pandas.DatetimeIndex(zoned, name="day"),
        zoned.astype("timestamp[us, tz=Europe/Berlin][pyarrow]"),
        polars.Series("day", zoned),
    ):
        keys, axis = ordering(column)
        assert axis.zone == "Europe/Berlin"
        assert axis.name == "day"
        assert axis.title == "day (Europe/Berlin)"
        assert axis.between(*keys) == "March 3 to May 9, 2026"
    for column in (stamps, polars.Series("day", days), arrow.chunked_array([arrow.array(days)])):
        keys, axis = ordering(column, name="day")
        assert axis.place(*keys) == "from March 3 to May 9, 2026"
    for column in (
        pandas.Series([1, 2], dtype="Int64"),
        pandas.Series([1, 2], dtype="int64[pyarrow]"),
        polars.Series([1, 2]),
        arrow.array([1, 2]),
    ):
        assert ordering(column)[0].tolist() == [1, 2]
    for column in (
        pandas.Series(["a", "b"], dtype="category"),
        pandas.Series([1, 2], dtype="category"),
        polars.Series(["a", "b"], dtype=polars.Categorical),
        arrow.array(["a", "b"]).dictionary_encode(),
    ):
        with pytest.raises(InputError, match="holds categories, which have no order"):
            ordering(column)
    for column in (pandas.Series([1, None], dtype="Int64"), polars.Series([1, None])):
        with pytest.raises(InputError, match=r"order_by\[1\] is"):
            ordering(column)


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


def test_times_without_a_zone_are_local_times_of_the_axis():
    pandas = optional("pandas")
    stamps = pandas.date_range("2026-03-30 02:00", periods=48, freq="h", tz="UTC")
    result = assess(
        [0, 1] * 24,
        np.full(48, 0.5),
        order_by=pandas.Series(stamps.tz_convert("America/New_York")),
    )
    lows = (
        "2026-03-30",
        dt.datetime(2026, 3, 30),  # noqa: DTZ001
        dt.date(2026, 3, 30),
        pandas.Timestamp("2026-03-30"),
        pandas.Timestamp("2026-03-30", tz="America/New_York"),
        np.datetime64("2026-03-30T04:00"),  # in UTC
    )
    for low in lows:
        for high in ("2026-03-31T23:00", pandas.Timestamp("2026-03-31T23:00")):
            assert result.between(low, high).n == 46
    assert result.between("0001-01-01", "9999-12-31T23:59").n == 48
    worst = result.worst
    assert result.between(worst.low, worst.high).n == worst.n


def test_offsets_as_python_writes_them_are_zones():
    keys, axis = ordering([dt.datetime(2026, 3, 3, hour, tzinfo=BERLIN) for hour in (1, 2)])
    assert axis.zone == "UTC+02:00"
    assert axis.key(dt.datetime(2026, 3, 3, 1)) == axis.key("2026-03-03T01:00") == keys[0]  # noqa: DTZ001
    assert axis.between(*keys) == "March 3, 2026, 01:00 to 02:00"


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


def test_weeks_months_and_hours_in_words():
    week, month, hour = (Axis("t", "time", unit) for unit in ("W", "M", "h"))
    first, last = week.key("2026-03-26"), week.key("2026-04-09")
    assert week.place(first, first) == "in the week of March 26, 2026"
    assert week.place(first, last) == "from the week of March 26 to that of April 9, 2026"
    assert month.place(0, 0) == "in January 1970"
    assert hour.place(0, 0) == "at January 1, 1970, 00:00"
    assert hour.place(0, 5) == "from January 1, 1970, 00:00 to 05:00"


def test_columns_are_compared_by_their_values():
    keys, _ = ordering([0, 1, 1])
    for same in (np.array([False, True, True]), np.array([0.0, 1, 1]), np.array([0, 1, 1], object)):
        assert are_equal(keys, same)
        assert are_outcomes(keys, same)
    assert not are_equal(keys, np.array([0, 1, 0]))
    assert not are_equal(keys, np.array(["0", "1", "1"]))
    late = np.arange(5000)
    assert not are_equal(late, np.where(late == 4999, 0, late))
    assert not are_outcomes(np.ones(3), np.ones(3))  # one value alone is no order


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


def test_zones_that_nobody_knows_here_are_utc():
    """And years that Python cannot count are not moved."""
    unknown = Axis("t", "time", "h", "Nowhere/At_All")
    assert unknown.write(0) == "January 1, 1970, 00:00"
    assert unknown.key("1970-01-01T05:00") == 5
    berlin = Axis("t", "time", "s", "Europe/Berlin")
    assert berlin.write(0) == "January 1, 1970, 01:00"
    late = berlin.key(np.datetime64("12000-01-01", "s"))
    assert berlin.write(late) == "January 1, 12000"


def test_the_outcomes_are_no_order():
    with pytest.raises(InputError, match="order_by holds the outcomes, y_true") as caught:
        assess([0, 1, 1, 0], [0.2, 0.4, 0.6, 0.8], order_by=[0.0, 1.0, 1.0, 0.0])
    assert caught.value.argument == "order_by"
