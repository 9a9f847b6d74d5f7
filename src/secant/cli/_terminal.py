"""The verdict on a terminal: three answers in words, then small tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant import _verdict, _wording, null

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console, RenderableType
    from rich.table import Table

    from secant._assessments import Assessments
    from secant._calibration import Calibration
    from secant._results import Statistic

__all__ = ["show_groups", "show_model", "sparkline"]

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 72
# Rows of a table of groups or ranges that fit a screen.
_MOST_GROUPS = 20
_MOST_RANGES = 5


def show_model(console: Console, name: str | None, result: Calibration) -> None:
    """Print the verdict on one model."""
    from rich.text import Text  # noqa: PLC0415  (not for `secant --help`)

    found = _verdict.found(result)
    words = Text()
    if name is not None:
        words.append(f"{name}: ", style="bold")
    words.append(f"{_verdict.headline(result)}. ", style="bold red" if found else "bold green")
    words.append(_verdict.where(result))
    console.print(words)
    console.print(Text(_verdict.averages(result), style="dim"))
    console.print()
    console.print(_metrics(result))
    console.print()
    console.print(Text("happened minus forecast, added up from the lowest score", style="dim"))
    console.print(Text(sparkline(result, min(console.width, _WIDTH))))
    if len(result.intervals) > 1:
        console.print()
        console.print(_ranges(result))
    for warning in result.warnings:
        console.print(Text(f"Note: {warning}", style="yellow"))


def show_groups(console: Console, name: str | None, groups: Assessments) -> None:
    """Print the verdict on groups, and the table, smallest adjusted P-value first."""
    from rich.text import Text  # noqa: PLC0415  (as above)

    headline, *more = _verdict.groups_words(groups)
    if name is not None:
        headline = f"{name}: {headline}"
    console.print(Text(headline, style="bold red" if groups.failing else "bold green"))
    for line in more:
        console.print(Text(line))
    header, rows = _verdict.groups_table(groups)
    names = len(groups.by)
    table = _table(header, left={*range(names), len(header) - 1})
    for cells in rows[:_MOST_GROUPS]:
        table.add_row(*_texts(cells))
    console.print()
    console.print(table)
    if len(rows) > _MOST_GROUPS:
        console.print(
            f"... and {len(rows) - _MOST_GROUPS:,} more groups; --json and --html show all"
        )


def sparkline(result: Calibration, width: int = _WIDTH) -> str:
    """Return the graph of cumulative differences in one line, from the lowest score upward."""
    curve = result.curve
    at = np.interp(np.linspace(0, 1, width), curve.fraction, curve.difference)
    low, high = min(float(at.min()), 0.0), max(float(at.max()), 0.0)
    if high == low:
        return _BARS[0] * width
    steps = np.round((at - low) / (high - low) * (len(_BARS) - 1)).astype(int)
    return "".join(_BARS[step] for step in steps)


def _metrics(result: Calibration) -> RenderableType:
    level = f"{100 * result.confidence_level:g}% limits"
    table = _table(["", "value", "sigma", "expected", "P", "method", level], left={0, 5})
    laws: Mapping[str, tuple[Statistic, null.BrownianLaw]] = {
        "ECCE-R": (result.ecce_r, null.range),
        "ECCE-MAD": (result.ecce_mad, null.mad),
    }
    for name, (statistic, law) in laws.items():
        low, high = (_wording.metric(limit) for limit in statistic.ci)
        table.add_row(
            name,
            _wording.metric(statistic.value),
            _wording.metric(statistic.normalized),
            f"{law.mean:.2g}",
            _wording.pvalue(statistic).removeprefix("= "),
            statistic.method,
            f"{low} to {high}",
        )
    return table


def _ranges(result: Calibration) -> RenderableType:
    level = f"{100 * result.confidence_level:g}% limits"
    header = ["scores", "count", "forecast", "happened", "points", level, ""]
    table = _table(header, left={0, 6})
    for each in result.intervals[:_MOST_RANGES]:
        low, high = (_wording.points(limit) for limit in each.ci)
        table.add_row(
            f"{_wording.score(each.low)} to {_wording.score(each.high)}",
            f"{each.n:,}",
            _wording.percent(each.mean_score),
            _wording.percent(each.mean_response),
            _wording.points(each.miscalibration),
            f"{low} to {high}",
            each.direction,
        )
    more = len(result.intervals) - _MOST_RANGES
    if more > 0:
        table.caption = f"... and {more} more ranges"
    return table


def _table(header: list[str], left: set[int]) -> Table:
    from rich.table import Table  # noqa: PLC0415  (as above)

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, name in enumerate(_texts(header)):
        table.add_column(name, justify="left" if place in left else "right")
    return table


def _texts(cells: list[str]) -> list[RenderableType]:
    """Return cells as plain text: rich would read markup in a name from the data."""
    from rich.text import Text  # noqa: PLC0415  (as above)

    return [Text(cell) for cell in cells]
