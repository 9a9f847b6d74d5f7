"""P-values of many tests at once, from draws that all of them share: the step-down maximum.

The statistic of a test is the range of its path, whose chance distribution depends on the test:
many events make it nearly Gaussian, rare ones give it a long tail. Before tests are compared it is
put on the scale of Bennett's inequality.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._inference.draws import ENOUGH, Tally

if TYPE_CHECKING:
    from secant._base.types import FloatArray

__all__ = ["Adjusted", "StepDown", "bennett", "or_beyond", "surprise"]


class Adjusted(NamedTuple):
    """Adjusted P-values, one a test, and the number of draws they rest on."""

    pvalues: FloatArray
    draws: int


class StepDown(Tally):
    """Counts, for each test, the draws in which it or a less extreme one is as extreme.

    Parameters
    ----------
    observed, limit
        The statistic of each test, and what is at least as large.
    enough
        Stop when that many draws have a test as extreme as the most extreme one observed. No
        adjusted P-value is below the first, so that drawing on would change none of them.

    Examples
    --------
    >>> import numpy as np
    >>> tally = StepDown(np.array([1.0, 3.0]), np.array([1.0, 3.0]))
    >>> tally.add(np.array([[2.0, 0.0], [0.0, 2.0], [0.0, 4.0]]))
    >>> tally.result()
    Adjusted(pvalues=array([0.5, 0.5]), draws=3)
    """

    def __init__(
        self, observed: FloatArray, limit: FloatArray, enough: int | None = ENOUGH
    ) -> None:
        self._order = np.argsort(-observed, kind="stable")
        super().__init__(limit[self._order], enough)

    @property
    def enough(self) -> bool:
        """Whether the most extreme test has enough."""
        return bool(self.done[0])

    def add(self, values: FloatArray) -> None:
        """Count draws, a row each."""
        super().add(np.maximum.accumulate(values[:, self._order[::-1]], axis=1)[:, ::-1])

    def result(self) -> Adjusted:
        """Return adjusted P-values, and the draws that the first rests on."""
        adjusted = np.empty(self._order.size)
        adjusted[self._order] = np.maximum.accumulate(self.pvalues())
        return Adjusted(adjusted, int(self.draws[0]))


def or_beyond(adjusted: Adjusted, others: FloatArray) -> FloatArray:
    """Take P-values adjusted otherwise where they are smaller and no draw was as extreme.

    Below 1/(1 + draws), what draws can tell, they are as valid.
    """
    beyond = adjusted.pvalues * (1 + adjusted.draws) <= 1
    return np.where(beyond, np.minimum(adjusted.pvalues, others), adjusted.pvalues)


def surprise(span: FloatArray, variance: FloatArray, unit: FloatArray) -> FloatArray:
    r"""Put ranges R of cumulative gains on the scale of Bennett's inequality.

    With the variance V of the last of them, in steps of size u, that is

    .. math:: x = \sqrt{2 V h(u R / V)} / u, \qquad h(z) = (1 + z) \log(1 + z) - z.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.sqrt(2 * variance) / unit * np.sqrt(bennett(unit * span / variance))
    # Where nothing can vary, anything is a surprise.
    return np.where(variance > 0, x, np.where(span > 0, np.inf, 0.0))


def bennett(u: FloatArray) -> FloatArray:
    """Return (1 + u) log(1 + u) - u."""
    # Terms of the series u^2/2 - u^3/6 + u^4/12 - ..., which does not cancel.
    powers = range(2, 9)
    series = sum((-1) ** j * u**j / (j * (j - 1)) for j in powers)
    return np.where(u < 0.01, series, (1 + u) * np.log1p(u) - u)
