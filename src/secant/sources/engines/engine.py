"""Which engine keeps a table, what is particular about it, and what it means when it fails."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw

from secant.errors import InputError, SecantError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Engine", "engine_of", "with_strays"]

# Of Ibis' backends, those whose columns hold whatever was put into them.
_UNTYPED = {"ibis-sqlite"}
# And those that put expressions in the place of columns, hundreds of times where they are nested.
_INLINING = {"ibis-mysql", "ibis-postgres", "ibis-sqlite"}
_NO_NUMBERS = ("text", "blob")
# Names of columns that an engine takes for patterns, or for a part of another column.
_PATTERNS = {
    "polars": re.compile(r"^\*$|^\^.*\$$", re.DOTALL),
    "duckdb": re.compile(r"^\*$"),
    "pyspark": re.compile(r"^\*$|[.`]"),
    "pyspark[connect]": re.compile(r"^\*$|[.`]"),
}
_NEVER = re.compile(r"(?!)")

_AGAIN = "connect to it again, and assess again"
_CAST = (
    "cast the columns first, scores, weights and outcomes to double precision and groups to text"
)
_LOOK = "see that the table still is where it was and can be read, then assess again"
_ROOM = "give the engine more memory, or let it spill to disk"
# What helps, by words in what the engine's error is called, or says.
_ADVICE = {
    _AGAIN: "connection closed network socket gateway shutdown refused",
    _ROOM: "memory diskfull",
    _LOOK: "undefinedtable undefinedcolumn no_such_table does_not_exist not_found notfound catalog",
    _CAST: "cast convert conversion coerce type out_of_range outofrange unsupported notdefined "
    "notimplemented schema numericvalue",
}
_SHOWN = 300


class Engine(NamedTuple):
    """An engine.

    ``name`` is what to call it (``duckdb``, ``pyspark``, ``ibis-postgres``); ``typed`` says whether
    its columns of numbers hold nothing but numbers, ``inlines`` whether it computes a column of a
    query anew wherever the next query uses it.
    """

    name: str
    typed: bool
    inlines: bool

    def check_names(self, names: Iterable[str]) -> None:
        """Refuse names of columns that mean other columns to the engine."""
        pattern = _PATTERNS.get(self.name, _NEVER)
        for name in names:
            if pattern.search(name):
                other = f"{self.name} reads the name of the column {name!r} as that of others"
                raise InputError(other, hint="; give the column another name")

    @contextmanager
    def asked(self, what: str) -> Iterator[None]:
        """Say what the engine was asked if it fails.

        Raises
        ------
        SecantError
            In place of whatever the engine raises, which is its cause. What is not the engine's
            passes: errors of our own, want of memory here, and what stops the program.
        """
        try:
            yield
        except (SecantError, MemoryError):
            raise
        except BaseException as error:
            # A panic of Polars is no Exception, as if nobody could go on after it.
            if not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
                raise
            raise SecantError(
                f"{self.name} failed at {what}: {_first_line(error)}; {_advice(error)}"
            ) from error


def engine_of(frame: nw.LazyFrame[Any]) -> Engine:
    """Return the engine of a table."""
    name = frame.implementation.value
    if name == "ibis":
        name = f"ibis-{frame.to_native().get_backend().name}"
    return Engine(name, name not in _UNTYPED, name in _INLINING)


def with_strays(frame: nw.LazyFrame[Any], columns: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """Mark the rows of an untyped table that hold no number where numbers are declared.

    Parameters
    ----------
    frame
        The user's table.
    columns
        The columns of numbers, by the name of the mark.
    """
    table = frame.to_native()
    marks = {mark: table[name].typeof().isin(_NO_NUMBERS) for mark, name in columns.items()}
    marked: nw.LazyFrame[Any] = nw.from_native(table.mutate(**marks))
    return marked


def _first_line(error: BaseException) -> str:
    """Return what an error says in a line, without what a terminal would obey."""
    kind = type(error).__name__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = "".join(c if c.isprintable() else repr(c)[1:-1] for c in (lines or [""])[0])
    shown = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}..."
    return f"{kind}: {shown}" if shown else kind


def _advice(error: BaseException) -> str:
    """Return what probably helps."""
    if isinstance(error, ModuleNotFoundError):
        return f"pip install {error.name}, or 'secant[frames]', which brings what engines answer in"
    told = f"{type(error).__name__}: {error}".casefold().replace(" ", "_")
    for advice, signs in _ADVICE.items():
        if any(sign in told for sign in signs.split()):
            return advice
    return "its own error is the cause of this one; once it is mended, assess again"
