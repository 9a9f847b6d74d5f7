"""The words for several models: which is closest to calibration, and a row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secant._results import score_words, verdict
from secant._results.base import Table
from secant._results.wording import decided, level, metric, points, visible

if TYPE_CHECKING:
    from secant._results.calibration import Calibration
    from secant._results.models import Models

__all__ = ["table", "words_of"]


def words_of(result: Models) -> list[str]:
    """Say which model is closest to calibration, and from which it can be told apart."""
    best, *others = map(visible, result)
    if not others:
        return []
    if not result.comparisons:
        one = next(iter(result.values()))
        what = "rows in clusters" if one.axis is None else "models along another axis than scores"
        return [f"{best} has the smallest ECCE-R; {what} are not compared further."]
    told = [visible(name) for name, each in result.comparisons.items() if each.better == "A"]
    lost = [visible(name) for name, each in result.comparisons.items() if each.better == "B"]
    rest = [name for name in others if name not in {*told, *lost}]
    chance = f"at {100 * (1 - result.confidence_level):.3g}%"
    words = []
    if told:
        words.append(
            f"{best} is closer to calibration than {_listed(told)}, beyond chance {chance}."
        )
    if rest:
        which = (
            f"{best} and {rest[0]} cannot be told apart"
            if len(rest) == 1
            else (f"{best} cannot be told apart from {_listed(rest)}")
        )
        words.append(f"{which} {chance}.")
    words += [f"Miscalibration costs {name} less of its Brier score than {best}." for name in lost]
    words.append("This is about calibration alone: the Brier score says which predicts better.")
    return words


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def table(result: Models) -> Table:
    """Return a row of texts for each model, the smallest ECCE-R first."""
    head = ["model", "ECCE-R", f"{level(result.confidence_level)} limits", "P", "Brier"]
    head += ["miscalibration", "log loss", "verdict"]
    rows = [_model_cells(name, each) for name, each in result.items()]
    return Table(head, rows, left={0, len(head) - 1})


def _model_cells(name: str, result: Calibration) -> list[str]:
    r, (brier, log_loss) = result.ecce_r, result.proper_scores
    words = verdict.brief_direction(result) or (
        "miscalibrated" if result.found else "no miscalibration found"
    )
    if result.steepest is not None:
        words += f", somewhere by at least {points(result.steepest.at_least)} points"
    return [
        visible(name),
        metric(r.value),
        " to ".join(metric(limit) for limit in r.ci),
        decided(result).removeprefix("= "),
        "" if brier is None else metric(brier.value),
        "" if brier is None else score_words.mcb(brier),
        "" if log_loss is None else score_words.loss(log_loss),
        words,
    ]
