"""What a scan of ranges of scores returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from secant._inference.limits import at_level
from secant._results.base import Result, Said
from secant._results.wording import (
    level,
    metric,
    off_by,
    predictions,
    scores,
    signed_pvalue,
    wrong_scores,
)

if TYPE_CHECKING:
    from secant._base.types import Obtained
    from secant._results.parts import Interval

__all__ = ["Scan"]


@dataclass(frozen=True, slots=True, repr=False)
class Scan(Result):
    """What a scan of ranges of scores found; print it to read the answer.

    Attributes
    ----------
    n : int
        Number of predictions.
    statistic : float
        How far the range that stands out most lies above what ranges of its size may do by chance,
        in standard deviations.
    critical : float
        What the statistic exceeds by chance with a probability of at most 1 -
        ``confidence_level`` under perfect calibration.
    pvalue : float
        Probability of a statistic at least this large under perfect calibration; valid for any
        number of predictions.
    method : {"simulated", "upper bound", "exact"}
        How the P-value was obtained: an upper bound where no draw stands out as much, exact where
        there was no range to scan.
    draws : int or None
        How often responses were drawn for it.
    worst : Interval
        The range that stands out most. Its limits hold for all ranges scanned at once.
    n_ranges : int
        Ranges scanned.
    n_forbidden : int
        Rows whose score of exactly 0 or 1 rules out what happened. The scan leaves them out, and
        they alone refute the scores.
    confidence_level : float
        Level of the limits; the printed answer tests at one minus it.
    """

    __module__ = "secant"

    n: int
    statistic: float
    critical: float
    pvalue: float
    method: Obtained
    draws: int | None
    worst: Interval
    n_ranges: int
    n_forbidden: int
    confidence_level: float
    _leads = ("verdict",)

    @property
    def found(self) -> bool:
        """Whether the P-value is at most one minus the confidence level."""
        return at_level(self.pvalue, 1 - self.confidence_level)

    @property
    def verdict(self) -> str:
        """The answer in a few words."""
        if not self.n_ranges:
            return "Every score is 0 or 1: there is no range to scan"
        return "A range of scores is off" if self.found else "No range of scores stands out"

    def _say(self) -> Said:
        then = self._where() if self.found and self.n_ranges else ""
        wrong = wrong_scores(self.n_forbidden)
        refuted = f"{wrong}, which refutes them; the scan leaves such rows out."
        notes = [refuted] if self.n_forbidden else []
        return Said(f"{self.verdict}.", then, [self._numbers(), self._advice()], notes=notes)

    def _where(self) -> str:
        worst = self.worst
        off = off_by(
            worst,
            worst.miscalibration,
            at=self.confidence_level,
            valid_for=f"all {self.n_ranges:,} ranges scanned",
            count=predictions(worst.n),
        )
        return f"Over {scores(worst)} predictions are {off}."

    def _numbers(self) -> str:
        if not self.n_ranges:
            return f"{predictions(self.n)}."
        often = level(self.confidence_level)
        return (
            f"Multiscale statistic {metric(self.statistic)}; under perfect calibration it stays "
            f"at or below {metric(self.critical)} in {often} of cases "
            f"(P {signed_pvalue(self.pvalue, self.method)}, {self.method})."
        )

    def _advice(self) -> str:
        if not self.n_ranges:
            return ""
        ranges = f"{self.n_ranges:,} range{'' if self.n_ranges == 1 else 's'} of scores"
        return (
            f"{predictions(self.n)}, {ranges}. This test stands beside "
            "ECCE: if you use both, take twice the smaller P-value."
        )
