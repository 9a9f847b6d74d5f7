"""Tables of engines along another order than that of scores.

Rows that may leave the engine are fetched with their places and looked at as arrays are. Of more
rows one query brings back sums for every distinct place, if these are few: days, months, ages.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.types import Forbidden
from secant._blocks.key_sums import KeySums
from secant._blocks.looking import Source
from secant._blocks.table import changed
from secant._input.clusters import cluster_codes
from secant._input.observations import observations, split
from secant._input.ordering import ordering
from secant.errors import Argument, InputError
from secant.sources.apart import Apart
from secant.sources.engines import budget
from secant.sources.engines.answers import Sums
from secant.sources.engines.queries import Ask, Table
from secant.sources.engines.source import EngineGroups, chunk_of
from secant.sources.ordered import OrderedSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import narwhals as nw

    from secant._base.types import FloatArray, NumberArray
    from secant._blocks.key_sums import Ask as SumsAsked
    from secant._blocks.looking import Groups
    from secant._blocks.table import Blocks, Totals
    from secant._input.axis import Axis
    from secant._input.columns import Columns
    from secant.sources.engines.source import EngineSource

__all__ = ["EngineAlong", "open_engine_along"]


def open_engine_along(frame: nw.LazyFrame[Any], columns: Columns) -> Groups:
    """Return the groups in an engine's table along the axis that columns name.

    Raises
    ------
    InputError
        If a column is missing or holds what cannot be used; or if more rows than may leave the
        engine have more places than may.
    """
    table = Table(frame, columns)
    groups = EngineGroups(table, columns)
    many = groups.n_rows > budget.LEAVE
    found = (_summed if many else _fetched)(table, columns, groups)
    return Apart(groups.keys, found, groups.by, groups.empty, table.left_out)


def _fetched(table: Table, columns: Columns, groups: EngineGroups) -> list[Source]:
    """Return groups whose rows are fetched, all of them together."""
    answer = table.observations()
    scores, labels, weights = chunk_of(answer)[:3]
    seen = observations(labels, scores, weights, replace(columns.reading, pos_label=None))
    places, axis = _places(answer.frame["order"], columns)
    seen = replace(seen, keys=places, axis=axis, left_out=table.left_out)
    if table.clusters:
        ids, codes = answer.coded(list(table.clusters))
        each = [[ids[code][i] for code in codes] for i in range(len(table.clusters))]
        seen = replace(seen, clusters=cluster_codes(each, seen.rows))
    pieces = split(seen, groups.owners(answer), len(groups.keys)) if table.by else [seen]
    pairs = zip(pieces, groups.sources, strict=True)
    return [OrderedSource(rows, by.forbidden) for rows, by in pairs if rows]


def _places(column: nw.Series[Any], columns: Columns) -> tuple[NumberArray, Axis]:
    """Return keys along the axis; what is missing has no row that a reader could find."""
    name = columns.order_by
    assert name is not None  # noqa: S101
    try:
        return ordering(column.to_native(), name=name)
    except InputError as error:
        if error.row is None:
            raise columns.explain(error) from error
        subject = f"column {name!r} (", Argument("order_by"), f") holds {error.value}"
        raise InputError(*subject, error.complaint, column=name, hint=error.hint) from error


def _summed(table: Table, columns: Columns, groups: EngineGroups) -> list[Source]:
    """Return sums for every distinct place of every group."""
    if table.clusters:
        raise InputError(
            *(Argument("order_by"), " and ", Argument("clusters"), " together need rows"),
            f", of which no more than {budget.LEAVE:,} may leave an engine",
            hint="; fetch them first (.collect(), .compute(), .df(), .toPandas())",
        )
    places = table.distinct_places()
    if places > budget.LEAVE:
        of_groups = " in its groups" if table.by else ""
        raise InputError(
            Argument("order_by"),
            f" has {places:,} distinct values{of_groups}, more than the {budget.LEAVE:,} that may "
            "leave an engine; round it, to days in place of seconds, or fetch the rows first",
        )
    answer = table.sums("summing places", Ask((*table.by, "order"), cells=None))[0]
    keys, axis = _places(answer.frame["order"], columns)
    weights = table.weight_kind, table.outcome_weights
    found = Sums(answer.columns, groups.owners(answer), *weights, places=keys).parts()
    along: list[Source] = []
    for number, source in enumerate(groups.sources):
        expected = int(source.first[0].n.sum())
        if number not in found or int(found[number].n.sum()) != expected:
            raise changed(int(found[number].n.sum()) if number in found else 0, expected)
        again = partial(_shifted, table, columns, groups, number)
        along.append(EngineAlong(found[number], axis, source, again))
    return along


def _shifted(
    table: Table, columns: Columns, groups: EngineGroups, number: int, shift: float
) -> KeySums:
    """Return sums of a group's shifted scores for every distinct place."""
    ask = Ask((*table.by, "order"), cells=None, shift=shift)
    answer = table.sums("summing places", ask)[0]
    keys, _ = _places(answer.frame["order"], columns)
    sums = Sums(answer.columns, groups.owners(answer), table.weight_kind, places=keys)
    first = sums.numbers.index(number)
    ours = slice(*sums.bounds[first : first + 2])
    blocks, moved = sums.blocks().select(ours), sums.shifted(shift)
    cells = np.arange(len(blocks))
    return KeySums(0 * cells, cells, blocks.n, blocks.gain, *(each[ours] for each in moved))


class EngineAlong(Source):
    """Sums of a group of an engine's rows for every place along an axis: all that leaves it.

    Parameters
    ----------
    blocks, axis
        A tie for every place, and what places mean.
    by_score
        The same predictions in the order of their scores.
    shifted
        Asks for sums of shifted scores for every place.
    """

    sampling, left_out, forbidden = False, 0, Forbidden(0, ())

    def __init__(
        self,
        blocks: Blocks,
        axis: Axis,
        by_score: EngineSource,
        shifted: Callable[[float], KeySums],
    ) -> None:
        self.axis, self._by_score, self._first = axis, by_score, (blocks, by_score.first[1])
        self.sampling, self.left_out = by_score.sampling, by_score.left_out
        self.forbidden = by_score.forbidden
        self._shifted = shifted

    def sums(self, asks: Sequence[SumsAsked]) -> list[KeySums]:
        """Answer questions about shifted scores, a query each."""
        found = [self._shifted(ask.shift) for ask in asks]
        for ask, each in zip(asks, found, strict=True):
            if not np.array_equal(each.n, ask.blocks.n):
                raise changed(int(each.n.sum()), int(ask.blocks.n.sum()))
        return found

    @property
    def by_score(self) -> EngineSource:
        """The same predictions in the order of their scores."""
        return self._by_score

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:  # noqa: ARG002  (always)
        """Return a tie for every place, and the sums over all of them."""
        return self._first

    def refine(self, blocks: Blocks) -> Blocks:
        """Return blocks as they are: nothing more can be learnt inside a tie."""
        return blocks

    def score_counts(self) -> tuple[NumberArray, FloatArray]:
        """Return how many observations cells of scores hold, and their mean scores."""
        blocks = self.by_score.first[0]
        return blocks.n, blocks.mean_score

    def in_order(self) -> None:
        """Return nothing: rows and their places are too many."""
