"""The command line.

Commands stay thin: they turn options into arguments, call the library and print. Only this package
imports click when it is loaded, and nothing in secant loads this package but ``secant.__main__``.
"""

from __future__ import annotations

import click

import secant
from secant.cli import imagenet, paper

__all__ = ["cli"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(secant.__version__, "-V", "--version", message="%(prog)s %(version)s")
def cli() -> None:
    """Measure the calibration of probabilistic predictions.

    Is a "30%" right 30% of the time? The Python package computes the cumulative metrics ECCE-R and
    ECCE-MAD with P-values; the commands here reproduce the paper behind them.

    \b
    Examples:
      secant paper --out paper               reproduce the paper behind the metrics
      secant paper --out paper --only 1,7    two of its figures, in seconds
      secant paper --help                    what a command does and its options
    """


cli.add_command(imagenet.command)
cli.add_command(paper.command)
