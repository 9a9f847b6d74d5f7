"""The table of groups: sorted, searched, and each row opening its own curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant import _verdict
from secant.report import _charts, _numbers
from secant.report._html import Markup, name, tag

if TYPE_CHECKING:
    from secant._assessments import Assessments, Group

__all__ = ["MOST_GROUPS", "numbers", "section"]

# Beyond this many groups the page holds the worst ones and says so.
MOST_GROUPS = 500
# Points of the curves of all groups together, and of one.
_POINTS = 20_000
_POINTS_A_GROUP = 400
# Rows that go to the printer.
_PRINTED = 12


def numbers(groups: Assessments) -> dict[str, Any]:
    """Return everything the page shows about groups."""
    shown = groups.rows[:MOST_GROUPS]
    most = min(_POINTS_A_GROUP, _POINTS // len(shown))
    return {
        "verdict": _verdict.groups_words(groups),
        "by": list(groups.by),
        "adjust": groups.adjust,
        "groups": len(groups),
        "rows": [_row_numbers(row, most) for row in shown],
    }


def _row_numbers(row: Group, most: int) -> dict[str, Any]:
    # Without a second look at the data, which for many groups takes its time.
    found = [row.calibration.worst] if row.status == "miscalibrated" else []
    return {
        **row.to_dict(),
        "name": _verdict.group_name(row.key),
        **_numbers.readable(row.calibration, found, most=most),
    }


def section(groups: Assessments) -> Markup:
    """Return the table."""
    head, rows = _verdict.groups_table(groups)
    shown = rows[:MOST_GROUPS]
    # Where the full numbers stand in the table behind it: the names, then what is written.
    columns = list(groups.table.values())
    order = [*range(len(groups.by)), *(len(groups.by) + k for k in (0, 1, 2, 3, 4, 6))]
    values = [columns[place] for place in order]
    heads = [_head(text, place, place < len(order)) for place, text in enumerate(head)]
    heads.insert(len(groups.by), tag("th", "curve", scope="col"))
    body = [
        _row(number, cells, [column[number] for column in values], groups.rows[number], groups)
        for number, cells in enumerate(shown)
    ]
    return tag(
        "section",
        tag("h2", "Groups"),
        tag("p", " ".join(_verdict.groups_words(groups)), class_="lead"),
        _left_out(len(rows) - len(shown)),
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
        tag(
            "div",
            tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body, id="groups-rows")),
            class_="table",
        ),
        _not_printed(len(shown)),
        id="groups",
    )


def _head(text: str, place: int, sortable: bool) -> Markup:  # noqa: FBT001  (a column's property)
    if not sortable:
        return tag("th", text, scope="col")
    button = tag("button", name(text), type="button", data_column=place)
    return tag("th", button, scope="col", aria_sort="none")


def _row(
    number: int, cells: list[str], values: list[Any], row: Group, groups: Assessments
) -> Markup:
    names = len(groups.by)
    tds = []
    for place, text in enumerate(cells):
        value = values[place] if place < len(values) else None
        if place == 0:
            inside: object = tag("button", name(text), type="button", data_group=number)
        else:
            inside = name(text) if place < names else text
        number_like = names <= place < len(values)
        tds.append(
            tag(
                "td",
                inside,
                class_="number" if number_like else None,
                data_value=value if value is not None else "",
            )
        )
    result = row.calibration
    tds.insert(names, tag("td", _charts.sparkline(result.curve, result.sigma)))
    state = "none"
    if row.status == "miscalibrated":
        state = "high" if result.worst.miscalibration < 0 else "low"
    classes = "not-printed" if number >= _PRINTED else None
    return tag("tr", *tds, class_=classes, data_mood=state)


def _left_out(count: int) -> Markup | None:
    if not count:
        return None
    return tag("p", f"The page holds the first {MOST_GROUPS:,} groups; {count:,} are left out.")


def _not_printed(count: int) -> Markup | None:
    if count <= _PRINTED:
        return None
    more = count - _PRINTED
    return tag("p", f"\N{HORIZONTAL ELLIPSIS} and {more:,} more on the screen.", class_="printed")
