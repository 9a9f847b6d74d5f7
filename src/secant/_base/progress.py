"""A bar for what takes long, on terminals and in notebooks alone.

Whatever takes long calls ``report(done, total)`` now and then, in whatever unit. By default that
draws a bar there. A program with a display of its own takes the reports instead::

    with showing(lambda done, total: ...):
        secant.assess(...)
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO

from secant._base.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Report", "reporting", "showing"]

Report = Callable[[float, float], object]

_PATIENCE = 1.0  # seconds without a bar
_EVERY = 0.1  # seconds between two states of it
_WIDTH = 30

_taken: ContextVar[Report | None] = ContextVar("secant_progress", default=None)


@contextlib.contextmanager
def showing(report: Report) -> Iterator[None]:
    """Send reports here, and draw no bar."""
    token = _taken.set(report)
    try:
        yield
    finally:
        _taken.reset(token)


@contextlib.contextmanager
def reporting(doing: str) -> Iterator[Report]:
    """Return where to report how far something is.

    Parameters
    ----------
    doing
        What is being done, shown before the bar.
    """
    report = _taken.get()
    if report is not None:
        yield report
        return
    bar = _Bar(doing, sys.stderr)
    try:
        yield bar
    finally:
        bar.clear()


class _Bar:
    """One line that appears after a while, where a reader looks on, and leaves nothing behind."""

    def __init__(self, doing: str, stream: TextIO | None) -> None:
        self._doing = visible(doing)
        self._stream = stream if stream is not None and _is_watched(stream) else None
        self._next = time.monotonic() + _PATIENCE
        self._length = 0

    def __call__(self, done: float, total: float) -> None:
        if self._stream is None or (now := time.monotonic()) < self._next:
            return
        self._next = now + _EVERY
        share = min(max(done / total, 0.0), 1.0) if total > 0 else 0.0
        full = round(share * _WIDTH)
        line = f"{self._doing} [{'#' * full}{'.' * (_WIDTH - full)}] {share:4.0%}"
        self._write(line.ljust(self._length))
        self._length = len(line)

    def clear(self) -> None:
        """Take the bar away."""
        if self._length:
            self._write(" " * self._length + "\r")
            self._length = 0

    def _write(self, text: str) -> None:
        assert self._stream is not None  # noqa: S101
        # A terminal that went away must not cost the answer.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write("\r" + text)
            self._stream.flush()


def _is_watched(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal, or what a notebook shows below a cell."""
    if type(stream).__module__.startswith("ipykernel."):
        return True
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # replaced, or closed
        return False
