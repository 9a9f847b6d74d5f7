"""Tensors on a device into cells of equal width, as states of Cells have them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from secant.sources.tensors.reading import columns

if TYPE_CHECKING:
    from secant._blocks.cell_sums import CellSums
    from secant._input.options import Reading
    from secant.sources.tensors.reading import TensorRows

__all__ = ["add_to", "rows_of"]


def rows_of(y_true: Any, y_prob: Any, sample_weight: Any, reading: Reading) -> TensorRows:
    """Return tensors on a device as checked rows.

    Raises
    ------
    InputError
        If anything in the tensors is unusable.
    """
    return columns(y_true, y_prob, sample_weight, reading).checked()


def add_to(batch: CellSums, rows: TensorRows) -> None:
    """Put the sums of rows into empty cells of equal width."""
    ordered = replace(rows.in_order(), outcome_weights=batch.outcome_weights)
    grid = batch.grid
    cells, edges = ordered.cells(len(grid.low) - 1)
    sums = ordered.sums(edges, moments=True)
    if not rows.sampling:
        sums |= {"w0": sums["n0"], "w1": sums["n1"]}
    low = grid.anchor[cells]
    even, odd = 2 * cells, 2 * cells + 1
    batch.offset[even] = np.maximum(sums["down"] - sums["w0"] * low, 0) / grid.unit
    batch.offset[odd] = np.maximum(sums["w1"] * (1 - low) - sums["up"], 0) / grid.unit
    columns = {"count": "n", "wv": "wv"}
    if rows.sampling:
        columns |= {"weight": "w", "ww": "ww"}
        batch.wwv[cells] = sums["wwv"]
    for name, short in columns.items():
        column = getattr(batch, name)
        column[even], column[odd] = sums[f"{short}0"], sums[f"{short}1"]
    totals = ordered.totals(batch.blocks(), log_loss=True)
    if not rows.sampling and batch.outcome_weights is None:  # the cells know the rest
        totals = replace(totals, squares=0.0, ww1=0.0, third=0.0, squared_error=0.0, steps=())
    batch.parts = [totals]
