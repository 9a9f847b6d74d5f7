"""P-values of ECCE-MAD and ECCE-R that hold at the sample size at hand.

All functions take a table of ties in the order of their scores: each distinct score, how many
observations have it, and how many of these are successes. In another order the ties of one place
are one step, whose number of successes is a sum of binomial counts. With K_k successes and A_k the
sum of scores among the observations up to tie k, the path is X_k = K_k - A_k with X_0 = 0, and

- ECCE-MAD is max|X|/n. Its null law is that of a success count between two moving barriers:
  :func:`exact_mad` computes it exactly, :func:`certified_mad` within bounds and much faster where
  a great many scores are near 0 or 1;
- ECCE-R is (max X - min X)/n. It reaches c when the largest rise of the path or its largest fall
  does. :func:`certified_r` computes a lower and an upper bound of that probability.

"At least as extreme" means: as large as the observed value less a guard of 1e-12 of it and four
units in the last place of A_n. All sums A_k are compensated, and one and the same A_k serves the
observed and the hypothetical paths, so that outcomes which tie with the observed one count.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from secant import null
from secant._base.extras import is_usable
from secant._inference import chains, step_laws
from secant._inference.binomial import log_two_sided
from secant._inference.chains import SCALE, Chain
from secant._inference.one_event import log10_bounds
from secant._inference.path import barriers, observe, observe_grains
from secant._inference.plans import (
    FAINTEST,
    LITTLE,
    best,
    cuts,
    faint,
    mad_plans,
    mad_work,
    r_plans,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.grains import Grains
    from secant._inference.one_event import Table
    from secant._inference.path import Path
    from secant._inference.plans import Points, Rounding
    from secant._inference.step_laws import Steps


__all__ = [
    "BUDGET",
    "LOG10_LEAST",
    "Bracket",
    "band",
    "certified_mad",
    "certified_r",
    "exact_mad",
    "fall",
    "of_grains",
    "of_one_event",
    "operations",
    "rise",
    "too_wide",
    "worth_compiling",
]

_LOG_10 = math.log(10)

# Smaller P-values are only said to be below it.
LOG10_LEAST = -300.0

# Operations that take about 0.2 s with numpy alone: where "auto" gives up.
BUDGET = 800_000_000
# Operations from which loading numba pays.
_WORTH_COMPILING = 4 * BUDGET

# How much of a P-value may at last be missing, where nothing is pooled and where pools are.
_MISSING, _MISSING_IN_POOLS = 1e-14, 1e-7

# Decimal logarithms that differ by no more differ by rounding.
_ROUNDED = 1e-13

# Up to this P-value, in the limit of many observations, hardly a path rises and falls as far.
_SELDOM = 0.02
# Above this one limits stay wide all the same, unless points are closer than many steps allow.
_MOSTLY = 0.75
# The first of the two where more is left open anyway, since steps are pooled.
_NOT_SELDOM = 0.15
# How many budgets it may take to tell which of the two came first.
_TOGETHER = 1.5


class _Kernel(Protocol):
    """What runs chains: :mod:`secant._inference.chains`, or the same compiled."""

    def absorbed(self, chain: Chain) -> FloatArray:
        """Return the mass that a chain absorbs."""
        ...

    def either(self, rise: Chain, fall: Chain) -> FloatArray:
        """Return the mass that one of two chains absorbs, or bounds of it."""
        ...


class Bracket(NamedTuple):
    """Decimal logarithms of a lower and an upper bound of a P-value; equal where it is exact.

    The P-value to report is the upper one. Below 1e-300 it is only known to be below: the bracket
    is then (-inf, -300). An impossible outcome has (-inf, -inf).
    """

    low: float
    high: float


_CERTAIN = Bracket(0.0, 0.0)
_IMPOSSIBLE = Bracket(-math.inf, -math.inf)


def exact_mad(
    score: FloatArray,
    n: IntArray,
    n1: IntArray,
    ends: IntArray | None = None,
    *,
    fast: bool | None = None,
) -> Bracket:
    r"""Return the exact P-value of ECCE-MAD.

    Parameters
    ----------
    score, n, n1 : ndarray
        Distinct scores in ascending order; observations and successes at each.
    ends : ndarray, optional
        The last entry of each step, where the order is another and a step holds several scores.
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
    path, c, _ = observe(score, n, n1, ends)
    known = _known(score, n, n1, path, c)
    if known is not None:
        return known
    lower, upper, _ = _mad(path, c, _kernel(mad_work(path, c), fast=fast))
    return _bracket(lower, upper)


def certified_mad(
    score: FloatArray,
    n: IntArray,
    n1: IntArray,
    ends: IntArray | None = None,
    *,
    budget: int = BUDGET,
    fast: bool | None = None,
) -> Bracket:
    r"""Return certain bounds of the P-value of ECCE-MAD, equal ones if the budget allows.

    Parameters
    ----------
    score, n, n1 : ndarray
        Distinct scores in ascending order; observations and successes at each.
    ends : ndarray, optional
        The last entry of each step, where the order is another and a step holds several scores.
    budget : int
        Operations up to which the bounds are made tighter, up to exactness.
    fast : bool, optional
        Whether to use numba; by default where it is installed and pays.

    Returns
    -------
    Bracket
        log10 of the bounds; the upper one is the P-value to report.

    Notes
    -----
    Pool neighbouring ties with scores near 0 of which d successes are expected, d small. Between
    the ends a and b of such a pool, X can fall by at most d from X_a, and rises by at most d to
    X_b: so X_a - d <= X <= X_b + d inside. Near 1, with d expected failures, X_b - d <= X <=
    X_a + d. Looking only at the ends of pools therefore misses at most d of max\|X\|:

        P(max \|X\| >= c at ends) <= P(max \|X\| >= c) <= P(max \|X\| >= c - d at ends).
    """
    path, c, _ = observe(score, n, n1, ends)
    known = _known(score, n, n1, path, c)
    return _bounded_mad(path, c, budget, fast=fast) if known is None else known


def _bounded_mad(path: Path, c: float, budget: int, *, fast: bool | None) -> Bracket:
    plan = best(mad_plans(path, c), budget)
    lower, upper, error = _mad(plan.path, c, _kernel(plan.work, fast=fast))
    return _bracket(lower, upper, 0.0 if plan.path.exact else error)


def certified_r(
    score: FloatArray,
    n: IntArray,
    n1: IntArray,
    ends: IntArray | None = None,
    *,
    budget: int = BUDGET,
    fast: bool | None = None,
) -> Bracket:
    r"""Return certain bounds of the P-value of ECCE-R, equal ones where no minimum is rounded.

    Parameters
    ----------
    score, n, n1 : ndarray
        Distinct scores in ascending order; observations and successes at each.
    ends : ndarray, optional
        The last entry of each step, where the order is another and a step holds several scores.
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

    *Where that is wide*, as it is for large P-values, a and b themselves are computed: both chains
    are run at once, and what one absorbs is taken from the other (:func:`chains.either` has the
    proof). Where nothing is rounded that is the P-value itself.

    *U itself.* The height Z = X - min X follows Z_k = max(Z_{k-1} + J_k - n_k s_k, 0), J_k the
    successes at tie k. Z_k never decreases when Z_{k-1} increases, so adding something to Z at any
    time gives a path that is at least as high ever after, and subtracting gives one at most as
    high: rounding Z + A_k = K - min X up to points bounds P(U) from above, rounding it down bounds
    P(U) from below. A path at its minimum (Z = 0) needs no rounding. One that leaves it is rounded
    then and only then, since K changes by whole numbers; and it forgets the rounding when it comes
    back to a minimum, so errors do not add up. If the points have the fractional parts of all A_k
    among its points, nothing is rounded. D is U for 1 - s and failures.

    *Very many ties with scores near 0 or 1* are pooled as in :func:`certified_mad`. A rise begins
    at most d lower and ends at most d higher than at the ends of pools, in the same order, so the
    upper bound is that of a rise by c - 2d there, the lower one that of a rise by c.

    Both bounds are widened by what rounding to doubles can have done.

    Examples
    --------
    >>> import numpy as np
    >>> score, one, none = np.array([0.5, 0.6]), np.array([1, 1]), np.array([0, 0])
    >>> [round(10**bound, 12) for bound in certified_r(score, one, none)]  # two failures
    [0.2, 0.2]
    """
    path, _, c = observe(score, n, n1, ends)
    known = _known(score, n, n1, path, c) or of_one_event(lambda: [(score, n, n1, ends)], path, c)
    return _bounded_r(path, c, budget, fast=fast) if known is None else known


def of_one_event(tables: Callable[[], Iterable[Table]], path: Path, c: float) -> Bracket | None:
    """Return ECCE-R's P-value where one event happened, or one failure, and no more was expected.

    ``path`` may be one of grains, while ``tables`` have every tie; c is what the range must reach.
    """
    rare = float(path.rare.sum())
    if rare > 1.0 or not 1.0 - 1e-9 - rare <= c <= 1.0:  # before every tie is looked at
        return None
    failures = bool(path.reached[-1] > 1.0)
    bounds = log10_bounds(tables, failures=failures, expected=float(path.reached[-1]))
    if bounds is None:
        return None
    low, high = bounds
    exact = high - low <= _ROUNDED  # no score is as near to the observed one as the guard
    return Bracket(*[0.5 * (low + high)] * 2) if exact else Bracket(low, high)


def _bounded_r(path: Path, c: float, budget: int, *, fast: bool | None) -> Bracket:
    if len(path) == 1:  # the range of one step is its size
        return _bounded_mad(path, c, budget, fast=fast)
    # Where both are likely, it is worth twice the work to tell which came first.
    p = null.range.sf(c / math.sqrt(path.variance))
    most = 1.0 if path.variance < LITTLE else _MOSTLY
    likely = (_SELDOM if path.exact else _NOT_SELDOM) < p <= most
    allowed = int(_TOGETHER * budget / (2 if path.exact else 6)) if likely else budget
    plan = best(r_plans(path, c, allowed), allowed)
    kernel = _kernel(plan.work, fast=fast)
    if plan.rounding.keys is not None and not plan.path.drift:
        low, high, error = _either(plan.path, plan.rounding, c, kernel, ("up",))
        return _bracket(low, high, 0.0 if plan.path.exact else error)
    if likely and plan.work <= allowed:
        return _bracket(*_either(plan.path, plan.rounding, c, kernel, ("down", "up") * 2))
    lower, upper, error = _r(plan.path, plan.rounding, c, kernel)
    rises, falls = (lower / SCALE).tolist()
    low, high = 1.0, float(upper.sum())
    if rises * falls < 1.0:
        low = (rises * (1.0 - falls) + falls * (1.0 - rises)) / (1.0 - rises * falls)
    return _bracket(low * SCALE, high, error)


def of_grains(
    grains: Grains,
    *,
    tables: Callable[[], Iterable[Table]] | None = None,
    budget: int = BUDGET,
    fast: bool | None = None,
) -> tuple[Bracket, Bracket]:
    """Return certain bounds of the P-values of ECCE-R and of ECCE-MAD, from ties that are pooled.

    Parameters
    ----------
    grains
        Neighbouring ties taken together; see :mod:`secant._blocks.grains`.
    tables : callable, optional
        Gives the ties themselves, for :func:`of_one_event`.
    budget : int
        Operations up to which the bounds are made tighter: of ECCE-R, and half of it of ECCE-MAD.
    fast : bool, optional
        Whether to use numba; by default where it is installed and pays.

    Returns
    -------
    r, mad : Bracket
        log10 of the bounds; the upper ones are the P-values to report.

    Notes
    -----
    The path is looked at where grains end, as in :func:`certified_mad`. The law of what happens
    inside one is known but for the scores of its rows: the mean, the least and the largest of them
    bound each of its probabilities from both sides (:func:`step_laws.make_steps`). Chains only add
    and multiply positive numbers, so lower probabilities give a lower bound, and upper ones an
    upper bound.
    """
    path, deviation, span = observe_grains(grains)
    r, mad = _too_improbable(path, span), _too_improbable(path, deviation)
    if r is None and tables is not None:
        r = of_one_event(tables, path, span)
    return (
        _bounded_r(path, span, budget, fast=fast) if r is None else r,
        _bounded_mad(path, deviation, budget // 2, fast=fast) if mad is None else mad,
    )


def too_wide(low: float, high: float) -> bool:
    """Tell whether limits of a P-value leave its second digit open."""
    return high > 0.0 and high - low > 10.0 ** (math.floor(math.log10(high)) - 1)


def operations(
    score: FloatArray,
    n: IntArray,
    n1: IntArray,
    which: str,
    ends: IntArray | None = None,
    *,
    budget: int = 0,
) -> int:
    """Return the cost of a finite-sample P-value before any of it is computed.

    Parameters
    ----------
    score, n, n1 : ndarray
        Distinct scores in ascending order; observations and successes at each.
    ends : ndarray, optional
        The last entry of each step, where the order is another and a step holds several scores.
    which : {"exact-mad", "mad", "r"}
        :func:`exact_mad`, or the bounds of :func:`certified_mad` or :func:`certified_r`.
    budget : int
        The tightest bounds that take at most so many are meant, the coarsest if none do.

    Returns
    -------
    int
        Multiplications and a charge for every step, about a quarter of a nanosecond each when
        numpy does them. It depends on the data alone: not on the clock, nor on numba.
    """
    path, deviation, span = observe(score, n, n1, ends)
    c = span if which == "r" else deviation
    if _known(score, n, n1, path, c) is not None:
        return len(score)
    if which == "exact-mad":
        return mad_work(path, c)
    plans = r_plans(path, c, budget) if which == "r" else mad_plans(path, c)
    return best(plans, budget).work


def worth_compiling(work: int) -> bool:
    """Tell whether numba can be used and saves more than the second it takes to load.

    For many tables at once, ask with the sum of their :func:`operations` and pass the answer to
    each as ``fast``. The numbers are the same either way.
    """
    return work >= _WORTH_COMPILING and is_usable("numba")


def _kernel(work: int, *, fast: bool | None) -> _Kernel:
    """Return the module that runs chains."""
    if fast is None:
        fast = worth_compiling(work)
    if not fast:
        return chains
    from secant._inference import chains_numba  # noqa: PLC0415  # only where it is used

    return chains_numba


def _known(score: FloatArray, n: IntArray, n1: IntArray, path: Path, c: float) -> Bracket | None:
    """Return the P-value where it takes no chain to find it."""
    if c <= 0.0:
        return _CERTAIN
    if len(score) == 1:
        log10_p = log_two_sided(int(n1[0]), int(n[0]), float(score[0])) / _LOG_10
        return Bracket(log10_p, log10_p)
    return _too_improbable(path, c)


def _too_improbable(path: Path, c: float) -> Bracket | None:
    """Return the P-value where it is 0 or too small to tell, or where every path goes as far."""
    if len(path) and c <= 0.0:
        return _CERTAIN
    if not len(path) or c > max(path.reached[-1], path.trials[-1] - path.reached[-1]):
        return _IMPOSSIBLE
    # Freedman's inequality for martingales with steps of at most 1, from each starting point.
    log_bound = math.log(2.0 * len(path)) - 0.5 * c * c / (path.variance + c / 3.0)
    return _bracket(0.0, 0.0) if log_bound < LOG10_LEAST * _LOG_10 else None


# --- chains ---------------------------------------------------------------------------------------


def band(path: Path, steps: Steps, c: float | FloatArray) -> Chain:
    """Return the chain of K, which is absorbed when |X| reaches c."""
    return Chain(steps, *barriers(path, c))


def rise(
    path: Path, rounding: Points, steps: Steps, c: float | FloatArray, ways: tuple[str, ...]
) -> Chain:
    """Return the chain of K - min X, which is absorbed when X - min X reaches c."""
    low = rounding.below(path.after)
    rounded = {"up": rounding.above(path.before), "down": rounding.below(path.before)}
    return Chain(
        steps,
        low=low,
        high=np.maximum(rounding.above(path.after + c), low + 1),
        stride=rounding.stride,
        hold=_hold(path, np.floor(path.after - path.before).astype(np.int64)),
        entry=np.stack([rounded[way] + rounding.stride for way in ways], axis=1),
    )


def fall(
    path: Path, rounding: Points, steps: Steps, c: float | FloatArray, ways: tuple[str, ...]
) -> Chain:
    """Return the chain of max X - K, which is absorbed when max X - X reaches c.

    The points are still those around A_k, only numbered downwards from the number of trials: so
    no sum of 1 - s is ever rounded differently from the sum of s.
    """
    start, end = rounding.stride * (path.total - path.count), rounding.stride * path.total
    low = end - rounding.above(path.after)
    rounded = {
        "up": start - rounding.below(path.before),
        "down": start - rounding.above(path.before),
    }
    return Chain(
        step_laws.mirrored(steps, path.count),
        low=low,
        high=np.maximum(end - rounding.below(path.after - c), low + 1),
        stride=rounding.stride,
        hold=_hold(path, path.count - np.ceil(path.after - path.before).astype(np.int64)),
        entry=np.stack([rounded[way] + rounding.stride for way in ways], axis=1),
    )


def _hold(path: Path, expected: IntArray) -> IntArray:
    """Return how many moves at each step leave a path that is at its minimum there."""
    # One move of a single observation is always more than was expected, rounded or not.
    return np.where(path.count == 1, 0, expected)


def _mad(path: Path, c: float, kernel: _Kernel) -> tuple[float, float, float]:
    """Return a lower and an upper mass that deviates by c, and their relative error."""

    def solve(least: Steps, most: Steps) -> tuple[FloatArray, FloatArray]:
        lower = kernel.absorbed(band(path, least, c))
        upper = lower if path.exact else kernel.absorbed(band(path, most, c - path.drift))
        return lower, upper

    lower, upper, error = _solve(path, null.mad, c, solve)
    return float(lower[0]), float(upper[0]), error


def _r(
    path: Path, rounding: Rounding, c: float, kernel: _Kernel
) -> tuple[FloatArray, FloatArray, float]:
    """Return lower masses that rise and that fall by c, upper ones, and their error."""
    runs: list[tuple[float, tuple[str, ...]]]
    if path.exact:
        runs = [(c, ("down", "up") if rounding.keys is None else ("up",))]
    else:
        runs = [(c, ("down",)), (c - 2.0 * path.drift, ("up",))]

    def solve(least: Steps, most: Steps) -> tuple[FloatArray, FloatArray]:
        masses = [
            [
                kernel.absorbed(chain(path, rounding, steps, *run))
                for steps, run in zip((least, most), runs, strict=False)
            ]
            for chain in (rise, fall)
        ]
        lower = np.array([mass[0][0] for mass in masses])
        return lower, np.array([mass[-1][-1] for mass in masses])

    return _solve(path, null.range, c, solve, rounding.stride)


def _either(
    path: Path, rounding: Rounding, c: float, kernel: _Kernel, ways: tuple[str, ...]
) -> tuple[float, float, float]:
    """Return a lower and an upper mass of paths that rise or fall by c, and their error."""

    def bounds(steps: Steps, reach: float) -> FloatArray:
        return kernel.either(*(chain(path, rounding, steps, reach, ways) for chain in (rise, fall)))

    def solve(least: Steps, most: Steps) -> tuple[FloatArray, FloatArray]:
        lower = bounds(least, c)
        upper = lower if path.exact else bounds(most, c - 2.0 * path.drift)
        return lower[:1], upper[-1:]

    lower, upper, error = _solve(path, null.range, c, solve, rounding.stride)
    return float(lower[0]), float(upper[0]), 3.0 * error  # differences lose more of it


def _solve(
    path: Path,
    law: null.BrownianLaw,
    c: float,
    solve: Callable[[Steps, Steps], tuple[FloatArray, FloatArray]],
    stride: int = 1,
) -> tuple[FloatArray, FloatArray, float]:
    """Run chains and return the lower and upper masses they absorb, with the relative error.

    What may be left out at a step is decided from the asymptotic P-value. If the P-value turns out
    much smaller than that, everything is done again with nothing left out.
    """
    shortened = int((path.count > step_laws.WHOLE).sum()) + (0 if path.exact else len(path))
    if path.several.any():
        shortened = cuts(path) + 1
    allowed = _MISSING if path.exact else _MISSING_IN_POOLS
    for limit in (faint(path, law, c), FAINTEST):
        ties = path.score, path.size, path.ends, limit
        most = least = step_laws.make_steps(*ties, mixture=path.mixture)
        if path.mixture is not None:
            least = step_laws.make_steps(*ties, mixture=path.mixture, bound="lower")
        lower, upper = solve(least, most)
        # Leaving out the tails of a law, and scaling up the rest to 1, moves no probability by
        # more than what is in the tails; and two chains may be added.
        missing = 4.0 * shortened * math.exp(-limit) * SCALE
        if missing <= allowed * float(lower.sum()):
            break
    # Roundings on the way through a chain: a few a step, and as many as there are terms wherever
    # something is summed.
    summed = stride * min(int(path.total[-1]), len(path) * math.ceil(c + 1.0))
    terms = 4 * most.pmf.shape[0] + 32 * int((path.count > 1).sum())
    error = (4 * len(path) + terms + summed) * float(np.finfo(float).eps)
    return lower, upper, error + (allowed if shortened else 0.0)


def _bracket(lower: float, upper: float, error: float = 0.0) -> Bracket:
    """Return the bracket for bounds given as mass out of ``SCALE``, widened by their error."""
    low = _log10(lower * (1.0 - error))
    high = max(_log10(upper * (1.0 + error)), LOG10_LEAST)
    if error:  # the logarithms are rounded as well
        low -= 2.0 * math.ulp(low)
        high = min(high + 2.0 * math.ulp(high), 0.0) if high > LOG10_LEAST else high
    return Bracket(low if low >= LOG10_LEAST else -math.inf, high)


def _log10(mass: float) -> float:
    p = mass / SCALE  # a power of two: exact
    return min(math.log10(p), 0.0) if p > 0.0 else -math.inf
