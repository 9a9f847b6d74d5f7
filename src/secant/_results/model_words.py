"""The words for several models: which makes better forecasts, and a row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secant._metrics.ecce import METRICS
from secant._results import score_words, verdict
from secant._results.base import Table
from secant._results.wording import decided, metric, points, visible

if TYPE_CHECKING:
    from secant._results.calibration import Calibration
    from secant._results.models import Models

__all__ = ["table", "words_of"]


def words_of(result: Models) -> list[str]:
    """Say which model makes better forecasts, and which is better calibrated beyond chance."""
    best, *others = map(visible, result)
    if not others:
        return []
    score = "Brier score" if result.score == "brier" else "log loss"
    smallest = f"Better forecasts: {best} has the smallest {score}"
    if not result.comparisons:
        one = next(iter(result.values()))
        what = "rows in clusters" if one.axis is None else "models along another axis than scores"
        return [f"{smallest}; {what} are not compared further."]
    at = f"at {100 * (1 - result.confidence_level):.3g}%"
    chance = f"beyond chance {at}"
    words = [f"{smallest}{_set_of(result, at)}."]
    untested = [visible(name) for name in result.comparisons if name not in result.behind]
    if untested:
        words.append(f"Not tested in pairs: {_listed(untested)}.")
    told = [visible(name) for name, each in result.comparisons.items() if each.better == "A"]
    lost = [visible(name) for name, each in result.comparisons.items() if each.better == "B"]
    if told:
        words.append(f"{best} is better calibrated than {_listed(told)}, {chance}.")
    if lost:
        words.append(f"{_listed(lost)} {_be(lost)} better calibrated than {best}, {chance}.")
    if not told and not lost:
        words.append(f"None is better calibrated than {best}, nor worse, {chance}.")
    return words


def _set_of(result: Models, at: str) -> str:
    """Name the models that cannot be told apart from the first, of those that were tested."""
    tested = list(map(visible, result.behind))
    equal = [visible(name) for name in result.not_worse if name in result.behind]
    if not tested:
        return ""
    if not equal:
        worse = tested[0] if len(tested) == 1 else "all others"
        return f"; {worse} {_be(tested)} worse, beyond chance {at}"
    only = "" if len(equal) == len(tested) else "of the others only "
    return f"; {only}{_listed(equal)} cannot be told apart from it {at}"


def _be(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def table(result: Models) -> Table:
    """Return a row of texts for each model, the best forecasts first."""
    head = ["model", "Brier", "miscalibration", "discrimination", "log loss"]
    head += ["ECCE-R", "by chance", "P", "verdict"]
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
        "" if brier is None else metric(brier.value),
        "" if brier is None else score_words.mcb(brier),
        "" if brier is None else score_words.dsc(brier),
        "" if log_loss is None else score_words.loss(log_loss),
        metric(r.value),
        metric(result.by_chance(METRICS[0]) * result.sigma),
        decided(result).removeprefix("= "),
        words,
    ]
