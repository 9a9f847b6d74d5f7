"""The errors secant raises on purpose.

::

    SecantError
    ├── InputError          (also a ValueError)   the data or an argument is unusable
    └── MissingExtraError   (also an ImportError) an optional dependency is not installed
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BadValue", "InputError", "MissingExtraError", "SecantError"]


class BadValue(NamedTuple):
    """One unusable value: the argument it came with, its place there, itself, what is wrong."""

    argument: str
    place: int
    shown: str
    complaint: str


class SecantError(Exception):
    """Base of every error that secant raises on purpose."""


class InputError(SecantError, ValueError):
    """The input cannot be assessed; the message names the argument, the value and its place.

    Attributes
    ----------
    value : BadValue or None
        The value that cannot be used, where it is a single one.
    """

    value: BadValue | None = None

    @classmethod
    def of(cls, argument: str, place: int, shown: str, complaint: str) -> InputError:
        """Return the error about one value."""
        error = cls(f"{argument}[{place}] is {shown}{complaint}")
        error.value = BadValue(argument, place, shown, complaint)
        return error


class MissingExtraError(SecantError, ImportError):
    """An optional dependency is missing; the message names the extra to install."""
