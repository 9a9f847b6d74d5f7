"""The columns of a table that hold the predictions."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

__all__ = ["SELECTED", "Columns", "are_numbers", "named_columns"]

SELECTED = "among rows chosen by what happened, even perfect forecasts look wrong"


class Columns(NamedTuple):
    """The names of the columns to read, and how to read them."""

    y_true: str
    y_prob: str
    sample_weight: str | None
    by: tuple[str, ...]
    weight_kind: str
    pos_label: Any

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self.sample_weight is not None and self.weight_kind == "sampling"

    @property
    def roles(self) -> dict[str, str]:
        """What each column is wanted for, by the name of the argument; ``by`` may be several."""
        roles = {"y_true": self.y_true, "y_prob": self.y_prob}
        if self.sample_weight is not None:
            roles["sample_weight"] = self.sample_weight
        several = len(self.by) > 1
        roles |= {f"by[{i}]" if several else "by": name for i, name in enumerate(self.by)}
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
            What the table is called in the message: a file's name, ``"data"``.
        """
        available = list(available)
        for argument, name in self.roles.items():
            if name not in available:
                raise InputError(
                    f"{where} has no column {name!r}, which {argument} names"
                    f"{_suggestion(name, available)}"
                )

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Tell in errors about arrays which columns those arrays were."""
        try:
            yield
        except InputError as error:
            told = ", ".join(
                f"{argument} is column {name!r}"
                for argument, name in self.roles.items()
                if argument in str(error)
            )
            raise InputError(f"{error} ({told})" if told else str(error)) from error


def named_columns(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    by: Any,
    *,
    weight_kind: str,
    pos_label: Any,
) -> Columns:
    """Check that with ``data=`` the arguments are names of columns.

    Raises
    ------
    InputError
        If one is not a text, or the outcomes are named for something else as well.
    """
    groups: tuple[str, ...] = ()
    if by is not None:
        several = by if isinstance(by, (list, tuple)) else [by]
        groups = tuple(_name("by", name) for name in several)
        if not groups or len(set(groups)) < len(groups):
            msg = f"by must name one column or several different ones; got {by!r}"
            raise InputError(msg)
    weight = None if sample_weight is None else _name("sample_weight", sample_weight)
    columns = Columns(
        y_true=_name("y_true", y_true),
        y_prob=_name("y_prob", y_prob),
        sample_weight=weight,
        by=groups,
        weight_kind=weight_kind,
        pos_label=pos_label,
    )
    if columns.y_true == columns.y_prob:
        msg = f"y_true and y_prob are both column {columns.y_true!r}"
        raise InputError(msg)
    for argument, name in columns.roles.items():
        if name == columns.y_true and argument != "y_true":
            msg = f"{argument} names {name!r}, the column of outcomes: {SELECTED}"
            raise InputError(msg)
    return columns


def are_numbers(names: Collection[str]) -> bool:
    """Tell whether names of columns are numbers, as where the first line of a CSV is a row."""
    return bool(names) and all(re.fullmatch(r"-?\d*\.?\d+", name) for name in names)


def _name(argument: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    msg = f"with data=, {argument} must be the name of a column; got {type(value).__name__}"
    raise InputError(msg)


def _suggestion(name: str, available: list[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  (for an error alone)

    plain = {column.casefold(): column for column in available}
    close = get_close_matches(name.casefold(), plain, 1, cutoff=0.6)
    if close:
        return f"; did you mean {plain[close[0]]!r}?"
    if not available:
        return "; it has no columns"
    shown = ", ".join(repr(column) for column in available[:8])
    more = f" and {len(available) - 8} more" if len(available) > 8 else ""
    missing = " (is the line of names missing?)" if are_numbers(available) else ""
    return f"; it has {shown}{more}{missing}"
