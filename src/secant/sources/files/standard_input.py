"""Standard input as a file: what can be read only once is kept for as long as it is needed."""

from __future__ import annotations

import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from secant.errors import InputError

__all__ = ["standard_input"]


class _StandardInput(type(Path())):  # type: ignore[misc]
    """A path that is called standard input, and leads to a file without a name."""

    __slots__ = ()

    def __str__(self) -> str:
        return "standard input"

    def __fspath__(self) -> str:
        return str(super().__str__())


@cache  # it can be read only once, and is asked for in every look
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
    # Of no name, so that nothing is left behind however the process ends; never closed.
    kept = tempfile.TemporaryFile()  # noqa: SIM115
    shutil.copyfileobj(sys.stdin.buffer, kept)
    kept.flush()
    path: Path = _StandardInput(f"/proc/self/fd/{kept.fileno()}")
    _KEPT.append(kept)
    return path


_KEPT: list[object] = []
