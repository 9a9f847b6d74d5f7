"""Files searched for segments: sums by levels and cells of scores, a walk over the rows each."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.progress import reporting
from secant._base.types import Forbidden
from secant._blocks.score_cells import MOST_CELLS, CellFinder, anchors
from secant._blocks.segment_sums import RowSegments
from secant._input.features import (
    Column,
    Levels,
    level_numbers,
    levels_of_counts,
    levels_of_numbers,
    sorted_out,
)
from secant._input.observations import pick
from secant._input.rules import NO_ROWS
from secant.errors import InputError
from secant.sources import rows as row_source
from secant.sources.files.csv import typed
from secant.sources.files.predictions import Predictions
from secant.sources.files.values import TIMES, group_codes, kind_of, numbers
from secant.sources.files.walking import Walk, WalkedRows, usable
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.segment_sums import Conditions, Grouping, Sums
    from secant._input.columns import Columns
    from secant._input.observations import Chunk
    from secant.sources.files.table import Batch

__all__ = ["FileSegments"]

# Values of all numeric features that are kept to find their quantiles; of more rows every second
# one is kept, or every fourth, and so on.
KEEP = 1 << 25


class _FeatureFiles(Predictions):
    """Files of predictions whose keys are levels of features."""

    levels: Sequence[Levels] = ()

    def column(self, batch: Batch, name: str) -> Column:
        """Return the values of a feature in some rows."""
        column = batch.columns[name]
        kind = kind_of(column.type)
        if kind == "numbers":
            return Column(numbers(column), [], None)
        keys, codes = group_codes([column])
        return sorted_out(keys, codes) if kind in TIMES else Column(None, keys, codes)

    def keys(self, batch: Batch) -> tuple[list[Any], IntArray]:
        """Return the level of every row in every feature, a column each."""
        codes = []
        for levels in self.levels:
            found = levels.codes(self.column(batch, levels.name))
            found[found < 0] = len(levels)
            codes.append(found)
        return [], np.column_stack(codes)


class FileSegments(RowSegments):
    """The rows of files, which are read anew for every question.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.
    columns
        The columns to read; those of groups are the features.
    bins, most
        How many ranges a numeric feature is cut into, and how many values are kept of another.
    """

    def __init__(self, data: Any, columns: Columns, *, bins: int, most: int) -> None:
        self.table = _FeatureFiles(data, columns)
        self.sampling, self.counted = columns.sampling, columns.weights == "frequency"
        self.levels = self._learn(bins, most)
        self.table.levels = self.levels
        self.heaviest = 0.0 if self.sampling else 1.0

    def _learn(self, bins: int, most: int) -> list[Levels]:
        """Find the levels of all features, and the cells of scores: a first walk."""
        table, columns = self.table, self.table.columns
        finder = CellFinder(MOST_CELLS)
        features = [_Values() for _ in columns.by]
        names = list(dict.fromkeys([*columns.by, columns.y_prob]))
        self.rows = 0
        walk = table.walk(names, row_source.CHUNK)
        with reporting("Reading features") as report, closing(walk) as batches:
            for batch in batches:
                self.rows = batch.first + batch.rows
                finder.add(usable(table.scores(batch)))
                for name, values in zip(columns.by, features, strict=True):
                    values.add(table.column(batch, name), batch.first, KEEP // len(features))
                report(self.rows, table.rows or 0)
        if not self.rows:
            raise table.refused_whole(InputError(NO_ROWS))
        self._bits, self._anchors = finder.bits, finder.anchors
        self.cells = len(self._anchors)
        texts = table.are_texts(columns.by)
        return [
            values.levels(name, bins=bins, most=most, is_text=is_text)
            for name, values, is_text in zip(columns.by, features, texts, strict=True)
        ]

    def sums(self, groupings: Sequence[Grouping]) -> Iterator[Sums]:
        """Return the sums of groupings, all from one walk."""
        return iter(self.added(groupings))

    def pieces(self, conditions: Conditions = ()) -> Iterator[tuple[Chunk, Sequence[Any], Any]]:
        """Walk over the rows that meet conditions, with their levels and their cells."""
        for chunk in self.meeting(conditions):
            if chunk.weights is not None and self.sampling:
                self.heaviest = max(self.heaviest, float(chunk.weights.max(initial=0.0)))
            yield chunk, list(_levels(chunk).T), self._cell(chunk.scores)

    def source(self, conditions: Conditions, n: int) -> RowSource:
        """Return the rows that meet conditions."""
        return RowSource(_SegmentRows(self, conditions, n))

    def meeting(self, conditions: Conditions) -> Generator[Chunk]:
        """Walk over the rows that meet conditions."""
        walk = Walk(self.table, self.rows, lambda _, codes: codes)
        with closing(walk.chunks(row_source.CHUNK)) as chunks:
            for chunk in chunks:
                met = _met(_levels(chunk), conditions) if conditions else slice(None)
                yield pick(chunk, met)

    def _cell(self, scores: FloatArray) -> IntArray:
        return np.searchsorted(self._anchors, anchors(scores, self._bits))


class _Values:
    """The values of one feature, met batch by batch."""

    def __init__(self) -> None:
        self._numbers: list[FloatArray] = []
        self._kept, self._every = 0, 1
        self._missing = self._dates = False
        self._counts: Counter[Any] = Counter()

    def add(self, column: Column, first: int, most: int) -> None:
        """Take in the values of rows, the first of which has this number."""
        if column.numbers is None:
            assert column.codes is not None  # noqa: S101
            counts = np.bincount(column.codes, minlength=len(column.keys)).tolist()
            self._counts.update(dict(zip(column.keys, counts, strict=True)))
            return
        self._dates |= column.dates
        missing = np.isnan(column.numbers)
        self._missing |= bool(missing.any())
        kept = (first + np.arange(missing.size)) % self._every == 0
        self._numbers.append(column.numbers[kept & ~missing])
        self._kept += self._numbers[-1].size
        if self._kept > most:
            self._every *= 2
            self._numbers = [np.concatenate(self._numbers)[::2]]
            self._kept = self._numbers[0].size

    def levels(self, name: str, *, bins: int, most: int, is_text: bool) -> Levels:
        """Return the levels of the feature."""
        if not self._counts or self._numbers:
            self._missing |= bool(self._counts)  # a batch of dates all of which are missing
            values = np.sort(np.concatenate(self._numbers or [np.empty(0)]))
            return levels_of_numbers(
                name, values, bins=bins, missing=self._missing, dates=self._dates
            )
        read = typed if is_text else list
        if is_text:
            keys = list(self._counts)
            counts = dict(zip(typed(keys), self._counts.values(), strict=True))
            found = level_numbers(counts)
            if found is not None:
                return levels_of_numbers(
                    name, found[0], bins=bins, missing=None in counts, dates=found[1]
                )
        return levels_of_counts(name, self._counts, most=most, read=read)


class _SegmentRows(WalkedRows):
    """The observations of one segment among those of files, which were checked before."""

    lowest = 0.0
    highest = 1.0
    left_out = 0

    def __init__(self, files: FileSegments, conditions: Conditions, n: int) -> None:
        super().__init__(files.table)
        self._files, self._conditions = files, conditions
        self.rows = n
        self._refused = 0

    @property
    def refused(self) -> Forbidden:
        """How many rows have a score that rules out what happened; their numbers are not kept."""
        return Forbidden(self._refused, ())

    def chunks(self, size: int, *, clusters: bool = False) -> Generator[Chunk]:  # noqa: ARG002  (none)
        """Walk over the rows of positive weight; a chunk is valid until the next one is taken."""
        refused = 0
        with closing(self._files.meeting(self._conditions)) as found:
            for chunk in found:
                scores, happened = chunk.scores, chunk.labels != 0
                wrong = ((scores == 0) & happened) | ((scores == 1) & ~happened)
                refused += int(np.count_nonzero(wrong))
                for start in range(0, scores.size, size):
                    yield pick(chunk, slice(start, start + size))
        self._refused = refused

    def sample(self, size: int) -> FloatArray:
        """Return about so many of the scores in ascending order."""
        every = max(1, self.rows // size)
        parts = [chunk.scores[::every].copy() for chunk in self.chunks(row_source.CHUNK)]
        return usable(np.concatenate(parts or [np.empty(0)]))


def _levels(chunk: Chunk) -> IntArray:
    """Return the level of every row in every feature, a column each."""
    assert chunk.group is not None  # noqa: S101
    return chunk.group


def _met(codes: IntArray, conditions: Conditions) -> BoolArray:
    met = np.ones(codes.shape[0], bool)
    for feature, level in conditions:
        met &= codes[:, feature] == level
    return met
