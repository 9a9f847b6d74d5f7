"""The tilted P-value of large samples: beside exact ones, brute force, and at its ends."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from samples import RELATIVE
from secant import null
from secant._inference import walk
from secant._inference.tilt import Bounded, Jumps, log_pvalue, rate
from secant.paper import synthetic

LOG_10 = math.log(10)
chances = st.one_of(st.floats(1e-6, 1 - 1e-6), st.sampled_from([1e-300, 1e-12, 0.5, 1 - 1e-12]))
kinds = st.lists(st.tuples(st.integers(1, 50), chances, st.floats(0.01, 100)), min_size=1)


def jumps(kinds, *, weighted=True):
    count, chance, size = map(np.array, zip(*kinds, strict=True))
    return Jumps(count, chance, size if weighted else 1.0)


def mirror(of):
    return Jumps(of.count, 1 - of.chance, of.size)


def highest(of, total, sign):
    """Return sup_t (t T - K(t)) by a search that knows nothing of derivatives."""
    optimize = optional("scipy.optimize")

    def depth(log_t):
        z = sign * math.exp(log_t) * of.size * np.ones(len(of.count))
        whole = np.logaddexp(np.log1p(-of.chance), np.log(of.chance) + z) - z * of.chance
        return float((of.count * whole).sum()) - math.exp(log_t) * total

    # Unimodal: the best of a coarse grid has the top beside it.
    grid = np.linspace(-20, 12, 161)
    at = int(np.argmin([depth(each) for each in grid]))
    around = grid[max(at - 1, 0)], grid[min(at + 1, 160)]
    found = optimize.minimize_scalar(
        depth, bounds=around, method="bounded", options={"xatol": 1e-9}
    )
    return max(-found.fun, 0.0)


@pytest.mark.parametrize("t", [-400.0, -2.0, -1e-3, 0.3, 5.0, 400.0])
def test_cumulants_are_those_of_the_definition(t):
    """Rows without weights jump by one; the derivatives are checked in fifty digits."""
    mp = optional("mpmath").mp
    count, chance = [3, 5, 1], [0.2, 0.7, 1e-9]
    of = Jumps(np.array(count), np.array(chance))
    assert of.most(1) == pytest.approx(3 * 0.8 + 5 * 0.3 + (1 - 1e-9), rel=1e-15)
    assert of.most(-1) == pytest.approx(3 * 0.2 + 5 * 0.7 + 1e-9, rel=1e-15)
    with mp.workdps(50):

        def k(t):
            rows = zip(count, map(mp.mpf, chance), strict=True)
            return sum(n * (mp.log(1 - q + q * mp.exp(t)) - t * q) for n, q in rows)

        wanted = [float(mp.diff(k, t, order)) for order in (0, 1, 2)]
    assert of.cumulants(t) == pytest.approx(wanted, rel=1e-11, abs=1e-30)


# The exponent -------------------------------------------------------------------------------------


@given(kinds, st.floats(0.01, 0.99), st.sampled_from([1, -1]))
def test_the_exponent_is_the_highest_there_is(kinds, share, sign):
    of = jumps(kinds)
    total = share * of.most(sign)
    found, wanted = rate(of, total, sign), highest(of, total, sign)
    # The search loses digits to cancellation where rows are nearly certain.
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-8 * of.count.sum())


@given(kinds, st.sampled_from([1, -1]))
def test_the_most_there_can_be_has_the_chance_of_its_one_outcome(kinds, sign):
    of = jumps(kinds)
    most, wanted = of.most(sign), of.rarity(sign)
    assert rate(of, most, sign) == wanted
    assert rate(of, 2 * most, sign) == math.inf
    assert rate(of, 0.999 * most, sign) <= wanted
    beyond = log_pvalue(null.range, of, 1e9)
    assert math.isfinite(beyond)
    assert beyond == log_pvalue(null.range, of, max(of.most(1), of.most(-1)))


@given(kinds, st.sampled_from([null.range, null.mad]))
def test_more_is_less_likely(kinds, law):
    of = jumps(kinds)
    most = max(of.most(1), of.most(-1))
    found = [log_pvalue(law, of, share * most) for share in np.linspace(0.01, 1, 20).tolist()]
    assert (np.diff(found) <= 1e-9).all()
    assert found[0] <= 0


@given(kinds, st.floats(0.01, 1.2))
def test_events_and_failures_are_alike(kinds, share):
    of = jumps([(n, min(max(q, 1e-6), 1 - 1e-6), w) for n, q, w in kinds])
    total = share * of.most(1)
    for law in (null.range, null.mad):
        assert log_pvalue(law, of, total) == pytest.approx(
            log_pvalue(law, mirror(of), total), rel=1e-7, abs=1e-9
        )


@given(kinds, st.floats(0.01, 1.2), st.floats(1e-6, 1e6))
def test_the_unit_of_weights_does_not_matter(kinds, share, unit):
    of = jumps(kinds)
    total = share * of.most(1)
    other = Jumps(of.count, of.chance, of.size * unit)
    assert log_pvalue(null.mad, other, total * unit) == pytest.approx(
        log_pvalue(null.mad, of, total), rel=1e-9, abs=1e-9
    )


@given(kinds, st.floats(0.01, 0.99), st.sampled_from([1, -1]))
def test_means_of_scores_err_on_the_safe_side(kinds, share, sign):
    """And the variance they have in excess brings the answer nearer, never beyond."""
    rows = jumps(kinds, weighted=False)
    count = rows.count.sum(keepdims=True)
    chance = (rows.count * rows.chance).sum(keepdims=True) / count
    means = Jumps(count, chance)
    spread = means.cumulants(0.0)[2] - rows.cumulants(0.0)[2]
    nearer = Jumps(count, chance, narrower=max(spread, 0.0))
    total = share * rows.most(sign)
    low, mid, high = (rate(each, total, sign) for each in (means, nearer, rows))
    slack = 1e-9 * (1 + high)
    assert low <= mid + slack <= high + 2 * slack


@given(kinds, st.floats(0.01, 1), st.sampled_from([null.range, null.mad]))
def test_sums_of_moments_err_on_the_safe_side(kinds, share, law):
    rows = jumps([(n, min(max(q, 1e-9), 1 - 1e-9), w) for n, q, w in kinds])
    unit = math.sqrt(rows.cumulants(0.0)[2])
    third = float((rows.count * rows.size**3 * rows.chance * (1 - rows.chance)).sum())
    far = float((np.maximum(rows.chance, 1 - rows.chance) * rows.size).max())
    of = Bounded(1.0, third / unit**3, far / unit)
    total = share * max(rows.most(1), rows.most(-1))
    assert log_pvalue(law, of, total / unit) >= log_pvalue(law, rows, total) - 1e-9


@pytest.mark.parametrize("z", [1e-9, 0.01, 0.499, 0.501, 3.0, 250.0])
def test_a_bound_of_cumulants_to_all_digits(z):
    mp = optional("mpmath").mp
    with mp.workdps(60):
        b = mp.mpf(0.7)
        t = mp.mpf(z) / b
        k, slope, bend = Bounded(2.0, 3.0, 0.7).cumulants(float(t))
        rest = mp.exp(t * b) - 1 - t * b
        assert k == pytest.approx(float(t * t + 3 * (rest - (t * b) ** 2 / 2) / b**3), rel=1e-13)
        assert slope == pytest.approx(float(2 * t + 3 * rest / b**2), rel=1e-13)
        assert bend == pytest.approx(float(2 + 3 * mp.expm1(t * b) / b), rel=1e-13)
    assert Bounded(2.0, 3.0, 0.7).cumulants(-float(t)) == (k, -slope, bend)


def test_a_logarithm_of_any_size():
    """Ten million rows a hundred and fifty sigma off: 10 to the minus 4,872."""
    score = (np.arange(65_536) + 0.5) / 65_536
    of = Jumps(np.full(65_536, 100), score)
    log10 = log_pvalue(null.range, of, 150 * math.sqrt(of.cumulants(0.0)[2])) / LOG_10
    assert -5000 < log10 < -4800
    assert log10 < null.range.logsf(149.7) / LOG_10


@pytest.mark.parametrize("score", [1e-300, 1e-12, 0.3, 1 - 1e-12])
def test_one_row(score):
    of = Jumps(np.array([1]), np.array([score]))
    rises, falls = (rate(of, of.most(sign), sign) for sign in (1, -1))
    assert rises == pytest.approx(-math.log(score), **RELATIVE)
    assert falls == pytest.approx(-math.log1p(-score), **RELATIVE)


def test_it_is_the_limit_where_the_limit_holds():
    of = Jumps(np.array([10**8, 10**8]), np.array([0.3, 0.7]))
    for x in (0.5, 1.5, 2.5, 5.0):
        total = x * math.sqrt(of.cumulants(0.0)[2])
        wanted = min(null.range.logsf(x) + math.log(1.01), 0.0)
        assert log_pvalue(null.range, of, total) == pytest.approx(wanted, rel=1e-5)


# Whole numbers ------------------------------------------------------------------------------------


def deviates(score, c):
    """Return the chance that counts of single rows are c from their means somewhere, exactly."""
    alive, gone, mean = np.array([1.0]), 0.0, 0.0
    for s in score.tolist():
        mean += s
        alive = np.append(alive * (1 - s), 0) + np.append(0, alive * s)
        out = np.abs(np.arange(len(alive)) - mean) >= c - 1e-9
        gone += alive[out].sum()
        alive[out] = 0
    return math.log(gone)


@pytest.mark.parametrize("n", [301, 2000])
@pytest.mark.parametrize("p", [0.5, 0.05, 1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("around", [0.0, 1e-3])
def test_a_path_that_is_at_every_second_height_is_not_found_too_soon(n, p, around):
    """Scores near 1/2: without a factor the P-value is .97 of the truth at .05, .74 at 1e-12."""
    score = 0.5 + around * np.linspace(-1, 1, n)
    of = Jumps(np.ones(n, int), score)
    c = math.floor(null.mad.isf(p) * math.sqrt(n) / 2) + 0.5 * (n % 2)
    truth = deviates(score, c)
    found = log_pvalue(null.mad, of, c)
    assert 0.0 <= found - truth <= math.log(1.25)
    bare = math.log(0.5) + np.logaddexp(
        *(null.mad.logsf(math.sqrt(2 * rate(of, c, sign))) for sign in (1, -1))
    )
    assert bare < found


@pytest.mark.parametrize("score", [1e-300, 0.01, 0.5, 0.9])
@pytest.mark.parametrize("n", [1, 40, 5000])
def test_the_edge_of_the_possible(n, score):
    """All rows are events, or none is: the likelier of what is possible at all, and no less."""
    of = Jumps(np.array([n]), np.array([score]))
    for sign, exponent in ((1, -n * math.log(score)), (-1, -n * math.log1p(-score))):
        total, other = of.most(sign), of.most(-sign)
        both = 2 if total == other else 1
        truth = -exponent if total >= other else None
        for law, factor in ((null.mad, 1.0), (null.range, 2.0)):
            found = log_pvalue(law, of, total)
            if truth is not None:
                wanted = min(math.log(1.01 * factor * both) + truth, 0.0)
                assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)
            assert found <= 0.0


def test_next_to_the_edge_it_is_never_below():
    """A rise to all rows but one being events, where scores are 1/2."""
    of = Jumps(np.array([301]), np.array([0.5]))
    for fewer in range(1, 40):
        c = 150.5 - fewer
        truth = deviates(np.full(301, 0.5), c)
        assert 0.0 <= log_pvalue(null.mad, of, c) - truth <= math.log(2.1)
        assert truth + math.log(2) <= log_pvalue(null.range, of, c) + math.log(2)


@given(
    st.lists(st.tuples(st.integers(1, 60), st.floats(0.001, 0.999)), min_size=3, max_size=20),
    st.sampled_from([null.range, null.mad]),
)
def test_more_is_less_likely_with_the_factor_too(kinds, law):
    count, chance = map(np.array, zip(*kinds, strict=True))
    count = count * math.ceil(30 / (count * chance * (1 - chance)).sum())
    of = Jumps(count, chance)
    most = max(of.most(1), of.most(-1))
    found = [log_pvalue(law, of, share * most) for share in np.linspace(0.001, 1, 60).tolist()]
    assert (np.diff(found) <= 1e-9).all()


def test_what_is_only_bounded_gets_no_factor():
    """Such P-values are well above the truth already, and their paths are on no lattice."""
    of = Bounded(1.0, 0.02, 0.05)
    plain = null.mad.logsf(math.sqrt(2 * rate(of, 5.0, 1)))
    assert log_pvalue(null.mad, of, 5.0) == pytest.approx(plain, rel=1e-14)


# Beside exact P-values ----------------------------------------------------------------------------


DESIGNS = {
    "rare, too low": (3000, 49, lambda s: 2 * s),
    "rare, too high": (3000, 49, lambda s: 0.4 * s),
    "uniform": (1500, 1, lambda s: s**1.4),
    "few events, too low": (1500, 9, lambda s: 1.9 * s),
    "few events, too high": (1500, 9, lambda s: 0.4 * s),
    "in one place": (1500, 1, lambda s: np.where(s > 0.8, s - 0.25, s)),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_never_below_the_exact_value_and_near_it(design):
    n, b, truth = DESIGNS[design]
    rng = np.random.default_rng(3)
    s = np.sort(rng.beta(1, b, n))
    y = rng.random(n) < truth(s)
    ties = s, np.ones(n, int), y.astype(int)
    of = Jumps(ties[1], s)
    result = secant.assess(y, s, method="asymptotic")
    exact = walk.log10_pvalues([ties])[0]
    statistics = result.ecce_r, result.ecce_mad
    for statistic, law, truth in zip(statistics, (null.range, null.mad), exact, strict=True):
        log10 = log_pvalue(law, of, n * statistic.value) / LOG_10
        assert truth <= log10 <= truth + math.log10(1.6)


def test_the_paper_s_set():
    y, s = synthetic.responses(32768, "square rooted")[0], synthetic.scores(32768, "square rooted")
    of = Jumps(np.ones(32768), s)
    value = secant.ecce_r(y, s)
    assert math.exp(log_pvalue(null.range, of, 32768 * value)) == pytest.approx(1.3e-23, rel=0.04)


# In an assessment ---------------------------------------------------------------------------------


def many(n=70_000, seed=1, b=1.0, power=1.02):
    rng = np.random.default_rng(seed)
    s = rng.beta(1, b, n)
    return rng.random(n) < s**power, s


@pytest.mark.parametrize("b", [1.0, 20.0])
def test_auto_takes_it_beyond_the_budget(b):
    y, s = many(b=b)
    found, limit = secant.assess(y, s), secant.assess(y, s, method="asymptotic")
    of = Jumps(np.ones(len(s)), np.sort(s))
    for statistic, plain, law in (
        (found.ecce_r, limit.ecce_r, null.range),
        (found.ecce_mad, limit.ecce_mad, null.mad),
    ):
        assert statistic.method == plain.method == "large-sample"
        exact = log_pvalue(law, of, plain.value * len(s)) / LOG_10
        # Cells in place of rows: on the safe side, and by next to nothing.
        assert 0 <= statistic.log10_pvalue - exact + 1e-12 < 1e-6
        assert plain.log10_pvalue == pytest.approx(law.logsf(plain.normalized) / LOG_10, **RELATIVE)


def test_weighted_rows_are_on_the_safe_side_of_their_own_law():
    y, s = many(110_000, power=1.1)
    w = np.random.default_rng(5).lognormal(0, 0.5, len(s))
    found = secant.assess(y, s, sample_weight=w)
    order = np.argsort(s)
    of = Jumps(np.ones(len(s)), s[order], w[order])
    for statistic, law in ((found.ecce_r, null.range), (found.ecce_mad, null.mad)):
        assert statistic.method == "large-sample"
        exact = log_pvalue(law, of, statistic.value * float(w.sum()))
        assert exact <= statistic.log10_pvalue * LOG_10 <= 0.9 * exact


def test_copies_of_rows_are_rows():
    y, s = many(50_000)
    twice = secant.assess(np.tile(y, 2), np.tile(s, 2))
    copies = secant.assess(y, s, sample_weight=np.full(len(s), 2), weight_kind="frequency")
    for one, other in ((twice.ecce_r, copies.ecce_r), (twice.ecce_mad, copies.ecce_mad)):
        assert one.method == other.method == "large-sample"
        assert one.log10_pvalue == pytest.approx(other.log10_pvalue, rel=1e-6)


def test_a_score_of_zero_or_one_changes_nothing():
    y, s = many()
    certain = np.repeat([0.0, 1.0], 500)
    more = secant.assess(np.append(y, certain == 1), np.append(s, certain))
    assert more.ecce_r.log10_pvalue == pytest.approx(
        secant.assess(y, s).ecce_r.log10_pvalue, rel=1e-6
    )
