"""Times with a zone: counted in UTC, written and asked for as its clocks show them."""

import datetime as dt

import numpy as np
import pytest

from helpers import optional
from secant import InputError, assess
from secant._input.axis import Axis
from secant._input.ordering import ordering

BERLIN = dt.timezone(dt.timedelta(hours=2))


def test_zones_are_kept_in_words_and_keys_count_in_utc():
    times = [dt.datetime(2026, 3, 3, 1, tzinfo=BERLIN), dt.datetime(2026, 3, 3, 2, tzinfo=BERLIN)]
    keys, axis = ordering(times)
    assert axis.value(keys[0]) == np.datetime64("2026-03-02T23:00")
    assert axis.plain(axis.value(keys[0])).endswith("+00:00")
    assert axis.key(times[0]) == keys[0]
    with pytest.raises(InputError, match="needs a date"):
        Axis("day", "time", "us").key(times[0])


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


def test_zones_that_nobody_knows_here_are_utc():
    """And years that Python cannot count are not moved."""
    unknown = Axis("t", "time", "h", "Nowhere/At_All")
    assert unknown.write(0) == "January 1, 1970, 00:00"
    assert unknown.key("1970-01-01T05:00") == 5
    berlin = Axis("t", "time", "s", "Europe/Berlin")
    assert berlin.write(0) == "January 1, 1970, 01:00"
    late = berlin.key(np.datetime64("12000-01-01", "s"))
    assert berlin.write(late) == "January 1, 12000"
