"""``secant demo``: predictions to try things on, assessed."""

from __future__ import annotations

from pathlib import Path

import click

from secant._base.visible import visible
from secant.cli import assess
from secant.cli._outputs import say
from secant.cli._refusal import refuse
from secant.errors import SecantError

__all__ = ["command"]

_N = 32768


@click.command("demo")
@click.option(
    "--out",
    default="secant-demo",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder to write to; it is made where it does not exist.",
)
@click.pass_context
def command(ctx: click.Context, out: Path) -> None:
    """Write predictions to a file, assess them and make a report.

    The predictions are the synthetic ones of the paper (square-rooted scores, 32,768 of them),
    and those of three weather stations: one calibrated, one too sure of itself, one with few
    days. Everything is written to DIR.
    """
    try:
        predictions, stations = _write(out)
    except (SecantError, OSError) as error:
        refuse(error)
    runs = (
        [str(predictions), "--html", str(out / "report.html")],
        [
            str(stations),
            "--y-true",
            "rained",
            "--by",
            "station",
            "--html",
            str(out / "stations.html"),
        ],
    )
    for arguments in runs:
        click.secho(f"\n$ secant assess {visible(' '.join(arguments))}", bold=True)
        ctx.invoke(assess.command, **_parsed(arguments))
    click.echo()
    say(f"Open {out / 'report.html'} and {out / 'stations.html'} in a browser.")


def _parsed(arguments: list[str]) -> dict[str, object]:
    """Return what the command line would make of these arguments."""
    return assess.command.make_context("assess", arguments).params


def _write(out: Path) -> tuple[Path, Path]:
    """Write the two files and return where they are."""
    import numpy as np  # noqa: PLC0415  (not for `secant --help`)

    from secant.paper import synthetic  # noqa: PLC0415
    from secant.sources.files.source import write_parquet  # noqa: PLC0415

    out.mkdir(parents=True, exist_ok=True)
    predictions, stations = out / "predictions.parquet", out / "stations.parquet"
    write_parquet(
        predictions,
        {
            "happened": synthetic.responses(_N, "square rooted")[0].astype(np.int8),
            "forecast": synthetic.scores(_N, "square rooted"),
        },
    )
    rng = np.random.default_rng(7)
    station = np.repeat(["Harbour", "Hill", "Lighthouse"], [6000, 6000, 40])
    chance = rng.beta(0.8, 1.6, station.shape[0])
    odds = chance / (1 - chance)
    sure = np.where(station == "Hill", odds**1.5, odds)
    write_parquet(
        stations,
        {
            "rained": (rng.random(station.shape[0]) < chance).astype(np.int8),
            "forecast": np.clip(np.round(sure / (1 + sure), 3), 0.001, 0.999),
            "station": station,
        },
    )
    return predictions, stations
