"""Rows of an engine that cannot be used: found in the first pass, explained when there are any.

An engine counts them under a code of their own in the place of a cell, so that looking for them
costs no pass over the data. Rows of a table have no numbers, so a message gives the column, how
many there are and an example; finding that example takes another look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw

from secant._input import rules
from secant.errors import Argument, InputError, Message
from secant.sources.engines.expressions import BITS, SCORE, WEIGHT, is_nan, number_if

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from secant._input.columns import Columns
    from secant._input.rules import Rule

    Collect = Callable[[nw.LazyFrame[Any]], nw.DataFrame[Any]]

__all__ = ["FILTER", "NO_ROWS", "WEIGHTLESS", "Faults", "missing", "that_are"]

NO_ROWS = Message(Argument("data"), " holds no rows; there is nothing to assess")
# What to do about rows that lack something: with this such a message ends.
FILTER = ": filter such rows out first, or fill them in"

# The code of a row of weight zero. It is no fault: the row is left out, once it has no other.
WEIGHTLESS = -99


class Fault(NamedTuple):
    """One way in which a row cannot be used.

    ``test`` finds it among the rows that have none of the faults before it; ``complaint`` goes on
    where "column ... holds 3 values" ends.
    """

    argument: str
    column: str
    test: nw.Expr
    complaint: Message


def missing(column: nw.Expr) -> nw.Expr:
    """Tell whether a row has no value in a column: null, or not a number."""
    return column.is_null() | is_nan(column)


def _broken(rule: Rule, test: nw.Expr | None = None) -> Fault:
    column = _COLUMNS[rule.argument]
    found = rule.broken(nw.col(column)) if test is None else test
    return Fault(rule.argument, column, found, rule.many)


def _lacking(argument: str) -> Fault:
    column = _COLUMNS[argument]
    return Fault(argument, column, missing(nw.col(column)), _NULL)


_COLUMNS = {"y_prob": "score", "y_true": "label", "sample_weight": "weight"}
_NULL = Message(f"missing (null or NaN); secant drops no rows{FILTER}")
_NO_NUMBER = Message(f"that are no numbers (texts or bytes among numbers){FILTER}")
_OUTSIDE, _NOT_BINARY = _broken(rules.SCORE), _broken(rules.OUTCOME)
# After NaN is gone, which exceeds 1 in some engines and not in others.
_IN_ANY_ROW = (_lacking("y_prob"), _OUTSIDE, _lacking("y_true"), _NOT_BINARY)
_IN_WEIGHTS = (_lacking("sample_weight"), _broken(rules.WEIGHT), _broken(rules.SCALE))
# Larger numbers are whole, and may have no place among an engine's whole numbers.
_WHOLE = nw.when(WEIGHT < 2.0**BITS).then(WEIGHT.floor()).otherwise(WEIGHT)
_IN_COUNTS = _broken(rules.COUNT, WEIGHT != _WHOLE)


def _stray(argument: str, column: str) -> Fault:
    """Return the fault of a value that is no number in a column that is declared to hold them."""
    return Fault(argument, column, nw.col(f"{column}_stray"), _NO_NUMBER)


_STRAYS = tuple(_stray(*pair) for pair in _COLUMNS.items())


class Faults:
    """What to look for in the rows of a table.

    Parameters
    ----------
    columns
        What is read, and how.
    strays
        The columns that mark values which are no numbers, in an engine without types.
    """

    def __init__(self, columns: Columns, strays: Collection[str] = ()) -> None:
        self._columns = columns
        wanted = [fault for fault in _STRAYS if f"{fault.column}_stray" in strays]
        wanted += _IN_ANY_ROW
        if columns.weights is not None:
            wanted += _IN_WEIGHTS
        if columns.weights == "frequency":
            wanted.append(_IN_COUNTS)
        # By code, in the order in which to look.
        self._wanted = {-1 - number: fault for number, fault in enumerate(wanted)}

    def code(self) -> nw.Expr:
        """Return the code of a row's first fault, 0 where there is none."""
        code = nw.lit(0.0)
        if self._columns.weights is not None:
            code = nw.when(WEIGHT == 0).then(nw.lit(float(WEIGHTLESS))).otherwise(code)
        for number, fault in reversed(self._wanted.items()):
            code = nw.when(fault.test).then(nw.lit(float(number))).otherwise(code)
        return code

    def refuse(self, rows: nw.LazyFrame[Any], found: Mapping[int, int], collect: Collect) -> None:
        """Raise an error about the faults found, if any: the number of rows by code."""
        for code, fault in self._wanted.items():
            if not (count := found.get(code)):
                continue
            unusable = rows.filter(self.code() == code)
            argument = Argument(fault.argument)
            column = self._columns.roles[argument]
            raise InputError(
                f"column {column!r} (",
                argument,
                f") holds {count:,} value{'s' if count > 1 else ''} ",
                that_are(count) if fault.complaint is _NULL else "",
                fault.complaint,
                *_details(fault, unusable, collect),
                column=column,
            )


def that_are(count: int) -> str:
    """Return words that go on after so many values."""
    return "that is " if count == 1 else "that are "


def _details(fault: Fault, unusable: nw.LazyFrame[Any], collect: Collect) -> tuple[str, ...]:
    """Give an example, and say what the values probably are."""
    if fault.complaint in (_NULL, _NO_NUMBER):
        return ()
    value = nw.col(fault.column)
    spread = number_if((SCORE != 0) & (SCORE != 1)).max()
    answer = collect(
        unusable.select(low=value.min(), high=value.max(), spread=spread),
    )
    low, high = float(answer["low"][0]), float(answer["high"][0])
    example = high if high > 1 or fault is _NOT_BINARY else low
    told = f", such as {example!r}"
    if fault is _OUTSIDE:
        return told, rules.scale_hint(low, high)
    if fault is _NOT_BINARY and answer["spread"][0] == 0 and low >= 0 and high <= 1:
        both = Argument("y_true"), " and ", Argument("y_prob")
        return told, "; ", *both, " look swapped"
    return (told,)
