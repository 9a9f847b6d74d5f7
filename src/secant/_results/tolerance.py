"""What is small enough not to matter: by itself, or within what somebody tolerates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from secant._results.calibration import Calibration

__all__ = ["VERY_LITTLE", "Tolerance", "tolerance_of"]


class Tolerance(NamedTuple):
    """What is called negligible: all limits must hold.

    ``ecce_r`` is the ECCE-R from which on it is more, ``miscalibration`` how far off some range
    may have been shown to be, ``share`` which share ECCE-R may be of all events, or of all
    failures: one event in 1,000 is not little where two were forecast. ``words`` is what it is
    called. ``within`` is what ECCE-R is asked to be shown within, if anything, and ``at`` the level
    of that.
    """

    ecce_r: float
    miscalibration: float
    share: float = 0.1
    words: str = "by very little"
    within: float | None = None
    at: float | None = None

    def covers(self, result: Calibration) -> bool:
        """Tell whether what was found is negligible, everywhere."""
        if not result.found or result.n_forbidden or not result.pieces:
            return False
        rarer = min(*(min(rate, 1 - rate) for rate in (result.base_rate, result.mean_score)))
        if result.ecce_r.value >= min(self.ecce_r, self.share * rarer):
            return False
        return result.farthest is None or result.farthest.at_least <= self.miscalibration


# What is negligible where nobody says what they tolerate.
VERY_LITTLE = Tolerance(0.005, 0.02)


def tolerance_of(
    max_ecce_r: float | None,
    max_miscalibration: float | None,
    within: float | None = None,
    at: float | None = None,
) -> Tolerance:
    """Return the tolerance that limits given by the user make."""
    if max_ecce_r is None and max_miscalibration is None:
        return VERY_LITTLE._replace(within=within, at=at)
    return Tolerance(
        ecce_r=math.inf if max_ecce_r is None else max_ecce_r,
        miscalibration=math.inf if max_miscalibration is None else max_miscalibration,
        share=math.inf,
        words="within your tolerance",
        within=within,
        at=at,
    )
