"""Endings of files: a name that says something else than what is written is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal

from secant.errors import InputError

__all__ = ["Kind", "check_ending", "wrong_ending"]

Kind = Literal["page", "numbers", "monitor", "cells"]

# What each kind is called, and its endings; a page has one of them, so that it opens in a browser.
_KINDS: dict[Kind, tuple[str, tuple[str, ...]]] = {
    "page": ("a page", (".html", ".htm")),
    "numbers": ("a file of numbers", (".json",)),
    "monitor": ("the state of a monitor", (".json",)),
    "cells": ("the state of Cells", (".cells",)),
}
# Endings that say what a file holds.
_TELLING = frozenset(
    {
        *(".html", ".htm", ".json", ".cells", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet"),
        *(".feather", ".arrow", ".ipc", ".xlsx", ".pdf", ".png", ".svg", ".jpg", ".jpeg", ".gif"),
        *(".gz", ".bz2", ".xz", ".zst", ".zip", ".pkl", ".npy", ".npz", ".md", ".docx"),
    }
)


def wrong_ending(path: str | os.PathLike[str], kind: Kind) -> str | None:
    """Say what is wrong with the ending of a file of some kind; None if nothing is.

    A pipe or a device may be called anything.
    """
    what, endings = _KINDS[kind]
    ending = Path(path).suffix.lower()
    if ending in endings or (kind != "page" and ending not in _TELLING):
        return None
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116  (a path may be bytes of a name)
            return None
    except OSError:
        pass
    return f"{what} ends in {' or '.join(endings)}, not in {ending or 'nothing'}"


def check_ending(path: str | os.PathLike[str], kind: Kind) -> None:
    """Refuse an ending that says something else than what the file is to hold.

    Raises
    ------
    InputError
        If it does.
    """
    if wrong := wrong_ending(path, kind):
        raise InputError(f"{os.fspath(path)!r} cannot be written: {wrong}")
