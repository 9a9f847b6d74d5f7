"""Ways to go about a finite-sample P-value, and the work each takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from secant import null
from secant._inference.chains import AT_ONCE
from secant._inference.path import pooled, seldom
from secant._inference.step_laws import WHOLE, rare_steps, windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import FloatArray, IntArray
    from secant._inference.path import Path

__all__ = [
    "FAINTEST",
    "LITTLE",
    "STEP_MAD",
    "STEP_R",
    "Plan",
    "Points",
    "Rounding",
    "best",
    "cuts",
    "faint",
    "keyed",
    "mad_plans",
    "mad_work",
    "r_plans",
]

# Charges, in multiplications, for what the interpreter does around them: in a step of one
# observation and in one of several, of ECCE-MAD and of ECCE-R; for each numpy call within the
# latter; for the law of a large tie; and for each tie that is pooled with its neighbours.
STEP_MAD, STEP_R = 8_000, 24_000
_LEAP_MAD, _LEAP_R = 24_000, 56_000
_CALL = 8_000
_LARGE = 100_000
_POOLED = 1_000

# The finest rounding: a P-value changes by about 1% when c changes by their spacing.
_FINENESS = 110.0
# How much coarser they may become to save work; where so little is expected to vary that the limit
# of many observations cannot take their place, much coarser: bounds are wide then, not wrong.
_COARSER = (1.0, 2.0, 4.0)
_MUCH_COARSER = 25
LITTLE = 400.0
# P-values above which points twice as close, and four times, are needed to tell the second digit.
_OFTEN, _MOSTLY = 0.55, 0.78
# So many grains are never affordable but in pools: their work is not even counted.
_MANY_GRAINS = 1 << 13
# A pool expects less than one of the rarer outcome, and a small part of c.
_FULL, _PARTS = 0.9, 8.0
# With that many distinct scores the running minimum is not rounded, if the budget allows; with as
# many observations, always.
_KEYED = 300

# Minus the logarithm of the probability left out at a step, relative to the P-value expected,
# where nothing is pooled and where pools leave more open anyway; and the most that may be.
_NEGLIGIBLE, _NEGLIGIBLE_IN_POOLS = 42.0, 26.0
FAINTEST = 730.0
# So that a quotient of counts does not overflow.
_TINY = 1e-300


class Points(Protocol):
    """Points to which a running minimum is rounded, numbered upwards."""

    @property
    def stride(self) -> Any:
        """How many of them there are in every unit interval."""
        ...

    def below(self, y: FloatArray) -> IntArray:
        """Return the number of the last point that is at most y."""
        ...

    def above(self, y: FloatArray) -> IntArray:
        """Return the number of the first point that is at least y."""
        ...


@dataclass(frozen=True, slots=True)
class Rounding:
    """Points to which a running minimum is rounded, ``stride`` of them in every unit interval.

    Without ``keys`` they are equally spaced; ``keys`` gives their fractional parts otherwise.
    Points are numbered upwards from 0, the origin.
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


@dataclass(frozen=True, slots=True)
class Plan:
    """How to go about it, and the work it takes."""

    path: Path
    work: int
    rounding: Rounding = Rounding(1)


def best(plans: Iterator[Plan], budget: int) -> Plan:
    """Return the first plan that the budget allows, or else the one with the least work."""
    seen = []
    for plan in plans:
        if plan.work <= budget:
            return plan
        seen.append(plan)
    return min(seen, key=lambda plan: plan.work)


def mad_plans(path: Path, c: float) -> Iterator[Plan]:
    """Propose ways to compute ECCE-MAD's P-value, from the tightest bounds to the coarsest."""
    yield Plan(path, mad_work(path, c))
    fewer = seldom(path, c)
    if 2 * len(fewer) <= len(path):
        yield Plan(fewer, mad_work(fewer, c))
    for spacing in _spacings(path, c):
        fewer = pooled(path, min(spacing, _FULL, c / _PARTS))
        if fewer.drift < c and 2 * len(fewer) <= len(path):
            yield Plan(fewer, mad_work(fewer, c))


def r_plans(path: Path, c: float, budget: float = math.inf) -> Iterator[Plan]:
    """Propose ways to compute ECCE-R's P-value, from the tightest bounds to the coarsest.

    What takes more than a budget for sure is not counted, but for the coarsest.
    """
    if len(path) <= _KEYED:
        yield keyed(path, c)
    if path.total[-1] <= _KEYED:
        return
    expected = float(path.rare.sum())
    spacings = list(_spacings(path, c))
    for spacing in spacings:
        stride = max(1, math.ceil(1.0 / spacing))
        dear = 2 * STEP_R * len(path) > budget and spacing < spacings[-1]
        if not dear and (path.mixture is None or len(path) <= _MANY_GRAINS):
            yield _rounded(path, c, stride)
        # Pools move limits by twice their drift, points by their spacing. Both pairs move them as
        # far: the first where steps cost more than the points at them, the second where less.
        for apart, most in ((2.0 * spacing / 3.0, 2.0 * spacing / 3.0), (spacing, 0.5 * spacing)):
            drift = min(most, _FULL, 0.5 * c / _PARTS)
            if 4 * _LEAP_R * expected > budget * drift and spacing < spacings[-1]:
                continue
            fewer = pooled(path, drift)
            if 2.0 * fewer.drift < c and 2 * len(fewer) <= len(path):
                yield _rounded(fewer, c, max(1, math.ceil(1.0 / apart)))
    if path.mixture is not None:  # whatever it takes
        yield _rounded(path, c, stride)


def _spacings(path: Path, c: float) -> Iterator[float]:
    """Return changes of c that change a P-value by about 1%, 2% and 4%; by more if need be."""
    # By Bennett's inequality log P falls by log(1 + c/V) when c grows by 1: by c/V where the path
    # is nearly Brownian, and by less where events are rare.
    fall = math.log1p(c / max(path.variance, _TINY))
    coarser = _COARSER if path.variance >= LITTLE else _from_fine_to_coarse(path, c)
    for each in coarser:
        yield each / (_FINENESS * fall)


def _from_fine_to_coarse(path: Path, c: float) -> Iterator[float]:
    """Return how much coarser points may be, finer ones first where P is large and exact."""
    p = null.range.sf(c / math.sqrt(path.variance)) if path.exact and path.variance > 0 else 0.0
    finest = -4 * ((p > _OFTEN) + (p > _MOSTLY))
    return (2.0 ** (k / 4) for k in range(finest, _MUCH_COARSER))


def keyed(path: Path, c: float) -> Plan:
    """Plan to keep the fractional parts of all A_k, so that nothing is rounded."""
    keys = np.unique(path.before - np.floor(path.before))
    return Plan(path, _r_work(path, c, len(keys), 1), Rounding(len(keys), keys))


def _rounded(path: Path, c: float, stride: int) -> Plan:
    """Plan to round to equally spaced points, or to the fractional parts where they are as few."""
    if len(path) <= 2 * stride:
        return keyed(path, c)
    return Plan(path, _r_work(path, c, stride, 2), Rounding(stride))


def mad_work(path: Path, c: float) -> int:
    """Count the operations of ECCE-MAD's chains."""
    singles, taps, spare = _steps_to_take(path, null.mad, c)
    cells = math.ceil(2.0 * c)
    chains = 1 if path.exact else 2
    leaps = _LEAP_MAD * len(taps) + cells * int(taps.sum())
    return spare + chains * (singles * (STEP_MAD + 2 * cells) + leaps)


def _r_work(path: Path, c: float, stride: int, columns: int) -> int:
    """Count the operations of ECCE-R's chains."""
    singles, taps, spare = _steps_to_take(path, null.range, c)
    chains = 2
    if not path.exact:  # both ways of rounding have barriers of their own
        chains, columns = 4, 1
    cells = math.ceil(stride * c) * columns
    calls = _CALL * np.minimum(taps, stride * columns)
    if columns == 1:  # all in one call, which makes three times the products dearer
        calls = np.where(cells * taps <= AT_ONCE, 3 * cells * taps, calls)
    leaps = _LEAP_R * len(taps) + int(calls.sum()) + cells * int(taps.sum())
    return spare + chains * (singles * (STEP_R + 2 * cells) + leaps)


def _steps_to_take(path: Path, law: null.BrownianLaw, c: float) -> tuple[int, IntArray, int]:
    """Return the number of steps of one observation, the terms of others, and what comes first."""
    first, last = windows(path.score, path.size, path.ends, faint(path, law, c), path.mixture)
    taps = (last - first + 1)[path.count > 1]
    rare = rare_steps(path.score, path.size, path.ends, path.mixture)[0]
    tie = ~np.repeat(rare, np.diff(path.ends, prepend=-1))
    if path.mixture is not None:
        tie &= path.mixture.largest == path.mixture.least
    large = int((tie & (path.size > WHOLE)).sum())
    saved = len(path.score) - len(path)
    # Laws of several scores are added up in pairs, the last two of which take the most.
    mixed = path.several & ~rare
    added = 4 * int((taps[mixed[path.count > 1]] ** 2).sum())
    return len(path) - len(taps), taps, _LARGE * large + _POOLED * saved + added


def faint(path: Path, law: null.BrownianLaw, c: float) -> float:
    """Return minus the logarithm of what may be left out at a step."""
    log_p = law.logsf(c / math.sqrt(path.variance))
    negligible = _NEGLIGIBLE if path.exact else _NEGLIGIBLE_IN_POOLS
    return math.ceil(min(negligible - log_p + math.log(cuts(path)), FAINTEST))


def cuts(path: Path) -> int:
    """Return in how many places, at most, the tails of laws are left out."""
    if not path.several.any():
        return len(path)
    # Wherever two laws are added, where a step holds several scores.
    mixed = path.several & ~rare_steps(path.score, path.size, path.ends, path.mixture)[0]
    return len(path) + int(path.count[mixed].sum())
