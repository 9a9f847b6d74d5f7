"""Other orders than that of scores: numbers and times to put predictions along.

A row's *key* is a number that sorts as its value does and merges no two: doubles, or whole numbers
where values are whole or are times. An :class:`Axis` knows what keys mean, and writes them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from secant._base.visible import visible
from secant._input.arraylike import one_dimensional, one_value_a_row, shown
from secant._input.columns import LATER
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from secant._base.types import NumberArray

__all__ = ["Axis", "are_equal", "are_outcomes", "holds_outcomes", "ordering"]

Kind = Literal["number", "time", "duration"]

_ORDER = Argument("order_by")
_NO_ORDER = "which have no order that means anything; give numbers or times"
_MISSING = ", and every row needs its place in the order; secant drops no rows"
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
# Rows that tell most columns apart.
_HEAD = 1000
# Units of numpy in which a time is no finer than a day.
_DAYS = {"Y", "M", "W", "D"}
_ATTOSECONDS = {
    "W": 604_800 * 10**18,
    "D": 86_400 * 10**18,
    "h": 3600 * 10**18,
    "m": 60 * 10**18,
    "s": 10**18,
    "ms": 10**15,
    "us": 10**12,
    "ns": 10**9,
    "ps": 10**6,
    "fs": 10**3,
    "as": 1,
}
_UNITS = ["Y", "M", *_ATTOSECONDS]
_US = _UNITS.index("us")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True, slots=True)
class Axis:
    """What predictions are put along in place of their scores.

    Attributes
    ----------
    name : str
        What it is called: the name of a column.
    kind : {"number", "time", "duration"}
        What its values are.
    unit : str
        Of times and durations, the unit that keys count, as numpy calls it.
    zone : str
        Of times with a zone, its name: keys count in UTC, and words are in the zone.
    coverage : bool
        Whether predictions are intervals that cover what happened, or do not.
    side : {"", "low", "high"}
        Of quantiles, which are intervals with one end: the end that they are.
    """

    name: str
    kind: Kind = "number"
    unit: str = ""
    zone: str = ""
    coverage: bool = False
    side: Literal["", "low", "high"] = ""

    @property
    def title(self) -> str:
        """The name, for reading."""
        zone = f" ({self.zone})" if self.zone else ""
        return f"{visible(self.name)}{zone}"

    def value(self, key: Any) -> Any:
        """Return what a key stands for: a number, ``numpy.datetime64`` or ``timedelta64``."""
        if self.kind == "number":
            return key.item() if isinstance(key, np.generic) else key
        kind: Any = np.datetime64 if self.kind == "time" else np.timedelta64
        return kind(int(key), self.unit)

    def values(self, keys: NumberArray) -> np.ndarray[Any, Any]:
        """Return what keys stand for."""
        if self.kind == "number":
            return keys
        return keys.view(f"{'M' if self.kind == 'time' else 'm'}8[{self.unit}]")

    def key(self, value: Any) -> float | int:
        """Return the key of a value, exactly; between two keys, for a value that none has.

        Raises
        ------
        InputError
            If it is no such value.
        """
        exact = self.exact(value)
        return exact if self.kind == "number" else self._in_units(exact)

    def exact(self, value: Any) -> Any:
        """Return a value as it is kept: a number, ``numpy.datetime64`` in UTC or ``timedelta64``.

        A time without a zone is one of the axis's zone, unless it is ``numpy.datetime64``.

        Raises
        ------
        InputError
            If it is no such value.
        """
        if self.kind == "number":
            number = value.item() if isinstance(value, np.generic) else value
            if isinstance(number, (int, float)) and number == number:  # noqa: PLR0124  (no NaN)
                return number
            raise _no_such_value(value, "a number")
        try:
            is_time = self.kind == "time"
            found = _moment(value, self.zone) if is_time else np.timedelta64(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise _no_such_value(value, _WANTED[self.kind]) from error
        if np.isnat(found):
            raise _no_such_value(value, _WANTED[self.kind])
        if np.datetime_data(found.dtype)[0] == "generic":  # a number, of the axis's units
            return found.astype(f"m8[{self.unit}]")
        return found

    def _in_units(self, exact: Any) -> float | int:
        """Return how many units a time is; a half more where it is no whole number of them.

        Years that nanoseconds cannot count are no less a limit: Python's numbers count them.
        """
        unit, step = np.datetime_data(exact.dtype)
        if exact.dtype.kind == "M" and unit in {"Y", "M"} and self.unit not in {"Y", "M"}:
            exact, unit, step = exact.astype("M8[D]"), "D", 1
        if {unit, self.unit} & {"Y", "M"}:
            coarse = exact.astype(f"{exact.dtype.kind}8[{self.unit}]")
            count, back = int(coarse.astype(np.int64)), coarse.astype(exact.dtype)
            # Rounded toward zero or down: the value lies beside the key, on one side or the other.
            return count if back == exact else count + (0.5 if back < exact else -0.5)
        whole = int(exact.astype(np.int64)) * step * _ATTOSECONDS[unit]
        count, rest = divmod(whole, _ATTOSECONDS[self.unit])
        return count + 0.5 if rest else count

    def write(self, key: Any) -> str:
        """Write the value of a key for reading."""
        return self.between(key, key)

    def between(self, low: Any, high: Any) -> str:
        """Write the values of two keys, "low to high", or one where they read the same.

        Examples
        --------
        >>> axis = Axis("day", "time", "D")
        >>> axis.between(axis.key("2026-03-03"), axis.key("2026-05-09"))
        'March 3 to May 9, 2026'
        """
        if self.kind == "time":
            write = _two_weeks if self.unit == "W" else _two_times
            ends = self._parts(low), self._parts(high)
            if self.unit != "h" and ends[0][2] == ends[1][2] == "00:00":  # days, as times
                ends = (*ends[0][:2], ""), (*ends[1][:2], "")
            return write(*ends)
        if self.kind == "duration":
            first, last = (_duration(int(end), self.unit) for end in (low, high))
        else:
            first, last = _two_numbers(low, high)
        return first if first == last else f"{first} to {last}"

    def between_values(self, low: Any, high: Any) -> str:
        """Write two values, which may be finer than the units of the axis where nothing is."""
        if self.kind != "number":
            units = {np.datetime_data(end.dtype)[0] for end in (low, high)}
            if units != {self.unit}:
                finest = max(units, key=_UNITS.index)
                # Microseconds count all years that Python knows.
                axis = replace(self, unit="us" if _UNITS.index(finest) > _US else finest)
                return axis.between(axis.key(low), axis.key(high))
        return self.between(self.key(low), self.key(high))

    def place(self, low: Any, high: Any) -> str:
        """Write where predictions are whose keys lie between two: the start of a sentence."""
        words = self.between(low, high)
        if self.kind == "time":
            if " to " in words:
                return f"from {words}"
            if self.unit in {"Y", "M", "W"}:
                return f"in {words}"
            return f"at {words}" if ":" in words else f"on {words}"
        return f"where {self.title} is {words}"

    def labels(self, values: np.ndarray[Any, Any]) -> list[str]:
        """Write values short, to stand along an axis: no finer than it takes to tell them apart.

        Examples
        --------
        >>> Axis("day", "time", "D").labels(np.array(["2026-03-03", "2026-05-09"], "M8[D]"))
        ['Mar 3', 'May 9']
        """
        keys = np.asarray(values)
        if self.kind == "time":
            return _short_times([self._parts(self.key(value)) for value in keys])
        if self.kind == "duration":
            return [_duration(int(self.key(value)), self.unit) for value in keys]
        distinct = np.unique(keys)
        for digits in range(2, 8):
            if len({_number(value, digits) for value in distinct}) == len(distinct):
                break
        return [_number(value, digits) for value in keys]

    def plain(self, value: Any) -> Any:
        """Return a value as JSON has it: a number, or a text as ISO 8601 has it."""
        if self.kind == "time":
            return f"{value}+00:00" if self.zone and self.unit not in _DAYS else str(value)
        if self.kind == "duration":
            return str(value)
        return None if isinstance(value, float) and math.isinf(value) else value

    def _parts(self, key: Any) -> tuple[str, str, str]:
        """Return the day, the year and the time of day of a key, as words."""
        exact = self.value(key)
        if self.unit == "Y":
            return "", str(exact), ""
        if self.unit == "M":
            year, month = str(exact).rsplit("-", 1)
            return _MONTHS[int(month) - 1], year, ""
        if self.unit in _DAYS:
            year, month, day = str(exact.astype("M8[D]")).rsplit("-", 2)
            return f"{_MONTHS[int(month) - 1]} {int(day)}", year, ""
        local = _in_zone(exact, self.zone)
        day, _, time = str(local).partition("T")
        year, month, number = day.rsplit("-", 2)
        time = time if ":" in time else f"{time}:00"  # of hours
        time = time.rstrip("0").rstrip(".") if "." in time else time
        time = time.removesuffix(":00") if time.count(":") == 2 else time
        return f"{_MONTHS[int(month) - 1]} {int(number)}", year, time


_WANTED = {
    "time": "a date, a time or a text such as '2026-03-09'",
    "duration": "a timedelta",
}


def _no_such_value(value: Any, wanted: str) -> InputError:
    return InputError(f"between(a, b) needs {wanted} for each; got {value!r}")


def _moment(value: Any, zone: str) -> Any:
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


def _in_zone(exact: Any, name: str) -> Any:
    """Return a time of UTC as clocks of a zone show it, where Python knows the zone."""
    if not name:
        return exact
    fixed = _fixed_offset(name)
    if fixed is None:
        from datetime import UTC  # noqa: PLC0415

        zone, moment = _zone(name), exact.astype("M8[s]").item()
        if zone is None or not isinstance(moment, datetime):
            return exact
        fixed = moment.replace(tzinfo=UTC).astimezone(zone).utcoffset()
    return exact + np.timedelta64(fixed or timedelta())


def _fixed_offset(name: str) -> timedelta | None:
    """Return the offset that a zone is named by, as "+02:00" is; None for other names."""
    name = name.removeprefix("UTC")  # as Python writes them
    sign = {"+": 1, "-": -1}.get(name[:1])
    hours, _, minutes = name[1:].partition(":")
    if sign is None or not (hours.isdecimal() and minutes.isdecimal()):
        return None
    return sign * timedelta(hours=int(hours), minutes=int(minutes))


def _two_times(low: tuple[str, str, str], high: tuple[str, str, str]) -> str:
    """Write two times; what both have in common is written once."""

    def whole(parts: tuple[str, str, str], *, year: bool = True) -> str:
        day, of_year, time = parts
        sep = ", " if day[-1:].isdigit() else " "
        written = f"{day}{sep}{of_year}" if year and day else (day or of_year)
        return f"{written}, {time}" if time else written

    if low == high:
        return whole(low)
    if low[:2] == high[:2] and low[2]:
        return f"{whole(low)} to {high[2]}"
    if low[1] == high[1] and not (low[2] or high[2]) and low[0]:
        return f"{whole(low, year=False)} to {whole(high)}"
    return f"{whole(low)} to {whole(high)}"


def _two_weeks(low: tuple[str, str, str], high: tuple[str, str, str]) -> str:
    """Write two weeks by the days that they begin with."""
    first, to, last = _two_times(low, high).partition(" to ")
    return f"the week of {first} to that of {last}" if to else f"the week of {first}"


def _short_times(parts: list[tuple[str, str, str]]) -> list[str]:
    """Write times without what all of them have in common."""
    one_year = len({year for _, year, _ in parts}) == 1
    one_day = one_year and len({day for day, _, _ in parts}) == 1
    timed = any(time not in {"", "00:00"} for _, _, time in parts)
    if one_day and timed:
        return [time for _, _, time in parts]
    written = []
    for day, year, _ in parts:
        month, _, number = day.partition(" ")
        short = f"{month[:3]} {number}".strip()
        if not one_year or not day:
            short = f"{short}{', ' if number else ' '}{year}".strip()
        written.append(short)
    if timed and len(set(written)) < len(set(parts)):
        return [f"{day} {time}" for day, (_, _, time) in zip(written, parts, strict=True)]
    return written


def _two_numbers(low: Any, high: Any) -> list[str]:
    """Write two numbers with three digits, or as many more as it takes to tell them apart."""
    for digits in (3, 6, 9, 17):  # pragma: no branch - the last tell any two doubles apart
        ends = [_number(end, digits) for end in (low, high)]
        if ends[0] != ends[1] or low == high:
            break
    return ends


def _number(value: Any, digits: int) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        whole = int(value)
        # Years and other numbers of four digits are read without a comma.
        return f"{whole:,}" if abs(whole) >= 10_000 else str(whole)
    if 1e-3 <= abs(value) < 1e6:
        # As many digits before the point as there are.
        return f"{value:.{max(digits, math.floor(math.log10(abs(value))) + 2)}g}"
    return f"{value:.{digits}g}"


def _duration(count: int, unit: str) -> str:
    """Write a duration in the largest unit of which it is at least one."""
    if unit in {"Y", "M"}:
        return f"{count:,} {'year' if unit == 'Y' else 'month'}{'' if count == 1 else 's'}"
    seconds = count * {"W": 604_800.0, "D": 86_400.0, **_SECONDS}[unit]
    larger = (("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0))
    name, size = next((each for each in larger if abs(seconds) >= each[1]), ("second", 1.0))
    many = _number(seconds / size, 4)
    return f"{many} {name}{'' if many == '1' else 's'}"


# What users pass ----------------------------------------------------------------------------------


def ordering(
    values: Any, rows: int | None = None, name: str | None = None
) -> tuple[NumberArray, Axis]:
    """Return the key of each row, and the axis that knows what keys mean.

    Parameters
    ----------
    values : array-like
        Numbers, dates, times or durations, of numpy, pandas, Polars, Arrow or Python.
    rows : int, optional
        How many rows there are.
    name : str, optional
        What the axis is called; by default what ``values`` is called itself, or "x".

    Raises
    ------
    InputError
        If there is not one value a row, one is missing or infinite, or they are categories, texts
        or anything else that cannot be put on an axis.

    Examples
    --------
    >>> keys, axis = ordering(np.array(["2026-03-03", "2026-05-09"], "M8[D]"), name="day")
    >>> axis.between(*keys)
    'March 3 to May 9, 2026'
    """
    own = getattr(values, "name", None)
    name = name or (own if isinstance(own, str) and own else "x")
    if _is_categorical(values):
        raise InputError(_ORDER, f" ({visible(name)}) holds categories, {_NO_ORDER}")
    values, zone = _without_zone(values)
    array = one_dimensional("order_by", values)
    if rows is not None and array.shape[0] != rows:
        raise one_value_a_row("order_by", array.shape[0], rows)
    if array.dtype.kind == "O":
        array, zone = _from_objects(array, zone)
    kind = array.dtype.kind
    if kind in "mM":
        return _times(array, name, zone)
    if kind == "b":
        return array.astype(np.int64), Axis(name)
    if kind in "iu":
        wide = array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max
        keys: Any = np.ascontiguousarray(array, np.uint64 if wide else np.int64)
        return keys, Axis(name)
    if kind == "f":
        return _numbers(array), Axis(name)
    what = "text" if kind in "UST" else f"values of type {array.dtype}"
    first = f"; the first is {shown(array[0])}" if array.shape[0] else ""
    hint = _of_dates(array) if kind in "UT" else ""
    raise InputError(_ORDER, f" ({visible(name)}) holds {what}, {_NO_ORDER}{first}", hint=hint)


def are_equal(keys: NumberArray, others: np.ndarray[Any, Any]) -> bool:
    """Tell whether rows have the values of another column for keys."""
    if others.dtype.kind not in "biufO" or not bool(np.all(keys[:_HEAD] == others[:_HEAD])):
        return False
    return bool((keys == others).all())


def are_outcomes(keys: NumberArray, outcomes: np.ndarray[Any, Any]) -> bool:
    """Tell whether rows are put in the order of what happened; one value alone is no order."""
    return are_equal(keys, outcomes) and bool((keys != keys[0]).any())


def holds_outcomes(name: str) -> InputError:
    """Return the complaint that rows are put in the order of what happened."""
    return InputError(_ORDER, " holds the outcomes, ", Argument(name), f": {LATER}")


def _numbers(array: np.ndarray[Any, Any]) -> NumberArray:
    keys = np.ascontiguousarray(array, np.float64)
    if np.signbit(keys[keys == 0]).any():
        keys = keys + 0.0  # a copy, without -0.0
    finite = np.isfinite(keys)
    if not finite.all():
        row = int(np.argmin(finite))
        value = keys[row]
        if np.isnan(value):
            raise InputError(_MISSING, argument="order_by", value="NaN", row=row)
        complaint = ", which has no place on an axis"
        raise InputError(complaint, argument="order_by", value=repr(float(value)), row=row)
    return keys


def _times(array: np.ndarray[Any, Any], name: str, zone: str) -> tuple[NumberArray, Axis]:
    missing = np.isnat(array)
    if missing.any():
        row = int(np.argmax(missing))
        raise InputError(_MISSING, argument="order_by", value="NaT", row=row)
    unit, step = np.datetime_data(array.dtype)
    if unit == "generic":
        raise InputError(_ORDER, " holds times without a unit")
    array = array.astype(f"{array.dtype.kind}8[{unit}]") if step != 1 else array
    finer = {"ps": "ns", "fs": "ns", "as": "ns"}
    if unit in finer:  # finer than any clock
        raise InputError(_ORDER, f" holds times in units of {unit}; nanoseconds are the finest")
    keys = np.ascontiguousarray(array.astype(f"{array.dtype.kind}8[{unit}]", copy=False))
    kind: Kind = "time" if array.dtype.kind == "M" else "duration"
    return keys.view(np.int64), Axis(name, kind, unit, zone)


def _is_categorical(values: Any) -> bool:
    """Tell whether a column holds categories, as pandas, Polars and Arrow have them."""
    kind = str(getattr(values, "dtype", "")) or ""
    held = str(getattr(values, "type", "")) if not hasattr(values, "dtype") else ""
    return kind.startswith(("category", "Categorical", "Enum", "dictionary")) or held.startswith(
        "dictionary"
    )


def _without_zone(values: Any) -> tuple[Any, str]:
    """Return times in UTC where a column has a zone, and the zone."""
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


def _from_objects(array: np.ndarray[Any, Any], zone: str) -> tuple[np.ndarray[Any, Any], str]:
    """Read a column of Python objects: all numbers, all times or all durations."""
    for row, item in enumerate(array):
        _check_object(item, row)
    first = next(iter(array), 0)
    if isinstance(first, (date, datetime, np.datetime64)):
        return _moments(array, zone)
    if isinstance(first, (timedelta, np.timedelta64)):
        return _converted(array, lambda item: np.timedelta64(getattr(item, "asm8", item))), ""
    if all(isinstance(item, (int, np.integer)) for item in array):
        return _whole([int(item) for item in array]), ""
    return _converted(array, float, np.float64), ""


def _check_object(item: Any, row: int) -> None:
    """Refuse what is missing, and what is neither a number nor a time."""
    if item is None or item is np.ma.masked or str(item) in {"<NA>", "NaT"}:
        raise InputError(_MISSING, argument="order_by", value=str(item), row=row)
    if isinstance(item, (str, bytes)):
        raise _no_place(item, row)
    if not isinstance(item, _KNOWN):
        try:
            float(item)
        except (TypeError, ValueError) as error:
            raise _no_place(item, row) from error


def _whole(numbers: list[int]) -> np.ndarray[Any, Any]:
    kinds: tuple[Any, ...] = (np.int64, np.uint64)
    for kind in kinds:
        limits = np.iinfo(kind)
        if limits.min <= min(numbers) and max(numbers) <= limits.max:
            return np.array(numbers, kind)
    far = ": whole numbers beyond 64 bits; divide them, or give their ranks"
    raise InputError(_ORDER, far)


_KNOWN = (int, float, date, timedelta, np.generic)


def _no_place(item: Any, row: int) -> InputError:
    complaint = ", which has no place on an axis of numbers or times"
    hint = _of_dates(np.array([item])) if isinstance(item, str) else ""
    return InputError(complaint, argument="order_by", value=shown(item), row=row, hint=hint)


def _of_dates(array: np.ndarray[Any, Any]) -> str:
    """Suggest what to do with texts that read as dates."""
    try:
        datetime.fromisoformat(str(array[0]))
    except (ValueError, IndexError):
        return ""
    return " (texts of dates? convert them first, as pandas.to_datetime does)"


def _moments(array: np.ndarray[Any, Any], zone: str) -> tuple[np.ndarray[Any, Any], str]:
    zoned = [getattr(item, "tzinfo", None) is not None for item in array]
    if any(zoned) and not all(zoned):
        raise InputError(_ORDER, " must hold times with a time zone always or never")
    if any(zoned):
        names = {str(item.tzinfo) for item in array}
        zone = names.pop() if len(names) == 1 else "UTC"
    return _converted(array, lambda item: _moment(item, zone if any(zoned) else "")), zone


def _converted(array: np.ndarray[Any, Any], convert: Any, dtype: Any = None) -> Any:
    found = []
    for row, item in enumerate(array):
        try:
            found.append(convert(item))
        except (TypeError, ValueError, OverflowError) as error:
            raise _no_place(item, row) from error
    return np.array(found, dtype)
