"""Tables of engines along another order than that of scores.

Rows that may leave the engine are fetched with their places and looked at as arrays are. Of more
rows one query brings back sums for every distinct place, if these are few: days, months, ages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.types import Forbidden
from secant._blocks.looking import Source
from secant._blocks.table import Spread, from_sums
from secant._input.clusters import cluster_codes
from secant._input.observations import observations
from secant._input.ordering import ordering
from secant.errors import Argument, InputError
from secant.sources.engines import budget
from secant.sources.engines.expressions import LABEL, SCORE, WEIGHT, number_if, times
from secant.sources.engines.queries import Table
from secant.sources.engines.source import EngineGroups
from secant.sources.ordered import OrderedSource

if TYPE_CHECKING:
    import narwhals as nw

    from secant._base.types import FloatArray, NumberArray
    from secant._blocks.table import Blocks, Totals
    from secant._input.axis import Axis
    from secant._input.columns import Columns
    from secant._input.observations import Observations
    from secant.sources.engines.source import EngineSource

__all__ = ["EngineAlong", "fetched", "open_engine_along"]


def open_engine_along(frame: nw.LazyFrame[Any], columns: Columns) -> OrderedSource | EngineAlong:
    """Return the predictions in an engine's table along the axis that columns name.

    Raises
    ------
    InputError
        If a column is missing or holds what cannot be used; or if more rows than may leave the
        engine have more places than may.
    """
    table = Table(frame, columns)
    by_score = EngineGroups(table, columns).source(0)
    if by_score.rows <= budget.LEAVE:
        return OrderedSource(_rows(table, columns)[0], Forbidden(by_score.forbidden.count, ()))
    if columns.clusters is not None:
        both = Argument("order_by"), " and ", Argument("clusters")
        raise _too_many(*both, " together need rows")
    return EngineAlong(*_blocks(table, columns), by_score)


def fetched(
    frame: nw.LazyFrame[Any], columns: Columns
) -> tuple[Observations, list[tuple[Any, ...]]]:
    """Return all rows with their places, and the key of each one's group.

    Raises
    ------
    InputError
        As :func:`open_engine_along`; and if there are more rows than may leave the engine.
    """
    table = Table(frame, columns)
    if sum(table.sizes().values()) > budget.LEAVE:
        raise _too_many(Argument("order_by"), " of groups needs rows")
    EngineGroups(table, columns)  # which checks them
    return _rows(table, columns)


def _too_many(*what: str) -> InputError:
    return InputError(
        *what,
        f", of which no more than {budget.LEAVE:,} may leave an engine",
        hint="; fetch them first (.collect(), .compute(), .df(), .toPandas())",
    )


def _rows(table: Table, columns: Columns) -> tuple[Observations, list[tuple[Any, ...]]]:
    answer, keys = table.with_places()
    labels = answer["label"].to_numpy() == 1
    scores = np.asarray(answer["score"].to_numpy(), np.float64)
    weights = None
    if columns.sample_weight is not None:
        weights = np.asarray(answer["weight"].to_numpy(), np.float64)
    reading = replace(columns.reading, pos_label=None)
    seen = observations(labels, scores, weights, reading)
    places, axis = _places(answer["order"], columns)
    seen = replace(seen, keys=places, axis=axis, left_out=table.left_out)
    if columns.clusters is not None:
        ids = answer["cluster"].to_list()
        seen = replace(seen, clusters=cluster_codes(ids, seen.rows))
    return seen, keys


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


def _blocks(table: Table, columns: Columns) -> tuple[Blocks, Axis]:
    """Return sums for every distinct place."""
    places = table.distinct_places()
    if places > budget.LEAVE:
        raise InputError(
            Argument("order_by"),
            f" has {places:,} distinct values, more than the {budget.LEAVE:,} that may leave an "
            "engine; round it, to days in place of seconds, or fetch the rows first",
        )
    answer = table.by_place(_terms(table))
    keys, axis = _places(answer["order"], columns)
    sums = {
        name: np.asarray(answer[name].to_numpy(), np.float64)
        for name in answer.columns
        if name != "order"
    }
    held = np.flatnonzero(sums["n0"] + sums["n1"])
    order: Any = held[np.argsort(keys[held])]
    sums = {name: column[order] for name, column in sums.items()}
    n0, n1 = (np.rint(sums[name]).astype(np.int64) for name in ("n0", "n1"))
    weighted = table.weight_kind == "sampling"
    squares = (sums["wwv"], (sums["ww0"], sums["ww1"])) if weighted else ()
    places_in_order = keys[order]
    blocks = from_sums(
        places_in_order,
        places_in_order,
        (n0, n1),
        (sums["down"], sums["up"]),
        weights=(sums["w0"], sums["w1"]) if weighted else None,
        spread=Spread((sums["wv0"], sums["wv1"]), *squares),
        outcome_weights=table.outcome_weights,
        least=sums["least"],
        most=sums["most"],
    )
    return blocks, axis


def _terms(table: Table) -> dict[str, nw.Expr]:
    """Return what is summed at every place."""
    happened, failed = LABEL == 1, LABEL != 1
    variance = SCORE * (1 - SCORE)
    one = number_if(SCORE >= 0)
    copies = w = ww = one
    if table.weight_kind is not None:
        w = WEIGHT
        copies = WEIGHT if table.weight_kind == "frequency" else number_if(WEIGHT > 0)
        ww = WEIGHT if table.weight_kind == "frequency" else WEIGHT * WEIGHT
    return {
        "n0": number_if(failed, copies),
        "n1": number_if(happened, copies),
        "w0": number_if(failed, w),
        "w1": number_if(happened, w),
        "ww0": number_if(failed, ww),
        "ww1": number_if(happened, ww),
        "down": number_if(failed, times(w, SCORE)),
        "up": number_if(happened, times(w, 1 - SCORE)),
        "wv0": number_if(failed, times(w, variance)),
        "wv1": number_if(happened, times(w, variance)),
        "wwv": times(ww, variance),
    }


class EngineAlong(Source):
    """Sums of an engine's table for every place along an axis: all that leaves it.

    Parameters
    ----------
    blocks, axis
        A tie for every place, and what places mean.
    by_score
        The same predictions in the order of their scores.
    """

    def __init__(self, blocks: Blocks, axis: Axis, by_score: EngineSource) -> None:
        self.axis, self._by_score = axis, by_score
        self._blocks = blocks

    @property
    def by_score(self) -> EngineSource:
        """The same predictions in the order of their scores."""
        return self._by_score

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self.by_score.sampling

    @property
    def forbidden(self) -> Forbidden:
        """How many rows have a score that rules out what happened; they have no numbers."""
        return self.by_score.forbidden

    @property
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome."""
        return self.by_score.left_out

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:  # noqa: ARG002  (always)
        """Return a tie for every place, and the sums over all of them."""
        return self._blocks, self.by_score.blocks()[1]

    def refine(self, blocks: Blocks) -> Blocks:
        """Return blocks as they are: nothing more can be learnt inside a tie."""
        return blocks

    def score_counts(self) -> tuple[NumberArray, FloatArray]:
        """Return how many observations cells of scores hold, and their mean scores."""
        blocks = self.by_score.blocks()[0]
        return blocks.n, blocks.mean_score

    def in_order(self) -> None:
        """Return nothing: rows and their places are too many."""
