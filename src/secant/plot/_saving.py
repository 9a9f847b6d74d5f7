"""A picture as a file, written whole or not at all."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from secant._base.extras import require
from secant._base.writing import write_whole
from secant.errors import InputError
from secant.plot.cumulative import CumulativeDisplay

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from secant._results.calibration import Calibration

__all__ = ["check_ending", "save"]

_FORMATS = ("png", "svg", "pdf")
_INCHES = (8.0, 5.0)
_DOTS_PER_INCH = 160


def save(path: str | os.PathLike[str], models: Mapping[str, Calibration]) -> None:
    """Draw the graph of cumulative differences of one model or several, and write it to a file.

    Parameters
    ----------
    path
        Where to; its ending says which format.
    models
        The results by name; a single one needs no name and gets none.

    Raises
    ------
    InputError
        If the ending is not one of .png, .svg and .pdf.
    MissingExtraError
        If matplotlib is not installed.
    """
    ending = check_ending(path)
    Figure = require("matplotlib.figure", "plot", "drawing needs").Figure
    figure = Figure(figsize=_INCHES, layout="constrained")
    results = next(iter(models.values())) if len(models) == 1 else models
    CumulativeDisplay(results).plot(figure.add_subplot())
    picture = BytesIO()
    figure.savefig(picture, format=ending, dpi=_DOTS_PER_INCH)
    write_whole(path, picture.getvalue())


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the format that a path asks for.

    Raises
    ------
    InputError
        If it is not one that can be drawn.
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in _FORMATS:
        msg = f"a picture ends in .png, .svg or .pdf; got {str(path)!r}"
        raise InputError(msg)
    return ending
