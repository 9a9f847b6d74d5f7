"""Sign flips: against all patterns of signs, and what must not change the answer."""

import itertools
import math
import sys
from dataclasses import replace

import numpy as np
import pytest

from secant import null
from secant._blocks.key_sums import ENDS, KeySums, pooled
from secant._blocks.table import collapse
from secant._inference import clusters, limits
from secant._inference.clusters import FEW, FEWEST, Flips, flip, plan
from secant._inference.draws import PValue
from secant._inference.limits import half_width, interval
from secant._input.observations import observations
from secant.sources.rows import RowSource


def some(n_clusters, rows=5, seed=0, cells=12):
    """Return sums of random rows in a few cells."""
    rng = np.random.default_rng(seed)
    n = n_clusters * rows
    score = (rng.integers(0, cells, n) + 0.5) / cells
    label = rng.random(n) < score
    cell = (score * cells).astype(np.int64)
    one = np.ones(n, np.int64)
    cluster = np.repeat(np.arange(n_clusters), rows)
    return pooled(KeySums(cluster, cell, one, label - score, score, score * (1 - score))), n


def one_cell(gain, n=1):
    """Return the sums of clusters that lie in one cell."""
    each, ones = np.arange(len(gain)), np.ones(len(gain))
    return KeySums(each, 0 * each, 0 * each + n, gain, ones * n / 2, ones * n / 4)


def all_patterns(sums):
    """Return range and largest deviation for every pattern of signs, the observed one first."""
    found = []
    for signs in itertools.product([1.0, -1.0], repeat=int(sums.key.max()) + 1):
        steps = np.bincount(sums.cell, np.array(signs)[sums.key] * sums.gain)
        path = np.concatenate([[0.0], np.cumsum(steps)])
        found.append((path.max() - path.min(), np.abs(path).max()))
    return np.array(found)


@pytest.mark.parametrize("seed", range(4))
def test_drawn_pvalues_and_quantiles_are_those_of_all_patterns_of_signs(seed, monkeypatch):
    monkeypatch.setattr(clusters, "FEWEST", 2)
    monkeypatch.setattr(clusters, "ENOUGH", 10**9)
    sums, weight = some(11, seed=seed)
    every = all_patterns(sums)
    share = (every >= every[0] - 1e-9).mean(axis=0)
    found = flip(sums, weight, clusters.Plan(20_000, 20_000, 0))
    assert found.n_clusters == 11
    assert [10**found.r.log10, 10**found.mad.log10] == pytest.approx(share, abs=0.016)  # 4.5 sigma
    for law, column in ((null.range, every[:, 0]), (null.mad, every[:, 1])):
        for alpha in (0.3, 0.05):
            drawn = found.quantile(law, alpha) * weight
            above, below = (column > drawn + 1e-9).mean(), (column >= drawn - 1e-9).mean()
            assert above - 0.015 <= alpha <= below + 0.015


def test_ties_in_range_count_as_extreme():
    """Twenty clusters of one direction, one apart: 2 of 2^20 patterns go as far."""
    np.arange(20)
    np.ones(20, np.int64)
    found = flip(one_cell(np.full(20, 0.1)), 20.0, plan(1, 0.95))
    assert found.r.log10 == -3.0
    assert found.ranges[-1] <= 0.1 + 1e-12


def test_one_cluster_that_varies_tells_nothing():
    each = np.arange(20)
    np.ones(20, np.int64)
    alone = one_cell(np.where(each == 7, 0.5, 0.0))
    found = flip(alone, 20.0, plan(1, 0.95))
    assert (found.r.log10, found.mad.log10) == (0.0, 0.0)


def relabelled(sums, seed=5):
    names = np.random.default_rng(seed).permutation(1000)[sums.key]
    order = np.random.default_rng(seed).permutation(names.size)
    return KeySums(*(column[order] for column in sums._replace(key=names)))


@pytest.mark.parametrize("weighted", [False, True])
def test_neither_names_nor_order_change_anything(weighted):
    sums, weight = some(60, seed=2)
    if weighted:
        factor = np.random.default_rng(1).lognormal(size=sums.gain.size)
        sums = sums._replace(gain=sums.gain * factor)
    ours, theirs = (flip(each, weight, plan(1, 0.95)) for each in (sums, relabelled(sums)))
    assert (ours.r, ours.mad) == (theirs.r, theirs.mad)
    np.testing.assert_allclose(ours.ranges, theirs.ranges, rtol=1e-12)


def test_copies_of_rows_within_clusters_change_the_flips_not_at_all():
    sums, weight = some(60, seed=2)
    copied = sums._replace(n=3 * sums.n, gain=3 * sums.gain)
    ours, theirs = flip(sums, weight, plan(1, 0.95)), flip(copied, 3 * weight, plan(1, 0.95))
    assert (ours.r, ours.mad) == (theirs.r, theirs.mad)
    np.testing.assert_allclose(ours.ranges, theirs.ranges, rtol=1e-12)


def test_draws_do_not_depend_on_how_many_are_made_at_once(monkeypatch):
    sums, weight = some(70, seed=4)
    ours = flip(sums, weight, plan(1, 0.95))
    monkeypatch.setattr(clusters, "_TOGETHER", 7)
    theirs = flip(sums, weight, plan(1, 0.95))
    assert ours.r == theirs.r
    np.testing.assert_allclose(ours.ranges, theirs.ranges, rtol=1e-12)


def test_more_draws_where_tests_are_many_or_levels_small():
    assert plan(1, 0.95)[:2] == (999, 999)
    assert plan(1, 0.99)[:2] == (2000, 2000)
    assert plan(41, 0.95)[:2] == (999, 16_400)
    assert plan(41, 0.95).limit == clusters.BUDGET // 16_400


def test_a_clear_finding_among_many_tests_is_drawn_to_the_end():
    np.arange(30)
    np.ones(30, np.int64)
    found = flip(one_cell(np.full(30, 0.5)), 30.0, plan(41, 0.95))
    assert found.r.draws == 16_400
    assert found.r.log10 == math.log10(1 / 16_401)
    assert found.ranges.size == 999
    assert not found.cut_short


def test_draws_beyond_patience_are_not_made_and_that_is_said(monkeypatch):
    monkeypatch.setattr(clusters, "BUDGET", 30 * 2000 // 8)
    np.arange(30)
    np.ones(30, np.int64)
    found = flip(one_cell(np.full(30, 0.5)), 30.0, plan(41, 0.95))
    assert found.r.draws == 2000
    assert found.cut_short
    assert any("2,000 draws" in line for line in clusters.warnings(found))


@pytest.mark.parametrize(
    ("count", "told"), [(FEWEST - 1, "fewer than 20"), (FEWEST, "approximate")]
)
def test_nineteen_clusters_are_too_few_and_twenty_are_not(count, told):
    sums, weight = some(count)
    found = flip(sums, weight, plan(1, 0.95))
    assert found.too_few == (count < FEWEST)
    (line,) = clusters.warnings(found)
    assert told in line
    assert f"{count} clusters" in line
    if found.too_few:
        assert (found.r.log10, found.quantile(null.range, 0.05)) == (0.0, math.inf)
        assert clusters.pvalues(found, totals_of(9, 0.5), None) == (PValue(0.0, "exact"),) * 2


@pytest.mark.parametrize("count", [FEW - 1, FEW])
def test_fewer_than_fifty_are_called_approximate(count):
    found = flip(*some(count), plan(1, 0.95))
    assert len(list(clusters.warnings(found))) == (count < FEW)


@pytest.mark.parametrize(("outbreaks", "told"), [(5, True), (30, False)])
def test_a_few_clusters_that_decide_are_told_of(outbreaks, told):
    each = np.arange(60)
    gain = np.where(each < outbreaks, 10.0, -0.1)
    found = flip(one_cell(gain, 200), 12000.0, plan(1, 0.95))
    assert ("A few clusters" in " ".join(clusters.warnings(found))) == told
    mirrored = flip(one_cell(-gain, 200), 12000.0, plan(1, 0.95))
    assert mirrored.skew == -found.skew


def made(**changed):
    drawn = np.arange(1.0, 1000.0)
    usual = {
        "n_clusters": 60,
        "r": PValue(math.log10(0.03), "simulated", 999),
        "mad": PValue(math.log10(0.3), "simulated", 333),
    }
    return Flips(**{**usual, "ranges": drawn, "deviations": drawn / 2, **changed})


def test_quantiles_are_order_statistics_and_scaled_beyond_the_last_ones():
    flips = made()
    assert flips.quantile(null.range, 0.05) == 950
    assert flips.quantile(null.mad, 0.05) == 475
    assert flips.quantile(null.range, 0.01) == 990
    ratio = limits.critical(null.range, 0.001) / limits.critical(null.range, 0.01)
    assert flips.quantile(null.range, 0.001) == pytest.approx(990 * ratio, rel=1e-12)
    assert flips.mean(null.mad) == 250


def totals_of(n, score):
    return RowSource(observations(np.zeros(n), np.full(n, score))).blocks()[1]


INDEPENDENT = PValue(-3.0, "upper bound"), PValue(-0.2, "exact")


@pytest.mark.parametrize(("n", "enough"), [(1599, False), (1601, True)])
def test_flips_alone_decide_where_events_are_many(n, enough):
    """V = n / 4 passes 400 in between."""
    totals = totals_of(n, 0.5)
    assert clusters.suffice(totals) == enough
    r, mad = clusters.pvalues(made(), totals, None if enough else INDEPENDENT)
    assert r == PValue(pytest.approx(math.log10(0.03)), "simulated", 999)
    if enough:
        assert mad.log10 == pytest.approx(math.log10(0.3))
    else:  # the larger of the two
        assert mad == INDEPENDENT[1]


def test_without_clusters_and_where_nothing_varies_rows_decide():
    assert clusters.pvalues(None, totals_of(10, 0.5), INDEPENDENT) == INDEPENDENT
    assert clusters.pvalues(made(), totals_of(10, 0.0), INDEPENDENT) == INDEPENDENT


def test_limits_are_never_narrower_than_those_of_independent_rows():
    totals = totals_of(2000, 0.5)
    alone = half_width(null.range, totals, 0.05)
    assert half_width(null.range, totals, 0.05, None) == alone
    narrow = made(ranges=np.full(999, alone / 2))
    assert half_width(null.range, totals, 0.05, narrow) == alone
    wide = made(ranges=np.full(999, 3 * alone))
    unseen = limits.unseen(totals, limits.critical(null.range, 1 - 0.95), 1 - 0.95)
    wanted = math.hypot(3 * alone, unseen)
    assert half_width(null.range, totals, 0.05, wide) == pytest.approx(wanted, rel=1e-12)


def test_unseen_events_widen_limits_too():
    totals = totals_of(100, 0.001)
    unseen = limits.unseen(totals, limits.critical(null.range, 1 - 0.95), 1 - 0.95)
    assert unseen > 0.03  # three events in a hundred
    far = made(ranges=np.full(999, 0.5))
    wanted = math.hypot(0.5, unseen)
    assert half_width(null.range, totals, 0.05, far) == pytest.approx(wanted, rel=1e-12)
    low, high = interval(0.1, null.range, totals, 0.05, far)
    assert (low, high) == (0.0, pytest.approx(0.1 + wanted))


@pytest.mark.parametrize("flips", [None, made()])
def test_a_tail_is_the_level_whose_half_width_is_the_value(flips):
    totals = totals_of(2000, 0.5)
    for alpha in (0.5, 0.05, 1e-3, 1e-5):
        value = half_width(null.range, totals, alpha, flips)
        assert clusters.tail(null.range, value, totals, flips) == pytest.approx(alpha, rel=1e-6)
    assert clusters.tail(null.range, 0.0, totals, flips) == 1
    # No noise goes so far: the smallest level that there is.
    least = clusters.tail(null.range, 1e9, totals, flips)
    assert least == (clusters._RAREST if flips else sys.float_info.min)


def test_open_blocks_matter_until_scores_are_known_to_be_many():
    scores = np.linspace(0, 1, ENDS)
    ties = collapse(scores, np.zeros(ENDS, np.int64), None)
    assert not clusters.needed(ties).any()
    cells = replace(ties, high=ties.low + 1e-9)
    assert clusters.needed(cells).all()
    more = collapse(np.linspace(0, 1, ENDS + 1), np.zeros(ENDS + 1, np.int64), None)
    assert not clusters.needed(replace(more, high=more.low + 1e-9)).any()
