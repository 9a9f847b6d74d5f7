"""Sums that an engine returned, as blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._blocks.table import STEPS, Spread, Totals, from_sums, largest_steps
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from secant._base.types import FloatArray
    from secant._blocks.table import Blocks
    from secant._input.options import WeightKind

__all__ = ["blocks_of", "totals_of"]


class _Mass(NamedTuple):
    """Weights in each cell, of all rows and of those that happened, and what follows from them."""

    all: FloatArray
    happened: FloatArray
    down: FloatArray
    up: FloatArray
    variance: FloatArray
    # The variance by outcome: all of it first, where outcomes have no weights.
    variances: tuple[FloatArray, FloatArray]

    def squared_error(self, o0: float, o1: float) -> float:
        """Return the sum of w (r - s)^2, in which (r - s)^2 = |r - s| - s(1 - s)."""
        residuals = o0 * math.fsum(self.down) + o1 * math.fsum(self.up)
        v0, v1 = map(math.fsum, self.variances)
        return max(residuals - (o0 * v0 + o1 * v1), 0.0)


def _mass(sums: Mapping[str, FloatArray], name: str) -> _Mass:
    """Turn distances from anchors into sums over scores; a tie has no distances."""
    tie = sums["low"] == sums["high"]
    anchor = np.where(tie, sums["low"], sums["anchor"])

    def distance(column: str) -> FloatArray:
        return np.where(tie, 0.0, sums[column])

    if name in sums:
        whole = sums[name] + sums[f"{name}_rest"]
        happened = sums[f"{name}1"] + sums[f"{name}1_rest"]
    else:
        whole, happened = sums["rows"], sums["n1"]
    rest = np.maximum(whole - happened, 0)
    d, d1, dd = distance(f"{name}d"), distance(f"{name}1d"), distance(f"{name}dd")

    def variance(mass: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        # s(1 - s) around the anchor a: a(1 - a) + (1 - 2a)(s - a) - (s - a)^2
        found = mass * (anchor * (1 - anchor)) + (1 - 2 * anchor) * first - second
        return np.asarray(np.maximum(found, 0))

    every = variance(whole, d, dd)
    of_events = np.zeros_like(every)
    if f"{name}1dd" in sums:
        of_events = variance(happened, d1, distance(f"{name}1dd"))
    return _Mass(
        all=whole,
        happened=happened,
        down=np.maximum(rest * anchor + (d - d1), 0),
        up=np.maximum(happened * (1 - anchor) - d1, 0),
        variance=every,
        variances=(np.maximum(every - of_events, 0), of_events),
    )


def blocks_of(
    sums: Mapping[str, FloatArray],
    weight_kind: WeightKind | None,
    outcome_weights: tuple[float, float] | None = None,
) -> Blocks:
    """Return the cells of one group as blocks, with moments.

    Raises
    ------
    SecantError
        If cells overlap: the engine does not compute as IEEE 754 prescribes.
    """
    order = np.argsort(sums["low"], kind="stable")
    sums = {name: column[order] for name, column in sums.items()}
    if (sums["high"][:-1] >= sums["low"][1:]).any():
        msg = "cells that the engine returned overlap: it does not compute with doubles (IEEE 754)"
        raise SecantError(msg)
    weight = _mass(sums, "w")
    counted, weighted = weight_kind == "frequency", weight_kind == "sampling"
    n = (weight.all if counted else sums["rows"]).astype(np.int64)
    n1 = (weight.happened if counted else sums["n1"]).astype(np.int64)
    square = _mass(sums, "ww") if weighted else weight

    def by_outcome(mass: _Mass) -> tuple[FloatArray, FloatArray]:
        return np.maximum(mass.all - mass.happened, 0), mass.happened

    squares = (square.variance, by_outcome(square)) if weighted else ()
    return from_sums(
        sums["low"],
        sums["high"],
        (n - n1, n1),
        (weight.down, weight.up),
        weights=by_outcome(weight) if weighted else None,
        spread=Spread(weight.variances, *squares),
        outcome_weights=outcome_weights,
    )


def totals_of(
    sums: Mapping[str, FloatArray],
    blocks: Blocks,
    weight_kind: WeightKind | None,
    outcome_weights: tuple[float, float] | None = None,
) -> Totals:
    """Return the sums over a group, from those of its cells."""
    moments = blocks.moments
    assert moments is not None  # noqa: S101
    n = int(blocks.n.sum())
    variance = math.fsum(moments.variance)
    log_loss = math.inf if sums["forbidden"].any() else max(math.fsum(sums["log_loss"]), 0.0)
    if weight_kind != "sampling" and outcome_weights is None:
        return Totals(n, n, n, variance, 0.0, log_loss=log_loss).completed(blocks)
    o0, o1 = outcome_weights or (1.0, 1.0)
    weight = _mass(sums, "w")
    square = _mass(sums, "ww") if weight_kind == "sampling" else weight
    third = math.fsum(sums["third"])
    return Totals(
        n=n,
        weight=math.fsum(blocks.weight),
        ww=math.fsum(moments.ww),
        variance=variance,
        squares=square.squared_error(o0 * o0, o1 * o1),
        ww1=math.fsum(moments.ww1),
        third=third if outcome_weights is None else third * o0 * o1 * max(o0, o1),
        squared_error=weight.squared_error(o0, o1),
        log_loss=log_loss,
        steps=_steps(sums, blocks, square.all * max(o0, o1) ** 2),
        outcome_weights=outcome_weights,
    )


def _steps(
    sums: Mapping[str, FloatArray], blocks: Blocks, squares: FloatArray
) -> tuple[float, ...]:
    """Return bounds of the twelve largest possible steps.

    Of a cell the largest is known, how many there are, and a bound of their squares' sum. So the
    k-th of them is at most the root of 1/(k - 1) of what the largest leaves.
    """
    copies = np.sort(sums["low"])  # blocks are in this order
    n = blocks.n[np.searchsorted(copies, sums["low"])]
    found = []
    for cell in np.argsort(sums["largest"])[-STEPS:]:
        largest = float(sums["largest"][cell])
        rest = max(float(squares[cell]) - largest**2, 0.0)
        more = range(1, min(int(n[cell]), STEPS))
        found.append([largest, *(min(largest, math.sqrt(rest / k)) for k in more)])
    return largest_steps(*found)
