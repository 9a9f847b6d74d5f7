r"""The test that decides: is the number of events right, and is the path right given the number?

ECCE-R asks both at once, and pays for it. Here the path of cumulative differences is split:

- *mean*: P that the number of events K among rows with scores between 0 and 1 is as far from what
  they expect, whose law is Poisson's binomial one;
- *shape*: P given K that the path strays as far once logits are shifted to expect K events
  (:mod:`secant._inference.bridge`).

With x the product of the two, P = x(1 - log x) (Fisher). The shape's P is valid given every K, and
the mean's by itself, so that this is too, whatever the number of rows: P(P <= a) <= a. One distinct
score has no shape: there P is that of the mean, which is ECCE-R's own.

Where weights differ, or signs of clusters are flipped, x comes from large samples, with the linear
bridge C_j - t_j C_J, and only its rank among that of drawn paths counts.
"""

from __future__ import annotations

import math
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._inference import bridge
from secant._inference.counts import (
    FAINT,
    coin_laws,
    far_from,
    in_rows,
    log10_both_tails,
    pool_laws,
    saddlepoint,
    side_by_side,
)
from secant._inference.draws import PValue
from secant._inference.lattice import SCALE, log10_share
from secant._inference.tilt import Jumps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import BoolArray, FloatArray, IntArray, Obtained
    from secant._blocks.table import Blocks
    from secant._inference.walk import Table

__all__ = [
    "Sums",
    "Tested",
    "combined",
    "from_draws",
    "of_flips",
    "of_sums",
    "of_ties",
    "surprise",
    "without_asking",
]

# Cells of all walks that are taken together.
_TOGETHER = 1 << 16
# From this variance on the number of events has its large-sample P-value.
_LARGE = 2_000.0
# Added where laws are matched; and what is left of a P-value that doubles cannot hold.
_ADDED, _NOTHING = math.log10(1.01), -560.0
# By how much, in standard deviations, a path may be off for scores being known as means of cells.
_SLACK = 1e-3
# How a P-value that rests on two was obtained: the word that promises less.
_WORDS: tuple[Obtained, ...] = "exact", "upper bound", "large-sample", "simulated"
# Kolmogorov's law has this mean: a Brownian bridge strays so far.
_MEAN_EXCURSION = math.sqrt(math.pi / 2.0) * math.log(2.0)


class Tested(NamedTuple):
    """P that decides, those of both parts, and what they are about.

    Attributes
    ----------
    pvalue, mean, shape
        The P-values; that of the shape is 1 where there is none.
    happened, expected
        Events among rows with scores between 0 and 1, those that scores of 0 and 1 forbade
        included, and how many these scores expect.
    excursion
        The furthest that the path strays once its mean is right, in standard deviations: above 0
        where scores are too extreme, below where they are too moderate.
    place
        The entry of the table after which it is there; -1 for none.
    """

    pvalue: PValue
    mean: PValue
    shape: PValue
    happened: int
    expected: float
    excursion: float = 0.0
    place: int = -1


class Sums(NamedTuple):
    """Sums over cells, or steps, in the order of the path, in which nothing is certain.

    Attributes
    ----------
    n, n1
        Rows, and events.
    expected, variance
        Sums of s and s(1 - s).
    shifted, spread
        Sums of q and q(1 - q), q = expit(logit s + theta), with theta such that all q add up to
        about as many events as happened.
    before, after
        What impossible outcomes add to the path before anything random, and after.
    slack
        By how much sums of q up to any end may be off.
    """

    n: IntArray
    n1: IntArray
    expected: FloatArray
    variance: FloatArray
    shifted: FloatArray
    spread: FloatArray
    before: int = 0
    after: int = 0
    slack: float = 0.0


def combined(mean: PValue, shape: PValue) -> PValue:
    """Return Fisher's P of two.

    Examples
    --------
    >>> half = PValue(math.log10(0.5), "exact")
    >>> round(10 ** combined(half, half).log10, 4)
    0.5966
    """
    log10 = float(_fisher(np.array(mean.log10 + shape.log10)))
    return PValue(log10, max(mean.method, shape.method, key=_WORDS.index))


def _fisher(log10_x: FloatArray) -> FloatArray:
    """Return decimal logarithms of x(1 - log x)."""
    more = np.log10(1.0 - np.maximum(log10_x, -1e300) * math.log(10))
    fisher: FloatArray = np.minimum(log10_x + more, 0.0)
    return fisher


# --- rows whose ties are known --------------------------------------------------------------------


class _Columns(NamedTuple):
    """Random steps of several tables, a column each; ``entry`` is where a step is in its table."""

    score: FloatArray
    n: IntArray
    n1: IntArray
    entry: IntArray
    ends: BoolArray
    before: IntArray
    after: IntArray

    @property
    def happened(self) -> IntArray:
        return self.n1.sum(axis=0) + self.before + self.after

    @property
    def varies(self) -> BoolArray:
        """Whether paths have a shape: two ends, and outcomes of both kinds."""
        happened, rows = self.n1.sum(axis=0), self.n.sum(axis=0)
        return (self.ends.sum(axis=0) > 1) & (happened > 0) & (happened < rows)

    def select(self, columns: BoolArray) -> _Columns:
        return _Columns(*(each[..., columns] for each in self))


def of_ties(tables: Sequence[Table], ends: IntArray | None = None) -> list[Tested]:
    """Test tables of ties, exactly unless their variance is large.

    Parameters
    ----------
    tables
        The ties of each path: scores in its order, rows and events of each.
    ends
        Of one table along another order: the last entry of each place.

    Examples
    --------
    >>> two = np.array([0.2, 0.9]), np.array([4, 4]), np.array([3, 1])
    >>> [found] = of_ties([two])
    >>> round(found.excursion, 2), round(10**found.mean.log10, 3), round(10**found.shape.log10, 4)
    (2.68, 1.0, 0.0075)
    """
    rows = [int(table[1].sum()) for table in tables]
    few = [i for i, count in enumerate(rows) if count <= bridge.FEW_ROWS and ends is None]
    # Tables of about the same size together, so that little of what is laid out stays empty.
    few.sort(key=rows.__getitem__)
    found: dict[int, Tested] = {}
    while few:
        some = few[: max(1, _TOGETHER // (2 * rows[few[0]] + 2))]
        some = [i for i in some if rows[i] <= 2 * rows[few[0]]]
        found |= zip(some, _of_few(_laid_out([tables[i] for i in some])), strict=True)
        few = few[len(some) :]
    for i in sorted(set(range(len(tables))) - found.keys()):
        found[i] = _of_one(_laid_out([tables[i]], ends))
    return [found[i] for i in range(len(tables))]


def _laid_out(tables: Sequence[Table], ends: IntArray | None = None) -> _Columns:
    many = len(tables)
    lengths = np.array([len(table[0]) for table in tables])
    column = np.repeat(np.arange(many), lengths)
    entry = np.arange(len(column)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    score, n, n1 = (np.concatenate(each) for each in zip(*tables, strict=True))
    random = (score > 0.0) & (score < 1.0) & (n > 0)
    before, after = (
        np.bincount(column[some], wrong[some], many).astype(np.int64)
        for some, wrong in ((score <= 0.0, n1), (score >= 1.0, n1 - n))
    )
    column = column[random]
    at = np.arange(len(column)) - np.searchsorted(column, column), column
    shape = int(at[0].max(initial=0)) + 1, many

    def put(values: FloatArray | IntArray | BoolArray, fill: float) -> FloatArray:
        laid = np.full(shape, fill, values.dtype)
        laid[at] = values[random] if len(values) == len(random) else values
        return laid

    last = np.ones(len(random), np.bool_)
    if ends is not None:  # the last random entry of each place
        place = np.searchsorted(ends, entry[random])
        last = np.append(place[1:] != place[:-1], True)[: len(place)]
    columns = put(score, 0.5), put(n, 0), put(n1, 0), put(entry, -1), put(last, fill=False)
    return _Columns(*columns, before, after)


def _of_few(columns: _Columns) -> list[Tested]:
    """Test tables of few rows, exactly and all at once."""
    means, expected = _means_of_few(columns)
    shapes = np.zeros(len(expected))
    excursions, places = np.zeros(len(expected)), np.full(len(expected), -1)
    if (some := columns.varies).any():
        few = columns.select(some)
        paths, chances = _paths(few)
        shapes[some] = bridge.follow_few_rows(paths, chances)
        excursions[some] = paths.excursion / paths.deviation
        places[some] = np.where(paths.step < 0, -1, few.entry[paths.step, np.arange(len(paths.step))])
    several = columns.ends.sum(axis=0) > 1
    both = np.where(several, _fisher(means + shapes), means)
    parts = (map(PValue, each.tolist(), repeat("exact")) for each in (both, means, shapes))
    more = (each.tolist() for each in (columns.happened, expected, excursions, places))
    return list(map(Tested, *parts, *more))


def _means_of_few(columns: _Columns) -> tuple[FloatArray, FloatArray]:
    """Return log10 P of the numbers of events, and how many are expected."""
    step, row, column, _ = in_rows(columns.n)
    shape = int(row.max(initial=-1)) + 1, columns.n.shape[1]
    event, failure = np.zeros(shape), np.ones(shape)
    event[row, column] = columns.score[step, column]
    failure[row, column] = 1.0 - columns.score[step, column]
    laws = side_by_side(event, failure, SCALE)
    expected = bridge.total(columns.n * columns.score)
    far = far_from(columns.happened, expected, columns.n.sum(axis=0))
    away = np.abs(np.arange(len(laws))[:, None] - expected) >= far
    # Where nothing is random all is known.
    return log10_share(np.cumsum(np.where(away, laws, 0.0), axis=0)[-1]), expected


def _paths(
    columns: _Columns, ends: BoolArray | None = None
) -> tuple[bridge.Paths, tuple[FloatArray, FloatArray]]:
    n, n1 = columns.n, columns.n1
    event, failure = bridge.shifted(columns.score, bridge.shifts(columns.score, n, n1.sum(axis=0)))
    forbidden, looks = (columns.before, columns.after), columns.ends if ends is None else ends
    mean = n * event
    return bridge.observe(n, n1, (mean, mean * failure), forbidden, looks), (event, failure)


def _of_one(columns: _Columns) -> Tested:
    """Test one table of any size."""
    score, n = columns.score[:, 0], columns.n[:, 0]
    if not n.any():
        return _of_few(columns)[0]
    variance = n * score * (1.0 - score)
    happened, expected = int(columns.happened[0]), float(bridge.total(columns.n * columns.score)[0])
    far = float(far_from(columns.happened, np.array([expected]), columns.n.sum(axis=0))[0])
    spread, jumps = float(variance.sum()), Jumps(n, score)
    if spread >= _LARGE:
        mean = PValue(saddlepoint(jumps, expected, far), "large-sample")
    else:
        halves = (2 * np.cumsum(n) > n.sum()).astype(np.int64)
        halves -= halves[0]
        # The chance is at least about exp(-far^2 / V), if not as small as that of all or nothing.
        faint = FAINT + 2.0 * far * far / max(spread, 1e-300)
        laws = coin_laws(score, 1.0 - score, n, halves, faint)
        mean = _mean(log10_both_tails(laws, expected, far, faint), jumps, expected, far)
    if not columns.varies[0]:
        certain = PValue(0.0, "exact")
        both = combined(mean, certain) if columns.ends.sum() > 1 else mean
        return Tested(both, mean, certain, happened, expected)
    paths, (event, failure) = _paths(columns)

    def laws_of(step: IntArray, faint: float) -> list[tuple[int, FloatArray]]:
        return coin_laws(event[:, 0], failure[:, 0], n, step, faint)

    ends = np.flatnonzero(columns.ends[:, 0])
    steps = np.add.reduceat(paths.variance[:, 0], np.append(0, ends[:-1] + 1))
    found: Obtained = "exact"
    if bridge.is_brownian(steps):
        log10, found = bridge.log10_kolmogorov(float(paths.excursion[0] / paths.deviation[0])), "large-sample"
    else:
        looks = bridge.looked_at(columns.ends, variance[:, None])
        if looks is not columns.ends:
            paths, _ = _paths(columns, looks)
        log10 = bridge.follow(paths, laws_of)
    excursion, step = float(paths.excursion[0] / paths.deviation[0]), int(paths.step[0])
    place = int(columns.entry[step, 0]) if step >= 0 else -1
    shape = PValue(log10, found)
    return Tested(combined(mean, shape), mean, shape, happened, expected, excursion, place)


def _mean(log10: float, jumps: Jumps, expected: float, far: float) -> PValue:
    """Return P of a mean; where doubles hold nothing of it, what bounds it."""
    if log10 > -math.inf or far > max(jumps.most(1), jumps.most(-1)) * (1 + 1e-12):
        return PValue(log10, "exact")
    return PValue(saddlepoint(jumps, expected, far), "upper bound")
