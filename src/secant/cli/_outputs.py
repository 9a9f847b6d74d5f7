"""What the command line writes: checked before the work, and printed so that nothing is lost."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from secant._base.writing import check_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["STDOUT", "emit", "unusable"]

STDOUT = Path("-")


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


def emit(text: str, *, err: bool = False) -> None:
    """Print; neither a poor encoding nor a reader who has left costs the answer.

    Parameters
    ----------
    text
        What to print, with the colours it is to have.
    err
        Whether it goes to standard error.
    """
    stream = sys.stderr if err else sys.stdout
    if stream is None:  # closed by whoever started us
        return
    encoding = stream.encoding or "utf-8"
    text = text.encode(encoding, "backslashreplace").decode(encoding)
    try:
        click.echo(text, nl=False, err=err, color=True)
    except BrokenPipeError:
        # `| head` has seen enough. Nor may Python complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
