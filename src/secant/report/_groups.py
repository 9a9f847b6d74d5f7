"""The table of groups: sorted, searched, and each row opening its own curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from secant import _verdict
from secant.report import _charts, _numbers
from secant.report._html import Markup, join, name, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._assessments import Assessments, Group

__all__ = ["MOST_GROUPS", "numbers", "section"]

# Beyond this many groups the page holds the worst ones and says so.
MOST_GROUPS = 500
# Points of the curves of all groups together, and of one.
_POINTS = 20_000
_POINTS_A_GROUP = 400
# Rows that go to the printer.
_PRINTED = 12
# How the numbers of a row are set; on a phone there is no room for what is minor.
_KINDS = (*["number minor"] * 5, "number")


class _Column(NamedTuple):
    """One column: its title and cells, and for a column to sort by the values behind it."""

    title: str
    cells: Sequence[object]
    values: Sequence[Any] | None = None
    kind: str | None = None


def numbers(groups: Assessments) -> dict[str, Any]:
    """Return everything the page shows about groups."""
    shown = groups.rows[:MOST_GROUPS]
    most = min(_POINTS_A_GROUP, _POINTS // len(shown))
    return {
        "verdict": _verdict.groups_words(groups),
        "by": list(groups.by),
        "adjust": groups.adjust,
        "groups": len(groups),
        "rows": [_row_numbers(row, most, several=len(groups.by) > 1) for row in shown],
    }


def _row_numbers(row: Group, most: int, *, several: bool) -> dict[str, Any]:
    # Without a second look at the data, which for many groups takes its time.
    found = [row.calibration.worst] if row.status == "miscalibrated" else []
    parts = row.key if several else (row.key,)
    return {
        **row.to_dict(),
        "name": ", ".join(_verdict.group_name(part) for part in parts),
        **_numbers.readable(row.calibration, found, most=most),
    }


def section(groups: Assessments, whose: str | None) -> Markup:
    """Return the table with what is said about it."""
    columns = _columns(groups)
    shown = groups.rows[:MOST_GROUPS]
    head = tag("tr", *(_head(number, column) for number, column in enumerate(columns)))
    body = [_row(number, row, columns) for number, row in enumerate(shown)]
    table = tag("table", tag("thead", head), tag("tbody", *body, id="groups-rows"))
    return tag(
        "section",
        tag("h2", "Groups", None if whose is None else join(" of ", name(whose))),
        tag(
            "p",
            " ".join(_verdict.groups_words(groups)),
            tag("span", " Choose a row to lay its curve over the plot.", class_="screen"),
            class_="lead",
        ),
        _left_out(len(groups) - len(shown)),
        tag(
            "div",
            tag(
                "label",
                tag("span", "Search groups", class_="unseen"),
                tag("input", type="search", id="search", placeholder="Search groups"),
            ),
            tag("span", id="search-count", role="status"),
            class_="controls",
        ),
        tag("div", table, class_="table", tabindex=0, role="region", aria_label="Groups"),
        _not_printed(len(shown)),
        id="groups",
    )


def _columns(groups: Assessments) -> list[_Column]:
    """Return the columns of the printed table, and the curves."""
    head, rows = _verdict.groups_table(groups)
    texts = list(zip(*rows, strict=True))
    several = len(groups.by) > 1
    keys = [row.key if several else (row.key,) for row in groups.rows]
    behind = [(*key, *_values(row)) for key, row in zip(keys, groups.rows, strict=True)]
    kinds = [*[None] * len(groups.by), *_KINDS]
    columns = [
        _Column(*each) for each in zip(head, texts, zip(*behind, strict=True), kinds, strict=False)
    ]
    columns += [_Column(*each) for each in zip(head, texts, strict=True)][len(columns) :]
    curves = [_charts.sparkline(r.calibration.curve, r.calibration.sigma) for r in groups.rows]
    columns.insert(len(groups.by), _Column("curve", curves))
    return columns


def _values(row: Group) -> tuple[float, ...]:
    """Return the numbers of a row with all their digits, in the order of the table."""
    found = row.calibration
    ecce = found.ecce_r
    averages = found.mean_score, found.base_rate
    return found.n, *averages, ecce.value, ecce.normalized, row.adjusted_pvalue


def _head(number: int, column: _Column) -> Markup:
    if column.values is None:
        return tag("th", column.title, scope="col", class_=column.kind)
    button = tag("button", name(column.title), type="button", data_column=number)
    return tag("th", button, scope="col", aria_sort="none", class_=column.kind)


def _row(number: int, row: Group, columns: Sequence[_Column]) -> Markup:
    first, *others = (_cell(number, column) for column in columns)
    opens = tag("button", name(str(columns[0].cells[number])), type="button", data_group=number)
    first = tag("td", opens, data_value=_sortable(columns[0], number))
    mood = None
    if row.status == "miscalibrated":
        mood = "high" if row.calibration.worst.miscalibration < 0 else "low"
    classes = "not-printed" if number >= _PRINTED else None
    return tag("tr", first, *others, class_=classes, data_mood=mood)


def _cell(number: int, column: _Column) -> Markup:
    inside = column.cells[number]
    written = inside if isinstance(inside, Markup) else name(str(inside))
    return tag("td", written, class_=column.kind, data_value=_sortable(column, number))


def _sortable(column: _Column, number: int) -> Any:
    """Return the value behind a cell; what is missing sorts last."""
    if column.values is None:
        return None
    value = column.values[number]
    return "" if value is None else value


def _left_out(count: int) -> Markup | None:
    if not count:
        return None
    return tag("p", f"The page holds the first {MOST_GROUPS:,} groups; {count:,} are left out.")


def _not_printed(count: int) -> Markup | None:
    if count <= _PRINTED:
        return None
    more = count - _PRINTED
    return tag("p", f"\N{HORIZONTAL ELLIPSIS} and {more:,} more on the screen.", class_="printed")
