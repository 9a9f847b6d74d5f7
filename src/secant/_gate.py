"""A gate: miscalibration that is both beyond chance and beyond a tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from secant import _verdict
from secant.errors import InputError

if TYPE_CHECKING:
    from secant._assessments import Assessments
    from secant._calibration import Calibration

__all__ = ["Gate"]


@dataclass(frozen=True)
class Gate:
    """Two limits, which a model fails only by crossing both.

    With many predictions chance can be ruled out for deviations nobody minds; with few, a large
    deviation can be chance. Either alone would raise false alarms.

    Attributes
    ----------
    alpha : float
        The P-value of ECCE-R (adjusted, for groups) up to which chance is ruled out.
    max_ecce_r : float
        The largest ECCE-R that is tolerated.

    Raises
    ------
    InputError
        If a limit is out of range.
    """

    alpha: Any = 0.05
    max_ecce_r: Any = 0.0

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, Real) and 0 < float(self.alpha) < 1):
            msg = f"alpha must lie strictly between 0 and 1; got {self.alpha!r}"
            raise InputError(msg)
        if not (isinstance(self.max_ecce_r, Real) and 0 <= float(self.max_ecce_r) < 1):
            msg = f"max_ecce_r must lie in [0, 1); got {self.max_ecce_r!r}"
            raise InputError(msg)

    def crossed(self, result: Calibration, pvalue: float | None = None) -> bool:
        """Tell whether a result crosses both limits; ``pvalue`` may be an adjusted one."""
        pvalue = result.ecce_r.pvalue if pvalue is None else pvalue
        return self._beyond_chance(pvalue) and result.ecce_r.value > self.max_ecce_r

    def crossing(self, results: Assessments) -> tuple[Any, ...]:
        """Return the keys of the groups that cross both limits, worst first."""
        return tuple(
            row.key for row in results.rows if self.crossed(row.calibration, row.adjusted_pvalue)
        )

    def words(self, result: Calibration) -> str:
        """Say how a result stands with the gate, in a sentence."""
        limits = f"tolerance {self.max_ecce_r:g}, level {self.alpha:g}"
        if self.crossed(result):
            return f"Gate crossed: {_verdict.brief(result)}, {limits}."
        if self._beyond_chance(result.ecce_r.pvalue):
            return f"Detectable, and within your tolerance: {_verdict.brief(result)}, {limits}."
        return f"Gate passed: {_verdict.brief(result)}, {limits}."

    def group_words(self, results: Assessments) -> str:
        """Say how groups stand with the gate, in a sentence."""
        crossing, limits = (
            self.crossing(results),
            f"tolerance {self.max_ecce_r:g}, level {self.alpha:g}",
        )
        if not crossing:
            return f"Gate passed by all {len(results):,} groups ({limits}, adjusted P-values)."
        names = ", ".join(_verdict.group_name(key) for key in crossing[:5])
        more = f" and {len(crossing) - 5:,} more" if len(crossing) > 5 else ""
        return (
            f"Gate crossed by {len(crossing):,} of {len(results):,} groups: {names}{more} "
            f"({limits}, adjusted P-values)."
        )

    def _beyond_chance(self, pvalue: float) -> bool:
        return bool(pvalue <= self.alpha * (1 + 1e-12))
