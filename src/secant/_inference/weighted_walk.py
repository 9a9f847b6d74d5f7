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

from secant._inference.lattice import Run, absorbed_in_numpy, log10_share
from secant._inference.path import compensated_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import FloatArray, IntArray, NumberArray
    from secant._blocks.sorting import PathRows

__all__ = ["MOST_ROWS", "jumps", "log10_pvalues"]

# Rows up to which this is quicker than drawing.
MOST_ROWS = 5_000
# Cells of the range: so many for all rows together, between these limits.
_CELLS = 5e6
_FEWEST, _MOST = 4_000, 500_000
# Cells that a walk may take inside a tie.
_WIDEST = 1 << 22
# Paths that rounding may move by more than barriers are nearer for it: a share of exp(-_BLUR).
_BLUR = 14.0
# What all of these may have been, as a decimal logarithm of P.
_LOST = math.log10(1.0 + 2.0 * math.exp(-_BLUR))


def jumps(
    scores: FloatArray, weights: FloatArray, outcome_weights: tuple[float, float] | None
) -> tuple[FloatArray, FloatArray]:
    """Return the chance of an event in rows that were kept, and what it adds to the path."""
    if outcome_weights is None:
        return scores, weights
    o0, o1 = outcome_weights
    longer = o1 * (1.0 - scores) + o0 * scores
    return o0 * scores / longer, weights * longer


class _Rows(NamedTuple):
    """Random rows in order, and what they reach.

    ``end`` marks the last rows of ties; ``reached`` is the sum of chance x jump up to the end of
    the last tie that ended at a row or before it, and ``most`` the sum of jumps up to there.
    """

    chance: FloatArray
    jump: FloatArray
    end: NumberArray
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
    scores = np.concatenate([piece.scores for piece in pieces])
    labels = np.concatenate([piece.labels for piece in pieces])
    weights = np.ones_like(scores)
    if pieces[0].weights is not None:
        weights = np.concatenate([piece.weights for piece in pieces])
    start, ends = 0, []
    for piece in pieces:
        new = np.append(piece.scores[1:] != piece.scores[:-1], True)
        ends.append(start + (np.flatnonzero(new) if piece.ends is None else piece.ends))
        start += len(piece.scores)
    rows = _observed(*jumps(scores, weights, outcome_weights), labels, np.concatenate(ends))
    if not len(rows.chance) or rows.range <= 0.0:
        r, mad = (0.0 if each <= 0.0 else -math.inf for each in (rows.range, rows.deviation))
        return r, mad
    tie = np.cumsum(rows.end) - rows.end
    within = np.bincount(tie, rows.jump)[np.bincount(tie) > 1].max(initial=0.0)
    most = min(_MOST, _WIDEST * rows.range / (rows.range + float(within)))
    if most < _FEWEST:
        return None
    cell = rows.range / min(max(_CELLS / len(rows.chance), _FEWEST), most)
    largest = float(rows.jump.max())
    cell = largest / math.ceil(largest / cell)  # equal jumps are whole numbers of cells
    up, down = rows, rows._replace(chance=1.0 - rows.chance, reached=rows.most - rows.reached)
    runs = [_run(up, cell, rests=True), _run(down, cell, rests=True), _run(up, cell, rests=False)]
    rise, fall, band = (float(absorbed_in_numpy(run)[0]) for run in runs)
    r, mad = np.minimum(log10_share(np.array([rise + fall, band])) + _LOST, 0.0).tolist()
    return r, mad if rows.deviation > 0.0 else 0.0


def _observed(chance: FloatArray, jump: FloatArray, labels: NumberArray, ends: IntArray) -> _Rows:
    certain = chance >= 1.0
    terms = np.where(certain, 0.0, jump * chance)
    reached = compensated_sum(terms)[ends]
    happened = compensated_sum(np.where(certain, jump * labels - jump, jump * labels))[ends]
    x = happened - reached
    top, bottom = max(float(x.max()), 0.0), min(float(x.min()), 0.0)
    guard = 4.0 * float(np.spacing(np.sum(jump)))
    span, deviation = (each * (1.0 - 1e-12) - guard for each in (top - bottom, max(top, -bottom)))
    random = (chance > 0.0) & ~certain
    last = np.cumsum(random)[ends] - 1
    end = np.zeros(int(random.sum()), bool)
    end[last[last >= 0]] = True
    # Of ties that share their last random row nothing moves in all but the first.
    tie = np.cumsum(end) - end
    at_end = compensated_sum(terms[random])[end]
    most = compensated_sum(jump[random])[end]
    before, most_before = (np.append(0.0, each)[tie] for each in (at_end, most))
    return _Rows(
        chance[random],
        jump[random],
        end,
        np.where(end, at_end[tie], before),
        np.where(end, most[tie], most_before),
        span,
        deviation,
    )


def _run(rows: _Rows, cell: float, *, rests: bool) -> Run:
    """Describe a rise, or a walk between two barriers; barriers move at the ends of ties only."""
    place = rows.jump / cell
    whole = np.floor(place)
    above = place - whole
    # Bernstein's inequality; and no jump is off by a cell.
    blurred = float((rows.chance * above * (1.0 - above)).sum())
    blur = math.sqrt(2.0 * _BLUR * blurred) + _BLUR / 3.0
    blur = min(blur, float(np.ceil(above).sum())) + 1e-6
    chances = np.stack(
        [1.0 - rows.chance, rows.chance * (1.0 - above), rows.chance * above], axis=1
    )
    after = rows.reached / cell
    before = np.append(0.0, after[:-1])
    reach = (rows.range if rests else rows.deviation) / cell - blur
    low = np.floor(after if rests else after - reach).astype(np.int64)
    # Inside a tie it only goes up: who is beyond the barrier of its end is so at the end.
    tie = np.cumsum(rows.end) - rows.end
    high = np.maximum(np.ceil((after + reach)[rows.end][tie]).astype(np.int64), low + 1)
    # From wherever they start, so short a move ends below, and so long a one beyond the barrier.
    first = np.maximum(low - np.append(1, high[:-1]) - 1, 0)
    longest = np.maximum(high - np.append(-1, low[:-1]), first)
    whole = np.clip(whole, first, longest).astype(np.int64) - first
    places = np.stack([np.zeros_like(whole), whole, whole + 1], axis=1)
    hold, door = np.floor(after - before).astype(np.int64), np.ceil(before).astype(np.int64)
    return Run(
        np.arange(len(whole) + 1) * 3,
        places.ravel(),
        chances.reshape(-1, 1),
        first[:, None],
        low[:, None],
        high[:, None],
        hold[:, None] if rests else None,
        door[:, None] if rests else None,
    )
