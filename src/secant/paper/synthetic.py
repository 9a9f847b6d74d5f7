"""The synthetic data of the paper, to the last bit.

Scores are a fixed grid on [0, 1]. The success probability of an observation is its score plus a
fractal staircase (none in the calibrated case), and the response is drawn with it. The uniform
numbers are those of Python's own generator with the paper's seed, so the responses are the paper's.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from secant.errors import InputError

if TYPE_CHECKING:
    from secant._base.types import FloatArray

__all__ = ["FAMILIES", "Family", "responses", "scores", "success_probabilities"]

Family = Literal["equispaced", "squared", "square rooted"]

FAMILIES: tuple[Family, ...] = get_args(Family)
"""Names of the three score families."""

_SEED = 987654321
# The staircase is built from numbers of this many octal digits.
_DIGITS = 7


def scores(n: int, family: Family) -> FloatArray:
    """Return the paper's scores, in ascending order.

    Parameters
    ----------
    n : int
        Sample size, a power of 2 up to 2^21.
    family : {"equispaced", "squared", "square rooted"}
        What is done to the grid points.

    Returns
    -------
    ndarray
        The n scores.

    Raises
    ------
    InputError
        If n is not such a power of 2, or the family is unknown.

    Notes
    -----
    With x_k = (k - 1/2)/n for k = 1, ..., n the scores are x_k, x_k^2 or sqrt(x_k).

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of
       calibration for probabilistic predictions." Journal of Machine Learning Research 23(351).
       https://doi.org/10.48550/arXiv.2205.09680

    Examples
    --------
    >>> scores(4, "squared")
    array([0.015625, 0.140625, 0.390625, 0.765625])
    """
    _check_size(n)
    x: FloatArray = (np.arange(n) + 0.5) / n
    if family == "equispaced":
        return x
    if family == "squared":
        return np.square(x)
    if family == "square rooted":
        return np.sqrt(x)
    raise InputError(f"family must be one of {', '.join(map(repr, FAMILIES))}, but is {family!r}")


def success_probabilities(n: int, family: Family, *, calibrated: bool = False) -> FloatArray:
    """Return the probabilities with which the paper's responses are 1.

    Parameters
    ----------
    n : int
        Sample size, a power of 2 up to 2^21.
    family : {"equispaced", "squared", "square rooted"}
        The score family.
    calibrated : bool, default False
        If true, the probabilities are the scores themselves.

    Returns
    -------
    ndarray
        The n probabilities in the order of the scores. As in the paper they are not clipped: some
        of the miscalibrated ones fall below 0, which has the effect of 0.

    Raises
    ------
    InputError
        If n is not such a power of 2, or the family is unknown.

    Notes
    -----
    For j = 0, ..., n - 1 let B_j be the binary number whose 7 digits say which octal digits of
    round(j 8^7/n) are not zero, and a_j the values B_j/(2^7 - 1) in ascending order. The departure
    from calibration is t_j = a_j - 1 + exp(-e^2 j/n), added to the scores by index.

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of
       calibration for probabilistic predictions." Journal of Machine Learning Research 23(351).
       https://doi.org/10.48550/arXiv.2205.09680

    Examples
    --------
    >>> success_probabilities(4, "equispaced").round(4)
    array([0.125 , 0.0366, 0.1538, 0.3829])
    >>> success_probabilities(4, "equispaced", calibrated=True)
    array([0.125, 0.375, 0.625, 0.875])
    """
    probabilities = scores(n, family)
    if not calibrated:
        probabilities += _perturbation(n)
    return probabilities


def responses(
    n: int, family: Family, *, calibrated: bool = False, realizations: int = 1
) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Return the paper's responses.

    Parameters
    ----------
    n : int
        Sample size, a power of 2 up to 2^21.
    family : {"equispaced", "squared", "square rooted"}
        The score family.
    calibrated : bool, default False
        If true, responses are drawn with the scores as probabilities.
    realizations : int, default 1
        How many independent draws of all n responses; the paper's convergence plots average 9.

    Returns
    -------
    ndarray of int8, shape (realizations, n)
        Zeros and ones, each row in the order of the scores.

    Raises
    ------
    InputError
        If n is not such a power of 2, the family is unknown or realizations is below 1.

    Notes
    -----
    The response is 1 when U <= P. The generator starts afresh with the paper's seed in every call
    and realisations take consecutive blocks of n numbers, so the first row does not depend on how
    many there are.

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of
       calibration for probabilistic predictions." Journal of Machine Learning Research 23(351).
       https://doi.org/10.48550/arXiv.2205.09680

    Examples
    --------
    >>> responses(8, "equispaced", calibrated=True, realizations=2)
    array([[0, 0, 0, 1, 1, 1, 1, 1],
           [0, 0, 0, 1, 1, 0, 1, 1]], dtype=int8)
    """
    if realizations < 1:
        raise InputError(f"realizations must be at least 1, but is {realizations}")
    probabilities = success_probabilities(n, family, calibrated=calibrated)
    uniform = _paper_generator()
    drawn = np.empty((realizations, n), dtype=np.int8)
    for row in drawn:
        np.less_equal(uniform.random_sample(n), probabilities, out=row.view(np.bool_))
    return drawn


def _check_size(n: int) -> None:
    # A larger n would need an eighth octal digit: round((n - 1) 8^7/n) is then 8^7 itself.
    if not 1 <= n <= 8**_DIGITS or n & (n - 1):
        raise InputError(f"n must be a power of 2 from 1 to {8**_DIGITS}, but is {n}")


def _perturbation(n: int) -> FloatArray:
    """Return the paper's departure from calibration, by index."""
    j = np.arange(n)
    digits = j * (8**_DIGITS // n)  # whole, as n divides 8^7
    flags = np.zeros(n, dtype=np.uint8)
    for place in range(_DIGITS):
        flags |= np.where((digits >> (3 * place)) & 7, np.uint8(1 << place), np.uint8(0))
    flags.sort()
    staircase = (flags / 2**_DIGITS) / (1.0 - 2.0**-_DIGITS)
    departure: FloatArray = staircase - 1.0 + np.exp(-(np.e**2) * j / n)
    return departure


def _paper_generator() -> np.random.RandomState:
    """Return a generator of the doubles of ``random.Random(987654321)``, whole arrays at a time.

    Both are the Mersenne Twister and make doubles the same way, so NumPy can go on from the state
    of Python's generator. No global state is touched.
    """
    _, state, _ = random.Random(_SEED).getstate()  # noqa: S311 (to repeat the paper's draws)
    generator = np.random.RandomState(0)  # the seed is of no account: its state comes next
    generator.set_state(("MT19937", np.array(state[:-1], dtype=np.uint32), state[-1], 0, 0.0))
    return generator
