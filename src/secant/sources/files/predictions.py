"""Predictions in files: outcomes, scores, weights and keys of groups, batch by batch."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from secant.sources import rows as row_source
from secant.sources.files.formats import BLOCK
from secant.sources.files.table import FileTable
from secant.sources.files.values import absent, group_codes, kind_of, numbers, outcomes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from secant._base.types import FloatArray, IntArray
    from secant._input.columns import Columns
    from secant.errors import InputError
    from secant.sources.files.table import Batch, File

__all__ = ["Predictions"]

# A gzipped table is about so much smaller than its text.
_GZIP = 4


class Predictions(FileTable):
    """Files whose columns hold predictions.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.
    columns
        The columns to read.
    called
        What arguments are called in messages, where that is something else.

    Attributes
    ----------
    left_out
        How many rows lacked a score or an outcome, once all have been seen.

    Raises
    ------
    InputError
        As :class:`FileTable`.
    """

    def __init__(
        self, data: Any, columns: Columns, called: Mapping[str, str] | None = None
    ) -> None:
        self.columns, self._called = columns, called
        self.left_out = 0
        self._about: int | None = None
        super().__init__(data, columns.roles, columns.reading)

    def about_rows(self, seen: int) -> int:
        """Return about how many rows there are, given that so many have been seen.

        It is 0 where they may turn out to be few, which only reading them can tell.
        """
        if self.rows is not None:
            return self.rows
        if self._about is None and seen > row_source.SORT_UP_TO:
            self._about = self.estimated_rows()
        return self._about or 0

    def estimated_rows(self) -> int:
        """Count the rows if they are few; estimate their number from the files' sizes if not."""
        seen = block = 0
        with closing(self.walk([self.columns.y_prob], BLOCK)) as batches:
            for batch in batches:
                block = block or batch.rows
                seen += batch.rows
                if seen > row_source.SORT_UP_TO:
                    break
            else:
                return seen
        is_small = self.files[0].path.suffix.lower() == ".gz"
        text = self.bytes * (_GZIP if is_small else 1)
        return max(seen, round(text * block / BLOCK))

    def _explained(self, file: File, types: Mapping[str, Any]) -> InputError | None:
        known = super()._explained(file, types)
        return None if known is None else self.told(known)

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

    def complete_rows(self, batch: Batch) -> Batch:
        """Return a batch less the rows that have no score or no outcome, if these are left out."""
        if not self.columns.reading.drops:
            return batch
        without = absent(batch.columns[self.columns.y_true])
        without |= absent(batch.columns[self.columns.y_prob])
        return batch.without(without) if without.any() else batch

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
        if error.row is not None:
            error = error.but(row=batch.place(error.row) - batch.start)
        if error.value is None:
            place += f", rows {batch.start:,} to {batch.start + batch.rows - 1:,}"
        return self.columns.explain(error, place, batch.start)

    def told(self, error: InputError) -> InputError:
        """Return an error that calls arguments what they are called."""
        return error if self._called is None else error.renamed(self._called)

    def refused_whole(self, error: InputError) -> InputError:
        """Return an error about all rows as one about files."""
        more = f" and {len(self.files) - 1:,} more" if len(self.files) > 1 else ""
        return self.columns.explain(error, f"{self.files[0].path}{more}")
