"""Columns of Arrow as arrays: which types are read, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.keys import combined, factorized
from secant.errors import InputError
from secant.sources.files.formats import arrow

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant.errors import Argument

__all__ = [
    "TIMES",
    "absent",
    "along",
    "as_array",
    "as_times",
    "exact",
    "group_codes",
    "kind_of",
    "nulls",
    "numbers",
    "outcomes",
    "plain_numbers",
    "refusal",
    "taken",
]

ZONED = "times with a zone"
TIMES = ("dates", "times", ZONED)
_ANY = ("numbers", "booleans", "text", *TIMES)
_HOLDS = {
    "numbers": ("is_integer", "is_floating", "is_decimal"),
    "booleans": ("is_boolean",),
    "text": ("is_string", "is_large_string"),
    "dates": ("is_date",),
    "durations": ("is_duration",),
    "times of day": ("is_time",),
    "nothing": ("is_null",),
}
_DAY = 86_400_000  # milliseconds
_DIGITS = 15  # with which a decimal is another double than any other
_LONG = f", of more than {_DIGITS} digits, which doubles do not tell apart; round it"
_WIDE = ", and whole numbers beyond 64 bits would be taken for each other; divide it, or give ranks"
_DECIMAL = 128  # bits from which decimals can be told apart by Arrow
_WANTED = {
    "y_prob": ("numbers", "booleans"),
    "probs": ("numbers", "booleans"),
    "sample_weight": ("numbers", "booleans"),
    **dict.fromkeys(("y", "low", "high"), ("numbers", "booleans")),
    "y_true": ("numbers", "booleans", "text"),
    "order_by": ("numbers", "booleans", *TIMES, "durations"),
}
_NEEDS = {"y_true": "0 and 1", "order_by": "numbers or times, which have an order"}


def kind_of(kind: Any) -> str:
    """Tell what a type of Arrow holds: numbers, text, dates and so on, or its own name."""
    types = arrow().types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return kind_of(kind.value_type)
    if _is_bool8(kind):
        return "booleans"
    if types.is_timestamp(kind):
        return "times" if kind.tz is None else ZONED
    for held, tests in _HOLDS.items():
        if any(getattr(types, test)(kind) for test in tests):
            return held
    return "text" if str(kind) == "string_view" else str(kind)


def _is_bool8(kind: Any) -> bool:
    """Tell whether truths are stored in bytes, which Arrow computes nothing with."""
    return getattr(kind, "extension_name", "") == "arrow.bool8"


def refusal(argument: Argument, name: str, kind: Any) -> InputError | None:
    """Say why a column cannot be what an argument needs; None if it can."""
    held = kind_of(kind)
    if argument.name == "order_by" and arrow().types.is_dictionary(kind):
        held = "categories"
    if held in (
        *_WANTED.get(argument.name, _ANY),
        "nothing",
    ):  # rows that are missing are refused by row
        return None
    what = held if held == str(kind) else f"{held} ({kind})"
    if argument.name not in _WANTED:
        units = "clusters" if argument.name == "clusters" else "groups"
        cannot = f" names, holds {what}, which cannot name {units}"
        return InputError(f"column {name!r}, which ", argument, cannot, column=name)
    needs = _NEEDS.get(argument.name, "real numbers")
    must = f" must hold {needs}; column {name!r} holds {what}"
    hint = "; turn it into numbers first" if held == "text" and needs == "real numbers" else ""
    return InputError(argument, must, column=name, hint=hint)


def usual(column: Any) -> Any:
    """Return a column in one of the types that Arrow can compute with; most are already."""
    pa = arrow()
    kind = column.type
    if pa.types.is_dictionary(kind):
        values = usual(column.dictionary)
        if values is not column.dictionary:
            column = pa.DictionaryArray.from_arrays(column.indices, values)
    elif pa.types.is_run_end_encoded(kind):
        from pyarrow import compute  # noqa: PLC0415  (an extra)

        return usual(compute.run_end_decode(column))
    elif _is_bool8(kind):
        return column.storage.cast(pa.bool_())
    elif str(kind) == "string_view":
        try:
            return column.cast(pa.large_string())
        except pa.ArrowNotImplementedError:  # before pyarrow 18
            return pa.array(column.to_pylist(), pa.large_string())
    elif pa.types.is_decimal(kind) and kind.bit_width < _DECIMAL:
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    return column


def absent(column: Any) -> BoolArray:
    """Mark the rows that have no value: null, or not a number."""
    if kind_of(column.type) == "numbers":
        return np.isnan(numbers(column))
    return as_array(nulls(column).is_null())


def taken(column: Any, rows: IntArray) -> Any:
    """Return some rows of a column."""
    pa = arrow()
    places = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows)])
    return column.take(places)


def nulls(column: Any) -> Any:
    """Return what knows of a column which of its values are null, and how many."""
    if arrow().types.is_dictionary(column.type):
        # Rows without a number, or, rarely, whose number stands for a null.
        return column.dictionary_decode() if column.dictionary.null_count else column.indices
    return column


def as_array(column: Any) -> np.ndarray[Any, Any]:
    """Return numbers or truths as they lie in memory; any value may stand where there is none.

    Arrow's own to_numpy loads pandas where that is installed. It takes longer than a small file,
    and an interrupt that comes meanwhile is lost.
    """
    if arrow().types.is_boolean(column.type):
        return as_array(column.cast(arrow().uint8())).view(np.bool_)
    kind = np.dtype(column.type.to_pandas_dtype())
    if not len(column):
        return np.empty(0, kind)
    return np.frombuffer(column.buffers()[1], kind, len(column), column.offset * kind.itemsize)


def numbers(column: Any) -> FloatArray:
    """Return a column of numbers as doubles, without a copy where it is one already."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    values = np.asarray(as_array(column), np.float64)
    return np.where(as_array(column.is_null()), np.nan, values) if column.null_count else values


def outcomes(column: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any] | None]:
    """Return a column of outcomes: its values, or the numbers of its words and the words."""
    if kind_of(column.type) == "text":
        codes, words = _encoded(column)
        return codes, np.array(words.to_pylist(), dtype=object)
    return plain_numbers(column), None


def plain_numbers(column: Any) -> np.ndarray[Any, Any]:
    """Return a column of numbers or truths without nulls: those that are whole stay so."""
    if arrow().types.is_dictionary(column.type):
        column = column.dictionary_decode()
    whole = arrow().types.is_integer(column.type) or arrow().types.is_boolean(column.type)
    return as_array(column) if whole else numbers(column)


def along(column: Any) -> tuple[np.ndarray[Any, Any], str]:
    """Return a column of numbers, times or durations without nulls, and its time zone."""
    pa = arrow()
    kind = column.type
    if kind_of(kind) in {"numbers", "booleans"}:
        return plain_numbers(column), ""
    if pa.types.is_duration(kind):
        return as_array(column.cast(pa.int64())).view(f"m8[{kind.unit}]"), ""
    return as_times(column), getattr(kind, "tz", None) or ""


def as_times(column: Any) -> np.ndarray[Any, Any]:
    """Return a column of dates or times as numpy has them, in UTC; any may stand for a null."""
    pa = arrow()
    kind = column.type
    whole = as_array(column.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64()))
    if pa.types.is_timestamp(kind):
        return whole.view(f"M8[{kind.unit}]")
    days = whole if pa.types.is_date32(kind) else whole // _DAY
    return days.astype(np.int64).view("M8[D]")


def exact(column: Any, *, is_text: bool) -> Any:
    """Return numbers without nulls that go on to be compared, in a type that merges no two.

    Raises
    ------
    InputError
        With the value and its row, where there is no such type.
    """
    pa = arrow()
    if is_text and pa.types.is_floating(column.type):
        size = np.abs(as_array(column))
        _refuse_first((size >= 2.0**63) & (size < np.inf), column, _WIDE)
    if not pa.types.is_decimal(column.type) or column.type.precision <= _DIGITS:
        return column
    if column.type.scale > 0:
        digits = [len(each.normalize().as_tuple().digits) for each in column.to_pylist()]
        _refuse_first(np.array(digits) > _DIGITS, column, _LONG)
        return column
    for whole in (pa.int64(), pa.uint64()):
        try:
            return column.cast(whole)
        except pa.ArrowInvalid:
            continue
    _refuse_first(np.array([abs(each) >= 2**63 for each in column.to_pylist()]), column, _WIDE)
    raise AssertionError


def _refuse_first(wrong: Any, column: Any, complaint: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(complaint, value=str(column[row].as_py()), row=row)


def group_codes(columns: list[Any]) -> tuple[list[Any], IntArray]:
    """Return the keys of the groups that rows are in, and the number of each row's key."""
    parts = [_keys(column) for column in columns]
    return parts[0] if len(parts) == 1 else combined(parts)


def _keys(column: Any) -> tuple[list[Any], IntArray]:
    codes, values = _encoded(column)
    used = np.flatnonzero(np.bincount(codes + 1, minlength=len(values) + 1)[1:])
    zoned = kind_of(values.type) == ZONED
    keys, numbered = factorized(_distinct(values, used), zoned=zoned) if len(used) else ([], used)
    number_of_code = np.zeros(int(codes.max()) + 2, np.int64)  # the last is for -1
    number_of_code[used] = numbered
    if (codes < 0).any():
        if None not in keys:
            keys.append(None)
        number_of_code[-1] = keys.index(None)
    return keys, number_of_code[codes]


def _distinct(values: Any, used: IntArray) -> np.ndarray[Any, Any]:
    """Return some of the values."""
    pa = arrow()
    values = taken(values, used)
    if kind_of(values.type) in TIMES:
        return as_times(values)
    if kind_of(values.type) == "text" or pa.types.is_decimal(values.type):
        return np.array(values.to_pylist(), dtype=object)
    return as_array(values)


def _encoded(column: Any) -> tuple[IntArray, Any]:
    """Return the number of each row's value, -1 where it is null, and the values."""
    pa = arrow()
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        column = column.dictionary_decode()  # a null among the values is a null too
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    half = pa.types.is_float16(column.type)  # which many versions of pyarrow cannot tell apart
    if half:
        column = column.cast(pa.float32())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    indices = column.indices
    codes = as_array(indices).astype(np.int64)
    if indices.null_count:
        codes[as_array(indices.is_null())] = -1
    return codes, column.dictionary.cast(pa.float16()) if half else column.dictionary
