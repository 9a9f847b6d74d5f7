"""The law of the number of successes at each step of a chain.

A step is one observation, a tie of one score, or several scores at one place. Laws are exact but
for tails that are left out; where only a few sums over rows of several scores are known, they are
bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray

__all__ = ["WHOLE", "Mixture", "Steps", "make_steps", "mirrored", "rare_steps", "windows"]

# Ties up to this size enter with all their outcomes, larger ones without the improbable.
WHOLE = 64

# What rounding can have done to the mean of chances, relative to it: far more than it does.
_ROUNDED = 1e-10

# Observations of several scores that are added up together; a tie of more is a binomial count.
_COINS = 32
# Steps of many scores that expect fewer rare outcomes have their laws reckoned together.
_FEW = 16.0


@dataclass(frozen=True, slots=True)
class Steps:
    """What the success count does at each step.

    Attributes
    ----------
    stay, move
        Probabilities of no success and of a success, for steps of one observation.
    first, offset, pmf
        For all other steps: ``pmf[offset[k]:offset[k + 1]]`` are the probabilities of ``first[k]``,
        ``first[k] + 1``, ... successes. A step of one observation has none.
    """

    stay: FloatArray
    move: FloatArray
    first: IntArray
    offset: IntArray
    pmf: FloatArray

    def __len__(self) -> int:
        return int(self.stay.shape[0])

    def part(self, steps: slice) -> Steps:
        """Return some of the steps."""
        offset = self.offset[steps.start : steps.stop + 1]
        return Steps(self.stay[steps], self.move[steps], self.first[steps], offset, self.pmf)


class Mixture(NamedTuple):
    """Chances of the rarer outcome among rows that enter together as one tie.

    A tie proper has one chance; where the least and the largest differ, rows of several scores are
    taken together, and what is known of the law of their number of successes are bounds, from the
    mean of the chances and that of their squares.
    """

    mean: FloatArray
    square: FloatArray
    least: FloatArray
    largest: FloatArray


def windows(
    score: FloatArray,
    size: IntArray,
    ends: IntArray,
    faint: float,
    mixture: Mixture | None = None,
) -> tuple[IntArray, IntArray]:
    """Return the smallest and the largest number of successes to reckon with at each step.

    Parameters
    ----------
    score, size
        Score and number of observations of each tie.
    ends
        The last tie of each step, which may hold several.
    faint
        Other numbers have together less than 2 exp(-faint) at each step.
    mixture
        Where ties stand for rows of several scores.
    """
    one_score, one_size = score[ends], size[ends]
    mean = one_size * one_score
    # Bernstein's inequality, solved for the deviation.
    variance = mean * (1.0 - one_score)
    reach = faint / 3.0 + np.sqrt(faint * faint / 9.0 + 2.0 * faint * variance)
    whole = one_size <= WHOLE
    first = np.where(whole, 0, np.maximum(np.floor(mean - reach), 0.0)).astype(np.int64)
    last = np.where(whole, one_size, np.minimum(np.ceil(mean + reach), one_size)).astype(np.int64)
    several = _several(ends, mixture)
    if several.any():
        total = np.diff(np.cumsum(size)[ends], prepend=0)
        rare, low_side = rare_steps(score, size, ends, mixture)
        if rare.any():
            most = total.copy()
            for alike, expected in _alike(rare, _rare_mean(score, size, ends, mixture)):
                most[alike] = np.minimum(_rare_count(expected, faint), total[alike])
            first = np.where(rare, np.where(low_side, 0, total - most), first)
            last = np.where(rare, np.where(low_side, most, total), last)
        mixed = several & ~rare
        mean, variance = (
            np.add.reduceat(each, _starts(ends))
            for each in (size * score, size * score * (1.0 - score))
        )
        reach = faint / 3.0 + np.sqrt(faint * faint / 9.0 + 2.0 * faint * variance)
        whole = total <= WHOLE
        least = np.where(whole, 0, np.maximum(np.floor(mean - reach), 0.0)).astype(np.int64)
        most = np.where(whole, total, np.minimum(np.ceil(mean + reach), total)).astype(np.int64)
        first, last = np.where(mixed, least, first), np.where(mixed, most, last)
    return first, last


def _starts(ends: IntArray) -> IntArray:
    return np.concatenate([[0], ends[:-1] + 1])


def rare_steps(
    score: FloatArray, size: IntArray, ends: IntArray, mixture: Mixture | None = None
) -> tuple[BoolArray, BoolArray]:
    """Mark steps of several scores all near 0, or all near 1, and tell which of the two.

    Together few successes, or failures, are expected of them.
    """
    low = score < 0.5
    starts = _starts(ends)
    low_side: BoolArray = np.logical_and.reduceat(low, starts)
    one_side = low_side == np.logical_or.reduceat(low, starts)
    expected = _rare_mean(score, size, ends, mixture)
    return _several(ends, mixture) & one_side & (expected < _FEW), low_side


def _alike(rare: BoolArray, expected: FloatArray) -> Iterator[tuple[BoolArray, float]]:
    """Mark rare steps of which about as much is expected, and return the most that is."""
    doublings = np.ceil(np.log2(np.maximum(expected, 1.0)))
    for each in np.unique(doublings[rare]).tolist():
        alike = rare & (doublings == each)
        yield alike, float(expected[alike].max())


def make_steps(
    score: FloatArray,
    size: IntArray,
    ends: IntArray,
    faint: float,
    *,
    mixture: Mixture | None = None,
    bound: Literal["lower", "upper"] = "upper",
) -> Steps:
    """Return the law of the number of successes at each step; see :func:`windows`.

    Of a mixture they are bounds of the law, each probability by itself.
    """
    first, last = windows(score, size, ends, faint, mixture)
    several = _several(ends, mixture)
    one_score, one_size = score[ends], size[ends]
    taps = np.where((one_size == 1) & ~several, 0, last - first + 1)
    offset = np.concatenate([[0], np.cumsum(taps)])
    pmf = np.empty(int(offset[-1]))
    small = ~several & (one_size > 1) & (one_size <= WHOLE)
    for count in np.unique(one_size[small]).tolist():
        chosen = np.flatnonzero(small & (one_size == count))
        at = offset[chosen][:, np.newaxis] + np.arange(count + 1)
        pmf[at] = _small_binomial(count, one_score[chosen])
    for k in np.flatnonzero(~several & (one_size > WHOLE)).tolist():
        law = _binomial(int(one_size[k]), float(one_score[k]), int(first[k]), int(last[k]))
        pmf[offset[k] : offset[k + 1]] = law
    if several.any():
        is_rare = rare_steps(score, size, ends, mixture)[0]
        step = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1))
        odds = _odds(score, size, mixture, bound)
        expected = _rare_mean(score, size, np.arange(len(score)), mixture)
        for alike, _ in _alike(is_rare, _rare_mean(score, size, ends, mixture)):
            member = alike[step]
            most = int(taps[alike].max())
            # Of all ties together as much may be left out as of a step.
            own = _rare_count(float(expected[member].max()), faint + math.log(len(score)))
            laws = _rare_laws(step[member], odds.of(member), taps=most, own=own)
            inside = np.arange(most) < taps[alike][:, np.newaxis]
            at = np.where(
                (one_score[alike] < 0.5)[:, np.newaxis],
                offset[:-1][alike][:, np.newaxis] + np.arange(most),
                offset[1:][alike][:, np.newaxis] - 1 - np.arange(most),
            )
            pmf[at[inside]] = laws[inside]
        starts = _starts(ends)
        for k in np.flatnonzero(several & ~is_rare).tolist():
            ties = slice(int(starts[k]), int(ends[k]) + 1)
            if mixture is None:
                mixed = _mixed_law(score[ties], size[ties], faint)
            else:
                known = Mixture(*(each[ties] for each in mixture))
                mixed = _law_of_grains(score[ties], size[ties], known, faint, bound)
            pmf[offset[k] : offset[k + 1]] = mixed.between(int(first[k]), int(last[k]))
    return Steps(1.0 - one_score, one_score, first, offset, pmf)


def mirrored(steps: Steps, total: IntArray) -> Steps:
    """Count failures instead of successes; ``total`` is the number of observations of each step."""
    taps = np.diff(steps.offset)
    # Reverse each law within its own place.
    ends = np.repeat(steps.offset[:-1] + steps.offset[1:] - 1, taps)
    pmf = steps.pmf[ends - np.arange(steps.pmf.shape[0])]
    return Steps(steps.move, steps.stay, total - (steps.first + taps - 1), steps.offset, pmf)


def _small_binomial(size: int, score: FloatArray) -> FloatArray:
    """Return the probabilities of 0 to ``size`` successes, a row for each score."""
    count = np.arange(size + 1)
    choose = np.array([math.comb(size, j) for j in range(size + 1)], dtype=np.float64)
    p = score[:, np.newaxis]
    probabilities: FloatArray = choose * p**count * (1.0 - p) ** (size - count)
    return probabilities


def _binomial(size: int, score: float, first: int, last: int) -> FloatArray:
    """Return the probabilities of ``first`` to ``last`` successes, scaled to add up to 1."""
    mode = min(max(math.floor((size + 1) * score), first), last)
    odds = score / (1.0 - score)
    up = np.arange(mode, last, dtype=np.float64)
    down = np.arange(mode, first, -1, dtype=np.float64)
    # From the mode outwards by ratios of neighbours: falling products of positive numbers.
    above = np.cumprod((size - up) / (up + 1.0) * odds)
    below = np.cumprod(down / (size - down + 1.0) / odds)
    shape = np.concatenate([below[::-1], [1.0], above])
    probabilities: FloatArray = shape / shape.sum()
    return probabilities


class _Law(NamedTuple):
    """The probabilities of ``first``, ``first + 1``, ... successes."""

    first: int
    pmf: FloatArray

    def between(self, first: int, last: int) -> FloatArray:
        """Return the probabilities of ``first`` to ``last`` successes."""
        whole = np.zeros(last - first + 1)
        start, stop = max(first, self.first), min(last + 1, self.first + len(self.pmf))
        whole[start - first : stop - first] = self.pmf[start - self.first : stop - self.first]
        return whole

    def plus(self, other: _Law, least: float) -> _Law:
        """Return the law of the sum of two counts, less the tails that are below ``least``."""
        pmf = np.convolve(self.pmf, other.pmf)
        cut = int(np.searchsorted(np.cumsum(pmf), least))
        end = len(pmf) - int(np.searchsorted(np.cumsum(pmf[::-1]), least))
        return _Law(self.first + other.first + cut, pmf[cut:end])


def _mixed_law(score: FloatArray, size: IntArray, faint: float) -> _Law:
    """Return the law of the number of successes among ties of several scores.

    Coins are tossed together first, all of them at a time, and then laws are added in pairs.
    """
    laws = []
    for p, n in zip(score[size > _COINS].tolist(), size[size > _COINS].tolist(), strict=True):
        reach = faint / 3.0 + math.sqrt(faint * faint / 9.0 + 2.0 * faint * n * p * (1.0 - p))
        first, last = max(math.floor(n * p - reach), 0), min(math.ceil(n * p + reach), n)
        laws.append(_Law(first, _binomial(n, p, first, last)))
    few = size <= _COINS
    coins = np.repeat(score[few], size[few])
    if coins.size:
        table = np.zeros((-(-coins.size // _COINS), _COINS))
        table.ravel()[: coins.size] = coins
        tossed = np.zeros((len(table), _COINS + 1))
        tossed[:, 0] = 1.0
        for p in table.T[:, :, np.newaxis]:
            tossed[:, 1:] = tossed[:, 1:] * (1.0 - p) + tossed[:, :-1] * p
            tossed[:, :1] *= 1.0 - p
        laws += [_Law(0, law) for law in tossed]
        left = coins.size % _COINS
        if left:
            laws[-1] = _Law(0, laws[-1].pmf[: left + 1])
    least = math.exp(-faint)
    while len(laws) > 1:
        odd = laws[-1:] if len(laws) % 2 else []
        laws = [a.plus(b, least) for a, b in zip(laws[::2], laws[1::2], strict=False)] + odd
    return laws[0]


def _law_of_grains(
    score: FloatArray,
    size: IntArray,
    mixture: Mixture,
    faint: float,
    bound: Literal["lower", "upper"],
) -> _Law:
    """Return a bound of the law of the number of successes among mixtures and ties."""
    several = mixture.largest > mixture.least
    laws = [_mixed_law(score[~several], size[~several], faint)] if (~several).any() else []
    for low in (True, False):
        here = several & ((score < 0.5) == low)
        if not here.any():
            continue
        odds = _odds(score, size, mixture, bound).of(here)
        faintest = faint + math.log(len(score))
        own, taps = (
            _rare_count(float(each), faintest) for each in (odds.first.max(), odds.first.sum())
        )
        law = _rare_laws(np.zeros(int(here.sum()), np.int64), odds, taps=taps + 1, own=own)[0]
        total = int(size[here].sum())
        law = law[: total + 1]
        laws.append(_Law(0, law) if low else _Law(total - len(law) + 1, law[::-1]))
    together = laws[0]
    for law in laws[1:]:
        together = together.plus(law, math.exp(-faint))
    return together


def _several(ends: IntArray, mixture: Mixture | None) -> BoolArray:
    """Tell which steps are of several scores."""
    several: BoolArray = np.diff(ends, prepend=-1) > 1
    return several if mixture is None else several | (mixture.largest > mixture.least)[ends]


def _rare_mean(
    score: FloatArray, size: IntArray, ends: IntArray, mixture: Mixture | None
) -> FloatArray:
    """Return how many successes, or failures if these are rarer, each step expects; or more."""
    if mixture is None:
        rare: FloatArray = size.astype(np.float64) * np.minimum(score, 1.0 - score)
    else:
        rare = size.astype(np.float64) * mixture.mean / (1.0 - mixture.largest) * (1.0 + _ROUNDED)
    return np.add.reduceat(rare, _starts(ends))


class _Odds(NamedTuple):
    """Of each tie, what its law follows from; see :func:`_odds`.

    With j rare outcomes, P(j + 1)/P(j) = f_j/(j + 1), where f_0 and f_1 are ``first`` and
    ``second``, and f_j = ``total`` - j ``each`` afterwards; 0 from ``rows`` on.
    """

    log_none: FloatArray
    first: FloatArray
    second: FloatArray
    total: FloatArray
    each: FloatArray
    rows: FloatArray

    def laws(self, degree: int) -> FloatArray:
        """Return the probabilities of 0 to ``degree`` rare outcomes, a column for each tie."""
        laws = np.empty((degree + 1, len(self.rows)))
        laws[0] = np.exp(self.log_none)
        for j in range(degree):
            factor = (self.first, self.second)[j] if j < 2 else self.total - j * self.each
            laws[j + 1] = laws[j] * np.where(self.rows > j, factor.clip(0.0) / (j + 1.0), 0.0)
        return laws

    def of(self, member: BoolArray) -> _Odds:
        """Return those of some ties."""
        return _Odds(*(each[member] for each in self))


def _odds(
    score: FloatArray, size: IntArray, mixture: Mixture | None, bound: Literal["lower", "upper"]
) -> _Odds:
    r"""Return what the law of the number of rare outcomes at each tie follows from.

    With the odds o_i = s_i/(1 - s_i) of n rows, P(j) = prod(1 - s_i) e_j, e_j the sum of all
    products of j odds. Of a tie of one score o, e_{j + 1}/e_j = (n - j) o/(j + 1).

    Of chances from a to b with the sums S1 of them and S2 of their squares, the sum of their cubes
    is between S2^2/S1 (Cauchy and Schwarz) and b S2. That bounds, by their series, the sum O of
    odds, that of their squares Q, and prod(1 - s_i). Then e_1 = O and e_2 = (O^2 - Q)/2. From there
    on (j + 1) e_{j + 1}/e_j is at least O - j b/(1 - b), picking one more row of those that are
    left, and at most (n - j) m with m^2 = 2 e_2/(n (n - 1)), by Maclaurin's inequality.
    """
    n = size.astype(np.float64)
    if mixture is None:
        rare = np.minimum(score, 1.0 - score)
        each = rare / (1.0 - rare)
        return _Odds(n * np.log1p(-rare), n * each, (n - 1.0) * each, n * each, each, n)
    mean, square, least, largest = mixture
    tie = _odds(mean, size, None, bound)
    s1, s2, room = n * mean, n * square, 1.0 - largest
    cubes = s2 * s2 / s1, largest * s2
    if bound == "upper":
        total = (s1 + s2 + cubes[1] / room) * (1.0 + _ROUNDED)
        log_none = -(s1 + s2 / 2.0 + cubes[0] / 3.0) * (1.0 - _ROUNDED)
        second = total - (s2 + 2.0 * cubes[0]) * (1.0 - _ROUNDED) / total + _ROUNDED * total
        each = np.sqrt(total * second.clip(0.0) / (n * np.maximum(n - 1.0, 1.0)))
        each *= 1.0 + _ROUNDED
        mixed = _Odds(log_none, total, second, n * each, each, n)
    else:
        total = (s1 + s2 + cubes[0]) * (1.0 - _ROUNDED)
        log_none = -(s1 + s2 / 2.0 + cubes[1] / (3.0 * room)) * (1.0 + _ROUNDED)
        second = total - s2 / room**2 * (1.0 + _ROUNDED) / total - _ROUNDED * total
        mixed = _Odds(log_none, total, second, total, largest / room, n)
    several = largest > least
    return _Odds(*(np.where(several, *pair) for pair in zip(mixed, tie, strict=True)))


def _rare_count(mean: float, faint: float) -> int:
    """Return a number that so rare a count exceeds with probability below exp(-faint)."""
    # P(count >= j) <= mean^j/j!, since that is so for the Poisson law and it is larger.
    count, log_tail = 0, 0.0
    while log_tail > -faint:
        count += 1
        log_tail += math.log(mean) - math.log(count)
    return count


def _rare_laws(step: IntArray, odds: _Odds, *, taps: int, own: int) -> FloatArray:
    """Return the probabilities of 0, 1, ... rare outcomes at each step, a row each.

    A product of polynomials, multiplied in pairs until there is one for each step. All
    coefficients are positive, so none loses digits. A tie has at most ``own`` rare outcomes to
    reckon with, a step ``taps - 1``.
    """
    laws = odds.laws(min(math.ceil(odds.rows.max()), taps - 1, own))
    while True:
        begins = np.flatnonzero(np.diff(step, prepend=-1))
        if len(begins) == len(step):
            break
        place = np.arange(len(step)) - np.repeat(begins, np.diff(begins, append=len(step)))
        left = np.flatnonzero(place % 2 == 0)
        paired = np.append(step[1:], -1)[left] == step[left]
        laws, step = _products(laws, left, paired, taps), step[left]
    padded = np.zeros((len(step), taps))
    padded[:, : laws.shape[0]] = laws.T
    return padded


def _products(laws: FloatArray, left: IntArray, paired: BoolArray, taps: int) -> FloatArray:
    """Multiply the polynomials at ``left`` by the next one, where they are paired with it."""
    width = laws.shape[0]
    one, other = laws[:, left], np.zeros((width, len(left)))
    other[0] = 1.0
    other[:, paired] = laws[:, left[paired] + 1]
    product = np.zeros((min(2 * width - 1, taps), len(left)))
    for j in range(width):
        room = min(width, product.shape[0] - j)
        product[j : j + room] += one[j] * other[:room]
    return product
