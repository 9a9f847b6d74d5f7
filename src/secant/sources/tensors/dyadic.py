"""Tensors on a device into cells of equal width, as states of Cells have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks.cell_sums import CellSums
from secant._blocks.grids import dyadic_grid
from secant.sources.tensors.reading import columns
from secant.sources.tensors.sorted import sort_rows

if TYPE_CHECKING:
    from secant._input.options import Reading
    from secant.sources.tensors.reading import TensorRows

__all__ = ["cell_sums"]


def cell_sums(
    y_true: Any, y_prob: Any, sample_weight: Any, reading: Reading, n_cells: int
) -> tuple[CellSums, int]:
    """Return the sums over cells of tensors on a device, and how many rows their scores forbid.

    Raises
    ------
    InputError
        If anything in the tensors is unusable.
    """
    return sums_of(columns(y_true, y_prob, sample_weight, reading).checked(), n_cells)


def sums_of(rows: TensorRows, n_cells: int) -> tuple[CellSums, int]:
    """Return the sums over cells of checked rows, and how many of them their scores forbid."""
    ordered = sort_rows(rows.scores, rows.labels, rows.weights, counted=rows.counted)
    cells, edges = ordered.cells(n_cells)
    blocks = ordered.between(edges, moments=True)
    grid = dyadic_grid(n_cells)
    sums = CellSums(grid, sampling=rows.sampling, moments=True)
    low = grid.anchor[cells]
    sums.count[2 * cells], sums.count[2 * cells + 1] = blocks.n0, blocks.n1
    sums.offset[2 * cells] = np.maximum(blocks.down - blocks.w0 * low, 0) / grid.unit
    sums.offset[2 * cells + 1] = np.maximum(blocks.w1 * (1 - low) - blocks.up, 0) / grid.unit
    if rows.sampling:
        sums.weight[2 * cells], sums.weight[2 * cells + 1] = blocks.w0, blocks.w1
    moments = blocks.moments
    assert moments is not None  # noqa: S101
    sums.wv[cells], sums.wwv[cells], sums.ww[cells] = moments.wv, moments.wwv, moments.ww
    sums.parts = [ordered.totals()]
    forbidden = rows.refused
    if rows.weights is None or rows.sampling:
        return sums, forbidden.count
    return sums, int(rows.columns.weights[list(forbidden.rows)].sum())
