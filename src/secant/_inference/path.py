"""The observed path of cumulative differences: its sums, and what is as extreme as it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import FloatArray

__all__ = ["compensated_sum", "guarded", "thresholds"]


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
    return guarded(max(highest, -lowest), expected), guarded(highest - lowest, expected)


def guarded(reach: Any, expected: Any) -> Any:
    """Return what is as extreme as ``reach`` where so much is expected, numbers or arrays."""
    return reach - (1e-12 * reach + 4.0 * np.spacing(expected))


def compensated_sum(terms: FloatArray) -> FloatArray:
    """Return the prefix sums, each as if added in twice the precision and rounded once."""
    sums: FloatArray = np.cumsum(terms, axis=0)
    before = np.concatenate([np.zeros_like(sums[:1]), sums[:-1]])
    # What each addition rounded off, exactly (Knuth).
    share = sums - before
    lost = (before - (sums - share)) + (terms - share)
    sums += np.cumsum(lost, axis=0)
    return sums
