"""Which rows to ask an engine for, in words that engines understand quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from secant.sources.engines.expressions import SCORE, any_of
from secant.sources.engines.runs import listed, listed_bits, runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from secant._blocks.table import Blocks
    from secant.sources.engines.queries import Table

    Key = tuple[Any, ...]

__all__ = ["conditions", "members"]

# Ranges of scores named in one query: engines take seconds to understand hundreds.
RANGES_A_QUERY = 64
# More of them are written as a list of cells, so many in one query.
LISTED_A_QUERY = 1 << 13
# Groups of so few rows are fetched whole, which spares naming ranges.
WHOLE_UP_TO = 1 << 12
# More than the last digit of a double, in proportion.
_DIGIT = 2.0**-50
# A list of cells may bring so many times the rows wanted.
_SUPERFLUOUS = 4


def conditions(
    table: Table, keys: Sequence[Key], known: Sequence[Blocks], wanted: Mapping[int, Blocks]
) -> Sequence[nw.Expr | None]:
    """Return which rows to look at: one condition for each query, None for all rows.

    The rows wanted are among them, in one query if possible, and not many others.

    Parameters
    ----------
    table
        The rows.
    keys, known
        The groups, and how finely each has been seen so far.
    wanted
        Blocks to look into, by the number of their group.
    """
    whole: list[int] = []
    ranges: list[tuple[int, float, float]] = []
    for number, blocks in wanted.items():
        low, high, held = runs(blocks, known[number])
        size = int(known[number].n.sum())
        if size <= WHOLE_UP_TO or 2 * held > size:
            whole.append(number)
        else:
            ranges += [(number, *ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
    if len(whole) == len(keys):
        return [None]
    queries: list[nw.Expr] = []
    if len(ranges) > RANGES_A_QUERY:
        parts = {number: wanted[number] for number, _, _ in ranges}
        queries += _in_lists(table, keys, known, parts)
    if not queries:
        for start in range(0, len(ranges), RANGES_A_QUERY):
            some = ranges[start : start + RANGES_A_QUERY]
            queries.append(any_of(_in_ranges(table, keys, some)))
    if whole:
        others = [key for number, key in enumerate(keys) if number not in set(whole)]
        is_whole = members(table, [keys[number] for number in whole], others)
        queries[:1] = [any_of([is_whole, *queries[:1]])]
    return queries


def members(table: Table, these: Sequence[Key], others: Sequence[Key]) -> nw.Expr:
    """Tell these groups from others, by whichever list is shorter."""
    if len(others) < len(these):
        return ~table.members(others) if others else nw.lit(value=True)
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
    table: Table, keys: Sequence[Key], known: Sequence[Blocks], wanted: Mapping[int, Blocks]
) -> list[nw.Expr]:
    """Tell whether a row is in one of many cells; nothing if these hold too many other rows."""
    bits = listed_bits(list(wanted.values()))
    cells: list[tuple[Key, float]] = []
    held = 0
    for number, blocks in wanted.items():
        found, rows = listed(blocks, known[number], bits)
        cells += [(keys[number], cell) for cell in found.tolist()]
        held += rows
    needed = sum(int(blocks.n.sum()) for blocks in wanted.values())
    if held > _SUPERFLUOUS * needed + WHOLE_UP_TO * len(wanted):
        return []
    return [
        table.in_cells(cells[start : start + LISTED_A_QUERY], bits)
        for start in range(0, len(cells), LISTED_A_QUERY)
    ]
