import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant._inference.binomial import clopper_pearson, log_upper_tail, wilson

LEVELS = (0.05, 0.5, 0.9, 0.95, 0.99, 1 - 1e-9)


def extremes(successes, n, p):
    """Return the ends of the two tails, computed with exact numbers from the stated guard."""
    mean = n * Fraction(p)
    deviation = abs(successes - mean)
    reach = deviation - (Fraction(1e-12) * deviation + 4 * Fraction(math.ulp(n * p)))
    return math.floor(mean - reach), math.ceil(mean + reach)


def log_enumerated(successes, n, p):
    """Sum the probabilities of all outcomes in question, exactly."""
    low, high = extremes(successes, n, p)
    p = Fraction(p)
    total = sum(
        math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if not low < k < high
    )
    return log_fraction(total) if total else -math.inf


def log_fraction(x):
    """Return the logarithm of a fraction that may be too small for a double."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    return math.log(x / Fraction(2) ** exponent) + exponent * math.log(2)


def log_summed(successes, n, p):
    """Sum outwards from the ends of the tails in 50-digit arithmetic."""
    mpmath = optional("mpmath")
    low, high = extremes(successes, n, p)
    if high <= low + 1:
        return mpmath.mpf(0)
    p = mpmath.mpf(p)
    upper = upper_tail(high, n, p) if high <= n else 0
    lower = upper_tail(n - low, n, 1 - p) if low >= 0 else 0
    return mpmath.log(upper + lower)


def upper_tail(k, n, p):
    """Return P(K >= k) in the arithmetic of p, for k at or above the mean."""
    mpmath = optional("mpmath")
    log_choose = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
    term = mpmath.exp(log_choose + k * mpmath.log(p) + (n - k) * mpmath.log(1 - p))
    total, odds = term, p / (1 - p)
    while k < n and term > total * 1e-30:
        term *= odds * (n - k) / (k + 1)
        k += 1
        total += term
    return total


def log_two_sided(successes, n, p):
    """Add up both tails of all counts at least as far from the mean, by what is tested here."""
    low, high = extremes(successes, n, p)
    if high <= low + 1:
        return 0.0
    if p in (0.0, 1.0):
        return -math.inf

    def tail(*of):
        return float(log_upper_tail(*(np.array([float(each)]) for each in of))[0])

    upper = tail(high, n, p, 1.0 - p) if high <= n else -math.inf
    lower = tail(n - low, n, 1.0 - p, p) if low >= 0 else -math.inf
    return min(float(np.logaddexp(lower, upper)), 0.0)


PROBABILITIES = (0.5, 0.25, 0.1, 0.3, 1 / 3, 0.7, 0.97, 0.999, 1e-3, 1e-9, 1 - 1e-9, 1 - 2**-53)


@pytest.mark.parametrize("p", PROBABILITIES)
def test_tails_enumerated(p):
    for n in [*range(1, 17), 20, 25, 30]:
        for k in range(n + 1):
            expected = log_enumerated(k, n, p)
            assert log_two_sided(k, n, p) == pytest.approx(expected, rel=2e-14, abs=2e-14), (k, n)


@given(st.integers(1, 30), st.data())
def test_tails_enumerated_anywhere(n, data):
    k = data.draw(st.integers(0, n))
    p = data.draw(st.floats(0, 1))
    expected = log_enumerated(k, n, p)
    assert log_two_sided(k, n, p) == pytest.approx(expected, rel=2e-14, abs=2e-14)


def cases():
    """Draw counts of all sizes, near their mean and far from it, for common and rare events."""
    rng = random.Random(20)
    for exponent in range(1, 9):
        for deviations in (-40, -5, -2, 0, 1, 5, 150):
            n = rng.randint(10**exponent, 10 ** (exponent + 1))
            ordinary, rare = rng.random(), 10 ** rng.uniform(-exponent - 1, -1)
            for p in (ordinary, rare, 1 - rare) if exponent < 7 else (rare / 1e3, 1 - rare / 1e3):
                spread = math.sqrt(n * p * (1 - p) + 1)
                yield min(n, max(0, round(n * p + deviations * spread))), n, p


def test_tails_in_fifty_digits():
    with optional("mpmath").workdps(50):
        for k, n, p in cases():
            log_p = log_two_sided(k, n, p)
            # Relative 1e-11 in the probability until its logarithm has no more digits to give.
            assert abs(log_p - log_summed(k, n, p)) <= 1e-11 + 1e-15 * abs(log_p), (k, n, p)


@pytest.mark.parametrize(
    ("k", "n", "p"),
    [
        (20_000, 20_000, 0.5),  # 10^-6020
        (10**9, 10**9, 0.999),
        (6 * 10**8, 10**9, 0.5),
        (10**6, 10**9, 1e-5),
        (0, 10**9, 1e-3),
        (500_100_000, 10**9, 0.5),
        (499_968_377, 10**9, 0.5),
        (23, 883_527_920, 1.670739733991928e-08),  # where scipy is off by 3e-9
    ],
)
def test_tails_of_many_trials(k, n, p):
    with optional("mpmath").workdps(50):
        log_p = log_two_sided(k, n, p)
        assert abs(log_p - log_summed(k, n, p)) <= 1e-11 + 1e-15 * abs(log_p)


def test_tails_agree_with_scipy():
    binom = optional("scipy.stats").binom
    rng = random.Random(21)
    for _ in range(500):
        n, p = rng.randint(1, 10**5), rng.random()
        k = min(n, max(0, round(rng.gauss(n * p, 3 * math.sqrt(n * p * (1 - p))))))
        low, high = extremes(k, n, p)
        expected = 1.0 if high <= low + 1 else binom.cdf(low, n, p) + binom.sf(high - 1, n, p)
        assert math.exp(log_two_sided(k, n, p)) == pytest.approx(expected, rel=1e-10, abs=0)


@given(st.integers(1, 10**9), st.data())
def test_tails_are_probabilities_and_symmetric(n, data):
    k = data.draw(st.integers(0, n))
    p = data.draw(st.integers(0, 2**20)) / 2**20  # so that 1 - p is exact
    log_p = log_two_sided(k, n, p)
    assert log_p <= 0.0
    assert log_two_sided(n - k, n, 1 - p) == pytest.approx(log_p, rel=1e-12, abs=1e-12)


def counts(seed, size=2000, most=6, least=0.0, *, whole=True):
    rng = np.random.default_rng(seed)
    n = 10 ** rng.uniform(least, most, size)
    n = np.floor(n) if whole else n
    k = n * rng.beta(0.3, 0.3, size)
    return (np.round(k) if whole else k), n


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("whole", [True, False])
def test_clopper_pearson_agrees_with_scipy(level, whole):
    beta = optional("scipy.stats").beta
    k, n = counts(31, whole=whole, least=0.0 if whole else -1.0)
    low, high = clopper_pearson(k, n, level)
    tail = 0.5 * (1 - level)
    some, less = k > 0, k < n
    expected = beta.ppf(tail, k[some], (n - k)[some] + 1)
    normal = expected > 1e-290  # below, scipy rounds up and we round down
    assert np.allclose(low[some][normal], expected[normal], rtol=1e-9, atol=0)
    assert np.all(low[some][~normal] <= 1e-290)
    assert np.allclose(high[less], beta.isf(tail, k[less] + 1, (n - k)[less]), rtol=1e-9, atol=0)
    assert np.all(low[~some] == 0.0)
    assert np.all(high[~less] == 1.0)


@pytest.mark.parametrize("level", LEVELS)
def test_clopper_pearson_solves_its_equation(level):
    mpmath = optional("mpmath")
    k = np.array([1, 2, 5, 20, 300, 1, 22, 1000, 10**6, 3, 999_999_990])
    n = np.array([1, 3, 9, 23, 500, 10**4, 774_529_256, 10**6, 10**7, 10**9, 10**9])
    low, high = clopper_pearson(k, n, level)
    with mpmath.workdps(50):
        tail = mpmath.mpf(0.5 * (1 - level))
        below, above = 1 - mpmath.mpf("1e-13"), 1 + mpmath.mpf("1e-13")
        for successes, trials, p in zip(k.tolist(), n.tolist(), low.tolist(), strict=True):
            assert upper_tail(successes, trials, p * below) < tail
            assert upper_tail(successes, trials, min(1, p * above)) > tail
        for successes, trials, p in zip(k.tolist(), n.tolist(), high.tolist(), strict=True):
            if successes < trials:
                assert upper_tail(trials - successes, trials, 1 - p * below) > tail
                assert (
                    p * above >= 1 or upper_tail(trials - successes, trials, 1 - p * above) < tail
                )


def test_clopper_pearson_closed_forms():
    n = np.array([0.3, 1, 7, 1e4, 1e9])
    for level in LEVELS:
        edge = -np.expm1(np.log(0.5 * (1 - level)) / n)
        low, high = clopper_pearson(np.zeros(5), n, level)
        assert np.all(low == 0.0)
        assert np.allclose(high, edge, rtol=1e-13, atol=0)
        low, high = clopper_pearson(n, n, level)
        assert np.all(high == 1.0)
        assert np.allclose(1 - low, edge, rtol=1e-13, atol=2e-16)


def test_clopper_pearson_of_a_trace_of_a_success():
    low, high = clopper_pearson([1e-30, 1e-3, 5 - 1e-15], [5, 5, 5], 0.95)
    assert low[:2].tolist() == [0.0, 0.0]
    assert high[0] == pytest.approx(-math.expm1(math.log(0.025) / 5), rel=1e-12)
    assert high[2] == 1.0


@given(st.floats(1e-3, 1e9), st.floats(0, 1), st.floats(1e-6, 1 - 1e-6))
def test_limits_surround_the_rate_and_mirror(n, share, level):
    k = n * share
    for limits in (clopper_pearson, wilson):
        low, high = limits([k], [n], level)
        assert 0.0 <= low[0] <= 1.0
        assert low[0] <= high[0] <= 1.0
        assert low[0] <= k / n * (1 + 1e-12)
        assert high[0] >= k / n * (1 - 1e-12)
        if 0.0 < k < n:
            mirror_low, mirror_high = limits([n - k], [n], level)
            assert 1 - mirror_high[0] == pytest.approx(low[0], rel=1e-6, abs=1e-15)
            assert 1 - mirror_low[0] == pytest.approx(high[0], rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("level", LEVELS[:-1])  # scipy rounds the last one to another level
def test_wilson_agrees_with_scipy(level):
    stats = optional("scipy.stats")
    for k, n in ((0, 10), (10, 10), (1, 1), (3, 17), (40_000, 10**6), (1, 10**9)):
        expected = stats.binomtest(k, n).proportion_ci(level, method="wilson")
        low, high = wilson([k], [n], level)
        assert low[0] == pytest.approx(expected.low, rel=1e-12, abs=1e-16)
        assert high[0] == pytest.approx(expected.high, rel=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_wilson_solves_its_equation(level):
    norm = optional("scipy.stats").norm
    z = norm.isf(0.5 * (1 - level))
    k, n = counts(41, whole=False, most=9)
    low, high = wilson(k, n, level)
    for p in (low, high):
        inside = (p > 1e-12) & (p < 0.999)
        k_, n_, p_ = k[inside], n[inside], p[inside]
        # In units of the larger side: k - n p cancels when the interval is narrow.
        gap = (k_ - n_ * p_) ** 2 - z**2 * n_ * p_ * (1 - p_)
        slope = 2 * n_ * np.abs(k_ - n_ * p_) + z**2 * n_ * np.abs(1 - 2 * p_)
        assert np.all(np.abs(gap) <= 1e-13 * slope * p_ + 1e-13 * (k_ - n_ * p_) ** 2)


def test_wilson_ends_are_exact():
    low, high = wilson([0, 9, 0.0, 2.5], [9, 9, 1e9, 2.5], 0.95)
    assert low[[0, 2]].tolist() == [0.0, 0.0]
    assert high[[1, 3]].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("limits", [clopper_pearson, wilson])
def test_shapes_and_inputs(limits):
    k, n = np.array([[0, 1, 2], [3, 4, 5]]), np.array([5, 6, 7])
    k.flags.writeable = n.flags.writeable = False
    low, high = limits(k, n, 0.9)
    assert low.shape == high.shape == (2, 3)
    for index in np.ndindex(2, 3):
        one_low, one_high = limits([k[index]], [n[index[1]]], 0.9)
        assert low[index] == pytest.approx(one_low[0], rel=1e-14)
        assert high[index] == pytest.approx(one_high[0], rel=1e-14)
    assert [side.shape for side in limits([], [], 0.9)] == [(0,), (0,)]
    narrow, wide = limits(k, n, 0.5), limits(k, n, 0.99)
    assert np.all(wide[0] <= narrow[0])
    assert np.all(wide[1] >= narrow[1])
