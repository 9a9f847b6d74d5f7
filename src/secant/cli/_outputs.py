"""What the command line writes: checked before the work, and printed so that nothing is lost."""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from secant._base.endings import wrong_ending
from secant._base.visible import visible
from secant._base.writing import check_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from secant._base.endings import Kind

__all__ = ["STDOUT", "emit", "say", "silence", "unusable"]

STDOUT = Path("-")
# What goes into the files that options name; of pictures the ending says the format.
_KINDS: dict[str, Kind] = {"--html": "page", "--json": "numbers", "--state": "monitor"}
_COLOUR = re.compile("(\x1b\\[[0-9;]*m)")


def unusable(outputs: Mapping[str, Path | None], inputs: Iterable[Path]) -> str | None:
    """Say which output could not be written after the work, or would destroy its input.

    Parameters
    ----------
    outputs
        The files to write, by the option that names them; None where there is none.
    inputs
        The files to read.

    Returns
    -------
    str or None
        What is wrong with the first that is unusable.
    """
    sources = {os.path.realpath(path) for path in inputs}
    taken: dict[str, str] = {}
    for option, path in outputs.items():
        if path == STDOUT and sys.stdout is None:
            return f"{option} -: standard output is closed, and nothing can be printed there"
        if path is None or path == STDOUT:
            continue
        place = os.path.realpath(path)
        if wrong := _wrong(path):
            return f"{option} {path}: {wrong}"
        if place in sources:
            return f"{option} {path}: that is a file of predictions, which would be overwritten"
        if place in taken:
            return f"{option} {path}: {taken[place]} writes there already"
        taken[place] = option
    for option, path in outputs.items():
        if path is None or path == STDOUT or option not in _KINDS:
            continue
        if wrong := wrong_ending(path, _KINDS[option]):
            return f"{option} {path}: {wrong}"
    return None


def _wrong(path: Path) -> str | None:
    if not path.name:
        return "that is no name of a file"
    if not path.absolute().parent.is_dir():
        return f"there is no folder {path.parent}"
    try:
        old = check_place(path)
    except FileNotFoundError:
        return f"that is a link, and where it leads there is no folder: {os.path.realpath(path)}"
    except OSError as error:
        return error.strerror
    # A pipe or a device is written to as it is; any other file is put in its place whole.
    folder = Path(os.path.realpath(path)).parent
    if (old is None or stat.S_ISREG(old.st_mode)) and not os.access(folder, os.W_OK):
        return f"nothing can be written into the folder {path.parent}"
    return None


def say(line: str, *, err: bool = False) -> None:
    """Print a line, in which names may be anything."""
    emit(f"{visible(line)}\n", err=err)


def emit(text: str, *, err: bool = False) -> None:
    """Print; neither a poor encoding nor a reader who has left costs the answer.

    Parameters
    ----------
    text
        What to print, with the colours it is to have.
    err
        Whether it goes to standard error.

    Raises
    ------
    OSError
        If it cannot be written, as on a disk that is full.
    """
    stream = sys.stderr if err else sys.stdout
    if stream is None:  # closed by whoever started us
        return
    encoding = stream.encoding or "utf-8"
    text = _shown(text).encode(encoding, "backslashreplace").decode(encoding)
    try:
        click.echo(text, nl=False, err=err, color=True)
    except BrokenPipeError:
        silence(stream)  # `| head` has seen enough
    except OSError:
        silence(stream)
        raise


def silence(stream: TextIO | None) -> None:
    """Send what is left to nowhere, or Python would complain when it flushes at the end."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[union-attr]


def _shown(text: str) -> str:
    """Return a text in which nothing acts but ends of lines and, where there are any, colours."""
    text = text.replace("\x7f", "\\u007f")  # as JSON has it, which leaves this one as it is
    coloured = "\x1b" in text and _colours()
    pieces = _COLOUR.split(text) if coloured else [text]
    return "".join(
        piece if number % 2 else "\n".join(map(visible, piece.split("\n")))
        for number, piece in enumerate(pieces)
    )


def _colours() -> bool:
    from secant.cli._terminal import terminal  # noqa: PLC0415  (not for `secant --help`)

    return terminal().color_system is not None
