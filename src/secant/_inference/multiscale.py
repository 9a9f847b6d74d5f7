"""A test for narrow defects: many ranges of scores, wide and narrow, each judged at its own scale.

The cumulative metrics add up what is wrong over a whole range and compare it with the noise of all
observations, so that a large error in a hundredth of them drowns. Here every range is compared
with its own noise, and pays for how many ranges of its size there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.progress import reporting
from secant._inference.draws import same_every_time
from secant._inference.path import compensated_sum

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray, NumberArray
    from secant._blocks.table import Blocks

__all__ = ["Ranges", "Ties", "added", "null_draws", "ranges", "ties_of"]

# A range is two or three steps long, of a step that halves from one scale to the next.
_LENGTHS = (2, 3)
# The smallest step: this share of the variance of all observations.
_FINEST = 12
# A range of less variance than four fair coins, in units of weight, is too small to show anything.
_LEAST_VARIANCE = 1.0
# Below this, squares of scores leave the range of doubles. It only enters the yardstick.
_LEAST_SCORE = 1e-150
_LEAST_SHARE = 1e-300
# Observations a tie has on average from which a binomial number for it costs less than its coins.
_FEW = 16
# Numbers looked at together: a few megabytes.
_CELLS = 1 << 19
# Relative error within which two values of the statistic are the same.
GUARD = 1e-9


@dataclass(frozen=True)
class Ties:
    """Observations with scores strictly between 0 and 1, in the order of scores.

    ``score``, ``n``, ``n1`` are the distinct scores, the observations at each and the successes
    among them. With sampling weights ``weight`` is that of every single observation, in the order
    of scores and then of weights, and ``happened`` the responses.
    """

    score: FloatArray
    n: IntArray
    n1: IntArray
    weight: FloatArray | None = None
    happened: IntArray | None = None

    @cached_property
    def chance(self) -> FloatArray:
        """The score of every single observation."""
        return np.repeat(self.score, self.n)

    @cached_property
    def ends(self) -> IntArray:
        """The last observation of each tie."""
        return np.cumsum(self.n) - 1

    def total(self, power: int) -> FloatArray:
        """Return the sum of w^power in each tie."""
        if self.weight is None:
            return self.n.astype(np.float64)
        return np.add.reduceat(self.weight**power, self.ends - self.n + 1)

    @cached_property
    def reached(self) -> FloatArray:
        """Running sum of w s at the end of each tie."""
        return compensated_sum(self.total(1) * self.score)

    def observed(self, at: IntArray) -> FloatArray:
        """Return the path of sums of w(r - s) at the ends of some ties, as a table of one row."""
        if self.weight is None or self.happened is None:
            path = np.cumsum(self.n1) - self.reached
        else:
            path = np.cumsum(self.weight * self.happened)[self.ends] - self.reached
        return path[None, at]

    @property
    def _by_counts(self) -> bool:
        """Whether a number drawn for each tie costs less than its coins."""
        return self.weight is None and int(self.n.sum()) >= _FEW * len(self.score)

    @property
    def cells(self) -> int:
        """Numbers drawn for each path."""
        return len(self.score) if self._by_counts else int(self.n.sum())

    def paths(self, rng: np.random.Generator, draws: int, at: IntArray) -> FloatArray:
        """Draw paths as :meth:`observed` has one under perfect calibration, a row each.

        The last tie is among those at whose ends they are shown.
        """
        if self._by_counts:
            successes = rng.binomial(self.n, self.score, size=(draws, len(self.n)))
            return np.cumsum(successes, axis=1)[:, at] - self.reached[at]
        happened = rng.random((draws, len(self.chance))) < self.chance
        gains: Any = happened * (np.int64(1) if self.weight is None else self.weight)
        starts = np.append(0, self.ends[at[:-1]] + 1)
        sums: FloatArray = np.cumsum(np.add.reduceat(gains, starts, axis=1), axis=1)
        return sums - self.reached[at]

    def digest(self) -> bytes:
        """Return a name for all that the law of the statistic depends on."""
        name = blake2b(self.score.tobytes())
        name.update(self.n.tobytes())
        if self.weight is not None:
            name.update(b"weighted" + self.weight.tobytes())
        return name.digest()


def ties_of(blocks: Blocks) -> tuple[Ties, Blocks]:
    """Take the blocks of unweighted observations for ties, each at its mean score.

    Returns
    -------
    ties, blocks
        The ties, and the blocks that they are: those of a score of 0 or 1 have no variance.
    """
    mean = np.clip(blocks.scored / blocks.weight, 0, 1)
    score = np.where(blocks.lowest < blocks.highest, mean, blocks.lowest)
    random = (score > 0) & (score < 1)
    blocks = blocks.select(random)
    return Ties(score[random], blocks.n, blocks.n1), blocks


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of consecutive ties and the yardstick of each.

    The range number i holds the ties ``start[i]``, ..., ``stop[i] - 1``; ``at`` are the ties at
    whose ends ranges end, or after which they start. Under perfect calibration the sum of w(r - s)
    in a range has the variance ``variance`` and the first three cumulants of ``unit`` times a
    binomial number of ``trials`` trials with chance ``p`` = 1 - ``q``, less its mean.
    """

    start: IntArray
    stop: IntArray
    at: IntArray
    variance: FloatArray
    unit: FloatArray
    p: FloatArray
    q: FloatArray
    trials: FloatArray
    penalty: FloatArray

    def __len__(self) -> int:
        return len(self.start)

    def share(self) -> FloatArray:
        """Return shares of an error probability, in proportion to variance; they add up to 1."""
        shares: FloatArray = self.variance / self.variance.sum()
        return shares

    def sums(self, path: FloatArray) -> FloatArray:
        """Return the sum of w(r - s) in every range, from paths at the ties ``at``, a row each."""
        path = np.concatenate([np.zeros((len(path), 1)), path], axis=1)
        first, last = (np.searchsorted(self.at, place) for place in (self.start, self.stop))
        difference: FloatArray = path[:, last] - path[:, first]
        return difference

    def judged(self, sums: FloatArray, index: IntArray) -> FloatArray:
        """Return the root of twice the log likelihood ratio, less the penalty, of some ranges."""
        p, q, trials = self.p[index], self.q[index], self.trials[index]
        moved = sums / (self.unit[index] * trials)
        likelihood = _relative_entropy(p + moved, p) + _relative_entropy(q - moved, q)
        return np.sqrt(np.maximum(2 * trials * likelihood, 0)) - self.penalty[index]

    def largest(self, sums: FloatArray) -> FloatArray:
        """Return the largest value over all ranges, for each row of sums.

        Relative entropy is at most the chi-square distance, so the root is at most sqrt(2) times
        the standardised sum: only the few ranges that this allows to be the largest are computed.
        """
        highest = np.abs(sums) * np.sqrt(2 / self.variance) - self.penalty
        row = np.arange(len(sums))
        first = highest.argmax(axis=1)
        best = self.judged(sums[row, first], first)
        row, candidate = np.nonzero(highest >= best[:, None])
        np.maximum.at(best, row, self.judged(sums[row, candidate], candidate))
        return best


def ranges(ties: Ties) -> Ranges:
    """Choose the ranges to look at; no tie is cut.

    A scale has steps of one size in the variance of observations. Its ranges are two or three
    steps long and begin at every step: halved steps from scale to scale make them dyadic ranges,
    those shifted by half their length, and those half as long again. Each takes in the whole of
    any tie that it meets.
    """
    score = np.maximum(ties.score, _LEAST_SCORE)
    v = score * (1 - score)
    squares, cubes = ties.total(2) * v, ties.total(3) * v
    reached = np.concatenate([[0.0], np.cumsum(squares)])
    total = reached[-1]
    unit = cubes.sum() / squares.sum()
    scales = math.floor(math.log2(max(1.0, 2 * total / (_LEAST_VARIANCE * unit**2))))
    pairs = [np.array([[0, len(score)]])]
    for scale in range(1, min(scales, _FINEST) + 1):
        step = np.arange(2**scale + 1) * (total / 2**scale)
        start = np.searchsorted(reached, step + GUARD * total, side="right") - 1
        stop = np.searchsorted(reached, step - GUARD * total, side="left")
        for length in _LENGTHS:
            pairs.append(np.column_stack([start[:-length], stop[length:]]))  # noqa: PERF401
    start, stop = np.unique(np.concatenate(pairs), axis=0).T
    variance, third = added(squares, start, stop), added(cubes, start, stop)
    p = np.maximum(added(cubes * score, start, stop) / third, _LEAST_SHARE)
    # From above, where terms are small, so that these are not lost.
    failures, size = (cubes * (1 - score))[::-1], len(score)
    q = np.maximum(added(failures, size - stop, size - start) / third, _LEAST_SHARE)
    unit_of = third / variance
    return Ranges(
        start=start,
        stop=stop,
        at=np.unique(np.concatenate([start[start > 0], stop])) - 1,
        variance=variance,
        unit=unit_of,
        p=p,
        q=q,
        trials=variance / (unit_of**2 * p * q),
        penalty=np.sqrt(2 * (1 + np.log(np.maximum(total / variance, 1)))),
    )


def added(values: NumberArray, start: IntArray, stop: IntArray) -> FloatArray:
    """Return the sums of values over ranges."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    within: FloatArray = sums[stop] - sums[start]
    return within


def _relative_entropy(x: FloatArray, p: FloatArray) -> FloatArray:
    """Return x log(x / p), 0 where nothing is left of x; x outside [0, 1] is moved to its end."""
    x = np.clip(x, 0, 1)
    ratio = np.divide(x, p, out=np.ones_like(x), where=x > 0)
    return x * np.log(ratio)


# Null draws that depend on the scores alone are kept for whoever asks again about the same scores.
_KEPT: dict[tuple[bytes, int], FloatArray] = {}
_KEEP = 16
_KEEPING = Lock()


def null_draws(
    ties: Ties, family: Ranges, *, draws: int, rng: np.random.Generator | None
) -> FloatArray:
    """Return the statistic of responses drawn under perfect calibration."""
    if rng is not None:
        return _draw(ties, family, draws, rng)
    key = ties.digest(), draws
    with _KEEPING:
        kept = _KEPT.get(key)
    if kept is None:
        kept = _draw(ties, family, draws, same_every_time(None))
    with _KEEPING:
        _KEPT.pop(key, None)
        _KEPT[key] = kept  # the last used stands last
        while len(_KEPT) > _KEEP:
            del _KEPT[next(iter(_KEPT))]
    return kept


def _draw(ties: Ties, family: Ranges, draws: int, rng: np.random.Generator) -> FloatArray:
    batch = max(1, _CELLS // max(ties.cells, len(family)))
    drawn = []
    with reporting("Drawing outcomes") as report:
        for made in range(0, draws, batch):
            size = min(batch, draws - made)
            drawn.append(family.largest(family.sums(ties.paths(rng, size, family.at))))
            report(made + size, draws)
    return np.concatenate(drawn)
