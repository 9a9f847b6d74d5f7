"""The verdict on a terminal: the words of the library, the curve in a line, small tables."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal

import numpy as np

from secant._results import group_words, model_words, verdict, wording
from secant._results.base import noted, say
from secant.cli._refusal import in_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console
    from rich.table import Table

    from secant._results.assessments import Assessments
    from secant._results.base import Table as Words
    from secant._results.calibration import Calibration
    from secant._results.models import Models

    # A table, and what had no room in it.
    _Version = tuple[Table, list[str]]

__all__ = ["show_groups", "show_model", "show_models", "sparkline", "terminal"]

_BARS = "▁▂▃▄▅▆▇█"
# The same for an encoding that has no such characters.
_PLAIN_BARS = "_.,-~=*#"
_WIDTH = 72
# Columns of a log or a pipe, which has no width of its own.
_WIDTH_OF_FILES = 120
# Rows of a table of groups that fit a screen.
_MOST_GROUPS = 20


def terminal() -> Console:
    """Return where to print: as wide as the terminal, or as ``COLUMNS`` says."""
    from rich.console import Console  # noqa: PLC0415  (not for `secant --help`)

    told = os.environ.get("COLUMNS", "").isdecimal()
    wide = told or (sys.stdout is not None and sys.stdout.isatty())
    return Console(highlight=False, soft_wrap=False, width=None if wide else _WIDTH_OF_FILES)


def show_model(
    console: Console,
    name: str | None,
    result: Calibration,
    *,
    details: bool = False,
    guessed: str = "",
) -> None:
    """Print the verdict on one model, which columns were guessed for it, and its curve."""
    from rich.text import Text  # noqa: PLC0415  (as above)

    said = say(result)
    words = Text()
    if name is not None:
        words.append(f"{wording.visible(name)}: ", style="bold")
    words.append(said.headline, style=f"bold {_color(result)}")
    words.append(f" {said.then}" if said.then else "")
    if guessed:
        words.append(f" {guessed}", style="bold")
    console.print(words)
    for line in verdict.details(result)[1:] if details else filter(None, said.lines):
        console.print(Text(line))
    for line in noted([in_options(each) for each in said.notes]):
        console.print(Text(line, style="yellow"))
    along = "from the lowest score" if result.axis is None else f"along {result.axis.title}"
    console.print(Text(f"outcome minus forecast, added up {along}:", style="dim"))
    bars = _BARS if _can_write(console.encoding, _BARS) else _PLAIN_BARS
    console.print(Text(sparkline(result, min(console.width, _WIDTH), bars)))


def show_groups(console: Console, name: str | None, groups: Assessments) -> None:
    """Print the verdict on groups, and the table, smallest adjusted P-value first."""
    from rich.text import Text  # noqa: PLC0415  (as above)

    headline, *others = group_words.words_of(groups)
    if name is not None:
        headline = f"{wording.visible(name)}: {headline}"
    bad = groups.failing or any(row.calibration.n_forbidden for row in groups.rows)
    console.print(Text(headline, style=f"bold {'red' if bad else 'green'}"))
    for line in others:
        console.print(Text(line))
    if not groups:
        return
    console.print()
    _show_fitting(console, _groups(groups))
    if len(groups) > _MOST_GROUPS:
        more = len(groups) - _MOST_GROUPS
        console.print(f"... and {more:,} more groups; --json and --html show all")


def show_models(console: Console, models: Models) -> None:
    """Print several models in one table, and which of them can be told apart."""
    from rich.text import Text  # noqa: PLC0415  (as above)

    table = model_words.table(models)
    _show_fitting(
        console,
        (
            _version(table, places)
            for places in ((), (3, 4), (2, 3, 4, 6))  # parts of the score, log loss, chance
        ),
    )
    console.print()
    for line in model_words.words_of(models):
        console.print(Text(line))


def sparkline(result: Calibration, width: int = _WIDTH, bars: str = _BARS) -> str:
    """Return the graph of cumulative differences in one line, from the lowest place upward.

    It is at least four sigma tall, as the triangle of pictures is, so that noise looks small.
    """
    curve = result.curve
    at = np.interp(np.linspace(0, 1, width), curve.fraction, curve.difference)
    low, high = min(float(at.min()), 0.0), max(float(at.max()), 0.0)
    tall = max(high - low, 4 * result.sigma)
    if tall == 0:
        return bars[0] * width
    steps = np.round(((at - (low + high) / 2) / tall + 0.5) * (len(bars) - 1)).astype(int)
    return "".join(bars[step] for step in steps)


def _color(result: Calibration) -> str:
    off = result.found and not result.shown_within
    return "red" if off or result.n_forbidden else "green"


def _can_write(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


# Tables -------------------------------------------------------------------------------------------


def _groups(groups: Assessments) -> Iterator[_Version]:
    """Return the groups; the shorter the lines the less is said of each."""
    names = len(groups.by)
    forecast, outcome, sigma = names + 1, names + 2, names + 4
    table = group_words.table(groups, most=_MOST_GROUPS)
    yield _version(table, ())
    shorter = group_words.table(groups, ranges=False, most=_MOST_GROUPS)
    fewest = forecast, outcome, sigma
    for places in ((), (sigma,), fewest):
        version, missing = _version(shorter, places)
        yield version, [*missing, "ranges of scores"]
    yield _version(table, fewest)  # in several lines each, with all that is said


def _version(table: Words, left_out: Sequence[int]) -> _Version:
    """Return a table without some columns, and what these are called."""
    return _table(table.without(left_out)), [table.head[place] for place in left_out]


def _show_fitting(console: Console, versions: Iterable[_Version]) -> None:
    """Print the first table whose lines need not be broken, or the last, and say what it lacks."""
    from rich.text import Text  # noqa: PLC0415  (as above)

    endless = console.options.update(max_width=1 << 16)
    for version in versions:
        table, missing = version
        if console.measure(table, options=endless).maximum <= console.width:
            break
    console.print(table)
    if missing:
        lacks = f"No room for {', '.join(missing)}: a wider terminal, --json or --html show them."
        console.print(Text(lacks, style="dim"))


def _table(words: Words) -> Table:
    from rich.table import Table  # noqa: PLC0415  (as above)
    from rich.text import Text  # noqa: PLC0415

    # As plain text: rich would read markup in a name from the data.
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, name in enumerate(words.head):
        # Folded, since a number that is cut off is another number.
        justify: Literal["left", "right"] = "left" if place in words.left else "right"
        table.add_column(Text(name), justify=justify, overflow="fold")
    for cells in words.rows:
        table.add_row(*map(Text, cells))
    return table
