"""Other orders than that of scores: numbers and times, as users pass them, turned into keys.

A row's *key* is a number that sorts as its value does and merges no two: doubles, or whole numbers
where values are whole or are times. :class:`secant._input.axis.Axis` knows what keys mean.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.visible import visible
from secant._input.arraylike import of_rows, one_dimensional, shown
from secant._input.axis import Axis
from secant._input.columns import LATER
from secant._input.rules import DROP_OR_FILL
from secant._input.times import moment, without_zone
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from secant._base.types import IntArray, NumberArray
    from secant._input.axis import Kind

__all__ = ["are_equal", "are_outcomes", "holds_outcomes", "ordering", "refuse_merged"]

_ORDER = Argument("order_by")
_NO_ORDER = "whose order means nothing; give numbers or times"
_MISSING = f", and every row needs its place in the order; secant drops no rows{DROP_OR_FILL}"
# Rows that tell most columns apart.
_HEAD = 1000


def ordering(
    values: Any, rows: int | None = None, name: str | None = None, kept: IntArray | None = None
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
    kept : array, optional
        The rows that are not left out.

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
    values, zone = without_zone(values)
    array = one_dimensional("order_by", values)
    if rows is not None:
        array = of_rows("order_by", array, rows, kept)
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


def refuse_merged(values: np.ndarray[Any, Any], keys: NumberArray) -> None:
    """Refuse numbers with more digits than doubles have, where that makes one key of two.

    Raises
    ------
    InputError
        Which names the first such value.
    """
    exact = values.tolist()
    if len(set(exact)) == len(np.unique(keys)):
        return
    first: dict[float, Any] = {}
    for row, (value, key) in enumerate(zip(exact, keys.tolist(), strict=True)):
        other = first.setdefault(key, value)
        if other != value:
            complaint = f", which doubles do not tell from {other}; round them, or give their ranks"
            raise InputError(complaint, argument="order_by", value=str(value), row=row)


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
    if array.dtype.itemsize > keys.dtype.itemsize:
        refuse_merged(array, keys)
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


def _from_objects(array: np.ndarray[Any, Any], zone: str) -> tuple[np.ndarray[Any, Any], str]:
    """Read a column of Python objects: all numbers, all times or all durations."""
    for row, item in enumerate(array):
        _check_object(item, row)
    first = next(iter(array), 0)
    if isinstance(first, (date, datetime, np.datetime64)):
        return _moments(array, zone)
    if isinstance(first, (timedelta, np.timedelta64)):
        return _converted(array, lambda item: np.timedelta64(getattr(item, "asm8", item))), ""
    if all(map(_is_whole, array)):
        return _whole([int(item) for item in array]), ""
    keys = _converted(array, float, np.float64)
    if np.isfinite(keys).all():
        refuse_merged(array, keys)
    return keys, ""


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


def _is_whole(item: Any) -> bool:
    """Tell whether a number is whole and of a type that is exact: an int, Decimal or Fraction."""
    if isinstance(item, (float, np.floating)) or not hasattr(item, "as_integer_ratio"):
        return isinstance(item, np.integer)
    try:
        return bool(item.as_integer_ratio()[1] == 1)
    except (ValueError, OverflowError):  # a Decimal that is not finite
        return False


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
    if isinstance(item, time):
        complaint = ", a time of day, which every day has"
        hint = "; add its date, or give the hours as numbers"
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
    return _converted(array, lambda item: moment(item, zone if any(zoned) else "")), zone


def _converted(array: np.ndarray[Any, Any], convert: Any, dtype: Any = None) -> Any:
    found = []
    for row, item in enumerate(array):
        try:
            found.append(convert(item))
        except (TypeError, ValueError, OverflowError) as error:
            raise _no_place(item, row) from error
    return np.array(found, dtype)
