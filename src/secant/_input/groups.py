"""Observations in groups, and rows in memory sorted into them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.arraylike import names_of_rows, one_value_a_row
from secant._input.observations import Observations
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import IntArray

__all__ = [
    "combined",
    "factorized",
    "group_columns",
    "grouped",
    "key_order",
    "plain_key",
    "plain_times",
    "split",
]

# Units of numpy that no time of Python can hold.
_FINE = {"ns", "ps", "fs", "as"}


def grouped(by: Any, rows: int) -> tuple[list[Any], IntArray]:
    """Return the distinct group keys and the number of each row's key.

    Parameters
    ----------
    by : array-like, or a list of array-likes of one length
        The group of each row; with several columns a key is a tuple.
    rows : int
        How many rows there are.

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
    parts = [
        factorized(_column(column, rows), zoned=_is_zoned(column)) for column in group_columns(by)
    ]
    return parts[0] if len(parts) == 1 else combined(parts)


def group_columns(by: Any) -> list[Any]:
    """Return the columns that give groups: of a list of columns each, else what was passed."""
    return by if isinstance(by, list) and by and _is_column(by[0]) else [by]


def combined(parts: Sequence[tuple[list[Any], IntArray]]) -> tuple[list[Any], IntArray]:
    """Return the distinct tuples of keys of several columns, and the number of each row's tuple."""
    _, codes = parts[0]
    for more, codes_of_more in parts[1:]:
        # Numbered again after each column, so that numbers stay below the number of rows.
        _, codes = np.unique(codes * len(more) + codes_of_more, return_inverse=True)
    rows = codes.shape[0]
    first = np.zeros(int(codes.max()) + 1, np.int64)
    first[codes[::-1]] = np.arange(rows)[::-1]
    return [tuple(keys[column[row]] for keys, column in parts) for row in first], codes


def split(seen: Observations, codes: IntArray, n_groups: int) -> list[Observations | None]:
    """Return the observations of each group; None for a group without weight.

    Rows are put in the order of their groups once, so that every group is a slice.
    """
    order = np.argsort(codes, kind="stable")  # a radix sort, for whole numbers
    edges = np.searchsorted(codes[order], np.arange(n_groups + 1))
    labels, scores = seen.labels[order], seen.scores[order]
    weights = None if seen.weights is None else seen.weights[order]
    clusters = None if seen.clusters is None else seen.clusters[order]
    keys = None if seen.keys is None else seen.keys[order]
    refused: dict[int, list[int]] = {}
    for row in seen.forbidden:
        refused.setdefault(int(codes[row]), []).append(row)
    lowest = np.minimum.reduceat(scores, edges[:-1]).tolist()
    highest = np.maximum.reduceat(scores, edges[:-1]).tolist()
    bounds = edges.tolist()

    def one(number: int) -> Observations | None:
        piece = slice(bounds[number], bounds[number + 1])
        group = Observations(
            labels=labels[piece],
            scores=scores[piece],
            weights=None if weights is None else weights[piece],
            counted=seen.counted,
            n=piece.stop - piece.start,
            lowest=lowest[number],
            highest=highest[number],
            forbidden=tuple(refused.get(number, ())),
            has_zero_weights=seen.has_zero_weights,
            outcome_weights=seen.outcome_weights,
            clusters=None if clusters is None else clusters[piece],
            keys=None if keys is None else keys[piece],
            axis=seen.axis,
        )
        if group.weights is not None:
            if not group.weights.any():
                return None
            positive = int(np.count_nonzero(group.weights))
            n = positive if seen.sampling else int(group.weights.sum(dtype=np.float64))
            group = replace(group, n=n, has_zero_weights=positive < group.rows)
        return group

    return [one(number) for number in range(n_groups)]


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
    return _plain_time(key) if isinstance(key, datetime) else key


def _plain_time(time: datetime) -> datetime | str:
    """Return a time without what pandas adds to it, in UTC if it has a zone."""
    if getattr(time, "nanosecond", 0):  # of pandas, which is finer than Python
        stamp: Any = time
        return plain_times(np.array([stamp.asm8]), zoned=stamp.tzinfo is not None)[0]  # type: ignore[no-any-return]
    if time.tzinfo is not None:
        with suppress(OverflowError):  # within a day of the first or the last year
            time = time.astimezone(UTC)
    fields = time.year, time.month, time.day, time.hour, time.minute, time.second
    return datetime(*fields, time.microsecond, time.tzinfo)  # noqa: DTZ001  (none has none)


def _later(time: datetime) -> datetime:
    """Return the later of two times that a clock shows when it is put back, which are equal."""
    return time if time.tzinfo is None else time.astimezone(UTC)


def plain_times(values: np.ndarray[Any, Any], *, zoned: bool) -> list[Any]:
    """Return times of numpy as Python has them, or as text where it has none that is equal."""
    coarse = values
    if np.datetime_data(values.dtype)[0] in _FINE:
        coarse = values.astype(f"{values.dtype.kind}8[us]")

    def plain(time: Any, exact: Any) -> Any:
        if np.isnat(exact):
            return None
        if isinstance(time.item(), int) or time != exact:
            return f"{exact}+00:00" if zoned else str(exact)
        return time.item().replace(tzinfo=UTC) if zoned else time.item()

    return [plain(*each) for each in zip(coarse, values, strict=True)]


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


def _column(by: Any, rows: int) -> np.ndarray[Any, Any]:
    values = names_of_rows("by", by)
    if values.shape[0] != rows:
        raise one_value_a_row("by", values.shape[0], rows)
    # Arrow's days in milliseconds are times to numpy.
    return values.astype("M8[D]") if str(getattr(by, "type", "")).startswith("date64") else values


def _is_zoned(by: Any) -> bool:
    """Tell whether a column of Polars or Arrow holds times with a zone, which numpy leaves out."""
    zone = getattr(getattr(by, "dtype", None), "time_zone", None)
    return bool(zone or getattr(getattr(by, "type", None), "tz", None))


def factorized(values: np.ndarray[Any, Any], *, zoned: bool = False) -> tuple[list[Any], IntArray]:
    """Return the distinct keys of one column, as :func:`grouped` has them, and each row's number.

    Parameters
    ----------
    values
        The group of each row.
    zoned
        Whether times of numpy are those of a column that has a zone.
    """
    if values.dtype.type is np.longdouble:
        values = values.astype(np.float64)
    if values.dtype.kind in "biuf":
        distinct, codes = np.unique(values, return_inverse=True)  # one NaN, whatever their number
        keys = distinct.tolist()
        return keys if values.dtype.kind != "f" else [plain_key(key) for key in keys], codes
    if values.dtype.kind in "mM":
        distinct, codes = np.unique(values, return_inverse=True)  # one NaT, as one NaN
        return plain_times(distinct, zoned=zoned), codes
    numbers: dict[Any, int] = {}
    rows = values.tolist()
    if datetime in set(map(type, rows)):
        rows = [_later(key) if type(key) is datetime and key.fold else key for key in rows]
    try:
        found = np.fromiter(
            (numbers.setdefault(key, len(numbers)) for key in rows),
            np.int64,
            values.shape[0],
        )
    except TypeError as error:
        wanted = f" must hold values that can name a group: {error}"
        raise InputError(Argument("by"), wanted) from error
    # Missing values of several kinds, or not equal to themselves, are one group.
    plain: dict[Any, int] = {}
    renumbered = [plain.setdefault(plain_key(key), len(plain)) for key in numbers]
    return list(plain), np.array(renumbered, np.int64)[found]
