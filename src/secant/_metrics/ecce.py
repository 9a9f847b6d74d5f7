"""The cumulative metrics: the path of cumulative differences, its extremes, and between them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant import null
from secant._blocks.looking import resolve
from secant._blocks.table import ADDED_TOGETHER, fixed_running_sum, running_sum

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray
    from secant._blocks.looking import Refine
    from secant._blocks.table import Blocks

__all__ = [
    "GUARD",
    "METRICS",
    "Extremes",
    "Heights",
    "Metric",
    "bounds",
    "could_hold_an_extreme",
    "extremes",
    "path",
]

# Rounding moves a cumulative difference by far less than this; a block whose limits come this
# close to an extreme is looked into.
GUARD = 1e-13
# What rounding can do to a running sum, relative to all that was added.
_ROUNDED = 1e-9


class Metric(NamedTuple):
    """A cumulative metric: what it is called, where results keep it, its law if calibrated."""

    name: str
    attribute: str
    law: null.BrownianLaw


METRICS = (Metric("ECCE-R", "ecce_r", null.range), Metric("ECCE-MAD", "ecce_mad", null.mad))


@dataclass(frozen=True, slots=True)
class Heights:
    """The largest and the smallest cumulative difference."""

    maximum: float
    minimum: float

    @property
    def ecce_r(self) -> float:
        """Range of the cumulative differences."""
        return self.maximum - self.minimum

    @property
    def ecce_mad(self) -> float:
        """Largest absolute cumulative difference."""
        return max(self.maximum, -self.minimum)


@dataclass(frozen=True, slots=True)
class Extremes(Heights):
    """Extremes, and where they are attained.

    ``argmax`` and ``argmin`` count the blocks that lie before the extreme; 0 is the origin,
    where the difference is 0.
    """

    argmax: int
    argmin: int


def path(blocks: Blocks, weight: float) -> FloatArray:
    """Return the cumulative differences at the ends of blocks, after the 0 of the origin."""
    differences = np.empty(len(blocks) + 1)
    differences[0] = 0.0
    if blocks.fixed is not None and blocks.open.any():  # ties alone are the same in any case
        differences[1:] = fixed_running_sum(blocks.fixed)
    else:
        differences[1:] = running_sum(blocks.gain)
    differences[1:] /= weight
    return differences


def could_hold_an_extreme(blocks: Blocks, weight: float) -> BoolArray:
    """Mark the blocks that could hold the largest or the smallest cumulative difference.

    Inside a block that starts at C the path stays between C - fall and C + rise. Only a block whose
    limits reach the best value known from the blocks' ends can hold an extreme. A block that begins
    at an extreme, the origin included, always does: the range between the extremes may begin with
    it, at a score that must be exact.
    """
    ends = path(blocks, weight)
    starts = ends[:-1]
    # Where next to nothing is expected, the whole path may be smaller than the guard.
    moved = float(blocks.up.sum() + blocks.down.sum()) / weight
    guard = min(GUARD, _ROUNDED * moved)
    above: BoolArray = starts + blocks.rise / weight >= ends.max() - guard
    below: BoolArray = starts - blocks.fall / weight <= ends.min() + guard
    return above | below


def extremes(
    blocks: Blocks, weight: float, refine: Refine | None = None
) -> tuple[Blocks, Extremes]:
    """Find the exact extremes of the path, refining only the blocks that could hold them.

    Returns
    -------
    blocks, extremes
        The blocks as far as they had to be refined: those next to each extreme are ties, so that
        the scores at which it is attained are exact.
    """
    blocks = resolve(blocks, lambda table: could_hold_an_extreme(table, weight), refine)
    ends = path(blocks, weight)
    argmax, argmin = int(ends.argmax()), int(ends.argmin())
    return blocks, Extremes(float(ends[argmax]), float(ends[argmin]), argmax, argmin)


def bounds(blocks: Blocks, weight: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return certain bounds of ECCE-R and ECCE-MAD without looking into any block.

    The ends of blocks give the lower bounds; the upper ones suppose that inside a block the path
    first does all its rising, or all its falling. A block of one observation, or of one score, has
    no inside.
    """
    ends = path(blocks, weight)
    starts = ends[:-1]
    inside = blocks.open & (blocks.n > 1)
    highest = (starts + np.where(inside, blocks.up, 0) / weight).max(initial=ends.max())
    lowest = (starts - np.where(inside, blocks.down, 0) / weight).min(initial=ends.min())
    least, most = float(ends.min()), float(ends.max())
    # Moved outward by more than rounding can have moved them: a running sum of k values is off by
    # at most k roundings of the sum of their sizes, the sums in a block by a few of its own size,
    # or of the distances from its anchor.
    roundings = 16 + min(len(blocks), 2 * ADDED_TOGETHER + len(blocks) / ADDED_TOGETHER)
    size = float(np.abs(blocks.gain).sum() + (blocks.up + blocks.down).max()) / weight
    distances = float((blocks.weight * (blocks.high - blocks.low)).sum()) / weight
    slack = 4 * sys.float_info.epsilon * (roundings * size + 4 * distances)
    ecce_r = (max(0.0, most - least - slack), float(highest - lowest) + slack)
    ecce_mad = (max(0.0, max(most, -least) - slack), float(max(highest, -lowest)) + slack)
    return ecce_r, ecce_mad
