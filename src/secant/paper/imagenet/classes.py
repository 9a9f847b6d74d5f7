"""The honest table: every predicted class, with P-values fit to be read together."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from secant._api.assess import assess
from secant._inference.adjust import benjamini_hochberg, holm
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from secant._base.types import IntArray
    from secant._results.calibration import Calibration
    from secant.paper.imagenet.predictions import Predictions

__all__ = ["ClassRow", "by_predicted_class", "to_csv"]


@dataclass(frozen=True, slots=True)
class ClassRow:
    """How well calibrated the predictions of one class are, when it is predicted.

    Attributes
    ----------
    predicted_class : int
        Number of the class.
    name : str
        Its name, where known.
    n : int
        How many images it was predicted for.
    mean_score, accuracy : float
        How probable it was said to be on average, and how often it was right.
    sigma : float
        Standard deviation of the cumulative difference under perfect calibration.
    ecce_r, ecce_r_normalized : float
        ECCE-R in units of probability and of sigma.
    pvalue, log10_pvalue : float
        Its P-value, for this class by itself.
    method : str
        How that was obtained.
    holm : float
        P-value adjusted so that 5% of such tables hold any false alarm.
    benjamini_hochberg : float
        P-value adjusted so that 5% of the alarms are false on average.
    low, high : float
        The range of scores that is furthest off.
    miscalibration : float
        By how much, there; negative where predictions are too sure.
    """

    predicted_class: int
    name: str
    n: int
    mean_score: float
    accuracy: float
    sigma: float
    ecce_r: float
    ecce_r_normalized: float
    pvalue: float
    log10_pvalue: float
    method: str
    holm: float
    benjamini_hochberg: float
    low: float
    high: float
    miscalibration: float


def by_predicted_class(
    predictions: Predictions, *, progress: Callable[[float], None] = lambda _: None
) -> list[ClassRow]:
    """Assess the predictions of each class separately, as a fair test of calibration allows.

    Which class is predicted is known when the score is, and a score claims to be right for the
    predicted class at hand. Which class is true is part of the outcome: a class that is often taken
    for its look-alikes is right less often than its scores say, and a favoured one more often, even
    where every score is right.

    Parameters
    ----------
    predictions : Predictions
        With predicted classes.
    progress : callable
        Told the share of the images assessed so far.

    Returns
    -------
    list of ClassRow
        One for each class that was ever predicted, the smallest P-value first.

    Raises
    ------
    InputError
        If the predicted classes are not known, or scores or responses are unusable.
    """
    if predictions.predicted_class is None:
        msg = "the table has no column predicted_class, so classes cannot be assessed fairly"
        raise InputError(msg)
    numbers: list[int] = []
    results: list[Calibration] = []
    assessed = 0
    for number, rows in _groups(predictions.predicted_class):
        numbers.append(number)
        results.append(assess(predictions.response[rows], predictions.score[rows]))
        assessed += len(rows)
        progress(assessed / len(predictions))
    pvalues = [result.ecce_r.pvalue for result in results]
    adjusted = zip(holm(pvalues), benjamini_hochberg(pvalues), strict=True)
    table = [
        _row(predictions, number, result, float(strict), float(lenient))
        for number, result, (strict, lenient) in zip(numbers, results, adjusted, strict=True)
    ]
    return sorted(table, key=lambda row: (row.log10_pvalue, row.predicted_class))


def to_csv(table: Sequence[ClassRow]) -> str:
    """Write the table with every digit, a line a class."""
    text = io.StringIO()
    names = [column.name for column in fields(ClassRow)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([getattr(row, name) for name in names] for row in table)
    return text.getvalue()


def _groups(numbers: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Walk over the numbers that occur, each with its rows."""
    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    for number, rows in zip(found, np.split(order, starts[1:]), strict=True):
        yield int(number), rows


def _row(
    predictions: Predictions, number: int, result: Calibration, strict: float, lenient: float
) -> ClassRow:
    statistic, worst = result.ecce_r, result.worst
    return ClassRow(
        predicted_class=number,
        name=predictions.name(number),
        n=result.n,
        mean_score=result.mean_score,
        accuracy=result.base_rate,
        sigma=result.sigma,
        ecce_r=statistic.value,
        ecce_r_normalized=statistic.normalized,
        pvalue=statistic.pvalue,
        log10_pvalue=statistic.log10_pvalue,
        method=statistic.method,
        holm=strict,
        benjamini_hochberg=lenient,
        low=worst.low,
        high=worst.high,
        miscalibration=worst.miscalibration,
    )
