"""Observations that come in batches: each batch is checked by itself, and all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._input.labels import Outcomes
from secant._input.rules import (
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
    from secant._base.types import IntArray
    from secant._input.options import Reading

__all__ = ["Batch", "Checks"]


class Batch(NamedTuple):
    """Some consecutive rows as they were read: one length, no value missing.

    Outcomes in words come as their distinct ``words``, of which ``labels`` are the numbers.
    """

    labels: np.ndarray[Any, Any]
    scores: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any] | None
    words: np.ndarray[Any, Any] | None = None


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

    def batch(self, batch: Batch) -> tuple[np.ndarray[Any, Any], IntArray]:
        """Return the batch's labels as 0 and 1, and its rows whose score rules them out.

        Raises
        ------
        InputError
            Naming the argument, the offending value and its index within the batch.
        """
        _, scores, weights, _ = batch
        labels = self._labels(batch)
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
            refused = forbidden_rows(labels, scores, weights)
        return labels, np.array(refused, np.int64)

    def again(self, batch: Batch) -> np.ndarray[Any, Any]:
        """Return the labels of a batch that has been checked before, as 0 and 1."""
        self.rows += batch.scores.shape[0]
        return self._labels(batch)

    def finish(self, *, weighted: bool) -> None:
        """Check what only all batches together can tell."""
        if not self.rows:
            raise InputError(NO_ROWS)
        if weighted and not self._weighs:
            raise InputError(NO_WEIGHT)

    def _labels(self, batch: Batch) -> np.ndarray[Any, Any]:
        if batch.words is None:
            return self._outcomes.read(batch.labels, batch.scores)
        # Words that occur in this batch; a dictionary may hold others.
        used = np.flatnonzero(np.bincount(batch.labels, minlength=len(batch.words)))
        happened = np.zeros(len(batch.words), bool)
        try:
            happened[used] = self._outcomes.read(batch.words[used], batch.scores)
        except InputError as error:
            if error.row is None:
                raise
            raise error.but(row=int(np.argmax(batch.labels == used[error.row]))) from error
        labels: np.ndarray[Any, Any] = happened[batch.labels]
        return labels
