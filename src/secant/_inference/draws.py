"""Random draws: how many, when they are enough, and the P-values that they give.

Under the null what is drawn has the law of what was observed. The P-value is the share of draws
whose statistic is at least as large as the observed one, the observed one counted among them:
p = (1 + b)/(1 + B). Such a test is exact, not approximate: under the null the probability of p <= a
is at most a for every a. More draws only make the answer depend less on chance.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._base.progress import reporting
from secant._inference.path import r_and_mad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from secant._base.types import BoolArray, FloatArray, IntArray, Obtained

__all__ = [
    "DRAWS",
    "ENOUGH",
    "FEWEST_DRAWS",
    "FEWEST_REDRAWS",
    "PValue",
    "PValues",
    "Tally",
    "count",
    "same_every_time",
]

# Draws of a Monte Carlo P-value; drawing stops when so many are at least as extreme.
DRAWS = 9999
ENOUGH = 100
# What is left of them where each draw takes long, and where many tests come from the same ones.
FEWEST_DRAWS = 999
FEWEST_REDRAWS = 199
# Numbers drawn at once: as many as stay in a processor's cache.
_CELLS = 1 << 15


class PValue(NamedTuple):
    """A decimal logarithm, how it was obtained, and from how many draws."""

    log10: float
    method: Obtained
    draws: int | None = None


class PValues(NamedTuple):
    """Those of ECCE-R and ECCE-MAD."""

    r: PValue
    mad: PValue

    @classmethod
    def of(cls, log10: Iterable[float], method: Obtained) -> PValues:
        """Return P-values by their decimal logarithms, both obtained in one way."""
        return cls(*(PValue(each, method) for each in log10))


class Tally:
    """Counts, for each statistic, the draws at least as large, until there are enough of them.

    Parameters
    ----------
    limits
        What each statistic must reach to be as large as observed.
    enough
        Stop when that many draws, h, are (Besag and Clifford [1]_). If that is at draw l, p = h/l;
        the test stays exact. Large P-values then take few draws.

    References
    ----------
    .. [1] J. Besag, P. Clifford (1991). "Sequential Monte Carlo p-values." Biometrika 78(2).
       https://doi.org/10.1093/biomet/78.2.301

    Examples
    --------
    >>> import numpy as np
    >>> tally = Tally([2.0], enough=None)
    >>> tally.add(np.array([[1.0], [3.0], [0.0]]))
    >>> tally.pvalues().tolist()
    [0.5]
    """

    def __init__(self, limits: ArrayLike, enough: int | None = ENOUGH) -> None:
        self._limits = np.asarray(limits, np.float64)
        self._wanted = math.inf if enough is None else enough
        self.made = 0
        self._exceedances = np.zeros(self._limits.size, np.int64)
        # The draw with which there were enough; 0 until then.
        self._last = np.zeros(self._limits.size, np.int64)

    @property
    def done(self) -> BoolArray:
        """Whether there are enough, for each statistic."""
        return self._last > 0

    @property
    def enough(self) -> bool:
        """Whether further draws would change nothing."""
        return bool(self.done.all())

    @property
    def draws(self) -> IntArray:
        """The draws that count, for each statistic."""
        return np.where(self.done, self._last, self.made)

    @property
    def exceedances(self) -> IntArray:
        """Those of them that are at least as large."""
        return np.minimum(self._exceedances, self._wanted).astype(np.int64)

    def add(self, values: FloatArray) -> None:
        """Count draws, a row each with a column for each statistic."""
        running = self._exceedances + np.cumsum(values >= self._limits, axis=0)
        now = (running[-1] >= self._wanted) & ~self.done
        self._last[now] = self.made + 1 + np.argmax(running >= self._wanted, axis=0)[now]
        self.made += len(running)
        self._exceedances = running[-1]

    def fill(
        self,
        statistics: Callable[[int], FloatArray],
        *,
        draws: int,
        batch: int,
        fewest: int = 0,
        doing: str = "Drawing outcomes",
    ) -> None:
        """Draw until there are enough, or ``draws``, and ``fewest`` in any case.

        ``statistics`` makes some draws, a row each, ``batch`` together; ``doing`` is shown before
        the bar that tells how many have been made.
        """
        with reporting(doing) as report:
            while self.made < fewest or (self.made < draws and not self.enough):
                self.add(statistics(min(max(1, batch), draws - self.made)))
                report(self.made, draws)

    def pvalues(self) -> FloatArray:
        """Return the P-value of each statistic."""
        itself = np.where(self.done, 0, 1)
        return (self.exceedances + itself) / (self.draws + itself)

    def found(self) -> list[PValue]:
        """Return the P-values with what they rest on; upper bounds where no draw is as large."""
        columns = self.pvalues(), self.exceedances, self.draws
        each = zip(*(column.tolist() for column in columns), strict=True)
        return [
            PValue(math.log10(p), "simulated" if exceedances else "upper bound", draws)
            for p, exceedances, draws in each
        ]


def count(
    paths: Callable[[np.random.Generator, int], FloatArray],
    limits: FloatArray,
    *,
    rng: np.random.Generator,
    cost: float,
    draws: int = DRAWS,
    enough: int | None = ENOUGH,
    statistics: Callable[[FloatArray], FloatArray] = r_and_mad,
) -> list[PValue]:
    """Draw paths until there are enough, or ``draws``; return the P-value of each statistic.

    Parameters
    ----------
    paths
        Draws some paths, a row each.
    limits
        What each statistic must reach.
    rng
        Where draws come from.
    cost
        Numbers drawn for each path, or what takes as long.
    draws, enough
        As in :class:`Tally`.
    statistics
        Returns those of paths, a row each: the range and the largest absolute value.
    """
    tally = Tally(limits, enough)
    batch = int(_CELLS / cost)
    tally.fill(lambda some: statistics(paths(rng, some)), draws=draws, batch=batch)
    return tally.found()


def same_every_time(rng: np.random.Generator | None) -> np.random.Generator:
    """Return the generator given, or one that makes the same draws in every run."""
    return np.random.default_rng(0) if rng is None else rng
