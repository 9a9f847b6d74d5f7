"""Which rows belong together: ids of clusters as numbers, and columns that look like such ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.visible import visible
from secant._input.arraylike import names_of_rows, of_rows, shown
from secant._input.keys import coded, combine, factorized, group_columns, plain_key
from secant._input.rules import DROP_OR_FILL
from secant.errors import Argument, InputError, Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import IntArray

__all__ = [
    "SAMPLE",
    "cluster_codes",
    "is_missing",
    "missing_id",
    "repeated",
    "telling",
]

# Rows looked at for repeated values.
SAMPLE = 1 << 16
# Names of columns that tell one unit from another, as people give them.
_UNITS = (
    "account|client|customer|device|game|household|individual|item|match|member|participant|"
    "patient|person|player|player_name|question|respondent|session|student|subject|user|username"
)
_TELLING = re.compile(rf"(.*_)?(id|ids|uid|uuid|guid|key)|.*[a-z]I[dD]|(.*_)?({_UNITS})s?")
# Fewer values are categories; and from so many rows a value on, values repeat.
_UNITS_AT_LEAST = 20
_ROWS_EACH = 1.5


def cluster_codes(values: Any, rows: int, kept: IntArray | None = None) -> IntArray:
    """Return the number of each row's cluster.

    Parameters
    ----------
    values : array-like, or a list of array-likes of one length
        The id of each row's cluster: numbers, texts, dates, whatever can be told apart. With
        several columns rows belong together where all of them agree.
    rows : int
        How many rows there are.
    kept : array, optional
        Those that are not left out.

    Raises
    ------
    InputError
        If there is not one id a row, or one is missing (None, NaN, NaT, an empty text).

    Examples
    --------
    >>> cluster_codes(["ann", "bob", "ann"], 3).tolist()
    [0, 1, 0]
    """
    columns = group_columns(values)
    if len(columns) == 1:
        return _codes(columns[0], rows, kept)
    codes = []
    for place, column in enumerate(columns):
        try:
            codes.append(_codes(column, rows, kept))
        except InputError as error:
            raise error.renamed({"clusters": f"clusters[{place}]"}) from error
    return combine(codes)


def _codes(values: Any, rows: int, kept: IntArray | None) -> IntArray:
    ids = of_rows("clusters", names_of_rows("clusters", values), rows, kept)
    try:
        distinct, codes = coded(ids)
    except InputError as error:
        raise error.renamed({"by": "clusters"}) from error
    in_order = not isinstance(distinct, list)  # what is missing comes last
    for code in range(max(0, len(distinct) - 1) if in_order else 0, len(distinct)):
        if is_missing(plain_key(distinct[code])):
            row = int(np.argmax(codes == code))
            raise missing_id(shown(ids[row]), row)
    return codes


def is_missing(key: Any) -> bool:
    """Tell whether an id is none: what is missing has the key None, and a text may be empty.

    An id of several columns is none where one of them is.
    """
    if isinstance(key, tuple):
        return any(map(is_missing, key))
    return key is None or (isinstance(key, str) and not key)


def missing_id(value: str, row: int) -> InputError:
    """Return the error about a row that belongs to no cluster."""
    return InputError(
        f", and every row needs the id of its cluster; secant drops no rows{DROP_OR_FILL}",
        argument="clusters",
        value=value,
        row=row,
        hint=" (a row that stands alone gets an id of its own)",
    )


def telling(names: Sequence[Any]) -> list[str]:
    """Return the columns whose names say that they tell units apart.

    Examples
    --------
    >>> telling(["user_id", "paid", "patient", "score", "questionId", "grid"])
    ['user_id', 'patient', 'questionId']
    """
    return [
        name
        for name in names
        if isinstance(name, str)  # others are possible in pandas
        and (_TELLING.fullmatch(name) or _TELLING.fullmatch(name.casefold()))
    ]


def repeated(column: str, values: Any, *, all_rows: bool) -> Message | None:
    """Say that the values of a column repeat, as ids of units do that have several rows.

    Parameters
    ----------
    column
        Its name.
    values
        Its first rows.
    all_rows
        Whether there are no more.

    Returns
    -------
    Message or None
        None where values do not repeat, or are too few to be units.
    """
    try:
        codes = factorized(names_of_rows(column, values))[1]
    except InputError:  # no column of ids
        return None
    units = int(codes.max(initial=-1)) + 1
    each = codes.size / max(units, 1)
    if units < _UNITS_AT_LEAST or each < _ROWS_EACH:
        return None
    often = f"has {each:.2g} rows each" if each < 10 else f"has {each:,.0f} rows each"
    if not all_rows:
        often = f"repeats itself ({codes.size:,} rows hold {units:,})"
    name = visible(column)
    return Message(
        f"{name} {often}: if rows of one {name} belong together they are not independent, and "
        "P-values are too small; use ",
        Argument("clusters", name),
        ".",
    )
