"""A progress bar on terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

__all__ = ["bar"]


def bar(*columns: str | ProgressColumn, transient: bool = False) -> Progress:
    """Return a progress bar on standard error, which shows nothing where that is no terminal.

    Parameters
    ----------
    *columns
        What it shows, from left to right.
    transient
        Whether it goes away at the end.
    """
    from rich.console import Console  # noqa: PLC0415  (not for `secant --help`)
    from rich.progress import Progress  # noqa: PLC0415

    console = Console(stderr=True)
    console.quiet = not console.is_terminal  # some end a bar that was not shown with an empty line
    return Progress(*columns, console=console, transient=transient, disable=console.quiet)
