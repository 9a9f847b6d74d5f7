"""What every result can do: be printed, shown in a notebook, and turned into plain JSON.

A result says once what there is to say of it (:meth:`Result._say`): a headline, lines, tables and
what to keep in mind. Prints, notebooks and the terminal are made of that.
"""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from secant._base.extras import require

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["SCHEMA", "Result", "Said", "Table", "Tabular", "Text", "noted", "plain", "say"]

# The version of what `to_dict` returns: raised when a key changes its meaning or goes, never when
# one is added. docs/json.md lists the keys.
SCHEMA = 2


@dataclass(frozen=True)
class Table:
    """A table of texts: a head, rows, which columns begin at the left, and what is not shown.

    Examples
    --------
    >>> table = Table(["who", "n"], [["north", "1,000"], ["west", "9"]], {0}, "... and 1 more")
    >>> print(table.text())
    who        n
    north  1,000
    west       9
    ... and 1 more
    >>> table.without({0}).html()[:56]
    '<table><thead><tr><th style="text-align:right">n</th></t'
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Collection[int] = ()
    more: str = ""

    def text(self) -> str:
        """Return lines with columns one below the other."""
        shown = [self.head, *self.rows]
        widths = [max(len(row[place]) for row in shown) for place in range(len(self.head))]
        lines = [
            "  ".join(
                text.ljust(width) if place in self.left else text.rjust(width)
                for place, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in shown
        ]
        return "\n".join([*lines, *([self.more] if self.more else [])])

    def html(self) -> str:
        """Return the same as a table of a page; every text is escaped."""
        from html import escape  # noqa: PLC0415  (not needed to import secant)

        def line(cells: Sequence[str], tag: str) -> str:
            sides = ("left" if place in self.left else "right" for place in range(len(cells)))
            return "".join(
                f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>'
                for cell, side in zip(cells, sides, strict=True)
            )

        body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in self.rows)
        head = f"<thead><tr>{line(self.head, 'th')}</tr></thead>"
        more = f"<p>{escape(self.more)}</p>" if self.more else ""
        return f"<table>{head}<tbody>{body}</tbody></table>{more}"

    def without(self, places: Collection[int]) -> Table:
        """Return the table without some of its columns."""
        kept = [place for place in range(len(self.head)) if place not in places]
        head, *rows = ([cells[place] for place in kept] for cells in (self.head, *self.rows))
        left = {number for number, place in enumerate(kept) if place in self.left}
        return Table(head, rows, left, self.more)


class Said(NamedTuple):
    """All there is to tell of a result, once.

    Attributes
    ----------
    headline
        The answer, which stands out where anything can.
    then
        What follows on its line.
    lines
        What there is beside, a thought a line.
    tables
        Tables below.
    notes
        What to keep in mind, a sentence or two each.
    """

    headline: str = ""
    then: str = ""
    lines: Sequence[str] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()

    @property
    def first(self) -> str:
        """The first line."""
        return f"{self.headline} {self.then}".strip()

    def text(self) -> str:
        """Return all of it; a table stands apart from sentences."""
        words = [line for line in (self.first, *self.lines, *noted(self.notes)) if line]
        below = [table.text() for table in self.tables]
        return "\n".join([*words, *([""] if words and below else []), *below])

    def html(self, picture: str = "") -> str:
        """Return all of it for a notebook, with a picture below; every text is escaped."""
        from html import escape  # noqa: PLC0415  (not needed to import secant)

        start = f"<div><b>{escape(self.headline)}</b> {escape(self.then)}</div>"
        others = "<br>".join(escape(line) for line in (*self.lines, *noted(self.notes)) if line)
        beside = f'<div style="opacity:.8;margin-top:.4em">{others}</div>' if others else ""
        tables = "".join(table.html() for table in self.tables)
        return f"<div>{start if self.first else ''}{beside}{tables}{picture}</div>"


class Result(ABC):
    """A result: it is printed as what it says, and its public fields are its JSON.

    Examples
    --------
    >>> @dataclass(frozen=True, repr=False)
    ... class Answer(Result):
    ...     value: float
    ...     _also = ("even",)
    ...
    ...     @property
    ...     def even(self):
    ...         return self.value % 2 == 0
    ...
    ...     def _say(self):
    ...         return Said(f"It is {self.value} < 4.", "Certainly.", notes=["Always."])
    >>> Answer(3)
    It is 3 < 4. Certainly.
    Note: Always.
    >>> Answer(3).to_dict()
    {'value': 3, 'even': False}
    """

    __slots__ = ()
    # What JSON has beside the fields: before them, and after.
    _leads: ClassVar[tuple[str, ...]] = ()
    _also: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def _say(self) -> Said:
        """Return all there is to tell."""

    def _picture(self) -> str:
        """Return what a notebook shows below the words, as HTML."""
        return ""

    def _facts(self) -> dict[str, Any]:
        """Return the values that JSON has by their names."""
        names = (*self._leads, *public(self), *self._also)
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return every number as plain JSON; what is not finite becomes None."""
        return {name: plain(value) for name, value in self._facts().items()}

    def __str__(self) -> str:
        return to_width(self._say().text())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._say().html(self._picture())


class Tabular(Result):
    """A result whose numbers are columns, which become a data frame."""

    @property
    @abstractmethod
    def table(self) -> dict[str, list[Any]]:
        """The numbers as columns."""

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return require("pandas", None, "to_pandas() needs").DataFrame(self.table)

    def to_polars(self) -> Any:
        """Return the table as a polars DataFrame.

        Raises
        ------
        MissingExtraError
            If polars is not installed.
        """
        return require("polars", None, "to_polars() needs").DataFrame(self.table, strict=False)


class Text(str):
    """Text that is shown as it reads, line by line, also without ``print``."""

    __slots__ = ()

    def __str__(self) -> str:
        return to_width(str.__str__(self))

    __repr__ = __str__


def say(result: Result) -> Said:
    """Return all there is to tell of a result."""
    return result._say()  # noqa: SLF001  (the door to it)


def noted(notes: Sequence[str]) -> list[str]:
    """Return what to keep in mind as one line, if there is anything."""
    start = "Note" if len(notes) == 1 else "Notes"
    return [f"{start}: {' '.join(notes)}"] if notes else []


def public(result: Any) -> list[str]:
    """Return the names of the public fields of a result."""
    return [field.name for field in fields(result) if not field.name.startswith("_")]


def plain(value: Any) -> Any:
    """Turn results, and what they are made of, into what JSON knows."""
    if isinstance(value, Result) and not isinstance(value, tuple):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in public(value)}
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_width(text: str) -> str:
    """Return a text whose sentences end lines where the terminal does; elsewhere as it is.

    A terminal cuts words that do not fit its last column. Lines of a table stay: their columns are
    told by two spaces. What is written to a file or a pipe has no width.
    """
    if sys.stdout is None or not sys.stdout.isatty():
        return text
    width = max(shutil.get_terminal_size().columns, 20)
    wrap = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    fits = (
        [line] if len(line) <= width or "  " in line else wrap.wrap(line)
        for line in text.split("\n")
    )
    return "\n".join(each for lines in fits for each in lines)
