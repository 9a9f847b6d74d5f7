"""P-values of a few thousand rows of unequal weight, by the walk: upper bounds down to any size.

What an event adds to the path differs from row to row, so no lattice has all sums. Cells are chosen
so fine that it does not matter: a jump goes to the two cells nearest to it, in such shares that its
mean stays. That adds to the variance of the path, by a quarter of a cell squared a row at most, and
blurs what a path reaches; so barriers are nearer by what next to no path is moved by, and outcomes
that tie with the observed one count.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._inference.lattice import Laws, Run, absorbed_in_numpy, log10_share, rounded
from secant._inference.path import Coins, coins, compensated_sum, guarded, r_and_mad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.sorting import PathRows

__all__ = ["log10_pvalues"]

# Cells of the range: so many for all rows together, between these limits.
_CELLS = 5e6
_FEWEST, _MOST = 4_000, 500_000
# Cells that a walk may take inside a tie.
_WIDEST = 1 << 22
# Paths that rounding may move by more than barriers are nearer for it: a share of exp(-_BLUR).
_BLUR = 14.0
# What all of these may have been, as a decimal logarithm of P.
_LOST = math.log10(1.0 + 2.0 * math.exp(-_BLUR))


class _Rows(NamedTuple):
    """Random rows in order, and what they reach.

    ``tie`` numbers their ties; ``reached`` is the sum of chance x jump up to the end of each tie,
    and ``most`` the sum of jumps up to there.
    """

    chance: FloatArray
    jump: FloatArray
    tie: IntArray
    reached: FloatArray
    most: FloatArray
    range: float
    deviation: float


def log10_pvalues(
    pieces: Sequence[PathRows], outcome_weights: tuple[float, float] | None = None
) -> tuple[float, float] | None:
    """Return decimal logarithms of upper bounds of the P-values of ECCE-R and ECCE-MAD.

    None where that takes too many cells, because rows of one tie outweigh all others by far.

    Parameters
    ----------
    pieces
        All rows in the order of the path.
    outcome_weights
        What outcomes 0 and 1 weigh on top of weights.

    Examples
    --------
    >>> import numpy as np
    >>> from secant._blocks.sorting import PathRows
    >>> rows = PathRows(np.array([0.5, 0.6]), np.array([0, 0]), np.array([1.0, 3.0]))
    >>> r, mad = log10_pvalues([rows])  # two failures: P = 0.2
    >>> round(10**r, 4), round(10**mad, 4)
    (0.2, 0.2)
    """
    columns = zip(*(coins(piece, outcome_weights) for piece in pieces), strict=True)
    rows = _observed(Coins(*map(np.concatenate, columns)))
    if not len(rows.chance) or rows.range <= 0.0:
        r, mad = (0.0 if each <= 0.0 else -math.inf for each in (rows.range, rows.deviation))
        return r, mad
    within = np.bincount(rows.tie, rows.jump)[np.bincount(rows.tie) > 1].max(initial=0.0)
    most = min(_MOST, _WIDEST * rows.range / (rows.range + float(within)))
    if most < _FEWEST:
        return None
    cell = rows.range / min(max(_CELLS / len(rows.chance), _FEWEST), most)
    largest = float(rows.jump.max())
    cell = largest / math.ceil(largest / cell)  # equal jumps are whole numbers of cells
    down = rows._replace(chance=1.0 - rows.chance, reached=rows.most - rows.reached)
    runs = _run(rows, cell, rests=True), _run(down, cell, rests=True), _run(rows, cell, rests=False)
    rise, fall, band = (float(absorbed_in_numpy(run)[0]) for run in runs)
    r, mad = np.minimum(log10_share(np.array([rise + fall, band])) + _LOST, 0.0).tolist()
    return r, mad if rows.deviation > 0.0 else 0.0


def _observed(rows: Coins) -> _Rows:
    chance, jump = rows.chance, rows.jump
    ends = np.flatnonzero(rows.ends)
    certain = chance >= 1.0
    terms = np.where(certain, 0.0, jump * chance)
    happened = compensated_sum(np.where(certain, jump * rows.happened - jump, jump * rows.happened))
    x = (happened - compensated_sum(terms))[ends]
    span, deviation = guarded(r_and_mad(x), float(np.sum(jump))).tolist()
    random = (chance > 0.0) & ~certain
    # Ties in which nothing is random are left out.
    kept, tie = np.unique(np.searchsorted(ends, np.flatnonzero(random)), return_inverse=True)
    last = np.cumsum(random)[ends[kept]] - 1
    reached, most = (compensated_sum(each[random])[last] for each in (terms, jump))
    return _Rows(chance[random], jump[random], tie, reached, most, span, deviation)


def _run(rows: _Rows, cell: float, *, rests: bool) -> Run:
    """Describe a rise, or a walk between two barriers; barriers move at the ends of ties only."""
    place = rows.jump / cell
    above = place - np.floor(place)
    # Bernstein's inequality; and no jump is off by a cell.
    blurred = float((rows.chance * above * (1.0 - above)).sum())
    blur = math.sqrt(2.0 * _BLUR * blurred) + _BLUR / 3.0
    blur = min(blur, float(np.ceil(above).sum())) + 1e-6
    chances = np.stack([1.0 - rows.chance, rows.chance], axis=1)
    reached = rows.reached / cell
    # Inside a tie it only goes up: who is beyond the barrier of its end is so at the end.
    ends = np.append(rows.tie[1:] != rows.tie[:-1], True)
    after = np.where(ends, reached[rows.tie], np.append(0.0, reached)[rows.tie])
    reach = (rows.range if rests else rows.deviation) / cell - blur
    low, high = after if rests else after - reach, reached[rows.tie] + reach
    steps = len(place)
    places = np.stack([np.zeros(steps), place], axis=1).reshape(-1)
    laws = Laws(
        2 * np.arange(steps + 1), places, chances.reshape(-1, 1), np.zeros((steps, 1), np.int64)
    )
    return rounded(laws, low[:, None], high[:, None], rests=rests)
