"""``secant paper``: the paper behind the metrics, reproduced by one command."""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from secant.errors import InputError, SecantError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from secant.paper.reproduce import Reproduction

__all__ = ["paper"]

_MOST_WORKERS = 2


class _Numbers(click.ParamType):
    """Numbers and ranges of numbers, such as ``1,7`` or ``3-6,35``."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> set[int]:
        numbers: set[int] = set()
        for part in str(value).split(","):
            match = re.fullmatch(r"\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", part)
            if match is None:
                self.fail(f"{part.strip()!r} is not a number or a range such as 3-6", param, ctx)
            low, high = int(match[1]), int(match[2] or match[1])
            if low > high:
                self.fail(f"{part.strip()!r} is not an ascending range", param, ctx)
            numbers.update(range(low, high + 1))
        return numbers


class _Words(click.ParamType):
    """Words with commas between them."""

    name = "words"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        del param, ctx
        return tuple(word.strip().lower() for word in str(value).split(","))


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder to write to; it is made where it does not exist.",
)
@click.option(
    "--only",
    type=_Numbers(),
    metavar="NUMBERS",
    help="Draw some figures only, such as 1,7 or 3-6,35.",
)
@click.option(
    "--format",
    "formats",
    type=_Words(),
    default="pdf,png",
    show_default=True,
    metavar="FORMATS",
    help="Formats of the figures; the page shows PNG.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=lambda: min(_MOST_WORKERS, os.cpu_count() or 1),
    show_default="2, or 1 on a single core",
    metavar="N",
    help="Processes to use; the numbers do not depend on it.",
)
def paper(out: Path, only: set[int] | None, formats: tuple[str, ...], workers: int) -> None:
    """Reproduce the paper behind the metrics.

    Computes the synthetic experiments of "Metrics of calibration for probabilistic predictions"
    (Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu; 2022) up to two million rows and writes to DIR:

    \b
      figureNN.pdf, .png   Figures 1-10, 35 and 36
      statistics.json      every number
      index.html           the figures, with our numbers beside the paper's

    Figures 8, 9 and 10 take about a minute, the others seconds. Files are written whole or
    not at all, and the same version writes the same bytes.

    \b
    Examples:
      secant paper --out paper
      secant paper --out paper --only 1,7
      secant paper --out paper --only 8-10 --format pdf
    """
    # Here, so that `secant --help` does not wait for it.
    from secant.paper.reproduce import choose, reproduce  # noqa: PLC0415

    try:
        choose(only)
    except InputError as error:
        raise click.BadParameter(str(error), param_hint="--only") from error
    start = time.monotonic()
    try:
        with _progress_bar() as progress:
            done = reproduce(out, only=only, formats=formats, workers=workers, progress=progress)
    except (SecantError, OSError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(_report(done, out, time.monotonic() - start))


def _report(done: Reproduction, out: Path, seconds: float) -> str:
    """Say what was drawn, where it is and how it compares."""
    rows = [row for rows in done.compared.values() for row in rows]
    agree = sum(row.agrees for row in rows)
    drawn = ", ".join(map(str, done.figures))
    lines = [f"Figure{'s' if len(done.figures) > 1 else ''} {drawn} in {seconds:.0f} s."]
    if rows:
        lines.append(
            f"{agree} of {len(rows)} comparisons match the paper"
            + (f"; {len(rows) - agree} differ, the page says why." if agree < len(rows) else ".")
        )
    return "\n".join([*lines, f"Open {out / 'index.html'}"])


@contextmanager
def _progress_bar() -> Iterator[Callable[[float, str], None]]:
    """Show a progress bar on the terminal; without one, nothing."""
    from rich.console import Console  # noqa: PLC0415  (as above)
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415
    from rich.progress import TimeElapsedColumn  # noqa: PLC0415

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("Computing", total=1.0)

        def show(share: float, doing: str) -> None:
            progress.update(task, completed=share, description=doing)

        yield show
