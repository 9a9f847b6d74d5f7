"""The fair table: every predicted class, with P-values fit to be read together."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from secant import assess_by
from secant._inference.adjust import benjamini_hochberg, holm
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant import Group
    from secant.paper.imagenet.predictions import Predictions

__all__ = ["by_predicted_class", "to_csv"]


def by_predicted_class(predictions: Predictions) -> list[dict[str, Any]]:
    """Assess the predictions of each class separately, as a fair test of calibration allows.

    Which class is predicted is known when the score is, and a score claims to be right for the
    predicted class at hand. Which class is true is part of the outcome: a class that is often taken
    for its look-alikes is right less often than its scores say, and a favoured one more often, even
    where every score is right.

    Parameters
    ----------
    predictions : Predictions
        With predicted classes.

    Returns
    -------
    list of dict
        One for each class that was ever predicted, the smallest P-value first. ``pvalue`` is that
        of ECCE-R for the class by itself; ``holm`` is adjusted so that 5% of such tables hold any
        false alarm, ``benjamini_hochberg`` so that 5% of the alarms are false on average. ``low``
        and ``high`` are the range of scores that is furthest off, ``miscalibration`` says by how
        much, negative where predictions are too sure.

    Raises
    ------
    InputError
        If the predicted classes are not known, or scores or responses are unusable.
    """
    if predictions.predicted_class is None:
        msg = "the table has no column predicted_class, so classes cannot be assessed fairly"
        raise InputError(msg)
    groups = assess_by(predictions.response, predictions.score, predictions.predicted_class).rows
    pvalues = [group.calibration.ecce_r.pvalue for group in groups]
    adjusted = zip(holm(pvalues).tolist(), benjamini_hochberg(pvalues).tolist(), strict=True)
    table = [
        _row(group, predictions.name(group.key), *both)
        for group, both in zip(groups, adjusted, strict=True)
    ]
    return sorted(table, key=lambda row: (row["log10_pvalue"], row["predicted_class"]))


def to_csv(table: Sequence[dict[str, Any]]) -> str:
    """Write the table with every digit, a line a class."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def _row(group: Group, name: str, strict: float, lenient: float) -> dict[str, Any]:
    result = group.calibration
    statistic, worst = result.ecce_r, result.worst
    return {
        "predicted_class": group.key,
        "name": name,
        "n": result.n,
        "mean_score": result.mean_score,
        "accuracy": result.base_rate,
        "sigma": result.sigma,
        "ecce_r": statistic.value,
        "ecce_r_normalized": statistic.normalized,
        "pvalue": statistic.pvalue,
        "log10_pvalue": statistic.log10_pvalue,
        "method": statistic.method,
        "holm": strict,
        "benjamini_hochberg": lenient,
        "low": worst.low,
        "high": worst.high,
        "miscalibration": worst.miscalibration,
    }
