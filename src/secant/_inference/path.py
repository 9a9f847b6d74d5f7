"""The observed path of cumulative differences, as the finite-sample P-values see it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from secant._inference.chains import Mixture

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.grains import Grains

__all__ = ["Path", "compensated_sum", "observe", "observe_grains", "pooled", "thresholds"]

# How much the law of a pool may lose, relative to it, when its grains are taken together.
_LOOSE = 1e-4
# What a pool of several scores expects, at most: chains take it for rare below 1.
_RARE = 0.99


@dataclass(frozen=True)
class Path:
    """The ties at which anything is random: a score of 0 or 1 leaves the path where it is.

    Along another order than that of scores a step may hold several scores.

    Attributes
    ----------
    score, size
        Score and number of observations of each tie.
    reached, trials
        Sum of scores A_k and number of observations up to each tie.
    variance
        Sum of s(1 - s).
    ends
        The ties at whose ends we look at the path; those between are pooled with the next, or share
        its place in the order.
    drift
        By how much X can differ inside a pool from what it is at its ends.
    mixture
        Where ties stand for rows of several scores: what is known of these.
    across
        Where they do: whether such a tie pools several steps.
    """

    score: FloatArray
    size: IntArray
    reached: FloatArray
    trials: IntArray
    variance: float
    ends: IntArray
    drift: float = 0.0
    mixture: Mixture | None = None
    across: BoolArray | None = None

    def __len__(self) -> int:
        return int(self.ends.shape[0])

    @property
    def exact(self) -> bool:
        """Whether nothing is pooled, so that all laws are known."""
        return not self.drift and self.mixture is None

    @cached_property
    def rare(self) -> FloatArray:
        """The successes that are expected of each tie, or failures where these are rarer."""
        each = np.minimum(self.score, 1.0 - self.score)
        expected: FloatArray = self.size * (each if self.mixture is None else self.mixture.mean)
        return expected

    @cached_property
    def after(self) -> FloatArray:
        """The sum of scores after each step."""
        return self.reached[self.ends]

    @cached_property
    def before(self) -> FloatArray:
        """The sum of scores before each step."""
        return np.concatenate([[0.0], self.after[:-1]])

    @cached_property
    def total(self) -> IntArray:
        """The number of observations up to the end of each step."""
        return self.trials[self.ends]

    @cached_property
    def count(self) -> IntArray:
        """The number of observations in each step."""
        return np.diff(self.total, prepend=0)

    @cached_property
    def several(self) -> BoolArray:
        """Whether a step holds several ties."""
        found: BoolArray = np.diff(self.ends, prepend=-1) > 1
        return found


def observe(
    score: FloatArray, n: IntArray, n1: IntArray, ends: IntArray | None = None
) -> tuple[Path, float, float]:
    """Return the path, and what max|X| and max X - min X must reach to be as extreme as here.

    Parameters
    ----------
    score, n, n1
        The score of each tie, its observations and successes, in the order of the path.
    ends
        The last tie of each step, where steps hold several; each is one of its own otherwise.
    """
    # A score of 1 is a success for certain, and moves the path by what is missing from that.
    certain = score >= 1.0
    reached = compensated_sum(np.where(certain, 0.0, n * score))
    x = np.cumsum(np.where(certain, n1 - n, n1)) - reached
    if ends is not None:
        x = x[ends]
    expected = float(reached[-1]) + float(n[certain].sum())
    deviation, span = thresholds(float(x.max()), float(x.min()), expected)
    random = (score > 0.0) & ~certain
    if ends is None:
        ends = np.arange(int(random.sum()))
    else:
        last = np.cumsum(random)[ends] - 1
        new = np.append(
            last[1:] != last[:-1], True
        )  # a step without chance ends where the last did
        ends = last[new & (last >= 0)]
    score, n = score[random], n[random]
    variance = float((n * score * (1.0 - score)).sum())
    path = Path(score, n, reached[random], np.cumsum(n), variance, ends)
    return path, deviation, span


def observe_grains(grains: Grains) -> tuple[Path, float, float]:
    """Return what :func:`observe` does, of ties that are pooled already."""
    deviation, span = thresholds(grains.highest, grains.lowest, grains.expected)
    chances = (np.minimum(end, 1.0 - end) for end in (grains.low, grains.high))
    one, other = chances
    mixture = Mixture(grains.rare, np.minimum(one, other), np.maximum(one, other))
    path = Path(
        score=np.where(grains.low < 0.5, grains.rare, 1.0 - grains.rare),
        size=grains.n,
        reached=grains.reached,
        trials=np.cumsum(grains.n),
        variance=float((grains.n * grains.rare * (1.0 - grains.rare)).sum()),
        ends=np.arange(len(grains.n)) if grains.ends is None else grains.ends,
        mixture=mixture,
        across=mixture.largest > mixture.least if grains.across is None else grains.across,
    )
    return replace(path, drift=_with_room(path.rare[path.across])), deviation, span


def thresholds(highest: float, lowest: float, expected: float) -> tuple[float, float]:
    """Return what max|X| and max X - min X must reach to be as extreme as here.

    Parameters
    ----------
    highest, lowest
        The largest and the smallest value of the path, its start at 0 aside.
    expected
        A_n, the sum of all scores.
    """
    highest, lowest = max(highest, 0.0), min(lowest, 0.0)
    ulp = 4.0 * math.ulp(expected)
    deviation, span = max(highest, -lowest), highest - lowest
    return deviation - (1e-12 * deviation + ulp), span - (1e-12 * span + ulp)


def compensated_sum(terms: FloatArray) -> FloatArray:
    """Return the prefix sums, each as if added in twice the precision and rounded once."""
    sums: FloatArray = np.cumsum(terms, axis=0)
    before = np.concatenate([np.zeros_like(sums[:1]), sums[:-1]])
    # What each addition rounded off, exactly (Knuth).
    share = sums - before
    lost = (before - (sums - share)) + (terms - share)
    sums += np.cumsum(lost, axis=0)
    return sums


def pooled(path: Path, drift: float) -> Path:
    """Pool neighbouring steps of which at most ``drift`` successes or failures are expected."""
    starts = np.concatenate([[0], path.ends[:-1] + 1])
    low = path.score < 0.5
    rare = np.add.reduceat(path.rare, starts)
    # A step with scores on both sides of 1/2 is pooled with no other.
    mixed = np.logical_and.reduceat(low, starts) != np.logical_or.reduceat(low, starts)
    poolable = (rare <= 0.5 * drift) & ~mixed
    # The steps of a pool have running sums in the same part, and the first may begin before it.
    part = drift - float(rare[poolable].max(initial=0.0))
    number = np.floor(np.cumsum(np.where(poolable, rare, 0.0)) / part)
    same = poolable[1:] & poolable[:-1] & (number[1:] == number[:-1])
    same &= low[starts[1:]] == low[starts[:-1]]
    last = np.append(np.flatnonzero(~same), len(rare) - 1)
    ends = path.ends[last]
    drifts = np.diff(last, prepend=-1) > 1
    if path.across is not None:
        drifts |= path.across[ends]
    expected = np.add.reduceat(rare, np.concatenate([[0], last[:-1] + 1]))
    fewer = replace(path, ends=ends, drift=_with_room(expected[drifts]))
    return fewer if path.mixture is None else _as_mixtures(fewer, path.mixture)


def _as_mixtures(path: Path, mixture: Mixture) -> Path:
    """Make one mixture of a pool of them, where next to nothing is lost by that."""
    starts = np.concatenate([[0], path.ends[:-1] + 1])
    n = np.add.reduceat(path.size, starts)
    together = Mixture(
        np.add.reduceat(path.rare, starts) / n,
        np.minimum.reduceat(mixture.least, starts),
        np.maximum.reduceat(mixture.largest, starts),
    )
    # About what two rare outcomes in one pool would be off by.
    loose = together.largest > (1.0 + _LOOSE * n) * together.mean
    # Only of steps that are rare, all on one side, bounds of the law are known.
    loose |= n * together.mean >= _RARE * (1.0 - together.largest)
    low = path.score < 0.5
    loose |= np.logical_and.reduceat(low, starts) != np.logical_or.reduceat(low, starts)
    first = np.repeat(loose, np.diff(path.ends, prepend=-1))
    first[starts] = True
    starts = np.flatnonzero(first)
    last = np.append(starts[1:], len(first)) - 1
    pool = (np.cumsum(first) - 1)[path.ends]
    alone = starts == last
    size = np.add.reduceat(path.size, starts)
    rare = np.add.reduceat(path.rare, starts) / size
    rare = np.where(alone, mixture.mean[starts], rare)
    return replace(
        path,
        score=np.where(path.score[starts] < 0.5, rare, 1.0 - rare),
        size=size,
        reached=path.reached[last],
        trials=path.trials[last],
        ends=pool,
        across=None if path.across is None else np.logical_or.reduceat(path.across, starts),
        mixture=Mixture(
            rare,
            np.minimum.reduceat(mixture.least, starts),
            np.maximum.reduceat(mixture.largest, starts),
        ),
    )


def _with_room(expected: FloatArray) -> float:
    """Return the largest of some sums, and a little more than rounding can have taken off."""
    return float(expected.max(initial=0.0)) * (1.0 + 1e-9)
