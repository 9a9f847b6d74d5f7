"""Tables of engines as sources: DuckDB, Polars, Dask, Spark, Ibis, whatever narwhals knows.

The rows stay where they are. A first group-by brings back the sums of some ten thousand cells, a
second one the distinct scores inside the few cells that matter; if these hold too many, they are
cut into narrower cells first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from secant._base.types import Forbidden
from secant._blocks.cell_sums import CellMeans, row_totals
from secant._blocks.looking import Groups, Source
from secant._blocks.sorting import PathRows
from secant._blocks.table import Blocks, Totals, changed, collapse, concatenate
from secant._input.keys import key_order
from secant._input.observations import Chunk, pick
from secant._input.rules import counted
from secant.errors import Argument, InputError
from secant.sources import rows
from secant.sources.engines import budget
from secant.sources.engines.answers import Sums
from secant.sources.engines.budget import first_bits, smallest_first
from secant.sources.engines.expressions import SCORE, floor, grid
from secant.sources.engines.faults import FILTER, NO_ROWS, WEIGHTLESS
from secant.sources.engines.filters import conditions, members
from secant.sources.engines.queries import Ask, Table
from secant.sources.engines.runs import finer_bits, lie_within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from secant._base.types import IntArray
    from secant._blocks.key_sums import Ask as SumsAsked
    from secant._blocks.key_sums import KeySums
    from secant._blocks.looking import RowsInOrder
    from secant._input.columns import Columns
    from secant.sources.engines.queries import Answer

    Key = tuple[Any, ...]

__all__ = [
    "EngineGroups",
    "EngineSource",
    "cell_means",
    "check",
    "chunk_of",
    "open_engine",
    "open_engine_groups",
]

# Rows a cell below which cutting would bring back no less than the distinct scores.
_FEW_ROWS_A_CELL = 2


def open_engine(frame: nw.LazyFrame[Any], columns: Columns) -> EngineSource:
    """Return the predictions in an engine's table as a source; this takes the first look.

    Raises
    ------
    InputError
        If a column is missing or holds what cannot be used.
    """
    return open_engine_groups(frame, columns).source(0)


def open_engine_groups(frame: nw.LazyFrame[Any], columns: Columns) -> EngineGroups:
    """Return the groups in an engine's table; this takes the first look at all of them.

    Raises
    ------
    InputError
        As :func:`open_engine`.
    """
    return EngineGroups(Table(frame, columns), columns)


def cell_means(
    frame: nw.LazyFrame[Any], columns: Columns, n_cells: int
) -> tuple[CellMeans, tuple[int, int]]:
    """Return counts and mean scores of cells of equal width, and how many outcomes were ruled out.

    Of the latter come first the events with a score of 0, then the failures with a score of 1.

    Raises
    ------
    InputError
        As :func:`open_engine`.
    """
    table = Table(frame, columns)
    wide = float(n_cells)
    ask = Ask(cells=floor(SCORE * wide) / wide, moments=False, checks=True)
    answer = table.sums("summing cells", ask)[0]
    check(answer, table, columns)
    sums = Sums(answer.columns, np.zeros(len(answer.columns["rows"]), np.int64))
    blocks, forbidden = sums.blocks(), sums.columns["forbidden"]
    at_one = int(forbidden[sums.anchors == 1].sum())
    means = CellMeans(blocks.mean_score, blocks.n0, blocks.n1)
    return means, (int(forbidden.sum()) - at_one, at_one)


class EngineGroups(Groups):
    """Groups of rows in an engine's table, looked at together; one group where there is no ``by``.

    Counting the rows of groups is one pass over the data (there is none without groups), the
    first look is another one, and :meth:`refine` is one more whenever it needs new sums.
    """

    def __init__(self, table: Table, columns: Columns) -> None:
        self._table = table
        self.by, self.sampling = columns.by, table.sampling
        self.outcome_weights = table.outcome_weights
        sizes = table.sizes() if table.by else {(): 0}
        table.budget.groups = max(1, len(sizes))
        self.grids = [self._first_grid(sizes)]
        ask = Ask(table.by, self.grids[0], checks=True, totals=True, third=True)
        answer = table.sums("summing cells", ask)[0]
        check(answer, table, columns)
        found, codes = answer.coded(table.by)
        sums = answer.columns
        if table.by:
            seen = dict(zip(found, np.bincount(codes, sums["rows"]).tolist(), strict=True))
            for key in sizes.keys() | seen.keys():
                if seen.get(key, 0) != sizes.get(key, 0):
                    raise changed(int(seen.get(key, 0)), sizes.get(key, 0))
        used = sums["anchor"] >= 0
        full = {found[number] for number in np.unique(codes[used]).tolist()}
        every = list(sizes)
        names = [key[0] if len(self.by) == 1 else key for key in every]
        order = [(every[i], names[i]) for i in key_order(names)]
        self._keys: list[Key] = [key for key, _ in order if key in full]
        self.keys: Sequence[Any] = [name for key, name in order if key in full]
        self.empty = tuple(name for key, name in order if key not in full)
        self._numbers = {key: number for number, key in enumerate(self._keys)}
        owner = self.owners(answer)
        grouped = self._sums(answer, owner)
        first = zip(grouped.parts().values(), grouped.totals(), strict=True)
        counts = (
            np.bincount(owner[used], sums[name][used]).astype(np.int64).tolist()
            for name in ("rows", "forbidden")
        )
        self.sources = [
            EngineSource(self, number, *told)
            for number, told in enumerate(zip(first, *counts, strict=True))
        ]
        # Every group as finely as it has been seen so far.
        self._known = [source.first[0] for source in self.sources]

    @property
    def left_out(self) -> int:
        """How many rows of all groups lacked a score or an outcome."""
        return self._table.left_out

    def blocks(self) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of every group."""
        return [source.first for source in self.sources]

    def refine(self, wanted: Mapping[int, Blocks]) -> dict[int, Blocks]:
        """Return finer blocks for the groups numbered: distinct scores, unless there are too many.

        What an earlier look has brought is not asked for again.
        """
        unseen = {number: self._unseen(number, blocks) for number, blocks in wanted.items()}
        unseen = {number: blocks for number, blocks in unseen.items() if len(blocks)}
        if unseen:
            self._look_again(unseen)
        return {
            number: self._known[number].select(lie_within(self._known[number], blocks))
            for number, blocks in wanted.items()
        }

    def source(self, number: int) -> EngineSource:
        """Return one group by itself."""
        return self.sources[number]

    def in_order(self, numbers: Sequence[int]) -> dict[int, RowsInOrder]:
        """Fetch the rows of groups together, of as many as may leave the engine."""
        sizes = {number: self.sources[number].rows for number in numbers}
        fitting = self._table.budget.fitting(sizes)
        if fitting:
            answer = self._table.observations([self._keys[number] for number in fitting])
            owner, table = self.owners(answer), self._table
            order = np.argsort(owner, kind="stable")
            edges = np.searchsorted(owner[order], np.arange(len(self._keys) + 1))
            for number in fitting:
                found = chunk_of(answer, order[edges[number] : edges[number + 1]])
                self.sources[number].fetched = found
                # Nothing of these groups has to be looked into any more.
                known = self._known[number]
                finer = collapse(
                    *found[:3],
                    counted=self.counted,
                    moments=True,
                    outcome_weights=table.outcome_weights,
                )
                self._known[number] = known.replace(known.low >= 0, finer)
        return {number: self.sources[number].walk for number in fitting}

    def release(self) -> None:
        """Forget the rows that were fetched."""
        for source in self.sources:
            source.fetched = None

    def sums(self, asks: Sequence[SumsAsked]) -> list[KeySums]:
        """Answer questions about groups: those about clusters, or of one shift, in one query."""
        from secant.sources.engines.key_sums import key_sums  # noqa: PLC0415  (rarely asked for)

        return key_sums(self._table, self, asks)

    @property
    def n_rows(self) -> int:
        """How many rows have weight."""
        return sum(source.rows for source in self.sources)

    @property
    def counted(self) -> bool:
        """Whether weights count copies of rows."""
        return self._table.weight_kind == "frequency"

    # Grids ----------------------------------------------------------------------------------------

    def _first_grid(self, sizes: Mapping[Key, int]) -> nw.Expr:
        """Cut large groups finely and small ones coarsely: cells stay far fewer than rows."""
        if not self._table.by:
            return grid(budget.CELL_BITS)
        few = budget.TIES_UP_TO if self._table.equal_weights else 0
        ties = [key for key, size in sizes.items() if size <= few]
        large = [key for key, size in sizes.items() if size > max(few, rows.SORT_UP_TO)]
        small = [key for key, size in sizes.items() if few < size <= rows.SORT_UP_TO]
        classes = [(ties, SCORE)] if ties else []
        for some in filter(None, (large, small)):
            bits = first_bits([sizes[key] for key in some], len(sizes))
            classes.append((some, grid(bits)))
        return self._cut(classes)

    def _cut(self, classes: Sequence[tuple[Sequence[Key], nw.Expr]]) -> nw.Expr:
        """Cut the scores of each class of groups by an expression of its own."""
        (these, found), *rest = classes
        if not rest:
            return found
        others = [key for keys, _ in rest for key in keys]
        is_one = members(self._table, these, others)
        return nw.when(is_one).then(found).otherwise(self._cut(rest))

    def _finer_grid(self, unseen: Mapping[int, Blocks]) -> nw.Expr:
        """Cut at every distinct score, or more coarsely in the largest groups if they are many."""
        sizes = {number: int(blocks.n.sum()) for number, blocks in unseen.items()}
        spent = self._table.budget
        if sum(sizes.values()) <= spent.room:
            return SCORE
        small = smallest_first(sizes, spent.room / 2)
        large = [number for number in unseen if number not in small]
        held = sum(sizes[number] for number in large)
        cells = spent.cells(held, len(large))
        bits = finer_bits([unseen[number] for number in large], cells)
        if bits is None or held <= _FEW_ROWS_A_CELL * cells:
            return SCORE
        if not small:
            return grid(bits)
        pairs = ((large, grid(bits)), (small, SCORE))
        return self._cut([([self._keys[i] for i in numbers], by) for numbers, by in pairs])

    # Answers --------------------------------------------------------------------------------------

    def owners(self, answer: Answer) -> IntArray:
        """Return the number of each row's group in an answer, -1 where it has none here."""
        keys, codes = answer.coded(self._table.by)
        return np.array([self._numbers.get(key, -1) for key in keys], np.int64)[codes]

    def _sums(self, answer: Answer, owner: IntArray) -> Sums:
        table = self._table
        return Sums(answer.columns, owner, table.weight_kind, table.outcome_weights)

    # Looking again --------------------------------------------------------------------------------

    def _unseen(self, number: int, blocks: Blocks) -> Blocks:
        """Return the blocks of which nothing finer is known."""
        known = self._known[number]
        place = np.searchsorted(known.low, blocks.low)
        return blocks.select(known.high[place] == blocks.high)

    def _look_again(self, unseen: Mapping[int, Blocks]) -> None:
        anchor = self._finer_grid(unseen)
        # Rows beside those wanted: as many as fit where distinct scores come back, else a few.
        wanted = sum(int(part.n.sum()) for part in unseen.values())
        spare = max(0, self._table.budget.room - wanted) if anchor is SCORE else wanted // 4
        parts: dict[int, list[Blocks]] = {number: [] for number in unseen}
        within = () if anchor is SCORE else tuple(self.grids)
        for where, asked in conditions(self._table, self._keys, self._known, unseen, spare):
            ask = Ask(self._table.by, anchor, within, where)
            answer = self._table.sums("looking into cells", ask)[0]
            for number, blocks in self._sums(answer, self.owners(answer)).parts().items():
                if number in asked:
                    parts[number].append(blocks.select(lie_within(blocks, unseen[number])))
        for number, blocks in unseen.items():
            if not parts[number]:
                raise changed(0, int(blocks.n.sum()))
            known = self._known[number]
            self._known[number] = known.replace(
                lie_within(known, blocks), concatenate(parts[number])
            )
        if anchor is not SCORE:
            self.grids.append(anchor)


class EngineSource(Source):
    """One group of an engine's table, or all of it.

    Attributes
    ----------
    first
        What the first look brought: blocks that hold every observation, and the sums over them.
    rows
        How many rows have weight, each of which is one row to bring back however many it counts as.
    fetched
        The rows, where they were allowed to leave the engine.
    """

    sampling, left_out, forbidden = False, 0, Forbidden(0, ())

    def __init__(
        self,
        groups: EngineGroups,
        number: int,
        first: tuple[Blocks, Totals],
        rows: int,
        forbidden: int,
    ) -> None:
        self._groups, self._number = groups, number
        self.first, self.rows = first, rows
        self.forbidden = Forbidden(forbidden, ())  # rows of a table have no numbers
        self.sampling, self.left_out = groups.sampling, 0 if groups.by else groups.left_out
        self.fetched: Chunk | None = None

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:  # noqa: ARG002  (always)
        """Return blocks that hold every observation, and the sums over all of them."""
        return self.first

    def refine(self, blocks: Blocks) -> Blocks:
        """Cut blocks finer, into distinct scores unless there are too many."""
        return self._groups.refine({self._number: blocks})[self._number]

    def in_order(self) -> RowsInOrder | None:
        """Fetch all rows, if they may leave the engine."""
        return self._groups.in_order([self._number]).get(self._number)

    def walk(self) -> list[PathRows]:
        """Return the rows that were fetched, in the order of the path."""
        found = self.fetched
        assert found is not None  # noqa: S101
        if self._groups.counted:
            found = rows.copied(found)
        keys = (found.scores,) if found.weights is None else (found.weights, found.scores)
        return [PathRows(*pick(found, np.lexsort(keys))[:3])]

    def release(self) -> None:
        """Forget the rows that were fetched."""
        self._groups.release()

    def sums(self, asks: Sequence[SumsAsked]) -> list[KeySums]:
        """Answer questions about this group."""
        return self._groups.sums([ask._replace(group=self._number) for ask in asks])

    def steps(self) -> tuple[float, ...] | None:
        """Return the largest possible steps if the rows were fetched."""
        if self.fetched is None:
            return None
        return row_totals(
            self.fetched,
            self.fetched.scores * (1 - self.fetched.scores),
            sampling=self.sampling,
            outcome_weights=self._groups.outcome_weights,
        ).steps


def chunk_of(rows: Answer, which: Any = slice(None)) -> Chunk:
    """Return the scores, responses and weights of rows, or of some of them."""
    columns = rows.columns
    weights = columns["weight"][which] if "weight" in columns else None
    return Chunk(columns["score"][which], (columns["label"][which] == 1).astype(np.int64), weights)


def check(answer: Answer, table: Table, columns: Columns) -> None:
    """Refuse rows that cannot be used, and tables without any that can."""
    sums = answer.columns
    if not sums["rows"].size:
        raise InputError(NO_ROWS)
    unused = sums["anchor"] < 0
    codes = sums["anchor"][unused].astype(np.int64)
    found = {int(code): int(sums["rows"][unused][codes == code].sum()) for code in np.unique(codes)}
    found.pop(WEIGHTLESS, None)
    table.refuse(found)
    if unused.all():
        weight = columns.sample_weight
        is_zero = ") is zero in every row"
        raise InputError(f"column {weight!r} (", Argument("sample_weight"), is_zero, column=weight)
    # An engine may take it from a file's statistics, which leave NaN out, that there is none.
    if "w" in sums and not np.isfinite(sums["w"][~unused]).all():
        weight, lost = columns.sample_weight, ") holds values that are not numbers; "
        drops = f"secant drops no rows{FILTER}"
        raise InputError(
            f"column {weight!r} (", Argument("sample_weight"), lost, drops, column=weight
        )
    minus, other = int(sums["minus"].sum()), int((sums["rows"] - sums["n1"])[~unused].sum())
    if 0 < minus < other:
        both = f") holds both -1 ({minus:,}) and 0 ({other - minus:,}); outcomes must be 0 and 1, "
        both += "or -1 and 1"
        outcome = columns.y_true
        raise InputError(f"column {outcome!r} (", Argument("y_true"), both, column=outcome)
    if table.weight_kind == "frequency":
        counted(float(sums["w"][~unused].sum()))
