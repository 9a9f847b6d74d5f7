"""What the library refuses, told to somebody who types a command."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from secant.errors import SecantError

__all__ = ["in_options", "refuse"]

_BAD_INPUT = 2
_OPTIONS = {
    "y_true": "--y-true",
    "y_prob": "--y-prob",
    "sample_weight": "--weight",
    "weight_kind": "--weight-kind",
    "pos_label": "--pos-label",
    "confidence_level": "--confidence-level",
    "max_ecce_r": "--max-ecce-r",
    "skip_unreadable": "--skip-unreadable",
    "by": "--by",
    "data": "FILES",
    "method": "--method",
    "overwrite": "--overwrite",
    "restart": "--restart",
}
# Where words of everyday English are arguments.
_MEANT = {
    "by": r"by(?=(?:\[\d+\])? (?:names|must|is)\b)",
    "data": r"data(?= names| has)|(?<=\bin )data(?=;)",
    "method": r"method(?==)",
    "overwrite": r"(?<=\()overwrite(?=\))",
    "restart": r"(?<=\()restart(?=\))",
}
_QUOTED = r"""(?<!\w)'(?:\\.|[^'\\])*'|(?<!\w)"(?:\\.|[^"\\])*\""""
_NAMES = "|".join(_MEANT.get(name, name) for name in _OPTIONS)
# What is in quotes is the user's, and so are parts of paths: a column may be called y_true.
_ARGUMENT = re.compile(
    rf"(?P<quoted>{_QUOTED})|(?<![\w./\\-])(?P<name>{_NAMES})"
    rf"(?:\[\d+\])?(?:=(?P<value>{_QUOTED}|[\w.+-]+))?(?![\w/\\]|\.\w)"
)


class _Refusal(click.ClickException):
    exit_code = _BAD_INPUT


def refuse(why: SecantError | OSError | str) -> NoReturn:
    """Stop with a message and the exit code of bad input."""
    raise _Refusal(in_options(str(why)))


def in_options(message: str) -> str:
    """Put options in the place of the arguments that a message of the library names.

    Parameters
    ----------
    message
        What the library says, such as ``say which word is the event, e.g. pos_label='yes'``.

    Returns
    -------
    str
        The same with ``--pos-label yes``.
    """
    return _ARGUMENT.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    if found["quoted"]:
        return found[0]
    option, value = _OPTIONS[found["name"]], found["value"]
    if value is None:
        return option
    if value[0] in "'\"" and "\\" not in value:  # what needs no quotes is typed without
        value = shlex.quote(value[1:-1])
    return f"{option} {value}"
