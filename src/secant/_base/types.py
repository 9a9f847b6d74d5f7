"""Names for the array types used throughout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
# Counts or weights: sums of either kind are treated alike.
NumberArray = np.ndarray[Any, np.dtype[np.int64]] | np.ndarray[Any, np.dtype[np.float64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
# How a P-value was obtained.
Obtained = Literal["exact", "upper bound", "large-sample", "simulated"]


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Rows whose score rules out what happened: how many, and which, where rows have numbers."""

    count: int
    rows: tuple[int, ...]
