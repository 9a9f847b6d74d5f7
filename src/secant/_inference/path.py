"""The observed path of cumulative differences, as the finite-sample P-values see it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from secant._inference.step_laws import Mixture

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.grains import Grains

__all__ = [
    "Path",
    "barriers",
    "compensated_sum",
    "observe",
    "observe_grains",
    "pooled",
    "seldom",
    "thresholds",
]

# How much the law of a pool may lose for each rare outcome, when its grains are taken together.
_LOOSE = 2e-5
# What a mixture of grains expects, its last grain aside, and what a grain may that is in one:
# together less than one.
_RARE, _ALONE = 0.6, 0.3
# What a step without a look inside it expects, at most, beside its first tie.
_BETWEEN_LOOKS = 0.5
# So that a quotient is finite.
_TINY = 1e-300


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
    mixture = Mixture(grains.rare, grains.square, np.minimum(one, other), np.maximum(one, other))
    pools = mixture.largest > mixture.least
    path = Path(
        score=np.where(grains.low < 0.5, grains.rare, 1.0 - grains.rare),
        size=grains.n,
        reached=grains.reached,
        trials=np.cumsum(grains.n),
        variance=float((grains.n * grains.rare * (1.0 - grains.rare)).sum()),
        ends=np.arange(len(grains.n)) if grains.ends is None else grains.ends,
        mixture=mixture if pools.any() else None,
        across=pools if grains.across is None else grains.across,
    )
    path = replace(path, drift=_with_room(path.rare[path.across]))
    if grains.ends is not None and path.mixture is not None:  # several may share a step
        path = _as_mixtures(path, mixture)
    return path, deviation, span


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


def barriers(path: Path, c: float | FloatArray) -> tuple[IntArray, IntArray]:
    r"""Return the success counts at which \|X\| reaches c after each step, below and above."""
    low = np.floor(path.after - c).astype(np.int64)
    high = np.ceil(path.after + c).astype(np.int64)
    return low, np.maximum(high, low + 1)  # room to be absorbed from, if c is below 0


def seldom(path: Path, c: float) -> Path:
    r"""Leave out looks at which no path is seen to reach a deviation of c, or of c - drift, first.

    Of scores below 1/2 the success count never falls, and neither does a barrier. So who is above
    the upper one is still there at the last look before it moves, and who falls below the lower
    one is found there at the first look after that has moved; all other looks find nobody. Above
    1/2 the same holds of the count less that of the rows, with the barriers exchanged. Not more is
    pooled than has bounds of its law.
    """
    low_side = path.score < 0.5
    starts = np.concatenate([[0], path.ends[:-1] + 1])
    above = np.cumsum(np.where(low_side, 0, path.size))[path.ends]
    rises, falls = np.zeros(len(path), bool), np.zeros(len(path), bool)
    for reach in {c, c - path.drift}:
        low, high = (each - above for each in barriers(path, reach))
        rises |= (np.diff(low, prepend=low[0]) > 0) | (np.diff(high, append=high[-1]) > 0)
        falls |= (np.diff(low, append=low[-1]) < 0) | (np.diff(high, prepend=high[0]) < 0)
    matters = rises | falls
    all_low = np.logical_and.reduceat(low_side, starts)
    mixed = all_low != np.logical_or.reduceat(low_side, starts)
    rare = np.add.reduceat(path.rare, starts)
    alone = mixed | (rare > 0.5 * _BETWEEN_LOOKS)
    part = np.floor(np.cumsum(rare) / _BETWEEN_LOOKS)
    matters[:-1] |= (part[1:] != part[:-1]) | (all_low[1:] != all_low[:-1]) | alone[1:]
    matters |= alone
    matters[-1] = True
    fewer = replace(path, ends=path.ends[matters])
    return fewer if path.mixture is None else _as_mixtures(fewer, path.mixture)


def _as_mixtures(path: Path, mixture: Mixture) -> Path:
    """Make mixtures of the grains in a step, as far as next to nothing is lost by that."""
    starts = np.concatenate([[0], path.ends[:-1] + 1])
    largest = np.maximum.reduceat(mixture.largest, starts)
    # Three rare outcomes in one would be off by what it expects times the largest chance, all laws
    # by the square of that.
    room = np.where(largest**2 > _LOOSE, 0.0, _LOOSE / np.maximum(largest, _TINY))
    room[largest == np.minimum.reduceat(mixture.least, starts)] = np.inf
    # Only of what is rare, all on one side, bounds of the law are known.
    low = path.score < 0.5
    room = np.minimum(room, _RARE * (1.0 - largest))
    room = np.repeat(room, np.diff(path.ends, prepend=-1))
    before = np.cumsum(path.rare) - path.rare
    before -= np.repeat(before[starts], np.diff(path.ends, prepend=-1))
    part = np.floor(before / np.maximum(room, _TINY))
    first = np.append(True, (part[1:] != part[:-1]) | (low[1:] != low[:-1])) | (room == 0.0)
    heavy = path.rare > _ALONE
    first |= heavy | np.append(False, heavy[:-1])
    first[starts] = True
    starts = np.flatnonzero(first)
    last = np.append(starts[1:], len(first)) - 1
    pool = (np.cumsum(first) - 1)[path.ends]
    alone = starts == last
    size = np.add.reduceat(path.size, starts)
    rare = np.add.reduceat(path.rare, starts) / size
    rare = np.where(alone, mixture.mean[starts], rare)
    square = np.add.reduceat(path.size * mixture.square, starts) / size
    square = np.where(alone, mixture.square[starts], square)
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
            square,
            np.minimum.reduceat(mixture.least, starts),
            np.maximum.reduceat(mixture.largest, starts),
        ),
    )


def _with_room(expected: FloatArray) -> float:
    """Return the largest of some sums, and a little more than rounding can have taken off."""
    return float(expected.max(initial=0.0)) * (1.0 + 1e-9)
