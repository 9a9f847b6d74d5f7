"""The errors secant raises on purpose.

::

    SecantError
    ├── InputError          (also a ValueError)   the data or an argument is unusable
    └── MissingExtraError   (also an ImportError) an optional dependency is not installed
"""

from __future__ import annotations

__all__ = ["InputError", "MissingExtraError", "SecantError"]


class SecantError(Exception):
    """Base of every error that secant raises on purpose."""


class InputError(SecantError, ValueError):
    """The input cannot be assessed; the message names the argument, the value and its place."""


class MissingExtraError(SecantError, ImportError):
    """An optional dependency is missing; the message names the extra to install."""
