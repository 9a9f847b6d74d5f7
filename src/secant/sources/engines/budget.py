"""How much leaves an engine: what comes back is counted, and what more may come follows from it.

Rows themselves, and the distinct scores that finite-sample P-values need, leave it only while
everything that has come back stays within :data:`LEAVE` rows. What is left decides how finely
scores are cut. Sums that an exact answer cannot do without come back in any case: about as many as
the square root of the number of rows times that of groups, which exceeds the limit only for very
many of both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

__all__ = ["LEAVE", "Budget", "first_bits", "smallest_first"]

# Rows that may leave an engine for one assessment.
LEAVE = 100_000
# What a look may bring in any case, for sums that are needed and for questions asked later; of many
# groups more, since each further pass over the data costs more than they do.
LEAST = 1 << 15
LEAST_A_GROUP = 400
# The first cells of a table without groups are 2^-14 wide.
CELL_BITS = 14
# In groups a cell holds eight rows on average, or more where all cells together would be too many.
ROWS_A_CELL = 8
FIRST_CELLS = 40_000
# Rows of a group up to which its sums come back by score at once, where rows weigh the same: its
# P-value needs every score, and looking twice would bring more.
TIES_UP_TO = 300
# Cells for the square root of the rows: many pay where few rows are then left to look into.
MANY_CELLS, FEW_CELLS = 4, 2
# Of what is left: what groups that need all their rows may take, where not all of them fit.
_GRANTED = 0.6


class Budget:
    """What has left an engine so far, and what still may."""

    def __init__(self) -> None:
        self.brought = 0
        self.groups = 1

    @property
    def left(self) -> int:
        """Rows that may still leave."""
        return max(LEAVE - self.brought, 0)

    @property
    def room(self) -> int:
        """Rows that the next look may bring."""
        if self.left >= LEAST:
            return self.left
        return max(LEAST, min(LEAST_A_GROUP * self.groups, LEAVE))

    def cells(self, rows: int, groups: int) -> int:
        """Return how many cells to cut so many rows of so many groups into."""
        return max(self.room // 3, MANY_CELLS * math.isqrt(rows * groups))

    def fitting(self, sizes: Mapping[int, int]) -> Collection[int]:
        """Return the groups all of whose rows may leave: all, or as many small ones as fit."""
        if sum(sizes.values()) <= self.left:
            return sizes.keys()
        return smallest_first(sizes, _GRANTED * self.left)


def smallest_first(sizes: Mapping[int, int], most: float) -> Collection[int]:
    """Return as many of the groups as fit together, the smallest first."""
    fitting, total = set(), 0
    for number in sorted(sizes, key=lambda number: (sizes[number], number)):
        total += sizes[number]
        if total > most:
            break
        fitting.add(number)
    return fitting


def first_bits(sizes: Iterable[int], groups: int) -> int:
    """Return the bits of the first cells of some groups of these sizes, of so many in all."""
    sizes = list(sizes)
    mean = sum(sizes) / len(sizes)
    wanted = mean / ROWS_A_CELL
    cells = min(wanted, max(FIRST_CELLS / groups, FEW_CELLS * math.sqrt(mean)))
    return max(1, min(CELL_BITS, int(math.log2(max(cells, 1)))))
