"""Outcomes in an engine's column, of every code, as 1 and 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from secant._input.keys import plain_key
from secant._input.rules import ALL_MISSING, WHICH_EVENT
from secant.errors import Argument, InputError, Message
from secant.sources.engines.expressions import plain, zero_or_one
from secant.sources.engines.faults import NO_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._input.columns import Columns

__all__ = ["outcomes"]

# Distinct outcomes to ask for: two are right, and more are only shown.
_DISTINCT = 10


def outcomes(
    frame: nw.LazyFrame[Any],
    columns: Columns,
    collect: Callable[[nw.LazyFrame[Any]], nw.DataFrame[Any]],
    *,
    typed: bool,
    digits: nw.Expr | None = None,
) -> nw.Expr:
    """Return an expression that is 1 where the event happened and 0 (or -1) where it did not.

    Numbers and truth values are checked row by row later. Words, and ``pos_label``, need to know
    the two values first, which takes a look at this one column.

    Raises
    ------
    InputError
        If the outcomes are words and no ``pos_label`` says which is the event, or there are not
        two of them.
    """
    schema = frame.collect_schema()
    column, dtype = plain(schema, columns.y_true), schema[columns.y_true]
    if columns.reading.pos_label is None and dtype == nw.Boolean and typed:
        return zero_or_one(~column, column)
    if columns.reading.pos_label is None and (dtype.is_numeric() or dtype == nw.Boolean):
        return column.cast(nw.Float64)
    told = column if digits is None else digits
    seen = frame.select(label=column, told=told).group_by("label", "told")
    distinct = seen.agg(nw.len().alias("rows"))
    answer = collect(distinct.head(_DISTINCT))
    values = [plain_key(value) for value in answer["label"].to_list()]
    if not values:
        raise InputError(NO_ROWS)
    where = Message(f"column {columns.y_true!r} (", Argument("y_true"), ")")
    if None in values and not columns.reading.drops:
        count = answer["rows"].to_list()[values.index(None)]
        lack = f" holds {count:,} missing outcome{'' if count == 1 else 's'}; secant drops no rows"
        raise InputError(where, lack, hint=": filter such rows out first")
    known = [value for value in values if value is not None]
    if not known:
        raise InputError(ALL_MISSING)
    others = _others(known, columns.reading.pos_label, where)
    # Any other value is missing, or was not there a moment ago.
    no = nw.lit(value=False)
    written = dict(zip(values, answer["told"].to_list(), strict=True))
    other = told == written[others[0]] if others else no
    if len(others) == len(known):
        return zero_or_one(other, no)  # the event never happened
    event = next(value for value in known if value == columns.reading.pos_label)
    return zero_or_one(other, told == written[event])


def _others(values: list[Any], pos_label: Any, where: Message) -> list[Any]:
    """Return the outcomes that are not the event, of which there may be one."""
    words = sorted(values, key=repr)
    shown = ", ".join(repr(word) for word in words[:3]) + (", ..." if len(words) > 3 else "")
    if pos_label is None:
        raise InputError(where, f" holds {shown}", hint=WHICH_EVENT)
    others = [value for value in values if not _same(value, pos_label)]
    if len(others) == len(values) and (
        len(others) > 1 or isinstance(others[0], str) != isinstance(pos_label, str)
    ):
        event = Argument("pos_label", pos_label)
        raise InputError(event, " does not occur in ", where, f", which holds {shown}")
    if len(others) > 1:
        two = f" holds {shown}; outcomes must take two values, "
        raise InputError(where, two, Argument("pos_label", pos_label), " and one other")
    return others


def _same(value: Any, pos_label: Any) -> bool:
    answer = value == pos_label
    return isinstance(answer, bool) and answer
