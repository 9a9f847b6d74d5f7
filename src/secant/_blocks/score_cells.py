"""Some hundred cells of scores, the same ones wherever the scores are.

A cell is a range of scores whose ends are fixed numbers, not quantiles of the data: an array, a
file and an engine cut alike. Cells are 2^-bits wide; near 0 and near 1, where rare events and
confident classifiers crowd their scores, they are narrower in three steps. Coarser cells are made
of whole finer ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray

__all__ = ["BITS", "MOST_CELLS", "ZONES", "CellFinder", "anchors", "finest"]

# Cells at which the paths of segments are read, at most.
MOST_CELLS = 256
# How finely scores may be cut, the finest first.
BITS = tuple(range(30, 0, -1))
# From the first score up to the second (and as far from 1) cells are 2^-more as wide as elsewhere.
ZONES = ((0.0, 2.0**-15, 13), (2.0**-15, 2.0**-10, 8), (2.0**-10, 2.0**-5, 3))


def anchors(scores: FloatArray, bits: int) -> FloatArray:
    """Return the end of each score's cell: the lower one, near 1 the upper one."""
    from_one = 1.0 - scores  # exact above one half
    found = np.maximum(np.floor(scores * 2.0**bits) * 2.0**-bits, ZONES[-1][1])
    for start, stop, more in reversed(ZONES):
        unit = 2.0 ** (bits + more)
        for distance, sign in ((scores, 1.0), (from_one, -1.0)):
            near = np.flatnonzero(distance < stop)
            end = np.maximum(np.floor(distance[near] * unit) / unit, start)
            found[near] = end if sign > 0 else 1.0 - end
    return found


class CellFinder:
    """Finds how finely scores can be cut so that no more than ``most`` cells hold any."""

    def __init__(self, most: int, bits: int = BITS[0]) -> None:
        self._most = most
        self._place = BITS.index(bits)
        self._seen = np.empty(0)

    def add(self, scores: FloatArray) -> None:
        """Take in scores, all in [0, 1]."""
        self._seen = np.union1d(self._seen, anchors(scores, self.bits))
        while self._seen.size > self._most and self._place < len(BITS) - 1:
            self._place += 1
            self._seen = np.unique(anchors(self._seen, self.bits))

    @property
    def bits(self) -> int:
        """How finely scores are cut."""
        return BITS[self._place]

    @property
    def anchors(self) -> FloatArray:
        """The cells that hold scores, in ascending order."""
        return self._seen


def finest(scores: FloatArray, most: int) -> tuple[FloatArray, IntArray]:
    """Cut scores into at most so many cells; return the cells, and the number of each score's."""
    finder = CellFinder(most)
    finder.add(scores[:: -(-scores.size // 4096)])  # finds most of what there is to be found
    finder.add(scores)
    return finder.anchors, np.searchsorted(finder.anchors, anchors(scores, finder.bits))
