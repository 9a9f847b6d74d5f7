"""The whole paper in one call: numbers, figures and the page, written whole or not at all."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import secant
from secant._base.leftovers import beginning
from secant.errors import InputError
from secant.paper import experiments, page, reference
from secant.paper.figures import FIGURES, FORMATS, Drawing, paper_style, publish

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from secant.paper.experiments import Convergence, Job, Statistics
    from secant.paper.figures import PaperFigure
    from secant.paper.reference import Comparison

__all__ = ["Reproduction", "choose", "reproduce"]

# The figures that need the long experiment.
_GROWING = {8, 9, 10}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What was reproduced.

    Attributes
    ----------
    figures : tuple of int
        Numbers of the figures drawn.
    statistics : Statistics
        The numbers, as in ``statistics.json``.
    compared : dict from int to list of Comparison
        Our numbers beside the paper's, by number of figure.
    files : tuple of Path
        What was written.
    """

    figures: tuple[int, ...]
    statistics: Statistics
    compared: dict[int, list[Comparison]]
    files: tuple[Path, ...]


def reproduce(
    out: str | Path,
    *,
    only: Collection[int] | None = None,
    formats: Sequence[str] = FORMATS,
    workers: int = 1,
    sizes: Iterable[int] = experiments.GROWING_SIZES,
    also: Mapping[str, str] = MappingProxyType({}),
    progress: Callable[[float, str], None] = lambda _share, _doing: None,
) -> Reproduction:
    """Reproduce the paper's synthetic experiments and write figures, numbers and a page.

    Parameters
    ----------
    out : str or Path
        The folder to write to; it is made where it does not exist.
    only : collection of int, optional
        Numbers of the figures to draw; all unless given. The long experiment runs only for
        Figures 8, 9 and 10.
    formats : sequence of str
        Some of "pdf" and "png".
    workers : int
        How many processes to use. More than one needs the usual ``if __name__ == "__main__":``
        around a script that calls this.
    sizes : iterable of int
        Sample sizes of the convergence experiment.
    also : mapping from str to str
        Other pages in the folder that the page is to name: files, and what they show.
    progress : callable
        Told the share of the work done so far, and what was finished last.

    Returns
    -------
    Reproduction
        The numbers and the names of the files.

    Raises
    ------
    InputError
        If a figure or format does not exist, or ``out`` is a file.
    MissingExtraError
        If matplotlib is not installed.

    Notes
    -----
    Everything is written to a folder of its own first and moved, file by file, when all of it is
    there. The same version gives the same bytes in every run.
    """
    figures = choose(only)
    suffixes = _check_formats(formats)
    with paper_style():  # whether one can draw at all is better known before computing
        pass
    out = _make_folder(out)
    fixed = experiments.all_fixed()
    growing: list[Convergence] = []
    if any(figure.number in _GROWING for figure in figures):
        growing = experiments.all_convergence(sizes)
    else:
        workers = 1  # starting processes would take longer than the work
    jobs: list[Job[Any]] = [*fixed, *growing]
    meter = _Meter(sum(job.cost for job in jobs) + len(figures) * Drawing.cost, progress)
    found = experiments.compute(fixed, growing, workers=workers, done=meter.doing("Computing"))
    compared = reference.compare(found)
    compared = {f.number: compared[f.number] for f in figures if f.number in compared}
    with tempfile.TemporaryDirectory(prefix=beginning(out), dir=out) as name:
        folder = Path(name)
        drawings = [Drawing(figure, found, folder, suffixes) for figure in figures]
        drawn = experiments.run_all(drawings, workers=workers, done=meter.doing("Drawing"))
        texts = {
            "statistics.json": json.dumps(found, indent=1, allow_nan=False) + "\n",
            "index.html": page.render(
                figures,
                compared,
                formats=suffixes,
                version=secant.__version__,
                left_out=[n for n, figure in FIGURES.items() if figure not in figures],
                also=also,
            ),
        }
        files = publish(chain.from_iterable(drawn), texts, folder, out)
    return Reproduction(tuple(f.number for f in figures), found, compared, files)


def choose(only: Collection[int] | None) -> list[PaperFigure]:
    """Return the figures with these numbers, or all.

    Raises
    ------
    InputError
        If there is no such figure; the message lists those there are.
    """
    if only is None:
        return list(FIGURES.values())
    unknown = sorted(set(only) - set(FIGURES))
    if unknown or not only:
        there_are = ", ".join(map(str, FIGURES))
        wrong = f"no figure {', '.join(map(str, unknown))}" if unknown else "no figure was chosen"
        raise InputError(f"{wrong}; there are {there_are}")
    return [figure for number, figure in FIGURES.items() if number in only]


class _Meter:
    """Adds up what has been done and passes it on."""

    def __init__(self, total: int, progress: Callable[[float, str], None]) -> None:
        self._total = total
        self._done = 0
        self._progress = progress

    def doing(self, words: str) -> Callable[[Job[Any]], None]:
        """Return what is to be told of every job that has finished."""

        def done(job: Job[Any]) -> None:
            self._done += job.cost
            self._progress(self._done / self._total, words)

        return done


def _check_formats(formats: Sequence[str]) -> tuple[str, ...]:
    """Return the formats, each once.

    Raises
    ------
    InputError
        If there are none or one is unknown.
    """
    chosen = tuple(dict.fromkeys(formats))
    unknown = [suffix for suffix in chosen if suffix not in FORMATS]
    if unknown or not chosen:
        wrong = f"unknown format {unknown[0]!r}" if unknown else "no format was chosen"
        raise InputError(f"{wrong}; there are {', '.join(FORMATS)}")
    return chosen


def _make_folder(out: str | Path) -> Path:
    """Make a folder where it does not exist.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error
    return folder
