"""Data that can be searched for segments, be it arrays, a data frame, files or an engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.progress import reporting
from secant._blocks.score_cells import MOST_CELLS, finest
from secant._blocks.segment_sums import RowSegments
from secant._input.columns import SELECTED, named_columns
from secant._input.features import check_features, column_of, levels_of
from secant._input.observations import Chunk, check_alignment, observations, pick, split
from secant._input.options import AS_USUAL
from secant.errors import Argument, InputError
from secant.sources.open import read_table, refuse_names
from secant.sources.rows import CHUNK, RowSource
from secant.sources.streams import readable, staying
from secant.sources.tables import is_files, is_lazy, names_of, table_of, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from secant._base.types import BoolArray, IntArray
    from secant._blocks.segment_sums import Conditions, Grouping, Searchable, Sums
    from secant._input.observations import Observations
    from secant._input.options import Reading

__all__ = ["InMemory", "open_segments"]


def open_segments(
    y_true: Any,
    y_prob: Any,
    features: Any,
    *,
    bins: int,
    most: int,
    data: Any = None,
    sample_weight: Any = None,
    reading: Reading = AS_USUAL,
) -> Searchable:
    """Return what the user passed as data that can be searched.

    Parameters
    ----------
    features
        With ``data``, the name of a column or a list of names; else a mapping of arrays, or a
        data frame.
    bins, most
        How many ranges a numeric feature is cut into, and how many values are kept of another.

    Raises
    ------
    InputError
        If the predictions cannot be used, or a feature cannot be found or is the outcome.
    """
    if data is None:
        refuse_names(y_true=y_true, y_prob=y_prob, features=features)
        columns = _given(features)
        check_features(list(columns))
        seen = observations(y_true, y_prob, sample_weight, reading)
        for column in [features, *columns.values()]:
            if column is y_true:
                holds = " holds the outcomes, "
                raise InputError(Argument("features"), holds, Argument("y_true"), f": {SELECTED}")
        given = [("features", features)]
        given += [(f"features[{name!r}]", column) for name, column in columns.items()]
        check_alignment(*given, y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
        return InMemory(seen, columns, bins=bins, most=most)
    wanted = [features] if isinstance(features, str) else features
    if not isinstance(wanted, (list, tuple)):
        must = f" must be a list of columns; got {type(features).__name__}"
        raise InputError("with data=, ", Argument("features"), must)
    check_features(list(wanted))
    try:
        names = named_columns(y_true, y_prob, sample_weight, list(wanted), reading=reading)
        data = readable(data, names.names, lambda found: names.check(found, Argument("data")))
        if is_files(data):
            from secant.sources.files.segments import FileSegments  # noqa: PLC0415  (an extra)

            return staying(FileSegments(data, names, bins=bins, most=most), data)
        table = table_of(data, names.names)
        if is_lazy(table):
            from secant.sources.engines.segments import EngineSegments  # noqa: PLC0415  (as above)

            return EngineSegments(table, names, bins=bins, most=most)
        names.check(names_of(table), Argument("data"))
        seen = read_table(table, names)
    except InputError as error:
        raise error.renamed({"by": "features"}) from error
    return InMemory(seen, {name: values_of(table, name) for name in names.by}, bins=bins, most=most)


def _given(features: Any) -> dict[str, Any]:
    """Return arrays of features by name."""
    if isinstance(features, Mapping):
        return {str(name): values for name, values in features.items()}
    if hasattr(features, "columns"):
        table = table_of(features)
        if not is_lazy(table):
            return {name: values_of(table, name) for name in table.columns}
    raise InputError(
        Argument("features"),
        f" must be a mapping from names to arrays, or a data frame; got {type(features).__name__}",
        hint=" (names of columns? then pass data= as well)",
    )


class InMemory(RowSegments):
    """Rows in memory, with the level of each in every feature."""

    at_hand = True

    def __init__(
        self, seen: Observations, columns: Mapping[str, Any], *, bins: int, most: int
    ) -> None:
        self.seen, self.rows = seen, seen.rows
        self.sampling, self.counted = seen.sampling, seen.counted
        if seen.weights is not None:
            self.heaviest = float(np.max(seen.weights))
        self.levels = []
        self._codes: list[Any] = []
        with reporting("Reading features") as report:
            for done, (name, values) in enumerate(columns.items()):
                column = column_of(name, values, seen.rows)
                levels = levels_of(name, column, bins=bins, most=most)
                codes = levels.codes(column)
                codes[codes < 0] = len(levels)
                self.levels.append(levels)
                self._codes.append(codes)
                report(done + 1, len(columns))
        self._cut(MOST_CELLS)

    def _cut(self, most: int) -> None:
        scores = self.seen.scores.astype(np.float64, copy=False)
        anchors, cell = finest(scores, most)
        self.cells, self._cell = len(anchors), cell.astype(np.int16)

    def sums(self, groupings: Sequence[Grouping]) -> Iterator[Sums]:
        """Return the sums of groupings."""
        with reporting("Searching segments") as report:
            step = max(1, 2**22 // max(self.rows, 1))
            for start in range(0, len(groupings), step):
                some = groupings[start : start + step]
                yield from self.added(some)
                report(start + len(some), len(groupings))

    def source(self, conditions: Conditions, n: int) -> RowSource:  # noqa: ARG002  (as is known)
        """Return the rows that meet conditions."""
        piece = split(self.seen, self._member(conditions).astype(np.int64), 2)[1]
        assert piece is not None  # noqa: S101
        return RowSource(piece)

    def in_order(self) -> tuple[Chunk, list[IntArray], IntArray]:
        """Return rows in an order that their contents determine, their levels and cells."""
        chunk, codes, cell = self._rows(np.arange(self.rows))
        ranks = []
        for each, levels in zip(codes, self.levels, strict=True):
            counts = np.bincount(each, minlength=len(levels) + 1)
            scored = np.bincount(each, chunk.scores, minlength=len(levels) + 1).round(6)
            ranks.append(np.argsort(np.lexsort((scored, counts)))[each])
        weights = [] if chunk.weights is None else [chunk.weights]
        order = np.lexsort([*ranks, *weights, chunk.scores])
        return pick(chunk, order), [each[order] for each in codes], cell[order]

    def cells_for_draws(self, most: int) -> int:
        """Cut scores anew, into at most so many cells; return their number."""
        self._cut(most)
        return self.cells

    def _member(self, conditions: Conditions) -> BoolArray:
        member = np.ones(self.rows, bool)
        for feature, level in conditions:
            member &= self._codes[feature] == level
        return member

    def pieces(self, conditions: Conditions = ()) -> Iterator[tuple[Chunk, Sequence[Any], Any]]:
        """Walk over the rows that meet conditions, with their levels and their cells."""
        rows = np.flatnonzero(self._member(conditions)) if conditions else None
        count = self.rows if rows is None else rows.size
        for start in range(0, max(count, 1), CHUNK):
            piece: Any = slice(start, start + CHUNK)
            yield self._rows(piece if rows is None else rows[piece])

    def _rows(self, rows: Any) -> tuple[Chunk, list[IntArray], IntArray]:
        """Return some rows, less those of weight zero."""
        seen = self.seen
        if seen.has_zero_weights:
            assert seen.weights is not None  # noqa: S101
            rows = np.arange(seen.rows)[rows]
            rows = rows[seen.weights[rows] > 0]
        weights = None if seen.weights is None else seen.weights[rows].astype(np.float64)
        labels = seen.labels[rows]
        chunk = Chunk(seen.scores[rows].astype(np.float64), labels.astype(np.int64), weights)
        return chunk, [codes[rows] for codes in self._codes], self._cell[rows]
