"""Many observations, few events: the limit is not to be trusted, and sorting everything is dear."""

import tracemalloc

import numpy as np
import pytest

import secant
from secant import _pvalues
from secant._finite import certified_mad, certified_r
from secant._input import observations
from secant.sources import rows


@pytest.fixture
def small_scale(monkeypatch):
    """Let a few thousand rows be too many."""
    monkeypatch.setattr(rows, "SORT_UP_TO", 500)
    monkeypatch.setattr(rows, "SORT_WHOLE", 1000)
    monkeypatch.setattr(_pvalues, "_TOO_MANY_ROWS", 1000)
    monkeypatch.setattr(_pvalues, "_MANY_SCORES", 100)


def rare(rng, n, expected=10):
    scores = rng.beta(1, n / expected, n)
    return rng.random(n) < scores, scores


def test_p_values_are_those_of_the_metric_at_the_ends_of_cells(small_scale):
    happened, scores = rare(np.random.default_rng(0), 5000)
    found = secant.assess(happened, scores)
    source = rows.RowSource(observations(happened, scores))
    cells, _ = source.blocks()
    assert 100 < len(cells) < 5000
    # What is in each cell, counted from the rows.
    cell = np.searchsorted(cells.low, scores, side="right") - 1
    n, n1 = np.bincount(cell), np.bincount(cell, happened).astype(int)
    mean = np.bincount(cell, scores) / n
    for statistic, law in ((found.ecce_r, certified_r), (found.ecce_mad, certified_mad)):
        assert statistic.method in {"certified on cells", "exact on cells"}
        assert statistic.log10_pvalue == pytest.approx(law(mean, n, n1).high, abs=1e-9)


def test_they_are_near_those_that_know_every_score(small_scale, monkeypatch):
    happened, scores = rare(np.random.default_rng(1), 20_000)
    coarse = secant.assess(happened, scores)
    monkeypatch.setattr(_pvalues, "_TOO_MANY_ROWS", 1 << 60)
    fine = secant.assess(happened, scores)
    assert fine.ecce_mad.method in {"exact", "certified"}
    assert coarse.ecce_mad.pvalue == pytest.approx(fine.ecce_mad.pvalue, rel=0.03)
    assert coarse.ecce_r.value == pytest.approx(fine.ecce_r.value, abs=1e-15)


def test_they_hold_their_level(small_scale):
    rng = np.random.default_rng(2)
    _, scores = rare(rng, 3000)
    found = [secant.assess(rng.random(3000) < scores, scores) for _ in range(400)]
    for level in (0.05, 0.2):
        allowed = level + 3 * np.sqrt(level * (1 - level) / len(found))
        for name in ("ecce_r", "ecce_mad"):
            assert np.mean([getattr(each, name).pvalue <= level for each in found]) <= allowed


def test_memory_and_looks_are_few(monkeypatch):
    looks = []
    walk = rows.RowSource._feed
    monkeypatch.setattr(
        rows.RowSource, "_feed", lambda self, taker: looks.append(1) or walk(self, taker)
    )
    happened, scores = rare(np.random.default_rng(3), 400_000, expected=30)
    tracemalloc.start()
    found = secant.assess(happened, scores)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.ecce_r.method == "certified on cells"
    assert len(looks) == 2
    assert peak < 64e6


def test_all_rows_are_resolved_in_one_look(monkeypatch):
    happened, scores = rare(np.random.default_rng(4), 100_000, expected=30)
    looks = []
    walk = rows.RowSource._feed
    monkeypatch.setattr(
        rows.RowSource, "_feed", lambda self, taker: looks.append(1) or walk(self, taker)
    )
    assert secant.assess(happened, scores).ecce_mad.method in {"exact", "certified"}
    assert len(looks) == 2


def test_asked_by_name_every_score_is_looked_at(small_scale):
    happened, scores = rare(np.random.default_rng(5), 2000)
    assert secant.assess(happened, scores, method="exact").ecce_mad.method == "exact"
