"""Sums of an engine's rows by key and cell: of clusters, of shifted scores, of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant._blocks.key_sums import (
    COARSE,
    ENDS,
    KeySums,
    in_cells,
    pooled,
    shifted_scores,
)
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
    from collections.abc import Sequence

    import narwhals as nw

    from secant._base.types import FloatArray, NumberArray
    from secant._blocks.key_sums import Ask as SumsAsked
    from secant._blocks.table import Blocks
    from secant.sources.engines.queries import Answer, Table
    from secant.sources.engines.source import EngineGroups

__all__ = ["key_sums"]

# Fixed cells that those of equal weight are made of where scores cannot all come back.
_FINE = 4 * COARSE


def key_sums(table: Table, groups: EngineGroups, asks: Sequence[SumsAsked]) -> list[KeySums]:
    """Return the sums by key and cell that are asked for, from one query for each shift.

    Sums of clusters come back for every score where no more rows than may leave an engine have
    any; else for fixed cells, which neighbours are joined of until weights are about equal. Without
    clusters a query looks into blocks of several scores alone: the rest follows from counts.

    Raises
    ------
    InputError
        If a row has no id of its cluster.
    """
    found: dict[int, KeySums] = {}
    for clusters, shift in dict.fromkeys((ask.clusters, ask.shift) for ask in asks):
        some = [ask for ask in asks if (ask.clusters, ask.shift) == (clusters, shift)]
        if clusters:
            found |= _by_cluster(table, groups, some)
        else:
            found |= _by_block(table, groups, some)
    return [found[ask.group] for ask in asks]


def _by_cluster(
    table: Table, groups: EngineGroups, asks: Sequence[SumsAsked]
) -> dict[int, KeySums]:
    shift = asks[0].shift
    cells = _place([ask.blocks for ask in asks], groups.n_rows)
    ask = Ask((*table.by, *table.clusters), cells, moments=bool(shift), shift=shift)
    answer = table.sums("summing clusters", ask)[0]
    _refuse_missing(answer, table.clusters)
    ids, cluster = answer.coded(list(table.clusters))
    owner = groups.owners(answer)
    pairs = np.where(owner < 0, -1, owner * len(ids) + cluster)
    sums = Sums(answer.columns, pairs, table.weight_kind)
    blocks = sums.blocks()
    moved = sums.shifted(shift) if shift else ()
    pair = np.repeat(np.array(sums.numbers, np.int64), np.diff(sums.bounds))
    every = {}
    for each in asks:
        first, last = np.searchsorted(pair, [each.group * len(ids), (each.group + 1) * len(ids)])
        ours = slice(first, last)
        n, weight = blocks.n[ours], blocks.weight[ours]
        if n.sum() != each.blocks.n.sum():
            raise changed(int(n.sum()), int(each.blocks.n.sum()))
        _, place = np.unique(sums.anchors[ours], return_inverse=True)
        some = KeySums(
            pair[ours] % len(ids), place, n, blocks.gain[ours], *(m[ours] for m in moved)
        )
        every[each.group] = in_cells(pooled(some), np.bincount(place, weight), each.most)
    return every


def _by_block(table: Table, groups: EngineGroups, asks: Sequence[SumsAsked]) -> dict[int, KeySums]:
    """Return sums of blocks: of ties from what is known, of others from one query, if any."""
    shift = asks[0].shift
    known = {ask.group: _of_ties(ask, table) for ask in asks}
    inside = {ask.group: ask.blocks for ask in asks if ask.blocks.open.any()}
    if shift and inside:
        *within, finest = groups.grids
        answer = table.sums("summing cells", Ask(table.by, finest, tuple(within), shift=shift))[0]
        sums = Sums(answer.columns, groups.owners(answer), table.weight_kind)
        cells, moved = sums.blocks(), sums.shifted(shift)
        ends = zip(sums.numbers, sums.bounds, sums.bounds[1:], strict=False)
        for number, *part in ends:
            if number in inside:
                ours = slice(*part)
                _fill(known[number], inside[number], cells.select(ours), [m[ours] for m in moved])
                del inside[number]
        for blocks in inside.values():
            raise changed(0, int(blocks.n.sum()))
    return {ask.group: in_cells(known[ask.group], ask.blocks.weight, ask.most) for ask in asks}


def _of_ties(ask: SumsAsked, table: Table) -> KeySums:
    """Return the sums of blocks, each as if all of its scores were the smallest."""
    blocks, moments = ask.blocks, ask.blocks.moments
    assert moments is not None  # noqa: S101
    o0, o1 = table.outcome_weights or (1.0, 1.0)
    moved: tuple[FloatArray, ...] = ()
    if ask.shift:
        q, spread = shifted_scores(blocks.low, ask.shift)
        weight = blocks.w0 / o0 + blocks.w1 / o1
        square = moments.ww0 / (o0 * o0) + moments.ww1 / (o1 * o1) if table.sampling else weight
        moved = weight * q, square * spread
    key, cell = np.zeros(len(blocks), np.int64), np.arange(len(blocks))
    return KeySums(key, cell, blocks.n, blocks.up / o1 - blocks.down / o0, *moved)


def _fill(sums: KeySums, blocks: Blocks, cells: Blocks, moved: Sequence[FloatArray]) -> None:
    """Put in the sums inside blocks of several scores, from those of the cells in them."""
    place = np.maximum(np.searchsorted(blocks.low, cells.low, side="right") - 1, 0)
    within = blocks.open[place] & (cells.low >= blocks.low[place])
    within &= cells.high <= blocks.high[place]

    def added(column: NumberArray) -> FloatArray:
        found = np.bincount(place[within], column[within], len(blocks))
        return np.asarray(found[blocks.open], np.float64)

    found, expected = added(cells.n), blocks.n[blocks.open]
    if not np.array_equal(found, expected):
        raise changed(int(found.sum()), int(expected.sum()))
    assert sums.shifted is not None  # noqa: S101
    assert sums.spread is not None  # noqa: S101
    sums.shifted[blocks.open], sums.spread[blocks.open] = map(added, moved)


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
