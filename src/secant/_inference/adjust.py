"""P-values of many tests made fit to be read together: from P-values alone, or from shared draws.

Draws that all tests share keep what the tests have in common, and the P-values are those of the
step-down maximum. The statistic of a test is the range of its path, whose chance distribution
depends on the test: many events make it nearly Gaussian, rare ones give it a long tail. Before
tests are compared it is put on the scale of Bennett's inequality.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._inference.draws import ENOUGH, Tally
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._base.types import FloatArray
    from secant._input.options import ClassAdjust

__all__ = [
    "ADJUSTMENTS",
    "JOINT",
    "Adjusted",
    "Adjustment",
    "StepDown",
    "adjusted",
    "adjusted_logs",
    "benjamini_hochberg",
    "bennett",
    "holm",
    "or_beyond",
    "surprise",
]

JOINT: ClassAdjust = "westfall-young"
# Below this a double loses digits.
_TINY = 1e-300


class Adjustment(NamedTuple):
    """One way to account for many tests: what it is called, and what it makes of P-values.

    ``function`` is None where P-values alone do not suffice: the outcomes themselves are drawn.
    """

    words: str
    function: Callable[[Any], FloatArray] | None


def holm(pvalues: Any) -> FloatArray:
    r"""Adjust P-values so that the chance of any false alarm stays below the level.

    A test whose adjusted P-value is at most 5% is a finding; in all, the probability that one or
    more findings are false is at most 5%, however the tests depend on each other.

    Parameters
    ----------
    pvalues : array-like of shape (m,)
        P-values in [0, 1], in any order. There may be none.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted P-values in the order given, each at least as large as the P-value itself.

    Raises
    ------
    InputError
        If the P-values are not a sequence of numbers in [0, 1]; the message names the index.

    Notes
    -----
    With the P-values in ascending order, the adjusted ones are

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1) p_{(j)}).

    References
    ----------
    .. [1] S. Holm (1979). "A simple sequentially rejective multiple test procedure." Scandinavian
       Journal of Statistics 6(2). https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    return np.minimum(_stepped("holm", _check(pvalues), np.multiply), 1.0)


def benjamini_hochberg(pvalues: Any) -> FloatArray:
    r"""Adjust P-values so that the expected share of false findings stays below the level.

    Of the tests whose adjusted P-value is at most 5%, at most 5% are false on average. That is less
    than :func:`holm` promises and finds more.

    Parameters
    ----------
    pvalues : array-like of shape (m,)
        P-values in [0, 1], in any order. There may be none.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted P-values in the order given, each at least as large as the P-value itself and at
        most as large as Holm's.

    Raises
    ------
    InputError
        If the P-values are not a sequence of numbers in [0, 1]; the message names the index.

    Notes
    -----
    With the P-values in ascending order, the adjusted ones are

    .. math:: \tilde p_{(i)} = \min_{j \ge i} \min(1, (m / j) p_{(j)}).

    The promise holds for independent tests, as those of disjoint groups are.

    References
    ----------
    .. [1] Y. Benjamini, Y. Hochberg (1995). "Controlling the false discovery rate: a practical and
       powerful approach to multiple testing." Journal of the Royal Statistical Society B 57(1).
       https://doi.org/10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    return np.minimum(_stepped("benjamini-hochberg", _check(pvalues), np.multiply), 1.0)


def _stepped(
    adjust: ClassAdjust, values: FloatArray, times: Callable[[FloatArray, Any], FloatArray]
) -> FloatArray:
    """Return P-values, or what stands for them, times their factors: the steps of an adjustment."""
    order, m = np.argsort(values), len(values)
    adjusted = np.empty(m)
    if adjust == "benjamini-hochberg":
        steps = times(values[order], m / np.arange(1, m + 1))
        adjusted[order] = np.minimum.accumulate(steps[::-1])[::-1]
    else:  # where draws have adjusted, what is below their reach is Holm's
        adjusted[order] = np.maximum.accumulate(times(values[order], np.arange(m, 0, -1)))
    return adjusted


def _check(pvalues: Any) -> FloatArray:
    try:
        checked = np.asarray(pvalues, dtype=np.float64)
    except (TypeError, ValueError):
        what = f" must be numbers; got a {type(pvalues).__name__} that holds something else"
        raise InputError(Argument("pvalues"), what) from None
    if checked.ndim != 1:
        shape = f" must be one-dimensional; got an array of shape {checked.shape}"
        raise InputError(Argument("pvalues"), shape)
    wrong = ~((checked >= 0) & (checked <= 1))  # NaN is neither
    if wrong.any():
        index = int(wrong.argmax())
        outside = f" must lie in [0, 1]; got {checked[index]} at index {index}"
        raise InputError(Argument("pvalues"), outside, row=index)
    return checked


# Every adjustment there is; the words that arguments take are in secant._input.options.
ADJUSTMENTS: dict[ClassAdjust, Adjustment] = {
    "holm": Adjustment("Holm's correction", holm),
    "benjamini-hochberg": Adjustment("Benjamini and Hochberg's correction", benjamini_hochberg),
    JOINT: Adjustment("Westfall and Young's correction", None),
}


def adjusted(adjust: ClassAdjust, pvalues: Any) -> FloatArray:
    """Adjust P-values in one of the ways that need nothing else."""
    function = ADJUSTMENTS[adjust].function
    assert function is not None  # noqa: S101
    return function(pvalues)


def adjusted_logs(adjust: ClassAdjust, pvalues: FloatArray, logs: Any) -> list[float]:
    """Return decimal logarithms of adjusted P-values, also of those too small for a double.

    Parameters
    ----------
    adjust
        How they were adjusted.
    pvalues
        Adjusted P-values, of which some may be 0 for want of digits.
    logs
        Decimal logarithms of the P-values themselves.
    """
    with np.errstate(divide="ignore"):
        known = np.log10(pvalues)
    stepped = _stepped(adjust, np.asarray(logs, float), lambda log, by: log + np.log10(by))
    found: list[float] = np.where(pvalues > _TINY, known, stepped).tolist()
    return found


# From draws that all tests share ------------------------------------------------------------------


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
