"""Which way mean and shape are tested, from the rows to the P-value that decides."""

import itertools
import math

import numpy as np
import pytest

import secant
from secant._inference import bridge, deciding, mean_and_shape
from secant._inference.limits import at_level
from secant.sources import rows as row_source
from ties import table


def off(n, seed=0, factor=0.8, **options):
    """Assess scores whose logits are too large by a factor."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = rng.random(n) < 1 / (1 + ((1 - p) / p) ** factor)
    return secant.assess(y, p, **options)


# By brute force -----------------------------------------------------------------------------------


def chances(p):
    """Return all outcomes of a few rows, and their chances."""
    outcomes = np.array(list(itertools.product([0, 1], repeat=len(p))))
    return outcomes, np.where(outcomes, p, 1 - p).prod(axis=1)


def excursion(y, p):
    """Return the largest excursion once as many events are expected as happened, by bisection."""
    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        q = 1 / (1 + (1 - p) / p * math.exp(-middle))
        low, high = (low, middle) if q.sum() > y.sum() else (middle, high)
    last = np.append(p[1:] != p[:-1], True)
    return np.abs(np.cumsum(y - q))[last].max()


@pytest.mark.parametrize(
    "p",
    [
        [0.1, 0.3, 0.3, 0.5, 0.7, 0.95],
        [0.01, 0.02, 0.4, 0.4, 0.4],
        [0.2, 0.9],
        [0.3, 0.300001, 0.6, 0.6, 0.8, 0.99, 0.999],
    ],
)
def test_every_outcome_of_a_few_rows(p):
    p = np.array(p)
    outcomes, chance = chances(p)
    events = outcomes.sum(axis=1)
    far = np.abs(events - p.sum())
    strayed = np.array([excursion(y, p) if 0 < y.sum() < len(p) else 0.0 for y in outcomes])
    pvalues = []
    for i, y in enumerate(outcomes):
        mean = chance[far >= far[i] - 1e-9].sum()
        alike = events == events[i]
        shape = chance[alike & (strayed >= strayed[i] - 1e-9)].sum() / chance[alike].sum()
        found = secant.assess(y, p)
        assert found.mean.pvalue == pytest.approx(mean, rel=1e-9)
        assert found.bridge.pvalue == pytest.approx(shape, rel=1e-9)
        x = mean * shape
        assert found.pvalue == pytest.approx(min(x * (1 - math.log(x)), 1.0), rel=1e-9)
        assert found.pvalue_method == found.mean.method == found.bridge.method == "exact"
        pvalues.append(found.pvalue)
    for level in pvalues:  # valid at every level that there is
        assert chance[np.array(pvalues) <= level * (1 + 1e-9)].sum() <= level * (1 + 1e-9)


@pytest.mark.parametrize(("n", "events"), [(1, 1), (30, 3), (30, 20), (4000, 1300)])
def test_one_distinct_score_has_the_p_value_of_ecce_r(n, events):
    found = secant.assess(np.arange(n) < events, np.full(n, 0.3))
    assert found.pvalue == pytest.approx(found.ecce_r.pvalue, rel=1e-12)
    assert found.mean.pvalue == found.pvalue
    assert (found.bridge.value, found.bridge.direction, found.bridge.where) == (0.0, None, None)


# What each part says ------------------------------------------------------------------------------


def test_a_slope_is_found_in_the_shape_and_a_shift_in_the_mean():
    moderate, extreme = off(10_000, factor=1.2), off(10_000, factor=0.8)
    for found, sign, direction in ((moderate, -1, "too moderate"), (extreme, 1, "too extreme")):
        assert found.found
        assert found.wrong_in == ("shape",)
        assert math.copysign(1, found.bridge.value) == sign
        assert found.bridge.direction == direction
        assert 0.4 < found.bridge.where < 0.6
        assert found.pvalue < found.ecce_r.pvalue
    rng = np.random.default_rng(2)
    p = rng.uniform(0.2, 0.7, 5000)
    y = rng.random(5000) < p + 0.04
    found = secant.assess(y, p)
    assert found.wrong_in == ("mean",)
    assert found.mean.value == pytest.approx(y.mean() - p.mean(), abs=1e-12)
    assert found.mean.ci[0] < 0.04 < found.mean.ci[1]
    assert (found.mean.observed, found.mean.expected) == pytest.approx((y.sum(), p.sum()))
    assert found.mean.ratio == pytest.approx(y.sum() / p.sum())
    assert found.mean.ratio_ci[0] < found.mean.ratio < found.mean.ratio_ci[1]


def test_ranges_need_the_p_value_of_ecce_r_too():
    """Where the shape alone finds, no range is named."""
    seeds = [off(3000, seed, 0.83) for seed in range(12)]
    alone = [each for each in seeds if each.found and each.ecce_r.pvalue > 0.05]
    assert alone
    for each in alone:
        assert (each.intervals, each.steepest, each.direction) == ((), None, "")
        assert each.pvalue_beyond(0.0) == each.ecce_r.pvalue
        assert "No range can be named" in str(each)
    both = [each for each in seeds if each.found_in_ranges]
    assert any(each.intervals for each in both)


def test_what_is_printed_decides():
    for seed in range(3):
        found = off(2000, seed, 0.9)
        words = found.to_dict()
        assert words["pvalue"] == found.pvalue
        assert words["mean"]["pvalue"] == found.mean.pvalue
        assert words["bridge"]["where"] == found.bridge.where
        assert found.found == at_level(found.pvalue, 0.05)
        assert f"P = {found.pvalue:.2g}"[:7] in str(found)


# Ways ---------------------------------------------------------------------------------------------


def test_cells_say_about_what_ties_say(monkeypatch):
    """Sums add 1% to each part, and that Kolmogorov's law takes over from a variance of 200."""
    some = [off(n, n) for n in (300, 900, 5000)]
    monkeypatch.setattr(row_source, "SORT_UP_TO", 50)
    monkeypatch.setattr(row_source, "COLLECT_UP_TO", 20)
    for n, ties in zip((300, 900, 5000), some, strict=True):
        cells = off(n, n)
        assert ties.pvalue * (1 - 1e-6) <= cells.pvalue <= min(1.0, ties.pvalue * 1.1)
        assert cells.bridge.value == pytest.approx(ties.bridge.value, abs=0.02)


@pytest.mark.parametrize("method", ["exact", "asymptotic", "monte-carlo"])
def test_methods_agree(method):
    for n in (400, 3000):
        auto, other = off(n, 1, 0.95), off(n, 1, 0.95, method=method)
        expected = {"exact": "exact", "asymptotic": "large-sample", "monte-carlo": "simulated"}
        assert other.pvalue_method == expected[method]
        assert other.pvalue == pytest.approx(auto.pvalue, rel=0.35)


def test_random_ties_have_a_shape():
    rng = np.random.default_rng(0)
    p = rng.random(500).round(1)
    found = secant.assess(rng.random(500) < p, p, ties="random", rng=1)
    assert found.pvalue_method == "large-sample"
    assert 0 < found.pvalue <= 1


def test_scores_of_0_and_1_that_were_wrong_are_looked_at_by_themselves(monkeypatch):
    rng = np.random.default_rng(0)
    p = np.concatenate([np.zeros(40), rng.random(900), np.ones(40)])
    y = (rng.random(980) < p).astype(int)
    y[:3] = 1
    y[-2:] = 0
    ties = secant.assess(y, p)
    monkeypatch.setattr(row_source, "SORT_UP_TO", 50)
    cells = secant.assess(y, p)
    assert cells.pvalue == pytest.approx(ties.pvalue, rel=0.05)
    assert cells.mean.pvalue == pytest.approx(ties.mean.pvalue, rel=0.011)


def test_nothing_is_left_to_chance():
    right, wrong = secant.assess([0, 1], [0.0, 1.0]), secant.assess([0, 1, 1], [0.0, 1.0, 0.0])
    assert (right.pvalue, right.bridge.pvalue) == (1.0, 1.0)
    assert (wrong.pvalue, wrong.bridge.pvalue) == (0.0, 1.0)
    assert wrong.log10_pvalue == -math.inf


def test_a_place_along_another_order():
    rng = np.random.default_rng(3)
    day = np.repeat(np.datetime64("2026-01-01") + np.arange(100), 40)
    p = rng.uniform(0.2, 0.8, 4000)
    late = np.arange(4000) >= 2000
    found = secant.assess(rng.random(4000) < p + np.where(late, -0.1, 0.1), p, order_by=day)
    assert found.wrong_in == ("shape",)
    assert found.bridge.direction == "too low, then too high"
    assert abs(found.bridge.where - np.datetime64("2026-02-19")) < np.timedelta64(9, "D")
    assert found.to_dict()["bridge"]["where"].startswith("2026-02-")


def test_places_of_several_scores_are_asked_for_shifted_sums(monkeypatch):
    """Means of places are not what is shifted: scores are, wherever rows are."""
    rng = np.random.default_rng(4)
    p, day = rng.random(4000), np.sort(rng.integers(0, 30, 4000))
    y = rng.random(4000) < p**1.1
    known = secant.assess(y, p, order_by=day)
    asked = []
    sums = row_source.sums_of
    monkeypatch.setattr(deciding, "_MANY_ROWS", 0)
    monkeypatch.setattr(
        "secant.sources.ordered.sums_of", lambda rows, asks: asked.extend(asks) or sums(rows, asks)
    )
    other = secant.assess(y, p, order_by=day)
    assert [ask.shift != 0.0 for ask in asked] == [True]
    assert other.pvalue == pytest.approx(known.pvalue, rel=0.011)  # an upper bound
    assert other.bridge.value == pytest.approx(known.bridge.value, rel=1e-6)


# Groups -------------------------------------------------------------------------------------------


def test_a_group_alone_and_among_others_has_the_same_bits():
    rng = np.random.default_rng(5)
    sizes = np.append(rng.integers(1, 40, 300), [400, 1500])
    by = np.repeat(np.arange(302), sizes)
    p = rng.random(len(by)).round(2)
    y = rng.random(len(by)) < p
    for key, found in secant.assess_by(y, p, by).items():
        alone = secant.assess(y[by == key], p[by == key])
        assert found.log10_pvalue == alone.log10_pvalue
        assert found.bridge == alone.bridge


@pytest.mark.long
def test_20_000_groups_of_ten():
    rng = np.random.default_rng(6)
    by = np.repeat(np.arange(20_000), 10)
    p = rng.random(200_000)
    y = rng.random(200_000) < p
    found = secant.assess_by(y, p, by)
    ties = [table(p[start : start + 10], y[start : start + 10]) for start in range(0, 200_000, 10)]
    alone = mean_and_shape.of_ties(ties)
    assert [found[key].log10_pvalue for key in range(20_000)] == [
        each.pvalue.log10 for each in alone
    ]
    pvalues = np.array([each.pvalue for each in found.values()])
    for level in (0.05, 0.01, 0.001):
        share = (pvalues <= level).mean()
        assert share <= level + 4 * math.sqrt(level / 20_000)


def test_groups_are_adjusted_over_the_p_value_that_decides():
    """101 groups with weights, of which one is off, can be found: draws alone tell no 1/2,000."""
    rng = np.random.default_rng(7)
    by = np.repeat(np.arange(101), 60)
    p, w = rng.uniform(0.2, 0.6, 6060), rng.lognormal(0, 0.7, 6060)
    chance = np.where(by == 50, np.minimum(p + 0.38, 1), p)
    y = rng.random(6060) < chance
    found = secant.assess_by(y, p, by, sample_weight=w)
    assert found.failing == (50,)
    assert found[50].pvalue < 0.05 / 101
    assert found.rows[0].adjusted_pvalue == pytest.approx(101 * found[50].pvalue)


# Weights and clusters -----------------------------------------------------------------------------


def test_weights_rank_the_path_among_drawn_ones():
    """Beside draws of our own."""
    rng = np.random.default_rng(8)
    n = 200
    p, w = np.sort(rng.random(n)), rng.lognormal(0, 1, n)
    y = rng.random(n) < p**1.2
    found = secant.assess(y, p, sample_weight=w)
    assert found.pvalue_method == "simulated"
    variance = np.cumsum(w * w * p * (1 - p))
    drawn = np.vstack([y, rng.random((20_000, n)) < p])
    paths = np.cumsum(w * (drawn - p), axis=1)
    deviation = math.sqrt(variance[-1])
    ranks = mean_and_shape.surprises(paths, variance / variance[-1], deviation)
    shares = (ranks >= ranks[0] - 1e-9).mean(axis=0)
    for p_value, share in zip(
        (found.pvalue, found.mean.pvalue, found.bridge.pvalue), shares, strict=True
    ):
        assert abs(p_value - share) < 0.03 + 4 * share * 0.1
    assert abs(found.bridge.value) == pytest.approx(ranks[0, 2])
    assert found.mean.value == pytest.approx((w * (y - p)).sum() / w.sum())


def test_what_no_draw_reaches_has_ecce_rs_p_value():
    rng = np.random.default_rng(9)
    p, w = rng.random(1000), rng.lognormal(0, 1, 1000)
    found = secant.assess(rng.random(1000) < p**3, p, sample_weight=w)
    assert found.pvalue == found.ecce_r.pvalue < 1e-9


def test_many_weighted_rows_take_the_limit():
    rng = np.random.default_rng(10)
    p, w = rng.random(20_000), rng.uniform(0.5, 1.5, 20_000)
    y = rng.random(20_000) < p
    found = secant.assess(y, p, sample_weight=w)
    assert found.pvalue_method == "large-sample"
    drawn = secant.assess(y, p, sample_weight=w, method="monte-carlo")
    assert found.pvalue == pytest.approx(drawn.pvalue, rel=0.35)
    one = secant.assess(y, p, sample_weight=w, method="asymptotic")
    assert (one.pvalue, one.bridge) == (found.pvalue, found.bridge)


def test_outcome_weights_have_chances_of_their_own():
    rng = np.random.default_rng(11)
    p = rng.random(20_000)
    y = rng.random(20_000) < p
    keep = np.where(y, 1.0, 0.25) > rng.random(20_000)
    found = secant.assess(y[keep], p[keep], outcome_weights=(4, 1))
    assert not found.found
    assert found.mean.ratio == pytest.approx(1.0, abs=0.05)
    assert secant.assess(y[keep], p[keep]).pvalue < 1e-6


def test_clusters_are_flipped():
    rng = np.random.default_rng(12)
    n, each = 150, 10
    cluster = np.repeat(np.arange(n), each)
    p = rng.random(n * each)
    logit = np.log(p / (1 - p))
    slope = rng.random(n * each) < 1 / (1 + np.exp(-0.65 * logit))
    found = secant.assess(slope, p, clusters=cluster)
    assert found.pvalue_method in {"simulated", "upper bound"}
    assert found.found
    assert found.bridge.direction == "too extreme"
    assert 0.2 < found.bridge.where < 0.8
    shocks = 1 / (1 + np.exp(-logit - rng.normal(0, 1, n)[cluster]))
    alone = secant.assess(rng.random(n * each) < shocks, p)
    together = secant.assess(rng.random(n * each) < shocks, p, clusters=cluster)
    assert together.mean.ci[1] - together.mean.ci[0] > alone.mean.ci[1] - alone.mean.ci[0]


def test_calibrated_clusters_are_found_as_rarely_as_the_level_says():
    rng = np.random.default_rng(13)
    hits = 0
    for _ in range(300):
        p = rng.random(300)
        hits += secant.assess(rng.random(300) < p, p, clusters=np.arange(300) // 5).found
    assert hits <= 300 * 0.05 + 4 * math.sqrt(300 * 0.05)


def test_few_events_in_clusters_have_the_larger_p_value():
    p, cluster = np.full(400, 0.01), np.arange(400) // 4
    p[::2] = 0.012
    found = secant.assess(np.arange(400) % 100 == 3, p, clusters=cluster)
    alone = secant.assess(np.arange(400) % 100 == 3, p)
    assert found.pvalue >= alone.pvalue


# Cells --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [50, 3000])
def test_cells_have_the_larger_p_value_of_what_is_possible(n):
    rng = np.random.default_rng(n)
    p = rng.random(n)
    y = rng.random(n) < p**1.1
    known, before = secant.assess(y, p).pvalue, 0.0
    for n_cells in (65536, 256, 16):
        cells = secant.Cells(n_cells)
        cells.update(y, p)
        found = cells.bounds()
        assert found.pvalue >= max(known, before * 0.9) * (1 - 1e-6)
        before = found.pvalue
        if n_cells == 65536:
            assert found.pvalue <= min(1.0, 1.1 * known)
    assert found.mean_pvalue == pytest.approx(secant.assess(y, p).mean.pvalue, rel=0.011)


def test_weighted_cells_take_the_limit():
    rng = np.random.default_rng(1)
    p, w = rng.random(5000), rng.uniform(0.5, 1.5, 5000)
    y = rng.random(5000) < p
    cells = secant.Cells()
    cells.update(y, p, w)
    found = secant.assess(y, p, sample_weight=w, method="asymptotic")
    assert cells.bounds().pvalue == pytest.approx(found.pvalue, rel=0.02)
    assert bridge.LARGE < 5000 / 6
