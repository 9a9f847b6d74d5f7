"""P-values of ECCE-MAD and ECCE-R that hold at the sample size at hand.

Both functions take a table of ties in the order of their scores: each distinct score, how many
observations have it, and how many of these are successes. With K_k successes and A_k the sum of
scores among the observations up to tie k, the path is X_k = K_k - A_k with X_0 = 0, and

- ECCE-MAD is max|X|/n. Its null law is that of a success count between two moving barriers, which
  :func:`exact_mad` computes exactly;
- ECCE-R is (max X - min X)/n. It reaches c when the largest rise of the path or its largest fall
  does. :func:`certified_r` computes a lower and an upper bound of that probability.

"At least as extreme" means: as large as the observed value less a guard of 1e-12 of it and four
units in the last place of A_n. All sums A_k are compensated, and one and the same A_k serves the
observed and the hypothetical paths, so that outcomes which tie with the observed one count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant import _chains, null
from secant._binomial import log_two_sided
from secant._chains import SCALE, Chain, Steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._types import FloatArray, IntArray

__all__ = ["BUDGET", "Bracket", "certified_r", "exact_mad", "operations"]

_LOG_10 = math.log(10)

# Smaller P-values are only said to be below it.
_LOG10_LEAST = -300.0

# Operations that take about 0.2 s with numpy alone; where "auto" stops being exact.
BUDGET = 800_000_000

# Operations from which loading numba pays.
_WORTH_COMPILING = 8 * BUDGET

# The charge, in multiplications, for what the interpreter does around the arithmetic: in a step of
# one observation, in a step of several, and for each numpy call inside the latter.
_STEP = 20_000
_LEAP = 160_000
_CALL = 20_000

# Cells per count that make the bracket of ECCE-R about 1% wide, as a multiple of c/V; and by how
# much they may be coarsened to save work.
_FINENESS = 110.0
_COARSEST = 0.25
# With that many distinct scores the running minimum is not rounded, if the budget allows; with as
# many observations, always.
_KEYED = 300

# Ties up to this size enter with all their outcomes, larger ones without the improbable.
_WHOLE = 64
# Logarithm of the probability left out at a tie, relative to the P-value expected; the least
# logarithm of what may be left out at all; and how much may be missing from the P-value itself.
_NEGLIGIBLE = 42.0
_FAINTEST = 730.0
_MISSING = 1e-14


class Bracket(NamedTuple):
    """Decimal logarithms of a lower and an upper bound of a P-value; equal where it is exact.

    The P-value to report is the upper one. Below 1e-300 it is only known to be below: the bracket
    is then (-inf, -300). An impossible outcome has (-inf, -inf).
    """

    low: float
    high: float


_CERTAIN = Bracket(0.0, 0.0)
_IMPOSSIBLE = Bracket(-math.inf, -math.inf)
_VANISHING = Bracket(-math.inf, _LOG10_LEAST)


def exact_mad(
    score: FloatArray, n: IntArray, n1: IntArray, *, fast: bool | None = None
) -> Bracket:
    r"""Return the exact P-value of ECCE-MAD.

    Parameters
    ----------
    score, n, n1 : ndarray
        Distinct scores in ascending order; observations and successes at each.
    fast : bool, optional
        Whether to use numba; by default where it is installed and pays.

    Returns
    -------
    Bracket
        log10 P(max\|X\| >= c), twice; or (-inf, -300) when P < 1e-300.

    Notes
    -----
    With c the observed max\|X\|, the mass p_k(i) of the success count follows
    p_k = p_{k-1} * Binomial(n_k, s_k), and what has \|i - A_k\| >= c after tie k is taken out and
    added to P. Only positive numbers are added, so P is accurate to about 1e-16 for each step.

    Examples
    --------
    >>> import numpy as np
    >>> score, one, none = np.array([0.5, 0.6]), np.array([1, 1]), np.array([0, 0])
    >>> round(10 ** exact_mad(score, one, none).high, 12)  # 0.5 * 0.4: two failures
    0.2
    """
    path, c, _ = _observe(score, n, n1)
    known = _known(score, n, n1, path, c)
    if known is not None:
        return known
    low = np.floor(path.reached - c).astype(np.int64)
    high = np.ceil(path.reached + c).astype(np.int64)

    def solve(steps: Steps) -> FloatArray:
        return kernel(Chain(steps, low, high))

    kernel = _kernel(_mad_work(path, c), fast=fast)
    (mass,), _ = _solve(path, null.mad.logsf(c / math.sqrt(path.variance)), solve)
    log10_p = _log10(mass)
    return Bracket(log10_p, log10_p) if log10_p >= _LOG10_LEAST else _VANISHING


def certified_r(
    score: FloatArray,
    n: IntArray,
    n1: IntArray,
    *,
    budget: int = BUDGET,
    fast: bool | None = None,
) -> Bracket:
    r"""Return certain bounds of the P-value of ECCE-R.

    Parameters
    ----------
    score, n, n1 : ndarray
        Distinct scores in ascending order; observations and successes at each.
    budget : int
        Operations up to which the bounds are made tighter, to about 1%.
    fast : bool, optional
        Whether to use numba; by default where it is installed and pays.

    Returns
    -------
    Bracket
        log10 of the bounds; the upper one is the P-value to report.

    Notes
    -----
    Let c be the observed range, U the event that the path rises by c at some time (from a minimum
    to a later point) and D that it falls by c. Then {R >= c} = U or D.

    *From U and D to R.* P(U or D) <= P(U) + P(D) gives the upper bound. For the lower one, let
    a and b be the probabilities that U happens first and that D does, so that P = a + b. When U
    happens first the path is at its maximum, so a later fall by c is a fall of the remaining path
    alone, which is independent and has fewer steps: its probability is at most P(D). Hence
    P(D) <= b + a P(D), likewise P(U) <= a + b P(U), and the smallest a + b with both properties is

    .. math:: P \ge \frac{P(U)(1 - P(D)) + P(D)(1 - P(U))}{1 - P(U) P(D)},

    which grows with P(U) and with P(D), so lower bounds of them may be put in. It is at least
    (P(U) + P(D))/(1 + max(P(U), P(D))), and equal to it when P(U) = P(D).

    *U itself.* The height Z = X - min X follows Z_k = max(Z_{k-1} + J_k - n_k s_k, 0), J_k the
    successes at tie k. Z_k never decreases when Z_{k-1} increases, so adding something to Z at any
    time gives a path that is at least as high ever after, and subtracting gives one at most as
    high: rounding Z + A_k = K - min X up to a grid bounds P(U) from above, rounding it down bounds
    P(U) from below. A path at its minimum (Z = 0) needs no rounding. One that leaves it is rounded
    then and only then, since K changes by whole numbers; and it forgets the rounding when it comes
    back to a minimum, so errors do not add up. If the grid has the fractional parts of all A_k
    among its points, nothing is rounded. D is U for 1 - s and failures.

    Both bounds are widened by what rounding to doubles can have done.

    Examples
    --------
    >>> import numpy as np
    >>> score, one, none = np.array([0.5, 0.6]), np.array([1, 1]), np.array([0, 0])
    >>> [round(10**bound, 12) for bound in certified_r(score, one, none)]  # two failures
    [0.2, 0.2]
    """
    path, _, c = _observe(score, n, n1)
    known = _known(score, n, n1, path, c)
    if known is not None:
        return known
    grid, work = _grid(path, c, budget)
    kernel = _kernel(work, fast=fast)

    def solve(steps: Steps) -> FloatArray:
        rise, fall = _rise(path, grid, steps, c), _fall(path, grid, steps, c)
        return np.concatenate([kernel(rise), kernel(fall)])

    masses, error = _solve(path, null.range.logsf(c / math.sqrt(path.variance)), solve)
    # The first column of each chain was rounded up, the last down; one that was not is both.
    up, down = np.split(masses, 2)
    upper = (up[0] + down[0]) * (1 + error)
    p, q = up[-1] / SCALE * (1 - error), down[-1] / SCALE * (1 - error)
    lower = (up[-1] * (1 - error) * (1 - q) + down[-1] * (1 - error) * (1 - p)) / (1 - p * q)
    bounds = Bracket(_log10(lower), _log10(upper))
    if bounds.high < _LOG10_LEAST:
        return _VANISHING
    return bounds if bounds.low >= _LOG10_LEAST else Bracket(-math.inf, bounds.high)


def operations(score: FloatArray, n: IntArray, n1: IntArray, which: str) -> int:
    """Return the cost of a finite-sample P-value before any of it is computed.

    Parameters
    ----------
    score, n, n1 : ndarray
        Distinct scores in ascending order; observations and successes at each.
    which : {"mad", "r"}
        :func:`exact_mad`, or :func:`certified_r` with its coarsest bounds.

    Returns
    -------
    int
        Multiplications and a charge for every step, about a quarter of a nanosecond each when
        numpy does them. It depends on the data alone: not on the clock, nor on numba.
    """
    path, deviation, span = _observe(score, n, n1)
    c = deviation if which == "mad" else span
    if _known(score, n, n1, path, c) is not None:
        return len(score)
    return _mad_work(path, c) if which == "mad" else _grid(path, c, 0)[1]


# --- the observed path ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Path:
    """The ties at which anything is random: a score of 0 or 1 leaves the path where it is.

    ``reached`` is A_k and ``trials`` the number of observations up to tie k.
    """

    score: FloatArray
    size: IntArray
    reached: FloatArray
    trials: IntArray
    variance: float

    def __len__(self) -> int:
        return int(self.score.shape[0])

    @property
    def before(self) -> FloatArray:
        """The sum of scores before each tie."""
        return np.concatenate([[0.0], self.reached[:-1]])


def _observe(score: FloatArray, n: IntArray, n1: IntArray) -> tuple[_Path, float, float]:
    """Return the path, and what max|X| and max X - min X must reach to be as extreme as here."""
    reached = _running_sum(n * score)
    x = np.cumsum(n1) - reached
    highest, lowest = max(float(x.max()), 0.0), min(float(x.min()), 0.0)
    ulp = 4.0 * math.ulp(float(reached[-1]))
    deviation, span = max(highest, -lowest), highest - lowest
    # Scores of 0 can only come first and scores of 1 last, so no A_k in between changes.
    random = (score > 0.0) & (score < 1.0)
    score, n = score[random], n[random]
    variance = math.fsum((n * score * (1.0 - score)).tolist())
    path = _Path(score, n, reached[random], np.cumsum(n), variance)
    return path, deviation - (1e-12 * deviation + ulp), span - (1e-12 * span + ulp)


def _running_sum(terms: FloatArray) -> FloatArray:
    """Return the prefix sums, each as if added in twice the precision and rounded once."""
    sums = np.cumsum(terms)
    before = np.concatenate([[0.0], sums[:-1]])
    # What each addition rounded off, exactly (Knuth).
    share = sums - before
    lost = (before - (sums - share)) + (terms - share)
    return sums + np.cumsum(lost)


def _known(
    score: FloatArray, n: IntArray, n1: IntArray, path: _Path, c: float
) -> Bracket | None:
    """Return the P-value where it takes no chain to find it."""
    if c <= 0.0:
        return _CERTAIN
    if len(score) == 1:
        log10_p = log_two_sided(int(n1[0]), int(n[0]), float(score[0])) / _LOG_10
        return Bracket(log10_p, log10_p)
    if not len(path) or c > max(path.reached[-1], path.trials[-1] - path.reached[-1]):
        return _IMPOSSIBLE
    # Freedman's inequality for martingales with steps of at most 1, from each starting point.
    log_bound = math.log(2.0 * len(path)) - 0.5 * c * c / (path.variance + c / 3.0)
    return _VANISHING if log_bound < _LOG10_LEAST * _LOG_10 else None


# --- steps ----------------------------------------------------------------------------------------


def _solve(
    path: _Path, log_p: float, solve: Callable[[Steps], FloatArray]
) -> tuple[FloatArray, float]:
    """Run chains and return the masses they absorb with the relative error these may have.

    Parameters
    ----------
    path
        The ties.
    log_p
        The logarithm of the P-value that is expected. If it turns out much smaller, everything
        is done again with nothing left out.
    solve
        Runs the chains over given steps.
    """
    for faint in (_faint(path, log_p), _FAINTEST):
        steps = _steps(path, faint)
        masses = solve(steps)
        # Leaving out the tails of a binomial law, and scaling up the rest to 1, moves no
        # probability by more than twice their mass.
        missing = 4.0 * len(path) * math.exp(-faint) * SCALE if (path.size > _WHOLE).any() else 0.0
        if missing <= _MISSING * masses.min():
            break
    # Roundings along a path through the chain: a few a step, and as many as there are terms
    # wherever something is summed.
    rounded = 4 * len(path) + 4 * steps.pmf.shape[0] + 32 * int((path.size > 1).sum())
    return masses, rounded * float(np.finfo(float).eps) + _MISSING


def _faint(path: _Path, log_p: float) -> float:
    """Return minus the logarithm of what may be left out at a tie."""
    return min(math.ceil(_NEGLIGIBLE - log_p + math.log(len(path))), _FAINTEST)


def _steps(path: _Path, faint: float) -> Steps:
    """Return what happens at each tie: the binomial probabilities that matter."""
    first, last = _window(path, faint)
    taps = np.where(path.size == 1, 0, last - first + 1)
    offset = np.concatenate([[0], np.cumsum(taps)])
    pmf = np.empty(int(offset[-1]))
    small = path.size <= _WHOLE
    for size in np.unique(path.size[small & (path.size > 1)]).tolist():
        chosen = np.flatnonzero(path.size == size)
        at = offset[chosen][:, np.newaxis] + np.arange(size + 1)
        pmf[at] = _small_binomial(size, path.score[chosen])
    for k in np.flatnonzero(~small).tolist():
        pmf[offset[k] : offset[k + 1]] = _binomial(
            int(path.size[k]), float(path.score[k]), int(first[k]), int(last[k])
        )
    return Steps(1.0 - path.score, path.score, first, offset, pmf)


def _window(path: _Path, faint: float) -> tuple[IntArray, IntArray]:
    """Return the counts outside of which each binomial law has less than 2 exp(-faint)."""
    mean = path.size * path.score
    spread = mean * (1.0 - path.score)
    # Bernstein's inequality, solved for the deviation.
    reach = faint / 3.0 + np.sqrt(faint * faint / 9.0 + 2.0 * faint * spread)
    whole = path.size <= _WHOLE
    first = np.where(whole, 0, np.maximum(np.floor(mean - reach), 0.0)).astype(np.int64)
    last = np.where(whole, path.size, np.minimum(np.ceil(mean + reach), path.size))
    return first, last.astype(np.int64)


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


# --- chains for ECCE-R ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Grid:
    """Points to which a running minimum is rounded, ``stride`` of them in every unit interval.

    Without ``keys`` they are equally spaced; ``keys`` gives their fractional parts otherwise.
    Points are numbered from 0, which is the origin.
    """

    stride: int
    keys: FloatArray | None = None

    def below(self, y: FloatArray) -> IntArray:
        """Return the number of the last point that is at most y."""
        if self.keys is None:
            return np.floor(self.stride * y).astype(np.int64)
        whole = np.floor(y)
        rank = np.searchsorted(self.keys, y - whole, side="right") - 1
        return self.stride * whole.astype(np.int64) + rank

    def above(self, y: FloatArray) -> IntArray:
        """Return the number of the first point that is at least y."""
        if self.keys is None:
            return np.ceil(self.stride * y).astype(np.int64)
        whole = np.floor(y)
        rank = np.searchsorted(self.keys, y - whole, side="left")
        return self.stride * whole.astype(np.int64) + rank


def _rise(path: _Path, grid: _Grid, steps: Steps, c: float) -> Chain:
    """Return the chain of K - min X, which is absorbed when X - min X reaches c."""
    low = grid.below(path.reached)
    rounded = (grid.above(path.before), grid.below(path.before))
    return Chain(
        steps,
        low=low,
        high=np.maximum(grid.above(path.reached + c), low + 1),
        stride=grid.stride,
        hold=np.floor(path.reached - path.before).astype(np.int64),
        entry=_columns(grid, *(point + grid.stride for point in rounded)),
    )


def _fall(path: _Path, grid: _Grid, steps: Steps, c: float) -> Chain:
    """Return the chain of max X - K, which is absorbed when max X - X reaches c.

    The points are still those around A_k, only numbered downwards from the number of trials: so
    no sum of 1 - s is ever rounded differently from the sum of s.
    """
    start, end = grid.stride * (path.trials - path.size), grid.stride * path.trials
    low = end - grid.above(path.reached)
    rounded = (grid.below(path.before), grid.above(path.before))
    return Chain(
        _mirrored(steps, path.size),
        low=low,
        high=np.maximum(end - grid.below(path.reached - c), low + 1),
        stride=grid.stride,
        hold=np.floor(path.size - (path.reached - path.before)).astype(np.int64),
        entry=_columns(grid, *(start + grid.stride - point for point in rounded)),
    )


def _columns(grid: _Grid, up: IntArray, down: IntArray) -> IntArray:
    """Put both ways of rounding side by side; a single one, where nothing is rounded."""
    return np.stack([up, down] if grid.keys is None else [up], axis=1)


def _mirrored(steps: Steps, size: IntArray) -> Steps:
    """Count failures instead of successes."""
    taps = np.diff(steps.offset)
    # Reverse each law within its own place.
    ends = np.repeat(steps.offset[:-1] + steps.offset[1:] - 1, taps)
    pmf = steps.pmf[ends - np.arange(steps.pmf.shape[0])]
    return Steps(steps.move, steps.stay, size - (steps.first + taps - 1), steps.offset, pmf)


# --- work -----------------------------------------------------------------------------------------


def _grid(path: _Path, c: float, budget: int) -> tuple[_Grid, int]:
    """Choose the grid for ECCE-R and return it with the work it takes."""
    faint = _faint(path, null.range.logsf(c / math.sqrt(path.variance)))

    def work(stride: int, columns: int) -> int:
        return 2 * _work(path, faint, stride * c, stride, columns)

    finest = max(1, math.ceil(_FINENESS * c / path.variance))
    coarsest = max(1, math.ceil(_COARSEST * finest))
    stride = finest
    if work(finest, 2) > budget:
        # The work grows linearly with the stride.
        least, slope = work(0, 2), work(1, 2) - work(0, 2)
        stride = min(max((budget - least) // slope, coarsest), finest)
    keys = np.unique(path.before - np.floor(path.before))
    few = len(keys) <= _KEYED and work(len(keys), 1) <= budget
    if few or len(keys) <= 2 * stride or path.trials[-1] <= _KEYED:
        return _Grid(len(keys), keys), work(len(keys), 1)
    return _Grid(stride), work(stride, 2)


def _mad_work(path: _Path, c: float) -> int:
    faint = _faint(path, null.mad.logsf(c / math.sqrt(path.variance)))
    return _work(path, faint, 2.0 * c, 1, 1)


def _work(path: _Path, faint: float, width: float, stride: int, columns: int) -> int:
    """Count the multiplications of a chain, with a charge for what is done around them."""
    first, last = _window(path, faint)
    taps = (last - first + 1)[path.size > 1]
    cells = math.ceil(width) * columns
    single = (len(path) - len(taps)) * (_STEP + 2 * cells)
    calls = _LEAP * len(taps) + _CALL * int(np.minimum(taps, stride * columns).sum())
    return single + calls + cells * int(taps.sum())


def _kernel(work: int, *, fast: bool | None) -> Callable[[Chain], FloatArray]:
    """Return the function that runs a chain.

    Loading numba takes longer than most P-values, so without being told we do that for the
    longest only.
    """
    if fast is False or (fast is None and work < _WORTH_COMPILING):
        return _chains.absorbed
    from secant import _chains_numba  # noqa: PLC0415  # only where it is used

    if fast is None and not _chains_numba.available():
        return _chains.absorbed
    return _chains_numba.absorbed


def _log10(mass: float) -> float:
    """Return log10 of a probability given as mass out of ``SCALE``."""
    if mass <= 0.0:
        return -math.inf
    return min(math.log10(mass) - math.log10(SCALE), 0.0)
