"""Cells: a mergeable summary of any number of predictions."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from secant import null
from secant._base.endings import check_ending
from secant._base.writing import write_whole
from secant._blocks.cell_sums import CellSums
from secant._blocks.grids import dyadic_grid
from secant._inference.deciding import of_cells
from secant._inference.design import refuse_outcome_weights
from secant._inference.limits import half_width, pooled
from secant._input.arraylike import on_a_device
from secant._input.observations import observations
from secant._input.options import Reading, check_level, in_units_of_the_smaller
from secant._metrics.ecce import bounds
from secant._metrics.scores import BRIER, LOG_LOSS, taken_apart
from secant._results.base import Result, Said
from secant._results.parts import power_of_ten
from secant._results.scores import score_of
from secant._results.wording import metric, plain_pvalue, predictions
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from secant._base.types import IntArray
    from secant._blocks.grids import DyadicGrid
    from secant._blocks.table import Blocks, Totals
    from secant._input.options import WeightKind
    from secant._metrics.scores import Rule
    from secant._results.scores import Score

__all__ = ["Bounds", "Cells", "of_sums"]

_CHUNK = 1 << 17
# With fewer cells than this a score's distance from its anchor is large enough to drift.
_FEW_CELLS = 1 << 14
# Counts stay far enough from the end of their integers to be added up.
_MOST = 2**62 - 1


@dataclass(frozen=True, slots=True, repr=False)
class Bounds(Result):
    """What a summary is certain of.

    Attributes
    ----------
    n : int
        Number of predictions.
    ecce_r, ecce_mad : tuple of float
        The metric lies between these two numbers, certainly.
    sigma : float
        Standard deviation that turns a metric into its normalised form; exact.
    sigma_hat : float
        The same with the spread that was seen, if that is more: what confidence limits rest on.
    ecce_r_pvalue, ecce_mad_pvalue : tuple of float
        The asymptotic P-value lies between these two numbers.
    pvalue
        The P-value that decides, as :attr:`secant.Calibration.pvalue`: the larger one of those that
        are possible, whatever is inside cells.
    mean_pvalue, shape_pvalue
        Those that it puts together: of the mean, and of the shape.
    confidence_level : float
        Level of the limits ``ecce_r_ci`` and ``ecce_mad_ci``.
    brier, log_loss : Score or None
        The proper scores, exact but for what they are made of, which has bounds; None of a
        state that an earlier version of secant stored, which did not sum them.
    """

    __module__ = "secant"

    n: int
    ecce_r: tuple[float, float]
    ecce_mad: tuple[float, float]
    sigma: float
    ecce_r_pvalue: tuple[float, float]
    ecce_mad_pvalue: tuple[float, float]
    pvalue: float
    mean_pvalue: float
    shape_pvalue: float
    sigma_hat: float
    confidence_level: float
    # Half-widths of both intervals; None where the state does not know them.
    _half_widths: tuple[float, float] | None = field(repr=False)
    brier: Score | None = None
    log_loss: Score | None = None

    @property
    def ecce_r_ci(self) -> tuple[float, float]:
        """Confidence limits for the true ECCE-R, whatever it is within its bounds.

        Raises
        ------
        InputError
            If weighted predictions come from a file of an earlier version, which has too few sums.
        """
        return self._ci(self.ecce_r, 0)

    @property
    def ecce_mad_ci(self) -> tuple[float, float]:
        """Confidence limits for the true ECCE-MAD; see ``ecce_r_ci``."""
        return self._ci(self.ecce_mad, 1)

    def _ci(self, metric: tuple[float, float], which: int) -> tuple[float, float]:
        if self._half_widths is None:
            msg = (
                "these Cells have weighted predictions from a file of version 1, which does not "
                "know the heaviest of them: there are no confidence limits"
            )
            raise InputError(msg)
        half = self._half_widths[which]
        return max(metric[0] - half, 0.0), min(metric[1] + half, 1.0)

    def _say(self) -> Said:
        def between(ends: tuple[float, float], write: Callable[[float], str]) -> str:
            low, high = map(write, ends)
            return low if low == high else f"between {low} and {high}"

        pairs = (
            ("ECCE-R", self.ecce_r, self.ecce_r_pvalue),
            ("ECCE-MAD", self.ecce_mad, self.ecce_mad_pvalue),
        )
        each = (
            f"{name} {between(value, metric)} (P {between(pvalue, plain_pvalue)})"
            for name, value, pvalue in pairs
        )
        parts = f"mean {plain_pvalue(self.mean_pvalue)}, shape {plain_pvalue(self.shape_pvalue)}"
        return Said(
            f"{predictions(self.n)}: P {plain_pvalue(self.pvalue)} ({parts}); {', '.join(each)}, "
            "large-sample."
        )


class Cells:
    """Sums per score cell: a summary of predictions that can be fed, added up and stored.

    A state is fed batch by batch and merged with states made elsewhere: by another process, on
    another day, on another machine. In whatever order and pieces predictions arrive, the sums are
    the same. Without the predictions themselves the metrics are known between bounds that
    are certain and narrow: about 0.02 sigma for a million predictions in 65,536 cells.

    Parameters
    ----------
    n_cells : int
        Number of cells of equal width over [0, 1), a power of two. The score 1 has a cell of
        its own.
    outcome_weights : tuple of float, optional
        What rows of outcome 0 and of outcome 1 weigh, as in :func:`secant.assess`.

    Attributes
    ----------
    n : int
        Number of predictions seen.
    outcome_weights : tuple of float or None
        What outcomes weigh, the smaller of the two being 1; None where both weigh the same.
    n_cells : int
        Number of cells.
    forbidden : int
        Predictions whose score rules out what happened (0 and yes, 1 and no).

    Raises
    ------
    InputError
        If ``n_cells`` is not a power of two between 1 and 2**24, or outcomes cannot have such
        weights.

    Notes
    -----
    A cell keeps the counts of both responses and the sums of positive and negative parts of
    w(r - s). Their prefix sums are the cumulative differences at every edge, exactly; inside a cell
    the path stays between its start minus the negative and its start plus the positive parts.

    Examples
    --------
    >>> import secant
    >>> monday, tuesday = secant.Cells(), secant.Cells()
    >>> monday.update([0, 1, 1], [0.2, 0.6, 0.9])
    >>> tuesday.update([0, 1], [0.1, 0.7])
    >>> week = monday + tuesday
    >>> week.n
    5
    >>> low, high = week.bounds().ecce_r
    >>> low <= secant.ecce_r([0, 1, 1, 0, 1], [0.2, 0.6, 0.9, 0.1, 0.7]) <= high
    True
    """

    __module__ = "secant"

    def __init__(
        self, n_cells: int = 65536, *, outcome_weights: tuple[float, float] | None = None
    ) -> None:
        reading = Reading(outcome_weights=outcome_weights)
        self._sums = _empty(dyadic_grid(n_cells), reading.outcome_weights)
        self.forbidden = 0

    @property
    def n(self) -> int:
        """Number of predictions seen."""
        return int(self._sums.count.sum())

    @property
    def n_cells(self) -> int:
        """Number of cells over [0, 1)."""
        return _grid(self._sums).n_cells

    @property
    def outcome_weights(self) -> tuple[float, float] | None:
        """What outcomes weigh, in units of the smaller weight."""
        return in_units_of_the_smaller(self._sums.outcome_weights)

    def update(
        self,
        y_true: Any,
        y_prob: Any,
        sample_weight: Any = None,
        *,
        weight_kind: WeightKind = "sampling",
        pos_label: Any = None,
    ) -> None:
        """Add a batch of predictions; a batch with a fault in it changes nothing.

        Parameters
        ----------
        y_true, y_prob, sample_weight, weight_kind, pos_label
            As in :func:`secant.assess`. Batches with and without weights may follow each
            other: a row without a weight has weight 1.

        Raises
        ------
        InputError
            If anything in the batch is unusable.
        """
        reading = Reading(weight_kind, pos_label)
        if on_a_device(y_true, y_prob, sample_weight):
            from secant.sources.tensors.dyadic import add_to, rows_of  # noqa: PLC0415  (for devices)

            rows = rows_of(y_true, y_prob, sample_weight, reading)
            batch, forbidden = self._like(sampling=rows.sampling), rows.forbidden_copies
            add_to(batch, rows)
        else:
            seen = observations(y_true, y_prob, sample_weight, reading)
            batch, forbidden = self._like(sampling=seen.sampling), seen.forbidden_copies
            for chunk in seen.chunks(_CHUNK):
                batch.add(chunk)
        _check_number(self.n + int(batch.count.sum()))
        # One assignment, so that an interruption leaves the old state or the new one.
        self._sums = _onto(self._sums, dyadic_grid(self.n_cells)).plus(batch)
        self.forbidden += forbidden

    def _like(self, *, sampling: bool) -> CellSums:
        """Return empty sums, to be added to those of this state."""
        batch = _empty(dyadic_grid(self.n_cells), self._sums.outcome_weights, sampling=sampling)
        batch.precise = self.n_cells < _FEW_CELLS
        return batch

    def merge(self, other: object) -> None:
        """Add everything another state has seen; the coarser of two grids is kept.

        Raises
        ------
        TypeError
            If ``other`` is not a Cells.
        InputError
            If both together have seen 2**62 predictions, or more; if outcomes weigh something
            else in the other.
        """
        if not isinstance(other, Cells):
            msg = f"only another Cells can be merged; got {type(other).__name__}"
            raise TypeError(msg)
        _check_number(self.n + other.n)
        if self._sums.outcome_weights != other._sums.outcome_weights:  # noqa: SLF001
            raise InputError(
                "these Cells were made with different ",
                Argument("outcome_weights"),
                f": {_said(self.outcome_weights)} and {_said(other.outcome_weights)}",
            )
        mine, theirs = self._sums, other._sums  # noqa: SLF001
        grid = _common(mine, theirs)
        self._sums = _onto(mine, grid).plus(_onto(theirs, grid))
        self.forbidden += other.forbidden

    def __add__(self, other: object) -> Cells:
        if not isinstance(other, Cells):
            return NotImplemented
        both = copy(self)
        both.merge(other)
        return both

    def __radd__(self, other: object) -> Cells:
        # sum() starts from 0
        return copy(self) if other == 0 else NotImplemented

    def bounds(self, confidence_level: float = 0.95) -> Bounds:
        """Return what is certain about the metrics without another look at the predictions.

        Parameters
        ----------
        confidence_level : float
            Level of the confidence limits.

        Raises
        ------
        InputError
            If nothing has been seen yet, the level does not lie between 0 and 1, or sampling
            weights are one number for each outcome.
        """
        check_level(confidence_level)
        blocks, totals = self._blocks()
        refuse_outcome_weights(blocks, totals)
        if totals.outcome_weights is not None:
            totals = replace(totals, pooled=pooled(blocks))
        ecce_r, ecce_mad = bounds(blocks, totals.weight)
        sigma = totals.sigma
        tested = of_cells(blocks, totals)

        def pvalues(law: null.BrownianLaw, metric: tuple[float, float]) -> tuple[float, float]:
            low, high = (
                1.0 if value == 0 else (law.sf(value / sigma) if sigma > 0 else 0.0)
                for value in reversed(metric)
            )
            return float(low), float(high)

        return Bounds(
            n=totals.n,
            ecce_r=ecce_r,
            ecce_mad=ecce_mad,
            sigma=sigma,
            ecce_r_pvalue=pvalues(null.range, ecce_r),
            ecce_mad_pvalue=pvalues(null.mad, ecce_mad),
            pvalue=power_of_ten(tested.pvalue.log10),
            mean_pvalue=power_of_ten(tested.mean.log10),
            shape_pvalue=power_of_ten(tested.shape.log10),
            sigma_hat=totals.sigma_hat,
            confidence_level=float(confidence_level),
            _half_widths=_half_widths(totals, confidence_level),
            brier=_score(BRIER, totals.squared_error, blocks),
            log_loss=_score(LOG_LOSS, totals.log_loss, blocks),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, whole or not at all.

        The file is a line of text, a header in JSON and compressed numbers under a checksum; it
        holds nothing that could be executed.

        Raises
        ------
        InputError
            If the path ends as files of another kind do, in .html or .json.
        """
        from secant._blocks.cell_file import pack  # noqa: PLC0415  (compression and checksums, for files only)

        check_ending(path, "cells")
        write_whole(path, pack(self._sums, self.forbidden))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Cells:
        """Read a state that :meth:`save` wrote.

        The file may come from anywhere. Nothing in it is executed or believed: sizes are compared
        with what the file can hold before memory is taken for them, every sum with what the other
        sums allow.

        Raises
        ------
        InputError
            If the file is not such a state, or is damaged or cut short; if it is no file at all
            but a folder, a pipe or a device.
        """
        from secant._blocks.cell_file import unpack  # noqa: PLC0415  (as in save)

        return of_sums(*unpack(path))

    def _blocks(self) -> tuple[Blocks, Totals]:
        if not self.n:
            msg = "these Cells are empty; update them with predictions first"
            raise InputError(msg)
        blocks = self._sums.blocks()
        return blocks, self._sums.totals(blocks)

    def __repr__(self) -> str:
        cells = "1 cell" if self.n_cells == 1 else f"{self.n_cells:,} cells"
        return f"<secant.Cells: {predictions(self.n)} in {cells}>"

    def _repr_html_(self) -> str:
        return f"<div><b>Cells:</b> {self.n:,} predictions in {self.n_cells:,} cells</div>"


def of_sums(sums: CellSums, forbidden: int) -> Cells:
    """Return the state of sums over cells of equal width."""
    state = Cells(1)
    state._sums, state.forbidden = sums, forbidden  # noqa: SLF001
    return state


def _score(rule: Rule, total: float | None, blocks: Blocks) -> Score | None:
    return None if total is None else score_of(rule.name, taken_apart(rule, total, blocks))


def _check_number(n: int) -> None:
    if n > _MOST:
        msg = f"Cells count up to 2**62 - 1 predictions; these would be {n:,}"
        raise InputError(msg)


def _half_widths(totals: Totals, confidence_level: float) -> tuple[float, float] | None:
    if totals.steps is None and not totals.equal_weights:
        return None
    r, mad = (half_width(law, totals, 1 - confidence_level) for law in (null.range, null.mad))
    return r, mad


def _said(outcome_weights: tuple[float, float] | None) -> str:
    return "none" if outcome_weights is None else f"{outcome_weights[0]:g}, {outcome_weights[1]:g}"


def _empty(
    grid: DyadicGrid,
    outcome_weights: tuple[float, float] | None,
    *,
    sampling: bool = False,
) -> CellSums:
    return CellSums(
        grid, sampling=sampling, moments=True, log_loss=True, outcome_weights=outcome_weights
    )


def _grid(sums: CellSums) -> DyadicGrid:
    return cast("DyadicGrid", sums.grid)


def _common(one: CellSums, other: CellSums) -> DyadicGrid:
    """Return the coarser of two grids; of it, what both fill where no more is in memory."""
    grids = _grid(one), _grid(other)
    n_cells = min(grid.n_cells for grid in grids)
    if any(grid.cells.size > grid.n_cells for grid in grids):  # all cells, with the one of 1
        return dyadic_grid(n_cells)
    return dyadic_grid(n_cells, np.union1d(*(_within(grid, n_cells) for grid in grids)))


def _within(grid: DyadicGrid, n_cells: int) -> IntArray:
    """Return the cell of a coarser grid in which each cell lies; the score 1 stays alone."""
    return np.where(grid.cells < grid.n_cells, grid.cells // (grid.n_cells // n_cells), n_cells)


def _onto(sums: CellSums, grid: DyadicGrid) -> CellSums:
    """Join cells into those of a grid; their sums add, once distances start from its anchors."""
    fine = _grid(sums)
    if fine.n_cells == grid.n_cells and len(fine.low) == len(grid.low):
        return sums
    moved = _empty(grid, sums.outcome_weights, sampling=sums.sampling)
    if not fine.cells.size:  # a file of no predictions
        return moved
    within = _within(fine, grid.n_cells)
    columns = dict(sums.columns())
    if fine.n_cells > grid.n_cells:
        shift = np.repeat(fine.anchor - within / grid.n_cells, 2)
        weight = sums.weight if sums.sampling else sums.count
        columns["offset"] = (sums.offset * fine.unit + weight * shift) / grid.unit
    starts = np.flatnonzero(np.diff(within, prepend=-1))
    places = np.searchsorted(grid.cells, within[starts])
    for name, column in columns.items():
        rows = column.reshape(len(within), -1)
        joined = getattr(moved, name).reshape(-1, rows.shape[1])
        joined[places] = np.add.reduceat(rows, starts, axis=0)
    moved.parts = list(sums.parts)
    return moved
