"""Tables of results: texts for a terminal and for a notebook, and data frames of libraries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from secant._base.extras import require

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["Frames", "html_table", "text_table"]


class Frames(ABC):
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


def text_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = ()
) -> str:
    """Return lines with columns one below the other; those in ``left`` begin at the left.

    Examples
    --------
    >>> print(text_table(["who", "n"], [["north", "1,000"], ["west", "9"]], left={0}))
    who        n
    north  1,000
    west       9
    """
    shown = [header, *rows]
    widths = [max(len(row[place]) for row in shown) for place in range(len(header))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if place in left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in shown
    )


def html_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = ()
) -> str:
    """Return the same as a table of a page; every text is escaped."""
    from html import escape  # noqa: PLC0415  (its tables cost more to load than all of this module)

    def line(cells: Sequence[str], tag: str) -> str:
        sides = ("left" if place in left else "right" for place in range(len(cells)))
        return "".join(
            f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{line(header, 'th')}</tr></thead><tbody>{body}</tbody></table>"
