"""Rows of files that belong together: one more walk, in which each row has its cluster's number."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.clusters import is_missing, missing_id
from secant._input.keys import key_numbers
from secant.sources import rows as row_source
from secant.sources.files.values import group_codes
from secant.sources.files.walking import Walk, gathered

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from secant._base.types import IntArray
    from secant._input.columns import Columns
    from secant._input.observations import Chunk
    from secant.sources.files.predictions import Predictions
    from secant.sources.files.table import Batch

__all__ = ["ClusterWalk", "cluster_numbers", "clustered_rows"]


def clustered_rows(
    table: Predictions,
    total: int,
    number_groups: Callable[[list[Any], IntArray], IntArray] | None = None,
) -> Generator[tuple[Chunk, IntArray, IntArray]]:
    """Walk over the rows of positive weight, with the numbers of their groups and clusters.

    Parameters
    ----------
    table
        The files; its columns say what the ids of clusters are.
    total
        About how many rows there are, for the progress bar.
    number_groups
        Gives the groups of rows numbers; without it all rows are in group 0.

    Raises
    ------
    InputError
        If the id of a cluster is missing: the file, the row there, the column.
    """
    walk = ClusterWalk(table, total, number_groups, again=True)
    size = row_source.CHUNK
    with closing(gathered(walk.chunks(size), size)) as chunks:
        for chunk, owners in chunks:
            assert owners is not None  # noqa: S101
            yield chunk, owners[:, 0], owners[:, 1]


class ClusterWalk(Walk):
    """A walk in which a row has two owners: its group and its cluster."""

    def __init__(self, *files: Any, **how: Any) -> None:
        super().__init__(*files, **how)
        self._numbers: dict[Any, int] = {}

    @property
    def _columns(self) -> Columns:
        return super()._columns._replace(clusters=self._table.columns.clusters)

    def _owners(self, batch: Batch) -> IntArray:
        groups = super()._owners(batch)
        if groups is None:
            groups = np.zeros(batch.rows, np.int64)
        return np.column_stack([groups, cluster_numbers(self._table, batch, self._numbers)])


def cluster_numbers(table: Predictions, batch: Batch, numbers: dict[Any, int]) -> IntArray:
    """Return the number of each row's cluster; ids that are new get the next one.

    Raises
    ------
    InputError
        If the id of a cluster is missing: the file, the row there, the column.
    """
    names = table.columns.clusters
    assert names is not None  # noqa: S101
    keys, codes = group_codes([table.complete(batch, "clusters", name) for name in names])
    for code, key in enumerate(keys):
        if is_missing(key):
            error = missing_id("NaN" if key is None else repr(key), int(np.argmax(codes == code)))
            raise table.refused(batch, error)
    return key_numbers(keys, codes, numbers)
