"""What pictures show of a result: the ranges found to be off; where none was, what noise did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._blocks.looking import resolve
from secant._metrics.ecce import path
from secant._results import verdict, wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import BoolArray, FloatArray
    from secant._blocks.table import Blocks
    from secant._results.calibration import Calibration
    from secant._results.parts import Interval

__all__ = [
    "Finding",
    "cut_at",
    "deviation",
    "ends_of",
    "findings",
    "in_short",
    "points",
    "secants",
    "without_words",
]

# Part of a picture's width that nobody sees: a range that ends within so little may end beside it.
_UNSEEN = 1 / 4000
# What is said of results begins so.
_OURS = ("too ", "over", "under", "alternating, ", "off, not", "could be noise", "no deviation")


class Finding(NamedTuple):
    """A range of scores, the ends of its secant, and whether its direction is more than noise."""

    range: Interval
    ends: FloatArray
    certain: bool

    @property
    def mood(self) -> str:
        """The name of the colour of its direction; that of the unsure for what could be noise."""
        if not self.certain:
            return "unsure"
        return "high" if self.range.miscalibration < 0 else "low"

    @property
    def sign(self) -> str:
        """Plus where more happened than was forecast, minus where less did."""
        return "+" if self.range.miscalibration > 0 else "\N{MINUS SIGN}"


def findings(result: Calibration, *, found: bool = True) -> tuple[Finding, ...]:
    """Return the ranges found to be off in the order of scores, or the largest deviation in grey.

    Parameters
    ----------
    result : Calibration
        The result.
    found : bool
        False where the result does not stand as a finding, as one group of many may not.
    """
    off = sorted(result.intervals, key=lambda each: each.low) if found else []
    shown = off or [each for each in (result.worst,) if each.n]
    ends = secants(result, shown)
    return tuple(Finding(*each, bool(off)) for each in zip(shown, ends, strict=True))


def in_short(result: Calibration, *, found: bool = True) -> str:
    """Say in a few words what was found, for legends: all directions, or that it could be noise.

    Parameters
    ----------
    result, found
        As in :func:`findings`.
    """
    off = result.intervals if found else ()
    kind = verdict.brief_direction(result) if found else ""
    if off:
        # How far off a range is belongs beside its own direction.
        by = f" by {points(abs(off[0].miscalibration))} points"
        own = verdict.direction_said(result, off[0].direction)
        return kind + (by if len(off) == 1 and kind == own else "")
    if found and result.found:
        return f"{kind or 'off'}, not certain where"
    if wrong := result.n_forbidden:
        return f"{wrong:,} sure score{'' if wrong == 1 else 's'} wrong"
    return "could be noise" if result.worst.n else "no deviation"


def points(value: float) -> str:
    """Write a difference of probabilities in percentage points, as the verdict does."""
    return wording.points(value).replace("-", "\N{MINUS SIGN}")


def deviation(worst: Interval) -> str:
    """Say in words how far off a range of scores is."""
    if not worst.n or worst.direction == "even":
        return "no deviation"
    return f"{worst.direction} by {points(abs(worst.miscalibration))} points"


def without_words(label: str) -> str:
    """Return a label without what :func:`in_short` says after a name; any other as it is.

    Examples
    --------
    >>> without_words("Trees: too extreme"), without_words("Trees: second try")
    ('Trees', 'Trees: second try')
    """
    name, _, words = label.rpartition(": ")
    ours = words.startswith(_OURS)
    return name if name and (ours or words.endswith(" wrong")) else label


def secants(result: Calibration, ranges: Sequence[Interval]) -> FloatArray:
    """Return the ends of the secants over ranges, as (fraction, difference), to the pixel."""
    blocks = cut_at(result, ranges, unseen=_UNSEEN)
    fraction = np.concatenate([[0.0], np.cumsum(blocks.weight)])
    difference = path(blocks, result._totals.weight)  # noqa: SLF001  (sums that no attribute has)
    at = np.asarray([ends_of(blocks, each) for each in ranges], np.int64).reshape(-1, 2)
    return np.stack([fraction[at] / fraction[-1], difference[at]], axis=-1)


def cut_at(result: Calibration, ranges: Sequence[Interval], *, unseen: float = 0.0) -> Blocks:
    """Return the blocks of a result, none of which lies across the end of a range.

    Blocks with less than the share ``unseen`` of all weight may.
    """
    if not ranges:
        return result._blocks  # noqa: SLF001
    low, high = (np.sort(np.array(ends)) for ends in zip(*map(_keys, ranges), strict=True))
    # Looking behind a result, as ``between`` does.
    least = unseen * result._totals.weight  # noqa: SLF001

    def across_an_end(blocks: Blocks) -> BoolArray:
        begins = np.searchsorted(low, blocks.high, "right") - np.searchsorted(
            low, blocks.low, "right"
        )
        stops = np.searchsorted(high, blocks.high) - np.searchsorted(high, blocks.low)
        return ((begins > 0) | (stops > 0)) & (blocks.weight > least)

    return resolve(result._blocks, across_an_end, result._predictions.refine)  # noqa: SLF001


def ends_of(blocks: Blocks, each: Interval) -> tuple[int, int]:
    """Return the points of the curve at which a range begins and ends."""
    low, high = _keys(each)
    first, last = np.searchsorted(blocks.low, low), np.searchsorted(blocks.high, high)
    return int(first), min(int(last) + 1, len(blocks))


def _keys(each: Interval) -> tuple[Any, Any]:
    """Return the scores at which a range ends, or its keys along another axis."""
    axis = wording.axis_of(each)
    return (each.low, each.high) if axis is None else (axis.key(each.low), axis.key(each.high))
