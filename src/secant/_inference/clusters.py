r"""P-values and limits for rows that belong together: the signs of whole clusters are flipped.

Rows of one patient, customer or question share what the score does not know. Their steps add up,
and the path of cumulative differences wanders further than that of independent rows. The path of
all rows is the sum of those of clusters, C = sum_c D_c; if clusters are independent of each other
and predictions are calibrated, each D_c is as likely to have gone the other way, about. So the
range of

.. math:: \sum_c \xi_c D_c, \qquad \xi_c = \pm 1 \text{ at random},

drawn again and again, tells how far the path goes by chance, whatever happens inside clusters.
Where events are rare flips alone are not to be trusted (with none seen, there is nothing to flip):
there the P-value is at least that of independent rows.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant import null
from secant._blocks.key_sums import ENDS
from secant._inference import limits
from secant._inference.choose import limit_is_trusted
from secant._inference.draws import ENOUGH, FEWEST_DRAWS, PValue, PValues, Tally, same_every_time
from secant._inference.mean_and_shape import MeanAndShape, ends_and_excursions, of_flips
from secant._inference.path import r_and_mad

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.key_sums import KeySums
    from secant._blocks.table import Blocks, Totals

__all__ = [
    "FEW",
    "FEWEST",
    "Flips",
    "Plan",
    "decided",
    "flip",
    "needed",
    "plan",
    "pvalues",
    "suffice",
    "tail",
    "warnings",
]

# Below so many clusters signs tell nothing, and below so many they tell it roughly.
FEWEST = 20
FEW = 50
# Skewness from which on flipped signs are known to mislead: five clusters alone have 0.45.
_LOPSIDED = 0.4
# Draws times pairs of a cluster and a cell up to which cells are as many as can be.
BUDGET = 1_000_000_000
# How many budgets the further draws for adjusted P-values may cost.
_PATIENCE = 8
# Draws as extreme as the smallest P-value that matters, on average.
_BEYOND = 20
# Draws beyond a quantile; of a rarer one the law of Brownian motion tells how far it is from there.
_LAST = 10
# Levels below which nothing is told.
_RAREST = 1e-12
# Terms held at a time, where they are more than one draw has, and draws made together.
_TERMS = 1 << 14
_TOGETHER = 64
# By how much, in terms of all gains, sums added in another order may differ.
_ROUNDING = 1e-12


class Plan(NamedTuple):
    """How many draws: for limits, for P-values; and how many pairs they can be made of."""

    kept: int
    draws: int
    limit: int


def plan(tests: int, confidence_level: float) -> Plan:
    """Return how many draws so many adjusted tests take."""

    def at_least(several: int) -> int:
        wanted = _BEYOND * several / (1 - confidence_level)
        return max(FEWEST_DRAWS, math.ceil(wanted * (1 - 1e-12)))

    draws = at_least(tests)
    return Plan(at_least(1), draws, BUDGET // draws)


def needed(blocks: Blocks) -> BoolArray:
    """Mark the blocks to resolve into ties, so that paths are read at all distinct scores."""
    return blocks.open if len(blocks) <= ENDS else np.zeros(len(blocks), bool)


_UNKNOWN = PValue(0.0, "exact")
_NOTHING_KNOWN = MeanAndShape(_UNKNOWN, _UNKNOWN, _UNKNOWN, 0, 0.0)


@dataclass(frozen=True)
class Flips:
    """What flipping the signs of clusters has shown.

    Attributes
    ----------
    n_clusters
        How many clusters there are.
    r, mad
        The P-values of ECCE-R and ECCE-MAD.
    ranges, deviations
        The range and the largest absolute value of flipped paths, in ascending order; empty where
        clusters are too few.
    cut_short
        How many draws were made, where making as many as adjusted tests need takes too long.
    skew
        Skewness of the sum over clusters, estimated from their totals: large where a few clusters
        make it up, all in one direction.
    tested
        Mean and shape, ``place`` being the number of rows up to where the path strays furthest.
    spread
        The standard deviation of the difference between outcomes and forecasts on average.
    """

    n_clusters: int
    r: PValue
    mad: PValue
    ranges: FloatArray
    deviations: FloatArray
    cut_short: int = 0
    skew: float = 0.0
    tested: MeanAndShape = _NOTHING_KNOWN
    spread: float = 0.0

    @property
    def too_few(self) -> bool:
        """Whether clusters are too few to tell anything."""
        return self.n_clusters < FEWEST

    def quantile(self, law: null.BrownianLaw, alpha: float) -> float:
        """Return what a flipped path exceeds with probability alpha, by ECCE-R's law or MAD's."""
        drawn = self.ranges if law is null.range else self.deviations
        if not drawn.size:
            return math.inf
        rarest = _LAST / (drawn.size + 1)
        place = math.ceil((1 - max(alpha, rarest)) * (drawn.size + 1) * (1 - 1e-12))
        reached = float(drawn[max(place, 1) - 1])
        if alpha >= rarest:
            return reached
        return reached * limits.critical(law, alpha) / limits.critical(law, rarest)

    def mean(self, law: null.BrownianLaw) -> float:
        """Return the mean of ECCE-R, or of ECCE-MAD, over flipped paths."""
        drawn = self.ranges if law is null.range else self.deviations
        return float(drawn.mean()) if drawn.size else math.nan


def suffice(totals: Totals) -> bool:
    """Tell whether events are so many that flips alone give the P-value."""
    return totals.sigma > 0 and limit_is_trusted(totals)


def pvalues(flips: Flips | None, totals: Totals, independent: PValues | None) -> PValues:
    """Return the P-values of ECCE-R and ECCE-MAD.

    Parameters
    ----------
    flips
        What signs have shown; None where there are no clusters.
    totals
        Sums over all rows.
    independent
        The P-values for independent rows; None where those of signs :func:`suffice`.
    """
    if independent is not None and (flips is None or totals.sigma == 0):
        return independent  # where nothing varies, nothing varies together
    assert flips is not None  # noqa: S101
    signed = PValues(flips.r, flips.mad)
    if independent is None:
        return signed
    pairs = zip(signed, independent, strict=True)
    return PValues(*(max(pair, key=lambda each: each.log10) for pair in pairs))


def decided(flips: Flips | None, totals: Totals, independent: MeanAndShape | None) -> MeanAndShape:
    """Return mean and shape, with the larger P-values where those of signs do not suffice.

    Parameters
    ----------
    flips, totals, independent
        As for :func:`pvalues`.
    """
    if independent is not None and (flips is None or totals.sigma == 0):
        return independent
    assert flips is not None  # noqa: S101
    if independent is None:
        return flips.tested
    pairs = zip(flips.tested[:3], independent[:3], strict=True)
    both, mean, shape = (max(pair, key=lambda each: each.log10) for pair in pairs)
    return flips.tested._replace(pvalue=both, mean=mean, shape=shape)


def warnings(flips: Flips | None) -> Iterator[str]:
    """Say what to keep in mind about clusters, a line each."""
    if flips is None:
        return
    many = f"{flips.n_clusters:,} cluster{'' if flips.n_clusters == 1 else 's'}"
    if flips.too_few:
        yield f"{many}: fewer than {FEWEST} cannot tell chance from miscalibration."
    elif flips.n_clusters < FEW:
        yield f"Only {many}: P-values and confidence limits are approximate below {FEW}."
    if abs(flips.skew) > _LOPSIDED:
        yield (
            "A few clusters, all off in one direction, make up most of the sum: P-values and "
            "confidence limits are not to be trusted, unless more clusters are had."
        )
    if flips.cut_short:
        yield (
            f"No P-value below {1 / (1 + flips.cut_short):.1g} can come from {flips.cut_short:,} "
            "draws of signs, and so many tests need smaller ones: test fewer groups, or larger "
            "units."
        )


def tail(law: null.BrownianLaw, value: float, totals: Totals, flips: Flips | None) -> float:
    """Return the level at which the half-width is a value: how rarely noise goes as far."""
    low, high = sys.float_info.min if flips is None else _RAREST, 1.0
    if limits.half_width(law, totals, high, flips) >= value:
        return high
    if limits.half_width(law, totals, low, flips) <= value:
        return low
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low) * math.sqrt(high)
        if limits.half_width(law, totals, middle, flips) <= value:
            high = middle
        else:
            low = middle
    return high


def flip(
    sums: KeySums, weight: float, planned: Plan, rng: np.random.Generator | None = None
) -> Flips:
    """Flip the signs of clusters at random, and see how far paths go.

    Parameters
    ----------
    sums
        By cluster and cell, an entry for every pair.
    weight
        The weight of all rows.
    planned
        How many draws to make.
    rng
        Where signs come from; the same ones in every run without it.

    Notes
    -----
    Neither the order of rows nor the names of clusters change the answer: clusters are put in
    an order that their sums determine before anything is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from secant._blocks.key_sums import KeySums
    >>> each, ones = np.arange(20), np.ones(20)
    >>> sums = KeySums(each, 0 * each, each, ones / 2, ones, ones / 4)  # all of one direction
    >>> round(10 ** flip(sums, 20.0, plan(1, 0.95)).r.log10, 3)
    0.001
    """
    paths = _Paths(sums)
    if paths.clusters < FEWEST:
        return Flips(paths.clusters, _UNKNOWN, _UNKNOWN, np.empty(0), np.empty(0))
    rng = same_every_time(rng)
    affordable = _PATIENCE * BUDGET // max(1, sums.cell.size)
    draws = min(planned.draws, max(planned.kept, affordable))
    tally = Tally(paths.observed, ENOUGH)
    drawn: list[FloatArray] = []
    strayed = [np.stack(ends_and_excursions(paths.path[None], paths.share), axis=-1)]

    def statistics(some: int) -> FloatArray:
        flipped = paths.draw(rng, some)
        found = r_and_mad(flipped)
        if tally.made < planned.kept:
            drawn.append(found)
        strayed.append(np.stack(ends_and_excursions(flipped, paths.share), axis=-1))
        return found

    wanted, settled = planned.kept, False
    while True:  # until there are enough for mean and shape too
        tally.fill(
            statistics, draws=draws, batch=paths.together, fewest=wanted, doing="Flipping signs"
        )
        tested = of_flips(*np.concatenate(strayed).T)
        settled = 10 ** tested[0].log10 * (tally.made + 1) > ENOUGH
        if settled or tally.made >= draws:
            break
        wanted = min(2 * tally.made, draws)
    kept = np.sort(np.concatenate(drawn)[: planned.kept], axis=0)
    r, mad = tally.found()
    spread = math.sqrt(float(np.square(np.concatenate(strayed)[:, 0]).mean()))
    return Flips(
        paths.clusters,
        r,
        mad,
        kept[:, 0] / weight,
        kept[:, 1] / weight,
        cut_short=tally.made if tally.made < planned.draws and not settled else 0,
        skew=_skewness(np.asarray(np.bincount(sums.key, sums.gain), np.float64)),
        tested=MeanAndShape(*tested, 0, 0.0, *paths.furthest(spread)),
        spread=spread / weight,
    )


def _skewness(totals: FloatArray) -> float:
    """Return the skewness of a sum, estimated from its independent parts of mean 0."""
    spread = float((totals**2).sum())
    return float((totals**3).sum()) / spread**1.5 if spread > 0 else 0.0


class _Paths:
    """The paths of clusters, added up with any signs.

    Attributes
    ----------
    clusters
        How many there are.
    observed
        What the range and the largest absolute value must reach to be as extreme as they are.
    path
        The observed path.
    share
        The share of the variance, of independent rows, up to each cell's end.
    together
        How many draws to make at once.
    """

    def __init__(self, sums: KeySums) -> None:
        self.clusters, number = _in_order(sums)
        order = np.lexsort((number, sums.cell))
        self._cluster, self._gain = number[order], sums.gain[order]
        self._starts = np.flatnonzero(np.diff(sums.cell[order], prepend=-1))
        self._steps = np.add.reduceat(self._gain, self._starts)
        self.together = min(_TOGETHER, max(1, _TERMS // order.size))
        guard = _ROUNDING * float(np.abs(self._gain).sum())
        self.path = np.cumsum(self._steps)
        self.observed = r_and_mad(self.path) - guard
        assert sums.spread is not None  # noqa: S101
        variance = np.cumsum(np.add.reduceat(sums.spread[order], self._starts))
        self.share = variance / max(float(variance[-1]), 1e-300)
        self._rows = np.cumsum(np.add.reduceat(sums.n[order], self._starts))

    def furthest(self, deviation: float) -> tuple[float, int]:
        """Return how far the path strays at most, in deviations of its end, and after which row."""
        strayed = self.path - self.path[-1] * self.share
        place = int(np.abs(strayed).argmax())
        return float(strayed[place]) / max(deviation, 1e-300), int(self._rows[place])

    def draw(self, rng: np.random.Generator, draws: int) -> FloatArray:
        """Draw signs; return the paths, a row each."""
        # Whole words of 64 signs: what is drawn does not depend on how many are drawn at once.
        words = rng.integers(
            0, (1 << 64) - 1, (draws, -(-self.clusters // 64)), np.uint64, endpoint=True
        )
        flipped = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, count=self.clusters)
        terms = flipped.take(self._cluster, axis=1) * self._gain
        if self._starts.size < self._gain.size:  # else every pair has a cell of its own
            terms = np.add.reduceat(terms, self._starts, axis=1)
        paths: FloatArray = np.cumsum(self._steps - 2.0 * terms, axis=1)
        return paths


def _in_order(sums: KeySums) -> tuple[int, IntArray]:
    """Return how many clusters there are, and each entry's number in an order of their contents.

    The cells decide that a cluster has rows in, then its gains, each times a number of its cell's
    own. Clusters that share both are alike, and their order makes no difference; nor does it
    change when all rows are copied, or all weights multiplied.
    """
    known, number = np.unique(sums.key, return_inverse=True)
    mixed = _mixed(sums.cell)
    contents = np.zeros(known.size, np.uint64)
    np.add.at(contents, number, mixed)
    share = 1.0 + (mixed >> np.uint64(11)) * 2.0**-53
    gains = np.bincount(number, sums.gain * share, minlength=known.size)
    place = np.empty(known.size, np.int64)
    place[np.lexsort((gains, contents))] = np.arange(known.size)
    return known.size, place[number]


def _mixed(numbers: Any) -> Any:
    """Mix the bits of whole numbers (splitmix64)."""
    bits = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
