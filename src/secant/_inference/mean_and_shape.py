r"""The test that decides: is the number of events right, and the path given that number.

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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._inference import bridge, limits
from secant._inference.binomial import clopper_pearson
from secant._inference.counts import (
    ADDED,
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
from secant._inference.path import compensated_sum
from secant._inference.tilt import Jumps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray, Obtained
    from secant._blocks.key_sums import KeySums
    from secant._blocks.table import Blocks, Totals
    from secant._inference.counts import Law
    from secant._inference.walk import Table

__all__ = [
    "Mean",
    "MeanAndShape",
    "Sums",
    "asked_for",
    "combined",
    "ends_and_excursions",
    "from_draws",
    "mean_of",
    "needs_shifted_sums",
    "of_flips",
    "of_limits",
    "of_sums",
    "of_ties",
    "sums_of",
    "surprises",
]

# Cells of all walks that are taken together.
_TOGETHER = 1 << 16
# The law of one tie is known at once, up to this variance.
_ONE_TIE = 1e9
# By how much, in standard deviations, a path may be off for scores being known as means of cells.
_SLACK = 1e-3
# How a P-value that rests on two was obtained: the word that promises less.
_WORDS: tuple[Obtained, ...] = "exact", "upper bound", "large-sample", "simulated"
# Kolmogorov's law has this mean: a Brownian bridge strays so far.
_MEAN_EXCURSION = math.sqrt(math.pi / 2.0) * math.log(2.0)


class MeanAndShape(NamedTuple):
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
    theta
        The shift.
    scores
        How many rows have each score, or about, where steps hold scores that differ much.
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
    theta: float = 0.0
    scores: tuple[NumberArray, FloatArray] | None = None


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
        happened: IntArray = self.n1.sum(axis=0) + self.before + self.after
        return happened

    @property
    def varies(self) -> BoolArray:
        """Whether paths have a shape: two ends, and outcomes of both kinds."""
        happened, rows = self.n1.sum(axis=0), self.n.sum(axis=0)
        varies: BoolArray = (self.ends.sum(axis=0) > 1) & (happened > 0) & (happened < rows)
        return varies

    def select(self, columns: BoolArray) -> _Columns:
        some: list[Any] = [each[..., columns] for each in self]
        return _Columns(*some)


def of_ties(
    tables: Sequence[Table], ends: IntArray | None = None, *, large: float | None = None
) -> list[MeanAndShape]:
    """Test tables of ties, exactly unless their variance is large.

    Parameters
    ----------
    tables
        The ties of each path: scores in its order, rows and events of each.
    ends
        Of one table along another order: the last entry of each place.
    large
        The variance from which on samples are large, if not ``bridge.LARGE``.

    Examples
    --------
    >>> two = np.array([0.2, 0.9]), np.array([4, 4]), np.array([3, 1])
    >>> [found] = of_ties([two])
    >>> round(found.excursion, 2), round(10**found.mean.log10, 3), round(10**found.shape.log10, 4)
    (2.45, 1.0, 0.0002)
    """
    rows = [int(table[1].sum()) for table in tables]
    few = [i for i, count in enumerate(rows) if count <= bridge.FEW_ROWS and ends is None]
    # Tables of about the same size together, so that little of what is laid out stays empty.
    few.sort(key=rows.__getitem__)
    found: dict[int, MeanAndShape] = {}
    while few:
        some = few[: max(1, _TOGETHER // (2 * rows[few[0]] + 2))]
        some = [i for i in some if rows[i] <= 2 * rows[few[0]]]
        found |= zip(some, _of_few(_laid_out([tables[i] for i in some])), strict=True)
        few = few[len(some) :]
    for i, table in enumerate(tables):  # the others, and what doubles hold nothing of
        if i not in found or found[i].mean.log10 == -math.inf:
            found[i] = _of_one(_laid_out([table], ends), bridge.LARGE if large is None else large)
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

    def put(values: Any, fill: float) -> Any:
        laid = np.full(shape, fill, values.dtype)
        laid[at] = values[random] if len(values) == len(random) else values
        return laid

    last = np.ones(len(random), np.bool_)
    if ends is not None:  # the last random entry of each place
        place = np.searchsorted(ends, entry[random])
        last = np.append(place[1:] != place[:-1], True)[: len(place)]
    columns = put(score, 0.5), put(n, 0), put(n1, 0), put(entry, -1), put(last, fill=False)
    return _Columns(*columns, before, after)


def _of_few(columns: _Columns) -> list[MeanAndShape]:
    """Test tables of few rows, exactly and all at once."""
    means, expected = _means_of_few(columns)
    shapes = np.zeros(len(expected))
    excursions, places = np.zeros(len(expected)), np.full(len(expected), -1)
    if (some := columns.varies).any():
        few = columns.select(some)
        chances = _chances(few)
        paths = _paths(few, chances, few.ends)
        shapes[some] = bridge.follow_few_rows(paths, chances)
        excursions[some] = paths.excursion / paths.deviation
        places[some] = np.where(
            paths.step < 0, -1, few.entry[paths.step, np.arange(len(paths.step))]
        )
    several = columns.ends.sum(axis=0) > 1
    both = np.where(several, _fisher(means + shapes), means)
    exact: Obtained = "exact"
    parts = (map(PValue, each.tolist(), repeat(exact)) for each in (both, means, shapes))
    more = (each.tolist() for each in (columns.happened, expected, excursions, places))
    return list(map(MeanAndShape, *parts, *more))


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
    logs = log10_share(np.cumsum(np.where(away, laws, 0.0), axis=0)[-1])
    # Where nothing is random all was right, or something was impossible.
    wrong = ~columns.n.any(axis=0) & ((columns.before > 0) | (columns.after < 0))
    return np.where(wrong, -np.inf, logs), expected


def _chances(columns: _Columns) -> tuple[FloatArray, FloatArray]:
    theta = bridge.shifts(columns.score, columns.n, columns.n1.sum(axis=0))
    return bridge.shifted(columns.score, theta)


def _paths(
    columns: _Columns, chances: tuple[FloatArray, FloatArray], ends: BoolArray
) -> bridge.Paths:
    mean = columns.n * chances[0]
    forbidden = columns.before, columns.after
    return bridge.observe(columns.n, columns.n1, (mean, mean * chances[1]), forbidden, ends)


def _of_one(columns: _Columns, large: float) -> MeanAndShape:
    """Test one table of any size."""
    if not columns.n.any():
        return _of_few(columns)[0]
    score, n, n1 = columns.score[:, 0], columns.n[:, 0], columns.n1[:, 0]
    chances = shifted = score, 1.0 - score
    if columns.varies[0]:
        event, failure = _chances(columns)
        shifted = event[:, 0], failure[:, 0]
    before, after = int(columns.before[0]), int(columns.after[0])
    mean, later = n * score, n * shifted[0]
    found = _tested(
        Sums(n, n1, mean, mean * chances[1], later, later * shifted[1], before, after),
        columns.ends[:, 0],
        lambda step, faint: coin_laws(*chances, n, step, faint),
        lambda step, faint: coin_laws(*shifted, n, step, faint),
        exact=True,
        least=large,
    )
    return found._replace(place=int(columns.entry[found.place, 0]) if found.place >= 0 else -1)


# --- sums over cells ------------------------------------------------------------------------------


def of_sums(sums: Sums) -> MeanAndShape:
    """Test sums over cells: upper bounds, as pools have laws that are matched, or large samples.

    Sums of cells that hold ties alone give what :func:`of_ties` gives, but for that.
    """
    n = sums.n
    return _tested(
        sums,
        np.ones(len(n), np.bool_),
        lambda step, faint: pool_laws(n, sums.expected, sums.variance, step, faint),
        lambda step, faint: pool_laws(n, sums.shifted, sums.spread, step, faint),
        exact=False,
        least=bridge.LARGE,
    )


def _tested(
    sums: Sums,
    ends: BoolArray,
    laws: Callable[[IntArray, float], list[Law]],
    shifted_laws: Callable[[IntArray, float], list[Law]],
    *,
    exact: bool,
    least: float,
) -> MeanAndShape:
    """Test steps of one path, looked at some ends, whose numbers of events have these laws.

    From the variance ``least`` on samples are large.
    """
    found: Obtained = "exact" if exact else "upper bound"
    added = 0.0 if exact else ADDED
    n, n1, looks = sums.n[:, None], sums.n1[:, None], ends[:, None]
    variance, k, rows = sums.variance[:, None], int(sums.n1.sum()), int(sums.n.sum())
    happened = k + sums.before + sums.after
    expected, spread = float(sums.expected.sum()), float(variance.sum())
    far = float(far_from(np.array(happened), np.array(expected), np.array(rows)))
    many, score = sums.scores or (sums.n, sums.expected / sums.n)
    chance = np.clip(score, np.finfo(float).tiny, 1.0 - 2.0**-53)
    narrower = float((many * chance * (1.0 - chance)).sum()) - spread
    jumps = Jumps(many, chance, narrower=max(narrower - 1e-12 * spread, 0.0))
    if spread >= (least if len(n) > 1 else max(least, _ONE_TIE)):
        mean = PValue(saddlepoint(jumps, expected, far), "large-sample")
    else:
        # The chance is at least about exp(-far^2 / V), if not as small as that of all or nothing.
        faint = FAINT + 2.0 * far * far / max(spread, 1e-300)
        pool = np.searchsorted(np.flatnonzero(bridge.looked_at(looks, variance)), np.arange(len(n)))
        log10 = log10_both_tails(laws(pool, faint), expected, far, faint)
        mean = PValue(min(log10 + added, 0.0), found)
        if log10 == -math.inf and far <= max(jumps.most(1), jumps.most(-1)) * (1 + 1e-12):
            mean = PValue(saddlepoint(jumps, expected, far), "upper bound")
    several, shape = int(ends.sum()) > 1, PValue(0.0, "exact")
    if not several or not 0 < k < rows:
        return MeanAndShape(
            combined(mean, shape) if several else mean, mean, shape, happened, expected
        )
    moments = sums.shifted[:, None], sums.spread[:, None]
    forbidden = np.array([sums.before]), np.array([sums.after])
    paths, log10, large = bridge.shape_of(
        lambda ends: bridge.observe(n, n1, moments, forbidden, ends, slack=sums.slack),
        looks,
        variance,
        shifted_laws,
        least,
    )
    shape = PValue(log10 if large else min(log10 + added, 0.0), "large-sample" if large else found)
    excursion = float(paths.excursion[0] / paths.deviation[0])
    both = combined(mean, shape)
    return MeanAndShape(both, mean, shape, happened, expected, excursion, int(paths.step[0]))


def sums_of(
    blocks: Blocks,
    variance: FloatArray | None = None,
    scores: tuple[NumberArray, FloatArray] | None = None,
) -> Sums:
    """Return what blocks of equal weight know without being asked for shifted sums.

    Scores of a block stand where their mean is. A shift bends between the lowest and the highest
    score of a block, so that sums of q lie between that and their chord; ``slack`` is by how much.

    Parameters
    ----------
    blocks
        In the order of scores, those that hold scores of 0 or 1 resolved where outcomes were
        forbidden.
    variance
        The sum of s(1 - s) in each; that of the mean score if it is not known.
    scores
        How many rows have each score, or about, where blocks are in another order.
    """
    open_ = (blocks.highest > 0.0) & (blocks.lowest < 1.0)
    before = int(blocks.n1[blocks.highest <= 0.0].sum())
    after = -int(blocks.n0[blocks.lowest >= 1.0].sum())
    some = blocks.select(open_)
    n, n1, score = some.n, some.n1, some.mean_score
    spread = n * score * (1.0 - score) if variance is None else variance[open_]
    k, rows = int(n1.sum()), int(n.sum())
    if not 0 < k < rows:
        return Sums(n, n1, n * score, spread, n * score, spread, before, after)
    many, each = n, score
    if scores is not None:
        random = (scores[1] > 0.0) & (scores[1] < 1.0)
        scores = many, each = np.asarray(scores[0], np.int64)[random], scores[1][random]
    inside = np.clip(each, np.finfo(float).tiny, 1.0 - 2.0**-53)[:, None]
    # Where forbidden outcomes are among others there may be more of them than can be.
    reached = np.array([min(max(k, 0.5), float(many.sum()) - 0.5)])
    theta = float(bridge.shifts(inside, many[:, None], reached)[0])
    event, failure = bridge.shifted(score, theta)
    (low, _), (high, _) = (bridge.shifted(each, theta) for each in (some.lowest, some.highest))
    width = some.highest - some.lowest
    share = np.divide(score - some.lowest, width, out=np.zeros(len(n)), where=width > 0.0)
    chord = np.where(width > 0.0, low + share * (high - low), event)
    slack = float((n * np.abs(chord - event)).sum())
    shifted = n * event, n * event * failure
    return Sums(n, n1, n * score, spread, *shifted, before, after, slack, theta, scores)


def asked_for(sums: Sums, blocks: Blocks, found: KeySums, unit: float) -> Sums:
    """Return sums of blocks with those of shifted scores that a source was asked for.

    ``unit`` is what an observation weighs.
    """
    assert found.shifted is not None and found.spread is not None  # noqa: S101, PT018
    open_ = (blocks.highest > 0.0) & (blocks.lowest < 1.0)
    shifted, spread = (
        np.bincount(found.cell, column, len(blocks))[open_]
        for column in (found.shifted, found.spread)
    )
    return sums._replace(shifted=shifted / unit, spread=spread / unit**2, slack=0.0)


def needs_shifted_sums(sums: Sums) -> bool:
    """Tell whether cells are so wide that sums of shifted scores must be asked for."""
    return sums.slack > _SLACK * math.sqrt(float(sums.spread.sum()))


# --- as limits have it ----------------------------------------------------------------------------


def of_limits(steps: FloatArray, variance: FloatArray) -> MeanAndShape:
    """Test a path as the limit of many observations has it, of any weights, as it is.

    Its shape is what is left of the path once the straight line to its end is taken off, in units
    of variance. Far in the tail P is too small: 1.8 to 500 times at 8 standard deviations.

    Parameters
    ----------
    steps, variance
        What each step adds to the path, and the variance of that.

    Examples
    --------
    >>> found = of_limits(np.array([3.0, 0.0, -1.0, 0.0]), np.full(4, 0.25))
    >>> round(10**found.mean.log10, 4), round(found.excursion, 2), found.place
    (0.0455, 2.5, 0)
    """
    path, whole = compensated_sum(steps), max(float(variance.sum()), 1e-300)
    strayed = path - path[-1] * (np.cumsum(variance) / whole)
    place = int(np.abs(strayed).argmax())
    far, end = float(strayed[place]) / math.sqrt(whole), float(path[-1]) / math.sqrt(whole)
    mean = PValue(_log10_normal(abs(end)), "large-sample")
    if np.count_nonzero(variance) < 2:
        return MeanAndShape(mean, mean, PValue(0.0, "exact"), 0, 0.0)
    shape = PValue(bridge.log10_kolmogorov(far), "large-sample")
    return MeanAndShape(combined(mean, shape), mean, shape, 0, 0.0, far, place)


def _log10_normal(z: float) -> float:
    """Return log10 of the chance that a standard normal variable is as far from 0."""
    if z < 30.0:
        return math.log10(math.erfc(z / math.sqrt(2.0)))
    return (math.log1p(-1.0 / (z * z)) - 0.5 * z * z - math.log(z * math.sqrt(0.5 * math.pi))) / (
        math.log(10)
    )


# --- drawn and flipped paths ----------------------------------------------------------------------


def surprises(paths: FloatArray, share: FloatArray, deviation: float) -> FloatArray:
    """Return minus the logarithm of x, as in large samples, and what it is made of.

    A path among others drawn like it has P by its rank: the share of those no less surprising; the
    mean and the shape have theirs by the size of the end, and of the excursion.

    Parameters
    ----------
    paths
        Cumulative differences where they are looked at, the last of which is the end.
    share
        The share of the variance up to there.
    deviation
        The standard deviation of the end.

    Returns
    -------
    ndarray
        A row for each path; columns for the test that decides, the mean, the shape.
    """
    ends, excursions = ends_and_excursions(paths, share)
    z, far = np.abs(ends) / deviation, excursions / deviation
    return np.stack([_surprise(z, far), z, far], axis=-1)


def ends_and_excursions(paths: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where paths end, and how far they stray from the straight line to there.

    ``share`` is the share of the variance up to where paths are looked at.
    """
    ends = paths[..., -1]
    return ends, np.abs(paths - ends[..., None] * share).max(axis=-1)


def _surprise(z: FloatArray, excursion: FloatArray) -> FloatArray:
    # Mills's ratio to a few percent, exact at 0; a rank asks for no more.
    log_mean = math.log(4.0 / math.sqrt(2.0 * math.pi)) - 0.5 * z * z
    log_mean -= np.log(z + np.sqrt(z * z + 8.0 / math.pi))
    x2 = np.maximum(excursion, 0.3) ** 2
    log_shape = math.log(2.0) - 2.0 * x2 + np.log1p(np.exp(-16.0 * x2) - np.exp(-6.0 * x2))
    found: FloatArray = -(log_mean + np.minimum(log_shape, 0.0))
    return found


def from_draws(drawn: PValue, of_range: PValue) -> PValue:
    """Return P from the rank of x, and below what draws can tell from ECCE-R's P-value.

    Where no draw is as surprising P is 1/(draws + 1), or that of ECCE-R if it is smaller: below
    that level ECCE-R's test alone rejects, above it the rank alone.
    """
    if drawn.method == "simulated" or of_range.log10 >= drawn.log10:
        return drawn
    return of_range


def of_flips(ends: FloatArray, excursions: FloatArray) -> tuple[PValue, PValue, PValue]:
    """Return P that decides, of the mean and of the shape, from signs of clusters.

    Parameters
    ----------
    ends, excursions
        Of the observed path, which comes first, and of flipped ones: see
        :func:`ends_and_excursions`.

    Notes
    -----
    How far ends and shapes go by chance is seen from all paths, the observed one included, so that
    it has no place of its own among them: P is valid if all orders of them are equally likely.
    """
    z = np.abs(ends) / max(math.sqrt(float(np.square(ends).mean())), 1e-300)
    far = excursions * (_MEAN_EXCURSION / max(float(excursions.mean()), 1e-300))
    both, mean, shape = (_rank(values) for values in (_surprise(z, far), z, far))
    return both, mean, shape


def _rank(values: FloatArray) -> PValue:
    """Return the share of values no smaller than the first, but for rounding."""
    large = values >= values[0] - 1e-12 * abs(float(values[0]))
    count = int(np.count_nonzero(large))
    method: Obtained = "simulated" if count > 1 else "upper bound"
    return PValue(math.log10(count / len(values)), method, len(values) - 1)


# --- the size of the mean -------------------------------------------------------------------------


class Mean(NamedTuple):
    """By how much outcomes differ from forecasts on average, and observed over expected events.

    ``named`` is the P-value of the difference with the spread that outcomes themselves show, which
    is asked before the mean is named as what is wrong.
    """

    value: float
    ci: tuple[float, float]
    ratio: float
    ratio_ci: tuple[float, float]
    named: float


def mean_of(blocks: Blocks, totals: Totals, level: float, spread: float = 0.0) -> Mean:
    """Return the mean difference with limits: Clopper and Pearson's where no row has a weight.

    Parameters
    ----------
    blocks, totals
        All observations.
    level
        The confidence level.
    spread
        Standard deviation of the difference between clusters, where there are any.
    """
    gain, weight = blocks.total_gain, totals.weight
    rate = float(blocks.w1.sum()) / weight
    value, forecast = gain / weight, max(rate - gain / weight, 0.0)
    deviation = max(totals.sigma_hat, spread)
    if totals.equal_weights and not spread:
        low, high = (float(each) for each in clopper_pearson(rate * totals.n, totals.n, level))
    else:
        from statistics import NormalDist  # noqa: PLC0415  (loads more than all of this)

        quantile = NormalDist().inv_cdf(0.5 + 0.5 * level)
        half = limits.noise(totals, quantile, 1.0 - level)
        half = max(half, math.hypot(quantile * spread, limits.unseen(totals, quantile, 1 - level)))
        low, high = max(rate - half, 0.0), min(rate + half, 1.0)
    far = abs(value) / deviation if deviation > 0.0 else math.inf
    named = math.erfc(far / math.sqrt(2.0)) if value else 1.0
    ratios = (each / forecast if forecast > 0.0 else math.inf for each in (rate, low, high))
    ratio, *ends = ratios
    return Mean(value, (low - forecast, high - forecast), ratio, (ends[0], ends[1]), named)
