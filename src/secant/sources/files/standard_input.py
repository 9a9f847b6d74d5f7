"""Standard input as a file: what can be read only once is kept for as long as it is needed."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TextIO

from secant.errors import InputError

__all__ = ["StandardInput", "standard_input"]


class StandardInput(type(Path())):  # type: ignore[misc]
    """A path that is called standard input, and leads to a file without a name."""

    __slots__ = ()

    def __str__(self) -> str:
        return "standard input"

    def __fspath__(self) -> str:
        return str(super().__str__())


def standard_input() -> Path:
    """Return a path to all that comes in on standard input.

    Raises
    ------
    InputError
        If nothing comes, or it cannot be kept.
    """
    if sys.stdin is None or sys.stdin.isatty():
        msg = "- stands for standard input, and nothing was sent there"
        raise InputError(msg)
    if not Path("/proc/self/fd").exists():
        msg = "- stands for standard input, which can be read again on Linux alone; name a file"
        raise InputError(msg)
    return StandardInput(f"/proc/self/fd/{_kept(sys.stdin)}")


@cache  # it can be read only once, and is asked for in every look
def _kept(stream: TextIO) -> int:
    """Return a file with all that comes, of no name, so that nothing is ever left behind."""
    with tempfile.TemporaryFile() as kept:
        shutil.copyfileobj(stream.buffer, kept)
        kept.flush()
        return os.dup(kept.fileno())  # open for as long as the process lives
