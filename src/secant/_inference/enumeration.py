"""Exact P-values of a few observations: every outcome they could have had, looked at.

Chains bound the P-value of ECCE-R; with few observations it is quicker to go through all outcomes,
and then it is exact. Many small tables are gone through together, those with ties of the same sizes
at once: a step for each tie, in which every outcome so far branches into those of the next tie.
Along another order than that of scores a step of the path may hold ties of several scores; then all
of them branch, and the path is looked at where the step ends.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from secant._inference.path import compensated_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import FloatArray, IntArray

    # Scores in the order of the path; observations and successes at each; the last of each step
    # of the path, None where every score is one.
    Table = tuple[FloatArray, IntArray, IntArray, IntArray | None]

__all__ = ["MOST", "log10_pvalues"]

# Observations up to which all outcomes are gone through, 4,096 of them; chains are quicker beyond.
MOST = 12
# Outcomes of several tables that are gone through together: what stays in a processor's cache.
_TOGETHER = 1 << 15
# Below this the product of probabilities could lose digits; chains are made for it.
_LEAST = 1e-250


def log10_pvalues(tables: Sequence[Table]) -> list[tuple[float, float] | None]:
    """Return the decimal logarithms of the exact P-values of ECCE-R and of ECCE-MAD.

    Parameters
    ----------
    tables
        Each with at most :data:`MOST` observations.

    Returns
    -------
    list
        Two numbers for each table; None where a P-value is too small to be found like this.

    Notes
    -----
    "At least as extreme" is what it is in :mod:`secant._inference.finite`: one and the same sums of
    scores serve the observed path and all others, and what ties with the observed one counts.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([0.5, 0.6]), np.array([1, 1]), np.array([0, 0]), None
    >>> [round(10**log10, 12) for log10 in log10_pvalues([two])[0]]  # 0.5 * 0.4: two failures
    [0.2, 0.2]
    """
    alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for number, (_, n, _, ends) in enumerate(tables):
        of_path = tuple(range(len(n)) if ends is None else ends.tolist())
        alike.setdefault((tuple(n.tolist()), of_path), []).append(number)
    found: list[tuple[float, float] | None] = [None] * len(tables)
    for (of_each, steps), numbers in alike.items():
        sizes = list(of_each)
        each = max(1, _TOGETHER // math.prod(n + 1 for n in sizes))
        for start in range(0, len(numbers), each):
            some = numbers[start : start + each]
            # A table alone is gone through twice: in one column numpy adds up in another order.
            rows = some if len(some) > 1 else some * 2
            score, n1 = (np.array([tables[number][i] for number in rows]) for i in (0, 2))
            for number, r, mad in zip(rows, *_pvalues(score, sizes, n1, list(steps)), strict=True):
                if min(r, mad) > _LEAST:
                    found[number] = math.log10(min(r, 1.0)), math.log10(min(mad, 1.0))
    return found


def _pvalues(
    score: FloatArray, sizes: list[int], n1: IntArray, ends: list[int]
) -> tuple[list[float], list[float]]:
    """Return the P-values of tables, a row each, whose ties have the same sizes and steps."""
    reached = compensated_sum((score * np.array(sizes)).T)
    observed = (np.cumsum(n1, axis=1).T - reached)[ends]
    top, bottom = observed.max(axis=0, initial=0.0), observed.min(axis=0, initial=0.0)
    ulp = 4.0 * np.spacing(reached[-1])
    highest, lowest, chance = _outcomes(score, sizes, reached, set(ends))

    def at_least(value: FloatArray, seen: FloatArray) -> list[float]:
        as_extreme = value >= seen - (1e-12 * seen + ulp)
        return np.einsum("ij,ij->j", chance, as_extreme).tolist()  # type: ignore[no-any-return]

    r = at_least(highest - lowest, top - bottom)
    return r, at_least(np.maximum(highest, -lowest), np.maximum(top, -bottom))


def _outcomes(
    score: FloatArray, sizes: list[int], reached: FloatArray, ends: set[int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return how far the path goes up and down in every outcome, a row each, and how likely it is.

    The columns are the tables. Outcomes of the first ties stand in the first rows, and branch into
    the rows that follow: those of no further success stay, so they are written last.
    """
    shape = math.prod(n + 1 for n in sizes), len(score)
    highest, lowest, chance, path = (np.empty(shape) for _ in range(4))
    highest[0], lowest[0], chance[0] = 0.0, 0.0, 1.0
    count, known = np.zeros(1), 1
    for number, (size, s, expected) in enumerate(zip(sizes, score.T, reached, strict=True)):
        here, now = slice(known), path[:known]
        for i in reversed(range(size + 1)):
            there = slice(i * known, (i + 1) * known)
            if number in ends:
                np.subtract.outer(count + i, expected, out=now)
                np.maximum(highest[here], now, out=highest[there])
                np.minimum(lowest[here], now, out=lowest[there])
            else:  # within a step
                highest[there], lowest[there] = highest[here], lowest[here]
            likely = math.comb(size, i) * s**i * (1.0 - s) ** (size - i)
            np.multiply(chance[here], likely, out=chance[there])
        count, known = np.add.outer(np.arange(size + 1.0), count).ravel(), known * (size + 1)
    return highest, lowest, chance
