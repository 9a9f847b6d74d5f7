"""Curves of any length, thinned to what a picture can show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray

__all__ = ["thin"]


def thin(x: FloatArray, y: FloatArray, columns: int) -> IntArray:
    """Choose the points of a curve that a picture of so many pixel columns can show.

    Of the points in each column it keeps the first, the last, the lowest and the highest. Drawn
    with lines between them they cover the same pixels as the whole curve: at every height the two
    are less than a column apart, and the extremes of the curve are among the points kept.

    Parameters
    ----------
    x, y : ndarray
        The points, with ``x`` ascending; equal values are allowed.
    columns : int
        Number of pixel columns from the first to the last ``x``.

    Returns
    -------
    ndarray
        Indices of the points to keep, ascending, at most four a column; all of them where there
        are no more than that.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 1000)
    >>> keep = thin(x, np.sin(40 * x), columns=10)
    >>> len(keep), int(keep[0]), int(keep[-1])
    (33, 0, 999)
    """
    n = x.shape[0]
    if n <= 4 * columns:
        return np.arange(n)
    edges = np.linspace(x[0], x[-1], columns + 1)[1:-1]
    bounds = np.unique(np.concatenate([[0], np.searchsorted(x, edges), [n]]))
    kept = []
    # A column at a time: the curve may fill most of the memory, and a copy would not fit.
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        column = y[start:stop]
        kept += [start, start + int(column.argmin()), start + int(column.argmax()), stop - 1]
    return np.unique(np.asarray(kept, dtype=np.int64))
