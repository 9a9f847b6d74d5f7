"""The command line.

Commands stay thin: they turn options into arguments, call the library and print. Only this package
imports click when it is loaded, and nothing in secant loads this package but ``secant.__main__``.
"""

from __future__ import annotations

import sys
import traceback
from typing import Any

import click

import secant
from secant.cli import assess, completion, demo, imagenet, monitor, paper

__all__ = ["cli"]


_DEFECT = 3
_INTERRUPTED = 130


class _Commands(click.Group):
    """Commands whose exit code 1 means a crossed gate, and nothing else."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            sys.exit(_INTERRUPTED)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception:  # noqa: BLE001  (a defect of ours, which Python would report with a 1)
            traceback.print_exc()
            sys.exit(_DEFECT)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(secant.__version__, "-V", "--version", message="%(prog)s %(version)s")
def cli() -> None:
    """Measure the calibration of probabilistic predictions.

    Is a "30%" right 30% of the time? `secant assess` answers from a file of predictions: is it
    calibrated, how far off is it, and where.

    \b
    Examples:
      secant assess preds.parquet --html report.html
      secant assess preds.csv --y-true label --y-prob score --by segment
      secant monitor 'days/*.parquet' --state monitor.json      watch day by day
      secant demo                            try it on predictions made up for the purpose
      secant paper --out paper               reproduce the paper behind the metrics
      secant assess --help                   what a command does and its options
    """


cli.add_command(assess.command)
cli.add_command(completion.command)
cli.add_command(demo.command)
cli.add_command(imagenet.command)
cli.add_command(monitor.command)
cli.add_command(paper.command)
