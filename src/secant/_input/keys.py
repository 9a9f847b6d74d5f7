"""What names rows: groups, clusters and levels of features, in one code and one order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.arraylike import names_of_rows, of_rows
from secant._input.times import plain_time, plain_times, without_zone
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import IntArray

__all__ = [
    "coded",
    "combine",
    "combined",
    "factorized",
    "group_columns",
    "group_order",
    "grouped",
    "key_numbers",
    "key_order",
    "plain_key",
]


def grouped(by: Any, rows: int, kept: IntArray | None = None) -> tuple[list[Any], IntArray]:
    """Return the distinct group keys and the number of each row's key.

    Parameters
    ----------
    by : array-like, or a list of array-likes of one length
        The group of each row; with several columns a key is a tuple.
    rows : int
        How many rows there are.
    kept : array, optional
        Those that are not left out.

    Returns
    -------
    keys, codes
        Row i is in group ``keys[codes[i]]``. What is missing (None, NaN, NaT, NA) is one group,
        whose key is None.

    Notes
    -----
    Keys mean the same wherever they come from. A date is a ``datetime.date``, a time without a
    zone a ``datetime.datetime`` without one, a time with a zone a ``datetime.datetime`` in UTC.
    A time that none of these can hold, finer than a microsecond or beyond the year 9999, is the
    text that ISO 8601 has for it (``"2026-01-01T00:00:00.000000001"``, with ``"+00:00"`` where it
    has a zone), so that no two different times are one key.
    """
    parts = [_factorized(column, rows, kept) for column in group_columns(by)]
    return parts[0] if len(parts) == 1 else combined(parts)


def group_columns(by: Any) -> list[Any]:
    """Return the columns that give groups: of a list of columns each, else what was passed."""
    return by if isinstance(by, list) and by and _is_column(by[0]) else [by]


def combine(parts: Sequence[IntArray]) -> IntArray:
    """Return one number for each distinct row of several columns of numbers, from 0 on."""
    codes, *others = parts
    for more in others:
        # Numbered again after each column, so that numbers stay below the number of rows.
        _, codes = np.unique(codes * (int(more.max(initial=0)) + 1) + more, return_inverse=True)
    return codes


def combined(parts: Sequence[tuple[list[Any], IntArray]]) -> tuple[list[Any], IntArray]:
    """Return the distinct tuples of keys of several columns, and the number of each row's tuple."""
    codes = combine([codes for _, codes in parts])
    rows = codes.shape[0]
    first = np.zeros(int(codes.max()) + 1, np.int64)
    first[codes[::-1]] = np.arange(rows)[::-1]
    return [tuple(keys[column[row]] for keys, column in parts) for row in first], codes


def plain_key(key: Any) -> Any:
    """Return a group's key as a plain value: a number, a text, a date; None where it is missing."""
    if isinstance(key, tuple):
        return tuple(plain_key(part) for part in key)
    if isinstance(key, (np.datetime64, np.timedelta64)):
        return plain_times(np.array([key]), zoned=False)[0]
    if isinstance(key, np.generic):
        key = key.item()
    if isinstance(key, np.longdouble):  # which has nothing plainer
        key = float(key)
    if key is None:
        return None
    if isinstance(key, float):
        key += 0.0  # not -0.0, which is the same group
    same = key == key  # noqa: PLR0124  (what is missing is not equal to itself)
    if not (isinstance(same, (bool, np.bool)) and same):
        return None
    return plain_time(key) if isinstance(key, datetime) else key


def key_order(keys: Sequence[Any]) -> list[int]:
    """Return the order of group keys: as they sort, by kind where kinds are mixed, null last."""

    def rank(key: Any) -> tuple[Any, ...]:
        if isinstance(key, tuple):
            return 1, "tuple", tuple(rank(part) for part in key)
        if isinstance(key, (bool, int, float)):
            return 0, "", key
        return (2, "", 0) if key is None else (1, type(key).__name__, str(key))

    return sorted(range(len(keys)), key=lambda number: rank(keys[number]))


def _is_column(item: Any) -> bool:
    """Tell a column from the key of a row: a text, a number, a date, None."""
    return hasattr(item, "__len__") and not isinstance(item, (str, bytes))


def _factorized(by: Any, rows: int, kept: IntArray | None) -> tuple[list[Any], IntArray]:
    plain, zone = without_zone(by)
    values = of_rows("by", names_of_rows("by", plain), rows, kept)
    # Arrow's days in milliseconds are times to numpy.
    if str(getattr(by, "type", "")).startswith("date64"):
        values = values.astype("M8[D]")
    return factorized(values, zoned=bool(zone))


def factorized(values: np.ndarray[Any, Any], *, zoned: bool = False) -> tuple[list[Any], IntArray]:
    """Return the distinct keys of one column, as :func:`grouped` has them, and each row's number.

    Parameters
    ----------
    values
        The group of each row.
    zoned
        Whether times of numpy are those of a column that has a zone.
    """
    distinct, codes = coded(values)
    if isinstance(distinct, list):
        # Missing values of several kinds, or not equal to themselves, are one group.
        plain: dict[Any, int] = {}
        numbers = key_numbers([plain_key(key) for key in distinct], codes, plain)
        return list(plain), numbers
    if distinct.dtype.kind in "mM":
        return plain_times(distinct, zoned=zoned), codes
    keys = distinct.tolist()
    return [plain_key(key) for key in keys] if distinct.dtype.kind == "f" else keys, codes


def coded(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any] | list[Any], IntArray]:
    """Return the distinct values of a column as they are, and the number of each row's.

    Numbers and times come sorted, one NaN or NaT last; anything else in the order it is met.
    """
    if values.dtype.type is np.longdouble:
        values = values.astype(np.float64)
    if values.dtype.kind in "biu" and (found := _counted(values)) is not None:
        return found
    if values.dtype.kind in "biufmM":
        return np.unique(values, return_inverse=True)
    rows = values.tolist()
    if datetime in set(map(type, rows)):
        # Of two times that a clock shows when it is put back, which are equal, the later.
        rows = [
            key.astimezone(UTC) if type(key) is datetime and key.fold and key.tzinfo else key
            for key in rows
        ]
    known: dict[Any, int] = {}
    try:
        codes = np.fromiter(
            (known.setdefault(key, len(known)) for key in rows), np.int64, len(rows)
        )
    except TypeError as error:
        wanted = f" must hold values that can name a group: {error}"
        raise InputError(Argument("by"), wanted) from error
    return list(known), codes


def _counted(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], IntArray] | None:
    """Do the same for whole numbers near each other, without sorting them; None for others."""
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    if high - low > 4 * values.size or high > np.iinfo(np.int64).max:
        return None
    place = values.astype(np.int64) - low
    there = np.zeros(high - low + 1, bool)
    there[place] = True
    distinct = np.flatnonzero(there) + low
    return distinct.astype(values.dtype), (np.cumsum(there) - 1)[place]


def group_order(codes: IntArray) -> IntArray:
    """Return the order of rows by their groups' numbers, first come first within a group."""
    bits = int(codes.max(initial=0)).bit_length()
    if bits > 2 * 16:
        return np.argsort(codes, kind="stable")
    # Sixteen bits at a time: those are sorted without comparing.
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    for shift in range(16, bits, 16):
        order = order[np.argsort((codes[order] >> shift).astype(np.uint16), kind="stable")]
    return order


def key_numbers(keys: Sequence[Any], codes: IntArray, known: dict[Any, int]) -> IntArray:
    """Return the number of each row's key among those known; new ones are added to them."""
    return np.array([known.setdefault(key, len(known)) for key in keys], np.int64)[codes]
