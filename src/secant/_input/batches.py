"""Observations that come in batches: each batch is checked by itself, and all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.labels import Outcomes
from secant._input.rules import (
    ALL_MISSING,
    NO_ROWS,
    NO_WEIGHT,
    check_weights,
    copies,
    counted,
    forbidden_rows,
    score_range,
)
from secant.errors import InputError

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray
    from secant._input.options import Reading

__all__ = ["Checks"]


class Checks:
    """Rules for all rows, asked batch by batch.

    Attributes
    ----------
    rows
        Rows seen so far.
    lowest, highest
        The smallest and the largest score so far.
    """

    def __init__(self, reading: Reading) -> None:
        self._counts = reading.counts
        self._outcomes = Outcomes(reading.pos_label)
        self._copies = 0
        self._weighs = False
        self.rows = 0
        self.lowest, self.highest = np.inf, -np.inf

    @property
    def extent(self) -> tuple[int, float, float]:
        """How many rows there are, and the range of their scores: other rows would have another."""
        return self.rows, self.lowest, self.highest

    def batch(
        self,
        labels: np.ndarray[Any, Any],
        scores: FloatArray,
        weights: FloatArray | None = None,
        words: np.ndarray[Any, Any] | None = None,
    ) -> tuple[np.ndarray[Any, Any], IntArray]:
        """Return a batch's labels as 0 and 1, and its rows whose score rules them out.

        Parameters
        ----------
        labels, scores, weights
            Some consecutive rows: one length, no value missing.
        words
            Where outcomes are words, the distinct ones, of which ``labels`` are the numbers.

        Raises
        ------
        InputError
            Naming the argument, the offending value and its index within the batch.
        """
        happened = self._happened(labels, scores, words)
        lowest, highest = score_range(scores)
        if weights is not None:
            self._weighs |= check_weights(weights)[1] > 0
            if self._counts:
                self._copies = counted(float(self._copies + copies(weights)))
        self.rows += scores.shape[0]
        self.lowest = min(self.lowest, lowest)
        self.highest = max(self.highest, highest)
        refused: tuple[int, ...] = ()
        if lowest == 0 or highest == 1:
            refused = forbidden_rows(happened, scores, weights)
        return happened, np.array(refused, np.int64)

    def again(
        self,
        labels: np.ndarray[Any, Any],
        scores: FloatArray,
        words: np.ndarray[Any, Any] | None = None,
    ) -> np.ndarray[Any, Any]:
        """Return the labels of a batch that has been checked before, as 0 and 1."""
        self.rows += scores.shape[0]
        return self._happened(labels, scores, words)

    def finish(self, *, weighted: bool, left_out: int = 0) -> None:
        """Check what only all batches together can tell, so many rows being left out."""
        if not self.rows:
            raise InputError(ALL_MISSING if left_out else NO_ROWS)
        if weighted and not self._weighs:
            raise InputError(NO_WEIGHT)

    def _happened(
        self,
        labels: np.ndarray[Any, Any],
        scores: FloatArray,
        words: np.ndarray[Any, Any] | None,
    ) -> np.ndarray[Any, Any]:
        if words is None:
            return self._outcomes.read(labels, scores)
        # Words that occur in this batch; a dictionary may hold others.
        used = np.flatnonzero(np.bincount(labels, minlength=len(words)))
        happened = np.zeros(len(words), bool)
        try:
            happened[used] = self._outcomes.read(words[used], scores)
        except InputError:
            self._outcomes.read(words[labels], scores)  # row by row, to blame the odd one out
            raise
        found: np.ndarray[Any, Any] = happened[labels]
        return found
