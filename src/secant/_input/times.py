"""What a time is, whoever made it: as UTC counts it, as Python has it, as clocks show it."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from secant._base.types import FloatArray

__all__ = ["in_zone", "microseconds", "moment", "plain_time", "plain_times", "without_zone"]

# Units of numpy that no time of Python can hold.
_FINE = {"ns", "ps", "fs", "as"}


def without_zone(values: Any) -> tuple[Any, str]:
    """Return times in UTC where a column of any library has a zone, and the zone."""
    kind = getattr(values, "dtype", None)
    zone = getattr(kind, "time_zone", None) or getattr(getattr(values, "type", None), "tz", None)
    if zone:  # of Polars and Arrow, which give numpy the times in UTC
        return values, str(zone)
    zone = getattr(kind, "tz", None) or getattr(getattr(kind, "pyarrow_dtype", None), "tz", None)
    if zone is None:
        return values, ""
    times = getattr(values, "dt", values)  # an index of pandas has the methods itself
    plain = times.tz_convert("UTC")
    return getattr(plain, "dt", plain).tz_localize(None).to_numpy(), str(zone)


def plain_times(values: np.ndarray[Any, Any], *, zoned: bool) -> list[Any]:
    """Return times of numpy as Python has them, or as text where it has none that is equal."""
    coarse = values
    if np.datetime_data(values.dtype)[0] in _FINE:
        coarse = values.astype(f"{values.dtype.kind}8[us]")

    def plain(time: Any, exact: Any) -> Any:
        if np.isnat(exact):
            return None
        if isinstance(time.item(), int) or time != exact:
            return f"{exact}+00:00" if zoned else str(exact)
        return time.item().replace(tzinfo=UTC) if zoned else time.item()

    return [plain(*each) for each in zip(coarse, values, strict=True)]


def plain_time(time: datetime) -> datetime | str:
    """Return a time without what pandas adds to it, in UTC if it has a zone."""
    if getattr(time, "nanosecond", 0):  # of pandas, which is finer than Python
        stamp: Any = time
        return plain_times(np.array([stamp.asm8]), zoned=stamp.tzinfo is not None)[0]  # type: ignore[no-any-return]
    if time.tzinfo is not None:
        with suppress(OverflowError):  # within a day of the first or the last year
            time = time.astimezone(UTC)
    # As datetime itself, whatever it was made by.
    return datetime.combine(time.date(), time.timetz(), time.tzinfo)


def microseconds(values: Any) -> FloatArray:
    """Return times of numpy as microseconds since 1970, NaN where there is none."""
    whole = values.astype("M8[us]").astype(np.int64)
    return np.where(np.isnat(values), np.nan, whole.astype(np.float64))


def moment(value: Any, zone: str) -> Any:
    """Return a time in UTC as numpy has it; without a zone of its own it is in that of the axis.

    What is ``numpy.datetime64`` already is in UTC, as :meth:`Axis.value` gives it.
    """
    if isinstance(value, str):
        value = np.datetime64(value) if not zone else datetime.fromisoformat(value)
    if isinstance(value, np.datetime64):
        return value
    if not isinstance(value, date):
        raise TypeError
    if not isinstance(value, datetime):
        return _in_utc(np.datetime64(value), datetime(*value.timetuple()[:3]), zone)  # noqa: DTZ001
    stamp = getattr(value, "asm8", None)  # of pandas, finer than Python; in UTC if it has a zone
    if value.tzinfo is None:
        clock = datetime(*value.timetuple()[:6], fold=value.fold)  # noqa: DTZ001
        return _in_utc(np.datetime64(value) if stamp is None else stamp, clock, zone)
    if not zone:
        raise TypeError
    if stamp is not None:
        return stamp
    offset = value.utcoffset() or timedelta()
    return np.datetime64(value.replace(tzinfo=None)) - np.timedelta64(offset)


def _in_utc(exact: Any, clock: datetime, zone: str) -> Any:
    """Return a time that clocks of a zone show as it is in UTC, where Python knows the zone."""
    if not zone:
        return exact
    offset = _fixed_offset(zone)
    if offset is None:
        offset = clock.replace(tzinfo=_zone(zone)).utcoffset() or timedelta()
    return exact - np.timedelta64(offset)


def _zone(name: str) -> ZoneInfo | None:
    """Return a zone by its name; None where there is none of this name here."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415  (for times with a zone alone)

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return None


def in_zone(exact: Any, name: str) -> Any:
    """Return a time of UTC as clocks of a zone show it, where Python knows the zone."""
    if not name:
        return exact
    fixed = _fixed_offset(name)
    if fixed is None:
        zone, found = _zone(name), exact.astype("M8[s]").item()
        if zone is None or not isinstance(found, datetime):
            return exact
        fixed = found.replace(tzinfo=UTC).astimezone(zone).utcoffset()
    return exact + np.timedelta64(fixed or timedelta())


def _fixed_offset(name: str) -> timedelta | None:
    """Return the offset that a zone is named by, as "+02:00" is; None for other names."""
    name = name.removeprefix("UTC")  # as Python writes them
    sign = {"+": 1, "-": -1}.get(name[:1])
    hours, _, minutes = name[1:].partition(":")
    if sign is None or not (hours.isdecimal() and minutes.isdecimal()):
        return None
    return sign * timedelta(hours=int(hours), minutes=int(minutes))
