"""Weighted rows, too many to draw each: heavy ones are kept, light ones become normal steps.

Where the limit of many observations is not to be trusted, a few rows are to blame: those whose step
is large beside the standard deviation of the whole path. They are drawn as they are. All others
together move the path as Brownian motion does, and enter as one normal step for each cell. Cells
share the variance fairly, and the observed path is looked at where they end, like all others.

A row is heavy if its step exceeds a fiftieth of that standard deviation. So rho3 of what is normal
is at most 1/50, and the heavy rows expect at most 5,000 of their rarer outcomes, 2 x 50^2: a draw
costs no more than these and the cells, however many rows there are. But where the heavy rows hardly
ever happen it is the others that decide, and the standard deviation of the whole is no measure of
them: then rows are sifted again, by that of what was left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._blocks.grains import Running
from secant._inference.path import thresholds
from secant._input.observations import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray
    from secant._blocks.table import Totals

__all__ = ["Sieve", "Sifted"]

# Steps are heavy beyond this share of the standard deviation of the path.
_HEAVY = 1 / 50
# Cells have the share of the variance that is left of it by so many halvings, or up to twice that.
_HALVINGS = 13
# At first cells are also cut after so many rows, the number of all halved as often.
_FINER = 16
# Steps of what is left are this share of its own standard deviation at most, unless as many rarer
# outcomes of heavy rows are expected that draws without any do not matter.
_LIGHT = 1 / 25
_OFTEN = 20.0
# Exponents of doubles are smaller, either way.
_MOST_BITS = 1100
# Rows looked at together.
_TOGETHER = 1 << 18
# A drawn outcome of a heavy row takes as long as so many normal steps.
_POINT = 8


class _Parts(NamedTuple):
    """Neighbouring ties of some rows in order, pooled; a column each.

    ``number`` and ``alone`` tell what may be pooled further; ``noise`` is the variance of light
    rows; the others are sums up to the end: of rows, of the observed path, and of what is taken off
    the drawn one.
    """

    number: FloatArray
    alone: BoolArray
    noise: FloatArray
    rows: IntArray
    observed: FloatArray
    expected: FloatArray


class Sieve:
    """Rows go in, in the order of the path; what is to be drawn comes out.

    Parameters
    ----------
    totals
        The sums over all rows.
    heavy
        Beyond which steps are heavy, in place of what all rows together suggest.
    """

    def __init__(self, totals: Totals, heavy: float | None = None) -> None:
        o0, o1 = totals.outcome_weights or (1.0, 1.0)
        # Weights are multiples of a unit such that their sum is below 2^53: they add up exactly.
        most = totals.weight * max(o0, o1) / min(o0, o1)
        self._shift = 52 - math.frexp(most)[1]
        self._outcome_weights = totals.outcome_weights
        variance = math.ldexp(totals.variance, 2 * self._shift)
        self._heavy = _HEAVY * math.sqrt(variance) if heavy is None else heavy
        # Variance and expected rarer outcomes of steps from 2^(k - 1) to 2^k.
        self._of_size = np.zeros((2, 2 * _MOST_BITS))
        self._light, self._often = 0.0, 0.0
        self._size = _cell_size(variance)
        self._each = max(1, totals.n >> _FINER)
        self._count, self._happened, self._above = 0, 0.0, 0.0
        self._all, self._kept, self._variance = Running(), Running(), Running()
        self._parts: list[_Parts] = []
        self._rows: list[tuple[FloatArray, FloatArray, IntArray]] = []

    def add(self, rows: Chunk, ends: IntArray | None = None) -> None:
        """Take in some rows in order; ``ends`` are the last ones of ties, which are never cut."""
        if not rows.scores.size:
            return
        if ends is None:
            ends = _ends_of_ties(rows.scores)
        chance, step = self._steps(rows)
        units = np.rint(step)
        certain = chance >= 1.0
        happened = np.where(certain, units * rows.labels - units, units * rows.labels)
        sums, lost = self._all.add(np.where(certain, 0.0, units * chance))
        path = self._happened + np.cumsum(happened)
        self._happened = float(path[-1])
        variance = step * step * (chance * (1.0 - chance))
        heavy = (step > self._heavy) & (chance > 0.0) & ~certain
        rare = np.minimum(chance, 1.0 - chance)
        size = np.frexp(step)[1] + _MOST_BITS
        self._of_size += [np.bincount(size, each, 2 * _MOST_BITS) for each in (variance, rare)]
        self._light += float(variance[~heavy].sum())
        self._often += float(rare[heavy].sum())
        kept, gone = self._kept.add(np.where(heavy, units * chance, 0.0))
        above = self._above + np.cumsum(np.where(heavy & (chance > 0.5), units, 0.0))
        self._above = float(above[-1])
        spread = np.add(*self._variance.add(variance))[ends]
        alone = np.diff(np.cumsum(variance)[ends], prepend=0.0) > self._size
        number = np.floor(spread / self._size)
        last = _last_of_each(alone, number, (self._count + ends) // self._each)
        at = ends[last]
        noise = np.add.reduceat(np.where(heavy, 0.0, variance), np.append(0, at[:-1] + 1))
        before = sum(len(each.number) for each in self._parts)
        self._parts.append(
            _Parts(
                number[last],
                alone[last],
                noise,
                self._count + at + 1,
                (path - (sums + lost))[at],
                ((kept + gone) - above)[at],
            )
        )
        self._count += len(chance)
        index = np.flatnonzero(heavy)
        part = before + np.searchsorted(at, index)
        self._rows.append((chance[index], units[index], part))

    def add_all(
        self,
        scores: FloatArray,
        labels: IntArray,
        weights: FloatArray | None,
        ends: IntArray | None = None,
    ) -> None:
        """Take in all rows, some ties at a time, so that memory stays bounded."""
        if ends is None:
            ends = _ends_of_ties(scores)
        start = first = 0
        while start < len(scores):
            last = min(int(np.searchsorted(ends, start + _TOGETHER)), len(ends) - 1)
            part = slice(start, int(ends[last]) + 1)
            some = Chunk(scores[part], labels[part], None if weights is None else weights[part])
            self.add(some, ends[first : last + 1] - start)
            start, first = part.stop, last + 1

    def too_coarse(self) -> float | None:
        """Return beyond which steps rows should be heavy instead; None if all is well.

        What is left as normal steps must be so beside its own noise, unless heavy rows happen in
        all but every draw.
        """
        if _is_well(self._heavy, self._light, self._often):
            return None
        variance, rare = self._of_size
        bits = math.frexp(self._heavy)[1] + _MOST_BITS
        while not _is_well(
            limit := math.ldexp(1.0, bits - 1 - _MOST_BITS),
            light := float(variance[:bits].sum()),
            float(rare[bits:].sum()),
        ):
            bits = min(bits - 1, math.frexp(_HEAVY * math.sqrt(light))[1] + _MOST_BITS)
        return math.nextafter(limit, 0.0)

    def sifted(self) -> Sifted:
        """Return what is left of all rows."""
        number, alone, noise, rows, observed, expected = (
            np.concatenate(columns) for columns in zip(*self._parts, strict=True)
        )
        chance, units, part = (np.concatenate(columns) for columns in zip(*self._rows, strict=True))
        light = np.cumsum(noise)
        of_light = np.floor(light / _cell_size(float(light[-1]))) if light[-1] else light
        last = _last_of_each(alone, number, of_light)
        cell = np.searchsorted(last, part)
        path = observed[last]
        limits = thresholds(float(path.max()), float(path.min()), self._all.sum + self._all.lost)
        rare = np.minimum(chance, 1.0 - chance)
        return Sifted(
            rows=rows[last],
            noise=np.sqrt(np.add.reduceat(noise, np.append(0, last[:-1] + 1))),
            expected=expected[last],
            reached=np.cumsum(-np.log1p(-rare)),
            step=np.where(chance > 0.5, -units, units),
            cell=cell,
            limits=limits,
        )

    def _steps(self, rows: Chunk) -> tuple[FloatArray, FloatArray]:
        """Return the chance of each row's event, and by how many units that moves the path."""
        chance = rows.scores
        step = np.ones_like(chance) if rows.weights is None else rows.weights
        if self._outcome_weights is not None:
            o0, o1 = self._outcome_weights
            longer = o1 * (1 - chance) + o0 * chance
            chance, step = o0 * chance / longer, step * longer
        return chance, np.ldexp(step, self._shift)


def _ends_of_ties(scores: FloatArray) -> IntArray:
    return np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)


def _is_well(step: float, light: float, often: float) -> bool:
    """Tell whether rows up to a step may be normal steps: their variance, and how often others."""
    return often >= _OFTEN or not light or step <= _LIGHT * math.sqrt(light)


def _cell_size(variance: float) -> float:
    """Return the variance that cells may have: a power of two, so that rounding moves no end."""
    return math.ldexp(1.0, max(math.frexp(variance * (1 + 1e-9))[1] - _HALVINGS, -1074))


def _last_of_each(alone: BoolArray, *numbers: NumberArray) -> IntArray:
    """Return where cells end among ties, which share one if they may and all numbers agree."""
    apart = alone[1:] | alone[:-1]
    for number in numbers:
        apart |= number[1:] != number[:-1]
    return np.append(np.flatnonzero(apart), len(alone) - 1)


@dataclass(frozen=True, slots=True)
class Sifted:
    """Draws paths of heavy rows and of normal steps.

    Attributes
    ----------
    rows
        How many rows there are up to the end of each cell.
    noise
        The standard deviation of each cell's normal step.
    expected
        What is taken off the sum of drawn steps at the end of each cell.
    reached, step, cell
        Of each heavy row: -log(1 - chance) of its rarer outcome, summed up to it; what that outcome
        adds to the path; and its cell.
    limits
        What the largest absolute value of a path, and its range, must reach.
    """

    rows: IntArray
    noise: FloatArray
    expected: FloatArray
    reached: FloatArray
    step: FloatArray
    cell: IntArray
    limits: tuple[float, float]

    @property
    def cells(self) -> int:
        """Numbers drawn for each path, or what takes as long."""
        return len(self.noise) + math.ceil(_POINT * self._points)

    @property
    def _points(self) -> float:
        return float(self.reached[-1]) if self.reached.size else 0.0

    def paths(self, rng: np.random.Generator, draws: int) -> Iterator[FloatArray]:
        """Draw some paths, a row each.

        Points fall on the line of ``reached`` at random, one for each unit of length on average. A
        row is missed by all of them with probability exp(log(1 - chance)) = 1 - chance, and rows
        are so independently: those hit are those whose rarer outcome happens.
        """
        shape = draws, len(self.noise)
        steps = np.zeros(shape)
        if hits := rng.poisson(draws * self._points):
            place = np.sort(rng.random(hits)) * draws
            draw = np.minimum(place.astype(np.int64), draws - 1)
            row = np.searchsorted(self.reached, (place - draw) * self._points, side="right")
            row = np.minimum(row, len(self.reached) - 1)
            once = np.append(True, (row[1:] != row[:-1]) | (draw[1:] != draw[:-1]))
            row, draw = row[once], draw[once]
            at = draw * shape[1] + self.cell[row]
            steps.ravel()[:] = np.bincount(at, self.step[row], minlength=steps.size)
        paths = np.cumsum(steps, axis=1)
        paths -= self.expected
        if self.noise.any():
            paths += np.cumsum(rng.standard_normal(shape) * self.noise, axis=1)
        yield paths
