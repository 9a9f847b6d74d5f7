"""What weights may depend on: never on the outcome, unless it is said how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secant.errors import Argument, InputError, Message

if TYPE_CHECKING:
    from secant._blocks.table import Blocks, Totals

__all__ = ["by_outcome"]

# Rows of either outcome from which on weights that are one number for each are no coincidence.
_ENOUGH = 10
# Relative error within which the squares of weights of one outcome are the same, and by how much
# the weights of the two outcomes must differ beyond it.
_GUARD = 1e-9
_APART = 1e-3


def by_outcome(blocks: Blocks, totals: Totals) -> tuple[str, ...]:
    """Refuse sampling weights that are one number for each outcome; warn where rows are few.

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
        return ()
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
