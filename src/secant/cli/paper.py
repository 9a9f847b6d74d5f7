"""``secant paper``: the paper behind the metrics, reproduced by one command."""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from secant.cli._bar import bar
from secant.cli._outputs import say
from secant.cli._refusal import refuse
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["command"]

_MOST_WORKERS = 2


def _numbers(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> frozenset[int] | None:
    """Read numbers and ranges of numbers, such as ``1,7`` or ``3-6,35``."""
    if value is None:
        return None
    numbers: set[int] = set()
    for part in map(str.strip, value.split(",")):
        match = re.fullmatch(r"(\d{1,3})(?:\s*-\s*(\d{1,3}))?", part)
        if match is None:
            raise click.BadParameter(f"{part!r} is not a number or a range such as 3-6", ctx, param)
        low, high = int(match[1]), int(match[2] or match[1])
        if low > high:
            raise click.BadParameter(f"{part!r} is not an ascending range", ctx, param)
        numbers.update(range(low, high + 1))
    return frozenset(numbers)


def _formats(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    """Read file formats with commas between them."""
    from secant.paper.figures import FORMATS  # noqa: PLC0415  (not for `secant --help`)

    formats = tuple(dict.fromkeys(word.strip().lower() for word in value.split(",")))
    for suffix in formats:
        if suffix not in FORMATS:
            raise click.BadParameter(f"{suffix!r} is not one of {', '.join(FORMATS)}", ctx, param)
    return formats


@click.command("paper")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder to write to; it is made where it does not exist.",
)
@click.option(
    "--only",
    callback=_numbers,
    metavar="NUMBERS",
    help="Draw some figures only, such as 1,7 or 3-6,35.",
)
@click.option(
    "--imagenet",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Predictions by `secant imagenet`, for Figures 11-34 and a page of their own.",
)
@click.option(
    "--format",
    "formats",
    callback=_formats,
    default="pdf,png",
    show_default=True,
    metavar="FORMATS",
    help="Formats of the figures; the page shows PNG.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=lambda: min(_MOST_WORKERS, os.cpu_count() or 1),
    show_default="2",
    metavar="N",
    help="Processes to use; the numbers do not depend on it.",
)
def command(
    *,
    out: Path,
    only: frozenset[int] | None,
    imagenet: Path | None,
    formats: tuple[str, ...],
    workers: int,
) -> None:
    """Reproduce the paper behind the metrics.

    Computes the synthetic experiments of "Metrics of calibration for probabilistic predictions"
    (Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu; 2022) up to two million rows and writes to DIR:

    \b
      figureNN.pdf, .png   Figures 1-10, 35 and 36
      statistics.json      every number
      index.html           the figures, with our numbers beside the paper's

    Figures 8, 9 and 10 take about a minute, the others seconds. Files are written whole or not at
    all, and the same version writes the same bytes.

    \b
    Examples:
      secant paper --out paper
      secant paper --out paper --only 1,7
      secant paper --out paper --only 8-10 --format pdf
      secant paper --out paper --imagenet predictions.parquet
    """
    synthetic, photographs = _share_out(only, imagenet)
    also = {}
    try:
        if imagenet is not None:
            _imagenet(imagenet, out, photographs, formats)
            also["imagenet.html"] = "Figures 11 to 34: ImageNet"
        if synthetic is None or synthetic:
            _synthetic(out, synthetic, formats, workers, also)
    except (SecantError, OSError) as error:
        refuse(error)


def _share_out(
    only: frozenset[int] | None, imagenet: Path | None
) -> tuple[frozenset[int] | None, frozenset[int] | None]:
    """Tell which of the figures are synthetic and which need ImageNet; None stands for all."""
    from secant.paper.figures import FIGURES  # noqa: PLC0415
    from secant.paper.imagenet import figures as imagenet_figures  # noqa: PLC0415  (not for `secant --help`)

    if only is None:
        return None, None
    of_imagenet = only & frozenset(imagenet_figures.NUMBERS)
    unknown = sorted(only - of_imagenet - frozenset(FIGURES))
    hint = "--only"
    if unknown:
        known = ", ".join(map(str, FIGURES))
        raise click.BadParameter(
            f"there is no figure {', '.join(map(str, unknown))}; there are {known}, and with "
            "--imagenet 11-34",
            param_hint=hint,
        )
    if of_imagenet and imagenet is None:
        some = ", ".join(map(str, sorted(of_imagenet)))
        raise click.BadParameter(f"{some} of 11-34 need --imagenet", param_hint=hint)
    if imagenet is not None and not of_imagenet:
        msg = "none of 11-34 was chosen, so --imagenet is of no use"
        raise click.BadParameter(msg, param_hint=hint)
    return only - of_imagenet, of_imagenet


def _synthetic(
    out: Path,
    only: frozenset[int] | None,
    formats: tuple[str, ...],
    workers: int,
    also: dict[str, str],
) -> None:
    """Reproduce the synthetic experiments and say how they compare."""
    from secant.paper.reproduce import reproduce  # noqa: PLC0415  (not for `secant --help`)

    with _progress_bar() as (progress, seconds):
        done = reproduce(
            out, only=only, formats=formats, workers=workers, also=also, progress=progress
        )
    click.echo(_drawn(done.figures, seconds()))
    rows = [row for rows in done.compared.values() for row in rows]
    if rows:
        differ = sum(not row.agrees for row in rows)
        verb = "differs" if differ == 1 else "differ"
        why = f"; {differ} {verb}, and the page says why" if differ else ""
        click.echo(f"{len(rows) - differ} of {len(rows)} comparisons match the paper{why}.")
    say(f"Open {out / 'index.html'}")


def _imagenet(
    predictions: Path, out: Path, only: frozenset[int] | None, formats: tuple[str, ...]
) -> None:
    """Draw the figures of ImageNet."""
    from secant.paper.imagenet.figures import imagenet_figures  # noqa: PLC0415  (as above)

    with _progress_bar() as (progress, seconds):
        report = imagenet_figures(predictions, out, only=only, formats=formats, progress=progress)
    numbers = [figure.number for subset in report.subsets for figure in subset.figures]
    click.echo(_drawn(numbers, seconds()))
    say(f"Open {report.page}")


def _drawn(numbers: Sequence[int], seconds: float) -> str:
    figures = "Figure" if len(numbers) == 1 else "Figures"
    return f"Drew {figures} {', '.join(map(str, numbers))} in {seconds:.0f} s."


@contextmanager
def _progress_bar() -> Iterator[tuple[Callable[[float, str], None], Callable[[], float]]]:
    """Show a progress bar on a terminal, nothing elsewhere; also tell the seconds gone by."""
    from rich.progress import BarColumn, TaskProgressColumn, TimeElapsedColumn  # noqa: PLC0415  (as above)

    start = time.monotonic()
    columns = ("{task.description}", BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with bar(*columns, transient=True) as shown:
        task = shown.add_task("Computing", total=1.0)

        def show(share: float, doing: str) -> None:
            shown.update(task, completed=share, description=doing)

        yield show, lambda: time.monotonic() - start
