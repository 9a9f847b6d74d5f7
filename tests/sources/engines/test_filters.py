"""How many queries a look takes, just below and above every constant."""

import numpy as np
import pytest

from helpers import optional
from secant._blocks.table import Blocks
from secant._input.columns import named_columns
from secant._input.options import Reading

nw = optional("narwhals")

from secant.sources.engines import filters  # noqa: E402  (it loads narwhals)
from secant.sources.engines.filters import conditions  # noqa: E402  (the same)
from secant.sources.engines.queries import Table as EngineTable  # noqa: E402  (the same)

# A thousand blocks that end inside cells of any width, of 5,000 rows each.
N = 1000
EDGES = (np.arange(N + 1) + 0.3) / (N + 1)


class Table:
    """Takes note of the lists it is asked for."""

    def __init__(self):
        self.lists = []

    def in_cells(self, named, bits):
        self.lists.append((len(named), bits))
        return nw.col("cell") > 0

    def members(self, keys):
        return nw.col("key").is_in([key for (key,) in keys])


def blocks(some=slice(None)):
    low, high = EDGES[:-1][some], EDGES[1:][some]
    n = np.full(len(low), 2500)
    half = n * (low + high) / 2
    return Blocks(low=low, high=high, n0=n, n1=n, w0=n, w1=n, down=half, up=n - half)


def asked(ranges, spare=0.0):
    """Return how many queries there are for so many ranges, and how many cells each list has."""
    table = Table()
    wanted = blocks(slice(0, 3 * ranges, 3))
    found = conditions(table, [()], [blocks()], {0: wanted}, spare)
    assert all(list(numbers) == [0] for _, numbers in found)
    return len(found), [count for count, _ in table.lists]


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(filters, "RANGES_A_QUERY", 10)


@pytest.mark.parametrize("ranges", [1, 9, 10])
def test_few_ranges_take_one_query(ranges):
    assert asked(ranges) == (1, [])


@pytest.mark.parametrize("queries", [2, 4])
@pytest.mark.parametrize("more", [0, 1])
def test_ranges_take_several_queries_up_to_a_limit(queries, more, monkeypatch):
    monkeypatch.setattr(filters, "QUERIES_A_LOOK", queries)
    # Lists of cells as coarse as these would bring other rows, of which none may come.
    found, lists = asked(10 * queries + more)
    if more:
        assert (found, len(lists)) == (1, 1)
    else:
        assert (found, lists) == (queries, [])


def test_a_list_holds_so_many_cells_and_no_more(monkeypatch):
    _, (cells,) = asked(300)
    assert cells > 300
    monkeypatch.setattr(filters, "_CELLS_A_BLOCK", 1)  # as few as there can be: two a block
    _, (cells,) = asked(300)
    assert 300 < cells <= 600
    for most, queries in ((cells, 1), (cells - 1, 2), (-(-cells // 3), 3)):
        monkeypatch.setattr(filters, "LISTED_A_QUERY", most)
        found, lists = asked(300)
        assert found == len(lists) == queries
        assert max(lists) <= most
        assert sum(lists) == cells


def test_groups_that_are_written_alike_are_not_told_apart_by_the_other():
    polars = optional("polars")
    one, other = ("a,b", "c"), ("a", "b,c")
    made = {"y": [0, 1] * 4, "p": [0.5] * 8}
    made |= {"g": ["a,b", "a", "x", "z"] * 2, "h": ["c", "b,c", "y", "w"] * 2}
    columns = named_columns("y", "p", by=["g", "h"], reading=Reading())
    table = EngineTable(nw.from_native(polars.LazyFrame(made)), columns)
    these = [key for key in table.sizes() if key != other]
    found = table.rows.filter(filters.members(table, these, [other])).collect()
    assert set(these) <= set(zip(found["by0"].to_list(), found["by1"].to_list(), strict=True))
    assert one in these


@pytest.mark.parametrize(("size", "whole"), [(0, True), (1, False)])
def test_small_groups_are_fetched_whole(size, whole, monkeypatch):
    monkeypatch.setattr(filters, "WHOLE_UP_TO", 5000 * N - size)
    table = Table()
    found = conditions(table, [()], [blocks()], {0: blocks(slice(0, 3))})
    assert (found[0][0] is None) == whole
