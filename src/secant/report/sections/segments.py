"""The segments that were found, as a tree: a part of another one stands below it.

Rows open their curves as those of groups do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from secant._results import group_words
from secant._results.segments import Segment
from secant.report import _html
from secant.report._html import Markup, join, name, tag
from secant.report.sections.groups import cell, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from secant.report.sections.groups import Column, Table

__all__ = ["section", "tree"]


def section(table: Table) -> Markup:
    """Return the tree with what is said about it, and what was not searched."""
    whose = table.whose
    headline, *others = group_words.words_of(table.groups)
    hint = tag("span", " Choose a row to lay its curve over the plot.", class_="screen")
    return tag(
        "section",
        tag("h2", "Segments", None if whose is None else join(" of ", name(whose))),
        tag("p", headline, hint if table.rows else None, class_="lead"),
        _table(table) if table.rows else None,
        *(tag("p", words, class_="aside") for words in others),
        id=table.id,
        class_="groups segments",
    )


def _table(table: Table) -> Markup:
    columns = columns_of(table)
    heads = [(each.title, each.kind or "") for each in columns]
    body = [_row(number, depth, table, columns) for number, depth in tree(table.rows)]
    whose = "" if table.whose is None else f" of {table.whose}"
    label = f"Segments{whose}"
    return _html.table(heads, body, tabindex=0, role="region", aria_label=label)


def tree(rows: Sequence[object]) -> Iterator[tuple[int, int]]:
    """Return rows by number, each followed by its parts, with how deep they stand."""
    segments = [row for row in rows if isinstance(row, Segment)]

    def below(parent: str | None, depth: int) -> Iterator[tuple[int, int]]:
        for number, row in enumerate(segments):
            if row.parent == parent:
                yield number, depth
                yield from below(row.key, depth + 1)

    return below(None, 0)


def _row(number: int, depth: int, table: Table, columns: Sequence[Column]) -> Markup:
    row = table.rows[number]
    assert isinstance(row, Segment)  # noqa: S101
    known = next((each for each in table.rows if each.key == row.parent), None)
    shown = row.conditions
    if isinstance(known, Segment):
        shown = tuple(each for each in row.conditions if each not in known.conditions)
    words = " and ".join(" ".join(each) for each in shown)
    opens = tag(
        "button",
        tag("span", "part of it: " if depth else None, class_="part"),
        name(words),
        type="button",
        data_group=table.first + number,
        aria_label=row.key,
    )
    _, *others = (cell(number, column) for column in columns)
    first = tag("td", opens, class_=f"depth-{min(depth, 2)}")
    return tag("tr", first, *others, data_mood=_mood(row))


def _mood(row: Segment) -> str | None:
    """Return the colour of a row; what could be noise has none."""
    worst, off = row.calibration.worst, row.miscalibration
    if row.direction == "mixed":
        if not worst.certain:
            return None
        off = worst.miscalibration
    return "high" if off < 0 else "low"
