"""Libraries that are extras: asked for where they are needed, and named where they are missing."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from secant.errors import MissingExtraError

__all__ = ["is_usable", "require"]


def require(library: str, extra: str | None, purpose: str) -> Any:
    """Return a library, or a module of one, that is not installed with secant itself.

    Parameters
    ----------
    library
        What to import, such as ``"pyarrow"`` or ``"matplotlib.pyplot"``.
    extra
        The extra that installs it; None for a library that users install by its own name.
    purpose
        What needs it, as the message begins: ``"reading files needs"``.

    Raises
    ------
    MissingExtraError
        If it is not installed. What an installed library raises of itself is not hidden.
    """
    top = library.partition(".")[0]
    try:
        import_module(top)  # first: a module of it may be loaded though it is not to be had
        return import_module(library)
    except ModuleNotFoundError as error:
        if (error.name or top).partition(".")[0] != top:
            raise  # it is installed, and lacks something itself
        what = f"'secant[{extra}]'" if extra else top
        msg = f"{purpose} {top}, which is not installed: pip install {what}"
        raise MissingExtraError(msg) from error


@cache
def is_usable(library: str) -> bool:
    """Tell whether a library that only makes things faster is there, by importing it.

    One may be installed and refuse to start, whatever the reason: settings of its own that make no
    sense, a version of numpy that it does not know. Then it is done without.
    """
    try:
        import_module(library)
    except Exception:  # noqa: BLE001  (anything may go wrong in there)
        return False
    return True
