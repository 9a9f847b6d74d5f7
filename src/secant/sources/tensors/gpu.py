"""Tensors on a GPU as a source of blocks: cells in shared memory, a second look where it matters.

A first pass adds up all rows in some thousand cells. Where few of them could hold what is asked
for, a second pass takes their rows, which are sorted on the device and cut finer there. Calibrated
predictions leave most cells open: then a pass over a million cells tells how far the path can
stray inside each, which settles all but a few.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.types import Forbidden
from secant._blocks.table import Inside, Totals, concatenate, from_sums
from secant.sources.tensors.cell_table import CellTable, Kind, shares
from secant.sources.tensors.kernels import BAD_VALUE, FINE_UNIT, TOO_MANY
from secant.sources.tensors.source import FETCH_UP_TO, FINER_BLOCKS, TensorSource

if TYPE_CHECKING:
    from secant._base.types import BoolArray, IntArray
    from secant._blocks.table import Blocks
    from secant.sources.tensors.direct import DirectPasses
    from secant.sources.tensors.kernels import CellCounts
    from secant.sources.tensors.reading import Columns
    from secant.sources.tensors.sorted import SortedRows

__all__ = ["GpuSource"]

# Rows up to which all of them are sorted, and blocks that are made of them: more than the distinct
# scores beyond which P-values ask for every one.
SORT_UP_TO = 1 << 25
BLOCKS = 4500
SAMPLE = 1 << 14
# Cells at most: of a first pass in shared memory, and of a fine one.
CELLS = 8000
FINE_CELLS = 1 << 20
# Of a sample, the share of one score that is counted apart from the cells.
_HOT_SHARE = 1 / 200
# Rows that a second look may take, as a share of all.
_COLLECT_SHARE = 1 / 32
_COLLECT_AT_LEAST = 1 << 20
# How finely limits of the path are told when they are compared on the device.
_LIMIT_UNIT = 2.0**-24
_NO_SCORE = -1


class GpuSource(TensorSource):
    """Rows on a GPU, without weights or with sampling weights.

    Parameters
    ----------
    given
        The tensors; values of labels may be other than 0 and 1 only if that is refused.
    passes
        What reads them.
    """

    def __init__(self, given: Columns, passes: DirectPasses) -> None:
        super().__init__(given, check=False)
        self._passes = passes
        self._collections: list[tuple[Blocks, SortedRows, Any]] = []
        self._narrowed = self._forbids = False
        self._wide = self.sampling or given.scores.element_size() > 4

    @property
    def forbidden(self) -> Forbidden:
        """The rows whose score rules out what happened."""
        return super().forbidden if self._forbids else Forbidden(0, ())

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:
        """Return blocks that hold every observation, and the sums over all of them."""
        if moments:
            return super().blocks(moments=True)
        if self._given.rows <= SORT_UP_TO and not self.sampling:
            return self._sorted_whole()
        found = self._passes.cells(self._table, self._hot, wide=self._wide)
        if found.faults & TOO_MANY:  # the sample did not tell how full cells get
            self._wide, self._table = True, self._cells_of_sample(wide=True)
            found = self._passes.cells(self._table, self._hot, wide=True)
        if found.faults == TOO_MANY:
            blocks, totals = super().blocks()
            self._from_all(blocks)
            self._forbids = True
            return blocks, totals
        if found.faults & BAD_VALUE:
            self._given.refuse()
        self._forbids = bool(found.zeros or found.counts[-2])
        self._filled = np.flatnonzero(found.counts[::2] + found.counts[1::2])
        blocks = _blocks(self._table, found, self._filled)
        return blocks, _totals(found, blocks)

    def heights(self) -> tuple[float, float] | None:
        """Return the largest and the smallest cumulative difference; None if blocks must tell."""
        found = self._passes.heights()
        if found is None:
            return None
        return found.maximum / found.weight, found.minimum / found.weight

    def refine(self, blocks: Blocks) -> Blocks:
        """Cut blocks finer, or say better how far the path can stray inside them."""
        if blocks.moments is not None:
            return super().refine(blocks)
        parts = []
        asked = np.ones(len(blocks), bool)
        for covered, rows, common in self._collections:
            mine = asked & _within(blocks, covered)
            if mine.any():
                some = blocks.select(mine)
                parts.append(self._cut(rows, some, _common_in(some, covered, common)))
                asked &= ~mine
        if asked.any():
            parts.append(self._look_again(blocks.select(asked)))
        return concatenate(parts) if len(parts) > 1 else parts[0]

    # ---------------------------------------------------------------------------------------------

    @cached_property
    def _sample(self) -> Any:
        return self._passes.sample(SAMPLE) + 0

    @property
    def _usable(self) -> Any:
        """The scores of the sample that can be; the pass tells of others."""
        return self._sample[(self._sample >= 0) & (self._sample <= 1)]

    @cached_property
    def _distinct(self) -> tuple[Any, IntArray]:
        """The distinct scores of the sample, and how often it has each."""
        starts = np.flatnonzero(np.append(True, self._sample[1:] != self._sample[:-1]))
        return self._sample[starts], np.diff(starts, append=len(self._sample))

    @cached_property
    def _table(self) -> CellTable:
        return self._cells_of_sample(wide=self._wide)

    def _cells_of_sample(self, *, wide: bool) -> CellTable:
        room = self._passes.room(wide=wide)
        kinds = [Kind.of(self._sample.dtype, leading) for leading in (5, 4, 3)]
        kind = next((each for each in kinds if 2 * each.bins <= room), kinds[-1])
        self._shares = shares(kind, self._usable)
        most = min(CELLS, room)
        # Bins are cut into powers of two, mostly fewer than their share would be.
        for factor in (1.4, 1.2, 1.0, 0.85):
            table = CellTable(kind, self._shares, int(most * factor))
            if table.cells <= most:
                return table
        return CellTable(kind, self._shares, max(most - kind.bins, 0))

    @cached_property
    def _hot(self) -> Any:
        scores, times = self._distinct
        most = int(times.argmax())
        return scores[most] if times[most] > _HOT_SHARE * len(self._sample) else None

    def _look_again(self, blocks: Blocks) -> Blocks:
        """Take the rows of blocks that are cells, or joined cells, of the first pass."""
        rows = self._given.rows
        marked, common, loose = self._marked(blocks)
        most = int(max(_COLLECT_AT_LEAST, _COLLECT_SHARE * rows))
        if loose.sum() > most:
            if not self._narrowed:
                self._narrowed = True
                return self._narrower(blocks)
            found = None
        else:
            scores = np.full(self._table.cells, -1, self._sample.dtype)
            scores[marked] = common
            found = self._passes.collect(self._table, marked, scores, most)
        if found is None:  # too many of them, and the sample did not tell, or nothing helps
            return self._from_all(blocks)
        counted = common if len(marked) == len(blocks) else None
        self._collections.append((blocks, found, counted))
        return self._cut(found, blocks, counted)

    def _sorted_whole(self) -> tuple[Blocks, Totals]:
        """Sort everything: of not too many rows that is quicker than looking twice."""
        n = self._given.rows
        seen = self._passes.overview()
        if not (seen.lowest >= 0 and seen.highest <= 1 and seen.largest_label <= 1):
            self._given.refuse()
        self._forbids = seen.lowest == 0 or seen.highest == 1
        rows = self._passes.sort_all()
        blocks = self._passes.blocks(rows, np.array([0]), np.array([n]), BLOCKS)
        whole = replace(blocks.select(slice(0, 1)), low=np.zeros(1), high=np.ones(1))
        self._collections = [(whole, rows, None)]
        return blocks, Totals(n, n, n, seen.variance, 0.0).completed(blocks)

    def _from_all(self, blocks: Blocks) -> Blocks:
        everything = replace(blocks.select(slice(0, 1)), low=np.zeros(1), high=np.ones(1))
        rows = self._sorted if self.sampling else self._passes.sort_all()
        self._collections = [(everything, rows, None)]
        return self._cut(rows, blocks)

    def _marked(self, blocks: Blocks) -> tuple[IntArray, Any, Any]:
        """Return the cells that blocks hold, a common score of each, and about how many others."""
        low, high = self._table.ends
        first = np.searchsorted(high, blocks.low)
        last = np.searchsorted(low, blocks.high, side="right")
        common = np.full(len(blocks), _NO_SCORE, self._sample.dtype)
        loose = blocks.n.astype(np.float64)
        if not (last - first == 1).all():
            cells = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
            return cells, np.full(len(cells), _NO_SCORE, self._sample.dtype), loose
        scores, times = self._distinct
        if times.max() > 1:
            cell = self._table.cell(scores)
            order = np.lexsort((times, cell))
            ends = np.flatnonzero(np.diff(cell[order], append=-1))
            best = order[ends]  # for each cell that was sampled, its commonest score
            held = np.bincount(cell, times, self._table.cells)
            commonest = np.full(self._table.cells, -1)
            commonest[cell[best]] = np.where(times[best] > 1, best, -1)
            chosen = commonest[first]
            common[chosen >= 0] = scores[chosen[chosen >= 0]]
            share = times[chosen] / np.maximum(held[first], 1)
            loose *= np.where(chosen >= 0, 1 - share, 1.0)
        return first, common, loose

    def _cut(self, rows: SortedRows, blocks: Blocks, common: Any = None) -> Blocks:
        """Cut blocks, whose rows are sorted, into ties or narrower blocks."""
        start, stop = rows.place(blocks.low, blocks.high)
        has_common = np.zeros(len(blocks), bool) if common is None else common >= 0
        parts = []
        if rows.rows:
            parts.append(self._of_rows(rows, (start, stop), blocks, common, has_common))
        if has_common.any():
            parts.append(_rest(blocks, has_common, common, parts[0] if parts else None))
        filled = [part for part in parts if len(part)]
        return concatenate(filled) if len(filled) > 1 else filled[0]

    def _of_rows(
        self,
        rows: SortedRows,
        ends: tuple[IntArray, IntArray],
        blocks: Blocks,
        common: Any,
        has_common: BoolArray,
    ) -> Blocks:
        start, stop = ends
        if has_common.any():  # what lies before a common score and what lies after it stay apart
            here = common[has_common].astype(np.float64)
            between = rows.place(here, here)[0]
            start = np.concatenate([start, between])
            stop = np.concatenate([np.where(has_common, 0, stop), stop[has_common]])
            stop[: len(blocks)][has_common] = between
        full = stop > start
        order = np.argsort(start[full], kind="stable")
        start, stop = start[full][order], stop[full][order]
        if not len(start):
            return blocks.select(slice(0, 0))
        if int((stop - start).sum()) <= FETCH_UP_TO:
            return rows.ties(start, stop, moments=False)
        return self._passes.blocks(rows, start, stop, FINER_BLOCKS)

    def _narrower(self, blocks: Blocks) -> Blocks:
        """Tell better how far the path can rise and fall inside blocks that are cells."""
        table = CellTable(self._table.kind, self._shares, FINE_CELLS, within=self._table)
        rise, fall = _limits(table, self._table, self._passes.fine(table, self._hot))
        first = np.searchsorted(self._table.ends[1], blocks.low)
        last = np.searchsorted(self._table.ends[0], blocks.high, side="right")
        one = last - first == 1
        # Every weight was rounded up a little.
        slack = blocks.n * (2 * FINE_UNIT * self._passes.scale) + 1e-9 * blocks.weight
        inside = Inside(
            rise=np.where(one, np.minimum(blocks.rise, rise[first] + slack), blocks.rise),
            fall=np.where(one, np.minimum(blocks.fall, fall[first] + slack), blocks.fall),
        )
        return replace(blocks, inside=inside)


def _within(blocks: Blocks, covered: Blocks) -> BoolArray:
    """Tell which blocks lie inside others, which are disjoint and in order."""
    owner = np.searchsorted(covered.low, blocks.low, side="right") - 1
    inside: BoolArray = (owner >= 0) & (blocks.high <= covered.high[np.maximum(owner, 0)])
    return inside


def _common_in(blocks: Blocks, covered: Blocks, common: Any) -> Any:
    """Return the score in each block whose rows were counted, not collected; none where it is not.

    ``common`` has them for the blocks covered, inside which these are.
    """
    if common is None:
        return None
    known = common[np.searchsorted(covered.low, blocks.low, side="right") - 1]
    is_inside = (known >= blocks.low) & (known <= blocks.high)
    return np.where(is_inside, known, np.full_like(known, _NO_SCORE))


def _blocks(table: CellTable, found: CellCounts, filled: IntArray) -> Blocks:
    """Return the cells that hold anything as blocks."""
    low, high = (ends[filled] for ends in table.ends)
    n0, n1 = found.counts[::2][filled], found.counts[1::2][filled]
    rest0, rest1 = found.rests[::2][filled], found.rests[1::2][filled]
    unit = table.unit[filled]
    w0: Any = n0
    w1: Any = n1
    if found.loads is not None:
        w0, w1 = found.loads[::2][filled], found.loads[1::2][filled]
        unit = unit * np.ldexp(1.0, table.width[table.bin[filled]])
    number = table.start[filled]
    base, distance = table.kind.scores(number)
    # Near 1 distances from it are exact, and scores are not.
    near = number >= table.kind.half
    down = np.where(near, w0 - (w0 * distance - rest0 * unit), w0 * base + rest0 * unit)
    up = np.maximum(w1 * distance - rest1 * unit, 0)
    if filled[0] == 0:
        down[0], up[0] = found.tiny[0], max(w1[0] - found.tiny[1], 0)
    return from_sums(low, high, (n0, n1), (down, up), weights=(w0, w1))


def _totals(found: CellCounts, blocks: Blocks) -> Totals:
    if found.loads is None:
        n = found.rows
        return Totals(n, n, n, found.totals[0], 0.0).completed(blocks)
    variance, weight, ww, squares, ww1, third, squared_error = found.totals
    return Totals(
        n=found.rows,
        weight=weight,
        ww=ww,
        variance=variance,
        squares=squares,
        ww1=ww1,
        third=third,
        squared_error=squared_error,
        steps=found.steps,
    )


def _rest(blocks: Blocks, chosen: BoolArray, common: Any, taken: Blocks | None) -> Blocks:
    """Return blocks' common scores as ties: what is left when all other rows are taken away."""
    cells = blocks.select(chosen)
    scores = common[chosen].astype(np.float64)

    def left(name: str) -> Any:
        column = getattr(cells, name)
        if taken is None or not len(taken):
            return column
        owner = np.searchsorted(cells.low, taken.low, side="right") - 1
        inside = (owner >= 0) & (taken.high <= cells.high[np.maximum(owner, 0)])
        sums = np.bincount(owner[inside], getattr(taken, name)[inside], len(cells))
        return column - sums.astype(column.dtype)

    n0, n1, w0, w1 = (left(name) for name in ("n0", "n1", "w0", "w1"))
    w0, w1 = np.where(n0 > 0, w0, 0), np.where(n1 > 0, w1, 0)
    residuals = w0 * scores, w1 * (1 - scores)
    ties = from_sums(scores, scores, (n0, n1), residuals, weights=(w0, w1))
    return ties.select(ties.n > 0)


def _limits(fine: CellTable, coarse: CellTable, weight: Any) -> tuple[Any, Any]:
    """Return how far the path can rise and fall inside each coarse cell, from many fine ones.

    Sums are of integers and so the same in every run.
    """
    import torch  # noqa: PLC0415  (a tensor is at hand)

    device = weight.device

    def there(array: Any) -> Any:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device)

    kind = fine.kind
    sizes = np.diff(fine.begin, append=fine.cells)
    columns = there(np.stack([sizes, fine.begin, fine.width, coarse.begin, coarse.width]))
    bins = torch.arange(kind.bins, device=device).repeat_interleave(
        columns[0], output_size=fine.cells
    )
    _, begin, width, owner, wider = columns[:, bins]
    place = (torch.arange(fine.cells, device=device) - begin) << width
    owner = owner + (place >> wider)
    floats, whole = torch.float64, torch.int64
    if kind.floats is np.float32:
        floats, whole = torch.float32, torch.int32

    def score(number: Any) -> Any:
        below = number.clamp(max=kind.half).to(whole).view(floats)
        above = (2 * kind.half - number).clamp(0, kind.half).to(whole).view(floats).double()
        return torch.where(number < kind.half, below.double(), 1 - above)

    number = ((bins - 1 + kind.first) << kind.lower) + place
    low, high = score(number), score(number + (1 << width) - 1)
    low[0], high[0], low[-1], high[-1] = 0.0, 2.0**-40, 1.0, 1.0
    w0, w1 = weight[::2], weight[1::2]
    # In units of the largest power of two that leaves room for all of them.
    unit = _LIMIT_UNIT * 2.0 ** max(0, np.frexp(float(weight.sum()))[1] - 34)

    def most(values: Any) -> Any:
        return (values / unit).ceil().long()

    highest = most(w1 * (1 - low) - w0 * low)
    lowest = most(w0 * high - w1 * (1 - high))  # how far it falls at most
    starts = torch.searchsorted(owner, torch.arange(coarse.cells, device=device))

    def farthest(gain: Any, extra: Any) -> Any:
        before = gain.cumsum(0) - gain
        inside = before - before[starts][owner] + most(extra)
        found = torch.zeros(coarse.cells, dtype=torch.int64, device=device)
        found.scatter_reduce_(0, owner, inside, "amax")
        return found.cpu().numpy() * unit

    return farthest(highest, w1 * (1 - low)), farthest(lowest, w0 * high)
