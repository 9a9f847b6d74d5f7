"""P-values of all classes together, from labels drawn again and again (Westfall and Young).

One-vs-rest tests of k classes share their rows: a row whose class is c is one of the others for all
the rest. Drawing whole labels, one class a row with the probabilities of that row, keeps this
dependence, and the largest statistic of each draw shows how extreme the most extreme class is by
chance.

A class is off by its ECCE-R, whose chance distribution depends on the class: common classes are
nearly Gaussian, rare ones have long tails. Before classes are compared R is put on the scale of
Bennett's inequality (:func:`secant._inference.adjust.surprise`), where it goes like the logarithm
of its P-value for both.

A draw costs as much as its rows, not rows times classes: the path of a class rises only where that
class is drawn, so its extremes lie just before and just after those places.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._inference.adjust import Adjusted, StepDown, surprise
from secant._inference.draws import ENOUGH
from secant._inference.path import compensated_sum, guarded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import FloatArray, IntArray, NumberArray

__all__ = ["westfall_young"]

# Rows and classes drawn at once, over all draws of a batch: a few arrays of four megabytes.
_CELLS = 1 << 19
# Cumulative probabilities kept at a time.
_TABLE = 1 << 22


def westfall_young(
    probs: np.ndarray[Any, Any],
    truth: IntArray,
    *,
    weights: FloatArray | None = None,
    copies: IntArray | None = None,
    rng: np.random.Generator,
    draws: int,
    enough: int | None = ENOUGH,
) -> Adjusted:
    r"""Adjust the P-values of the one-vs-rest ECCE-R of all classes together.

    Parameters
    ----------
    probs : ndarray of shape (n, k)
        Probabilities of the classes; rows sum to 1 up to rounding.
    truth : ndarray of shape (n,)
        The columns of the classes that came true.
    weights, copies : ndarray of shape (n,), optional
        Sampling weights, positive; or how many rows each row stands for.
    rng, draws
        Where the labels come from, and how many times to draw them.
    enough : int, optional
        Stop when that many draws have a class as extreme as the most extreme one observed.

    Returns
    -------
    Adjusted
        Adjusted P-values, and the draws made.

    Notes
    -----
    Let :math:`t_{(1)} \ge t_{(2)} \ge \dots` be the observed statistics. Class (i) is compared with
    the largest :math:`t^*` among the classes (i), (i + 1), ..., in each draw: with b of B draws at
    least as large,

    .. math:: p_{(i)} = \max_{j \le i} \frac{1 + b_{(j)}}{1 + B}.

    The chance of any false finding at level a is at most a, for any B. So it is with ``enough``, h:
    if the h-th draw at least as large is the l-th, h/l takes the place of (1 + b)/(1 + B) [2]_. No
    adjusted P-value is below the first, so that drawing on would change none of them.

    Neither the order of rows nor that of classes changes the answer: both are put in an order
    that their contents determine before anything is drawn.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young (1993). "Resampling-based multiple testing." Wiley.
    .. [2] J. Besag, P. Clifford (1991). "Sequential Monte Carlo p-values." Biometrika 78(2).
       https://doi.org/10.1093/biomet/78.2.301

    Examples
    --------
    >>> import numpy as np
    >>> probs = np.full((2, 2), 0.5)
    >>> truth = np.array([1, 1])  # 0 0 and 1 1 are as extreme, for both classes: P = 1/2
    >>> rng = np.random.default_rng(1)
    >>> westfall_young(probs, truth, rng=rng, draws=9999).pvalues.round(2)
    array([0.5, 0.5])
    """
    columns = np.argsort(_totals(probs, copies), kind="stable")
    place = np.argsort(columns)  # of each class among the columns
    probs = probs[:, columns]
    mass: Any = weights if copies is None else copies
    rows = _row_order(probs, mass)
    probs, mass = probs[rows], None if mass is None else mass[rows]
    row = np.arange(len(rows)) if copies is None else np.repeat(np.arange(len(rows)), mass)
    paths = _Paths(probs, mass, row, sampling=weights is not None)
    labels = _Labels(probs, row)

    def statistics(some: int) -> FloatArray:
        highest, lowest = paths.extremes(labels.draw(rng.random((some, row.size))))
        return paths.surprise(highest - lowest)

    tally = StepDown(*paths.observed(place[truth[rows]][row]), enough)
    batch = _CELLS // (row.size + probs.shape[1])
    tally.fill(statistics, draws=draws, batch=batch, doing="Drawing labels")
    pvalues, made = tally.result()
    return Adjusted(pvalues[place], made)


# The same answer for any order of rows and classes ------------------------------------------------


def _totals(probs: np.ndarray[Any, Any], copies: IntArray | None) -> IntArray:
    """Return the sums of columns in whole units, which no order of the rows can change."""
    n, k = probs.shape
    rows = n if copies is None else int(copies.sum())
    unit = 2.0 ** (62 - rows.bit_length())
    totals = np.zeros(k, np.int64)
    for piece in _pieces(n, k):
        units = np.rint(probs[piece] * unit).astype(np.int64)
        totals += units.sum(axis=0) if copies is None else copies[piece] @ units
    return totals


def _row_order(probs: np.ndarray[Any, Any], mass: NumberArray | None) -> IntArray:
    """Sort rows by their contents, by as many columns as it takes to tell different rows apart."""
    n, k = probs.shape
    used = 1
    while True:
        columns = list(probs[:, :used].T)
        # The last key counts most; equal rows go by their weights.
        order: IntArray = np.lexsort([*([] if mass is None else [mass]), *columns[::-1]])
        tied = np.ones(n - 1, bool)
        for column in columns:
            tied &= column[order[1:]] == column[order[:-1]]
        if used == k or not tied.any():
            return order
        used = min(2 * used, k)


def _pieces(rows: int, width: int) -> Iterator[slice]:
    """Cut rows so that tables of that width stay small."""
    step = max(1, _TABLE // width)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def _in_units(weight: FloatArray) -> FloatArray:
    """Return weights as whole numbers whose sum is below 2^53, so that they add up exactly."""
    _, exponent = math.frexp(math.fsum(weight.tolist()))
    return np.rint(np.ldexp(weight, 52 - exponent))


# Drawing ------------------------------------------------------------------------------------------


class _Labels:
    """Draws classes with the probabilities of their rows, by binary search in cumulative sums."""

    def __init__(self, probs: np.ndarray[Any, Any], row: IntArray) -> None:
        self._probs, self._row = probs, row
        self._steps = (probs.shape[1] - 1).bit_length()
        self._pieces = list(_pieces(row.size, 1 << self._steps))
        self._only = self._cumulative(self._pieces[0]) if len(self._pieces) == 1 else None

    def draw(self, uniform: FloatArray) -> IntArray:
        """Turn uniform numbers, a column a row of the data, into classes."""
        labels = np.zeros(uniform.shape, np.int64)
        for piece in self._pieces:
            table = self._cumulative(piece) if self._only is None else self._only
            base = np.arange(len(table)) << self._steps
            cumulative, found, u = table.ravel(), labels[:, piece], uniform[:, piece]
            for bit in reversed(range(self._steps)):
                above = cumulative.take(base + (found + ((1 << bit) - 1))) <= u
                found += above.astype(np.int64) << bit
        return labels

    def _cumulative(self, piece: slice) -> FloatArray:
        """Return cumulative probabilities, divided by their sum, the last ones out of reach."""
        k = self._probs.shape[1]
        table = np.full((piece.stop - piece.start, 1 << self._steps), 2.0)
        sums = np.cumsum(self._probs[self._row[piece]], axis=1, dtype=np.float64)
        table[:, : k - 1] = sums[:, :-1] / sums[:, -1:]
        return table


class _Paths:
    """The cumulative differences of every class, for labels as they were or as drawn.

    Columns are sorted once. ``_reached[c, i]`` is the sum of the i smallest scores of class c,
    weighted; ``_end`` finds the entry of a row and class in it, at the end of the row's tie, and
    ``_tie`` tells how many entries earlier that tie begins.
    """

    def __init__(
        self,
        probs: np.ndarray[Any, Any],
        mass: NumberArray | None,
        row: IntArray,
        *,
        sampling: bool,
    ) -> None:
        n, k = probs.shape
        units = _in_units(np.asarray(mass, np.float64)) if sampling else mass
        self._row, self._classes = row, k
        self._weight = units[row] if sampling and units is not None else None
        self._reached = np.zeros((k, n + 1))
        self._tie = np.ones((k, n + 1), np.int32)
        self._end = np.empty((n, k), np.int32)
        self._variance, self._unit = np.empty(k), np.ones(k)
        for c in range(k):
            order = np.argsort(probs[:, c], kind="stable")
            score = probs[order, c].astype(np.float64)
            each = np.ones(n) if units is None else units[order].astype(np.float64)
            self._reached[c, 1:] = compensated_sum(each * score)
            starts = np.concatenate([[0], np.flatnonzero(score[1:] != score[:-1]) + 1])
            size = np.diff(starts, append=n)
            self._end[order, c] = np.repeat(starts + size, size)
            self._tie[c, starts + size] = size
            v = each * score * (1 - score)
            self._variance[c] = (v * each).sum() if sampling else v.sum()
            if sampling and self._variance[c] > 0:  # the weight that the variance has
                self._unit[c] = (v * each * each).sum() / self._variance[c]

    def observed(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the surprise of each class, and what is at least as much of it."""
        highest, lowest = (ends[0] for ends in self.extremes(labels[None, :]))
        span = highest - lowest
        reach = guarded(span, self._reached[:, -1])
        return self.surprise(span), self.surprise(np.maximum(reach, 0.0))

    def surprise(self, ecce_r: FloatArray) -> FloatArray:
        """Put a range of cumulative differences, not divided by n, on the scale of Bennett."""
        return surprise(ecce_r, self._variance, self._unit)

    def extremes(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the largest and smallest value of the path of each class, a row a draw.

        A path only falls between the places where its class happened. At those it is largest
        at the end of the tie, smallest before the tie begins. In a tie the last sum is the largest,
        the first the smallest, so that ties need no treatment of their own.
        """
        draws, rows = labels.shape
        n, k = self._end.shape
        place = labels * (n + 1) + self._end.ravel().take(self._row * k + labels)
        if self._weight is None:
            place.sort(axis=1)
            each: Any = 1.0
            after = np.broadcast_to(np.arange(1.0, rows + 1), place.shape).ravel()
        else:
            order = np.argsort(place, axis=1)
            place = np.take_along_axis(place, order, axis=1)
            weight = self._weight[order]
            each, after = weight.ravel(), np.cumsum(weight, axis=1).ravel()
        place = place.ravel()

        count = np.bincount((labels + k * np.arange(draws)[:, None]).ravel(), minlength=draws * k)
        filled = np.flatnonzero(count)
        size = count[filled]
        start = np.cumsum(size) - size
        before = after - each
        offset = np.repeat(before[start], size)
        after, before = after - offset, before - offset
        reached = self._reached.ravel()
        back = self._tie.ravel().take(place)
        highest = np.zeros(draws * k)
        lowest = np.tile(-self._reached[:, -1], draws)
        lowest[filled] += after[start + size - 1]
        rise = np.maximum.reduceat(after - reached.take(place), start)
        fall = np.minimum.reduceat(before - reached.take(place - back), start)
        highest[filled] = np.maximum(rise, 0.0)
        lowest[filled] = np.minimum(lowest[filled], fall)
        shape = draws, k
        return highest.reshape(shape), np.minimum(lowest, 0.0).reshape(shape)
