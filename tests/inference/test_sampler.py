"""Simulated P-values: against enumeration, beyond what draws tell, and whatever order rows have."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._base.progress import showing
from secant._blocks.sorting import PathRows
from secant._inference import sampler
from secant._inference.draws import PValue
from secant._inference.sampler import pvalues
from secant._inference.tilt import Jumps, rate
from ties import enumerated


def rows(score, weight=None, label=None, ends=None):
    weight = None if weight is None else np.asarray(weight, float)
    ends = None if ends is None else np.asarray(ends)
    return PathRows(np.asarray(score, float), np.asarray(label), weight, ends)


def ask(some, seed=0, **options):
    return pvalues(lambda: [some], rng=np.random.default_rng(seed), **options)


def bounded(estimate):
    """Tell whether P is less than what so many draws can tell."""
    return estimate.log10 < -math.log10(1 + estimate.draws) - 1e-12


def model(some, draws=9999):
    """Return what is drawn for rows."""
    plan = sampler._plan(sampler._steps([some], None), draws)
    return sampler._paths(sampler._steps([some], None), plan)


def calibrated(n, seed=0, sigma=1.5, most=1.0):
    """Draw calibrated rows with lognormal weights, in the order of scores."""
    rng = np.random.default_rng(seed)
    score = most * np.sort(rng.random(n))
    return rows(score, rng.lognormal(0, sigma, n), rng.random(n) < score)


# Against enumeration ------------------------------------------------------------------------------


def check(some, outcome_weights=None, seed=1):
    """Compare with all outcomes there are: within four standard errors."""
    score, label, weight, ends = some
    if ends is None:
        ends = np.append(np.flatnonzero(np.diff(score)), len(score) - 1)
    if outcome_weights is not None:  # a step is 1 - q or -q times what it is longer
        o0, o1 = outcome_weights
        longer = o1 * (1 - score) + o0 * score
        score, weight = o0 * score / longer, weight * longer
    draws = 20_000
    found = ask(some, seed, outcome_weights=outcome_weights, draws=draws, enough=None)
    for estimate, p in zip(found, enumerated(score, ends, label, weight), strict=True):
        assert estimate.draws == draws
        if bounded(estimate):
            assert p * (1 - 1e-9) <= 10**estimate.log10 < 1 / draws
        else:
            error = math.sqrt(max(p * (1 - p), 1e-5) / draws)
            assert abs(10**estimate.log10 - p) <= 4 * error + 1 / draws


DESIGNS = [
    rows([0.1, 0.3, 0.35, 0.6, 0.8], [1.0, 3.0, 0.5, 2.0, 1.0], [1, 0, 1, 1, 0]),
    rows([0.2, 0.2, 0.2, 0.7, 0.7], [1.0, 2.0, 4.0, 1.0, 9.0], [1, 1, 0, 0, 0]),
    rows([0.0, 0.2, 0.5, 0.5, 1.0], [5.0, 1.0, 0.1, 0.2, 7.0], [0, 1, 1, 1, 1]),
    rows(np.arange(1, 9) / 10, [0.1] * 4 + [0.3] * 4, [0, 0, 1, 0, 0, 0, 1, 0]),
    rows([1e-6, 1e-3, 0.999, 0.9999], [900.0, 2.0, 3.0, 40.0], [0, 1, 1, 1]),
    rows([0.6, 0.1, 0.4, 0.2], [1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0], ends=[1, 3]),  # other orders
    rows([0.6, 0.1, 0.4, 0.2], [1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0], ends=[0, 1, 2, 3]),
    rows([0.3, 0.3, 0.3, 0.6, 0.6], None, [0, 0, 1, 0, 0]),  # counted copies are rows
]


@pytest.mark.parametrize("outcome_weights", [None, (5.0, 1.0), (1.0, 20.0)])
@pytest.mark.parametrize("design", DESIGNS)
def test_pvalues_are_those_of_all_outcomes(design, outcome_weights):
    weight = np.ones(len(design.scores)) if design.weights is None else design.weights
    check(design._replace(weights=weight), outcome_weights)


@pytest.mark.parametrize("seed", range(12))
def test_pvalues_of_random_rows_are_those_of_all_outcomes(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    score = np.sort(rng.random(n) ** rng.choice([1, 4])).round(2)
    check(rows(score, rng.lognormal(0, 1, n).round(2), rng.integers(0, 2, n)), seed=seed)


def test_what_ties_with_the_observed_path_counts():
    """Weights of tenths, in which sums differ by rounding: all outcomes are as extreme."""
    found = ask(rows([0.5] * 3, [0.1, 0.2, 0.3], [0, 0, 1]), draws=500, enough=None)
    assert found == (PValue(0.0, "simulated", 500),) * 2
    same = rows([0.5, 0.5], [0.1, 0.7], [1, 1])  # as extreme: both, and neither
    assert 10 ** ask(same, draws=4000, enough=None)[0].log10 == pytest.approx(0.5, abs=0.04)


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.7]), st.integers(1, 3)), min_size=1))
def test_draws_with_the_same_events_have_the_same_path_to_the_last_bit(pairs):
    score, weight = np.array(sorted(pairs)).T
    drawn = model(rows(score, weight * 0.1, np.zeros(len(score))))
    paths = drawn.draw(np.random.default_rng(0), 50)
    events = np.rint(paths + drawn.expected)
    for column, expected, path in zip(events.T, drawn.expected, paths.T, strict=True):
        assert (column - expected == path).all()


# Beyond what draws can tell -----------------------------------------------------------------------


def test_there_is_no_floor():
    """A hundred weighted groups with every score inverted are told from calibrated ones."""
    rng = np.random.default_rng(4)
    for seed in range(101):
        score = np.sort(rng.random(300))
        some = rows(score, rng.lognormal(0, 0.7, 300), rng.random(300) < 1 - score)
        for estimate in ask(some, seed, draws=999):
            assert bounded(estimate)
            assert (estimate.method, estimate.draws) == ("upper bound", 999)
            assert estimate.log10 < -4.5


def test_the_most_extreme_outcome_has_its_own_probability():
    score = np.array([0.9, 0.95, 0.97, 0.99])
    _, mad = ask(rows(score, [1.0, 2.0, 3.0, 4.0], [0] * 4))
    assert bounded(mad)
    assert mad.log10 == pytest.approx(np.log10(1 - score).sum(), abs=1e-9)


def test_a_bound_is_taken_only_where_no_draw_is_as_extreme_and_it_is_less():
    r, mad = ask(calibrated(50), draws=5, enough=None)
    for estimate in (r, mad):
        assert not bounded(estimate)
    score = np.full(40, 0.5)
    some = rows(score, np.linspace(1, 2, 40), np.arange(40) >= 17)
    r, mad = ask(some, draws=2, enough=None)  # of one tie range and deviation are the same
    assert r.method == mad.method == "upper bound"
    assert (bounded(r), bounded(mad)) == (False, True)
    assert r.log10 == math.log10(1 / 3)
    assert 0.1 < 10**mad.log10 < 1 / 3


def test_what_cannot_happen_has_probability_zero():
    r, mad = ask(rows([0.0, 0.5, 1.0], [10.0, 2.0, 30.0], [1, 1, 0]))
    assert r.log10 == mad.log10 == -math.inf


@pytest.mark.parametrize("kind", [(1, 1), (0.5, 100), (50, 0.5)])
def test_the_tail_of_light_rows_is_nearly_that_of_each(kind):
    """They are taken together by kinds, on the safe side: a rate is at most 2% too small."""
    rng = np.random.default_rng(2)
    score, weight = np.sort(rng.beta(*kind, 30_000)), rng.lognormal(0, 1.5, 30_000)
    drawn = model(rows(score, weight, np.zeros(30_000)))
    assert drawn.noise.any()
    assert len(drawn.jumps.count) < 30_000
    unit = drawn.jumps.size.max() / weight.max()
    every = Jumps(np.ones(30_000), score, unit * weight)
    sigma = unit * math.sqrt((weight**2 * score * (1 - score)).sum())
    for x in (3.0, 6.0, 12.0):
        for sign in (1, -1):
            exact = rate(every, x * sigma, sign)
            if math.isfinite(exact):
                assert 0.98 * exact < rate(drawn.jumps, x * sigma, sign) < 1.001 * exact


# What is drawn ------------------------------------------------------------------------------------


def test_all_rows_are_drawn_while_that_is_cheap():
    few, many = model(calibrated(300)), model(calibrated(20_000))
    assert (len(few.noise), len(few.jump)) == (300, 300)
    assert not few.noise.any()
    assert many.noise.any()
    assert len(many.noise) <= sampler._CELLS + 1
    assert 0 < len(many.jump) < 5000


def test_few_rare_events_among_many_rows_are_all_drawn_and_looks_are_few():
    rng = np.random.default_rng(1)
    score = 1e-3 * np.sort(rng.random(60_000))
    drawn = model(rows(score, np.linspace(1, 2, 60_000), np.zeros(60_000)))
    assert not drawn.noise.any()
    assert len(drawn.noise) <= sampler._CELLS + 1
    assert len(drawn.jump) == np.count_nonzero(score)


def test_light_rows_are_small_beside_the_whole_path_and_all_variance_is_kept():
    n = 20_000
    score = np.linspace(0.2, 0.8, n)
    weight = np.ones(n)
    for factor, heavy in ((0.9, 0), (1.1, 1)):
        weight[5000] = factor * 0.02 * math.sqrt((score * (1 - score)).sum())
        drawn = model(rows(score, weight, np.zeros(n)))
        assert len(drawn.jump) == heavy
        unit = drawn.jumps.size.max() / max(weight)
        variance = float((weight**2 * score * (1 - score)).sum())
        if not heavy:
            unit = math.sqrt((drawn.noise**2).sum() / variance)
        chance = -np.expm1(-np.diff(drawn.reached, prepend=0.0))
        found = (drawn.noise**2).sum() + (drawn.jump**2 * chance * (1 - chance)).sum()
        assert found / unit**2 == pytest.approx(variance, rel=1e-9)


def test_cells_share_the_variance_of_light_rows_beside_heavy_ones():
    """Sixty rows have nearly all of the variance; the others are not pooled for that."""
    score, weight = np.random.default_rng(0).random(20_000), np.ones(20_000)
    score[:60], weight[:60] = 0.001, 1e6
    order = np.lexsort((weight, score))
    drawn = model(rows(score[order], weight[order], np.zeros(20_000)))
    assert 400 <= len(drawn.noise) <= sampler._CELLS + 1
    assert (drawn.noise**2).max() <= (drawn.noise**2).sum() / 250


def test_paths_have_the_variance_of_the_rows_and_no_drift():
    rng = np.random.default_rng(7)
    score = np.sort(np.concatenate([rng.random(6000), np.full(50, 0.01), np.full(50, 0.99)]))
    weight = np.where((score == 0.01) | (score == 0.99), 60.0, 1.0)
    drawn = model(rows(score, weight, np.zeros(len(score))))
    assert drawn.noise.any()
    assert len(drawn.jump) >= 100
    unit = drawn.jumps.size.max() / 60.0
    last = np.concatenate([drawn.draw(rng, 100)[:, -1] for _ in range(40)]) / unit
    variance = float((weight**2 * score * (1 - score)).sum())
    assert abs(last.mean()) < 4.5 * math.sqrt(variance / 4000)
    assert last.var() == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize("expected", [0.009, 0.05, 0.1])
def test_a_heavy_row_that_hardly_ever_happens_makes_no_other_light(expected):
    """All others decide then: half of their single events are as extreme as the observed one."""
    n = 100_200
    place = np.arange(n) / n
    p, w = expected / (n - 1) * (1 + 1e-3 * place), 1 + 0.01 * place
    p[-1], w[-1] = 1e-5, 17_000
    for estimate in ask(rows(p, w, np.arange(n) == n // 2)):
        assert 0.4 * expected < 10**estimate.log10 < 0.62 * expected + 1e-3


def test_without_a_single_point_there_are_paths():
    drawn = model(rows([1e-200, 0.5], [1e50, 1e-50], [0, 1]))
    assert drawn.draw(np.random.default_rng(0), 3).shape == (3, 2)
    nothing = ask(rows([0.0, 1.0], [1.0, 2.0], [0, 1]))
    assert [estimate.log10 for estimate in nothing] == [0.0, 0.0]


@pytest.mark.parametrize("unit", [1e-290, 1e-10, 1e10, 1e290])
def test_the_unit_of_weights_does_not_matter(unit):
    some = calibrated(200)
    factor = 2.0 ** math.floor(math.log2(unit))
    assert ask(some._replace(weights=some.weights * factor)) == ask(some)


def test_fewer_draws_are_made_where_each_takes_long(monkeypatch):
    monkeypatch.setattr(sampler, "_MOST", 1)
    assert {each.draws for each in ask(calibrated(20), enough=None)} == {999}
    assert {each.draws for each in ask(calibrated(20), enough=None, draws=50)} == {50}


@pytest.mark.parametrize("work", [0, 10**9])
def test_calibrated_rows_are_rejected_as_often_as_the_level_says(work, monkeypatch):
    """Whether every row is drawn or light ones are normal steps."""
    monkeypatch.setattr(sampler, "_WORK", work)
    found = [ask(calibrated(400, seed), seed, draws=199, enough=None) for seed in range(500)]
    for alpha in (0.05, 0.2):
        error = math.sqrt(alpha * (1 - alpha) / 500)
        for estimates in zip(*found, strict=True):
            rejected = np.mean([10**each.log10 <= alpha * (1 + 1e-9) for each in estimates])
            assert abs(rejected - alpha) < 3.5 * error


# The same answer ----------------------------------------------------------------------------------


def ties():
    """Return rows of which many share a score, and some a weight."""
    rng = np.random.default_rng(3)
    score, weight = rng.random(3000).round(2), rng.lognormal(0, 1.5, 3000).round(1) + 0.1
    order = np.lexsort((weight, score))
    return rows(score[order], weight[order], rng.random(3000) < score[order])


def test_the_same_call_gives_the_same_bits():
    some = calibrated(3000)
    assert ask(some) == ask(some)
    assert ask(some) != ask(some, seed=1)


@pytest.mark.parametrize("together", [7, 100, 1 << 16])
@pytest.mark.parametrize("work", [0, 10**9])
@pytest.mark.parametrize("given_ends", [False, True])
def test_pieces_give_the_same_bits_as_all_at_once(together, work, given_ends, monkeypatch):
    """However rows are cut, between ties, and nothing that is cut is lost."""
    monkeypatch.setattr(sampler, "_TOGETHER", together)
    monkeypatch.setattr(sampler, "_WORK", work)
    whole = ties()
    last = np.append(np.flatnonzero(np.diff(whole.scores)), 2999)
    pieces = []
    for start, stop in zip(
        [0, *(last[[0, 1, 30, 31, 77]] + 1)], [*(last[[0, 1, 30, 31, 77]] + 1), 3000], strict=True
    ):
        inside = last[(last >= start) & (last < stop)] - start
        columns = [column[start:stop] for column in whole[:3]]
        pieces.append(PathRows(*columns, inside if given_ends else None))
    found = pvalues(lambda: iter(pieces), rng=np.random.default_rng(0), draws=300)
    assert found == ask(whole, draws=300)


def test_rows_are_looked_at_twice_whatever_they_are():
    looks = []
    some = calibrated(20_000)
    pvalues(lambda: looks.append(0) or [some], rng=np.random.default_rng(0), draws=200)
    assert len(looks) == 2


def test_memory_is_bounded_by_heavy_rows_and_cells():
    drawn = model(calibrated(150_000, sigma=0.5))
    kept = drawn.noise, drawn.expected, drawn.jump, drawn.jumps.count
    assert sum(column.size for column in kept) < 20_000


@pytest.mark.parametrize("work", [0, 10**9])
def test_the_order_of_rows_that_are_alike_changes_nothing(work, monkeypatch):
    monkeypatch.setattr(sampler, "_WORK", work)
    some = ties()
    order = np.lexsort((np.random.default_rng(5).random(3000), some.weights, some.scores))
    other = some._replace(labels=some.labels[order])
    assert (other.labels != some.labels).any()
    assert ask(other, draws=300) == ask(some, draws=300)


def test_failures_of_one_are_events_of_the_other():
    """Score and outcome turned round, the path is the same upside down."""
    some = calibrated(2000, most=0.3)
    turned = rows(1 - some.scores, some.weights, ~some.labels, np.arange(2000))
    for one, other in zip(ask(some), ask(turned), strict=True):
        assert one == other


def test_progress_is_reported():
    seen = []
    with showing(lambda *pair: seen.append(pair)):
        ask(calibrated(300), draws=150, enough=None)
    assert seen[-1] == (150, 150)
