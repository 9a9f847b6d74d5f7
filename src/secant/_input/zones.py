"""Times as UTC counts them, and as the clocks of a zone show them."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

__all__ = ["in_zone", "moment"]


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
        from datetime import UTC  # noqa: PLC0415

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
