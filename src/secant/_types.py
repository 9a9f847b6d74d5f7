"""Names for the array types used throughout."""

from __future__ import annotations

from typing import Any

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
# Counts or weights: sums of either kind are treated alike.
NumberArray = np.ndarray[Any, np.dtype[np.int64]] | np.ndarray[Any, np.dtype[np.float64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
