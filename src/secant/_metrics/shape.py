"""The shape of miscalibration: the pieces in which the path of cumulative differences moves."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._blocks.looking import resolve
from secant._metrics.ecce import GUARD, path

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray
    from secant._blocks.looking import Refine
    from secant._blocks.table import Blocks

__all__ = ["Turn", "could_turn", "pieces", "turns"]


class Turn(NamedTuple):
    """A turning point of the path: an extreme, attained perhaps several times.

    ``first`` and ``last`` count the blocks that lie before it; ``sign`` is 1 for a maximum and -1
    for a minimum.
    """

    first: int
    last: int
    sign: int


def pieces(blocks: Blocks, weight: float, threshold: float, refine: Refine | None) -> list[Blocks]:
    """Return the ranges of scores over which the path rises or falls by more than a threshold.

    Neighbouring pieces have opposite signs: where the path turns, one ends and the next begins. A
    level part of the path at a turn belongs to neither.

    Parameters
    ----------
    blocks, weight
        The observations and their whole weight.
    threshold
        What a piece must exceed: a share of ``weight``.
    refine
        How to look into a block; without it the ends of blocks are all that is known.

    Returns
    -------
    list of Blocks
        The blocks of each piece, in the order of scores.
    """

    def matters(table: Blocks) -> BoolArray:
        return could_turn(table, weight, threshold)

    blocks = resolve(blocks, matters, refine)
    found = turns(path(blocks, weight), threshold)
    return [blocks.select(slice(start.last, stop.first)) for start, stop in pairwise(found)]


def turns(heights: FloatArray, threshold: float) -> list[Turn]:
    """Return the turning points of a path between moves larger than a threshold.

    Walk along the path and keep its highest and its lowest point so far. Once it has moved by
    more than the threshold, the first turn is the point where that move began. From then on a
    maximum is a turn once the path has fallen by more than the threshold below it, a minimum once
    it has risen so far above it; the extreme after the last of them ends the last piece. There are
    none, or at least two.
    """
    up = heights - np.minimum.accumulate(heights)
    down = np.maximum.accumulate(heights) - heights
    moved = np.flatnonzero((up > threshold) | (down > threshold))
    if not moved.size:
        return []
    here = int(moved[0])
    sign = 1 if up[here] > threshold else -1  # where the path is going
    start, found = 0, [_extreme(heights, 0, here, -sign)]
    while True:
        end = _turned(sign * heights, here, threshold)
        start = found[-1].last
        if end is None:
            return [*found, _extreme(heights, start, len(heights) - 1, sign)]
        found.append(_extreme(heights, start, end, sign))
        here, sign = end, -sign


def _turned(rising: FloatArray, start: int, threshold: float) -> int | None:
    """Return where a path that was rising has fallen by more than the threshold; None if never."""
    highest, size = -np.inf, 64
    while start < len(rising):
        # Windows that double: turns may be many, and none takes a walk to the end of the path.
        window = rising[start : start + size]
        top = np.maximum(np.maximum.accumulate(window), highest)
        fallen = top - window > threshold
        if fallen.any():
            return start + int(fallen.argmax())
        highest, start, size = float(top[-1]), start + size, 2 * size
    return None


def _extreme(heights: FloatArray, start: int, end: int, sign: int) -> Turn:
    """Return the extreme of a part of the path, and where it is attained first and last."""
    part = sign * heights[start : end + 1]
    places = np.flatnonzero(part >= part.max() - GUARD) + start
    return Turn(int(places[0]), int(places[-1]), sign)


def could_turn(blocks: Blocks, weight: float, threshold: float) -> BoolArray:
    """Mark the blocks inside which the path could turn, or turn further than at their ends.

    Inside a block the path stays between limits that both its ends imply. A block matters if these
    reach the extreme between neighbouring turns; or if, inside a piece or outside all of them, it
    could be either end of a move against the piece that exceeds the threshold.
    """
    marked = np.zeros(len(blocks), bool)
    ends = path(blocks, weight)
    up, down = blocks.up / weight, blocks.down / weight
    highest, lowest = ends[:-1] + blocks.rise / weight, ends[:-1] - blocks.fall / weight
    if highest.max() - lowest.min() <= threshold:  # no move is so large
        return marked
    highest = np.minimum(highest, ends[1:] + down)
    lowest = np.maximum(lowest, ends[1:] - up)
    found = turns(ends, threshold)
    edges = [0, *(turn.first for turn in found), len(blocks)]
    for number, turn in enumerate(found):
        between = slice(edges[number], edges[number + 2])
        if turn.sign > 0:
            marked[between] |= highest[between] >= ends[turn.first] - GUARD
        else:
            marked[between] |= lowest[between] <= ends[turn.first] + GUARD
    for number, (first, last) in enumerate(pairwise(edges)):
        between = slice(first, last)
        outside = number in (0, len(edges) - 2)
        rising = 0 < number <= len(found) and found[number - 1].sign < 0
        if outside or rising:
            marked[between] |= _ends_of_a_fall(highest[between], lowest[between], threshold)
        if outside or not rising:
            marked[between] |= _ends_of_a_fall(-lowest[between], -highest[between], threshold)
    return marked


def _ends_of_a_fall(highest: FloatArray, lowest: FloatArray, threshold: float) -> BoolArray:
    """Mark the blocks that could be either end of a fall by more than a threshold."""
    limit = threshold - GUARD
    to_come = np.minimum.accumulate(lowest[::-1])[::-1]
    gone_by = np.maximum.accumulate(highest)
    marked: BoolArray = (highest - to_come > limit) | (gone_by - lowest > limit)
    return marked
