"""Files whose rows belong to periods: by a column of dates, or by the date in a file's name."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import closing
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.progress import reporting
from secant._input.keys import key_numbers
from secant._input.periods import in_order, number_in, period_of
from secant.errors import Argument, InputError, Message
from secant.sources import rows as row_source
from secant.sources.files.predictions import Predictions
from secant.sources.files.values import TIMES, as_times, group_codes, kind_of
from secant.sources.files.walking import Walk

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence
    from pathlib import Path

    from secant._base.types import FloatArray, IntArray
    from secant._input.columns import Columns
    from secant._input.periods import Time
    from secant.sources.files.table import Batch, File

__all__ = ["PeriodFiles", "date_in"]

_DATE = re.compile(r"(?<!\d)(\d{4})([-_]?)(\d{2})\2(\d{2})(?!\d)")
_UNITS = {"day": "D", "week": "D", "month": "M"}


def date_in(path: Path) -> date | None:
    """Return the date in a file's name: 2026-03-01, 2026_03_01 or 20260301.

    Examples
    --------
    >>> from pathlib import Path
    >>> date_in(Path("scores-20260301.parquet"))
    datetime.date(2026, 3, 1)
    """
    for year, _, month, day in _DATE.findall(path.name):
        try:
            return date(int(year), int(month), int(day))
        except ValueError:
            continue
    return None


class PeriodFiles(Predictions):
    """Predictions in files, every row of which belongs to a period.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.
    columns
        The columns to read; ``by`` names the column of times. Without, the date in a file's name
        is that of its rows.
    every
        As in :func:`secant._input.periods.period_of`.

    Raises
    ------
    InputError
        If the files cannot be used, or have no dates in their names where these are needed.
    """

    def __init__(self, data: Any, columns: Columns, every: str | None) -> None:
        super().__init__(data, columns)
        self._every = every
        self._of_file: dict[Path, Time] = {}
        self._left_out: frozenset[Time] = frozenset()
        if not columns.by:
            for file in self.files:
                found = date_in(file.path)
                if found is None:
                    raise InputError(
                        f"{file.path} has no date in its name (such as 2026-03-01)",
                        hint=Message("; name the column that holds dates: ", Argument("time")),
                    )
                self._of_file[file.path] = period_of(found, every)

    def leave_out(self, times: Iterable[Time]) -> None:
        """Pass over the rows of some periods from now on, whatever they hold."""
        self._left_out = frozenset(times)

    def walk(
        self, names: Sequence[str], size: int, files: Sequence[File] | None = None
    ) -> Generator[Batch]:
        """Walk over columns, as :meth:`FileTable.walk` does, less the rows that are left out."""
        has_times = set(self.columns.by) <= set(names)
        with closing(super().walk(names, size, files)) as batches:
            for batch in batches:
                if self._left_out and has_times:
                    yield from self._kept(batch)
                else:
                    yield batch

    def _kept(self, batch: Batch) -> Iterator[Batch]:
        """Cut a batch into runs of rows that are not left out; each row keeps its number."""
        times, codes = self.keys(batch)
        kept = np.array([time not in self._left_out for time in times], bool)[codes]
        ends = np.flatnonzero(np.diff(kept, prepend=False, append=False)).tolist()
        for start, stop in zip(ends[::2], ends[1::2], strict=True):
            columns = {
                name: each.slice(start, stop - start) for name, each in batch.columns.items()
            }
            yield batch._replace(
                start=batch.start + start,
                first=batch.first + start,
                rows=stop - start,
                columns=columns,
            )

    def count(self) -> dict[Time, int]:
        """Return the periods in their order, each with its number of rows."""
        rows: Counter[Time] = Counter()
        names = self.columns.by or (self.columns.y_prob,)
        with reporting(self.doing) as report, closing(self.walk(names, row_source.CHUNK)) as walk:
            for batch in walk:
                times, codes = self.keys(batch)
                for time, count in zip(times, np.bincount(codes).tolist(), strict=True):
                    rows[time] += count
                report(batch.first + batch.rows, self.rows or 0)
        return {time: rows[time] for time in in_order(rows)}

    def read(
        self, wanted: dict[Time, int], total: int
    ) -> Generator[tuple[int, FloatArray, np.ndarray[Any, Any]]]:
        """Walk over all rows, checked.

        Parameters
        ----------
        wanted
            The periods to read, and the number of each; rows of others are checked and left out.
        total
            How many rows there are.

        Yields
        ------
        number, scores, labels
            Some rows of one period.
        """

        def numbered(times: list[Any], codes: IntArray) -> IntArray:
            return np.array([wanted.get(time, -1) for time in times], np.int64)[codes]

        walk = Walk(self, total, numbered)
        with closing(walk.chunks(row_source.CHUNK)) as chunks:
            for chunk in chunks:
                numbers: Any = chunk.group
                order = np.argsort(numbers, kind="stable")
                owner = numbers[order]
                starts = np.flatnonzero(np.diff(owner, prepend=-2))
                for start, stop in zip(starts, [*starts[1:], owner.shape[0]], strict=True):
                    if owner[start] >= 0:
                        rows = order[start:stop]
                        yield int(owner[start]), chunk.scores[rows], chunk.labels[rows]

    def keys(self, batch: Batch) -> tuple[list[Any], IntArray]:
        """Return the periods of some rows, and the number of each row's."""
        if not self.columns.by:
            return [self._of_file[batch.file.path]], np.zeros(batch.rows, np.int64)
        [name] = self.columns.by
        column = batch.columns[name]
        try:
            if kind_of(column.type) in TIMES and not column.null_count:
                keys, codes = self._dates(column)
            else:
                keys, codes = group_codes([column])
                if self.are_texts([name])[0]:
                    keys = [number_in(key) for key in keys]
            periods = [period_of(key, self._every) for key in keys]
        except InputError as error:
            place = f"{batch.file.path}, column {name!r}"
            raise error.but(place=place, argument="time") from error
        distinct: dict[Any, int] = {}
        numbers = key_numbers(periods, codes, distinct)
        return list(distinct), numbers

    def _dates(self, column: Any) -> tuple[list[Any], IntArray]:
        """Return the distinct days, or months, of a column, without making every date by itself."""
        if getattr(column.type, "tz", None) is not None:
            from pyarrow import compute  # noqa: PLC0415  (an extra)

            column = compute.local_timestamp(column)  # as the clock there showed
        dates = as_times(column).astype(f"M8[{_UNITS.get(self._every or 'day', 'D')}]")
        distinct, codes = np.unique(dates, return_inverse=True)
        return list(distinct), codes
