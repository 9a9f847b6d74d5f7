"""The command line.

Commands stay thin: they turn options into arguments, call the library and print. Only this package
imports click when it is loaded, and nothing in secant loads this package but ``secant.__main__``.
"""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

import click

import secant
from secant._base.visible import visible
from secant.cli import assess, completion, demo, imagenet, monitor, paper
from secant.cli._outputs import emit, say, silence
from secant.cli._refusal import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cli"]


_BAD_INPUT = 2
_DEFECT = 3
_INTERRUPTED = 130
_READER_LEFT = 141


class _Commands(click.Group):
    """Commands whose exit code 1 means a crossed gate, and nothing else.

    Whatever goes wrong is told here, in words and in visible characters.
    """

    def main(self, *args: Any, **options: Any) -> Any:
        try:
            return super().main(*args, **options)
        except OSError:  # and now standard error cannot be written to either
            silence(sys.stderr)
            sys.exit(_BAD_INPUT)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _in_words():
            return super().make_context(*args, **options)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # No command at all is a success for some versions of click, one long line for others.
        if not args and not ctx.resilient_parsing:
            emit(f"{ctx.get_help()}\n", err=True)
            ctx.exit(_BAD_INPUT)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with _in_words():
            return super().invoke(ctx)


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        sys.exit(_INTERRUPTED)
    except click.ClickException as error:
        error.message = visible(error.message)  # type: ignore[misc]
        raise
    except (click.Abort, click.exceptions.Exit):
        raise
    except BrokenPipeError:  # for which click would exit with a 1
        silence(sys.stdout)
        sys.exit(_READER_LEFT)
    except OSError as error:
        # Commands tell what cannot be read or written; it remains what cannot be printed.
        silence(sys.stdout)
        refuse(visible(f"standard output: {error.strerror}"))
    except Exception as error:  # noqa: BLE001  (a defect of ours, which Python would report with a 1)
        if _is_name(error):
            refuse(visible(f"{error.object}: names must be text, and this one is not UTF-8"))
        for line in traceback.format_exc().splitlines():
            say(line, err=True)
        sys.exit(_DEFECT)


def _is_name(error: Exception) -> TypeGuard[UnicodeEncodeError]:
    """Tell whether an error is about a file's name with bytes that are no text."""
    return (
        isinstance(error, UnicodeEncodeError) and "\ud800" <= error.object[error.start] <= "\udfff"
    )


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
