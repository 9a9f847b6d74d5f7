"""The steepest range: where the path of cumulative differences leaves a tolerance farthest behind.

Over a range the path may move by the tolerance times the range's share of all weight. What exceeds
that is found by tilting: take the tolerance off every observation, and look how far the path still
climbs, or falls with its sign changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._blocks.looking import resolve
from secant._blocks.table import running_sum
from secant._metrics.ecce import GUARD, path

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray
    from secant._blocks.looking import Refine
    from secant._blocks.table import Blocks

__all__ = ["Climb", "could_be_steepest", "excess", "steepest"]

# Relative error within which an iteration has arrived.
_ARRIVED = 1e-12


class Climb(NamedTuple):
    """How far a path climbs at most, and over which blocks: from ``start`` up to ``stop``."""

    height: float
    start: int
    stop: int

    @property
    def length(self) -> int:
        """How many blocks it takes."""
        return self.stop - self.start


def excess(blocks: Blocks, weight: float, tolerance: float, refine: Refine | None) -> float:
    """Return by how much, as a share of all weight, the worst range exceeds a tolerance in total.

    Parameters
    ----------
    blocks, weight
        The observations and their whole weight.
    tolerance
        The mean miscalibration that any range may have.
    refine
        How to look into a block; without it ranges end where blocks do.
    """

    def matters(table: Blocks) -> BoolArray:
        return _could_climb(table, weight, tolerance, 0.0)

    return _highest(resolve(blocks, matters, refine), weight, tolerance).height


def steepest(
    blocks: Blocks, weight: float, threshold: float, refine: Refine | None
) -> Blocks | None:
    r"""Return the range whose mean miscalibration is largest when a threshold is taken off.

    Parameters
    ----------
    blocks, weight
        The observations and their whole weight.
    threshold
        What is taken off the total of every range: a share of ``weight``.
    refine
        How to look into a block; without it ranges end where blocks do.

    Returns
    -------
    Blocks or None
        The blocks from x to y with the largest (\|C_y - C_x\| - threshold)/(F_y - F_x), F being the
        share of weight; the narrowest if several are equal; None if no total exceeds the threshold.

    Notes
    -----
    Dinkelbach's iteration: at the tolerance that is sought, the largest excess is the threshold
    itself. Where it is more, the range that attains it has a larger quotient, the next tolerance.
    """
    blocks = resolve(blocks, lambda table: could_be_steepest(table, weight, threshold), refine)
    tolerance, climb = _iterate(blocks, weight, threshold)
    if tolerance <= 0:
        return None
    return blocks.select(slice(climb.start, climb.stop))


def could_be_steepest(blocks: Blocks, weight: float, threshold: float) -> BoolArray:
    """Mark the blocks inside which the range of :func:`steepest` could begin or end.

    Ends of blocks lead most of the way to its tolerance.
    """
    tolerance, _ = _iterate(blocks, weight, threshold)
    return _could_climb(blocks, weight, tolerance, threshold)


def _iterate(blocks: Blocks, weight: float, threshold: float) -> tuple[float, Climb]:
    """Raise a tolerance from 0 until no range exceeds it by more than the threshold."""
    tolerance = 0.0
    ends = path(blocks, weight)
    share = running_sum(np.asarray(blocks.weight, np.float64)) / weight
    while True:
        climb = _highest(blocks, weight, tolerance)
        if climb.height <= threshold * (1 + _ARRIVED):
            return tolerance, climb
        total = abs(ends[climb.stop] - ends[climb.start])
        before = share[climb.start - 1] if climb.start else 0.0
        higher = float((total - threshold) / (share[climb.stop - 1] - before))
        if higher <= tolerance * (1 + _ARRIVED):
            return tolerance, climb
        tolerance = higher


def _highest(blocks: Blocks, weight: float, tolerance: float) -> Climb:
    """Return the largest climb of the tilted path, or of its mirror image."""
    climbs = (_climb(_tilted(blocks, weight, tolerance, sign)) for sign in (1, -1))
    return max(climbs, key=lambda climb: (round(climb.height / GUARD), -climb.length))


def _climb(heights: FloatArray) -> Climb:
    """Return the largest climb of a path, the shortest of equal ones."""
    lowest = np.minimum.accumulate(heights)
    climbed = heights - lowest
    # The last place so far at which the path was as low as it has been.
    since = np.where(climbed <= GUARD, np.arange(len(heights)), 0)
    since = np.maximum.accumulate(since)
    largest = float(climbed.max())
    ends = np.flatnonzero(climbed >= largest - GUARD)
    stop = int(ends[np.argmin(ends - since[ends])])
    return Climb(largest, int(since[stop]), stop)


def _tilted(blocks: Blocks, weight: float, tolerance: float, sign: int) -> FloatArray:
    """Return the path of ``sign`` times the differences, less the tolerance for each."""
    heights = np.zeros(len(blocks) + 1)
    heights[1:] = running_sum(sign * blocks.gain - tolerance * blocks.weight) / weight
    return heights


def _could_climb(blocks: Blocks, weight: float, tolerance: float, least: float) -> BoolArray:
    """Mark the blocks inside which the largest climb could begin or end, if it is at least so high.

    Inside a block that starts at D the tilted path stays between D less all that falls and D plus
    all that rises.
    """
    least = max(least, _highest(blocks, weight, tolerance).height) - GUARD
    marked = np.zeros(len(blocks), bool)
    for sign in (1, -1):
        starts = _tilted(blocks, weight, tolerance, sign)[:-1]
        rises = _rises(blocks, tolerance, sign)
        falls = rises - (sign * blocks.gain - tolerance * blocks.weight)
        if blocks.inside is not None:  # the tolerance only takes off what the path rises
            rise, fall = (blocks.rise, blocks.fall)[::sign]
            rises = np.minimum(rises, rise)
            falls = np.minimum(falls, fall + tolerance * blocks.weight)
        highest, lowest = starts + rises / weight, starts - falls / weight
        before = np.minimum.accumulate(lowest)
        after = np.maximum.accumulate(highest[::-1])[::-1]
        marked |= (highest - before >= least) | (after - lowest >= least)
    return marked


def _rises(blocks: Blocks, tolerance: float, sign: int) -> FloatArray:
    """Return at most how much the positive steps of each block add up to.

    A response 1 adds 1 - s, less the tolerance: all of these are steps upward, unless the block
    reaches scores beyond one less the tolerance. With the sign changed a response 0 adds s.
    """
    if sign > 0:
        total, mass, most, least = blocks.up, blocks.w1, 1 - blocks.lowest, 1 - blocks.highest
    else:
        total, mass, most, least = blocks.down, blocks.w0, blocks.highest, blocks.lowest
    bounded = np.minimum(total, mass * np.maximum(most - tolerance, 0))
    rises: FloatArray = np.where(least >= tolerance, total - tolerance * mass, bounded)
    return np.maximum(rises, 0)
