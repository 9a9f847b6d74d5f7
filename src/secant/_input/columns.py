"""The columns of a table that hold the predictions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from secant._input.options import AS_USUAL, Reading
from secant.errors import Argument, InputError, Message

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from secant._input.options import WeightKind

__all__ = [
    "LATER",
    "SELECTED",
    "Columns",
    "are_numbers",
    "check_column",
    "column_name",
    "named_columns",
]

LATER = "the order of rows must be known before what happened"
SELECTED = "among rows chosen by what happened, even perfect forecasts look wrong"


class Columns(NamedTuple):
    """The names of the columns to read, and how to read them."""

    y_true: str
    y_prob: str
    sample_weight: str | None = None
    by: tuple[str, ...] = ()
    reading: Reading = AS_USUAL
    clusters: tuple[str, ...] | None = None
    order_by: str | None = None

    @property
    def weights(self) -> WeightKind | None:
        """What weights mean; None where there are none."""
        return None if self.sample_weight is None else self.reading.weight_kind

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self.weights == "sampling"

    @property
    def roles(self) -> dict[Argument, str]:
        """What each column is wanted for, by the argument that names it, which may name several."""
        roles = {Argument("y_true"): self.y_true, Argument("y_prob"): self.y_prob}
        if self.sample_weight is not None:
            roles[Argument("sample_weight")] = self.sample_weight
        for argument, names in (("by", self.by), ("clusters", self.clusters or ())):
            for place, name in enumerate(names):
                roles[Argument(argument, index=place if len(names) > 1 else None)] = name
        if self.order_by is not None:
            roles[Argument("order_by")] = self.order_by
        return roles

    @property
    def names(self) -> list[str]:
        """Every column to read, each once."""
        return list(dict.fromkeys(self.roles.values()))

    def check(self, available: Iterable[str], where: str) -> None:
        """Refuse a table that lacks a column, naming the nearest one it has.

        Parameters
        ----------
        available
            The columns of the table.
        where
            What the table is called in the message: a file's name, an argument.
        """
        for argument, name in self.roles.items():
            check_column(argument, name, list(available), where)

    def explain(self, error: InputError, place: str = "", first: int = 0) -> InputError:
        """Return an error about arrays as one about columns.

        Parameters
        ----------
        error
            What is wrong with arrays, or with one value.
        place
            The file whose rows they are; none for a table in memory.
        first
            The number of the arrays' first row there.
        """
        roles = {argument.name: name for argument, name in self.roles.items()}
        if error.value is not None and error.argument in roles and place:
            return error.but(
                place=place, row=first + (error.row or 0), column=roles[error.argument]
            )
        named = dict.fromkeys(each.name for each in error.message.arguments if each.name in roles)
        told = [
            (", " if number else " (", Argument(name), f" is column {roles[name]!r}")
            for number, name in enumerate(named)
        ]
        hint = Message(error.hint, *(part for parts in told for part in parts), ")" if told else "")
        return error.but(place=place, hint=hint)


def check_column(argument: str, name: str, available: Sequence[str], where: str) -> None:
    """Refuse a table that lacks a column, naming the nearest one it has."""
    if name not in available:
        hint = _suggestion(name, list(available))
        raise InputError(where, f" has no column {name!r}, which ", argument, " names", hint=hint)


def named_columns(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any = None,
    by: Any = None,
    clusters: Any = None,
    *,
    order_by: Any = None,
    reading: Reading,
) -> Columns:
    """Check that with ``data=`` the arguments are names of columns.

    Raises
    ------
    InputError
        If one is not a text, or the outcomes are named for something else as well.
    """
    weight = None if sample_weight is None else column_name("sample_weight", sample_weight)
    columns = Columns(
        column_name("y_true", y_true),
        column_name("y_prob", y_prob),
        weight,
        () if by is None else _several("by", by),
        reading,
        None if clusters is None else _several("clusters", clusters),
        None if order_by is None else column_name("order_by", order_by),
    )
    if columns.order_by == columns.y_prob:  # the order that there is anyway
        columns = columns._replace(order_by=None)
    outcomes, forecasts = Argument("y_true"), Argument("y_prob")
    if columns.y_true == columns.y_prob:
        raise InputError(outcomes, " and ", forecasts, f" are both column {columns.y_true!r}")
    for argument, name in columns.roles.items():
        if name == columns.y_true and argument != outcomes:
            why = LATER if argument.name == "order_by" else SELECTED
            raise InputError(argument, f" names {name!r}, the column of outcomes: {why}")
    return columns


def _several(argument: str, given: Any) -> tuple[str, ...]:
    """Return the names of one column or of several different ones."""
    several = given if isinstance(given, (list, tuple)) else [given]
    names = tuple(column_name(argument, name) for name in several)
    if not names or len(set(names)) < len(names):
        wanted = f" must name one column or several different ones; got {given!r}"
        raise InputError(Argument(argument), wanted)
    return names


def column_name(argument: str, value: Any) -> str:
    """Return the name of a column, and refuse what is no text."""
    if isinstance(value, str):
        return value
    wanted = f" must be the name of a column; got {type(value).__name__}"
    raise InputError("with data=, ", Argument(argument), wanted)


def are_numbers(names: Collection[Any]) -> bool:
    """Tell whether names of columns are numbers, as where the first line of a CSV is a row."""
    numbers = (isinstance(name, str) and re.fullmatch(r"-?\d*\.?\d+", name) for name in names)
    return bool(names) and all(numbers)


def _suggestion(name: str, available: list[Any]) -> str:
    """Name the nearest column; names of pandas and of mappings may be anything."""
    from difflib import get_close_matches  # noqa: PLC0415  (for an error alone)

    for column in available:
        if str(column) == name:
            kind = type(column).__name__
            return f"; its column {column!r} has a name of type {kind}: call it {name!r}, a text"
    whole, dot, part = name.partition(".")
    if dot and whole in available:
        return f"; if {part!r} is a field of column {whole!r}, make it a column of its own first"
    plain = {column.casefold(): column for column in available if isinstance(column, str)}
    close = get_close_matches(name.casefold(), plain, 1, cutoff=0.6)
    if close:
        return f"; did you mean {plain[close[0]]!r}?"
    if not available:
        return "; it has no columns"
    shown = ", ".join(repr(column) for column in available[:8])
    more = f" and {len(available) - 8} more" if len(available) > 8 else ""
    missing = " (is the line of names missing?)" if are_numbers(available) else ""
    return f"; it has {shown}{more}{missing}"
