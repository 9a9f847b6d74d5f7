"""Which P-value ``method="auto"`` takes: just below and just above each limit of its rule."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from secant._inference.finite import Bracket

import secant
from helpers import optional
from samples import EXACT, RELATIVE, miscalibrated, predictions, statistics
from secant import null
from secant._blocks.table import Totals, collapse
from secant._inference import chains_numba, choose, finite, montecarlo
from secant._input.observations import observations
from secant._metrics.ecce import extremes
from secant.sources import ordered
from secant.sources.rows import RowSource

# Operations that a finite-sample P-value may take, and how often that where the limit of many
# observations cannot take its place; the variance from which it can.
BUDGET = 800_000_000
PATIENCE = 8
LARGE_VARIANCE = 400
# Rows and distinct scores from which nothing is counted any more.
MANY_ROWS = 65_536
MANY_SCORES = 4096


def methods(result):
    """Name the methods of both metrics; what draws bound is simulated too."""
    both = result.ecce_r, result.ecce_mad
    return ["simulated" if each.draws else each.method for each in both]


def counted(scores, n, share=0.49):
    """Assess ``n`` rows, as many of each score as of any other, of which a share happened."""
    copies = np.diff(np.arange(len(scores) + 1) * n // len(scores))
    happened = (copies * share).astype(int)
    return secant.assess(
        np.repeat([0, 1], len(scores)),
        np.tile(scores, 2),
        sample_weight=np.concatenate([copies - happened, happened]),
        weight_kind="frequency",
    )


def weighted(heaviest, n=4901, score=0.5, **options):
    """Assess rows of weight 1 and a last one that is heavier; every other one happened."""
    w = np.append(np.ones(n - 1), heaviest)
    return secant.assess(np.arange(n) % 2, np.full(n, score), sample_weight=w, **options)


@pytest.fixture
def costs(monkeypatch):
    """Let a test say what finite-sample P-values cost; they cost nothing to compute here."""

    def say(r, mad):
        cost = {"r": r, "mad": mad}
        monkeypatch.setattr(finite, "operations", lambda *table, **_: cost[table[3]])

    def known(*_table, **_options):
        return Bracket(-1.0, -1.0)

    monkeypatch.setattr(finite, "certified_r", known)
    monkeypatch.setattr(finite, "certified_mad", known)
    say(0, 0)
    return say


# Equal weights ------------------------------------------------------------------------------------


ENOUGH, TOO_LITTLE = 4 * LARGE_VARIANCE, 4 * LARGE_VARIANCE - 1  # rows with scores of 1/2


@pytest.mark.parametrize(
    ("n", "r", "mad", "expected"),
    [
        (ENOUGH, BUDGET, BUDGET, ["exact", "exact"]),
        (ENOUGH, BUDGET + 1, BUDGET, ["large-sample", "exact"]),
        (ENOUGH, BUDGET, BUDGET + 1, ["exact", "large-sample"]),
        (TOO_LITTLE, PATIENCE * BUDGET, PATIENCE * BUDGET, ["exact", "exact"]),
        (TOO_LITTLE, PATIENCE * BUDGET + 1, PATIENCE * BUDGET, ["simulated", "exact"]),
        (TOO_LITTLE, PATIENCE * BUDGET, PATIENCE * BUDGET + 1, ["exact", "simulated"]),
    ],
)
def test_finite_samples_within_the_budget(costs, n, r, mad, expected):
    costs(r, mad)
    assert methods(counted([0.5], n)) == expected


@pytest.mark.parametrize(
    ("n", "scores", "expected"),
    [
        (MANY_ROWS + 1, MANY_SCORES + 1, "large-sample"),
        (MANY_ROWS, MANY_SCORES + 1, "exact"),
        (MANY_ROWS + 1, MANY_SCORES, "exact"),
    ],
)
def test_many_rows_of_many_scores_are_not_even_counted(costs, n, scores, expected):
    result = counted(np.linspace(0.2, 0.8, scores), n)
    assert result.n == n
    assert methods(result) == [expected] * 2


def test_many_rows_without_variance_are_never_large_sample(costs, monkeypatch):
    monkeypatch.setattr(choose, "FEWEST_DRAWS", 9)
    scores = np.linspace(0.001, 0.002, MANY_SCORES + 1)
    assert methods(counted(scores, MANY_ROWS + 1)) == ["exact"] * 2
    costs(10**18, 10**18)
    assert methods(counted(scores, MANY_ROWS + 1)) == ["simulated"] * 2


@pytest.mark.parametrize(
    ("n", "cells", "method", "share", "wanted"),
    [
        (MANY_ROWS + 1, MANY_SCORES + 1, "auto", 0.25, False),
        (MANY_ROWS, MANY_SCORES + 1, "auto", 0.25, True),
        (MANY_ROWS + 1, MANY_SCORES, "auto", 0.25, True),
        (MANY_ROWS + 1, MANY_SCORES + 1, "exact", 0.25, True),
        (MANY_ROWS + 1, MANY_SCORES + 1, "asymptotic", 0.25, False),
        (MANY_ROWS + 1, MANY_SCORES + 1, "auto", 0.001, True),
        (MANY_ROWS + 1, MANY_SCORES + 1, "auto", 0.0, False),
    ],
)
def test_cells_are_looked_into_for_the_same_reasons(n, cells, method, share, wanted):
    """``share`` is the average variance of a row."""
    ties = collapse(np.arange(cells) / cells, np.zeros(cells, int), None)
    blocks = replace(ties, high=ties.low + 0.1 / cells)
    totals = Totals(n, float(n), float(n), share * n, n / 2, third=share * n)
    assert choose.needed(blocks, totals, method).tolist() == [wanted] * cells


def test_along_another_order_blocks_are_not_looked_into_for_a_pvalue():
    """Rows are asked for by score there, and what is beyond any budget is not counted."""
    keys = collapse(np.arange(50) / 50, np.zeros(50, int), None)
    cells = replace(keys, high=keys.low + 0.01)
    along = replace(cells, least=np.full(50, 0.4), most=np.full(50, 0.6))
    few, many = (Totals(n, n, n, n / 4, n / 4, third=n / 4) for n in (500, MANY_ROWS + 1))
    assert choose.needed(cells, few, "auto").all()
    assert not choose.needed(along, few, "auto").any()
    ties = replace(along, high=along.low)
    assert choose.work(ties, many, "auto") == 0
    assert choose.work(replace(ties, least=None, most=None), many, "auto") > 0


@pytest.mark.parametrize(
    ("n", "weights", "method", "more"),
    [
        (MANY_ROWS, 1.0, "auto", True),
        (MANY_ROWS + 1, 1.0, "auto", False),
        (MANY_ROWS + 1, 1.0, "exact", True),
        (MANY_ROWS + 1, 2.0, "auto", True),  # of unequal weights, few enough to draw for
        (100_101, 2.0, "auto", False),
        (100_101, 2.0, "monte-carlo", True),
    ],
)
def test_more_than_the_limit_is_asked_for_up_to_many_rows(n, weights, method, more):
    """``weights`` is the sum of squares beside that of equal ones."""
    totals = Totals(n, n, weights * n, n / 4, n / 4, third=n / 4)
    assert totals.equal_weights == (weights == 1)
    assert choose.asks_for_more(totals, method) == more


def test_weights_whose_third_moments_were_not_summed_take_the_limit_as_it_is():
    rng = np.random.default_rng(0)
    p, w = rng.random(4000), rng.random(4000) + 0.5
    result = secant.assess(rng.random(4000) < p**1.1, p, sample_weight=w, method="asymptotic")
    old = replace(result._totals, third=None, steps=None)
    found = extremes(result._blocks, old.weight)[1]
    source = RowSource(observations(np.zeros(1), np.ones(1)))
    pair = choose._large_sample(result._blocks, old, found, source)
    for pvalue, statistic, law in zip(
        pair, statistics(result), (null.range, null.mad), strict=True
    ):
        assert pvalue.log10 == pytest.approx(
            law.logsf(statistic.normalized) / math.log(10), **RELATIVE
        )
        tilted = choose._large_sample(result._blocks, result._totals, found, source)
        assert pvalue not in tilted  # what the third moments are for


def test_draws_where_nothing_else_will_do(costs):
    """No draw of events with a chance of one in a million is like as many as happened here."""
    costs(10**18, 10**18)
    result = counted([1e-6, 2e-6], 1000)
    assert result.ecce_r.method == result.ecce_mad.method == "upper bound"
    assert result.ecce_r.draws == result.ecce_mad.draws == 999
    assert result.ecce_r.pvalue == pytest.approx(1 / 1000)


def test_large_pvalues_of_few_distinct_scores_are_exact():
    """Paths that both rise and fall as far as observed are told apart; nothing is drawn."""
    rng = np.random.default_rng(3)
    p = rng.random(200)
    y = rng.random(200) < p
    found, asked = secant.assess(y, p).ecce_r, secant.assess(y, p, method="exact").ecce_r
    assert found == asked
    assert (found.method, found.draws) == ("exact", None)
    assert found.pvalue > 0.3
    drawn = secant.assess(y, p, method="monte-carlo", rng=1).ecce_r
    assert found.pvalue == pytest.approx(drawn.pvalue, abs=0.15)
    assert secant.assess(y, p, rng=np.random.default_rng(5)).ecce_r == found


@pytest.mark.parametrize("distinct", [1200, 10**9])
def test_many_scores_are_estimated_in_place_of_drawing(distinct):
    """Within a percent of what very many draws give."""
    rng = np.random.default_rng(3)
    estimated = 0
    for _ in range(6):
        p = rng.integers(1, distinct, 2600) / distinct
        y = rng.random(2600) < p
        found = secant.assess(y, p).ecce_r
        if found.method != "large-sample":
            continue
        estimated += 1
        score, place = np.unique(p, return_inverse=True)
        table = score, np.bincount(place), np.bincount(place, y).astype(int)
        options = {"rng": np.random.default_rng(1), "draws": 3000}
        drawn = montecarlo.draw_ties(*table, **options)[0].pvalue
        assert found.pvalue == pytest.approx(drawn, abs=0.01 + 4 * math.sqrt(0.25 / 3000))
    assert estimated


@pytest.mark.parametrize(
    ("low", "high", "drawn"),
    [(0.25, 0.35, True), (0.335, 0.344, False), (0.25, 0.299, False), (1e-9, 2e-9, False)],
)
def test_nothing_is_drawn_where_a_decision_could_hang_on_it(low, high, drawn, monkeypatch):
    bracket = Bracket(math.log10(low), math.log10(high))
    monkeypatch.setattr(finite, "certified_r", lambda *_table, **_options: bracket)
    # More rows than are looked at together with other tables.
    found = secant.assess(np.arange(300) % 2, np.linspace(0.2, 0.7, 300)).ecce_r
    assert (found.method == "simulated") is drawn
    assert drawn or found.pvalue == pytest.approx(high, **RELATIVE)


def test_the_upper_limit_stays_where_the_fewest_draws_would_take_too_long(monkeypatch):
    bracket = Bracket(math.log10(0.4), math.log10(0.6))
    monkeypatch.setattr(finite, "certified_r", lambda *_table, **_options: bracket)
    y, p = np.arange(300) % 2, np.linspace(0.2, 0.7, 300)
    assert secant.assess(y, p).ecce_r.method == "simulated"
    monkeypatch.setattr(choose, "_MOST_COINS", 300 * choose.FEWEST_DRAWS - 1)
    found = secant.assess(y, p).ecce_r
    assert (found.method, found.pvalue) == ("upper bound", pytest.approx(0.6, **RELATIVE))


# Rare events along another order ------------------------------------------------------------------


@pytest.mark.parametrize(("n", "pooled"), [(65_536, False), (65_537, True)])
def test_rare_events_along_another_order_are_pooled(n, pooled, monkeypatch):
    """Above 65,536 rows of as many places, as in the order of scores."""
    asked = []
    whole = finite.of_grains
    monkeypatch.setattr(finite, "of_grains", lambda *a, **b: asked.append(1) or whole(*a, **b))
    known = Bracket(-1.0, -1.0)
    for name in ("certified_r", "certified_mad"):
        monkeypatch.setattr(finite, name, lambda *_table, **_options: known)
    rng = np.random.default_rng(0)
    p = rng.random(n) * 100 / n
    y = rng.random(n) < p
    result = secant.assess(y, p, order_by=rng.permutation(n))
    assert bool(asked) is pooled
    assert result.ecce_mad.method == ("upper bound" if pooled else "exact")


@pytest.mark.parametrize("places", [None, 70])
def test_grains_along_another_order_bound_the_exact_pvalues(places, monkeypatch):
    monkeypatch.setattr(choose, "_MANY_ROWS", 1000)
    monkeypatch.setattr(choose, "grain_size", lambda _totals: 0.03)
    monkeypatch.setattr(ordered, "MANY_TIES", 100)
    rng = np.random.default_rng(5)
    n = 2000
    p = rng.random(n) * 0.02
    y = rng.random(n) < 1.5 * p
    x = rng.random(n) if places is None else rng.integers(0, places, n)
    ours, exact = (secant.assess(y, p, order_by=x, method=m) for m in ("auto", "exact"))
    assert exact.ecce_mad.pvalue <= ours.ecce_mad.pvalue
    assert exact.ecce_r.pvalue / 1.01 <= ours.ecce_r.pvalue <= 1.3 * exact.ecce_r.pvalue


@pytest.mark.parametrize("places", [None, 70])
def test_large_pvalues_from_grains_are_estimated(places, monkeypatch):
    """And are the same in any order of rows, whatever generator is given."""
    monkeypatch.setattr(choose, "_MANY_ROWS", 1000)
    monkeypatch.setattr(choose, "grain_size", lambda _totals: 0.03)
    monkeypatch.setattr(ordered, "MANY_TIES", 100)
    rng = np.random.default_rng(8)
    n = 2000
    p = rng.random(n) * 0.02
    y = rng.random(n) < p
    x = rng.random(n) if places is None else rng.integers(0, places, n)
    ours, exact = (secant.assess(y, p, order_by=x, method=m) for m in ("auto", "exact"))
    assert exact.ecce_r.pvalue > 0.3
    if ours.ecce_r.method == "simulated":
        assert ours.ecce_r.pvalue == pytest.approx(exact.ecce_r.pvalue, abs=0.03)
    order = rng.permutation(n)
    again = secant.assess(y[order], p[order], order_by=x[order], rng=np.random.default_rng(9))
    assert again.ecce_r == ours.ecce_r


def test_scores_near_both_ends_in_turns_are_drawn_for_along_another_order(monkeypatch):
    """No neighbours are alike, so nothing can be pooled; draws look at events alone."""
    monkeypatch.setattr(choose, "_MANY_ROWS", 1000)
    monkeypatch.setattr(choose, "_MANY_GRAINS", 1999)
    monkeypatch.setattr(ordered, "MANY_TIES", 100)
    rng = np.random.default_rng(5)
    p = np.where(np.arange(2000) % 2, 0.01, 0.99) + rng.random(2000) * 0.005
    y = rng.random(2000) < p
    x = np.arange(2000)
    drawn, exact = (secant.assess(y, p, order_by=x, method=m) for m in ("auto", "exact"))
    assert methods(drawn) == ["simulated"] * 2
    error = 0.1 * exact.ecce_mad.pvalue  # a hundred as extreme
    assert drawn.ecce_mad.pvalue == pytest.approx(exact.ecce_mad.pvalue, abs=4 * error)
    monkeypatch.setattr(choose, "_MANY_GRAINS", 2000)
    assert methods(secant.assess(y, p, order_by=x)) == ["upper bound", "exact"]


# Sampling weights ---------------------------------------------------------------------------------


def test_up_to_a_hundred_million_coins_are_tossed_for_weighted_rows():
    """999 draws of 100,100 rows are the most that "auto" makes, if the limit can replace them."""
    assert methods(weighted(1.5, 100_101)) == ["large-sample"] * 2
    assert methods(weighted(1.5, 100_100)) == ["simulated"] * 2


@pytest.mark.parametrize(
    ("n", "draws"), [(100, 9999), (10_000, 9999), (10_002, 9998), (50_000, 2000), (100_100, 999)]
)
def test_as_many_draws_as_there_are_coins(n, draws, monkeypatch):
    """A tenth of the rows happened, of which one in a million should have."""
    made = []
    drawn = choose._monte_carlo

    def draw(*args, **options):
        made.append(args[-1])
        return drawn(*args[:-1], 1, **options)

    monkeypatch.setattr(choose, "_monte_carlo", draw)
    w = np.append(np.ones(n - 1), 2.0)
    secant.assess(np.arange(n) % 10 == 0, np.full(n, 1e-6), sample_weight=w)
    assert made == [draws]


@pytest.mark.parametrize(
    ("n", "heaviest", "expected"),
    [
        (4901, 16.0, "large-sample"),  # rho3 = 2 (4900 + 16^3) / (4900 + 16^2)^1.5 = 0.0486
        (4901, 17.0, "simulated"),  # 0.0525
        (1602, 1.5, "large-sample"),
        (1600, 1.5, "simulated"),
    ],
)
def test_the_limit_needs_a_rho3_of_a_twentieth(n, heaviest, expected, monkeypatch):
    monkeypatch.setattr(choose, "_COINS", 0)
    assert methods(weighted(heaviest, n)) == [expected] * 2
    asked = weighted(heaviest, n, method="asymptotic").warnings
    assert any("With such weights" in line for line in asked) == (expected != "large-sample")


@pytest.mark.parametrize("weight", [1e-3, 0.1, 0.3, 1, 7e5])
def test_equal_weights_are_no_weights(weight):
    """However their sums are rounded; weights that differ by a thousandth are weights."""
    y, p = np.arange(90) % 3 == 0, np.linspace(0.1, 0.6, 90)
    w = np.full(90, float(weight))
    equal, none = secant.assess(y, p, sample_weight=w), secant.assess(y, p)
    assert [s.method for s in (equal.ecce_r, equal.ecce_mad)] == [
        s.method for s in (none.ecce_r, none.ecce_mad)
    ]
    w[5] *= 1.001
    assert methods(secant.assess(y, p, sample_weight=w)) == ["simulated"] * 2


def test_draws_stop_at_the_hundredth_as_extreme():
    result = weighted(1.5, 101)
    for statistic in (result.ecce_r, result.ecce_mad):
        assert statistic.pvalue == pytest.approx(100 / statistic.draws)


# With numba and without ---------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["few rows", "ten scores", "rare"])
def test_numba_does_not_choose_the_method(case, monkeypatch):
    """The kernel that numba compiles, run as it stands, so that no test waits for a compiler."""
    rng = np.random.default_rng(0)
    p = {
        "few rows": lambda: rng.random(260),
        "ten scores": lambda: rng.integers(1, 11, 260) / 11,
        "rare": lambda: rng.beta(1, 200, 260),
    }[case]()
    y = rng.random(len(p)) < p**1.5
    ran = []

    def plain_run(function, ways, *options):
        ran.extend(ways)
        return run(chains_numba.absorb, ways, *options)

    run = chains_numba.run
    monkeypatch.setattr(chains_numba, "run", plain_run)
    monkeypatch.setattr(chains_numba, "_compiled", lambda: None)
    monkeypatch.setattr(finite, "_WORTH_COMPILING", 0)
    monkeypatch.setattr(finite, "is_usable", lambda _name: True)
    compiled = secant.assess(y, p)
    assert len(ran) == 3  # a rise, a fall, a deviation
    monkeypatch.setattr(finite, "is_usable", lambda _name: False)
    plain = secant.assess(y, p)
    assert len(ran) == 3
    for one, other in ((compiled.ecce_r, plain.ecce_r), (compiled.ecce_mad, plain.ecce_mad)):
        assert one.method == other.method
        assert one.pvalue == pytest.approx(other.pvalue, rel=1e-12)


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
        assert result.ecce_r.method == "exact"
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
        assert statistic.method == "large-sample"
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


@pytest.mark.parametrize("method", ["auto", "exact"])
@pytest.mark.parametrize("rows", [12, 13])
def test_all_outcomes_of_few_rows_are_gone_through(rows, method, monkeypatch):
    """And beyond that chains are as exact."""
    rng = np.random.default_rng(rows)
    y, p = rng.integers(0, 2, rows), rng.random(rows)
    found = secant.assess(y, p, method=method)
    monkeypatch.setattr(choose, "MOST", 25 - rows)  # the other way
    other = secant.assess(y, p, method=method)
    for one, two in ((found.ecce_r, other.ecce_r), (found.ecce_mad, other.ecce_mad)):
        assert one.method == two.method == "exact"
        assert one.pvalue == pytest.approx(two.pvalue, **RELATIVE)


def test_few_rows_of_unequal_weights_are_still_drawn_for():
    rng = np.random.default_rng(0)
    y, p, w = np.arange(10) % 2, rng.random(10), rng.random(10)
    assert secant.assess(y, p, sample_weight=w).ecce_r.method == "simulated"
    same = secant.assess(y, p, sample_weight=np.full(10, 0.3))
    assert same.ecce_r.pvalue == pytest.approx(secant.assess(y, p).ecce_r.pvalue, **RELATIVE)
