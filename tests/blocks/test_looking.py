"""Many observations, few events: what is looked at again, and how often."""

import tracemalloc

import numpy as np
import pytest

import secant
from helpers import optional
from secant._blocks import kernels
from secant._blocks.sorting import Sorting
from secant._blocks.table import collapse, merge
from secant._inference import walk
from secant._input.observations import observations
from secant.sources import rows


@pytest.fixture
def looks(monkeypatch):
    """Return a list that grows with every walk over the rows."""
    seen = []
    walk = rows.RowSource._feed

    def counted(self, taker):
        seen.append(taker)
        walk(self, taker)

    monkeypatch.setattr(rows.RowSource, "_feed", counted)
    return seen


def rare(seed, n, expected=30):
    rng = np.random.default_rng(seed)
    scores = rng.beta(1, n / expected, n)
    return rng.random(n) < scores, scores


@pytest.mark.parametrize("n", [70_000, 1 << 18])
def test_only_blocks_where_pools_end_are_looked_into(looks, n):
    """One look at all rows, one for pieces where some are needed, one for ties."""
    found = secant.assess(*rare(0, n))
    assert found.ecce_mad.method == "upper bound"
    assert len(looks) <= 3
    assert found._blocks.open.any()
    assert len(found._blocks) < 70_000  # what is kept does not grow with the rows


@pytest.mark.parametrize("n", [1 << 17, 1 << 19])
def test_memory_of_arrays_is_a_sort_of_their_scores(n):
    """Eight bytes a row to put them in order, as many for compiled code, and what does not grow."""
    happened, scores = rare(4, n, expected=3)
    tracemalloc.start()
    secant.assess(happened, scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * n + 60e6


def test_memory_of_files_does_not_grow(tmp_path, monkeypatch):
    """Where they have more rows than are held."""
    pa, pq = optional("pyarrow"), optional("pyarrow.parquet")
    monkeypatch.setattr(rows, "RUN", 1 << 16)
    monkeypatch.setattr("secant.sources.files.held.HOLD", 1 << 16)
    peaks = []
    for n in (1 << 19, 1 << 20):  # enough to fill the cells that blocks begin with
        happened, scores = rare(5, n, expected=3)
        path = tmp_path / f"{n}.parquet"
        pq.write_table(pa.table({"y": happened.astype(np.int8), "p": scores}), path)
        tracemalloc.start()
        secant.assess("y", "p", data=path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 60e6
    assert peaks[1] < 1.25 * peaks[0]


def test_every_tie_takes_a_look_for_so_many_rows(looks, monkeypatch):
    monkeypatch.setattr(rows, "SORT_UP_TO", 1 << 14)
    monkeypatch.setattr(walk, "log10_pvalues", lambda tables, _: np.zeros((len(tables), 2)))
    data = rare(1, 60_000)
    wanted = secant.assess(*data, method="exact")
    assert len(looks) == 2  # all rows, then ties
    assert not wanted._blocks.open.any()
    monkeypatch.setattr(rows, "COLLECT_UP_TO", 20_000)
    monkeypatch.setattr(rows, "COLLECT_AT_MOST", 20_000)
    looks.clear()
    found = secant.assess(*data, method="exact")
    assert 2 < len(looks) <= 2 + 1 + 60_000 // 10_000
    for name in ("low", "high", "n0", "n1"):
        assert np.array_equal(getattr(found._blocks, name), getattr(wanted._blocks, name))


def test_p_values_do_not_depend_on_the_order_of_rows():
    happened, scores = rare(2, 300_000)
    order = np.random.default_rng(3).permutation(300_000)
    one, two = secant.assess(happened, scores), secant.assess(happened[order], scores[order])
    for name in ("ecce_r", "ecce_mad"):
        first, second = getattr(one, name), getattr(two, name)
        assert first.method == second.method
        # Cells end elsewhere, and their variance is that of their mean scores.
        assert first.log10_pvalue == pytest.approx(second.log10_pvalue, abs=1e-7)


# Just below and just above every constant ---------------------------------------------------------


def in_blocks(scores, size, sample=None):
    """Return rows as a source, and blocks of so many neighbouring ones, none of which is a tie."""
    happened = np.arange(scores.size) % 2 == 0
    source = rows.RowSource(observations(happened, scores))
    if sample is not None:
        source.__dict__["_sample"] = sample
    ties = collapse(np.sort(scores), happened[np.argsort(scores)].astype(np.int64), None)
    first = np.searchsorted(ties.low, np.sort(scores)[::size])
    return source, merge(ties, np.unique(first))


@pytest.mark.parametrize(("n", "grain"), [(5 * 64 - 1, 4), (5 * 64, 5), (6 * 64 - 1, 5)])
def test_a_heavy_block_becomes_about_so_many_pieces(n, grain, monkeypatch):
    """And each is cut once more where the path is highest in it, and where it is lowest."""
    monkeypatch.setattr(rows, "PIECES", 64)
    monkeypatch.setattr(rows, "COLLECT_UP_TO", 0)
    monkeypatch.setattr(rows, "COLLECT_SHARE", 0)
    source, blocks = in_blocks(np.linspace(0.1, 0.9, n), n)
    finer = source.refine(blocks)
    pieces = -(-n // grain)
    assert pieces <= len(finer) <= 3 * pieces
    assert finer.n.max() <= grain
    assert finer.n.sum() == n


@pytest.mark.parametrize(("often", "apart"), [(rows._COMMON - 1, False), (rows._COMMON, True)])
def test_a_score_that_is_often_in_the_sample_is_counted_and_not_sorted(often, apart, monkeypatch):
    collected = []
    add = Sorting.add
    monkeypatch.setattr(
        Sorting, "add", lambda self, chunk: collected.append(chunk.scores.size) or add(self, chunk)
    )
    scores = np.append(np.full(500, 0.3), np.linspace(0.1, 0.9, 101))
    sample = np.sort(np.append(np.full(often, 0.3), [0.2, 0.5]))
    source, blocks = in_blocks(scores, scores.size, sample)
    finer = source.refine(blocks)
    assert sum(collected) == (101 if apart else 601)
    assert len(finer) == np.unique(scores).size
    assert finer.n.max() == 500


@pytest.mark.parametrize(("more", "light"), [(0, 1000), (1, 250)])
def test_of_more_rows_than_are_sorted_at_once_a_quarter_become_ties(more, light, monkeypatch):
    monkeypatch.setattr(rows, "COLLECT_UP_TO", 1000)
    monkeypatch.setattr(rows, "COLLECT_SHARE", 0)
    monkeypatch.setattr(rows, "PIECES", 8)
    source, blocks = in_blocks(np.linspace(0.1, 0.9, 1000 + 10 * more), 10)
    finer = source.refinement(blocks)
    assert blocks.n[finer._grain == 1].sum() == light


@pytest.mark.parametrize("more", [-1, 1])
def test_a_metric_of_many_rows_alone_takes_two_passes(more, monkeypatch):
    """One over all rows, and one that collects those near the extremes."""
    optional("numba")
    passes = []
    share_out = kernels.share_out
    monkeypatch.setattr(
        kernels, "share_out", lambda n, *rest: passes.append(n) or share_out(n, *rest)
    )
    monkeypatch.setattr(kernels, "should_use_numba", lambda *_, **__: True)
    n = rows.SORT_UP_TO + more
    p = np.random.default_rng(6).random(n)
    secant.ecce_r(np.random.default_rng(7).random(n) < p, p)
    assert passes == ([] if more < 0 else [n, n])
