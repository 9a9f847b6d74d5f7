"""Keys that an engine returned, as plain values: one type, one meaning.

A date is a ``datetime.date``, a time without a zone a ``datetime.datetime`` without one, and a time
with a zone one in UTC. Times that a ``datetime`` cannot hold, finer than microseconds or beyond its
years, are the text that ISO 8601 has for them, as everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from secant._input.keys import factorized

if TYPE_CHECKING:
    from secant._base.types import IntArray

__all__ = ["coded"]

_NO_TIME = np.iinfo(np.int64).min  # what NaT is as a whole number


def coded(column: nw.Series[Any]) -> tuple[list[Any], IntArray]:
    """Return the distinct keys in a column of an answer, and the number of each row's."""
    dtype, zoned = column.dtype, False
    values = np.empty(len(column), object)
    if isinstance(dtype, nw.Datetime):
        # Engines' own objects round to microseconds, or wrap.
        unit = "ns" if dtype.time_unit == "ns" else "us"
        ticks = column.dt.timestamp("ns" if unit == "ns" else "us").to_list()
        missing = column.is_null().to_list()
        whole = [_NO_TIME if gone else int(tick) for tick, gone in zip(ticks, missing, strict=True)]
        values, zoned = np.array(whole, np.int64).view(f"M8[{unit}]"), bool(dtype.time_zone)
    else:
        values[:] = column.to_list()
    return factorized(values, zoned=zoned)
