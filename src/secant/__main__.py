"""The command ``secant``, also as ``python -m secant``."""

from __future__ import annotations

import sys

__all__ = ["main"]

# What the command line needs and the library does not.
_NEEDED = ("click", "rich")
_CANNOT_RUN = 2  # 1 is for a crossed gate


def main() -> None:
    """Run the command line, or say what has to be installed for that."""
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
    cli(prog_name="secant")


if __name__ == "__main__":
    main()
