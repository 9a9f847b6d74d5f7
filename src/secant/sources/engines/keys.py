"""Group keys that an engine returned, as plain values: one type, one meaning.

A date is a ``datetime.date``, a time without a zone a ``datetime.datetime`` without one, and a time
with a zone one in UTC. Times that a ``datetime`` cannot hold, finer than microseconds or beyond its
years, stay exact as ``numpy.datetime64``.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from secant._input.groups import plain_key

if TYPE_CHECKING:
    from typing import Literal

__all__ = ["plain_keys"]

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  (a zone is put on where there is one)
_NANO = 1000


def plain_keys(column: nw.Series[Any]) -> list[Any]:
    """Return the keys in a column of an answer, None where they are missing."""
    dtype = column.dtype
    if isinstance(dtype, nw.Datetime):
        # Engines' own objects round to microseconds, or wrap.
        unit: Literal["ns", "us"] = "ns" if dtype.time_unit == "ns" else "us"
        zone = dt.UTC if dtype.time_zone else None
        ticks = column.dt.timestamp(unit).to_list()
        missing = column.is_null().to_list()
        pairs = zip(ticks, missing, strict=True)
        return [None if gone else _time(int(tick), unit, zone) for tick, gone in pairs]
    return [_plain(key) for key in column.to_list()]


def _time(tick: int, unit: Literal["ns", "us"], zone: dt.tzinfo | None) -> Any:
    micro, rest = divmod(tick, _NANO) if unit == "ns" else (tick, 0)
    try:
        time = _EPOCH + dt.timedelta(microseconds=micro)
    except OverflowError:
        rest = 1
    return np.datetime64(tick, unit) if rest else time.replace(tzinfo=zone)


def _plain(key: Any) -> Any:
    key = plain_key(key)
    if isinstance(key, dt.datetime) and key.tzinfo is not None:
        return key.astimezone(dt.UTC)
    return key
