"""Laws of the P-values: they belong to the data, not to how the data are stored."""

import numpy as np
import pytest

import secant
from secant import null


def outcome(result):
    return [(s.pvalue, s.method, s.draws) for s in (result.ecce_r, result.ecce_mad)]


def test_row_order_does_not_choose_the_method():
    """Three rare rows beside sixty common scores, once seen by the sample and once not."""
    rng = np.random.default_rng(0)
    common = rng.choice(np.linspace(0.02, 0.98, 60), 70_000)
    y = (rng.random(70_003) < 0.5).astype(int)
    uniform = rng.random(70_003)
    answers = []
    for places in ([0, 5, 10], [1, 6, 11]):
        p = np.insert(common, np.array(places) - np.arange(3), 0.333331)
        order = np.lexsort((y, p))
        happened = np.empty_like(y)
        happened[order] = uniform < p[order]
        answers.append(outcome(secant.assess(happened, p)))
    assert answers[0] == answers[1]
    assert {method for _, method, _ in answers[0]} == {"upper bound"}


def test_rows_of_weight_zero_do_not_choose_the_method():
    rng = np.random.default_rng(3)
    p = np.round(rng.beta(1, 8, 60_000), 3)
    y = (rng.random(60_000) < p).astype(int)
    padded = secant.assess(
        np.append(y, np.zeros(6000, int)),
        np.append(p, np.linspace(0.001, 0.9, 6000)),
        sample_weight=np.append(np.ones(60_000), np.zeros(6000)),
    )
    assert outcome(padded) == outcome(secant.assess(y, p))


@pytest.mark.parametrize("distinct", [300, 30_000])
def test_copies_and_repeated_rows_have_one_method(distinct):
    rng = np.random.default_rng(4)
    p = (rng.integers(0, distinct, 60_000) + 0.5) / distinct
    y = (rng.random(60_000) < p).astype(int)
    counted = secant.assess(y, p, sample_weight=np.full(60_000, 2), weight_kind="frequency")
    repeated = secant.assess(np.repeat(y, 2), np.repeat(p, 2))
    assert [s[1:] for s in outcome(counted)] == [s[1:] for s in outcome(repeated)]
    # Twice as many rows are cut into cells, and a large-sample P-value is read from their means.
    within = 1e-6 if counted.ecce_r.method == "large-sample" else 1e-9
    for a, b in zip(outcome(counted), outcome(repeated), strict=True):
        assert a[0] == pytest.approx(b[0], rel=within)


@pytest.mark.parametrize(
    ("n", "of_few", "of_many"),
    [(300, "exact", "exact"), (301, "exact", "large-sample"), (100_000, "exact", "large-sample")],
)
def test_few_scores_are_exact_however_many_rows_and_many_scores_large_sample(n, of_few, of_many):
    rng = np.random.default_rng(5)
    for p, method in ((rng.integers(1, 10, n) / 10, of_few), (rng.random(n), of_many)):
        result = secant.assess(rng.random(n) < p, p)
        assert [each[1:] for each in outcome(result)] == [(method, None)] * 2


def test_huge_ties_are_bounded_within_a_percent():
    rng = np.random.default_rng(5)
    p = rng.integers(1, 10, 300_000) / 10
    y = rng.random(300_000) < p
    bounds = secant.assess(y, p)
    assert {method for _, method, _ in outcome(bounds)} == {"upper bound"}
    for bound, exact in zip(
        outcome(bounds), outcome(secant.assess(y, p, method="exact")), strict=True
    ):
        assert exact[1] == "exact"
        assert exact[0] <= bound[0] <= 1.011 * exact[0]


def test_few_rows_are_never_large_sample_without_being_asked():
    rng = np.random.default_rng(6)
    for n in (1, 10, 100, 300):
        p = rng.random(n)
        result = secant.assess(rng.random(n) < p, p)
        assert [each[1:] for each in outcome(result)] == [("exact", None)] * 2
        asked = secant.assess(rng.random(n) < p, p, method="asymptotic")
        assert asked.ecce_r.pvalue == pytest.approx(
            null.range.sf(asked.ecce_r.normalized), rel=1e-12
        )


@pytest.mark.parametrize(("power", "method"), [(1, "simulated"), (2, "upper bound")])
def test_unequal_weights_are_drawn_or_bounded_and_repeatable(power, method):
    rng = np.random.default_rng(7)
    p, w = rng.random(500), rng.lognormal(0, 1, 500)
    y = rng.random(500) < p**power
    order = rng.permutation(500)
    one, same, moved = (
        secant.assess(y[rows], p[rows], sample_weight=w[rows])
        for rows in (slice(None), slice(None), order)
    )
    assert one.ecce_r.method == method
    assert (one.ecce_r.draws is not None) == (method == "simulated")
    assert outcome(one) == outcome(same) == outcome(moved)
    other = secant.assess(y, p, sample_weight=w, rng=1)
    assert other.ecce_r.pvalue == pytest.approx(one.ecce_r.pvalue, rel=0.5)


@pytest.mark.parametrize("score", [1e-4, 0.01, 0.3])
def test_what_almost_surely_shows_shows_99_times_in_100(score):
    """One score, so that the test is binomial and its power can be computed."""
    stats = pytest.importorskip("scipy.stats")
    n = 1000
    result = secant.assess(np.zeros(n), np.full(n, score))
    truth = score + result.detectable
    pvalues = [
        secant.assess(np.arange(n) < k, np.full(n, score)).ecce_r.pvalue for k in range(n + 1)
    ]
    found = np.array(pvalues) <= 0.05
    power = stats.binom.pmf(np.arange(n + 1), n, truth)[found].sum()
    assert power >= 0.985


def test_minus_zero_is_zero():
    for p in ([-0.0, 0.2, 0.4, 0.0], [0.0, 0.2, 0.4, -0.0]):
        part = secant.assess([0, 1, 1, 0], p).between(0, 0.1)
        assert (str(part.low), str(part.high)) == ("0.0", "0.0")
