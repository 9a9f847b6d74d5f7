"""Observations in groups, and rows in memory sorted into them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.arraylike import one_dimensional, one_value_a_row
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import IntArray
    from secant._input.observations import Observations

__all__ = ["combined", "grouped", "key_order", "plain_key", "split"]


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
    """
    columns = by if isinstance(by, list) and by and _is_column(by[0]) else [by]
    parts = [_factorized(_column(column, rows)) for column in columns]
    return parts[0] if len(parts) == 1 else combined(parts)


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
    refused: list[list[int]] = [[] for _ in range(n_groups)]
    for row in seen.forbidden:
        refused[codes[row]].append(row)

    def one(number: int) -> Observations | None:
        piece = slice(edges[number], edges[number + 1])
        group = replace(
            seen,
            labels=labels[piece],
            scores=scores[piece],
            weights=None if weights is None else weights[piece],
            n=int(edges[number + 1] - edges[number]),
            forbidden=tuple(refused[number]),
        )
        if group.weights is not None:
            if not group.weights.any():
                return None
            positive = int(np.count_nonzero(group.weights))
            n = positive if seen.sampling else int(group.weights.sum(dtype=np.float64))
            group = replace(group, n=n, has_zero_weights=positive < group.rows)
        lowest, highest = float(group.scores.min()), float(group.scores.max())
        return replace(group, lowest=lowest, highest=highest)

    return [one(number) for number in range(n_groups)]


def plain_key(key: Any) -> Any:
    """Return a group's key as a plain value: a number, a text, a date; None where it is missing."""
    if isinstance(key, tuple):
        return tuple(plain_key(part) for part in key)
    if isinstance(key, np.generic):
        key = key.item()
    if key is None:
        return None
    same = key == key  # noqa: PLR0124  (what is missing is not equal to itself)
    return key if isinstance(same, bool) and same else None


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
    values = one_dimensional("by", by)
    if values.shape[0] != rows:
        raise one_value_a_row("by", values.shape[0], rows)
    return values


def _factorized(values: np.ndarray[Any, Any]) -> tuple[list[Any], IntArray]:
    if values.dtype.kind in "biuf":
        distinct, codes = np.unique(values, return_inverse=True)  # one NaN, whatever their number
        return [plain_key(key) for key in distinct], codes
    if values.dtype.kind in "mM":  # finer units have no Python type to turn into
        values = values.astype(f"{values.dtype.kind}8[us]")
    numbers: dict[Any, int] = {}
    try:
        found = np.fromiter(
            (numbers.setdefault(key, len(numbers)) for key in values.tolist()),
            np.int64,
            values.shape[0],
        )
    except TypeError as error:
        wanted = f" must hold values that can name a group: {error}"
        raise InputError(Argument("by"), wanted) from error
    # Missing values of several kinds, or not equal to themselves, are one group.
    keys: dict[Any, int] = {}
    renumbered = [keys.setdefault(plain_key(key), len(keys)) for key in numbers]
    return list(keys), np.array(renumbered, np.int64)[found]
