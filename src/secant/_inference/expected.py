"""What calibrated predictions give: the mean of a normalised metric, for the scores at hand.

In the limit of many scores the means are those of Brownian motion, 1.60 for ECCE-R and 1.25 for
ECCE-MAD. A path that is seen only after each of a few ties misses what happens between: with one
distinct score both are 0.80, with ten they are 1.26 and 1.08.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant import null
from secant._inference.draws import same_every_time
from secant._inference.path import r_and_mad

if TYPE_CHECKING:
    from secant._base.types import FloatArray, NumberArray
    from secant._blocks.table import Blocks, Totals

__all__ = ["Expected", "chance_of_less", "chance_of_so_little", "expected"]

# For equal normal steps, m of them, the mean of the highest point of a path of variance 1 is that
# of Brownian motion less .5826 m^-1/2, plus .1995/m, less .0166/m^2 (Spitzer: it is the sum of
# k^-1/2 for k = 1 to m, over sqrt(2 pi m)). The first is Chernoff's; of ECCE-MAD the others are
# fitted to simulations.
_SEEN_LESS = 0.5826
_R = (-2 * _SEEN_LESS, 2 * 0.1995, -2 * 0.0166)
_MAD = (-_SEEN_LESS, 0.142, -0.018)

# Largest share of the variance in one step, and least variance, for which that will do.
_SMALL_SHARE = 0.02
_ENOUGH_VARIANCE = 50.0
# Otherwise paths are drawn, with about twice so many steps at most: so many numbers for all of
# them, and at most so many paths.
_STEPS = 256
_NUMBERS = 500_000
_DRAWS = 20_000


class Expected(NamedTuple):
    """Means of the normalised metrics under perfect calibration."""

    ecce_r: float
    ecce_mad: float

    def __repr__(self) -> str:
        return (
            f"Calibrated predictions with these scores give about {self.ecce_r:.3g} sigma "
            f"(ECCE-R) and {self.ecce_mad:.3g} sigma (ECCE-MAD) on average."
        )

    def _repr_html_(self) -> str:
        return f"<div>{self!r}</div>"


def expected(blocks: Blocks, totals: Totals) -> Expected:
    """Return the means of the normalised metrics of calibrated predictions with these scores.

    Both are 0 where every score is 0 or 1. They are right within about 2%.
    """
    if totals.sigma == 0:
        return Expected(0.0, 0.0)
    mean, share, each = _steps(blocks)
    few = totals.n * totals.variance < _ENOUGH_VARIANCE * totals.ww
    if not few and each.max() <= _SMALL_SHARE:
        return _of_small_steps(share, each)
    return _drawn(blocks, mean, share, each)


def chance_of_less(blocks: Blocks, normalized: float) -> float:
    """Return about how likely it is that calibrated predictions have no larger ECCE-R.

    The limit of many observations, less what a path that is seen at ties only misses: where steps
    are small right within a percent, and otherwise still right where it is next to nothing.
    """
    _, share, each = _steps(blocks)
    missed = 2.0 * _SEEN_LESS * float((_place_of_the_highest(share) * np.sqrt(each)).sum())
    return null.range.cdf(normalized + missed)


def chance_of_so_little(blocks: Blocks, total: float) -> float:
    """Return what the chance of calibrated predictions not to range over more cannot exceed.

    However few they are: no tie may then be off by more, and ties are independent. The most likely
    number of n events with chance s has a probability of at most (2 e n s (1 - s))^-1/2.

    Parameters
    ----------
    blocks
        Of rows with one weight.
    total
        ECCE-R, times the weight of all.
    """
    mean, rows = blocks.mean_score, blocks.n.astype(np.float64)
    variance = rows * mean * (1.0 - mean)
    allowed = total * rows / blocks.weight  # in events
    numbers = np.floor(2.0 * allowed * (1.0 + 1e-9)) + 1.0
    least = 2.0 * math.e * np.maximum(variance, 1e-300)
    log = np.minimum(np.log(numbers) - 0.5 * np.log(least), 0.0)
    return math.exp(float(np.where(blocks.open, 0.0, log).sum()))


def _steps(blocks: Blocks) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean scores of blocks, their shares of the variance, and those of a step in each."""
    mean = blocks.mean_score
    variance = blocks.weight * (blocks.weight / blocks.n) * mean * (1.0 - mean)
    share = variance / variance.sum()
    # A cell is taken for as many steps as it has observations.
    return mean, share, np.where(blocks.open, share / blocks.n, share)


def _of_small_steps(share: FloatArray, each: FloatArray) -> Expected:
    """Return the means for a path of normal steps, none of which has much of the variance."""
    place = _place_of_the_highest(share)
    sums = [float((place * each**power).sum()) for power in (0.5, 1.0, 2.0)]
    r, mad = (
        law.mean + sum(c * s for c, s in zip(terms, sums, strict=True))
        for law, terms in ((null.range, _R), (null.mad, _MAD))
    )
    return Expected(r, mad)


def _place_of_the_highest(share: FloatArray) -> FloatArray:
    """Return how likely it is that Brownian motion is highest in each step (the arcsine law)."""
    time = np.minimum(np.concatenate([[0.0], np.cumsum(share)]), 1.0)
    likely: FloatArray = np.diff(np.arcsin(np.sqrt(time))) * (2.0 / math.pi)
    return likely


def _drawn(blocks: Blocks, mean: FloatArray, share: FloatArray, each: FloatArray) -> Expected:
    """Return the means of drawn paths, of which small neighbouring steps are taken together."""
    rank = np.floor(_STEPS * (np.cumsum(share) - 0.5 * share))
    alone = share > 0.5 / _STEPS
    new = (np.diff(rank, prepend=-1.0) != 0) | alone | np.concatenate([[False], alone[:-1]])
    starts = np.flatnonzero(new)

    def pooled(column: NumberArray) -> FloatArray:
        return np.add.reduceat(column.astype(np.float64), starts)

    n, weight = pooled(blocks.n), pooled(blocks.weight)
    chance = np.clip(pooled(blocks.weight * mean) / weight, 0.0, 1.0)
    rng = same_every_time(None)
    draws = min(_DRAWS, _NUMBERS // len(n))
    happened = rng.binomial(n.astype(np.int64), chance, size=(draws, len(n)))
    path = np.cumsum((happened - n * chance) * (weight / n), axis=1)
    unit = math.sqrt(float((weight**2 / n * chance * (1.0 - chance)).sum()))
    # What is missed between the ends of steps taken together, beyond what the data miss: of normal
    # steps a part of their standard deviation, of rare events no more than is expected of them.
    events = math.sqrt(float((n * chance * (1.0 - chance)).sum()))
    within = pooled(share)
    coarse, fine = (np.minimum(_SEEN_LESS * np.sqrt(u), events * u) for u in (within, each))
    fine = pooled(share * fine) / np.maximum(within, 1e-300)
    several = np.add.reduceat(np.where(blocks.open, 2, 1), starts) > 1
    missed = float((_place_of_the_highest(within) * (coarse - fine))[several].sum())
    r, mad = (r_and_mad(path).mean(axis=0) / unit).tolist()
    return Expected(r + 2.0 * missed, mad + missed)
