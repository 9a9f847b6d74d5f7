"""What predictions can be put along, and what cannot."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant import InputError, assess
from secant._input.ordering import are_equal, are_outcomes, ordering


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
    for wide in ([Decimal(2**63), Decimal(2**63 + 1)], [Fraction(2**62), Fraction(2**62 + 1)]):
        keys, axis = ordering(wide)
        assert [axis.value(key) for key in keys] == wide
    assert ordering([Decimal("1.50"), Decimal("1.5")])[0].tolist() == [1.5, 1.5]
    assert ordering([-0.0, 0.0])[0].view(np.int64).tolist() == [0, 0]


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="a double here")
def test_digits_beyond_doubles_are_refused():
    values = np.ones(3, np.longdouble) + np.arange(3) * np.longdouble(1e-19)
    with pytest.raises(InputError, match=r"order_by\[1\] is .*, which doubles do not tell from"):
        ordering(values)
    assert ordering(np.array([0.1, 0.3], np.longdouble))[0].tolist() == [0.1, 0.3]


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
        (["low", "high"], "holds text, whose order means nothing.*'low'"),
        (["2026-01-01", "2026-01-02"], "convert them first"),
        ([1, "a"], r"order_by\[1\] is 'a', which has no place on an axis"),
        (np.array([1, "a"], object), r"order_by\[1\] is 'a', which has no place on an axis"),
        (np.array([dt.time(3)] * 2, object), r"\[0\] is 03:00:00, a time of day.*add its date"),
        ([1j, 2j], "values of type complex128"),
        ([[1, 2]], "one-dimensional"),
        ([1, 2, 3], "one value a row"),
        (np.array([1, 2], "m8"), "times without a unit"),
        ([dt.date(2026, 1, 1), 3.5], r"order_by\[1\] is 3.5, which has no place"),
        ([dt.timedelta(1), dt.date(2026, 1, 1)], r"order_by\[1\] is .*2026.*no place"),
        ([2**70, 1], "beyond 64 bits"),
        ([Decimal(2**70), Decimal(1)], "beyond 64 bits"),
        (
            [Decimal("0.1"), Decimal("0.10000000000000000001")],
            r"\[1\] is .*1, which doubles do",
        ),
        (
            [Fraction(1, 3), 1 / 3],
            r"\[1\] is 0.3333333333333333, .*tell from 1/3",
        ),
        (
            np.array([2**53 + 1, float(2**53)], object),
            r"\[1\] is 9007199254740992.0, which",
        ),
        ([Decimal("NaN"), Decimal(1)], r"\[0\] is NaN"),
        (np.array(["2026-01-01", "2026-01-02"], "M8[ps]"), "nanoseconds are the finest"),
        ([dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 2, tzinfo=dt.UTC)], "always or never"),  # noqa: DTZ001
    ],
)
def test_what_cannot(values, words):
    with pytest.raises(InputError, match=words) as caught:
        ordering(values, 2)
    assert caught.value.argument == "order_by"


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
        with pytest.raises(InputError, match="holds categories, whose order"):
            ordering(column)
    for column in (pandas.Series([1, None], dtype="Int64"), polars.Series([1, None])):
        with pytest.raises(InputError, match=r"order_by\[1\] is"):
            ordering(column)


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


def test_the_outcomes_are_no_order():
    with pytest.raises(InputError, match="order_by holds the outcomes, y_true") as caught:
        assess([0, 1, 1, 0], [0.2, 0.4, 0.6, 0.8], order_by=[0.0, 1.0, 1.0, 0.0])
    assert caught.value.argument == "order_by"
