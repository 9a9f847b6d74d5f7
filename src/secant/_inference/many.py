"""Exact P-values of many small tables at once: to describe a chain takes longer than to run it.

The ties of all tables are put one after another, their chains are described together, and compiled
code runs one after the other. What comes out of a table does not depend on its neighbours.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from secant._base.progress import reporting
from secant._inference import chains, finite, step_laws
from secant._inference.path import Path, compensated_sum
from secant._inference.plans import FAINTEST, STEP_MAD, STEP_R

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import BoolArray, FloatArray, IntArray

    # Distinct scores in ascending order; observations and successes at each.
    Table = tuple[FloatArray, IntArray, IntArray]

__all__ = ["log10_pvalues", "suit", "work_of"]

# Tables that are described together.
_TOGETHER = 512


def suit(n: IntArray) -> bool:
    """Tell whether a table is one for this, by the observations at its scores."""
    # The law of a larger tie is cut short, by how much depends on the P-value.
    return len(n) > 1 and int(n.max()) <= step_laws.WHOLE


def work_of(scores: int, observations: int) -> int:
    """Return about how many operations a table takes, as ``finite.operations`` counts them."""
    cells = scores * math.sqrt(observations)
    return int(scores * (STEP_MAD + 2 * STEP_R + 4 * cells))


def log10_pvalues(
    tables: Sequence[Table], *, fast: bool = False
) -> list[tuple[float, float] | None]:
    """Return the decimal logarithms of the exact P-values of ECCE-R and of ECCE-MAD.

    Parameters
    ----------
    tables
        Each one that :func:`suit` is told to be for this.
    fast
        Whether to use numba.

    Returns
    -------
    list
        Two numbers for each table; None where one takes no chain to be known, or where it is too
        small to be told: ask :mod:`secant._inference.finite` then.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([0.5, 0.6]), np.array([1, 1]), np.array([0, 0])
    >>> [round(10**log10, 12) for log10 in log10_pvalues([two])[0]]  # 0.5 * 0.4: two failures
    [0.2, 0.2]
    """
    found: list[tuple[float, float] | None] = [None] * len(tables)
    # Tables of about the same length, so that little of what they are laid out in stays empty.
    order = sorted(range(len(tables)), key=lambda number: len(tables[number][0]))
    with reporting("Computing P-values") as report:
        for start in range(0, len(order), _TOGETHER):
            some = order[start : start + _TOGETHER]
            for number, logs in zip(some, _of_some([tables[i] for i in some], fast), strict=True):
                found[number] = logs
            report(start + len(some), len(order))
    return found


def _of_some(tables: Sequence[Table], fast: bool) -> list[tuple[float, float] | None]:  # noqa: FBT001
    paths = _observed(tables)
    chosen = np.flatnonzero(paths.take_chains())
    found: list[tuple[float, float] | None] = [None] * len(tables)
    if not len(chosen):
        return found
    r, mad = _absorbed(paths.select(chosen), fast=fast)
    least = 10.0**finite.LOG10_LEAST
    for number, p, q in zip(chosen.tolist(), r.tolist(), mad.tolist(), strict=True):
        if min(p, q) > least:
            found[number] = math.log10(min(p, 1.0)), math.log10(min(q, 1.0))
    return found


# --- tables one after another ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Paths:
    """The ties of several tables at which anything is random, one table after another.

    ``table`` says which one a tie belongs to; deviation and span are what max|X| and max X - min X
    of each table must reach.
    """

    table: IntArray
    score: FloatArray
    size: IntArray
    reached: FloatArray
    deviation: FloatArray
    span: FloatArray

    def __len__(self) -> int:
        return len(self.span)

    @cached_property
    def bounds(self) -> IntArray:
        """Where the ties of each table begin, and where the last ones end."""
        return np.searchsorted(self.table, np.arange(len(self) + 1))

    def sums(self, values: FloatArray | IntArray) -> FloatArray:
        """Add up, table by table."""
        return np.bincount(self.table, values, minlength=len(self)).astype(np.float64)

    def take_chains(self) -> BoolArray:
        """Mark the tables whose P-values take chains, and are not known to be tiny."""
        steps = np.diff(self.bounds)
        expected = np.zeros(len(self))
        expected[steps > 0] = self.reached[self.bounds[1:][steps > 0] - 1]
        possible = np.maximum(expected, self.sums(self.size) - expected)
        variance = self.sums(self.size * self.score * (1.0 - self.score))
        chosen = (steps > 1) & (self.deviation > 0.0) & (self.span <= possible)
        for c in (self.deviation, self.span):
            chosen &= c <= possible
            # Freedman's inequality, as in secant._inference.finite.
            log_bound = np.log(2.0 * np.maximum(steps, 1)) - 0.5 * c * c / (variance + c / 3.0)
            chosen &= log_bound >= finite.LOG10_LEAST * math.log(10)
        return chosen

    def select(self, tables: IntArray) -> _Paths:
        """Return some of the tables."""
        number = np.full(len(self), -1)
        number[tables] = np.arange(len(tables))
        kept = number[self.table] >= 0
        return _Paths(
            number[self.table[kept]],
            self.score[kept],
            self.size[kept],
            self.reached[kept],
            self.deviation[tables],
            self.span[tables],
        )

    @cached_property
    def path(self) -> Path:
        """All of them as if they were one path, each with a start of its own."""
        starts = self.bounds[:-1]
        trials = np.cumsum(self.size)
        trials -= np.repeat(trials[starts] - self.size[starts], np.diff(self.bounds))
        path = Path(
            self.score, self.size, self.reached, trials, math.nan, np.arange(len(self.score))
        )
        before = np.concatenate([[0.0], self.reached[:-1]])
        before[starts] = 0.0
        # What a path would compute when it is first asked, as if it had one start.
        vars(path).update(before=before, count=self.size)
        return path


def _observed(tables: Sequence[Table]) -> _Paths:
    """Observe several tables, as ``path.observe`` does one."""
    lengths = np.array([len(score) for score, _, _ in tables])
    score, n, n1 = (np.concatenate(column) for column in zip(*tables, strict=True))
    table, starts = np.repeat(np.arange(len(tables)), lengths), np.cumsum(lengths) - lengths
    certain = score >= 1.0
    terms = np.zeros((int(lengths.max()), len(tables)))
    place = np.arange(len(score)) - starts[table], table
    terms[place] = np.where(certain, 0.0, n * score)
    reached = compensated_sum(terms)[place]
    happened = np.cumsum(np.where(certain, n1 - n, n1))
    happened -= np.concatenate([[0], happened])[starts][table]
    x = happened - reached
    highest = np.maximum(np.maximum.reduceat(x, starts), 0.0)
    lowest = np.minimum(np.minimum.reduceat(x, starts), 0.0)
    expected = reached[starts + lengths - 1] + np.bincount(table, n * certain, len(tables))
    ulp = 4.0 * np.spacing(expected)
    deviation, span = np.maximum(highest, -lowest), highest - lowest
    random = (score > 0.0) & ~certain
    return _Paths(
        table[random],
        score[random],
        n[random],
        reached[random],
        deviation - (1e-12 * deviation + ulp),
        span - (1e-12 * span + ulp),
    )


# --- chains one after another ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Keys:
    """The fractional parts of all A_k of each table, between which nothing need be rounded.

    What ``plans.Rounding`` is for one table: ``keys`` are complex, the table first, which is the
    order in which numpy puts complex numbers.
    """

    table: IntArray
    keys: np.ndarray[tuple[int], np.dtype[np.complex128]]

    @cached_property
    def _first(self) -> IntArray:
        return np.searchsorted(self.keys.real, np.arange(self.table[-1] + 2))

    @cached_property
    def strides(self) -> IntArray:
        """How many keys each table has."""
        return np.diff(self._first)

    @cached_property
    def stride(self) -> IntArray:
        """How many keys the table of each tie has."""
        return self.strides[self.table]

    def _number(self, y: FloatArray, side: str) -> IntArray:
        whole = np.floor(y)
        sought = np.empty(len(y), np.complex128)
        sought.real, sought.imag = self.table, y - whole
        rank = np.searchsorted(self.keys, sought, side=side) - self._first[self.table]  # type: ignore[call-overload]
        numbers: IntArray = self.stride * whole.astype(np.int64) + rank
        return numbers

    def below(self, y: FloatArray) -> IntArray:
        """Return the number of the last point that is at most y, of its table."""
        return self._number(y, "right") - 1

    def above(self, y: FloatArray) -> IntArray:
        """Return the number of the first point that is at least y, of its table."""
        return self._number(y, "left")


def _absorbed(paths: _Paths, *, fast: bool) -> tuple[FloatArray, FloatArray]:
    """Return the P-values of ECCE-R and of ECCE-MAD of each table."""
    path = paths.path
    keys = np.empty(len(path), np.complex128)
    keys.real, keys.imag = paths.table, path.before - np.floor(path.before)
    rounding = _Keys(paths.table, np.unique(keys))
    steps = step_laws.make_steps(path.score, path.size, path.ends, FAINTEST)
    span, deviation = paths.span[paths.table], paths.deviation[paths.table]
    both = [each(path, rounding, steps, span, ("up",)) for each in (finite.rise, finite.fall)]
    band = finite.band(path, steps, deviation)
    if fast:
        from secant._inference import chains_numba  # noqa: PLC0415  # only where it is used

        one = np.ones(len(paths), np.int64)
        r = chains.of_either(chains_numba.many(both, paths.bounds, rounding.strides))[:, 0]
        mad = chains_numba.many([band], paths.bounds, one)[:, 0, 0]
    else:
        r, mad = np.empty(len(paths)), np.empty(len(paths))
        places = itertools.starmap(slice, itertools.pairwise(paths.bounds.tolist()))
        for i, (place, stride) in enumerate(zip(places, rounding.strides.tolist(), strict=True)):
            (r[i],) = chains.either(*(chain.part(place, stride) for chain in both))
            (mad[i],) = chains.absorbed(band.part(place))
    return r / chains.SCALE, mad / chains.SCALE
