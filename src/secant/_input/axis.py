"""The axis that predictions are put along in place of their scores: what keys mean, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from secant._base.visible import visible
from secant._input.axis_words import (
    MONTHS,
    duration,
    number,
    short_times,
    two_numbers,
    two_times,
    two_weeks,
)
from secant._input.times import in_zone, moment
from secant.errors import InputError

if TYPE_CHECKING:
    from secant._base.types import NumberArray

__all__ = ["Axis", "Kind"]

Kind = Literal["number", "time", "duration"]

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
            plain = value.item() if isinstance(value, np.generic) else value
            if isinstance(plain, (int, float)) and plain == plain:  # noqa: PLR0124  (no NaN)
                return plain
            raise _no_such_value(value, "a number")
        try:
            is_time = self.kind == "time"
            found = moment(value, self.zone) if is_time else np.timedelta64(value)
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
            write = two_weeks if self.unit == "W" else two_times
            ends = self._parts(low), self._parts(high)
            if self.unit != "h" and ends[0][2] == ends[1][2] == "00:00":  # days, as times
                ends = (*ends[0][:2], ""), (*ends[1][:2], "")
            return write(*ends)
        if self.kind == "duration":
            first, last = (duration(int(end), self.unit) for end in (low, high))
        else:
            first, last = two_numbers(low, high)
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
            return short_times([self._parts(self.key(value)) for value in keys])
        if self.kind == "duration":
            return [duration(int(self.key(value)), self.unit) for value in keys]
        distinct = np.unique(keys)
        for digits in range(2, 8):
            if len({number(value, digits) for value in distinct}) == len(distinct):
                break
        return [number(value, digits) for value in keys]

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
            return MONTHS[int(month) - 1], year, ""
        if self.unit in _DAYS:
            year, month, day = str(exact.astype("M8[D]")).rsplit("-", 2)
            return f"{MONTHS[int(month) - 1]} {int(day)}", year, ""
        local = in_zone(exact, self.zone)
        day, _, time = str(local).partition("T")
        year, month, of_month = day.rsplit("-", 2)
        time = time if ":" in time else f"{time}:00"  # of hours
        time = time.rstrip("0").rstrip(".") if "." in time else time
        time = time.removesuffix(":00") if time.count(":") == 2 else time
        return f"{MONTHS[int(month) - 1]} {int(of_month)}", year, time


_WANTED = {
    "time": "a date, a time or a text such as '2026-03-09'",
    "duration": "a timedelta",
}


def _no_such_value(value: Any, wanted: str) -> InputError:
    return InputError(f"between(a, b) needs {wanted} for each; got {value!r}")
