"""P-values of many tests made fit to be read together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._base.types import FloatArray
    from secant._input.options import ClassAdjust

__all__ = [
    "ADJUSTMENTS",
    "JOINT",
    "Adjustment",
    "adjusted",
    "adjusted_logs",
    "benjamini_hochberg",
    "holm",
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
    checked = _check(pvalues)
    order = np.argsort(checked)
    tests = np.arange(len(checked), 0, -1)
    stepped = np.maximum.accumulate(np.minimum(tests * checked[order], 1.0))
    return _unsorted(stepped, order)


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
    checked = _check(pvalues)
    order = np.argsort(checked)
    rank = np.arange(1, len(checked) + 1)
    stepped = np.minimum(checked[order] * (len(checked) / rank), 1.0)
    return _unsorted(np.minimum.accumulate(stepped[::-1])[::-1], order)


def _unsorted(values: FloatArray, order: np.ndarray[Any, np.dtype[np.intp]]) -> FloatArray:
    """Put sorted values back where they came from."""
    back = np.empty_like(values)
    back[order] = values
    return back


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
    before = np.asarray(logs, dtype=np.float64)
    order = np.argsort(before)
    count = len(before)
    if adjust == "benjamini-hochberg":
        stepped = before[order] + np.log10(count / np.arange(1, count + 1))
        stepped = np.minimum.accumulate(stepped[::-1])[::-1]
    else:  # where draws have adjusted, what is below their reach is Holm's
        stepped = np.maximum.accumulate(before[order] + np.log10(np.arange(count, 0, -1)))
    found: list[float] = np.where(pvalues > _TINY, known, _unsorted(stepped, order)).tolist()
    return found
