"""A gate: miscalibration that is both beyond chance and beyond a tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from secant._inference.limits import at_level
from secant._input.options import check_level
from secant._results import verdict
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.assessments import Assessments, Group
    from secant._results.calibration import Calibration

__all__ = ["Gate"]


# The verdict has no limits at a level of 1, which is what one minus a tiny alpha rounds to.
_HIGHEST_LEVEL = 1 - 1e-12
_MOST_NAMES = 5


@dataclass(frozen=True)
class Gate:
    """Two limits, which a model fails only by crossing both.

    With many predictions chance can be ruled out for deviations nobody minds; with few, a large
    deviation can be chance. Either alone would raise false alarms.

    Chance is ruled out by a small P-value, or by an outcome that its score ruled out: one that a
    calibrated model never shows, whatever the P-value of ECCE-R.

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
        check_level(self.alpha, "alpha")
        if not (isinstance(self.max_ecce_r, Real) and 0 <= float(self.max_ecce_r) < 1):
            wanted = f" must lie in [0, 1); got {self.max_ecce_r!r}"
            raise InputError(Argument("max_ecce_r"), wanted)

    @property
    def confidence_level(self) -> float:
        """The level at which a verdict agrees with the gate about chance."""
        return min(1 - float(self.alpha), _HIGHEST_LEVEL)

    def crossed(self, result: Calibration, pvalue: float | None = None) -> bool:
        """Tell whether a result crosses both limits; ``pvalue`` may be an adjusted one."""
        return self._beyond_chance(result, pvalue) and result.ecce_r.value > self.max_ecce_r

    def crossing(self, results: Assessments) -> tuple[Any, ...]:
        """Return the keys of the groups that cross both limits, worst first."""
        return tuple(row.key for row in self._rows_crossing(results))

    def words(self, result: Calibration) -> str:
        """Say how a result stands with the gate, in a sentence."""
        if self.crossed(result):
            stands = "Gate crossed"
        elif self._beyond_chance(result):
            stands = "Detectable, and within your tolerance"
        else:
            stands = "Gate passed"
        why = ""
        if result.n_forbidden and not self._small(result.ecce_r.pvalue):
            rule = "rules" if result.n_forbidden == 1 else "rule"
            outcomes = verdict.impossible(result)
            why = f"; {outcomes} {rule} out chance, whatever the P-value"
        return f"{stands}: {verdict.brief(result)}, {self._limits()}{why}."

    def group_words(self, results: Assessments) -> str:
        """Say how groups stand with the gate, in a sentence or two."""
        rows, groups = self._rows_crossing(results), len(results)
        limits = f"({self._limits()}, adjusted P-values)"
        if not rows:
            who = "the only group" if groups == 1 else f"all {groups:,} groups"
            return f"Gate passed by {who} {limits}."
        who = "the only group" if groups == 1 else f"{len(rows):,} of {groups:,} groups"
        words = f"Gate crossed by {who}: {_names(rows)} {limits}."
        refuted = [row for row in rows if not self._small(row.adjusted_pvalue)]
        if refuted:
            certain = "wrong scores of exactly 0 or 1 rule out chance"
            words += f" In {_names(refuted)} {certain}, whatever the P-value."
        return words

    def _rows_crossing(self, results: Assessments) -> list[Group]:
        return [row for row in results.rows if self.crossed(row.calibration, row.adjusted_pvalue)]

    def _beyond_chance(self, result: Calibration, pvalue: float | None = None) -> bool:
        # What its score ruled out has the probability 0 under calibration.
        return result.n_forbidden > 0 or self._small(
            result.ecce_r.pvalue if pvalue is None else pvalue
        )

    def _small(self, pvalue: float) -> bool:
        return at_level(pvalue, self.alpha)

    def _limits(self) -> str:
        return f"tolerance {float(self.max_ecce_r):g}, level {float(self.alpha):g}"


def _names(rows: Sequence[Group]) -> str:
    names = ", ".join(verdict.group_name(row.key) for row in rows[:_MOST_NAMES])
    more = len(rows) - _MOST_NAMES
    return f"{names} and {more:,} more" if more > 0 else names
