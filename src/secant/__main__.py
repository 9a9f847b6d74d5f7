"""The command ``secant``, also as ``python -m secant``."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

from secant._base.ending import end_if_asked, note

__all__ = ["main"]

# What the command line needs and the library does not.
_NEEDED = ("click", "rich")
_CANNOT_RUN = 2  # 1 is for a crossed gate


def main() -> None:
    """Run the command line, or say what has to be installed for that."""
    _keep_standard_streams()
    _forget_absurd_sizes()
    _end_in_order()
    try:
        from secant.cli import cli  # noqa: PLC0415  (it imports click)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _NEEDED:
            raise
        sys.stderr.write(
            f"secant's command line needs {error.name}, which is not installed: "
            "pip install 'secant[cli]'\n"
        )
        sys.exit(_CANNOT_RUN)
    try:
        cli(prog_name="secant")
    finally:
        end_if_asked()


def _keep_standard_streams() -> None:
    """Fill the places of closed standard streams, or a file opened later would take one."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # or what goes there would go to standard output
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _forget_absurd_sizes() -> None:
    """Leave the size of the terminal to be found out where the environment says nothing usable."""
    for name in ("COLUMNS", "LINES"):
        told = os.environ.get(name, "")
        if not (told.isascii() and told.isdecimal() and 0 < int(told[:5]) < 10_000):
            os.environ.pop(name, None)


def _end_in_order() -> None:
    """Make signals that end the process end it as an interruption does, leaving nothing half done.

    That is for the command line to do; a program that uses the library has its own ideas.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # not under nohup
            signal.signal(number, _end)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def _end(number: int, frame: Any) -> NoReturn:  # noqa: ARG001  (what a handler is given)
    note(number)
    signal.signal(number, signal.SIG_IGN)  # tidying up is not to be interrupted in turn
    with suppress(Exception):
        sys.stderr.write("Terminated.\n")
    sys.exit(128 + number)


def _interrupt(number: int, frame: Any) -> NoReturn:  # noqa: ARG001  (as above)
    note(number)
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
