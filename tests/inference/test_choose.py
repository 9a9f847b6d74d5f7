"""Which P-value: the table of the rule row by row, just below and just above each constant."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import secant
from helpers import optional
from samples import EXACT, RELATIVE, as_many, miscalibrated, predictions, statistics
from secant import null
from secant._base import extras
from secant._inference import choose, lattice, pooled_walk, walk
from secant._input.observations import observations
from secant._metrics.ecce import extremes
from secant.sources.rows import RowSource
from secant.testing import assert_calibrated
from ties import blocks_of


def methods(result):
    return [each.method for each in statistics(result)]


def pvalues(result):
    return [each.pvalue for each in statistics(result)]


def off(n, seed=0, power=1.3):
    """Return n distinct scores, and outcomes that are a bit off."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return rng.random(n) < p**power, p


def near(score, n, seed=0):
    """Return n distinct scores next to one, and calibrated outcomes."""
    rng = np.random.default_rng(seed)
    p = score * (1 + 1e-6 * np.linspace(-1, 1, n))
    return rng.random(n) < p, p


def weighted(heaviest, n=4901, **options):
    """Assess distinct scores near 1/2 of weight 1, and a last one that is heavier."""
    w = np.append(np.ones(n - 1), heaviest)
    y, p = np.arange(n) % 2, np.linspace(0.499, 0.501, n)
    return secant.assess(y, p, sample_weight=w, **options)


@pytest.fixture
def asked(monkeypatch):
    """Return a list that grows with the name of every way that is taken."""
    seen = []

    def watch(name):
        whole = getattr(choose, name)
        monkeypatch.setattr(choose, name, lambda case: seen.append(name) or whole(case))

    for name in ("_known", "_brownian", "_large_sample", "_pool", "_jump", "_draw"):
        watch(name)
    many = choose._walked
    monkeypatch.setattr(
        choose,
        "_walked",
        lambda cases, how: seen.extend(["_walk"] * len(cases)) or many(cases, how),
    )
    return seen


# Equal weights ------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("copies", [1, 3])
def test_up_to_so_many_steps_nothing_is_pooled(more, copies):
    y, p = off(choose.FEW_STEPS + more)
    found = methods(secant.assess(np.tile(y, copies), np.tile(p, copies)))
    assert ("exact" in found) == (more == 0)
    assert len(set(found)) == 1


@pytest.mark.parametrize("distinct", [200, 400])
def test_how_scores_are_stored_does_not_count(distinct):
    """Cut into cells first: how many scores there are is found out before anything is chosen."""
    rng = np.random.default_rng(2)
    p = rng.integers(1, distinct, 20_000) / distinct
    y = rng.random(20_000) < p
    with as_many(on=True):
        many = secant.assess(y, p)
    few = secant.assess(y, p)
    assert methods(many) == methods(few)
    assert pvalues(many) == pytest.approx(pvalues(few), rel=1e-6)


@pytest.mark.parametrize("side", [0.98, 1.02])
def test_the_variance_of_few_events(side, asked):
    """Below it pools are walked over, above it the large-sample P-value is taken."""
    n, score = 2000, side * choose.FEW_EVENTS / 2000
    score = 0.5 - math.sqrt(0.25 - score)
    for near_one in (False, True):
        y, p = near(score, n)
        found = secant.assess(~y if near_one else y, 1 - p if near_one else p)
        assert methods(found) == ["upper bound" if side < 1 else "large-sample"] * 2
    assert asked == ["_pool" if side < 1 else "_large_sample"] * 2


@pytest.mark.parametrize("side", [0.97, 1.03])
def test_the_share_of_the_largest_steps(side, asked):
    """One score among 5,000 small ones: its share s of the variance counts as s^1.5."""
    share = (side * choose.LARGE_STEPS) ** (2 / 3)
    y, p = off(5000)
    p = 0.3 + 0.4 * p
    variance = (p * (1 - p)).sum()
    copies = round(share * variance / (1 - share) / 0.25)
    found = secant.assess(
        np.append(y, np.arange(copies) % 2 == 0), np.append(p, np.full(copies, 0.5))
    )
    assert asked[0] == ("_pool" if side > 1 else "_large_sample")
    assert set(methods(found)) <= {"upper bound", "large-sample"}


def test_of_a_walk_over_pools_and_the_limit_the_smaller_is_taken(monkeypatch):
    y, p = off(400)
    y, p = np.append(y, np.arange(900) % 2), np.append(p, np.full(900, 0.5))
    for log10, expected in ((-300.0, "upper bound"), (0.0, "large-sample")):
        monkeypatch.setattr(pooled_walk, "log10_pvalues", lambda *_, p=log10: (p, p))
        assert methods(secant.assess(y, p)) == [expected] * 2


def test_the_exact_walk_within_its_budget(monkeypatch, asked):
    """A count, never a clock; up to so many rows as steps it is always taken."""
    y, p = off(250)
    y, p = np.tile(y, 8), np.tile(p, 8)
    table = secant.assess(y, p)._blocks
    cost = walk.costs([(table.low, table.n, table.n1)])[0]
    asked.clear()
    for budget in (cost, 0.99 * cost):
        monkeypatch.setattr(choose, "_BUDGET", budget)
        secant.assess(y, p)
    secant.assess(y[:300], p[:300])
    assert [each for each in asked if each != "_large_sample"] == [
        "_walk",
        "_walk",
        "_pool",
        "_walk",
    ]


def test_below_any_double_the_limit_of_large_samples_goes_on():
    """As with 5,000 rows of two scores, all of which happened: 1e-1747."""
    found = secant.assess(np.ones(5000, int), np.repeat([0.4, 0.5], 2500))
    assert methods(found) == ["large-sample"] * 2
    truth = 2500 * (math.log10(0.4) + math.log10(0.5))
    assert truth <= found.ecce_mad.log10_pvalue < truth + 5
    rare = secant.assess(np.ones(1000, int), np.linspace(0.01, 0.02, 1000))
    assert methods(rare) == ["large-sample"] * 2
    assert rare.ecce_mad.log10_pvalue < -1500


# Asked for by name --------------------------------------------------------------------------------


@pytest.mark.parametrize("along", [False, True])
def test_exact_takes_so_many_steps_and_no_more(along, asked, monkeypatch):
    monkeypatch.setattr(walk, "log10_pvalues", lambda tables, _: np.zeros((len(tables), 2)))
    monkeypatch.setattr(walk, "observe_along", lambda *_: None)
    monkeypatch.setattr(walk, "log10_of_one", lambda *_: (0.0, 0.0))
    y, p = off(choose.MOST_STEPS + 1)
    order = {"order_by": np.arange(len(p))[::-1]} if along else {}
    for n in (choose.MOST_STEPS, choose.MOST_STEPS + 1):
        some = {name: column[:n] for name, column in order.items()}
        if n > choose.MOST_STEPS:
            what = "values of x" if along else "scores"
            with pytest.raises(secant.InputError, match=f"at most 65,536 distinct {what}"):
                secant.assess(y[:n], p[:n], method="exact", **some)
        else:
            assert methods(secant.assess(y[:n], p[:n], method="exact", **some)) == ["exact"] * 2
    assert asked == ["_walk"]


def test_exact_is_refused_by_name_where_weights_differ():
    y, p = off(20)
    with pytest.raises(secant.InputError, match="method='exact' knows no weights"):
        secant.assess(y, p, sample_weight=np.arange(20) + 1, method="exact")
    assert methods(secant.assess(y, p, sample_weight=np.full(20, 3.0), method="exact")) == [
        "exact",
        "exact",
    ]


@pytest.mark.parametrize("n", [40, 3000])
@pytest.mark.parametrize("weight", [None, 2.0])
def test_each_way_by_its_name(n, weight, asked):
    y, p = off(n, power=1.0)
    w = None if weight is None else np.append(np.ones(n - 1), weight)
    found = {
        name: methods(secant.assess(y, p, sample_weight=w, method=name))
        for name in ("monte-carlo", "asymptotic")
    }
    assert asked == ["_draw", "_brownian"]
    assert found == {"monte-carlo": ["simulated"] * 2, "asymptotic": ["large-sample"] * 2}


# Sampling weights ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("heaviest", "way"), [(16.0, "_large_sample"), (17.0, "_jump")])
def test_the_limit_needs_a_rho3_of_a_twentieth(heaviest, way, asked):
    """rho3 = 2 (4900 + h^3) / (4900 + h^2)^1.5, .0486 and .0525."""
    rho3 = weighted(heaviest)._totals.rho3
    assert (rho3 <= choose._MOST_RHO3) == (way == "_large_sample")
    assert asked == [way]
    told = weighted(heaviest, method="asymptotic").warnings
    assert any("With such weights" in line for line in told) == (way == "_jump")


@pytest.mark.parametrize("side", [-1, 1])
def test_one_score_of_many_is_looked_into_where_weights_differ(side, asked, monkeypatch):
    """Up to so many rows: half of the variance is that of one score, no row stands out."""
    n = 6000
    monkeypatch.setattr(choose, "_MANY_ROWS", n - side)
    rng = np.random.default_rng(0)
    p = np.append(np.full(n // 2, 0.5), rng.random(n // 2))
    secant.assess(rng.random(n) < p, p, sample_weight=1 + 0.01 * rng.random(n))
    assert asked == ["_large_sample" if side > 0 else "_draw"]


@pytest.mark.parametrize("more", [0, 1])
def test_up_to_so_many_rows_jumps_are_walked_over(more, asked):
    n = choose._FEW_ROWS + more
    rng = np.random.default_rng(1)
    p, w = rng.random(n), rng.lognormal(0, 1, n)
    found = secant.assess(rng.random(n) < p**1.3, p, sample_weight=w)
    assert asked == ["_draw" if more else "_jump"]
    assert max(pvalues(found)) < 1e-4  # where nothing is drawn that is as extreme
    assert methods(found) == ["upper bound"] * 2
    assert [each.draws for each in statistics(found)] == ([9999] * 2 if more else [None] * 2)


@pytest.mark.parametrize(("power", "expected"), [(1.0, "simulated"), (1.5, "upper bound")])
def test_large_pvalues_are_drawn_and_small_ones_walked_for(power, expected):
    rng = np.random.default_rng(2)
    p, w = rng.random(800), rng.lognormal(0, 1, 800)
    found = secant.assess(rng.random(800) < p**power, p, sample_weight=w)
    assert methods(found) == [expected] * 2
    for each in statistics(found):
        assert (each.pvalue > 0.1) == (expected == "simulated")
        if each.draws is not None:  # they end with the hundredth as extreme
            assert each.draws <= 999
            assert each.pvalue == pytest.approx(100 / each.draws)


def test_a_tie_whose_rows_differ_beyond_measure_is_drawn_for(asked):
    """No number of cells would do."""
    w, p = np.append(np.ones(41), 1e8), np.append(np.full(40, 0.3), [1e-9, 1e-9])
    found = secant.assess(np.arange(42) < 38, p, sample_weight=w)
    assert asked == ["_jump"]
    assert "exact" not in methods(found)
    assert found.ecce_r.draws is not None


@pytest.mark.parametrize("weight", [1e-3, 0.1, 0.3, 1, 7e5])
def test_equal_weights_are_no_weights(weight):
    """However their sums are rounded."""
    y, p = np.arange(90) % 3 == 0, np.linspace(0.1, 0.6, 90)
    equal, none = secant.assess(y, p, sample_weight=np.full(90, float(weight))), secant.assess(y, p)
    assert methods(equal) == methods(none) == ["exact"] * 2
    assert pvalues(equal) == pytest.approx(pvalues(none), rel=1e-11)


def test_weights_whose_third_moments_were_not_summed_take_the_limit_as_it_is():
    rng = np.random.default_rng(0)
    p, w = rng.random(4000), rng.random(4000) + 0.5
    result = secant.assess(rng.random(4000) < p**1.1, p, sample_weight=w, method="asymptotic")
    old = replace(result._totals, third=None, steps=None)
    found = extremes(result._blocks, old.weight)[1]
    source = RowSource(observations(np.zeros(1), np.ones(1)))
    pair = choose._large_sample(choose.Case(result._blocks, old, found, source))
    for pvalue, statistic in zip(pair, statistics(result), strict=True):
        assert pvalue.log10 == pytest.approx(statistic.log10_pvalue, **RELATIVE)
    tilted = choose._large_sample(choose.Case(result._blocks, result._totals, found, source))
    assert not set(tilted) & set(pair)  # what the third moments are for


def test_without_rows_the_limit_is_taken_and_it_is_said(monkeypatch):
    monkeypatch.setattr(RowSource, "in_order", lambda _: None)
    found = weighted(17.0)
    assert methods(found) == ["large-sample"] * 2
    assert any("may leave an engine" in line for line in found.warnings)
    with pytest.raises(secant.InputError, match="more rows than may leave an engine"):
        weighted(17.0, method="monte-carlo")
    assert not any("may leave an engine" in line for line in weighted(16.0).warnings)


# Across constants ---------------------------------------------------------------------------------


def ratios(one, other):
    return [max(a / b, b / a) for a, b in zip(pvalues(one), pvalues(other), strict=True)]


@pytest.mark.parametrize("power", [1.0, 1.4, 1.9, 2.4])
@pytest.mark.parametrize("kind", ["uniform", "near one half", "skewed"])
def test_at_so_many_steps_p_jumps_by_two_fifths_at_most(power, kind, monkeypatch):
    """The same 300 scores, taken for few and for many; seven tenths at 1e-12."""
    rng = np.random.default_rng(int(10 * power))
    p = {
        "uniform": lambda: rng.random(300),
        "near one half": lambda: 0.45 + 0.1 * rng.random(300),
        "skewed": lambda: rng.beta(1, 4, 300),
    }[kind]()
    y = rng.random(300) < p**power
    few = secant.assess(y, p)
    monkeypatch.setattr(choose, "FEW_STEPS", 299)
    many = secant.assess(y, p)
    assert methods(few) == ["exact"] * 2
    assert "exact" not in methods(many)
    for a, b in zip(pvalues(few), pvalues(many), strict=True):
        if a > 1e-12:
            assert a * (1 - 1e-9) <= b <= (1.4 if a > 1e-4 else 1.7) * a


@pytest.mark.parametrize("power", [1.0, 0.95, 0.9, 1.1])
@pytest.mark.parametrize("kind", ["rare", "high", "rarer"])
def test_at_so_few_events_p_jumps_by_little(power, kind, monkeypatch):
    """The same rows, of which about 30 should happen, with the limit just below and just above.

    By a fifth at most where P is above .05, by a third below.
    """
    rng = np.random.default_rng(int(10 * power))
    p = {
        "rare": lambda: rng.beta(1, 99, 3200),
        "high": lambda: 1 - rng.beta(1, 70, 2400),
        "rarer": lambda: 0.002 * rng.random(32_000),
    }[kind]()
    y = rng.random(len(p)) < p**power
    variance = (p * (1 - p)).sum()
    assert 25 < variance < 40
    found = []
    for limit in (0.999 * variance, 1.001 * variance):
        monkeypatch.setattr(choose, "FEW_EVENTS", limit)
        found.append(secant.assess(y, p))
    assert methods(found[0]) == ["large-sample"] * 2
    assert methods(found[1]) == ["upper bound"] * 2
    small = min(pvalues(found[1])) < 0.05
    assert max(ratios(*found)) <= (1.33 if small else 1.2)


@pytest.mark.parametrize("power", [1.02, 1.05])
def test_at_so_many_weighted_rows_p_jumps_by_a_fifth_at_most(power, monkeypatch):
    """And by what drawing adds: P of 10,000 draws has an error of a tenth where it is above .01."""
    n = choose._FEW_ROWS
    rng = np.random.default_rng(3)
    p, w = rng.random(n), rng.lognormal(0, 1.5, n)
    y = rng.random(n) < p**power
    walked = secant.assess(y, p, sample_weight=w)
    monkeypatch.setattr(choose, "_FEW_ROWS", n - 1)
    drawn = secant.assess(y, p, sample_weight=w)
    assert max(ratios(walked, drawn)) <= 1.2 * 1.3


# The same answer ----------------------------------------------------------------------------------


SETS = {
    "exact": lambda rng: rng.random(200).round(2),
    "pools": lambda rng: rng.beta(1, 200, 3000),
    "one event": lambda rng: rng.beta(1, 3000, 2000),
    "a large step": lambda rng: np.append(rng.random(400), np.full(400, 0.3)),
    "limit": lambda rng: rng.random(3000),
}


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kind", SETS)
def test_p_belongs_to_the_data_and_not_to_how_they_come(kind, weights, tmp_path):
    """In another order, as a frame, as a file, cut into cells."""
    pa, pq = optional("pyarrow"), optional("pyarrow.parquet")
    rng = np.random.default_rng(4)
    p = SETS[kind](rng)
    n = len(p)
    y, w = (rng.random(n) < p).astype(int), rng.lognormal(0, 1, n)
    given_weights = {"sample_weight": w} if weights else {}
    whole = secant.assess(y, p, **given_weights)
    order = rng.permutation(n)
    moved = {name: column[order] for name, column in given_weights.items()}
    columns = pa.table({"y": y, "p": p, "w": w})
    pq.write_table(columns, tmp_path / "t.parquet")
    named = {"sample_weight": "w"} if weights else {}
    with as_many(on=True):
        cut = secant.assess(y, p, **given_weights)
    others = [
        secant.assess(y[order], p[order], **moved),
        secant.assess("y", "p", data=columns, **named),
        secant.assess("y", "p", data=tmp_path / "t.parquet", **named),
        cut,
    ]
    for other in others:
        assert methods(other) == methods(whole)
        assert pvalues(other) == pytest.approx(pvalues(whole), rel=1e-5)


@pytest.mark.parametrize("places", [None, 70, 400])
@pytest.mark.parametrize("rarity", [1, 200])
def test_along_another_order(places, rarity):
    """At most 300 places are walked over as they are; more have the same ways as scores."""
    rng = np.random.default_rng(5)
    p = rng.beta(1, rarity, 900)
    y = rng.random(900) < np.minimum(1.3 * p, 1)
    x = rng.random(900) if places is None else rng.integers(0, places, 900)
    ours, exact = (secant.assess(y, p, order_by=x, method=m) for m in ("auto", "exact"))
    expected = "exact" if places == 70 else "upper bound" if rarity == 200 else "large-sample"
    assert methods(ours) == [expected] * 2
    assert methods(exact) == ["exact"] * 2
    for a, b in zip(pvalues(ours), pvalues(exact), strict=True):
        assert b * (1 - 1e-9) <= a <= (1.5 if b > 1e-3 else 2.1) * b
    order = rng.permutation(900)
    again = secant.assess(y[order], p[order], order_by=x[order])
    assert pvalues(again) == pytest.approx(pvalues(ours), rel=1e-9)


@pytest.mark.parametrize("rarity", [1, 200])
def test_numba_does_not_choose_the_method(rarity, monkeypatch):
    """The kernel that numba compiles, run as it stands, so that no test waits for a compiler."""
    rng = np.random.default_rng(0)
    p, by = rng.beta(1, rarity, 80), np.arange(80) % 2
    y = rng.random(80) < p**1.5
    monkeypatch.setattr(walk, "_WORTH_COMPILING", 0)
    ran = []

    def plain(run):
        ran.append(run)
        return lattice.absorbed_compiled(run, lattice.one_by_one)

    monkeypatch.setattr(walk, "absorbed_compiled", plain)
    monkeypatch.setattr(extras, "is_usable", lambda _name: True)
    compiled = secant.assess_by(y, p, by=by).values()
    assert ran
    ran.clear()
    monkeypatch.setattr(extras, "is_usable", lambda _name: False)
    in_numpy = secant.assess_by(y, p, by=by).values()
    assert not ran
    for one, other in zip(compiled, in_numpy, strict=True):
        assert methods(one) == methods(other) == ["exact"] * 2
        assert pvalues(one) == pytest.approx(pvalues(other), rel=1e-12)


# What used to jump --------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [99, 101])
def test_weighted_groups_with_every_score_inverted_are_found_however_many(groups):
    """Drawn P-values that end at 1e-4 are 0.0101 after Holm for 101 groups."""
    rng = np.random.default_rng(1)
    n = 40 * groups
    p, w, by = rng.random(n), rng.lognormal(0, 0.7, n), np.repeat(np.arange(groups), 40)
    assert assert_calibrated(rng.random(n) < p, p, by=by, sample_weight=w, max_ecce_r=0.5)
    with pytest.raises(AssertionError, match=f"Gate failed by {groups} of {groups} groups"):
        assert_calibrated(rng.random(n) < 0.05 + 0.9 * (p < 0.5), p, by=by, sample_weight=w)


def test_one_weighted_row_more_moves_p_by_as_little_as_a_row():
    """100,100 rows gave .001 and one row more 4e-58."""
    rng = np.random.default_rng(0)
    n = 100_101
    p, w = rng.random(n), np.append(np.ones(n - 1), 1.5)
    y = rng.random(n) < p**1.1
    few, many = (secant.assess(y[-k:], p[-k:], sample_weight=w[-k:]) for k in (n - 1, n))
    assert methods(few) == methods(many)
    assert many.ecce_r.log10_pvalue < -40
    assert few.ecce_r.log10_pvalue == pytest.approx(many.ecce_r.log10_pvalue, rel=0.01)


def test_one_weight_that_differs_by_a_thousandth_hardly_moves_p():
    """It moved 1.9e-12 to 1e-4, where draws ended."""
    y, p = off(90, seed=3, power=3.5)
    w = np.ones(90)
    w[5] = 1.001
    equal, unequal = secant.assess(y, p), secant.assess(y, p, sample_weight=w)
    assert equal.ecce_r.pvalue < 1e-6
    for one, other in zip(pvalues(equal), pvalues(unequal), strict=True):
        assert 0.98 * one <= other <= 1.1 * one


@pytest.mark.parametrize("distinct", [4096, 4097])
def test_one_score_with_most_of_the_variance(distinct):
    """P was four times too large beyond 4,096 scores, and .111 became .028 with one fewer."""
    rng = np.random.default_rng(6)
    rare = np.linspace(0.01, 0.03, distinct - 1)
    heavy = round(9 * float((rare * (1 - rare)).sum()) / 0.25)
    p = np.append(rare, np.full(heavy, 0.5))
    y = np.append(rng.random(distinct - 1) < rare, np.arange(heavy) < heavy // 2 + 1.1 * heavy**0.5)
    found = secant.assess(y, p)
    # Nearly binomial: the law of the one score, blurred by the rest.
    exact = 10.0 ** walk.log10_pvalues([merged(y, p)], lambda _: 60.0)[0]
    for a, b in zip(pvalues(found), exact, strict=True):
        assert b * 0.97 <= a <= 1.5 * b


def merged(y, p):
    """Return a table of 120 steps: rare scores taken together by tens and tens."""
    blocks = blocks_of(*table_of(y, p))
    score = np.append(blocks.low[:-1].reshape(-1), blocks.low[-1])
    group = np.append(np.arange(len(score) - 1) * 119 // (len(score) - 1), 119)
    n = np.bincount(group, blocks.n)
    return (
        np.bincount(group, score * blocks.n) / n,
        n.astype(int),
        np.bincount(group, blocks.n1).astype(int),
    )


def table_of(y, p):
    score, place = np.unique(p, return_inverse=True)
    return score, np.bincount(place), np.bincount(place, y).astype(int)


# The P-values themselves --------------------------------------------------------------------------


@pytest.mark.parametrize(("label", "expected"), [(1, 0.3), (0, 1.0)])
def test_one_prediction(label, expected):
    for statistic in statistics(secant.assess([label], [0.3])):
        assert statistic.pvalue == pytest.approx(expected, **RELATIVE)
        assert statistic.value == pytest.approx(abs(label - 0.3), **EXACT)
        assert statistic.normalized == pytest.approx(abs(label - 0.3) / math.sqrt(0.21), **RELATIVE)


@pytest.mark.parametrize(
    ("n", "score"),
    [(1, 0.7), (2, 0.5), (7, 0.5), (10, 0.3), (40, 0.05), (300, 0.9), (100_000, 0.31)],
)
def test_one_distinct_score_has_the_binomial_pvalue(n, score):
    scipy_stats = optional("scipy.stats")
    law = scipy_stats.binom(n, score)
    for events in sorted({0, 1, n // 3, round(n * score), min(n, round(n * score) + 3), n}):
        y = np.arange(n) < events
        result = secant.assess(y, np.full(n, score))
        assert result.ecce_r.value == result.ecce_mad.value
        assert result.ecce_r.pvalue == result.ecce_mad.pvalue
        # Beyond what doubles hold it is that of large samples.
        assert result.ecce_r.method == "exact" or result.ecce_r.log10_pvalue < -600
        reach = abs(events - n * score) * (1 - 1e-9)
        below, above = math.floor(n * score - reach), math.ceil(n * score + reach)
        expected = 1.0 if above <= below + 1 else law.cdf(below) + law.sf(above - 1)
        # scipy itself is good to about 1e-10 in the tails of large n.
        assert result.ecce_r.pvalue == pytest.approx(
            expected, rel=1e-9 if n > 1000 else 1e-12, abs=1e-290
        )


@pytest.mark.parametrize("weight", [1.0, 2.5, 1e-3])
def test_one_distinct_score_with_equal_weights(weight):
    """The scale of sampling weights does not matter, so equal ones change nothing."""
    for y in ([1], [1, 1, 0, 1, 1, 1]):
        plain = secant.assess(y, [0.3] * len(y))
        weighted = secant.assess(y, [0.3] * len(y), sample_weight=[weight] * len(y))
        for one, other in zip(statistics(plain), statistics(weighted), strict=True):
            assert other.pvalue == pytest.approx(one.pvalue, **RELATIVE)
            assert other.method == one.method


def test_one_distinct_score_with_copies_of_rows():
    plain = secant.assess([1, 1, 1, 0, 0], [0.2] * 5)
    copied = secant.assess([1, 0], [0.2] * 2, sample_weight=[3, 2], weight_kind="frequency")
    assert copied.to_dict() == plain.to_dict()


@pytest.mark.parametrize("method", ["auto", "asymptotic"])
@pytest.mark.parametrize(
    ("y", "p"),
    [([0, 1], [0.5, 0.5]), ([0, 1, 1], [0.0, 1.0, 1.0]), ([0], [0.0]), ([1] * 9, [1.0] * 9)],
)
def test_no_difference_at_all(method, y, p):
    for statistic in statistics(secant.assess(y, p, method=method)):
        assert (statistic.value, statistic.normalized) == (0, 0)
        assert (statistic.pvalue, statistic.log10_pvalue) == (1, 0)
    assert secant.assess(y, p).worst.n == 0


@pytest.mark.parametrize("method", ["auto", "asymptotic"])
@pytest.mark.parametrize(
    ("y", "p"), [([1], [0.0]), ([0, 0, 1], [1.0, 0.0, 1.0]), ([1, 0], [0.0, 1.0])]
)
def test_certain_and_wrong(method, y, p):
    result = secant.assess(y, p, method=method)
    assert result.sigma == 0
    for statistic in statistics(result):
        assert statistic.value > 0
        assert statistic.normalized == math.inf
        assert (statistic.pvalue, statistic.log10_pvalue) == (0, -math.inf)
    assert result.forbidden == tuple(i for i in range(len(y)) if y[i] != p[i])


def test_a_forbidden_row_leaves_the_pvalue_that_of_the_statistic():
    y, p = miscalibrated(500, power=1)
    p[7], y[7], p[20], y[20] = 0.0, 1, 1.0, 0
    result = secant.assess(y, p, method="asymptotic")
    assert result.forbidden == (7, 20)
    assert result.ecce_r.pvalue == pytest.approx(
        null.range.sf(result.ecce_r.normalized), **RELATIVE
    )
    weights = np.ones(500)
    weights[7] = 0  # a row of weight zero is absent
    assert secant.assess(y, p, sample_weight=weights).forbidden == (20,)


@given(predictions())
def test_asymptotic_pvalues_are_those_of_the_limit(data):
    y, p, w, kind = data
    result = secant.assess(y, p, sample_weight=w, weight_kind=kind, method="asymptotic")
    for statistic, law in ((result.ecce_r, null.range), (result.ecce_mad, null.mad)):
        known = result.sigma == 0 or result.ecce_r.value == 0
        assert statistic.method == ("exact" if known else "large-sample")
        if result.sigma > 0:
            assert statistic.normalized == pytest.approx(statistic.value / result.sigma, **RELATIVE)
        assert statistic.pvalue == pytest.approx(
            law.sf(statistic.normalized), rel=1e-12, abs=1e-300
        )
        assert statistic.draws is None
    assert type(secant.assess(y, p, sample_weight=w, weight_kind=kind).ecce_r.method) is str


@pytest.mark.parametrize("score", [0.3, 0.05, 1e-5, 0.125])
def test_a_p_value_has_no_rounding_at_its_end(score):
    assert secant.assess([1], [score]).ecce_r.pvalue == score
