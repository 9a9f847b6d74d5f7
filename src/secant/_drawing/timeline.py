"""Where periods stand on an axis of time, and evidence on an axis of powers of ten."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from secant._input.periods import written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from secant._base.types import FloatArray
    from secant._input.periods import Time

__all__ = ["evidence_ticks", "places", "time_ticks"]

Ticks = list[tuple[float, str]]
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DAY = 86400.0
_DAYS = (1, 2, 7, 14)
_MONTHS = (1, 2, 3, 6)
_GAP = 3  # letters between two labels
_PLAIN = 3  # powers of ten up to here are written out


def places(times: Sequence[Time]) -> FloatArray:
    """Return where periods stand: days, numbers, or, where they are texts, one after the other."""
    if times and isinstance(times[0], str):
        return np.arange(len(times), dtype=np.float64)
    return np.array([_place(time) for time in times], np.float64)


def time_ticks(times: Sequence[Time], room: int) -> Ticks:
    """Return round places among periods with what to write there, as many as have room.

    Parameters
    ----------
    times
        The periods, in their order.
    room
        How many letters there is room for along the axis.

    Examples
    --------
    >>> from datetime import date
    >>> time_ticks([date(2026, 1, 3), date(2026, 3, 20)], 50)
    [(739648.0, '2026-02'), (739676.0, '2026-03')]
    >>> time_ticks(range(1, 61), 20)
    [(20.0, '20'), (40.0, '40'), (60.0, '60')]
    """
    if not times:
        return []
    at = places(times)
    for most in (12, 10, 8, 7, 6, 5, 4, 3):
        found = _ticks(times, at, most)
        if (len(found) - 1) * (max(len(label) for _, label in found) + _GAP) <= room:
            return found
    ends = _some(times, at, 2)
    return ends if 2 * len(ends[0][1]) + _GAP <= room else ends[-1:]


def _ticks(times: Sequence[Time], at: FloatArray, most: int) -> Ticks:
    """Return at most so many round places among periods; two of them at least, or periods."""
    found: Ticks = []
    if isinstance(times[0], date):
        first, last = _date(at[0]), _date(at[-1])
        enough = not isinstance(times[0], datetime) or (last - first).days >= 2
        found = next(_dates(first, last, most), []) if enough else []
        found = [tick for tick in found if at[0] <= tick[0] <= at[-1]]
    elif isinstance(times[0], int):
        step = max(1, _round((at[-1] - at[0]) / most))
        found = [
            (float(k * step), str(k * step))
            for k in range(math.ceil(at[0] / step), math.floor(at[-1] / step) + 1)
        ]
    return found if len(found) > 1 else _some(times, at, most)


def evidence_ticks(low: float, high: float, most: int) -> Ticks:
    """Return at most about so many powers of ten between two exponents, with what to write.

    Examples
    --------
    >>> evidence_ticks(-0.7, 2.4, 5)
    [(0.0, '1'), (1.0, '10'), (2.0, '100')]
    >>> [label for _, label in evidence_ticks(0, 107, 4)]
    ['1', '10⁵⁰', '10¹⁰⁰']
    """
    step = max(1, _round((high - low) / most))
    exponents = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [(float(k * step), _power(k * step)) for k in exponents]


def _power(exponent: int) -> str:
    if abs(exponent) <= _PLAIN:
        return f"{10**exponent:,}" if exponent >= 0 else f"{10.0**exponent:g}"
    return f"10{str(exponent).translate(_SUPERSCRIPT)}"


def _round(least: float) -> int:
    """Return the smallest of 1, 2 and 5 times a power of ten that is no less."""
    power = int(10 ** max(0, math.floor(math.log10(max(least, 1)))))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _place(time: Time) -> float:
    if isinstance(time, datetime):
        moment = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
        start = datetime(1, 1, 1, tzinfo=moment.tzinfo if time.tzinfo is None else UTC)
        return (moment - start) / timedelta(seconds=_DAY) + 1
    if isinstance(time, date):
        return float(time.toordinal())
    return float(time)


def _date(place: float) -> date:
    return date.fromordinal(max(1, math.floor(place)))


def _dates(first: date, last: date, most: int) -> Iterator[Ticks]:
    """Return ticks on round dates, finest first, those that are few enough."""
    days = (last - first).days + 1
    for step in _DAYS:
        if days <= most * step:
            start = first.toordinal()
            start += -(start - 1) % step  # weeks begin on Monday, as the first of all days did
            ordinals = range(start, last.toordinal() + 1, step)
            yield [(float(each), date.fromordinal(each).isoformat()) for each in ordinals]
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    for step in _MONTHS:
        if months <= most * step:
            numbers = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
            firsts = [date(each // 12, each % 12 + 1, 1) for each in numbers if each % step == 0]
            yield [(float(each.toordinal()), f"{each:%Y-%m}") for each in firsts]
    step = _round((last.year - first.year + 1) / most)
    years = [year for year in range(first.year, last.year + 1) if year % step == 0]
    yield [(float(date(year, 1, 1).toordinal()), str(year)) for year in years]


def _some(times: Sequence[Time], at: FloatArray, most: int) -> Ticks:
    """Return at most so many of the periods themselves, evenly among all."""
    step = max(1, -(-(len(times) - 1) // (most - 1)))
    return [(float(at[number]), written(times[number])) for number in range(0, len(times), step)]
