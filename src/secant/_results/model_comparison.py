"""What a comparison of two models returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from secant._results.parts import plain
from secant._results.shown import Shown
from secant._results.wording import level, metric, predictions

__all__ = ["ModelComparison"]


@dataclass(frozen=True, slots=True, repr=False)
class ModelComparison(Shown):
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
    """

    __module__ = "secant"

    n: int
    ecce_r_a: float
    ecce_r_b: float
    difference: float
    ci: tuple[float, float]
    confidence_level: float

    @property
    def better(self) -> Literal["A", "B"] | None:
        """``"A"`` or ``"B"``, whichever is closer to calibration; None if that cannot be told."""
        if self.ci[1] < 0:
            return "A"
        return "B" if self.ci[0] > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return every number as plain JSON."""
        numbers: dict[str, Any] = plain(self)
        return {"verdict": self._headline(), **numbers, "better": self.better}

    def __str__(self) -> str:
        low, high = (_signed(limit) for limit in self.ci)
        numbers = (
            f"ECCE-R {metric(self.ecce_r_a)} (A) and {metric(self.ecce_r_b)} (B): difference "
            f"{_signed(self.difference)} ({level(self.confidence_level)} limits {low} to {high}, "
            f"conservative; {predictions(self.n)} each)."
        )
        advice = "This is about calibration alone, not about which model predicts better."
        return f"{self._headline()}.\n{numbers}\n{advice}"

    def _headline(self) -> str:
        if self.ci == (0.0, 0.0):
            return "The two models give the same scores"
        if self.better is None:
            return "The two models' calibration cannot be told apart"
        worse = "B" if self.better == "A" else "A"
        return f"Model {self.better} is closer to calibration than model {worse}"


def _signed(value: float) -> str:
    return metric(value) if value <= 0 else f"+{metric(value)}"
