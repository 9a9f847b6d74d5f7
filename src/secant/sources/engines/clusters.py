"""Rows of an engine's table that belong together: one more query, by cluster and cell of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks.cluster_sums import COARSE, ENDS, ClusterSums, coarsened, equal_cells, pooled
from secant._blocks.score_cells import CellFinder
from secant._blocks.table import changed
from secant._input.clusters import is_missing
from secant._input.keys import factorized
from secant.errors import Argument, InputError
from secant.sources.engines.budget import LEAVE
from secant.sources.engines.expressions import LABEL, SCORE, WEIGHT, cell, number_if, times
from secant.sources.engines.faults import FILTER, that_are

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.table import Blocks
    from secant.sources.engines.queries import Answer, Table

__all__ = ["cluster_sums"]

# Fixed cells that those of equal weight are made of where scores cannot all come back.
_FINE = 4 * COARSE


def cluster_sums(
    table: Table, name: str, groups: Mapping[tuple[Any, ...], Blocks], limit: int, n_rows: int
) -> list[ClusterSums]:
    """Return the sums by cluster and cell of every group.

    Where no more rows than may leave an engine have any, sums come back for every score; else for
    fixed cells, which neighbours are joined of until weights are about equal.

    Parameters
    ----------
    table
        The predictions.
    name
        The column of ids.
    groups
        The blocks of each group, by its key.
    limit
        How many pairs of a cluster and a cell a group may have before its cells are made fewer.
    n_rows
        How many rows have weight.

    Raises
    ------
    InputError
        If a row has no id.
    """
    answer, ids = table.by_cluster(_place(list(groups.values()), n_rows), _terms(table))
    _refuse_missing(answer, ids, name)
    sums = answer.columns
    used = sums["n"] > 0
    clusters = factorized(np.array([*ids, None], dtype=object)[:-1])[1]
    number = {key: i for i, key in enumerate(groups)}
    group = np.array([number.get(key, -1) for key in answer.keys], np.int64)
    found = []
    for i, blocks in enumerate(groups.values()):
        rows = np.flatnonzero(used & (group == i))
        counted, known = round(sums["n"][rows].sum()), int(blocks.n.sum())
        if counted != known:
            raise changed(counted, known)
        ours = {name: column[rows] for name, column in sums.items()}
        found.append(_of_group(ours, clusters[rows], limit))
    return found


def _place(tables: Sequence[Blocks], n_rows: int) -> nw.Expr:
    """Return what sums are taken by: scores themselves where they are few, else cells."""
    few = all(len(blocks) <= ENDS and not blocks.open.any() for blocks in tables)
    if few or n_rows <= LEAVE:
        return SCORE
    finder = CellFinder(_FINE)
    for blocks in tables:
        finder.add(np.concatenate([blocks.low, blocks.high]))
    return cell(finder.bits)


def _terms(table: Table) -> dict[str, nw.Expr]:
    """Return what is summed; rows of weight zero add nothing."""
    gain = number_if(LABEL == 1) - SCORE
    if table.weight_kind is None:
        one = number_if(SCORE >= 0)
        return {"n": one, "w": one, "gain": gain}
    copies = WEIGHT if table.weight_kind == "frequency" else number_if(WEIGHT > 0)
    return {"n": copies, "w": WEIGHT, "gain": times(WEIGHT, gain)}


def _refuse_missing(answer: Answer, ids: Sequence[Any], name: str) -> None:
    missing = [is_missing(each) for each in ids]
    if not any(missing):
        return
    count = int(answer.columns["rows"][missing].sum())
    raise InputError(
        f"column {name!r} (",
        Argument("clusters"),
        f") holds {count:,} value{'s' if count > 1 else ''} {that_are(count)}missing (null, NaN or "
        f"empty); every row needs the id of its cluster, and secant drops no rows{FILTER}",
        column=name,
    )


def _of_group(sums: Mapping[str, FloatArray], clusters: IntArray, limit: int) -> ClusterSums:
    """Return the sums of one group in cells of about equal weight."""
    _, place = np.unique(sums["place"], return_inverse=True)
    cells = equal_cells(np.bincount(place, sums["w"]), ENDS)[place]
    n = np.rint(sums["n"]).astype(np.int64)
    found = pooled(ClusterSums(clusters, cells, n, sums["gain"]))
    return coarsened(found, np.bincount(cells, sums["w"]), limit)
