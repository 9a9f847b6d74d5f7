"""Rows of an engine's table that belong together: one more query, by cluster and cell of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant._blocks.key_sums import COARSE, ENDS, KeySums, coarsened, equal_cells, pooled
from secant._blocks.score_cells import CellFinder
from secant._blocks.table import changed
from secant._input.clusters import is_missing
from secant.errors import Argument, InputError
from secant.sources.engines.answers import Sums
from secant.sources.engines.budget import LEAVE
from secant.sources.engines.expressions import SCORE, cell
from secant.sources.engines.faults import FILTER, that_are
from secant.sources.engines.queries import Ask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import narwhals as nw

    from secant._base.types import IntArray
    from secant._blocks.table import Blocks
    from secant.sources.engines.queries import Answer, Table

__all__ = ["cluster_sums"]

# Fixed cells that those of equal weight are made of where scores cannot all come back.
_FINE = 4 * COARSE


def cluster_sums(
    table: Table,
    owners: Callable[[Answer], IntArray],
    groups: Sequence[Blocks],
    limit: int,
    n_rows: int,
) -> list[KeySums]:
    """Return the sums by cluster and cell of every group.

    Where no more rows than may leave an engine have any, sums come back for every score; else for
    fixed cells, which neighbours are joined of until weights are about equal.

    Parameters
    ----------
    table
        The predictions.
    owners
        Tells which group each row of an answer is of.
    groups
        The blocks of each group.
    limit
        How many pairs of a cluster and a cell a group may have before its cells are made fewer.
    n_rows
        How many rows have weight.

    Raises
    ------
    InputError
        If a row has no id.
    """
    keys = (*table.by, *table.clusters)
    answer = table.sums("summing clusters", Ask(keys, _place(groups, n_rows), moments=False))[0]
    _refuse_missing(answer, table.clusters)
    ids, cluster = answer.coded(list(table.clusters))
    owner = owners(answer)
    pairs = np.where(owner < 0, -1, owner * len(ids) + cluster)
    sums = Sums(answer.columns, pairs, table.weight_kind)
    found = sums.blocks()
    pair = np.repeat(np.array(sums.numbers, np.int64), np.diff(sums.bounds))
    edges = np.searchsorted(pair, np.arange(len(groups) + 1) * len(ids))
    every = []
    for i, blocks in enumerate(groups):
        ours = slice(edges[i], edges[i + 1])
        counted, known = int(found.n[ours].sum()), int(blocks.n.sum())
        if counted != known:
            raise changed(counted, known)
        _, place = np.unique(sums.anchors[ours], return_inverse=True)
        weight = found.weight[ours]
        cells = equal_cells(np.bincount(place, weight), ENDS)[place]
        each = KeySums(pair[ours] % len(ids), cells, found.n[ours], found.gain[ours])
        every.append(coarsened(pooled(each), np.bincount(cells, weight), limit))
    return every


def _place(tables: Sequence[Blocks], n_rows: int) -> nw.Expr:
    """Return what sums are taken by: scores themselves where they are few, else cells."""
    few = all(len(blocks) <= ENDS and not blocks.open.any() for blocks in tables)
    if few or n_rows <= LEAVE:
        return SCORE
    finder = CellFinder(_FINE)
    for blocks in tables:
        finder.add(np.concatenate([blocks.low, blocks.high]))
    return cell(finder.bits)


def _refuse_missing(answer: Answer, clusters: dict[str, str]) -> None:
    for ours, name in clusters.items():
        ids, number = answer.coded([ours])
        missing = np.array([is_missing(key) for (key,) in ids])[number]
        if count := int(answer.columns["rows"][missing].sum()):
            raise InputError(
                f"column {name!r} (",
                Argument("clusters"),
                f") holds {count:,} value{'s' if count > 1 else ''} {that_are(count)}missing "
                "(null, NaN or empty); every row needs the id of its cluster, and secant drops no "
                f"rows{FILTER}",
                column=name,
            )
