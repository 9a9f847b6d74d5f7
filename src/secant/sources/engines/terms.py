"""What is summed in every cell of every question, in terms that do not depend on its order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from secant.sources.engines.expressions import (
    BITS,
    LABEL,
    SCORE,
    VANISHING,
    WEIGHT,
    number_if,
    rounded,
    square,
    times,
)

if TYPE_CHECKING:
    from secant._input.options import WeightKind
    from secant.sources.engines.queries import Ask

__all__ = ["SAID", "USABLE", "shifted", "terms"]

_HAPPENED = LABEL == 1
USABLE = nw.col("fault") == 0
_IMPOSSIBLE = ((SCORE == 0) & _HAPPENED) | ((SCORE == 1) & ~_HAPPENED)
# What was said of the outcome; 1 where its logarithm is not wanted, since an engine may refuse to
# compute one that it does not use.
SAID = (
    nw.when(USABLE & ~_IMPOSSIBLE)
    .then(nw.when(_HAPPENED).then(SCORE).otherwise(1 - SCORE))
    .otherwise(nw.lit(1.0))
)
# Leading bits of a weight: the sum of up to 2^29 such numbers of about one size is exact.
_WEIGHT_BITS = 24
# No score that is not 0 has a larger logarithm.
_MOST_LOSS = 745.2
_LEAST_LOSS = 1e-290


def terms(
    ask: Ask, weight_kind: WeightKind | None, outcome_weights: tuple[float, float] | None
) -> dict[str, nw.Expr]:
    """Return what is summed in every cell, by name; of ``step`` it is the largest that is wanted.

    Distances of scores from anchors are in column ``d``, those of shifted scores in ``dq``, and
    the logarithm of what was said of the outcome in ``log_said``.
    """
    o0, o1 = outcome_weights or (1.0, 1.0)
    found = {"n1": number_if(_HAPPENED)}
    if ask.checks:
        found |= {"forbidden": number_if(_IMPOSSIBLE), "minus": number_if(LABEL == -1)}
    if ask.totals:
        found["log_loss"] = _log_loss(weight_kind, o0, o1)
    masses: dict[str, nw.Expr | None] = {"w": None if weight_kind is None else WEIGHT}
    if weight_kind == "sampling" and ask.moments:
        masses["ww"] = WEIGHT * WEIGHT
    by_outcome = outcome_weights is not None
    for name, weight in masses.items():
        found |= _of_mass(name, weight, ask, by_outcome=by_outcome)
    if weight_kind == "sampling" or by_outcome:
        up, down = (1 - SCORE) * o1, times(nw.lit(o0), SCORE)
        if ask.third:
            found["third"] = _third(weight_kind, o0, o1, up + down)
        if ask.totals:
            step = nw.when(up >= down).then(up).otherwise(down)
            found["step"] = step * WEIGHT if weight_kind == "sampling" else step
    return found


def shifted(score: nw.Expr, shift: float) -> nw.Expr:
    """Return the score whose logit is larger by so much; 0 and 1 stay what they are."""
    # An engine may refuse products that are too small for a double.
    odds = number_if(score >= _LEAST_LOSS, score) * math.exp(shift)
    found: nw.Expr = odds / ((1 - score) + odds)
    return found


def _of_mass(
    name: str, weight: nw.Expr | None, ask: Ask, *, by_outcome: bool
) -> dict[str, nw.Expr]:
    """Return a weight in two parts, of all rows and of events, and its products with distances."""
    found: dict[str, nw.Expr] = {}
    if weight is not None:
        leading = rounded(weight, BITS - _WEIGHT_BITS)
        for part, value in (("", leading), ("_rest", weight - leading)):
            found |= {f"{name}{part}": value, f"{name}1{part}": number_if(_HAPPENED, value)}
    if not ask.ties:
        found |= _distances(name, weight, "d", moments=ask.moments, by_outcome=by_outcome)
    if ask.shift and not ask.ties:
        found |= _distances(f"{name}q", weight, "dq", moments=True, by_outcome=by_outcome)
    return found


def _distances(
    name: str, weight: nw.Expr | None, column: str, *, moments: bool, by_outcome: bool
) -> dict[str, nw.Expr]:
    """Return products of a weight with distances and their squares, of all rows and of events."""
    d = nw.col(column)
    first = d if weight is None else times(weight, d)
    found = {f"{name}d": first, f"{name}1d": number_if(_HAPPENED, first)}
    if moments:
        found[f"{name}dd"] = square(d, weight)
    if moments and by_outcome:
        found[f"{name}1dd"] = number_if(_HAPPENED, square(d, weight))
    return found


def _log_loss(weight_kind: WeightKind | None, o0: float, o1: float) -> nw.Expr:
    """Minus the logarithm of what was said of the outcome, where that was not impossible."""
    loss = 0 - nw.col("log_said")
    # What rounding took from 1 - s is all there is of a score of 1e-20; what is near
    # the smallest doubles cannot be divided, which an engine may refuse.
    is_little = USABLE & ~_HAPPENED & (SCORE >= _LEAST_LOSS)
    loss = loss + number_if(is_little, SCORE - (1 - (1 - SCORE)))
    if o0 != o1:
        loss = loss * nw.when(_HAPPENED).then(nw.lit(o1)).otherwise(nw.lit(o0))
    return loss if weight_kind is None else times(WEIGHT, loss / _MOST_LOSS) * _MOST_LOSS


def _third(weight_kind: WeightKind | None, o0: float, o1: float, both: nw.Expr) -> nw.Expr:
    """Return what bounds the third absolute moments of steps, in units of the larger weight."""
    third = SCORE * (1 - SCORE)
    if o0 != o1:
        # In these units it stays within [0, 1] as times() asks.
        third = times((o0 + o1 - o0 * o1 / both) / max(o0, o1), third)
    if weight_kind == "sampling":
        twice = times(WEIGHT * WEIGHT, third)
        return number_if(twice >= VANISHING, twice * WEIGHT)
    return third if weight_kind is None else times(WEIGHT, third)
