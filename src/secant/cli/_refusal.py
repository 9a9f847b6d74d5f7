"""What the library refuses, told to somebody who types a command: options in place of arguments."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NoReturn

import click

from secant.errors import Message, SecantError

if TYPE_CHECKING:
    from secant.errors import Argument

__all__ = ["in_options", "refuse"]

_BAD_INPUT = 2
# Arguments whose options are not called after them.
_OPTIONS = {"data": "FILES", "sample_weight": "--weight"}


class _Refusal(click.ClickException):
    exit_code = _BAD_INPUT


def refuse(why: SecantError | OSError | str) -> NoReturn:
    """Stop with a message and the exit code of bad input."""
    if isinstance(why, SecantError):
        raise _Refusal(in_options(why.message))
    if isinstance(why, OSError) and why.filename is not None and why.strerror:
        raise _Refusal(f"{os.fsdecode(why.filename)}: {why.strerror}")
    raise _Refusal(str(why))


def in_options(message: str) -> str:
    """Put options in the place of the arguments that a message of the library names.

    Parameters
    ----------
    message
        What the library says, such as ``pos_label='yes' does not occur in y_true``.

    Returns
    -------
    str
        The same with ``--pos-label yes``.
    """
    return message.worded(_option) if isinstance(message, Message) else message


def _option(argument: Argument) -> str:
    option = _OPTIONS.get(argument.name) or f"--{argument.name.replace('_', '-')}"
    return " ".join([option, *(shlex.quote(str(value)) for value in argument.given)])
