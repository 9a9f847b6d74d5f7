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
    from secant._types import FloatArray, IntArray

__all__ = ["BUDGET", "Bracket", "certified_r", "exact_mad", "operations"]

_LOG_10 = math.log(10)
_LOG10_SCALE = math.log10(SCALE)

# Smaller P-values are reported as being below it.
_LOG10_LEAST = -300.0
