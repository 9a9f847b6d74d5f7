"""Mean and shape: beside all outcomes in fractions, valid at every level, the same on every way."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._blocks.table import Totals, collapse, merge
from secant._inference import bridge, mean_and_shape, walk
from secant._inference.draws import PValue
from ties import blocks_of, observed_table, random_ties, rows_of, table, tables


def found_for(*ties, **options):
    [found] = mean_and_shape.of_ties([ties], **options)
    return found


def powers(found):
    return [10.0**p.log10 for p in (found.pvalue, found.mean, found.shape)]


def close(found, expected, relative=1e-12):
    return found == pytest.approx([float(p) for p in expected], rel=relative, abs=1e-290)


# By brute force -----------------------------------------------------------------------------------


def fisher(x):
    x = Fraction(x)
    log_x = math.log(x.numerator) - math.log(x.denominator) if x else 0.0
    return float(x) * (1.0 - log_x)


def centres(score, n, k):
    """Return the expected events of each step once k are expected, with 60 digits."""
    with localcontext() as digits:
        digits.prec = 60
        odds = [Decimal(s) / (1 - Decimal(s)) for s in score]
        u = Decimal(k) / sum(size * o for size, o in zip(n, odds, strict=True))
        for _ in range(2000):  # from the left, of a concave sum: it never goes too far
            q = [o * u / (1 + o * u) for o in odds]
            missing = k - sum(size * each for size, each in zip(n, q, strict=True))
            slope = sum(size * each * (1 - each) for size, each in zip(n, q, strict=True))
            u += missing * u / slope
            if abs(missing) < Decimal("1e-40"):
                break
        return [size * each for size, each in zip(n, q, strict=True)], [
            size * each * (1 - each) for size, each in zip(n, q, strict=True)
        ]


def by_enumeration(score, n, n1, ends=None):
    """Return P, P of the mean and of the shape by all counts that there are, in fractions."""
    score, n, n1 = ([each.item() for each in column] for column in (score, n, n1))
    random = [0 < s < 1 for s in score]
    before = sum(k for s, k in zip(score, n1, strict=True) if s <= 0)
    after = -sum(m - k for s, m, k in zip(score, n, n1, strict=True) if s >= 1)
    ends = set(range(len(score)) if ends is None else ends)
    inside = [i for i in range(len(score)) if random[i]]
    if not inside:
        return [float(not (before or after))] * 2 + [1.0]
    place = np.searchsorted(sorted(ends), inside).tolist()
    looks = [here != later for here, later in itertools.pairwise([*place, None])]
    s, n, n1 = ([column[i] for i in inside] for column in (score, n, n1))
    k, rows = sum(n1), sum(n)
    exact = [Fraction(each) for each in s]
    expected = sum(size * each for size, each in zip(n, exact, strict=True))
    far = abs(k + before + after - expected)
    far -= far * Fraction(1e-12) + 4 * Fraction(math.ulp(float(max(expected, rows - expected))))
    outcomes = {}
    for counts in itertools.product(*(range(size + 1) for size in n)):
        p = Fraction(1)
        for each, size, events in zip(exact, n, counts, strict=True):
            p *= math.comb(size, events) * each**events * (1 - each) ** (size - events)
        outcomes[counts] = p
    mean = sum(p for counts, p in outcomes.items() if abs(sum(counts) - expected) >= far)
    if sum(looks) < 2:
        return [mean, mean, 1.0]
    if not 0 < k < rows:
        return [fisher(mean), mean, 1.0]
    means, variances = centres(s, n, k)
    centre, share = np.cumsum(means), np.cumsum(variances) / sum(variances)

    def reach(counts, wrong=0, start=0):
        path = np.cumsum([Decimal(each) for each in counts]) - centre + start - share * wrong
        return max(abs(each) for each, look in zip(path, looks, strict=True) if look)

    seen = float(max(reach(n1, before + after, before), abs(before)))
    limit = seen * (1 - 1e-11) - 1e-14 * rows
    given_k = {counts: p for counts, p in outcomes.items() if sum(counts) == k}
    extreme = sum(p for counts, p in given_k.items() if reach(counts) >= limit)
    shape = extreme / sum(given_k.values())
    return [fisher(mean * shape), mean, shape]


@given(tables(most=8))
def test_all_outcomes_of_few_rows(ties):
    """With ties, scores of 0 and 1 and what they forbid, and scores next to them."""
    assert close(powers(found_for(*ties)), by_enumeration(*ties))


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 6)), min_size=1, max_size=3), st.data())
def test_all_counts_of_ties(pairs, data):
    score = np.array(sorted({each for each, _ in pairs})) / 10
    n = np.array([size for _, size in pairs][: len(score)])
    n1 = np.array([data.draw(st.integers(0, int(size))) for size in n])
    assert close(powers(found_for(score, n, n1)), by_enumeration(score, n, n1))


@pytest.mark.parametrize("seed", range(8))
def test_the_walk_of_many_rows_gives_the_same(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    ties = observed_table(rng, np.append(rng.random(7).round(1), [0.0, 1.0][seed % 2]), 0.1)
    few = powers(found_for(*ties))
    monkeypatch.setattr(bridge, "FEW_ROWS", 0)
    assert close(powers(found_for(*ties)), few)
    assert close(few, by_enumeration(*ties))


@pytest.mark.parametrize("seed", range(8))
def test_steps_of_several_scores_along_another_order(seed):
    rng = np.random.default_rng(seed)
    score = rng.random(9).round(2)
    if seed % 3 == 0:
        score[rng.integers(0, 9, 2)] = [0.0, 1.0]
    y = (rng.random(9) < score**0.5).astype(np.int64)
    ends = np.unique(np.append(rng.integers(0, 9, 4), 8))
    found = found_for(score, np.ones(9, int), y, ends=ends)
    assert close(powers(found), by_enumeration(score, np.ones(9, int), y, ends.tolist()))


# Laws ---------------------------------------------------------------------------------------------


SMALL = {
    "spread": ([0.1, 0.25, 0.4, 0.6, 0.7, 0.95], [1, 1, 1, 1, 1, 1]),
    "rare": ([0.01, 0.02, 0.05, 0.3], [2, 2, 2, 1]),
    "ties": ([0.2, 0.5, 0.8], [3, 2, 3]),
    "alike": ([0.3, 0.3000001, 0.31], [2, 2, 2]),
    "one score": ([0.4], [7]),
    "likely": ([0.5, 0.9, 0.99, 0.999], [1, 3, 2, 1]),
    "even": ([0.5, 0.500001], [4, 4]),
}


@pytest.mark.parametrize("name", SMALL)
def test_calibrated_predictions_are_rejected_no_more_often_than_the_level_says(name):
    """P(P <= a) <= a at every value that P takes, and so at every level."""
    score, n = (np.array(each) for each in SMALL[name])
    outcomes = list(itertools.product(*(range(size + 1) for size in n)))
    found = mean_and_shape.of_ties([(score, n, np.array(counts)) for counts in outcomes])
    chance = [
        math.prod(
            math.comb(size, k) * s**k * (1 - s) ** (size - k)
            for s, size, k in zip(score.tolist(), n.tolist(), counts, strict=True)
        )
        for counts in outcomes
    ]
    for part in ("pvalue", "mean"):
        p = np.array([10 ** getattr(each, part).log10 for each in found])
        order = np.argsort(p)
        reached = np.cumsum(np.array(chance)[order])
        last = np.append(np.diff(p[order]) > 1e-13, True)
        assert (reached[last] <= p[order][last] * (1 + 1e-12)).all()
    # And that of the shape given every number of events.
    for k in range(1, int(n.sum())):
        some = [i for i, each in enumerate(found) if each.happened == k]
        p = np.array([10 ** found[i].shape.log10 for i in some])
        law = np.array([chance[i] for i in some])
        for level in p:
            assert law[p <= level * (1 + 1e-13)].sum() <= law.sum() * level * (1 + 1e-11)


@pytest.mark.parametrize("score", [0.001, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("n", [1, 2, 33, 100, 3000])
def test_one_score_has_the_p_value_of_ecce_r(score, n):
    for events in {0, n // 3, min(n, math.ceil(n * score)), n}:
        ties = np.array([score]), np.array([n]), np.array([events])
        found = found_for(*ties)
        assert found.shape.log10 == 0.0
        assert found.pvalue == found.mean
        expected = walk.log10_pvalues([ties], lambda _: 700.0)[0, 0]
        if expected == -math.inf:  # beyond what doubles hold: here a bound
            assert found.pvalue.method == "upper bound"
            assert -10_000 < found.pvalue.log10 < -550
            continue
        assert found.pvalue.log10 == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("theta", [-5.0, -0.3, 1.0, 8.0])
@pytest.mark.parametrize("n", [12, 400])
def test_a_shift_of_all_logits_leaves_the_shape_as_it_is(theta, n):
    rng = np.random.default_rng(n)
    score, size, n1 = observed_table(rng, rng.random(n))
    alone = found_for(score, size, n1)
    event, _ = bridge.shifted(score, theta)
    found = found_for(event, size, n1)
    if n <= bridge.LOOKS:
        assert found.shape.log10 == pytest.approx(alone.shape.log10, rel=1e-10, abs=1e-11)
    assert found.shape.method == alone.shape.method == "exact"
    assert found.mean.log10 != alone.mean.log10


@pytest.mark.parametrize("seed", range(14))
def test_failures_of_failures_are_events(seed):
    """Scores and outcomes turned round: the same path from its end."""
    y, p = rows_of(*random_ties(seed))
    score, n, n1 = table(np.round(p * 1024) / 1024, y)  # so that 1 - score is a double
    if len(score) > bridge.LOOKS:  # looks are chosen from one end
        return
    one = found_for(score, n, n1)
    other = found_for((1 - score)[::-1], n[::-1], (n - n1)[::-1])
    assert close(powers(one), powers(other), 1e-10)
    assert one.excursion == pytest.approx(other.excursion, abs=1e-9) or len(score) < 4


@pytest.mark.parametrize("seed", range(3))
def test_a_table_alone_and_among_others_has_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    some = [observed_table(rng, rng.random(rng.integers(1, 90)).round(2)) for _ in range(200)]
    some += [(np.array([0.0, 1.0]), np.array([2, 2]), np.array([0, 2]))]
    together = mean_and_shape.of_ties(some)
    assert together == [found_for(*ties) for ties in some]
    assert together[::-1] == mean_and_shape.of_ties(some[::-1])


def test_a_p_value_of_1e_200_has_its_digits():
    """Two scores: given K the path is one number, and P a sum of fractions."""
    score, n, n1 = np.array([0.25, 0.75]), np.array([500, 500]), np.array([470, 30])
    odds = [Fraction(s) / (1 - Fraction(s)) for s in score.tolist()]
    law = [
        math.comb(500, a) * math.comb(500, 500 - a) * odds[0] ** a * odds[1] ** (500 - a)
        for a in range(501)
    ]
    # By symmetry 125 of the first are expected: as far are 470 and more, none below.
    truth = sum(law[470:]) / sum(law)
    found = found_for(score, n, n1)
    assert truth < 1e-200
    assert found.shape.log10 == pytest.approx(
        math.log10(truth.numerator) - math.log10(truth.denominator), rel=1e-13
    )
    whole = sum(
        math.comb(1000, k) * Fraction(1, 10**6) ** k * Fraction(999_999, 10**6) ** (1000 - k)
        for k in range(60, 120)
    )
    alike = found_for(np.array([1e-6]), np.array([1000]), np.array([60]))
    log10 = math.log10(whole.numerator) - math.log10(whole.denominator)
    assert log10 < -200
    assert alike.mean.log10 == pytest.approx(log10, rel=1e-12)


def test_what_doubles_cannot_hold_has_a_bound():
    score, n = np.array([1e-300, 0.5]), np.array([3, 1])
    found = found_for(score, n, np.array([3, 0]))
    assert found.mean.method == found.pvalue.method == "upper bound"
    # Two of the three, and the other one: 1.5e-600.
    assert -599.9 <= found.mean.log10 < -590.0
    assert found_for(score, n, np.array([1, 0])).mean.method == "exact"


# What has no shape, or no chance ------------------------------------------------------------------


def test_what_cannot_vary_was_right_or_was_not():
    for n1, p in (([0, 3], 1.0), ([1, 3], 0.0), ([0, 2], 0.0), ([1, 2], 0.0)):
        assert powers(found_for(np.array([0.0, 1.0]), np.array([3, 3]), np.array(n1))) == [
            p,
            p,
            1.0,
        ]


def test_one_kind_of_outcome_has_no_shape():
    score, n = np.array([0.2, 0.4, 0.9]), np.array([2, 2, 2])
    for n1 in (np.zeros(3, int), n):
        p, mean, shape = powers(found_for(score, n, n1))
        assert shape == 1.0
        assert p == pytest.approx(fisher(mean))


def test_forbidden_outcomes_move_what_was_seen_alone():
    score, n = np.array([0.0, 0.3, 0.6, 1.0]), np.array([4, 10, 10, 4])
    right, wrong = (found_for(score, n, np.array(n1)) for n1 in ([0, 3, 6, 4], [2, 3, 6, 4]))
    assert right.happened == 9
    assert wrong.happened == 11
    assert wrong.expected == right.expected == pytest.approx(9)
    assert wrong.place == -1  # furthest from 0 before anything random
    assert wrong.excursion > 0
    assert wrong.shape.log10 < right.shape.log10 == 0.0


def test_the_sign_tells_too_extreme_from_too_moderate():
    score, n = np.array([0.1, 0.3, 0.7, 0.9]), np.full(4, 100)
    for n1, sign in (([20, 35, 65, 80], 1), ([2, 20, 80, 98], -1)):
        found = found_for(score, n, np.array(n1))
        assert math.copysign(1, found.excursion) == sign
        assert found.place == 1
        assert found.mean.log10 == 0.0
        assert found.pvalue.log10 < -1.5


# Sums of cells ------------------------------------------------------------------------------------


def of_blocks(blocks):
    return mean_and_shape.of_sums(mean_and_shape.sums_of(blocks))


@pytest.mark.parametrize("seed", range(10))
def test_cells_of_one_score_each_lose_one_percent_in_each_part(seed):
    ties = random_ties(seed)
    if len(ties[0]) > bridge.LOOKS:
        return
    found, exact = of_blocks(blocks_of(*ties)), found_for(*ties)
    for part in ("mean", "shape"):
        ours, theirs = (getattr(each, part) for each in (found, exact))
        if ours.method == "upper bound":
            assert 10**ours.log10 == pytest.approx(min(1.01 * 10**theirs.log10, 1), rel=1e-9)
    assert (found.happened, found.expected) == (exact.happened, pytest.approx(exact.expected))
    assert found.excursion == pytest.approx(exact.excursion, abs=1e-9)


@pytest.mark.parametrize("shift", [0.0, 0.02, -0.03])
@pytest.mark.parametrize("kind", ["uniform", "rare"])
def test_cells_that_end_where_paths_are_looked_at_say_the_same(shift, kind, monkeypatch):
    monkeypatch.setattr(bridge, "LARGE", math.inf)
    rng = np.random.default_rng(7)
    scores = rng.random(4000) if kind == "uniform" else rng.beta(1, 49, 4000)
    shift = shift if kind == "uniform" else shift / 4
    ties = observed_table(rng, scores, shift)
    exact = found_for(*ties)
    variance = (ties[1] * ties[0] * (1 - ties[0]))[:, None]
    looks = np.flatnonzero(bridge.looked_at(np.ones(variance.shape, bool), variance))
    cells = merge(blocks_of(*ties), np.append(0, looks[:-1] + 1))
    sums = mean_and_shape.sums_of(cells)
    assert not mean_and_shape.needs_shifted_sums(sums)
    found = mean_and_shape.of_sums(sums)
    assert found.pvalue.method == "upper bound"
    for ours, theirs in zip(powers(found), powers(exact), strict=True):
        assert theirs * 0.99999 <= ours <= min(theirs * 1.1, 1.0)


def test_wide_cells_ask_for_shifted_sums():
    rng = np.random.default_rng(1)
    ties = observed_table(rng, rng.random(3000), 0.1)
    blocks = blocks_of(*ties)
    wide = merge(blocks, np.arange(0, len(blocks), 600))
    sums = mean_and_shape.sums_of(wide)
    assert mean_and_shape.needs_shifted_sums(sums)
    # What was asked is within what was said.
    event = bridge.shifted(
        ties[0], bridge.shifts(ties[0][:, None], ties[1][:, None], ties[2].sum(keepdims=True))
    )[0]
    asked = np.add.reduceat(event * ties[1], np.arange(0, len(blocks), 600))
    assert np.abs(np.cumsum(asked - sums.shifted)).max() <= 1.5 * sums.slack
    exact = sums._replace(shifted=asked, slack=0.0)
    assert mean_and_shape.of_sums(exact).shape.log10 <= mean_and_shape.of_sums(sums).shape.log10


# Large samples ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 0.01, 0.03, -0.12])
@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize("kind", ["uniform", "one sided", "extreme"])
def test_large_samples_agree_with_the_walk_near_where_one_takes_over(
    shift, kind, times, monkeypatch
):
    rng = np.random.default_rng(3)
    n = times * {"uniform": 1300, "one sided": 2200, "extreme": 3200}[kind]
    scores = {
        "uniform": rng.random(n),
        "one sided": rng.beta(1, 6, n),
        "extreme": rng.beta(0.2, 0.2, n).clip(1e-6, 1 - 1e-6),
    }[kind]
    y = rng.random(n) < np.clip(scores + shift * (scores - 0.5), 0, 1)
    ties = table(scores, y)
    large = found_for(*ties)
    assert large.pvalue.method == "large-sample"
    monkeypatch.setattr(bridge.looked_at, "__defaults__", (1 << 20,))
    monkeypatch.setattr(bridge, "LARGE", math.inf)
    walked = found_for(*ties)
    assert walked.pvalue.method == "exact"
    assert large.excursion == walked.excursion
    assert large.mean.log10 == pytest.approx(walked.mean.log10, abs=2e-4)
    # Never below the truth; as near to it as P-values of ECCE-R's large samples are.
    above = large.shape.log10 - walked.shape.log10
    assert 0.0 <= above <= (math.log10(1.3) if walked.shape.log10 > -12 else math.log10(2.1))


def test_large_ties_are_counted_in_units():
    score, n = np.array([0.1, 0.35, 0.52, 0.7, 0.9]), np.full(5, 12_000)
    for gap in (0, 60, 240):
        n1 = np.rint(n * score).astype(int) + np.array([gap, 0, 0, 0, -gap])
        found = found_for(score, n, n1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bridge, "_WIDE", 1e9)
            exact = found_for(score, n, n1)
        assert (found.shape.method, exact.shape.method) == ("large-sample", "exact")
        ours, theirs = 10**found.shape.log10, 10**exact.shape.log10
        assert theirs <= ours <= min(1.12 * theirs, 1.0)


# Drawn and flipped paths --------------------------------------------------------------------------


def test_surprise_orders_paths_as_the_product_of_both_p_values_does():
    rng = np.random.default_rng(5)
    share = np.linspace(0.01, 1, 100)
    paths = np.cumsum(rng.standard_normal((500, 100)), axis=1)
    found, z, excursion = mean_and_shape.surprises(paths, share, 10.0).T
    ends = np.abs(paths[:, -1]) / 10
    far = np.abs(paths - paths[:, -1:] * share).max(axis=1) / 10
    assert (z.tolist(), excursion.tolist()) == (ends.tolist(), far.tolist())
    mean = np.array([math.erfc(each / math.sqrt(2)) for each in ends])
    shape = np.array([10 ** bridge.log10_kolmogorov(x) for x in far])
    # The ratio of Mills is taken from a formula that is right to 6%.
    assert found == pytest.approx(-np.log(mean * shape), abs=0.065)


def test_what_no_draw_reaches_is_left_to_ecce_r():
    some, none = PValue(-1.0, "simulated", 99), PValue(-2.0, "upper bound", 99)
    for of_range in (PValue(-9.0, "upper bound"), PValue(-0.5, "simulated", 99)):
        assert mean_and_shape.from_draws(some, of_range) == some
    assert mean_and_shape.from_draws(none, PValue(-9.0, "upper bound")).log10 == -9.0
    assert mean_and_shape.from_draws(none, PValue(-0.5, "simulated", 99)) == none


def test_flips_rank_the_observed_path_among_its_like():
    """Whatever is put first, over all of them P takes each rank once."""
    rng = np.random.default_rng(8)
    share = np.linspace(0.05, 1, 20)
    paths = np.cumsum(rng.standard_normal((100, 20)), axis=1)
    ranks = []
    for first in range(100):
        rest = np.delete(paths, first, axis=0)
        all_of_them = np.concatenate([paths[first : first + 1], rest])
        found = mean_and_shape.ends_and_excursions(all_of_them, share)
        both, mean, shape = mean_and_shape.of_flips(*found)
        ranks.append(round(100 * 10**both.log10))
        assert both.draws == 99
        assert min(mean.log10, shape.log10) >= -2.0
    assert sorted(ranks) == list(range(1, 101))


# The size of the mean -----------------------------------------------------------------------------


def test_the_mean_has_limits_and_a_ratio():
    y, p = np.repeat([1, 0], [30, 70]), np.full(100, 0.2)
    found = mean_and_shape.mean_of(blocks := collapse(p, y, None), totals_of(blocks), 0.95)
    assert (found.value, found.ratio) == pytest.approx((0.1, 1.5))
    assert found.ci == pytest.approx((0.01241, 0.19981), abs=1e-4)  # Clopper and Pearson
    assert found.ratio_ci == pytest.approx([1 + each / 0.2 for each in found.ci])
    spread = math.sqrt(30 * 0.8**2 + 70 * 0.2**2) / 100  # that of the outcomes is the larger one
    assert found.named == pytest.approx(math.erfc(0.1 / spread / math.sqrt(2)))
    wide = mean_and_shape.mean_of(blocks, totals_of(blocks), 0.95, spread=0.2)
    assert wide.ci[0] < found.ci[0] < found.ci[1] < wide.ci[1]
    assert wide.named > found.named


def totals_of(blocks):
    variance = float((blocks.n * blocks.low * (1 - blocks.low)).sum())
    residual = float((blocks.up + blocks.down).sum())
    return Totals.plain(int(blocks.n.sum()), int(blocks.n1.sum()), variance, residual)
