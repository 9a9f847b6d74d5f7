"""How values along an axis are written: numbers, times and durations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["MONTHS", "duration", "number", "short_times", "two_numbers", "two_times", "two_weeks"]

MONTHS = (
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
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def two_times(low: tuple[str, str, str], high: tuple[str, str, str]) -> str:
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


def two_weeks(low: tuple[str, str, str], high: tuple[str, str, str]) -> str:
    """Write two weeks by the days that they begin with."""
    first, to, last = two_times(low, high).partition(" to ")
    return f"the week of {first} to that of {last}" if to else f"the week of {first}"


def short_times(parts: list[tuple[str, str, str]]) -> list[str]:
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


def two_numbers(low: Any, high: Any) -> list[str]:
    """Write two numbers with three digits, or as many more as it takes to tell them apart."""
    for digits in (3, 6, 9, 17):  # pragma: no branch - the last tell any two doubles apart
        ends = [number(end, digits) for end in (low, high)]
        if ends[0] != ends[1] or low == high:
            break
    return ends


def number(value: Any, digits: int) -> str:
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


def duration(count: int, unit: str) -> str:
    """Write a duration in the largest unit of which it is at least one."""
    if unit in {"Y", "M"}:
        return f"{count:,} {'year' if unit == 'Y' else 'month'}{'' if count == 1 else 's'}"
    seconds = count * {"W": 604_800.0, "D": 86_400.0, **_SECONDS}[unit]
    larger = (("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0))
    name, size = next((each for each in larger if abs(seconds) >= each[1]), ("second", 1.0))
    many = number(seconds / size, 4)
    return f"{many} {name}{'' if many == '1' else 's'}"
