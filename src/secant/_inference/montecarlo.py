"""Monte Carlo P-values of ECCE-R and ECCE-MAD: for sampling weights, and on request.

Under perfect calibration every response is a coin with its score as probability. The responses are
drawn again and again, the weights stay, and the P-value is the share of draws whose metric is at
least as large as the observed one, the observed one counted among them: p = (1 + b)/(1 + B). Such a
test is exact, not approximate: under the null the probability of p <= a is at most a for every a.
More draws only make the answer depend less on chance.

Both metrics come from the same draws. A generator gives the same P-values whatever the memory
available, since draws are consumed one after the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from secant._inference.path import compensated_sum, thresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray

__all__ = [
    "FEW",
    "Coins",
    "Estimate",
    "Model",
    "count_exceedances",
    "draw_rows",
    "draw_ties",
    "in_units",
    "model_of_ties",
]

# Numbers drawn at once: as many as stay in a processor's cache. It changes no draw.
_CELLS = 1 << 15
# Observations a tie has on average from which a binomial number for it costs less than its coins.
FEW = 16


class Estimate(NamedTuple):
    """A Monte Carlo P-value, and the draws and those at least as extreme that it rests on."""

    pvalue: float
    exceedances: int
    draws: int


def draw_ties(
    score: FloatArray,
    n: IntArray,
    n1: IntArray,
    ends: IntArray | None = None,
    *,
    rng: np.random.Generator,
    draws: int,
    enough: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Estimate, Estimate]:
    """Return Monte Carlo P-values of ECCE-R and ECCE-MAD for observations of equal weight.

    Parameters
    ----------
    score, n, n1 : ndarray
        Distinct scores in ascending order; observations and successes at each.
    ends : ndarray, optional
        The last entry of each step, where the order is another and a step holds several scores.
    rng : numpy.random.Generator
        Where the draws come from.
    draws : int
        How many draws to make, B.
    enough : int, optional
        Stop when that many draws, h, are at least as extreme (Besag and Clifford [1]_). If that
        is at draw l, p = h/l; the test stays exact. Large P-values then take few draws.
    progress : callable, optional
        Called now and then with the number of draws made and ``draws``.

    Returns
    -------
    r, mad : Estimate
        P-values of ECCE-R and ECCE-MAD.

    References
    ----------
    .. [1] J. Besag, P. Clifford (1991). "Sequential Monte Carlo p-values." Biometrika 78(2).
       https://doi.org/10.1093/biomet/78.2.301

    Examples
    --------
    >>> import numpy as np
    >>> score, one, none = np.array([0.5, 0.6]), np.array([1, 1]), np.array([0, 0])
    >>> rng = np.random.default_rng(1)
    >>> r, mad = draw_ties(score, one, none, rng=rng, draws=9999)  # two failures: P = 0.2
    >>> round(r.pvalue, 2), round(mad.pvalue, 2)
    (0.2, 0.2)
    """
    reached = compensated_sum(n * score)
    x = np.cumsum(n1) - reached
    if ends is not None:
        x = x[ends]
    limits = thresholds(float(x.max()), float(x.min()), float(reached[-1]))
    model = model_of_ties(score, n, reached, ends)
    return count_exceedances(model, limits, rng=rng, draws=draws, enough=enough, progress=progress)


def draw_rows(
    score: FloatArray,
    weight: FloatArray | None,
    response: IntArray | BoolArray,
    *,
    rng: np.random.Generator,
    draws: int,
    outcome_weights: tuple[float, float] | None = None,
    ends: IntArray | None = None,
    enough: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Estimate, Estimate]:
    """Return Monte Carlo P-values of ECCE-R and ECCE-MAD for weighted observations.

    Parameters
    ----------
    score, weight, response : ndarray
        The observations in ascending order of scores; responses are 0 or 1. Equal scores need not
        be collapsed: the path counts at their ends only. Without a weight each weighs 1.
    outcome_weights : tuple of float, optional
        What responses 0 and 1 weigh on top of it: rows were kept with chances in proportion to
        1 / o0 and 1 / o1. A row that was kept is an event with the chance q = o0 s / D, where
        D = o1 (1 - s) + o0 s, and being one rather than not moves the path by w D.
    ends : ndarray, optional
        The last observation of each tie, where the order is not that of scores.
    rng, draws, enough, progress
        As in :func:`draw_ties`.

    Returns
    -------
    r, mad : Estimate
        P-values of ECCE-R and ECCE-MAD.

    Notes
    -----
    Weights are rounded to multiples of a unit, 2^-51 of their sum or less. All sums of weights are
    then exact, so that two draws with the same weight of successes have the same path to the last
    bit. Equal weights are no weights: see :func:`draw_ties`.

    Examples
    --------
    >>> import numpy as np
    >>> score, weight, response = np.array([0.5, 0.6]), np.array([1.0, 3.0]), np.array([0, 0])
    >>> rng = np.random.default_rng(1)
    >>> r, mad = draw_rows(score, weight, response, rng=rng, draws=9999)  # two failures: P = 0.2
    >>> round(r.pvalue, 2), round(mad.pvalue, 2)
    (0.2, 0.2)
    """
    # Runs of one score, at the ends of which sums are exact; the path counts at the ends of ties.
    runs = np.append(np.flatnonzero(score[1:] != score[:-1]), len(score) - 1)
    at = None
    if ends is not None:
        runs = np.union1d(runs, ends)
        at = np.searchsorted(runs, ends)
    if weight is None:
        weight = np.ones_like(score)
    if outcome_weights is not None:
        o0, o1 = outcome_weights
        step = o1 * (1 - score) + o0 * score
        score, weight = o0 * score / step, weight * step
    asked: dict[str, Any] = {"rng": rng, "draws": draws, "enough": enough, "progress": progress}
    if (weight == weight[0]).all():
        n, n1 = np.diff(runs, prepend=-1), np.diff(np.cumsum(response)[runs], prepend=0)
        return draw_ties(score[runs], n, n1, at, **asked)
    units = in_units(weight)
    tie_weight = np.diff(np.cumsum(units)[runs], prepend=0.0)
    reached = compensated_sum(tie_weight * score[runs])
    if at is not None:
        runs, reached = runs[at], reached[at]
    x = np.cumsum(units * response)[runs] - reached
    limits = thresholds(float(x.max()), float(x.min()), float(reached[-1]))
    model = Coins(score, units.astype(np.int64), runs, reached)
    return count_exceedances(model, limits, **asked)


def model_of_ties(
    score: FloatArray, n: IntArray, reached: FloatArray, at: IntArray | None = None
) -> Model:
    """Return what draws paths of observations of equal weight in the quicker way.

    ``at`` names the ties at whose ends the path is wanted, in ascending order; all by default.
    """
    wanted = slice(None) if at is None else at
    if int(n.sum()) >= FEW * len(score):
        return Counts(score, n, wanted, reached[wanted])
    return Coins(np.repeat(score, n), None, (np.cumsum(n) - 1)[wanted], reached[wanted])


def in_units(weight: FloatArray) -> FloatArray:
    """Return weights as whole numbers whose sum is below 2^53, so that they add up exactly."""
    _, exponent = math.frexp(math.fsum(weight.tolist()))
    return np.rint(np.ldexp(weight, 52 - exponent))


# --- what to draw ---------------------------------------------------------------------------------


class Model(Protocol):
    """Something that draws paths."""

    @property
    def cells(self) -> int:
        """Numbers drawn for each path."""
        ...

    def paths(self, rng: np.random.Generator, draws: int) -> Iterator[FloatArray]:
        """Draw some paths, a row each; they come in one piece, or in several one after another."""
        ...


@dataclass(frozen=True, slots=True)
class Counts:
    """Draws the number of successes at each tie.

    ``wanted`` are the ties at whose ends the path is shown, ``reached`` the sums of scores there.
    """

    score: FloatArray
    n: IntArray
    wanted: IntArray | slice
    reached: FloatArray

    @property
    def cells(self) -> int:
        return len(self.score)

    def paths(self, rng: np.random.Generator, draws: int) -> Iterator[FloatArray]:
        successes = rng.binomial(self.n, self.score, size=(draws, len(self.n)))
        yield np.cumsum(successes, axis=1)[:, self.wanted] - self.reached


@dataclass(frozen=True, slots=True)
class Coins:
    """Draws a coin for each observation; ``weight`` None means that each weighs 1.

    ``ends`` are the last observations of ties and ``reached`` the sums of scores there.
    """

    score: FloatArray
    weight: NumberArray | None
    ends: IntArray
    reached: FloatArray

    @property
    def cells(self) -> int:
        return len(self.score)

    def paths(self, rng: np.random.Generator, draws: int) -> Iterator[FloatArray]:
        before: Any = 0
        for part in self._parts(draws):
            happened = rng.random((draws, part.stop - part.start)) < self.score[part]
            # Whole numbers are added up several times as fast as others, and as exactly.
            weight = None if self.weight is None else self.weight[part]
            steps: Any = happened.astype(np.int64) if weight is None else happened * weight
            sums = np.cumsum(steps, axis=1)
            sums += before
            before = sums[:, -1:].copy()
            ends = slice(*np.searchsorted(self.ends, [part.start, part.stop]).tolist())
            if (last := self.ends[ends]).size < sums.shape[1]:
                sums = sums[:, last - part.start]
            yield sums - self.reached[ends]

    def _parts(self, draws: int) -> Iterator[slice]:
        """Cut the observations so that memory stays bounded; several draws are never cut."""
        size = len(self.score)
        width = size if draws > 1 else _CELLS
        for start in range(0, size, width):
            yield slice(start, min(start + width, size))


# --- drawing --------------------------------------------------------------------------------------


class _Tally:
    """Counts draws, and those at least as extreme, until there are enough."""

    def __init__(self, limit: float, enough: int | None) -> None:
        self.limit, self.enough = limit, enough
        self.exceedances = self.draws = 0

    @property
    def done(self) -> bool:
        return self.enough is not None and self.exceedances >= self.enough

    def add(self, values: FloatArray) -> None:
        """Count draws up to the one that makes enough."""
        if self.done:
            return
        running = np.cumsum(values >= self.limit)
        count = len(running)
        if self.enough is not None:
            count = min(count, int(np.searchsorted(running, self.enough - self.exceedances)) + 1)
        self.draws += count
        self.exceedances += int(running[count - 1])

    def estimate(self) -> Estimate:
        if self.done:
            pvalue = self.exceedances / self.draws
        else:
            pvalue = (1 + self.exceedances) / (1 + self.draws)
        return Estimate(pvalue, self.exceedances, self.draws)


def _extremes(model: Model, rng: np.random.Generator, draws: int) -> tuple[FloatArray, FloatArray]:
    """Draw some paths; return the largest and smallest value of each, the start included."""
    highest, lowest = np.zeros(draws), np.zeros(draws)
    for piece in model.paths(rng, draws):
        np.maximum(highest, piece.max(axis=1, initial=0.0), out=highest)
        np.minimum(lowest, piece.min(axis=1, initial=0.0), out=lowest)
    return highest, lowest


def count_exceedances(
    model: Model,
    limits: tuple[float, float],
    *,
    rng: np.random.Generator,
    draws: int,
    enough: int | None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Estimate, Estimate]:
    """Draw paths until there are enough, or ``draws``; return the P-values of ECCE-R and ECCE-MAD.

    ``limits`` are what the largest absolute value and the range must reach, in this order.
    """
    mad, r = (_Tally(limit, enough) for limit in limits)
    made = 0
    while made < draws and not (mad.done and r.done):
        batch = min(max(1, _CELLS // model.cells), draws - made)
        highest, lowest = _extremes(model, rng, batch)
        mad.add(np.maximum(highest, -lowest))
        r.add(highest - lowest)
        made += batch
        if progress is not None:
            progress(made, draws)
    return r.estimate(), mad.estimate()
