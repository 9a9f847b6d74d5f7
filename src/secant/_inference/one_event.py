"""ECCE-R's P-value where one event happened and no more than one was expected.

Chains round the running minimum of the path to a grid. With a single event ECCE-R is 1 less what
was expected of its own step: which events are as extreme turns on differences of scores, far below
any grid. But then the P-value can be said outright.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from secant._base.types import FloatArray, IntArray

    # Scores, observations and events of some ties in order, and the last of each step or None.
    Table = tuple[FloatArray, IntArray, IntArray, IntArray | None]

__all__ = ["log10_bounds"]

# What is added up is off by less, relative to it.
_ROUNDED = 64 * float(np.finfo(float).eps)
# Odds beyond which differences lose too much.
_MOST_ODDS = 4.0


class _Sums(NamedTuple):
    """Sums over ties.

    Of chances, odds and logarithms of no event; of events, and what is expected of the steps where
    they are; and of the odds of steps that expect no more than that, without and with a guard.
    """

    mass: float = 0.0
    odds: float = 0.0
    log_none: float = 0.0
    events: int = 0
    own: float = 0.0
    few: float = 0.0
    many: float = 0.0


def log10_bounds(
    tables: Callable[[], Iterable[Table]], *, failures: bool, expected: float
) -> tuple[float, float] | None:
    """Return decimal logarithms of bounds of ECCE-R's P-value, which agree but for rounding.

    Parameters
    ----------
    tables
        Gives all ties in order, some steps at a time; asked twice.
    failures
        Whether failures are rarer than events, and take their place.
    expected
        The sum of all scores, whose rounding decides what ties with the observed path.

    Returns
    -------
    tuple of float, or None
        None where more than one event was expected, or not exactly one happened.

    Notes
    -----
    Let A be the sum of all scores, at most 1. The path falls, jumps by 1 where the event is, and
    ends at 1 - A, above the start: its range is 1 - m, with m the scores of that step. After two
    events it is at 2 - A or above, 1 at least; without any its range is A. So as extreme as one
    event of a step m are all single events of steps that expect no more, and all outcomes of two
    events or more; and none at all if A >= 1 - m. With the chance P0 of none and odds
    o = s/(1 - s) that is P0 (sum of o over such steps) + 1 - P0 (1 + sum of all o), and P0 if so. A
    guard counts what nearly ties, as everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([0.1, 0.2]), np.array([1, 1]), np.array([1, 0]), None
    >>> low, high = log10_bounds(lambda: [two], failures=False, expected=0.3)
    >>> round(10**low, 12), round(10**high, 12)  # the event of 0.1 alone, or both
    (0.1, 0.1)
    """
    first = _added(tables(), failures=failures, own=0.0, guard=0.0)
    if first is None or first.events != 1 or first.mass > 1.0 - _ROUNDED or first.odds > _MOST_ODDS:
        return None
    guard = 1e-12 + 4.0 * math.ulp(expected)
    sums = _added(tables(), failures=failures, own=first.own, guard=guard)
    assert sums is not None  # noqa: S101
    none = math.exp(sums.log_none)
    several = -math.expm1(sums.log_none) - none * sums.odds
    unsure = _ROUNDED * sums.odds
    few = sums.few + (sums.mass + sums.own >= 1.0 + guard)
    many = sums.many + (sums.mass + sums.own >= 1.0 - 2.0 * guard)
    low = none * few * (1.0 - _ROUNDED) + max(several - unsure, 0.0)
    high = none * many * (1.0 + _ROUNDED) + max(several, 0.0) + unsure
    return (math.log10(min(low, 1.0)), math.log10(min(high, 1.0))) if low > 0.0 else None


def _added(tables: Iterable[Table], *, failures: bool, own: float, guard: float) -> _Sums | None:
    """Add up ties; None if an outcome happened that its score rules out, or is next to certain."""
    total = _Sums()
    for table in tables:
        score, n, n1, ends = table
        if (n1[score <= 0.0] > 0).any() or (n1 < n)[score >= 1.0].any():
            return None
        step = np.arange(len(score))
        if ends is not None:
            step = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1))
        random = (score > 0.0) & (score < 1.0)
        step, n = step[random], n[random]
        chance = 1.0 - score[random] if failures else score[random]
        happened = n - n1[random] if failures else n1[random]
        if (chance >= 1.0).any():  # what rounding leaves of it; more than one is expected
            return None
        if chance.size:
            found = _sums(chance, n, happened, step, (own, guard))
            total = _Sums._make(map(sum, zip(total, found, strict=True)))
    return total


def _sums(
    chance: FloatArray, n: IntArray, happened: IntArray, step: IntArray, near: tuple[float, float]
) -> _Sums:
    own, guard = near
    odds = n * (chance / (1.0 - chance))
    # Not by np.bincount, which adds one after the other: steps that tie exactly must be found to.
    starts = np.flatnonzero(np.append(True, step[1:] != step[:-1]))
    mass, of_step = np.add.reduceat(n * chance, starts), np.add.reduceat(odds, starts)
    where = np.searchsorted(starts, np.flatnonzero(happened), side="right") - 1
    return _Sums(
        mass=float(mass.sum()),
        odds=float(odds.sum()),
        log_none=float((n * np.log1p(-chance)).sum()),
        events=int(happened.sum()),
        own=float(mass[where].sum()),
        few=float(of_step[mass <= own].sum()),
        many=float(of_step[mass <= own + 2.0 * guard].sum()),
    )
