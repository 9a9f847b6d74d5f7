"""The exact walk: beside all outcomes, a slow chain, the binomial law, and in every batch."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant._base import extras
from secant._inference import lattice, walk
from ties import (
    by_fractions,
    by_states,
    enumerated,
    observed_table,
    random_ties,
    rows_of,
    table,
    tables,
)

NEXT_TO_NOTHING = 1e-290


def pvalues(*some, **options):
    return 10.0 ** walk.log10_pvalues(list(some), **options)


def close(found, expected, relative=1e-13):
    return found == pytest.approx([float(p) for p in expected], rel=relative, abs=NEXT_TO_NOTHING)


# Beside brute force -------------------------------------------------------------------------------


@given(tables(most=8))
def test_all_outcomes_of_few_rows(ties):
    """With ties, scores of 0 and 1 and what they forbid, and scores next to them."""
    assert close(pvalues(ties)[0], by_fractions(*ties))


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 6)), min_size=1, max_size=4), st.data())
def test_all_counts_of_ties(pairs, data):
    score = np.array(sorted({each for each, _ in pairs})) / 10
    n = np.array([size for _, size in pairs][: len(score)])
    n1 = np.array([data.draw(st.integers(0, int(size))) for size in n])
    assert close(pvalues((score, n, n1))[0], by_fractions(score, n, n1))


KINDS = {
    "uniform": lambda rng: rng.random(22),
    "tied": lambda rng: rng.integers(1, 10, 60) / 10,
    "rare": lambda rng: rng.beta(1, 30, 40),
    "confident": lambda rng: rng.beta(20, 0.5, 30),
    "both ends": lambda rng: rng.beta(0.2, 0.2, 30).clip(1e-6, 1 - 1e-6),
    "next doubles": lambda rng: 0.5 + np.spacing(0.5) * rng.integers(0, 9, 40),
    "certain ones": lambda rng: np.append(rng.random(18), [0.0, 0.0, 1.0, 1.0]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_slow_chain_of_what_was_reached(kind, seed):
    rng = np.random.default_rng(seed)
    ties = observed_table(rng, KINDS[kind](rng), [0.0, 0.2, -0.6][seed])
    assert close(pvalues(ties)[0], by_states(*ties))


@pytest.mark.parametrize("score", [0.001, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 1000, 10**5])
def test_one_score_has_the_two_sided_binomial_p(score, n):
    law, expected = optional("scipy.stats").binom(n, score), n * score
    for events in {0, round(expected), min(n, round(expected + 3 * math.sqrt(expected))), n}:
        r, mad = walk.log10_pvalues(
            [(np.array([score]), np.array([n]), np.array([events]))], lambda _: 700.0
        )[0]
        assert r == pytest.approx(mad, rel=1e-14)
        far = abs(events - expected) * (1 - 1e-11)
        below, above = math.floor(expected - far), math.ceil(expected + far)
        truth = 1.0 if above <= below + 1 else law.cdf(below) + law.sf(above - 1)
        assert 10**r == pytest.approx(truth, rel=1e-9, abs=1e-280)  # as good as scipy is


@pytest.mark.parametrize("seed", range(5))
def test_failures_of_failures_are_events(seed):
    """Scores and outcomes turned round: the same path upside down, and from its end."""
    score, n, n1 = random_ties(seed)
    y, p = rows_of(score, n, n1)
    score, n, n1 = table(np.round(p * 1024) / 1024, y)  # so that 1 - score is a double
    found = walk.log10_pvalues([(score, n, n1)], lambda _: 700.0)[0]
    along = walk.observe_along(1 - score, n, n - n1, np.arange(len(score)))
    assert walk.log10_of_one(along) == pytest.approx(found, abs=1e-11)
    turned = (1 - score)[::-1], n[::-1], (n - n1)[::-1]
    assert walk.log10_pvalues([turned], lambda _: 700.0)[0, 0] == pytest.approx(found[0], abs=1e-11)


# P far down, and at both ends ---------------------------------------------------------------------


def test_a_p_of_1e_300_has_its_digits():
    found = secant.assess([1, 0], [1e-300, 0.5])
    for statistic in (found.ecce_r, found.ecce_mad):
        assert statistic.pvalue == pytest.approx(1e-300, rel=1e-13)
        assert statistic.method == "exact"


@pytest.mark.parametrize("n", [1, 3, 500])
@pytest.mark.parametrize("score", [1e-300, 1e-20, 1e-17])
def test_nothing_happened_where_next_to_nothing_should(score, n):
    """A path that hardly falls is as extreme as any: P is 1, or would be 1 - 1e-15."""
    for turn in (False, True):
        found = secant.assess([turn] * n, [1 - score if turn else score] * n)
        assert (found.ecce_r.pvalue, found.ecce_mad.pvalue) == pytest.approx((1.0, 1.0), rel=1e-13)


@pytest.mark.parametrize("score", [1e-300, 1e-100, 1e-9, 0.2, 1 - 1e-9])
@pytest.mark.parametrize("later", [[], [0.5], [0.3, 0.6, 0.6]])
def test_one_event_next_to_impossible(score, later):
    """Of what comes later nothing is as extreme: that it happened is all there is."""
    scores = np.array([score, *later])
    y = np.array([1, *[0] * len(later)])
    assert close(pvalues(table(scores, y))[0], by_fractions(*table(scores, y)))


def test_steps_that_cannot_vary_make_p_0_or_1():
    nothing = np.zeros(2, int)
    for score, n1, p in (([0.0, 1.0], [0, 3], 1.0), ([0.0, 1.0], [1, 3], 0.0)):
        assert pvalues((np.array(score), nothing + 3, np.array(n1))).tolist() == [[p, p]]
    right = np.array([0.5]), np.array([4]), np.array([2])
    assert pvalues(right).tolist() == [[1.0, 1.0]]


@given(tables(most=7))
def test_certain_scores_that_were_right_change_nothing(ties):
    score = ties[0]
    keep = (score > 0) & (score < 1)
    if not keep.any():
        return
    alone = tuple(column[keep] for column in ties)
    with_certain = (
        np.concatenate([[0.0], alone[0], [1.0]]),
        np.concatenate([[5], alone[1], [7]]),
        np.concatenate([[0], alone[2], [7]]),
    )
    # The guard is in units of what is expected in all.
    assert close(pvalues(with_certain)[0], pvalues(alone)[0], 1e-12)


def test_a_tie_of_very_many_rows_among_others():
    """Beside the law of both counts by scipy, of which sums are looked at."""
    stats = optional("scipy.stats")
    n, score = np.array([100_000, 50]), np.array([0.3, 0.6])
    for events in ([30_300, 30], [30_050, 38], [29_000, 30]):
        n1 = np.array(events)
        x = np.append(0.0, np.cumsum(n1 - n * score))
        a = np.arange(25_000, 35_001)
        b = np.arange(51)
        first = (a - 30_000.0)[:, None]
        last = first + (b - 30.0)[None, :]
        p = stats.binom.pmf(a, 100_000, 0.3)[:, None] * stats.binom.pmf(b, 50, 0.6)[None, :]
        high = np.maximum(np.maximum(first, last), 0)
        low = np.minimum(np.minimum(first, last), 0)
        truth = [
            p[high - low >= np.ptp(x) - 1e-7].sum(),
            p[np.maximum(high, -low) >= np.abs(x).max() - 1e-7].sum(),
        ]
        log_p = -math.log(min(truth))
        assert close(pvalues((score, n, n1), faint=lambda _, at=log_p: at)[0], truth, 1e-9)


def test_what_is_left_out_of_the_laws_of_ties_does_not_show():
    """Sixty powers of e below P; asked for at P itself and far beyond."""
    ties = np.array([0.1, 0.4, 0.7]), np.array([4000, 90, 700]), np.array([480, 40, 500])
    whole = walk.log10_pvalues([ties], lambda _: 2000.0)
    assert walk.log10_pvalues([ties], lambda _: -math.log(10) * whole.min()) == pytest.approx(
        whole, rel=1e-13
    )


# The same answer ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(13))
def test_p_is_a_probability(seed):
    score, n, n1 = random_ties(seed)
    found = pvalues((score, n, n1))
    assert (found <= 1.0).all()
    assert (found > 0.0).all()


def test_batches_give_each_tables_own_answer():
    """Whatever else is asked for at once, and however long the others are."""
    some = [random_ties(seed) for seed in range(28) if len(random_ties(seed)[0]) <= 400]
    some += [(np.array([0.0, 1.0]), np.array([2, 2]), np.array([0, 2]))]
    some += [(np.array([0.3]), np.array([1]), np.array([1]))] * 2
    together = walk.log10_pvalues(some)
    for ties, found in zip(some, together, strict=True):
        assert found == pytest.approx(walk.log10_pvalues([ties])[0], rel=1e-13, abs=1e-14)
    turned = walk.log10_pvalues(some[::-1])[::-1]
    assert turned == pytest.approx(together, rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("together", [1, 1 << 10, 1 << 24])
def test_how_many_run_together_changes_nothing(together, monkeypatch):
    rng = np.random.default_rng(1)
    some = [observed_table(rng, rng.random(rng.integers(1, 60))) for _ in range(40)]
    whole = walk.log10_pvalues(some)
    monkeypatch.setattr(walk, "_TOGETHER", together)
    assert walk.log10_pvalues(some) == pytest.approx(whole, rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("n", [30, 800])
def test_the_order_of_rows_changes_nothing(n):
    rng = np.random.default_rng(n)
    p = np.where(rng.random(n) < 0.5, rng.random(n).round(1), rng.random(n))
    y = rng.random(n) < p
    order = rng.permutation(n)
    one, other = (secant.assess(y[rows], p[rows], method="exact") for rows in (slice(None), order))
    assert (one.ecce_r, one.ecce_mad) == (other.ecce_r, other.ecce_mad)


# Along other orders -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_steps_of_several_scores(seed):
    rng = np.random.default_rng(seed)
    score = rng.random(11).round(2)
    if seed % 3 == 0:
        score[rng.integers(0, 11, 3)] = [0.0, 1.0, 1.0]
    y = (rng.random(11) < score**0.5).astype(np.int64)
    if seed == 3:
        y[np.flatnonzero(score == 1.0)[0]] = 0  # what its score forbids
    ends = np.unique(np.append(rng.integers(0, 11, 5), 10))
    paths = walk.observe_along(score, np.ones(11, int), y, ends)
    found = 10.0 ** np.array(walk.log10_of_one(paths))
    assert close(found, enumerated(score, ends, y), 1e-12)
    if seed < 6:
        score, n = score[:5], rng.integers(1, 4, 5)
        n1 = rng.binomial(n, score)
        ends = np.array([1, 4])
        found = walk.log10_of_one(walk.observe_along(score, n, n1, ends))
        assert close(10.0 ** np.array(found), by_fractions(score, n, n1, ends))


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_scores_is_one_of_the_orders(seed):
    rng = np.random.default_rng(seed)
    ties = observed_table(rng, rng.random(120).round(2), 0.1)
    along = walk.log10_of_one(walk.observe_along(*ties, np.arange(len(ties[0]))))
    assert along == pytest.approx(walk.log10_pvalues([ties])[0], rel=1e-13)


# Laws of steps, and what they cost ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("mean", "chance"), [(3.0, 0.3), (7.9, 0.01), (8.0, 0.01), (400.0, 0.4), (1e-8, 1e-9)]
)
def test_laws_are_binomial_and_lose_only_what_is_faint(mean, chance):
    stats = optional("scipy.stats")
    size = round(mean / chance)
    for faint in (5.0, 60.0, 300.0):
        low, pmf = walk.binomial(mean, chance, size, rare=True, faint=faint)
        inside = np.arange(low, low + len(pmf))
        outside = stats.binom.cdf(low - 1, size, chance) + stats.binom.sf(inside[-1], size, chance)
        assert outside <= 3 * math.exp(-faint)
        law = stats.binom.pmf(inside, size, chance)
        assert pmf == pytest.approx(law / law.sum(), rel=1e-9, abs=1e-300)
        fewest, turned = walk.binomial(mean, chance, size, rare=False, faint=faint)
        assert fewest == size - inside[-1]
        assert turned.tolist() == pmf[::-1].tolist()


def test_no_law_is_wider_than_the_smallest_pvalue_asks_for(monkeypatch):
    """Nearly all outcomes of a tie of millions of rows may be likelier than what happened."""
    kept, law = [], walk.binomial

    def counted(*arguments, **options):
        low, pmf = law(*arguments, **options)
        kept.append(len(pmf))
        return low, pmf

    monkeypatch.setattr(walk, "binomial", counted)
    constant = np.array([0.5]), np.array([4_000_000]), np.array([0])
    found = walk.log10_pvalues([constant], lambda _: 4e6 * math.log(2))
    assert found.tolist() == [[-math.inf, -math.inf]]
    assert kept[0] < 250_000  # 120 standard deviations
    # What is hardly within what a walk counts with keeps its digits.
    some = np.array([0.5, np.nextafter(0.5, 1.0)]), np.array([950, 950]), np.array([0, 0])
    log10_p = 1899 * math.log10(2)
    found = walk.log10_pvalues([some], lambda _: log10_p * math.log(10))
    assert found == pytest.approx(-log10_p, abs=1e-9)


@given(st.floats(0.01, 40), st.floats(1e-6, 0.5))
def test_a_law_of_any_size_has_the_mean_and_variance_asked_for(mean, chance):
    low, pmf = walk.binomial(mean, chance, 10**9, rare=True, faint=60.0)
    inside = low + np.arange(len(pmf))
    assert pmf.sum() == pytest.approx(1)
    size = mean / chance
    if size > 3:  # smaller ones end before their last probability would be negative
        assert inside @ pmf == pytest.approx(mean, rel=0.02)
        assert inside**2 @ pmf - (inside @ pmf) ** 2 == pytest.approx(mean * (1 - chance), rel=0.1)


@pytest.mark.parametrize("seed", [0, 3, 4, 5])
def test_the_cost_is_about_what_is_done(seed):
    """What is counted before a walk is near the work of its runs."""
    ties = random_ties(seed)
    rise, band = walk.exact_runs(walk.observe([ties], 60.0))
    work = rise.work + band.work
    assert work / 8 < walk.costs([ties])[0] < 4 * work


def test_compiled_code_is_asked_where_it_pays(monkeypatch):
    monkeypatch.setattr(extras, "is_usable", lambda _name: False)
    assert walk.runner(1e18) is lattice.absorbed_in_numpy
    monkeypatch.setattr(extras, "is_usable", lambda _name: True)
    assert walk.runner(walk._WORTH_COMPILING * 0.99) is lattice.absorbed_in_numpy
    assert walk.runner(walk._WORTH_COMPILING) is lattice.absorbed_compiled
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert walk.runner(1e18) is lattice.absorbed_in_numpy


def test_numbers_of_points_are_in_the_order_of_their_heights():
    """The lattice has every fractional part: a path is on a point after every step."""
    rng = np.random.default_rng(2)
    reached = np.cumsum(rng.random((30, 2)), axis=0)
    reach = np.array([2.5, 0.3])
    low, high, stride = walk._lattice(reached, reach)
    at = np.concatenate([np.zeros((1, 2), int), low])  # a path starts at 0
    heights = np.concatenate([np.zeros((1, 2)), reached])
    for column in range(2):
        pairs = itertools.combinations(range(31), 2)
        assert all(
            (at[i, column] < at[j, column]) == (heights[i, column] < heights[j, column])
            for i, j in pairs
        )
        # A whole number further is so many points further; none below the goal is taken for it.
        part = np.sort(heights[:, column] % 1)
        points = (np.arange(40)[:, None] + part).ravel()
        assert stride == 31
        first = np.searchsorted(points, reached[:, column] + reach[column])
        assert high[:, column].tolist() == first.tolist()
