"""Which engine keeps a table, what is particular about it, and what it means when it fails."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw

from secant.errors import InputError, SecantError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Engine", "engine_of", "with_digits", "with_logarithm", "with_strays"]

# Of Ibis' backends, those whose columns hold whatever was put into them.
_UNTYPED = {"ibis-sqlite"}
# And those that put expressions in the place of columns, hundreds of times where they are nested.
_INLINING = {"ibis-mysql", "ibis-postgres", "ibis-sqlite"}
# And those that compute no quantiles, but know the place of a value in an order.
_PLACES = {"ibis-mysql", "ibis-sqlite"}
# Engines in which texts that differ may be equal, by the collation of a column.
_COLLATING = {
    *("duckdb", "pyspark", "pyspark[connect]"),
    *("ibis-duckdb", "ibis-mysql", "ibis-postgres", "ibis-sqlite"),
}
_NO_NUMBERS = ("text", "blob")
# Names of columns that an engine takes for patterns, or for a part of another column.
_PATTERNS = {
    "polars": re.compile(r"^\*$|^\^.*\$$", re.DOTALL),
    "duckdb": re.compile(r"^\*$"),
    "pyspark": re.compile(r"^\*$|[.`]"),
    "pyspark[connect]": re.compile(r"^\*$|[.`]"),
}
_NEVER = re.compile(r"(?!)")

# What gets at the rows of a table, whichever engine keeps it.
_FETCH = "fetch the rows first (.collect(), .compute(), .df(), .execute(), .toPandas())"
_AGAIN = "connect to it again, and assess again"
_CAST = (
    "cast the columns first, scores, weights and outcomes to double precision and groups to text"
)
_LOOK = "see that the table still is where it was and can be read, then assess again"
_CANNOT = f"it has no such operation, whatever the data; {_FETCH}"
_ROOM = "give the engine more memory, or let it spill to disk"
# What helps, by words in what the engine's error is called, or says.
_ADVICE = {
    _AGAIN: "connection closed network socket gateway shutdown refused",
    _ROOM: "memory diskfull",
    _CAST: "_cast [cast could_not_convert conversion coerce invalid_input_syntax invalidtext "
    "mismatch range_for_type undefinedfunction unsupportedbackendtype schemaerror",
    _LOOK: "undefinedtable undefinedcolumn no_such_table does_not_exist doesn't_exist not_found "
    "notfound catalog",
    _CANNOT: "notimplemented notdefined unsupported not_supported does_not_support "
    "no_such_function",
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

    @property
    def has_quantiles(self) -> bool:
        """Whether it is asked for quantiles, not for values at places in an order."""
        return self.name not in _PLACES

    @property
    def collates(self) -> bool:
        """Whether texts that differ, be it in case or in blanks at their end, may be equal."""
        return self.name in _COLLATING

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
            said = _first_line(error)
            shown = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}..."
            raise SecantError(
                f"{self.name} failed at {what}: {shown}; {_advice(error, said)}"
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


def with_digits(frame: nw.LazyFrame[Any], columns: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """Add the hexadecimal digits of texts, in which all that differ do, whatever the collation.

    Parameters
    ----------
    frame
        The user's table.
    columns
        The columns of texts, by the name of their digits.
    """
    table: Any = frame.to_native()
    if frame.implementation.is_ibis():
        marked = table.mutate(**{ours: _digits(table, name) for ours, name in columns.items()})
    elif frame.implementation.is_duckdb():
        quoted = {ours: '"' + name.replace('"', '""') + '"' for ours, name in columns.items()}
        told = [f'hex({name}) as "{ours}"' for ours, name in quoted.items()]
        marked = table.project(", ".join(["*", *told]))
    else:
        marked = table.selectExpr("*", *(f"hex(`{name}`) as `{o}`" for o, name in columns.items()))
    added: nw.LazyFrame[Any] = nw.from_native(marked)
    return added


def _digits(table: Any, name: str) -> Any:
    """Return the digits of a column of a table of Ibis."""
    builtin = nw.dependencies.get_ibis().udf.scalar.builtin
    if table.get_backend().name != "postgres":
        return builtin(_called_with_one, name="hex", signature=(("string",), "string"))(table[name])
    converted = builtin(_called_with_two, name="convert_to", signature=(("string",) * 2, "binary"))
    written = builtin(_called_with_two, name="encode", signature=(("binary", "string"), "string"))
    # Joined to nothing, lest an enumeration, which Ibis takes for a text, stay one.
    return written(converted("" + table[name], "UTF8"), "hex")


def _called_with_one(value: Any) -> Any:
    """Tell Ibis how a function of a database is called; this is never run."""


def _called_with_two(value: Any, how: Any) -> Any:
    """Tell the same of a function of two arguments."""


def with_logarithm(frame: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
    """Add the logarithm of a column of positive numbers, named after it.

    narwhals asks Ibis for what is NaN and infinite too, which not every database can write.
    """
    if not frame.implementation.is_ibis():
        return frame.with_columns(nw.col(name).log().alias(f"log_{name}"))
    table = frame.to_native()
    added: nw.LazyFrame[Any] = nw.from_native(table.mutate(**{f"log_{name}": table[name].ln()}))
    return added


def _first_line(error: BaseException) -> str:
    """Return what an error is called and says in a line, without what a terminal would obey."""
    kind = type(error).__name__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = "".join(c if c.isprintable() else repr(c)[1:-1] for c in (lines or [""])[0])
    return f"{kind}: {said}" if said else kind


def _advice(error: BaseException, said: str) -> str:
    """Return what probably helps, by an error's first line: further ones quote the query."""
    if isinstance(error, ModuleNotFoundError):
        return f"pip install {error.name}, or 'secant[frames]', which brings what engines answer in"
    told = said.casefold().replace(" ", "_")
    for advice, signs in _ADVICE.items():
        if any(sign in told for sign in signs.split()):
            return advice
    return f"mend what it says and assess again, or {_FETCH}"
