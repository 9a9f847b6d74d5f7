"""Sums that an engine returned, as blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._blocks.table import (
    STEPS,
    Blocks,
    Moments,
    Totals,
    by_outcome,
    completed,
    largest_steps,
)
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from secant._base.types import FloatArray, NumberArray
    from secant._input.options import WeightKind

__all__ = ["blocks_of", "totals_of"]


class _Mass(NamedTuple):
    """Weights in each cell, of all rows and of those that happened, and what follows from them."""

    all: FloatArray
    happened: FloatArray
    down: FloatArray
    up: FloatArray
    variance: FloatArray
    # The part of the variance that is of rows that happened, where outcomes have weights.
    variance1: FloatArray

    def weighed(self, o0: float, o1: float) -> FloatArray:
        """Return the sum of w s(1 - s) where outcomes have these weights."""
        if o0 == o1:
            return self.variance
        return np.maximum(o0 * (self.variance - self.variance1), 0) + o1 * self.variance1

    def squared_error(self, o0: float, o1: float) -> float:
        """Return the sum of w (r - s)^2, in which (r - s)^2 = |r - s| - s(1 - s)."""
        residuals = o0 * math.fsum(self.down) + o1 * math.fsum(self.up)
        return max(residuals - math.fsum(self.weighed(o0, o1)), 0.0)


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
    dd1 = distance(f"{name}1dd") if f"{name}1dd" in sums else dd

    def variance(mass: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        # s(1 - s) around the anchor a: a(1 - a) + (1 - 2a)(s - a) - (s - a)^2
        found = mass * (anchor * (1 - anchor)) + (1 - 2 * anchor) * first - second
        return np.asarray(np.maximum(found, 0))

    return _Mass(
        all=whole,
        happened=happened,
        down=np.maximum(rest * anchor + (d - d1), 0),
        up=np.maximum(happened * (1 - anchor) - d1, 0),
        variance=variance(whole, d, dd),
        variance1=variance(happened, d1, dd1),
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
    o0, o1 = outcome_weights or (1, 1)
    ww0: NumberArray = np.maximum(square.all - square.happened, 0) if weighted else n - n1
    ww1: NumberArray = square.happened if weighted else n1
    blocks = Blocks(
        low=sums["low"],
        high=sums["high"],
        n0=n - n1,
        n1=n1,
        w0=np.maximum(weight.all - weight.happened, 0) if weighted else n - n1,
        w1=weight.happened if weighted else n1,
        down=weight.down,
        up=weight.up,
        moments=Moments(
            wv=weight.weighed(o0, o1),
            variance=o0 * o1 * square.variance,
            ww0=np.asarray(o0 * o0 * ww0, np.float64),
            ww1=np.asarray(o1 * o1 * ww1, np.float64),
        ),
    )
    return by_outcome(blocks, outcome_weights)


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
        return completed(Totals(n, n, n, variance, 0.0, log_loss=log_loss), blocks)
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
