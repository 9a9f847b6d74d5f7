"""Columns of features as a few levels each: what segments are made of.

Numbers and dates are cut at quantiles of the feature, so that levels hold about equally many rows;
everything else has a level for each of its most frequent values. Outcomes are never looked at. What
is missing is a level of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._input.arraylike import of_rows, one_dimensional
from secant._input.keys import grouped, key_order
from secant._input.times import microseconds, moment
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from secant._base.types import FloatArray, IntArray

__all__ = [
    "Column",
    "Levels",
    "Spans",
    "check_features",
    "column_of",
    "level_numbers",
    "levels_of",
    "levels_of_counts",
    "levels_of_numbers",
    "levels_of_spans",
    "quantile_places",
    "sorted_out",
]

_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
# Significant digits in which ends of ranges are written: as few as tell ranges apart.
_DIGITS = (4, 6, 9, 17)


class Column(NamedTuple):
    """Values of a feature: numbers, NaN where missing; or the numbers of their keys.

    ``dates`` tells that numbers are microseconds since 1970.
    """

    numbers: FloatArray | None
    keys: list[Any]
    codes: IntArray | None
    dates: bool = False


class Spans(NamedTuple):
    """Consecutive ranges of a numeric feature: what separates them, and what each really holds.

    A value belongs to the range numbered by how many ``cuts`` lie below it.
    """

    cuts: FloatArray
    low: Sequence[Any]
    high: Sequence[Any]


@dataclass(frozen=True)
class Levels:
    """The levels of one feature.

    Attributes
    ----------
    name
        The feature.
    words
        What each level is: ``"= north"``, ``"18 to 27"``, ``"is missing"``.
    keys
        Of a feature that is not numeric, the value of each level.
    cuts
        Of a numeric one, what separates its levels.
    missing
        Whether the last level is that of missing values.
    left_out
        What of the feature is not searched, in words; empty where everything is.
    """

    name: str
    words: tuple[str, ...]
    keys: tuple[Any, ...] = ()
    cuts: FloatArray | None = None
    missing: bool = False
    left_out: str = ""
    _number: dict[Any, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_number", {key: i for i, key in enumerate(self.keys)})

    def __len__(self) -> int:
        return len(self.words)

    def codes(self, column: Column) -> np.ndarray[Any, np.dtype[np.int16]]:
        """Return the level of each row, -1 where its value is not searched."""
        numbers = column.numbers
        if self.cuts is not None:
            if numbers is None:  # texts that are numbers
                assert column.codes is not None  # noqa: S101
                numbers = _as_numbers(column.keys)[column.codes]
            found = np.searchsorted(self.cuts, numbers, side="left").astype(np.int16)
            found[np.isnan(numbers)] = len(self) - 1 if self.missing else -1
            return found
        if column.codes is None:  # a column of numbers, all of them missing
            return np.zeros(len(numbers if numbers is not None else ()), np.int16)
        table = np.array([self._number.get(key, -1) for key in column.keys], np.int16)
        coded: np.ndarray[Any, np.dtype[np.int16]] = table[column.codes]
        return coded


def column_of(name: str, values: Any, rows: int) -> Column:
    """Return a feature as numbers or as keys.

    Raises
    ------
    InputError
        If it is not one-dimensional, has another length, or holds what cannot be a level.
    """
    try:
        array = of_rows("features", one_dimensional("features", values), rows)
        if array.dtype.kind in "iuf":
            return Column(array.astype(np.float64), [], None)
        if array.dtype.kind == "M":
            return Column(microseconds(array), [], None, dates=True)
        keys, codes = grouped(array, rows)
    except InputError as error:
        raise error.renamed({"by": "features"}).but(hint=f" (feature {name!r})") from error
    return sorted_out(keys, codes)


def sorted_out(keys: list[Any], codes: IntArray) -> Column:
    """Return keys as numbers where all of them are numbers, or dates."""
    known = [key for key in keys if key is not None]
    if known and all(_is_number(key) for key in known):
        return Column(_as_numbers(keys)[codes], [], None)
    if known and all(isinstance(key, date) for key in known):
        return Column(_as_numbers(keys)[codes], [], None, dates=True)
    return Column(None, keys, codes)


def _is_number(key: Any) -> bool:
    return isinstance(key, (int, float, Decimal)) and not isinstance(key, bool)


def _as_numbers(keys: Sequence[Any]) -> FloatArray:
    """Return keys as doubles, NaN where missing; dates, and texts of dates, in microseconds."""
    if not any(isinstance(key, date) or _is_date(key) for key in keys):
        return np.array([np.nan if key is None else float(key) for key in keys])
    return microseconds(np.array([_in_utc(key) for key in keys], "M8[us]"))


def _is_date(key: Any) -> bool:
    return isinstance(key, str) and _DATE.fullmatch(key) is not None


def _in_utc(day: date | str | None) -> Any:
    """Return a date as numpy has it; without a zone it is in UTC."""
    if day is None:
        return np.datetime64("NaT")
    return moment(day, "UTC" if getattr(day, "tzinfo", None) else "")


# Levels -------------------------------------------------------------------------------------------


def levels_of(name: str, column: Column, *, bins: int, most: int) -> Levels:
    """Return the levels of a feature from all its values."""
    if column.numbers is not None:
        missing = np.isnan(column.numbers)
        ordered = np.sort(column.numbers[~missing])
        return levels_of_numbers(
            name, ordered, bins=bins, missing=bool(missing.any()), dates=column.dates
        )
    assert column.codes is not None  # noqa: S101
    counts = np.bincount(column.codes, minlength=len(column.keys)).tolist()
    return levels_of_counts(name, dict(zip(column.keys, counts, strict=True)), most=most)


def level_numbers(counts: Mapping[Any, int]) -> tuple[FloatArray, bool] | None:
    """Return the sorted values of counted keys that are all numbers, or all dates, and which.

    Texts in the form 2026-01-31, with or without a time of day, are dates. It is None for others.
    """
    known = {key: count for key, count in counts.items() if key is not None}
    dates = all(map(_is_date, known))
    if not known or not (dates or all(_is_number(key) for key in known)):
        return None
    try:
        values = _as_numbers(list(known))
    except ValueError:  # the 31st of February
        return None
    order = np.argsort(values)
    return np.repeat(values[order], np.array(list(known.values()))[order]), dates


def quantile_places(rows: int, bins: int) -> IntArray:
    """Return the places, in sorted values, of the upper ends of all ranges but the last."""
    return (rows - 1) * np.arange(1, bins) // bins


def levels_of_numbers(
    name: str, ordered: FloatArray, *, bins: int, missing: bool, dates: bool = False
) -> Levels:
    """Return ranges of sorted values that hold about equally many of them.

    A feature of no more than ``bins`` distinct values has a level for each.
    """
    if not ordered.size:
        return _numeric(name, Spans(np.empty(0), (), ()), missing=missing, dates=dates)
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    distinct = ordered[first] if np.count_nonzero(first) <= bins else None
    cuts = ordered[quantile_places(ordered.size, bins)] if distinct is None else distinct
    cuts = np.unique(cuts)
    cuts = cuts[cuts < ordered[-1]]
    ends = np.searchsorted(ordered, cuts, side="right")
    low, high = ordered[np.append(0, ends)], ordered[np.append(ends, ordered.size) - 1]
    return _numeric(name, Spans(cuts, low.tolist(), high.tolist()), missing=missing, dates=dates)


def levels_of_spans(name: str, spans: Spans, *, missing: bool) -> Levels:
    """Return ranges that an engine has found; their ends may be dates."""
    dates = any(isinstance(end, date) for end in spans.low)
    if dates:
        low, high = (_as_numbers(ends).tolist() for ends in (spans.low, spans.high))
        spans = Spans(spans.cuts, low, high)
    return _numeric(name, spans, missing=missing, dates=dates)


def _numeric(name: str, spans: Spans, *, missing: bool, dates: bool) -> Levels:
    write = _dated(spans) if dates else _digits(spans)
    words = [
        f"= {write(low)}" if low == high else f"{write(low)} to {write(high)}"
        for low, high in zip(spans.low, spans.high, strict=True)
    ]
    if missing:
        words.append("is missing")
    if not spans.low:  # nothing but missing values
        return Levels(name, tuple(words), keys=(None,) if missing else ())
    return Levels(name, tuple(words), cuts=spans.cuts, missing=missing)


def levels_of_counts(
    name: str,
    counts: Mapping[Any, int],
    *,
    most: int,
    read: Callable[[list[Any]], list[Any]] = list,
) -> Levels:
    """Return a level for each of the most frequent values.

    Parameters
    ----------
    name
        The feature.
    counts
        How many rows have each value; None is missing.
    most
        The number of values to keep; missing ones are kept beside them.
    read
        Turns distinct values into what they stand for, such as texts into truths.
    """
    keys = list(counts)
    shown = dict(zip(keys, read(keys), strict=True))
    known = [key for key in keys if key is not None]
    order = key_order([shown[key] for key in known])
    place = {known[number]: rank for rank, number in enumerate(order)}
    kept = sorted(known, key=lambda key: (-counts[key], place[key]))[:most]
    left_out = ""
    if len(kept) < len(known):
        total = sum(counts.values())
        rows = total - sum(counts[key] for key in kept) - counts.get(None, 0)
        left_out = (
            f"{name}: {len(known) - len(kept):,} of {len(known):,} values, with "
            f"{100 * rows / total:.3g}% of the rows; the {most} most frequent were kept"
        )
    kept.sort(key=place.__getitem__)
    words = [f"= {shown[key]}" if str(shown[key]) else '= ""' for key in kept]
    twice = Counter(words)  # the text "1" and the number 1
    words = [
        word if twice[word] == 1 else f"= {shown[key]!r}"
        for key, word in zip(kept, words, strict=True)
    ]
    missing = None in counts
    keys = [*kept, None] if missing else kept
    words = [*words, "is missing"] if missing else words
    return Levels(name, tuple(words), keys=tuple(keys), missing=missing, left_out=left_out)


def check_features(names: Sequence[str]) -> None:
    """Refuse no features, and the same one twice."""
    if not names or len(set(names)) < len(names):
        wanted = f" must name one feature or several different ones; got {list(names)!r}"
        raise InputError(Argument("features"), wanted)


# Ends of ranges -----------------------------------------------------------------------------------


def _digits(spans: Spans) -> Callable[[float], str]:
    """Write numbers in as few digits as tell the ends of ranges apart."""

    def write(value: float, digits: int) -> str:
        if value == int(value) if np.isfinite(value) else False:
            return str(int(value)) if abs(value) < 1e15 else f"{value:g}"
        return f"{value:.{digits}g}"

    def tells_apart(digits: int) -> bool:
        pairs = zip(spans.low, spans.high, strict=True)
        ranges = {(write(float(a), digits), write(float(b), digits)) for a, b in pairs}
        return len(ranges) == len(spans.low)

    enough = next(filter(tells_apart, _DIGITS), _DIGITS[-1])
    return lambda value: write(float(value), enough)


def _dated(spans: Spans) -> Callable[[float], str]:
    """Write microseconds since 1970 as dates, with the time of day where there is one."""
    ends = [np.datetime64(int(end), "us") for end in (*spans.low, *spans.high)]
    days = all(end == end.astype("M8[D]") for end in ends)
    minutes = all(end == end.astype("M8[m]") for end in ends)
    unit = "D" if days else "m" if minutes else "s"

    def write(value: float) -> str:
        text = str(np.datetime64(int(value), "us").astype(f"M8[{unit}]"))
        return text.replace("T", " ")

    return write
