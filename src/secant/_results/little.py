"""What was found and can be named, and whether it is very little."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.calibration import Calibration
    from secant._results.parts import Interval

__all__ = [
    "LITTLE",
    "Little",
    "is_little",
    "is_trifle",
    "pieces_found",
    "steepest_found",
    "tolerated",
]


class Little(NamedTuple):
    """What is called "very little": all limits must hold.

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


LITTLE = Little(0.005, 0.02)


def tolerated(
    max_ecce_r: float | None,
    max_miscalibration: float | None,
    within: float | None = None,
    at: float | None = None,
) -> Little:
    """Return what tolerances given by the user make of "very little"."""
    if max_ecce_r is None and max_miscalibration is None:
        return LITTLE._replace(within=within, at=at)
    return Little(
        ecce_r=math.inf if max_ecce_r is None else max_ecce_r,
        miscalibration=math.inf if max_miscalibration is None else max_miscalibration,
        share=math.inf,
        words="within your tolerance",
        within=within,
        at=at,
    )


def is_little(result: Calibration, little: Little) -> bool:
    """Tell whether what was found is very little, everywhere."""
    if not result.found or result.n_forbidden or not pieces_found(result):
        return False
    rarer = min(*(min(rate, 1 - rate) for rate in (result.base_rate, result.mean_score)))
    if result.ecce_r.value >= min(little.ecce_r, little.share * rarer):
        return False
    farthest = steepest_found(result)
    return farthest is None or farthest.at_least <= little.miscalibration


def is_trifle(result: Calibration, little: Little) -> bool:
    """Tell whether it is little by itself too: what somebody tolerates need not be."""
    return is_little(result, little) and is_little(result, LITTLE)


def pieces_found(result: Calibration) -> Sequence[Interval]:
    """Return the ranges found to be off, in the order of scores; none where they cannot be had."""
    try:
        found = result.intervals
    except SecantError:  # the data have changed since: what is known is still worth saying
        return ()
    return sorted(found, key=lambda each: each.low)


def steepest_found(result: Calibration) -> Interval | None:
    """Return the range that is shown to be farthest off; None where it cannot be had."""
    try:
        return result.steepest
    except SecantError:  # as for ranges
        return None
