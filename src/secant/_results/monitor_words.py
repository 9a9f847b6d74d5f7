"""What a monitor says: whether there is an alarm, since when, and at which scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from secant._input.periods import written
from secant._results.wording import (
    capital,
    percent,
    predictions,
    signed_pvalue,
    wrong_scores,
)

if TYPE_CHECKING:
    from secant._input.periods import Time
    from secant._results.monitor import MonitorHistory

__all__ = [
    "ASSUMES",
    "extent",
    "headline",
    "how_much",
    "notes",
    "story",
    "written_evidence",
    "written_time",
]

ASSUMES = (
    "All of this holds as long as every row is new: where the same customers return with the same "
    "outcome, one surprise counts many times."
)
"""What the guarantee rests on, in words."""


def headline(history: MonitorHistory) -> str:
    """Return the answer in a few words."""
    if not history.periods:
        return "Nothing has been added yet"
    within = f" within {history.tolerance:g}" if history.tolerance else ""
    if history.alarm:
        return f"Alarm at {written_time(history.alarm_time)}: not calibrated{within}"
    return f"No alarm in {_batches(len(history))}"


def story(history: MonitorHistory) -> str:
    """Say which scores are off since when; where there is no alarm, what that means."""
    if not history.periods:
        return "Add a batch of predictions when all of its outcomes are known."
    if history.where is None:
        beyond = f" by more than {history.tolerance:g}" if history.tolerance else ""
        return (
            f"No scores are seen to be off{beyond}. That is no proof of calibration: a small "
            "error, or one that has only begun, takes more predictions to show."
        )
    where = history.where
    if where.low == where.high:
        came = (
            f"{where.n:,} {'event' if where.low == 0 else 'failure'}{'' if where.n == 1 else 's'}"
        )
        return (
            f"{came} came after a score of exactly {where.low:.0f}, the first at "
            f"{written_time(history.since)}: no chance explains that."
        )
    since = written_time(history.since)
    found = f"{capital(where.scores)} have been {where.direction} since about {since}"
    if where.direction in {"too extreme", "too moderate"}:
        return f"{found} ({predictions(where.n)})."
    return (
        f"{found}: mean forecast {percent(where.mean_score)}, mean outcome "
        f"{percent(where.mean_response)} ({predictions(where.n)})."
    )


def how_much(history: MonitorHistory) -> str:
    """Say how much evidence there is, and what raises an alarm."""
    largest = max((each.log10_evidence for each in history.periods), default=0.0)
    if math.isinf(history.log10_pvalue):
        return "An outcome that its score ruled out has the P-value 0."
    chance = signed_pvalue(history.pvalue, log10=history.log10_pvalue)
    return (
        f"Evidence has reached {written_evidence(largest)} to 1, an alarm is raised at "
        f"{history.threshold:,.4g} to 1 (P {chance}, valid however often one looks)."
    )


def extent(history: MonitorHistory) -> str:
    """Say how much has been seen."""
    if not history.periods:
        return ""
    first, last = (written(history.periods[end].time) for end in (0, -1))
    return f"{predictions(history.n)} in {_batches(len(history))}, {first} to {last}."


def notes(history: MonitorHistory) -> tuple[str, ...]:
    """Return what else one should know, a sentence each."""
    said = []
    if history.n_forbidden:
        refutes = "" if history.tolerance else ": that alone refutes them"
        said.append(f"{wrong_scores(history.n_forbidden)}{refutes}.")
    without = sum(not each.slopes for each in history.periods if each.n)
    if without and not history.tolerance:
        said.append(
            f"{_batches(without)} came as sums (Cells, tables of engines), which cannot show "
            "scores that are too extreme or too moderate as a whole; ranges of scores were watched."
        )
    if history.periods and history.edges is None:
        said.append(
            "Fewer than 160 predictions so far: all scores are watched together, and ranges "
            "of scores once there are that many."
        )
    return tuple(said)


def written_evidence(log10: float) -> str:
    """Write evidence with two or three digits, whatever its size.

    Examples
    --------
    >>> [written_evidence(each) for each in (-0.3, 1.5, 4.2, 32.83)]
    ['0.5', '32', '15,849', '6.8e32']
    """
    if log10 >= 6:
        exponent = math.floor(log10)
        mantissa = f"{10 ** (log10 - exponent):.1f}"
        return f"1.0e{exponent + 1}" if mantissa == "10.0" else f"{mantissa}e{exponent}"
    value = 10**log10
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def written_time(time: Time | None) -> str:
    """Write the name of a period; a number needs a word before it."""
    if isinstance(time, int):
        return f"batch {time}"
    return "" if time is None else written(time)


def _batches(count: int) -> str:
    return f"{count:,} batch{'' if count == 1 else 'es'}"
