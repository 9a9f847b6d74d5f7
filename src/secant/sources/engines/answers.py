"""Sums that an engine returned, as blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._blocks.table import Blocks, Moments, Totals
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from secant._base.types import FloatArray
    from secant._input.options import WeightKind

__all__ = ["blocks_of", "totals_of"]


class _Mass(NamedTuple):
    """Weights in each cell, of all rows and of those that happened, and what follows from them."""

    all: FloatArray
    happened: FloatArray
    down: FloatArray
    up: FloatArray
    variance: FloatArray


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
    return _Mass(
        all=whole,
        happened=happened,
        down=np.maximum(rest * anchor + (d - d1), 0),
        up=np.maximum(happened * (1 - anchor) - d1, 0),
        # s(1 - s) around the anchor a: a(1 - a) + (1 - 2a)(s - a) - (s - a)^2
        variance=np.maximum(whole * (anchor * (1 - anchor)) + (1 - 2 * anchor) * d - dd, 0),
    )


def blocks_of(sums: Mapping[str, FloatArray], weight_kind: WeightKind | None) -> Blocks:
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
    return Blocks(
        low=sums["low"],
        high=sums["high"],
        n0=n - n1,
        n1=n1,
        w0=np.maximum(weight.all - weight.happened, 0) if weighted else n - n1,
        w1=weight.happened if weighted else n1,
        down=weight.down,
        up=weight.up,
        moments=Moments(weight.variance, square.variance, square.all if weighted else n),
    )


def totals_of(
    sums: Mapping[str, FloatArray], blocks: Blocks, weight_kind: WeightKind | None
) -> Totals:
    """Return the sums over a group, from those of its cells."""
    moments = blocks.moments
    assert moments is not None  # noqa: S101
    n = int(blocks.n.sum())
    wwv = math.fsum(moments.wwv)
    if weight_kind != "sampling":
        # Every observation counts once, and none has more variance than a quarter.
        return Totals(n, n, n, wwv, math.fsum(blocks.up) + math.fsum(blocks.down), 0.25)
    square = _mass(sums, "ww")
    return Totals(
        n=n,
        weight=math.fsum(blocks.weight),
        ww=math.fsum(moments.ww),
        wwv=wwv,
        wwe=math.fsum(square.up) + math.fsum(square.down),
        largest=float(sums["largest"].max()),
    )
