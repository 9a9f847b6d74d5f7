"""Group keys that an engine returned, as plain values: one type, one meaning.

A date is a ``datetime.date``, a time without a zone a ``datetime.datetime`` without one, and a time
with a zone one in UTC. Times that a ``datetime`` cannot hold, finer than microseconds or beyond its
years, are the text that ISO 8601 has for them, as everywhere.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from secant._input.keys import plain_key
from secant._input.times import plain_times

__all__ = ["plain_keys"]

_NO_TIME = np.iinfo(np.int64).min  # what NaT is as a whole number


def plain_keys(column: nw.Series[Any]) -> list[Any]:
    """Return the keys in a column of an answer, None where they are missing."""
    dtype = column.dtype
    if not isinstance(dtype, nw.Datetime):
        return [plain_key(key) for key in column.to_list()]
    # Engines' own objects round to microseconds, or wrap.
    unit = "ns" if dtype.time_unit == "ns" else "us"
    ticks = column.dt.timestamp("ns" if unit == "ns" else "us").to_list()
    missing = column.is_null().to_list()
    whole = [_NO_TIME if gone else int(tick) for tick, gone in zip(ticks, missing, strict=True)]
    times = np.array(whole, np.int64).view(f"M8[{unit}]")
    return plain_times(times, zoned=bool(dtype.time_zone))
