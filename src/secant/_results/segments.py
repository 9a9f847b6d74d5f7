"""A segment that was found: which rows, how far off, and what it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from secant._results.assessments import Group

__all__ = ["Segment"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Segment(Group):
    """One segment found among those searched.

    Attributes
    ----------
    key : str
        The segment in words: ``"region = north and age 18 to 27"``.
    conditions : tuple of (str, str)
        The same in parts: a feature, and what its value is.
    calibration : Calibration
        The assessment of the segment. Its limits are at the level at which they hold for all
        segments searched at once, ``1 - (1 - confidence_level) / searched``.
    adjusted_pvalue : float
        P-value adjusted for all segments searched.
    miscalibration : float
        Mean of what happened minus what was forecast: negative where predictions are too high.
    ci : tuple of float
        Limits for it that hold for all segments searched at once, so also for those picked.
    parent : str or None
        Key of a reported segment that this one is part of: it is reported for what it says beyond
        that.
    """

    __module__ = "secant"

    conditions: tuple[tuple[str, str], ...] = ()
    miscalibration: float = 0.0
    ci: tuple[float, float] = (0.0, 0.0)
    parent: str | None = None

    @property
    def direction(self) -> str:
        """``"too high"``, ``"too low"``, or ``"mixed"`` where on average it could be noise."""
        if self.ci[1] < 0:
            return "too high"
        return "too low" if self.ci[0] > 0 else "mixed"

    def _facts(self) -> dict[str, Any]:
        own = ("conditions", "miscalibration", "ci", "direction", "parent")
        facts = Group._facts(self)  # noqa: SLF001  (no super(): a class with slots is made twice)
        return facts | {name: getattr(self, name) for name in own}
