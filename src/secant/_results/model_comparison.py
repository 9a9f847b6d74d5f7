"""What a comparison of two models returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from secant._inference.limits import at_level
from secant._results.base import Result, Said
from secant._results.wording import level, metric, predictions, signed_pvalue, visible

__all__ = ["ModelComparison"]


@dataclass(frozen=True, slots=True, repr=False)
class ModelComparison(Result):
    """Two models compared on the same outcomes; print it to read the answer.

    Attributes
    ----------
    n : int
        Number of outcomes.
    ecce_r_a, ecce_r_b : float
        The models' ECCE-R as observed.
    difference : float
        ``ecce_r_a - ecce_r_b``: negative where A is closer to calibration.
    ci : tuple of float
        Conservative limits for the difference of the true metrics.
    confidence_level : float
        Level of the limits.
    mcb_a, mcb_b : float or None
        What miscalibration costs each model of its Brier score, as in :class:`secant.Score`.
    mcb_difference : float or None
        What A loses more than B, with what the fits make of noise taken off: negative where A
        loses less.
    mcb_ci : tuple of float or None
        Its limits.
    pvalue : float or None
        Probability of a difference at least this large if both lost the same in truth. These five
        are None where there is no paired test.
    untested : str or None
        Why there is none: fewer than 50 events or 50 rows without, more than 262,144 rows, rows
        that are not in reach, counted rows, rows kept by their outcome.
    names : tuple of str
        What A and B are called in words.
    """

    __module__ = "secant"

    n: int
    ecce_r_a: float
    ecce_r_b: float
    difference: float
    ci: tuple[float, float]
    confidence_level: float
    mcb_a: float | None = None
    mcb_b: float | None = None
    mcb_difference: float | None = None
    mcb_ci: tuple[float, float] | None = None
    pvalue: float | None = None
    untested: str | None = None
    names: tuple[str, str] = ("A", "B")
    _leads = ("verdict",)
    _also = ("better",)

    @property
    def better(self) -> Literal["A", "B"] | None:
        """``"A"`` or ``"B"``, whichever is closer to calibration; None if that cannot be told.

        The paired test decides where there is one, else the limits of the difference in ECCE-R.
        """
        if self.pvalue is None or self.mcb_difference is None:
            if self.ci[1] < 0:
                return "A"
            return "B" if self.ci[0] > 0 else None
        if not at_level(self.pvalue, 1 - self.confidence_level):
            return None
        return "A" if self.mcb_difference < 0 else "B"

    @property
    def verdict(self) -> str:
        """The answer in a few words."""
        if self._same:
            return "The two models give the same scores"
        if self.better is None:
            return "The two models' calibration cannot be told apart"
        better, worse = map(visible, self.names if self.better == "A" else reversed(self.names))
        return f"Model {better} is closer to calibration than model {worse}"

    def _say(self) -> Said:
        advice = "This is about calibration alone, not about which model predicts better."
        return Said(f"{self.verdict}.", lines=[self._costs(), self._sizes(), advice])

    def _costs(self) -> str:
        """Say what miscalibration costs each, and whether that differs beyond chance."""
        if self.mcb_a is None or self.mcb_b is None or self.mcb_ci is None:
            if self.untested is None or self._same:
                return ""
            return (
                f"No paired test of what miscalibration costs, which is sharper: {self.untested}."
            )
        assert self.mcb_difference is not None  # noqa: S101
        assert self.pvalue is not None  # noqa: S101
        a, b = map(visible, self.names)
        return (
            f"Miscalibration costs {metric(self.mcb_a)} ({a}) and {metric(self.mcb_b)} ({b}) of "
            f"the Brier score: difference {_signed(self.mcb_difference)} with noise taken off "
            f"({self._limits(self.mcb_ci)}; P {signed_pvalue(self.pvalue)}, paired)."
        )

    def _sizes(self) -> str:
        a, b = map(visible, self.names)
        return (
            f"ECCE-R {metric(self.ecce_r_a)} ({a}) and {metric(self.ecce_r_b)} ({b}): difference "
            f"{_signed(self.difference)} ({self._limits(self.ci)}, conservative; "
            f"{predictions(self.n)} each)."
        )

    def _limits(self, ci: tuple[float, float]) -> str:
        low, high = map(_signed, ci)
        return f"{level(self.confidence_level)} limits {low} to {high}"

    @property
    def _same(self) -> bool:
        return self.ci == (0.0, 0.0)


def _signed(value: float) -> str:
    return metric(value) if value <= 0 else f"+{metric(value)}"
