"""Rows of files along another order: read once, put aside with their places, and looked at there.

A file holds its rows in an order of its own, and every look along another one takes their places.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.keys import key_numbers
from secant._input.observations import as_observations
from secant._input.ordering import ordering
from secant.errors import InputError
from secant.sources import rows as row_source
from secant.sources.apart import apart
from secant.sources.files.spool import Spool
from secant.sources.files.values import along
from secant.sources.files.walking import Walk
from secant.sources.ordered import OrderedSource

if TYPE_CHECKING:
    from secant._base.types import NumberArray
    from secant._input.axis import Axis
    from secant._input.observations import Observations
    from secant.sources.apart import Apart
    from secant.sources.files.predictions import Predictions
    from secant.sources.files.table import Batch

__all__ = ["open_ordered", "open_ordered_groups"]


def open_ordered(table: Predictions, by_score: Any) -> OrderedSource:
    """Return the rows of files along the axis that their columns name.

    Parameters
    ----------
    table
        The files.
    by_score
        The same rows in the order of scores, for what is about scores.

    Raises
    ------
    InputError
        If rows cannot be used: the file, the row there, the column and the value.
    """
    places = _Places(table)
    walk = _walk(table, places)
    seen, _ = _put_aside(walk, places)
    return OrderedSource(seen, walk.refused.found, by_score)


def open_ordered_groups(table: Predictions) -> Apart:
    """Return the rows of files in groups, each along the axis; they are read into memory.

    Raises
    ------
    InputError
        As :func:`open_ordered`.
    """
    names: dict[Any, int] = {}
    places = _Places(table)
    walk = _walk(table, places, partial(key_numbers, known=names))
    seen, groups = _put_aside(walk, places)

    def source(piece: Observations, number: int) -> OrderedSource:
        refused = walk.refused_in.get(number)
        return OrderedSource(piece, None if refused is None else refused.found)

    return apart(seen, list(names), groups, table.columns.by, source)


def _walk(table: Predictions, places: _Places, number_groups: Any = None) -> Walk:
    clusters = table.columns.clusters is not None
    return Walk(table, table.rows or 0, number_groups, clusters=clusters, places=places)


def _put_aside(walk: Walk, places: _Places) -> tuple[Observations, Any]:
    """Walk over all rows and return them, in memory or mapped from files, and their groups."""
    spool = Spool(in_groups=False)
    with closing(walk.chunks(row_source.CHUNK)) as chunks:
        for chunk in chunks:
            spool.add(chunk)
    rows, table = spool.rows(), walk.table
    more: dict[str, Any] = {"axis": places.axis, "left_out": table.left_out}
    return as_observations(rows, table.columns.reading, **more), rows.group


class _Places:
    """The places of rows along the axis, in the units and the type of the first that were seen."""

    axis: Axis | None = None

    def __init__(self, table: Predictions) -> None:
        self._table = table
        self._kind: Any = None

    def __call__(self, batch: Batch) -> NumberArray:
        name = self._table.columns.order_by
        assert name is not None  # noqa: S101
        values, zone = along(self._table.complete(batch, "order_by", name))
        try:
            keys, axis = ordering(values, name=name)
            axis = replace(axis, zone=zone)
            if self.axis is None:
                self.axis, self._kind = axis, keys.dtype
            return _alike(keys, axis, self.axis, self._kind)
        except InputError as error:
            raise self._table.refused(batch, error) from error


def _alike(keys: Any, axis: Axis, first: Axis, kind: Any) -> NumberArray:
    """Return keys in the units and the type of those that came first."""
    if axis.unit != first.unit:
        exact = axis.values(keys)
        keys = exact.astype(f"{exact.dtype.kind}8[{first.unit}]")
        if (keys.astype(exact.dtype) != exact).any():
            raise _different(f"times in units of {first.unit}", f"finer ones, of {axis.unit}")
        keys = keys.view(np.int64)
    if keys.dtype != kind:
        changed = keys.astype(kind)
        if (changed.astype(keys.dtype) != keys).any():
            raise _different(f"numbers of type {kind}", f"others, of type {keys.dtype}")
        keys = changed
    found: NumberArray = keys
    return found


def _different(first: str, later: str) -> InputError:
    return InputError(f"order_by holds {first} at first and {later} later: write them in one type")
