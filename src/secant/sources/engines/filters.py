"""Which rows to ask an engine for, in words that engines understand quickly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import narwhals as nw

from secant.sources.engines.expressions import SCORE, any_of
from secant.sources.engines.runs import listed, listed_bits, runs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from secant._blocks.table import Blocks
    from secant.sources.engines.queries import Table

    Key = tuple[Any, ...]

__all__ = ["conditions", "members"]

# Ranges of scores named in one query: engines take seconds to understand hundreds.
RANGES_A_QUERY = 64
# More of them are written as a list of cells, so many in one query.
LISTED_A_QUERY = 1 << 15
# Narrow cells bring few other rows, and take long to write.
_CELLS_A_BLOCK = 4
# Where ranges would take more queries than these, lists do, however many other rows they bring.
QUERIES_A_LOOK = 4
# Groups of so few rows are fetched whole, which spares naming ranges; so are those of which more
# than this share is wanted.
WHOLE_UP_TO = 1 << 12
WHOLE_FROM = 0.5
# More than the last digit of a double, in proportion.
_DIGIT = 2.0**-50
# Ranges are joined over gaps that hold so few rows, or as many as are wanted anyway.
SPARE_ROWS = 1 << 12


def conditions(
    table: Table,
    keys: Sequence[Key],
    known: Sequence[Blocks],
    wanted: Mapping[int, Blocks],
    spare: float = math.inf,
) -> Sequence[tuple[nw.Expr | None, Collection[int]]]:
    """Return which rows to look at: a condition for each query, None for all rows, and of whom.

    The rows wanted of those groups are among them, in one query if possible, and not many others;
    rows of other groups are none of its business.

    Parameters
    ----------
    table
        The rows.
    keys, known
        The groups, and how finely each has been seen so far.
    wanted
        Blocks to look into, by the number of their group.
    spare
        How many other rows may be among them.
    """
    whole: list[int] = []
    ranges: list[tuple[int, float, float]] = []
    beside = {i: int(known[i].n.sum()) - int(blocks.n.sum()) for i, blocks in wanted.items()}
    for number in sorted(wanted, key=beside.__getitem__):
        blocks, size = wanted[number], int(known[number].n.sum())
        most = min(spare / len(wanted), max(size - beside[number], SPARE_ROWS))
        low, high, held = runs(blocks, known[number], most)
        if (size <= WHOLE_UP_TO or held > WHOLE_FROM * size) and beside[number] <= spare:
            whole.append(number)
            spare -= beside[number]
        else:
            ranges += [(number, *ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
    queries: list[tuple[nw.Expr, Collection[int]]] = []
    if len(ranges) > RANGES_A_QUERY:
        parts = {number: wanted[number] for number, _, _ in ranges}
        few = len(ranges) <= QUERIES_A_LOOK * RANGES_A_QUERY
        queries += _in_lists(table, keys, known, parts, spare if few else math.inf)
    if not queries:
        for start in range(0, len(ranges), RANGES_A_QUERY):
            some = ranges[start : start + RANGES_A_QUERY]
            numbers = {number for number, _, _ in some}
            queries.append((any_of(_in_ranges(table, keys, some)), numbers))
    if len(whole) == len(keys):
        return [(None, whole)]
    if whole:
        others = [key for number, key in enumerate(keys) if number not in set(whole)]
        is_whole = members(table, [keys[number] for number in whole], others)
        named = [expression for expression, _ in queries[:1]]
        asked = {*whole, *(number for _, numbers in queries[:1] for number in numbers)}
        queries[:1] = [(any_of([is_whole, *named]), asked)]
    return queries


def members(table: Table, these: Sequence[Key], others: Sequence[Key]) -> nw.Expr:
    """Tell these groups from others, by whichever list is shorter."""
    if not others:
        return nw.lit(value=True)
    if len(others) < len(these) and not table.alike(these, others):
        return ~table.members(others)
    return table.members(these)


def _in_ranges(
    table: Table, keys: Sequence[Key], ranges: Sequence[tuple[int, float, float]]
) -> Iterator[nw.Expr]:
    """Tell whether a row is in one of some ranges, each of one group."""
    for number in dict.fromkeys(number for number, _, _ in ranges):
        ends = [(low, high) for owner, low, high in ranges if owner == number]
        # A little wider: not every engine reads the last digit of a number as it is written.
        inside = any_of(
            SCORE.is_between(low * (1 - _DIGIT), high * (1 + _DIGIT)) for low, high in ends
        )
        yield table.member(keys[number]) & inside if keys[number] else inside


def _in_lists(
    table: Table,
    keys: Sequence[Key],
    known: Sequence[Blocks],
    wanted: Mapping[int, Blocks],
    spare: float,
) -> list[tuple[nw.Expr, Collection[int]]]:
    """Tell whether a row is in one of many cells; nothing if these hold too many other rows."""
    most = min(_CELLS_A_BLOCK * sum(len(blocks) for blocks in wanted.values()), LISTED_A_QUERY)
    bits = listed_bits(list(wanted.values()), most)
    cells: list[tuple[int, float]] = []
    held = 0
    for number, blocks in wanted.items():
        found, rows = listed(blocks, known[number], bits)
        cells += [(number, cell) for cell in found.tolist()]
        held += rows
    needed = sum(int(blocks.n.sum()) for blocks in wanted.values())
    if held > needed + spare:
        return []
    queries: list[tuple[nw.Expr, Collection[int]]] = []
    for start in range(0, len(cells), LISTED_A_QUERY):
        some = cells[start : start + LISTED_A_QUERY]
        named = [(keys[number], cell) for number, cell in some]
        queries.append((table.in_cells(named, bits), {number for number, _ in some}))
    return queries
