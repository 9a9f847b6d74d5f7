"""What weights may depend on: never on the outcome, unless it is said how."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from secant.errors import Argument, InputError, Message

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, NumberArray
    from secant._blocks.table import Blocks, Totals

__all__ = ["refuse_outcome_weights"]

# Rows of either outcome from which on weights that are one number for each are no coincidence.
_ENOUGH = 10
# Relative error within which the squares of weights of one outcome are the same, and by how much
# the weights of the two outcomes must differ beyond it.
_GUARD = 1e-9
_APART = 1e-3
# Ranges of equal weight in which weights are compared, rows that are compared with each other at
# least, and the chance below which weights that differ there are no coincidence.
_RANGES = 16
_TOGETHER = 32
_UNLIKELY = 1e-6


def refuse_outcome_weights(blocks: Blocks, totals: Totals) -> tuple[str, ...]:
    """Refuse sampling weights that are one number for each outcome; warn where that is less sure.

    Such weights undo that rows were kept, or weighted in training, by their outcome. As sampling
    weights they make P-values and limits wrong in both directions.

    Returns
    -------
    tuple of str
        A line of warning, or nothing.

    Raises
    ------
    InputError
        If there are at least ten rows of each outcome.
    """
    if totals.equal_weights or totals.outcome_weights is not None or totals.ww1 is None:
        return ()
    n0, n1, w0, w1 = (float(c.sum()) for c in (blocks.n0, blocks.n1, blocks.w0, blocks.w1))
    if min(n0, n1) < 2 or not (  # two are the fewest that can agree
        _all_the_same(n0, w0, totals.ww - totals.ww1) and _all_the_same(n1, w1, totals.ww1)
    ):
        return _where_they_differ(blocks)
    weights = w0 / n0, w1 / n1
    low = min(weights)
    if max(weights) <= low * (1 + _APART):  # they hardly vary at all
        return ()
    ratio = f"{weights[0] / low:.6g}, {weights[1] / low:.6g}"
    said = (
        Argument("sample_weight"),
        f" is one number for each outcome (in the ratio {ratio}), so it depends on what happened",
    )
    ways = Message(
        "; if rows were kept by outcome, leave it out and pass ",
        Argument("outcome_weights"),
        f" {ratio}; if these are class weights of training, leave them out",
    )
    if min(n0, n1) >= _ENOUGH:
        raise InputError(*said, ": P-values and limits would be wrong", hint=ways)
    return (Message(*said, ", and P-values and limits may be wrong", *ways.parts, "."),)


def _all_the_same(n: float, w: float, ww: float) -> bool:
    """Tell whether n weights are equal, from their sum and that of their squares (Cauchy)."""
    return ww * n <= w * w * (1 + _GUARD)


def _where_they_differ(blocks: Blocks) -> tuple[str, ...]:
    """Say where weights of the two outcomes differ, in ranges of scores or else altogether.

    Rows next to each other form a group, and events there are expected to weigh what its rows weigh
    on average. What they weigh beyond that adds up over groups: independent terms, so Bernstein's
    inequality bounds the chance of such a sum, however heavy single weights are. Weights that
    follow the scores weigh a little more for events, as chances rise within a group: the most that
    this can be is taken off first.
    """
    if blocks.moments is None or blocks.least is not None:
        return ()
    before = np.cumsum(blocks.n) - blocks.n
    starts = np.flatnonzero(np.diff(before // _TOGETHER, prepend=-1))
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(blocks)))

    def total(column: NumberArray) -> FloatArray:
        return np.add.reduceat(column.astype(np.float64), starts)

    n, n1, w, w1 = map(total, (blocks.n, blocks.n1, blocks.weight, blocks.w1))
    low, high = blocks.low[starts], np.maximum.reduceat(blocks.high, starts)
    mean = (w / n)[group]
    # The squares of what weights in each block differ from those of their group by.
    apart = blocks.moments.ww - mean * (2 * blocks.weight - blocks.n * mean)
    apart = np.maximum(apart, _GUARD * blocks.moments.ww)
    spread = total(apart)
    alone = (n1 == 0) | (n1 == n)
    excess, owed, variance, largest = np.where(
        alone,
        0.0,
        [
            w1 - w * n1 / n,
            np.sqrt(n * spread) * (high - low) / 2,
            spread * n1 * (n - n1) / np.maximum(n * (n - 1), 1),
            np.sqrt(np.maximum.reduceat(apart, starts)),
        ],
    )
    place = np.minimum((np.cumsum(w) - w / 2) * (_RANGES / w.sum()), _RANGES - 1).astype(np.int64)
    enough = math.log(2 * (_RANGES + 1) / _UNLIKELY)

    def differ(here: BoolArray) -> bool:
        more = max(abs(float(excess[here].sum())) - float(owed[here].sum()), 0.0)
        noise = float(variance[here].sum()) + more * float(largest[here].max(initial=0.0)) / 3
        return more * more > 2 * enough * noise

    numbers = [number for number in range(_RANGES) if differ(place == number)]
    found = np.isin(place, numbers)
    if not numbers:
        if not differ(~found):
            return ()
        found = ~found
    of_events = float(w1[found].sum() / n1[found].sum())
    of_others = float((w - w1)[found].sum() / (n - n1)[found].sum())
    said = (
        f" is {of_events:.4g} on average where it happened and {of_others:.4g} where it did not, "
        f"among scores from {low[found].min():.4g} to {high[found].max():.4g}, which chance does "
        f"not explain (P < 1e{math.log10(_UNLIKELY):.0f}): "
        "if weights depend on what happened, P-values and limits are wrong."
    )
    return (Message(Argument("sample_weight"), said),)
