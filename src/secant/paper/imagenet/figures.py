"""The paper's ImageNet figures, 11 to 34, from any table of top-1 predictions.

The classes are split by their true number, as published. That selects on the outcome, so no P-value
goes with these figures; the fair table, by predicted class, is made along with them.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._api.assess import assess
from secant._base.leftovers import beginning
from secant.errors import InputError
from secant.paper.figures import FORMATS, Drawing, PaperFigure, publish
from secant.paper.imagenet import page
from secant.paper.imagenet.classes import by_predicted_class, to_csv
from secant.paper.imagenet.drawing import draw_cumulative, draw_diagrams, draw_ece, images
from secant.paper.imagenet.predictions import Predictions, read_predictions
from secant.paper.imagenet.subsets import LEAST_BINS, NUMBERS, PAPER_IMAGES, SUBSETS, ece_rows
from secant.paper.reference import LABELS, printed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from matplotlib.figure import Figure

    from secant._input.options import Method
    from secant._results.calibration import Calibration
    from secant.paper.experiments import Statistics
    from secant.paper.imagenet.subsets import EceRow, Subset
    from secant.paper.reference import Comparison

__all__ = ["NUMBERS", "Drawn", "Report", "assess_subsets", "imagenet_figures"]

_ECE_CAPTION = (
    "Both binned metrics depend on the number of bins, and on their kind. The broken line is what "
    "noise alone would give on average if every score were right."
)
_DIAGRAM_CAPTION = (
    "Mean response against mean score, bin by bin, with the diagonal of perfect calibration. Thin "
    "lines: twenty resamples of the images, which span about 95% of what chance does."
)
_CUMULATIVE_CAPTION = (
    "No bins: the slope over any range of scores is the miscalibration there. The triangle at the "
    "origin is 4\N{GREEK SMALL LETTER SIGMA} high."
)
# Titles and captions of the four figures of a subset.
_WORDS = (
    ("ECE against the number of bins", _ECE_CAPTION),
    ("reliability diagrams with {few} and {many} equispaced bins", _DIAGRAM_CAPTION),
    ("reliability diagrams with {few} and {many} equal-count bins", _DIAGRAM_CAPTION),
    ("cumulative differences", _CUMULATIVE_CAPTION),
)
# The metrics that the paper prints with each subset.
_PRINTED = ("ecce_mad", "ecce_mad_normalized", "ecce_r", "ecce_r_normalized")
# The table of predicted classes takes as long as this many figures.
_TABLE_COST = 24
_NOTHING: Statistics = {"synthetic": [], "convergence": []}


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A subset with its numbers and what was drawn of it.

    Attributes
    ----------
    subset : Subset
        The images.
    result : Calibration or None
        Its assessment; None where there is no such image.
    ece : list of EceRow
        The binned metrics behind its first figure.
    figures : list of PaperFigure
        Its figures, those that were asked for and can be drawn.
    comparisons : list of Comparison
        Our numbers beside those the paper prints.
    notes : list of str
        What could not be drawn and why.
    """

    subset: Subset
    result: Calibration | None
    ece: list[EceRow]
    figures: list[PaperFigure]
    comparisons: list[Comparison]
    notes: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """Everything that was made of a table of predictions.

    Attributes
    ----------
    page : Path
        The page that shows it all.
    subsets : list of Drawn
        The figures as published.
    table : list of dict or None
        The fair table by predicted class, as :func:`by_predicted_class` makes it; None where the
        predicted classes are not known.
    as_in_the_paper : bool
        Whether there are as many images as in the paper, so that its numbers can be expected.
    """

    page: Path
    subsets: list[Drawn]
    table: list[dict[str, Any]] | None
    as_in_the_paper: bool


def imagenet_figures(
    predictions: Predictions | str | Path,
    out: str | Path,
    *,
    only: Collection[int] | None = None,
    formats: Sequence[str] = FORMATS,
    progress: Callable[[float, str], None] = lambda _share, _doing: None,
) -> Report:
    """Draw Figures 11 to 34 and make the table of predicted classes.

    Into the folder go ``figure11.pdf``, ``figure11.png`` and so on, ``imagenet.html`` with every
    figure, its caption and our numbers beside the paper's, ``imagenet_classes.csv`` with every
    predicted class, and ``imagenet.json`` with the numbers behind the figures.

    Parameters
    ----------
    predictions : Predictions, str or Path
        Top-1 predictions, or a Parquet file of them as
        :func:`secant.paper.imagenet.read_predictions` takes it.
    out : str or Path
        The folder; made where it is not there yet.
    only : collection of int, optional
        Numbers of the figures to draw; all unless given.
    formats : sequence of str
        Some of "pdf" and "png".
    progress : callable
        Told the share of the work done so far, and what was finished last.

    Returns
    -------
    Report
        The numbers, and where the page is.

    Raises
    ------
    InputError
        If the table is unusable, or there is no such figure.
    MissingExtraError
        If matplotlib is not installed, or pyarrow where a file is to be read.
    """
    wanted = _check_numbers(only)
    if not isinstance(predictions, Predictions):
        predictions = read_predictions(predictions)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=beginning(folder), dir=folder) as name:
        subsets, files = [], []
        for drawn in assess_subsets(predictions, wanted):
            for figure in drawn.figures:
                files += Drawing(figure, _NOTHING, Path(name), tuple(formats)).run()
                done = sum(number <= figure.number for number in wanted)
                progress(done / (len(wanted) + _TABLE_COST), f"Figure {figure.number}")
            subsets.append(drawn)
        table = None
        if predictions.predicted_class is not None:
            table = by_predicted_class(predictions)
            progress(1.0, "Predicted classes")
        report = Report(
            page=folder / "imagenet.html",
            subsets=subsets,
            table=table,
            as_in_the_paper=len(predictions) == PAPER_IMAGES,
        )
        texts = {
            **({} if table is None else {"imagenet_classes.csv": to_csv(table)}),
            "imagenet.json": json.dumps(_numbers(report), indent=1, allow_nan=False) + "\n",
            "imagenet.html": page.render(report, predictions, formats),
        }
        publish(files, texts, Path(name), folder)
    progress(1.0, "Written")
    return report


def assess_subsets(predictions: Predictions, wanted: Collection[int] = NUMBERS) -> Iterator[Drawn]:
    """Assess what the paper shows, and plan the figures that are wanted.

    Parameters
    ----------
    predictions : Predictions
        Top-1 predictions.
    wanted : collection of int
        Numbers of figures.

    Yields
    ------
    Drawn
        Each subset with a wanted figure. Nothing is drawn before ``draw`` of a figure is called.
    """
    for subset in SUBSETS:
        numbers = [number for number in subset.figures if number in wanted]
        if not numbers:
            continue
        rows = subset.rows(predictions)
        score, response = predictions.score[rows], predictions.response[rows]
        if not len(score):
            note = f"There is no image of true class {subset.true_class}: nothing to draw."
            yield Drawn(subset, None, [], [], [], [note])
            continue
        # No P-value is shown for images chosen by their true class, so the quickest will do.
        method: Method = "auto" if subset.true_class is None else "asymptotic"
        result = assess(response, score, method=method)
        yield _plan(subset, result, numbers, as_published=len(predictions) == PAPER_IMAGES)


def _plan(
    subset: Subset, result: Calibration, numbers: Sequence[int], *, as_published: bool
) -> Drawn:
    """Compute the numbers behind the figures of a subset, and say how to draw them."""
    first, diagrams, notes = subset.first_figure, subset.first_figure + 2, []
    ece = list(ece_rows(result, subset.bin_counts(result.n))) if first in numbers else []
    if first in numbers and not ece:
        notes.append(f"Figure {first} needs at least {LEAST_BINS} images; there are {result.n}.")
    if diagrams in numbers and result.n < max(subset.diagrams):
        few = " or ".join(f"{m:,}" for m in subset.diagrams if m > result.n)
        notes.append(f"Figure {diagrams}: {images(result.n)} cannot fill {few} bins.")
    draw: dict[int, Callable[[], Figure]] = {
        first: partial(draw_ece, subset, result, ece),
        first + 1: partial(draw_diagrams, subset, result, "equispaced"),
        diagrams: partial(draw_diagrams, subset, result, "equal-count"),
        first + 3: partial(draw_cumulative, subset, result),
    }
    if not ece:
        del draw[first]
    if result.n < min(subset.diagrams):
        del draw[diagrams]
    figures = [_figure(subset, number, draw[number]) for number in numbers if number in draw]
    note = "" if as_published else page.OTHER_IMAGES
    values = _metrics(result)
    comparisons = [
        printed(LABELS[name], values[name], theirs, note=note)
        for name, theirs in zip(_PRINTED, subset.printed, strict=True)
    ]
    return Drawn(subset, result, ece, figures, comparisons, notes)


def _figure(subset: Subset, number: int, draw: Callable[[], Figure]) -> PaperFigure:
    """Give a figure its words."""
    title, caption = _WORDS[number - subset.first_figure]
    few, many = subset.diagrams
    title = f"{subset.title}: {title.format(few=f'{few:,}', many=f'{many:,}')}"
    return PaperFigure(number, title, caption, lambda _: draw())


def _check_numbers(only: Collection[int] | None) -> Collection[int]:
    if only is None:
        return NUMBERS
    unknown = sorted(set(only) - set(NUMBERS))
    if unknown:
        msg = f"Figures {NUMBERS[0]} to {NUMBERS[-1]} are of ImageNet; got {unknown[0]}"
        raise InputError(msg)
    return set(only)


def _numbers(report: Report) -> dict[str, Any]:
    """Return the numbers behind the figures as plain JSON."""
    return {
        "as_in_the_paper": report.as_in_the_paper,
        "subsets": [
            {
                "figures": [figure.number for figure in drawn.figures],
                "true_class": drawn.subset.true_class,
                "name": drawn.subset.name,
                "n": 0 if drawn.result is None else drawn.result.n,
                **{
                    name: value if np.isfinite(value) else None
                    for name, value in _metrics(drawn.result).items()
                },
                "ece": drawn.ece,
            }
            for drawn in report.subsets
        ],
    }


def _metrics(result: Calibration | None) -> dict[str, float]:
    if result is None:
        return {}
    return {
        "sigma": result.sigma,
        "ecce_mad": result.ecce_mad.value,
        "ecce_mad_normalized": result.ecce_mad.normalized,
        "ecce_r": result.ecce_r.value,
        "ecce_r_normalized": result.ecce_r.normalized,
    }
