"""Predictions in files: outcomes, scores, weights and keys of groups, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant.sources.files.table import FileTable
from secant.sources.files.values import group_codes, kind_of, numbers, outcomes

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray
    from secant._input.columns import Columns
    from secant.errors import InputError
    from secant.sources.files.table import Batch

__all__ = ["Predictions"]


class Predictions(FileTable):
    """Files whose columns hold predictions.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.
    columns
        The columns to read.

    Raises
    ------
    InputError
        As :class:`FileTable`.
    """

    def __init__(self, data: Any, columns: Columns) -> None:
        super().__init__(data, columns.roles, columns.reading)
        self.columns = columns

    def values(
        self, batch: Batch
    ) -> tuple[np.ndarray[Any, Any], FloatArray, FloatArray | None, np.ndarray[Any, Any] | None]:
        """Return outcomes, scores, weights, and the words that outcomes number, as ``Checks`` asks.

        Raises
        ------
        InputError
            If a value is null, naming its place, and how many are null in all files.
        """
        names = self.columns
        labels, words = outcomes(self.complete(batch, "y_true", names.y_true))
        scores = numbers(self.complete(batch, "y_prob", names.y_prob))
        weights = None
        if names.sample_weight is not None:
            weights = numbers(self.complete(batch, "sample_weight", names.sample_weight))
        return labels, scores, weights, words

    def keys(self, batch: Batch) -> tuple[list[Any], IntArray]:
        """Return the keys of the groups of some rows, and the number of each row's key."""
        return group_codes([batch.columns[name] for name in self.columns.by])

    def scores(self, batch: Batch) -> FloatArray:
        """Return the scores of some rows, NaN for those that cannot be used: for a sample."""
        column = batch.columns[self.columns.y_prob]
        if kind_of(column.type) == "nothing":
            return np.full(batch.rows, np.nan)
        return numbers(column) + 0.0  # not -0.0

    def refused(self, batch: Batch, error: InputError) -> InputError:
        """Return an error about a batch as one about files: which one, which row, which column."""
        place = str(batch.file.path)
        if error.value is None:
            place += f", rows {batch.start:,} to {batch.start + batch.rows - 1:,}"
        return self.columns.explain(error, place, batch.start)

    def refused_whole(self, error: InputError) -> InputError:
        """Return an error about all rows as one about files."""
        more = f" and {len(self.files) - 1:,} more" if len(self.files) > 1 else ""
        return self.columns.explain(error, f"{self.files[0].path}{more}")
