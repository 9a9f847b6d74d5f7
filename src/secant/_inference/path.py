"""Paths of cumulative differences: their sums, how far they go, and what is as extreme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray
    from secant._blocks.sorting import PathRows

__all__ = ["Coins", "coins", "compensated_sum", "guarded", "r_and_mad"]


class Coins(NamedTuple):
    """Rows in the order of the path, each of which moves it by a jump with a chance, or not.

    ``happened`` tells whether it did, ``ends`` which rows are the last of their ties.
    """

    chance: FloatArray
    jump: FloatArray
    happened: BoolArray
    ends: BoolArray


def coins(rows: PathRows, outcome_weights: tuple[float, float] | None) -> Coins:
    """Return the coins that rows are.

    Where outcomes 0 and 1 weigh o0 and o1 on top of weights, rows were kept with chances in
    proportion to 1 / o0 and 1 / o1. A row of weight a and score s that was kept is an event with
    the chance o0 s / D, where D = o1 (1 - s) + o0 s, and its jump is a D.
    """
    scores = np.asarray(rows.scores, np.float64)
    ends = np.append(scores[1:] != scores[:-1], True)[: len(scores)]
    if rows.ends is not None:
        ends = np.bincount(rows.ends, minlength=len(scores)) > 0
    chance, jump = scores, np.ones(len(scores))
    if rows.weights is not None:
        jump = np.asarray(rows.weights, np.float64)
    if outcome_weights is not None:
        o0, o1 = outcome_weights
        longer = o1 * (1.0 - scores) + o0 * scores
        chance, jump = o0 * scores / longer, jump * longer
    return Coins(chance, jump, rows.labels == 1, ends)


def r_and_mad(paths: FloatArray) -> FloatArray:
    """Return range and largest absolute value of paths, a row each, the start at 0 included."""
    highest, lowest = paths.max(axis=-1, initial=0.0), paths.min(axis=-1, initial=0.0)
    return np.stack([highest - lowest, np.maximum(highest, -lowest)], axis=-1)


def guarded(reach: Any, expected: Any) -> Any:
    """Return what is as extreme as ``reach`` where so much is expected, numbers or arrays."""
    return reach - (1e-12 * reach + 4.0 * np.spacing(expected))


def compensated_sum(terms: FloatArray) -> FloatArray:
    """Return the prefix sums, each as if added in twice the precision and rounded once."""
    sums: FloatArray = np.cumsum(terms, axis=0)
    before = np.concatenate([np.zeros_like(sums[:1]), sums[:-1]])
    # What each addition rounded off, exactly (Knuth).
    share = sums - before
    lost = (before - (sums - share)) + (terms - share)
    sums += np.cumsum(lost, axis=0)
    return sums
