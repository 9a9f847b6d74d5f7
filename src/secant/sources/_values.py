"""Columns of Arrow as arrays: which types are read, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant._groups import combined, grouped
from secant.sources._formats import arrow

if TYPE_CHECKING:
    from secant._types import FloatArray, IntArray

__all__ = ["group_codes", "kind_of", "nulls", "numbers", "outcomes", "refusal"]

_WANTED = {
    "y_prob": ("numbers", "booleans"),
    "sample_weight": ("numbers", "booleans"),
    "y_true": ("numbers", "booleans", "text"),
    "by": ("numbers", "booleans", "text", "dates"),
}


def kind_of(kind: Any) -> str:
    """Tell what a type of Arrow holds: numbers, booleans, text, dates, nothing, or its own name."""
    types = arrow().types
    if types.is_dictionary(kind):
        return kind_of(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_boolean(kind):
        return "booleans"
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "dates"
    return "nothing" if types.is_null(kind) else str(kind)


def refusal(argument: str, name: str, kind: Any) -> str | None:
    """Say why a column cannot be what an argument needs; None if it can."""
    held = kind_of(kind)
    wanted = _WANTED[argument.partition("[")[0]]
    if held in (*wanted, "nothing"):  # rows that are missing are refused row by row
        return None
    what = held if held == str(kind) else f"{held} ({kind})"
    if argument.startswith("by"):
        return f"column {name!r}, which {argument} names, holds {what}, which cannot name groups"
    needs = "0 and 1" if argument == "y_true" else "real numbers"
    return f"{argument} must hold {needs}; column {name!r} holds {what}"


def nulls(column: Any) -> Any:
    """Return what knows of a column which of its values are null, and how many."""
    if arrow().types.is_dictionary(column.type):
        # Rows without a number, or, rarely, whose number stands for a null.
        return column.dictionary_decode() if column.dictionary.null_count else column.indices
    return column


def numbers(column: Any) -> FloatArray:
    """Return a column of numbers as doubles, without a copy where it is one already."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)


def outcomes(column: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any] | None]:
    """Return a column of outcomes: its values, or the numbers of its words and the words."""
    held = kind_of(column.type)
    if held == "text":
        codes, words = _encoded(column)
        return codes, np.array(words.to_pylist(), dtype=object)
    if arrow().types.is_integer(column.type) or held == "booleans":
        return column.to_numpy(zero_copy_only=False), None
    return numbers(column), None


def group_codes(columns: list[Any]) -> tuple[list[Any], IntArray]:
    """Return the keys of the groups that rows are in, and the number of each row's key."""
    parts = [_keys(column) for column in columns]
    return parts[0] if len(parts) == 1 else combined(parts)


def _keys(column: Any) -> tuple[list[Any], IntArray]:
    codes, values = _encoded(column)
    used = np.flatnonzero(np.bincount(codes + 1, minlength=len(values) + 1)[1:])
    values = values.take(arrow().array(used))
    if arrow().types.is_decimal(values.type):
        distinct = np.array(values.to_pylist(), dtype=object)
    else:
        distinct = values.to_numpy(zero_copy_only=False)
    keys, numbered = grouped(distinct, len(used)) if len(used) else ([], used)
    number_of_code = np.zeros(int(codes.max()) + 2, np.int64)  # the last is for -1
    number_of_code[used] = numbered
    if (codes < 0).any():
        if None not in keys:
            keys.append(None)
        number_of_code[-1] = keys.index(None)
    return keys, number_of_code[codes]


def _encoded(column: Any) -> tuple[IntArray, Any]:
    """Return the number of each row's value, -1 where it is null, and the values."""
    pa = arrow()
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        column = column.dictionary_decode()  # a null among the values is a null too
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = column.indices.cast(pa.int64()).fill_null(-1)
    return codes.to_numpy(zero_copy_only=False), column.dictionary
