"""The observed path of cumulative differences, as the finite-sample P-values see it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray

__all__ = ["Path", "compensated_sum", "observe", "pooled", "thresholds"]


@dataclass(frozen=True)
class Path:
    """The ties at which anything is random: a score of 0 or 1 leaves the path where it is.

    Attributes
    ----------
    score, size
        Score and number of observations of each tie.
    reached, trials
        Sum of scores A_k and number of observations up to each tie.
    variance
        Sum of s(1 - s).
    ends
        The ties at whose ends we look at the path; those between are pooled with the next.
    drift
        By how much X can differ inside a pool from what it is at its ends.
    """

    score: FloatArray
    size: IntArray
    reached: FloatArray
    trials: IntArray
    variance: float
    ends: IntArray
    drift: float = 0.0

    def __len__(self) -> int:
        return int(self.ends.shape[0])

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

    def backwards(self) -> Path:
        """Return the path with its steps in reverse order, where none are pooled."""
        score, size = self.score[::-1], self.size[::-1]
        sums = compensated_sum(size * score)
        return replace(self, score=score, size=size, reached=sums, trials=np.cumsum(size))

    def marks(self, most: int) -> IntArray:
        """Return some steps, at most twice so many, that share the variance fairly.

        The last is the last of all. For the path backwards they are the same places.
        """
        variance = np.diff(
            np.cumsum(self.size * self.score * (1.0 - self.score))[self.ends], prepend=0.0
        )
        even = np.arange(1, most) / most * (1.0 + 1e-9)
        ahead, back = (
            np.searchsorted(np.cumsum(each), even * each.sum(), side="right")
            for each in (variance, variance[::-1])
        )
        taken = np.unique(np.concatenate([ahead, len(self) - back, [len(self)]]))
        return taken[taken > 0] - 1


def observe(score: FloatArray, n: IntArray, n1: IntArray) -> tuple[Path, float, float]:
    """Return the path, and what max|X| and max X - min X must reach to be as extreme as here."""
    reached = compensated_sum(n * score)
    x = np.cumsum(n1) - reached
    deviation, span = thresholds(float(x.max()), float(x.min()), float(reached[-1]))
    # A score of 0 can only come first and a score of 1 last, so no A_k in between changes.
    random = (score > 0.0) & (score < 1.0)
    score, n = score[random], n[random]
    variance = float((n * score * (1.0 - score)).sum())
    ends = np.arange(len(score))
    path = Path(score, n, reached[random], np.cumsum(n), variance, ends)
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
    """Pool neighbouring ties of which no more than ``drift`` successes or failures are expected."""
    rare = path.size * np.minimum(path.score, 1.0 - path.score)
    poolable = rare <= 0.5 * drift
    # The ties of a pool have running sums in the same half of a drift, so add up to less than one.
    half = np.floor(np.cumsum(np.where(poolable, rare, 0.0)) / (0.5 * drift))
    same = poolable[1:] & poolable[:-1] & (half[1:] == half[:-1])
    same &= (path.score[1:] < 0.5) == (path.score[:-1] < 0.5)
    ends = np.append(np.flatnonzero(~same), len(rare) - 1)
    several = np.diff(ends, prepend=-1) > 1
    expected = np.add.reduceat(rare, np.concatenate([[0], ends[:-1] + 1]))
    largest = float(expected[several].max(initial=0.0))
    return replace(path, ends=ends, drift=largest * (1.0 + 1e-12))
