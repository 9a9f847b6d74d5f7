"""What periods are called: numbers, dates, times or texts, in one order."""

from __future__ import annotations

import operator
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "EVERY",
    "Time",
    "from_text",
    "in_order",
    "next_time",
    "number_in",
    "period_of",
    "to_text",
    "written",
]

Time = int | str | date
"""The name of a period; a ``datetime`` is a ``date`` too."""

EVERY = ("day", "week", "month")
"""How long periods of dates can be."""

_LONGEST = 200  # characters of a name
_TIME = Argument("time")


def next_time(value: Any, last: Time | None) -> Time:
    """Return the name of a period that follows another; unless it has one, it is numbered.

    Raises
    ------
    InputError
        If it is of another kind than the last one's, or does not come after it.
    """
    if value is None:
        if last is None:
            return 1
        if isinstance(last, int):
            return last + 1
        raise InputError(_TIME, f" must be given, as it was before: the last was {written(last)}")
    time = _plain(value)
    if last is None:
        return time
    if _kind(time) != _kind(last):
        raise other_kind(time, last)
    try:
        later = time > last  # type: ignore[operator]
    except TypeError as error:
        mixed = f" must have a time zone always or never; got {written(time)} after {written(last)}"
        raise InputError(_TIME, mixed) from error
    if not later:
        raise out_of_order(time, last)
    return time


def out_of_order(time: Time, last: Time) -> InputError:
    """Return the error about a period that does not come after the last."""
    again = "has been added already" if time == last else f"comes before {written(last)}"
    as_text = "; texts are compared letter by letter" if isinstance(time, str) else ""
    once = f"and periods are added once, in their order{as_text}"
    return InputError(_TIME, f": the period {written(time)} {again}, {once}")


def other_kind(time: Time, last: Time) -> InputError:
    """Return the error about a period whose name cannot be compared with another's."""
    both = f"got {written(time)} ({_kind(time)}) after {written(last)} ({_kind(last)})"
    return InputError(_TIME, f" must be of one kind: {both}")


def written(time: Time) -> str:
    """Return the name of a period for reading."""
    if isinstance(time, datetime):
        whole = not (time.second or time.microsecond)
        return time.isoformat(sep=" ", timespec="minutes" if whole else "auto")
    return time if isinstance(time, str) else str(time)


def to_text(time: Time) -> tuple[str, str]:
    """Return a name as a kind and a text, from which :func:`from_text` makes it again."""
    return _kind(time), time.isoformat() if isinstance(time, date) else str(time)


def from_text(kind: Any, text: Any) -> Time:
    """Return the name that :func:`to_text` wrote.

    Raises
    ------
    ValueError
        If it wrote no such thing.
    """
    makers = {
        "number": int,
        "text": str,
        "date": date.fromisoformat,
        "datetime": datetime.fromisoformat,
    }
    if not (isinstance(kind, str) and isinstance(text, str) and kind in makers):
        raise ValueError(kind)
    time: Time = makers[kind](text)  # type: ignore[operator]
    if to_text(time) != (kind, text) or len(text) > _LONGEST:
        raise ValueError(text)
    return time


def period_of(value: Any, every: str | None) -> Time:
    """Return the period that a value from a file falls into.

    Parameters
    ----------
    value
        A date, a time, a text (one that reads as a date is a date) or a whole number.
    every
        ``"day"``, ``"week"`` (it begins on Monday) or ``"month"``; None for days where values
        are dates, and for the values themselves where they are not.

    Raises
    ------
    InputError
        If it is missing, or is no date where a date is needed.
    """
    if value is None:
        raise InputError(_TIME, " is missing in some rows, which then belong to no period")
    time = _plain(value)
    day = _day(time)
    if day is None:
        if every is not None:
            raise InputError(_TIME, f" must hold dates for a period a {every}; got {written(time)}")
        return time
    monday = day.toordinal() - day.weekday()
    return {"week": date.fromordinal(monday), "month": day.replace(day=1)}.get(every or "", day)


def in_order(times: Iterable[Time]) -> list[Time]:
    """Return periods in their order, each once.

    Raises
    ------
    InputError
        If they are not of one kind.
    """
    several = list(dict.fromkeys(times))
    for time in several[1:]:
        if _kind(time) != _kind(several[0]):
            raise other_kind(time, several[0])
    try:
        return sorted(several)
    except TypeError as error:
        raise InputError(_TIME, " must have a time zone always or never") from error


def number_in(value: Any) -> Any:
    """Return the whole number that a text is; a text of eight digits is a date, and stays."""
    is_number = isinstance(value, str) and value.isdecimal() and len(value) != len("20260301")
    return int(value) if is_number else value


def _day(time: Time) -> date | None:
    """Return the day that a time falls on, if it is one."""
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time.strip())
        except ValueError:
            return None
    if isinstance(time, datetime):
        return time.date()
    return time if isinstance(time, date) else None


def _plain(value: Any) -> Time:
    """Return a name as Python has it, or refuse what is none."""
    if isinstance(value, np.datetime64) and not np.isnat(value):
        days = np.datetime_data(value.dtype)[0] in {"Y", "M", "W", "D"}
        value = value.astype("M8[D]" if days else "M8[us]").item()
    if isinstance(value, datetime) and value == value:  # noqa: PLR0124  (not pandas.NaT)
        # As datetime itself, whatever it was made by.
        return datetime.combine(value.date(), value.timetz(), value.tzinfo)
    if isinstance(value, str) and 0 < len(value) <= _LONGEST:
        return str(value)
    if type(value) is date:
        return value
    if not isinstance(value, (bool, np.bool_)):
        try:
            return int(operator.index(value))
        except TypeError:
            pass
    raise InputError(
        _TIME, f" must be a date, a time, a whole number or a short text; got {value!r}"
    )


def _kind(time: Time) -> str:
    if isinstance(time, datetime):
        return "datetime"
    return {date: "date", int: "number"}.get(type(time), "text")
