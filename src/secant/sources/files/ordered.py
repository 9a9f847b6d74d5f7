"""Rows of files along another order: read once, put aside with their keys, and looked at there.

A file holds its rows in an order of its own, and every look along another one takes their keys.
Few rows are kept in memory; many go to temporary files, from which they are mapped a piece at a
time, so that memory does not grow with them.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.keys import key_numbers, key_order
from secant._input.observations import Observations, split
from secant._input.ordering import ordering
from secant.errors import InputError, SecantError
from secant.sources import rows as row_source
from secant.sources.apart import Apart
from secant.sources.files.clusters import cluster_numbers
from secant.sources.files.values import along
from secant.sources.files.walking import Walk, gathered
from secant.sources.ordered import OrderedSource

if TYPE_CHECKING:
    from secant._base.types import IntArray
    from secant._input.axis import Axis
    from secant._input.columns import Columns
    from secant._input.observations import Chunk
    from secant.sources.files.predictions import Predictions
    from secant.sources.files.table import Batch

__all__ = ["open_ordered", "open_ordered_groups"]

# Rows that are kept in memory: 100 MB of them, or 200 with weights and clusters.
IN_MEMORY = 1 << 22


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
    walk = _KeyWalk(table, table.rows or 0)
    seen = _observations(table, walk, _put_aside(walk))
    return OrderedSource(seen, walk.refused.found, by_score)


def open_ordered_groups(table: Predictions) -> Apart:
    """Return the rows of files in groups, each along the axis; they are read into memory.

    Raises
    ------
    InputError
        As :func:`open_ordered`.
    """
    names: dict[Any, int] = {}
    walk = _KeyWalk(table, table.rows or 0, partial(key_numbers, known=names))
    columns = _put_aside(walk)
    seen = _observations(table, walk, columns)
    groups = np.asarray(columns["group"])
    keys = list(names)
    pieces = split(seen, groups, len(keys))
    full, sources, empty = [], [], []
    for place in key_order(keys):
        piece = pieces[place]
        if piece is None:
            empty.append(keys[place])
            continue
        refused = walk.refused_in.get(place)
        full.append(keys[place])
        sources.append(OrderedSource(piece, None if refused is None else refused.found))
    return Apart(full, sources, table.columns.by, tuple(empty), seen.left_out)


def _observations(table: Predictions, walk: _KeyWalk, columns: dict[str, Any]) -> Observations:
    reading, weights = table.columns.reading, columns.get("weight")
    keys, axis = columns["key"].view(walk.kind), walk.axis
    n = columns["label"].shape[0]
    if weights is not None and reading.counts:
        n = int(sum(float(part.sum()) for part in np.array_split(weights, 64)))
    return Observations(
        columns["label"],
        columns["score"],
        weights,
        counted=reading.counts,
        n=n,
        lowest=float(columns["score"].min()),
        highest=float(columns["score"].max()),
        forbidden=(),
        has_zero_weights=False,
        outcome_weights=reading.outcome_weights,
        clusters=columns.get("cluster"),
        keys=keys,
        axis=axis,
        left_out=table.left_out,
    )


class _KeyWalk(Walk):
    """A walk in which a row has owners: its place along the axis, its group and its cluster."""

    def __init__(self, *files: Any) -> None:
        super().__init__(*files)
        self._first: Axis | None = None
        self.kind: Any = np.dtype(np.int64)
        self._numbers: dict[Any, int] = {}

    @property
    def axis(self) -> Axis:
        """The axis, once rows have been seen."""
        assert self._first is not None  # noqa: S101
        return self._first

    @property
    def owners(self) -> list[str]:
        """What the columns of owners are."""
        clusters = self._table.columns.clusters is not None
        return ["key", "group", *(["cluster"] if clusters else [])]

    @property
    def _columns(self) -> Columns:
        own = self._table.columns
        return super()._columns._replace(clusters=own.clusters, order_by=own.order_by)

    def _owners(self, batch: Batch) -> IntArray:
        groups = super()._owners(batch)
        if groups is None:
            groups = np.zeros(batch.rows, np.int64)
        columns = [self._keys(batch), groups]
        if self._table.columns.clusters is not None:
            columns.append(cluster_numbers(self._table, batch, self._numbers))
        return np.column_stack(columns)

    def _note(self, refused: IntArray, numbers: IntArray, groups: IntArray | None) -> None:
        super()._note(refused, numbers, None if groups is None else groups[:, 1])

    def _keys(self, batch: Batch) -> IntArray:
        """Return the bits of keys, in the units of the first that were seen."""
        name = self._table.columns.order_by
        assert name is not None  # noqa: S101
        values, zone = along(self._table.complete(batch, "order_by", name))
        try:
            keys, axis = ordering(values, name=name)
            axis = replace(axis, zone=zone)
            if self._first is None:
                self._first, self.kind = axis, keys.dtype
            keys = _alike(keys, axis, self._first, self.kind)
        except InputError as error:
            raise self._table.refused(batch, error) from error
        bits: IntArray = keys.view(np.int64)
        return bits


def _alike(keys: Any, axis: Axis, first: Axis, kind: Any) -> Any:
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
    return keys


def _different(first: str, later: str) -> InputError:
    return InputError(f"order_by holds {first} at first and {later} later: write them in one type")


# Putting aside ------------------------------------------------------------------------------------


def _put_aside(walk: _KeyWalk) -> dict[str, Any]:
    """Walk over all rows and return their columns, in memory or mapped from temporary files."""
    held: list[dict[str, Any]] = []
    with ExitStack() as stack:
        files: dict[str, Any] = {}
        count = 0
        size = row_source.CHUNK
        with closing(gathered(walk.chunks(size), size)) as chunks:
            for chunk, owners in chunks:
                assert owners is not None  # noqa: S101
                held.append(_columns(chunk, owners, walk.owners))
                count += chunk.scores.shape[0]
                if count > IN_MEMORY:
                    for name in held[0]:
                        if name not in files:
                            file = tempfile.TemporaryFile(prefix="secant-")  # noqa: SIM115
                            files[name] = stack.enter_context(file)
                    _write(held, files)
        if not files:
            return {name: np.concatenate([each[name] for each in held]) for name in held[0]}
        _write(held, files)
        kinds = {name: _KINDS.get(name, np.dtype(np.int64)) for name in files}
        return {name: np.memmap(file, kinds[name], "r") for name, file in files.items()}


_KINDS: dict[str, Any] = {
    "label": np.dtype(np.uint8),
    "score": np.dtype(np.float64),
    "weight": np.dtype(np.float64),
}


def _columns(chunk: Chunk, owners: IntArray, names: list[str]) -> dict[str, Any]:
    """Return the columns of a chunk, copied: its memory may be used again."""
    columns = {"label": chunk.labels, "score": chunk.scores}
    if chunk.weights is not None:
        columns["weight"] = chunk.weights
    found = {name: np.array(column, _KINDS[name]) for name, column in columns.items()}
    return found | {name: owners[:, i].copy() for i, name in enumerate(names)}


def _write(held: list[dict[str, Any]], files: dict[str, Any]) -> None:
    try:
        for columns in held:
            for name, column in columns.items():
                column.tofile(files[name])
        for file in files.values():
            file.flush()
    except OSError as problem:
        where = tempfile.gettempdir()
        msg = f"rows could not be put aside in {where} to look at them in their order: {problem}"
        raise SecantError(msg) from problem
    held.clear()
