"""The table of groups: sorted, searched, and each row opening its own curve."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from secant._drawing.graph import spark
from secant._results import group_words
from secant.report import _numbers
from secant.report._html import Markup, join, name, tag
from secant.report._svg import picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.assessments import Assessments, Group

__all__ = ["Column", "Table", "cell", "columns_of", "numbers", "section", "shared_out"]

# Beyond this many groups in all the page holds the worst ones and says so.
_MOST_GROUPS = 500
# Points of the curves of all groups together, and of one.
_POINTS = 20_000
_POINTS_A_GROUP = 400
# Rows that go to the printer.
_PRINTED = 12
# How the numbers of a row are set; on a phone there is no room for what is minor.
_KINDS = (*["number minor"] * 5, "number")


class Column(NamedTuple):
    """One column: its title and cells, and for a column to sort by the values behind it."""

    title: str
    cells: Sequence[object]
    values: Sequence[Any] | None = None
    kind: str | None = None


class Table(NamedTuple):
    """The groups of one model, as far as the page holds them.

    ``first`` is the number of the first of them among the groups of all models, ``points`` how many
    each curve may have, ``number`` counts tables.
    """

    groups: Assessments
    whose: str | None
    rows: Sequence[Group]
    first: int
    points: int
    number: int = 0

    @property
    def id(self) -> str:
        """What the page calls the table."""
        what = self.groups.what
        return f"segments-{self.number}" if what == "segment" else f"groups-{self.first}"


def shared_out(tables: Sequence[tuple[str | None, Assessments]]) -> list[Table]:
    """Share out the room on the page between the groups of all models."""
    each = _MOST_GROUPS // max(len(tables), 1)
    shown = [groups.rows[:each] for _, groups in tables]
    points = min(_POINTS_A_GROUP, _POINTS // max(sum(map(len, shown)), 1))
    starts = accumulate(map(len, shown), initial=0)
    return [
        Table(groups, whose, rows, first, points, number)
        for number, ((whose, groups), rows, first) in enumerate(
            zip(tables, shown, starts, strict=False)
        )
    ]


def numbers(table: Table) -> dict[str, Any]:
    """Return everything the page shows about groups."""
    groups = table.groups
    several, level = len(groups.by) > 1, groups.confidence_level
    return {
        "model": table.whose,
        "verdict": group_words.words_of(groups),
        "by": list(groups.by),
        "adjust": groups.adjust,
        "what": groups.what,
        "groups": len(groups),
        "searched": groups.searched,
        "rows": [
            # Limits of segments hold at this level for all of them at once.
            {**_row_numbers(row, table.points, several=several), "confidence_level": level}
            for row in table.rows
        ],
    }


def _row_numbers(row: Group, most: int, *, several: bool) -> dict[str, Any]:
    # Without a second look at the data, which for many groups takes its time.
    named = row.status == "miscalibrated" and row.calibration.worst.certain
    found = [row.calibration.worst] if named else []
    parts = row.key if several else (row.key,)
    return {
        **row.to_dict(),
        "name": ", ".join(group_words.name(part) for part in parts),
        **_numbers.readable(row.calibration, found, most=most),
    }


def section(table: Table) -> Markup:
    """Return the table with what is said about it."""
    groups, whose = table.groups, table.whose
    columns = columns_of(table)
    head = tag("tr", *(_head(number, column) for number, column in enumerate(columns)))
    body = [_row(number, table, columns) for number in range(len(table.rows))]
    label = "Groups" if whose is None else f"Groups of {whose}"
    return tag(
        "section",
        tag("h2", "Groups", None if whose is None else join(" of ", name(whose))),
        tag(
            "p",
            " ".join(group_words.words_of(groups)),
            tag("span", " Choose a row to lay its curve over the plot.", class_="screen"),
            class_="lead",
        ),
        _left_out(len(table.rows), len(groups)),
        tag(
            "div",
            tag(
                "label",
                tag("span", "Search groups", class_="unseen"),
                tag("input", type="search", placeholder="Search groups"),
            ),
            tag("span", class_="search-count", role="status"),
            class_="controls",
        ),
        tag(
            "div",
            tag("table", tag("thead", head), tag("tbody", *body)),
            class_="table",
            tabindex=0,
            role="region",
            aria_label=label,
        ),
        _not_printed(len(table.rows)),
        id=table.id,
        class_="groups",
    )


def columns_of(table: Table) -> list[Column]:
    """Return the columns of the printed table, and the curves."""
    groups, shown = table.groups, table.rows
    printed = group_words.table(groups, most=len(shown))
    head, texts = printed.head, list(zip(*printed.rows, strict=True))
    several = len(groups.by) > 1
    keys = [row.key if several else (row.key,) for row in shown]
    behind = [(*key, *_values(row)) for key, row in zip(keys, shown, strict=True)]
    kinds = [*[None] * len(groups.by), *_KINDS]
    columns = [
        Column(*each) for each in zip(head, texts, zip(*behind, strict=True), kinds, strict=False)
    ]
    columns += [Column(*each) for each in zip(head, texts, strict=True)][len(columns) :]
    curves = [picture(spark(row.calibration), class_="spark") for row in shown]
    columns.insert(len(groups.by), Column("curve", curves))
    return columns


def _values(row: Group) -> tuple[float, ...]:
    """Return the numbers of a row with all their digits, in the order of the table."""
    found = row.calibration
    ecce = found.ecce_r
    averages = found.mean_score, found.base_rate
    return found.n, *averages, ecce.value, ecce.normalized, row.adjusted_pvalue


def _head(number: int, column: Column) -> Markup:
    if column.values is None:
        return tag("th", column.title, scope="col", class_=column.kind)
    button = tag("button", name(column.title), type="button", data_column=number)
    return tag("th", button, scope="col", aria_sort="none", class_=column.kind)


def _row(number: int, table: Table, columns: Sequence[Column]) -> Markup:
    row = table.rows[number]
    first, *others = (cell(number, column) for column in columns)
    title = name(str(columns[0].cells[number]))
    opens = tag("button", title, type="button", data_group=table.first + number)
    first = tag("td", opens, data_value=_sortable(columns[0], number))
    mood = None
    if row.status == "miscalibrated":
        mood = {"too high": "high", "too low": "low"}.get(row.calibration.direction)
    classes = "not-printed" if number >= _PRINTED else None
    return tag("tr", first, *others, class_=classes, data_mood=mood)


def cell(number: int, column: Column) -> Markup:
    """Return one cell of a row."""
    inside = column.cells[number]
    written = inside if isinstance(inside, Markup) else name(str(inside))
    return tag("td", written, class_=column.kind, data_value=_sortable(column, number))


def _sortable(column: Column, number: int) -> Any:
    """Return the value behind a cell; what is missing sorts last."""
    if column.values is None:
        return None
    value = column.values[number]
    return "" if value is None else value


def _left_out(shown: int, groups: int) -> Markup | None:
    if shown == groups:
        return None
    return tag("p", f"The page holds the first {shown:,} groups; {groups - shown:,} are left out.")


def _not_printed(count: int) -> Markup | None:
    if count <= _PRINTED:
        return None
    more = count - _PRINTED
    return tag("p", f"\N{HORIZONTAL ELLIPSIS} and {more:,} more on the screen.", class_="printed")
