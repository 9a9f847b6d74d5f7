"""Sums that an engine returned, as blocks of every group."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._blocks.key_sums import shifted_scores
from secant._blocks.table import STEPS, Blocks, Spread, Totals, from_sums, largest_steps
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from secant._base.types import FloatArray, IntArray, NumberArray
    from secant._input.options import WeightKind

__all__ = ["Sums"]


class _Mass(NamedTuple):
    """Weights in each cell, of all rows and of those that happened, and what follows from them."""

    all: FloatArray
    happened: FloatArray
    down: FloatArray
    up: FloatArray
    variance: FloatArray
    # The variance by outcome: all of it first, where outcomes have no weights.
    variances: tuple[FloatArray, FloatArray]

    @property
    def by_outcome(self) -> tuple[FloatArray, FloatArray]:
        """Weights of those that did not happen, and of those that did."""
        return np.maximum(self.all - self.happened, 0), self.happened


class Sums:
    """Sums of groups, one after another, each in the order of its scores or places.

    Parameters
    ----------
    columns
        What came back, as an answer has it.
    owner
        The number of each row's group; below zero where it is none of those asked for.
    weight_kind, outcome_weights
        What weights of rows mean, and those of outcomes.
    places
        Where rows lie, if that is not the scores of their cells.

    Attributes
    ----------
    numbers, bounds
        The groups that rows are left of, and where each begins and ends.
    columns, anchors
        What came back of them, and what the cell of each row is known by.

    Raises
    ------
    SecantError
        If cells overlap: the engine does not compute as IEEE 754 prescribes.
    """

    def __init__(
        self,
        columns: Mapping[str, FloatArray],
        owner: IntArray,
        weight_kind: WeightKind | None = None,
        outcome_weights: tuple[float, float] | None = None,
        places: NumberArray | None = None,
    ) -> None:
        self._weight_kind, self._outcome_weights = weight_kind, outcome_weights
        used = np.flatnonzero((columns["anchor"] >= 0) & (owner >= 0))
        along = columns["low"] if places is None else places
        used = used[np.lexsort((along[used], owner[used]))]
        owner = owner[used]
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        self.numbers: list[int] = owner[first].tolist()
        self.bounds: list[int] = [*first.tolist(), len(used)]
        self.columns = {name: column[used] for name, column in columns.items()}
        self.anchors = self.columns["anchor"]
        low, high = self.columns["low"], self.columns["high"]
        self._tie = low == high
        # Of cells the anchor is one score, of places the outcome.
        cell = np.where(self._tie, low, self.anchors)
        self._from = cell, cell if places is None else np.where(self._tie, low, 1.0)
        self._places = low if places is None else along[used]
        same = np.diff(owner) == 0
        if places is None and (same & (high[:-1] >= low[1:])).any():
            msg = "cells that the engine returned overlap: it does not compute with doubles"
            raise SecantError(f"{msg} (IEEE 754)")

    def blocks(self) -> Blocks:
        """Return the cells of all groups as blocks, with moments."""
        sums, mass = self.columns, self._mass("w")
        weighted = self._weight_kind == "sampling"
        n, n1 = sums["rows"], sums["n1"]
        if self._weight_kind == "frequency":
            n, n1 = mass.all, mass.happened
        n, n1 = n.astype(np.int64), n1.astype(np.int64)
        square = self._mass("ww") if weighted else mass
        squares = (square.variance, square.by_outcome) if weighted else ()
        ends: dict[str, Any] = {}
        if self._places is not sums["low"]:
            ends = {"least": sums["low"], "most": sums["high"]}
        return from_sums(
            self._places,
            self._places if ends else sums["high"],
            (n - n1, n1),
            (mass.down, mass.up),
            weights=mass.by_outcome if weighted else None,
            spread=Spread(mass.variances, *squares),
            outcome_weights=self._outcome_weights,
            **ends,
        )

    def shifted(self, shift: float) -> tuple[FloatArray, FloatArray]:
        """Return the sums over shifted scores q: of w q, and of the variances of outcomes."""
        (q0, spread0), (q1, spread1) = (shifted_scores(each, shift) for each in self._from)
        found = []
        for name in ("w", "ww" if self._weight_kind == "sampling" else "w"):
            rest, happened = self._mass(name).by_outcome
            d, d1, dd = (self._distance(f"{name}q{which}") for which in ("d", "1d", "dd"))
            # Around the anchor, as in _mass.
            around1 = happened * spread1 + (1 - 2 * q1) * d1
            around0 = rest * spread0 + (1 - 2 * q0) * (d - d1)
            found.append((rest * q0 + happened * q1 + d, np.maximum(around0 + around1 - dd, 0)))
        return found[0][0], found[1][1]

    def parts(self) -> dict[int, Blocks]:
        """Return the blocks of each group, by its number."""
        blocks = self.blocks()
        ends = pairwise(self.bounds)
        return {i: blocks.select(slice(*each)) for i, each in zip(self.numbers, ends, strict=True)}

    def totals(self) -> list[Totals]:
        """Return the sums over each group, from those of its cells."""
        blocks, sums, by_outcome = self.blocks(), self.columns, self._outcome_weights
        moments = blocks.moments
        assert moments is not None  # noqa: S101
        lost = np.where(sums["forbidden"] > 0, math.inf, sums["log_loss"])
        columns = self._added(blocks.n, moments.variance, lost)
        columns[2] = [max(each, 0.0) for each in columns[2]]
        if self._weight_kind != "sampling" and by_outcome is None:
            more = self._added(blocks.n1, blocks.up + blocks.down)
            n, variance, log_loss = columns
            return list(
                map(Totals.plain, map(int, n), map(int, more[0]), variance, more[1], log_loss)
            )
        o0, o1 = by_outcome or (1.0, 1.0)
        weight = self._mass("w")
        square = self._mass("ww") if self._weight_kind == "sampling" else weight
        third = sums["third"] if by_outcome is None else sums["third"] * (o0 * o1 * max(o0, o1))
        rest = self._added(
            blocks.weight,
            moments.ww,
            _squared_error(square, o0 * o0, o1 * o1),
            moments.ww1,
            third,
            _squared_error(weight, o0, o1),
        )
        squares = square.all * max(o0, o1) ** 2
        steps = [self._steps(blocks.n, squares, *ends) for ends in pairwise(self.bounds)]
        return [
            Totals(int(n), w, ww, v, max(s, 0.0), ww1, t, max(e, 0.0), lost, step, by_outcome)
            for n, v, lost, w, ww, s, ww1, t, e, step in zip(*columns, *rest, steps, strict=True)
        ]

    def _added(self, *columns: Any) -> list[list[float]]:
        """Return the sum of each column over each group."""
        listed = [column.tolist() for column in columns]
        ends = list(pairwise(self.bounds))
        return [[math.fsum(each[start:stop]) for start, stop in ends] for each in listed]

    def _steps(self, n: IntArray, squares: FloatArray, start: int, stop: int) -> tuple[float, ...]:
        """Return bounds of the twelve largest possible steps of a group.

        Of a cell the largest is known, how many there are, and a bound of their squares' sum. So
        the k-th of them is at most the root of 1/(k - 1) of what the largest leaves.
        """
        found = []
        for cell in start + np.argsort(self.columns["largest"][start:stop])[-STEPS:]:
            largest = float(self.columns["largest"][cell])
            rest = max(float(squares[cell]) - largest**2, 0.0)
            more = range(1, min(int(n[cell]), STEPS))
            found.append([largest, *(min(largest, math.sqrt(rest / k)) for k in more)])
        return largest_steps(*found)

    def _distance(self, column: str) -> Any:
        return np.where(self._tie, 0.0, self.columns[column]) if column in self.columns else 0.0

    def _mass(self, name: str) -> _Mass:
        """Turn distances from anchors into sums over scores; a tie has no distances."""
        sums, (a0, a1) = self.columns, self._from
        distance = self._distance
        if name in sums:
            whole = sums[name] + sums[f"{name}_rest"]
            happened = sums[f"{name}1"] + sums[f"{name}1_rest"]
        else:
            whole, happened = sums["rows"], sums["n1"]
        rest = np.maximum(whole - happened, 0)
        d, d1, dd = (distance(f"{name}{which}") for which in ("d", "1d", "dd"))
        # s(1 - s) around the anchor a: a(1 - a) + (1 - 2a)(s - a) - (s - a)^2
        around1 = happened * (a1 * (1 - a1)) + (1 - 2 * a1) * d1
        around0 = rest * (a0 * (1 - a0)) + (1 - 2 * a0) * (d - d1)
        every = np.maximum(around0 + around1 - dd, 0)
        of_events = np.zeros_like(every)
        if self._outcome_weights is not None:
            of_events = np.maximum(around1 - distance(f"{name}1dd"), 0)
        return _Mass(
            all=whole,
            happened=happened,
            down=np.maximum(rest * a0 + (d - d1), 0),
            up=np.maximum(happened * (1 - a1) - d1, 0),
            variance=every,
            variances=(np.maximum(every - of_events, 0), of_events),
        )


def _squared_error(mass: _Mass, o0: float, o1: float) -> FloatArray:
    """Return the sums of w (r - s)^2, in which (r - s)^2 = |r - s| - s(1 - s)."""
    v0, v1 = mass.variances
    return o0 * (mass.down - v0) + o1 * (mass.up - v1)
