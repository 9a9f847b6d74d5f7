"""Exact and certified P-values against enumeration, whole numbers and fifty digits."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from helpers import optional
from secant import null
from secant._blocks import grains
from secant._inference import chains, finite, plans
from secant._inference.binomial import log_two_sided
from secant._inference.finite import (
    BUDGET,
    Bracket,
    certified_mad,
    certified_r,
    exact_mad,
    operations,
)
from secant._inference.path import observe, pooled
from ties import (
    as_table,
    close,
    enumerated,
    log10_fraction,
    observed_table,
    random_ties,
    table,
    tables,
)

# --- oracles --------------------------------------------------------------------------------------


def statistics(score, n, n1):
    """Return max|X| and max X - min X in exact arithmetic."""
    x, path = Fraction(0), [Fraction(0)]
    for s, size, successes in zip(score, n, n1, strict=True):
        x += successes - size * Fraction(s)
        path.append(x)
    return max(map(abs, path)), max(path) - min(path)


class Enumeration:
    """All outcomes of a small table with their probabilities and statistics, exactly."""

    def __init__(self, score, n):
        self.expected = math.fsum(size * s for s, size in zip(score, n, strict=True))
        ties = [
            [
                math.comb(size, j) * Fraction(s) ** j * (1 - Fraction(s)) ** (size - j)
                for j in range(size + 1)
            ]
            for s, size in zip(score, n, strict=True)
        ]
        self.outcomes = list(itertools.product(*(range(size + 1) for size in n)))
        self.values = [statistics(score, n, outcome) for outcome in self.outcomes]
        self.probabilities = [
            math.prod(tie[j] for tie, j in zip(ties, outcome, strict=True))
            for outcome in self.outcomes
        ]

    def pvalues(self, observed):
        """Return the P-values of ECCE-MAD and ECCE-R for observed statistics."""
        return tuple(self._pvalue(which, observed[which]) for which in (0, 1))

    def _pvalue(self, which, c):
        guard = Fraction(1e-12) * c + 4 * Fraction(math.ulp(self.expected))
        pairs = zip(self.values, self.probabilities, strict=True)
        return sum((p for values, p in pairs if values[which] >= c - guard), Fraction(0))


def exact_r(units, size, unit, c):
    """Return P(R >= c) by a dynamic programme over the distances from the minimum and the maximum.

    Scores are ``units / unit`` and c is in the same units, so everything is a whole number.
    """
    alive = np.zeros((c, c))
    alive[0, 0] = 1.0
    gone = 0.0
    for u, count in zip(units, size, strict=True):
        new = np.zeros_like(alive)
        for j in range(count + 1):
            p = math.comb(count, j) * (u / unit) ** j * (1 - u / unit) ** (count - j)
            step = j * unit - count * u
            # Axes: above the minimum, below the maximum. A fall is a rise with the axes swapped.
            source, target = (alive, new) if step >= 0 else (alive.T, new.T)
            up = abs(step)
            if up < c:
                target[up:, : c - up] += p * source[: c - up, up:]
                target[up:, 0] += p * source[: c - up, :up].sum(axis=1)
            gone += p * source[max(c - up, 0) :, :up].sum()
        alive = new
    return gone


def exact_r_fractions(score, c):
    """Return P(R >= c) for distinct scores in exact arithmetic, state by state."""
    states = {(Fraction(0), Fraction(0)): Fraction(1)}
    gone = Fraction(0)
    for s in map(Fraction, score):
        new = {}
        for (above, below), mass in states.items():
            for step, p in ((1 - s, s), (-s, 1 - s)):
                key = max(above + step, Fraction(0)), max(below - step, Fraction(0))
                if sum(key) >= c:
                    gone += mass * p
                else:
                    new[key] = new.get(key, 0) + mass * p
        states = new
    return gone


def exact_mad_integers(units, unit, c):
    """Return P(max|X| >= c/unit) for scores units/unit, one observation each, as a fraction."""
    mass, reached, gone = {0: 1}, 0, Fraction(0)
    for k, u in enumerate(units, start=1):
        reached += u
        new = {}
        for i, p in mass.items():
            new[i] = new.get(i, 0) + p * (unit - u)
            new[i + 1] = new.get(i + 1, 0) + p * u
        out = [i for i in new if abs(i * unit - reached) >= c]
        gone += Fraction(sum(new.pop(i) for i in out), unit**k)
        mass = new
    return gone


def contains(bracket, truth):
    """Tell whether a fraction or float lies in a bracket, or is the exact value it has."""
    if bracket.low == bracket.high:
        # The roundings of a chain's sums, and those of a logarithm.
        return close(bracket.high, truth, 1e-13 * max(1.0, abs(bracket.high)))
    log10_truth = log10_fraction(Fraction(truth)) if truth else -math.inf
    return bracket.low <= log10_truth <= bracket.high


# --- full enumeration -----------------------------------------------------------------------------


SMALL = [
    ([0.5, 0.6], [1, 1]),
    ([0.2, 0.5, 0.8], [1, 1, 1]),
    ([0.25, 0.5, 0.75], [2, 2, 2]),
    ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [1] * 7),
    ([0.0, 0.3, 0.7, 1.0], [2, 2, 2, 2]),
    ([0.0, 1e-9, 0.5, 1 - 1e-9, 1.0], [1, 2, 2, 2, 1]),
    ([0.013, 0.15, 0.35, 0.36, 0.51, 0.72, 0.9, 0.999], [1] * 8),
    ([0.1, 0.2, 0.3], [3, 1, 4]),
    ([0.4], [8]),
    ([0.0, 1.6e-178], [1, 2]),
    ([1e-20, 0.5, 1 - 2**-53], [3, 2, 3]),
]


@pytest.mark.parametrize(("score", "n"), SMALL)
def test_every_outcome_of_small_tables(score, n):
    every = Enumeration(score, n)
    for outcome, values in zip(every.outcomes, every.values, strict=True):
        mad, r = every.pvalues(values)
        ties = as_table(score, n, outcome)
        exact = exact_mad(*ties)
        assert exact.high in {exact.low, -300.0}
        assert close(exact.high, mad), outcome
        assert contains(certified_r(*ties), r), outcome


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("digits", [1, 2, 17])
def test_enumeration_of_twelve(seed, digits):
    rng = np.random.default_rng([seed, digits])
    scores = np.concatenate([rng.random(10), rng.choice([0, 1, 0.5], 2)]).round(digits)
    score, n = np.unique(scores, return_counts=True)
    every = Enumeration(score.tolist(), n.tolist())
    for index in rng.integers(len(every.outcomes), size=8).tolist():
        ties = as_table(score, n, every.outcomes[index])
        mad, r = every.pvalues(every.values[index])
        assert close(exact_mad(*ties).high, mad)
        assert contains(certified_r(*ties), r)


@given(tables())
def test_enumeration_anywhere(ties):
    score, n, n1 = (column.tolist() for column in ties)
    mad, r = Enumeration(score, n).pvalues(statistics(score, n, n1))
    assert close(exact_mad(*ties).high, mad)
    assert close(certified_mad(*ties).high, mad)
    assert contains(certified_r(*ties), r)


# --- exact ECCE-R ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "n", "unit", "most"),
    [(0, 20, 32, 1), (1, 30, 32, 1), (2, 60, 64, 1), (3, 60, 16, 9), (4, 100, 128, 1)],
)
def test_brute_force_r(seed, n, unit, most):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, most + 1, n)
    size = size[np.cumsum(size) <= n]
    units = np.sort(rng.choice(np.arange(1, unit), min(len(size), unit - 1), replace=False))
    size = size[: len(units)]
    score = units / unit
    for shift in (0.0, 0.1, -0.2) if n < 100 else (0.05,):
        n1 = rng.binomial(size, np.clip(score + shift, 0, 1))
        x = np.concatenate([[0], np.cumsum(unit * n1 - units * size)])
        truth = exact_r(units.tolist(), size.tolist(), unit, int(x.max() - x.min()))
        bracket = certified_r(score, size, n1)
        assert bracket.low == bracket.high
        assert close(bracket.high, truth)


def run(path, grid, c):
    """Return the masses that rise and that fall by c, lower and upper ones, and their error."""
    return finite._r(path, grid, c, chains)


@pytest.mark.parametrize("seed", range(3))
def test_brute_force_r_of_every_grid(seed):
    """Every grid and every pooling gives bounds, with barriers that hit outcomes exactly."""
    rng = np.random.default_rng(seed)
    unit = 64
    units = np.sort(rng.choice(np.arange(1, unit), 40, replace=False))
    score, size = units / unit, np.ones(40, np.int64)
    n1 = rng.binomial(1, np.clip(score - 0.15, 0, 1))
    x = np.concatenate([[0], np.cumsum(unit * n1 - units)])
    truth = exact_r(units.tolist(), size.tolist(), unit, int(x.max() - x.min()))
    path, _, c = observe(score, size, n1)
    widths = []
    for grid in (*map(plans.Rounding, (1, 2, 7, 30, 300)), plans.keyed(path, c).rounding):
        lower, upper, _ = run(path, grid, c)
        rise, fall, rise_upper, fall_upper = (mass / chains.SCALE for mass in (*lower, *upper))
        assert rise <= rise_upper
        assert fall <= fall_upper
        assert (rise + fall) / (1 + max(rise, fall)) <= truth * (1 + 1e-12)
        assert truth <= (rise_upper + fall_upper) * (1 + 1e-12)
        ways = ("up",) if grid.keys is not None else ("down", "up") * 2
        least, most, _ = finite._either(path, grid, c, chains, ways)
        assert least / chains.SCALE <= truth * (1 + 1e-12)
        assert truth <= most / chains.SCALE * (1 + 1e-12)
        widths.append(most / least - 1)
    assert widths[-1] == 0.0
    assert widths[0] > widths[2] > widths[4] > 0


@pytest.mark.parametrize("kind", ["uniform", "rare", "ten values", "both ends"])
@pytest.mark.parametrize("n", [30, 300, 700])
def test_the_second_digit_is_certain(kind, n):
    """However large the P-value is; up to 300 distinct scores it is exact."""
    rng = np.random.default_rng(n)
    scores = {
        "uniform": lambda: rng.random(n),
        "rare": lambda: rng.beta(1, 20, n),
        "ten values": lambda: rng.integers(1, 11, n) / 11,
        "both ends": lambda: rng.beta(0.3, 0.3, n),
    }[kind]()
    large = 0
    for shift in [0.0, 0.02] * 5:
        ties = observed_table(rng, scores, shift)
        bracket = certified_r(*ties)
        low, high = (10**bound for bound in bracket)
        large += high > 0.3
        # Rounding leaves a percent, which is more than a step of the second digit below 0.1.
        assert not finite.too_wide(low, high) or (high < 0.1 and high < 1.013 * low)
        assert len(ties[0]) > 300 or bracket.low == bracket.high
    assert large


@pytest.mark.parametrize("kind", ["uniform", "rare", "both ends", "two values"])
@pytest.mark.parametrize("stride", [1, 4, 32])
def test_bounds_of_what_comes_first_hold(kind, stride):
    """Coarse points bound the exact P-value from both sides, of small ones and of large."""
    rng = np.random.default_rng(stride)
    scores = {
        "uniform": lambda: rng.random(60),
        "rare": lambda: rng.beta(1, 20, 60),
        "both ends": lambda: rng.beta(0.3, 0.3, 60),
        "two values": lambda: rng.choice([0.1, 0.77], 60),
    }[kind]()
    seen = []
    for shift in (0.0, 0.0, 0.0, 0.05, -0.1, 0.3):
        path, _, c = observe(*observed_table(rng, scores, shift))
        exact, _, _ = finite._either(path, plans.keyed(path, c).rounding, c, chains, ("up",))
        grid = plans.Rounding(stride)
        low, high, error = finite._either(path, grid, c, chains, ("down", "up") * 2)
        assert error < 1e-10
        assert low * (1 - error) <= exact <= high * (1 + error)
        seen.append(exact / chains.SCALE)
    assert max(seen) > 0.3
    assert min(seen) < 0.05


def test_sum_of_both_is_no_lower_bound():
    """P(U) + P(D) counts paths that do both: the lower end must not be that."""
    units, unit = [8] * 12, 16
    c = 32
    path = observe(np.array([0.5]), np.array([12]), np.array([6]))[0]
    path = dataclasses.replace(
        path,
        score=np.full(12, 0.5),
        size=np.ones(12, np.int64),
        reached=np.arange(1, 13) / 2,
        trials=np.arange(1, 13),
        ends=np.arange(12),
    )
    grid = plans.keyed(path, c / unit).rounding
    lower, _, _ = run(path, grid, c / unit - 1e-9)
    rise, fall = (mass / chains.SCALE for mass in lower)
    truth = exact_r(units, [1] * 12, unit, c)
    found, _, _ = finite._either(path, grid, c / unit - 1e-9, chains, ("up",))
    assert found / chains.SCALE == pytest.approx(truth, rel=1e-12)
    assert rise + fall > truth * 1.1
    assert (rise + fall) / (1 + max(rise, fall)) < truth


# --- deep tails -----------------------------------------------------------------------------------


def test_deep_tail_of_mad():
    """200 observations at 1e-90 and below, against whole numbers of any size."""
    unit = 1 << 12
    for shift, successes in ((10, 150), (3, 130), (40, 200)):
        units = [shift + 2 * k for k in range(200)]
        n1 = np.array([1] * successes + [0] * (200 - successes))
        x = np.cumsum(unit * n1 - np.array(units))
        c = int(np.abs(x).max())
        truth = exact_mad_integers(units, unit, c)
        score = np.array(units) / unit
        p = exact_mad(score, np.ones_like(n1), n1)
        assert p.high < -80
        assert close(p.high, truth, 1e-11)


def test_mad_down_to_the_least():
    """The last P-value above 1e-300 has its digits; below there is only a bound."""
    unit = 1 << 16
    units = list(range(1, 101))
    score, one = np.array(units) / unit, np.ones(100, np.int64)
    seen = []
    for successes in range(60, 101):
        n1 = np.array([1] * successes + [0] * (100 - successes))
        c = int(np.abs(np.cumsum(unit * n1 - np.array(units))).max())
        truth = exact_mad_integers(units, unit, c)
        p = exact_mad(score, one, n1)
        if truth < Fraction(1, 10**300):
            assert p == Bracket(-math.inf, -300.0)
        else:
            assert close(p.high, truth, 1e-11)
        seen.append(truth < Fraction(1, 10**300))
    assert len(set(seen)) == 2


def test_deep_tail_of_r():
    """ECCE-R near 1e-90, against exact arithmetic."""
    score = np.arange(1, 23) / 2**16
    for failures in ((), (0,), (5, 11)):
        n1 = np.ones(22, np.int64)
        n1[list(failures)] = 0
        _, c = statistics(score.tolist(), [1] * 22, n1.tolist())
        truth = exact_r_fractions(score.tolist(), c)
        bracket = certified_r(score, np.ones_like(n1), n1)
        assert bracket.high < -70
        assert contains(bracket, truth)
        assert bracket.high - bracket.low < 1e-11


def test_deep_tails_of_ties_against_fifty_digits():
    mpmath = optional("mpmath")
    score, n = [0.05, 0.3, 0.31, 0.8], [300, 80, 200, 150]
    with mpmath.workdps(50):
        for n1, depth in (
            ([110, 60, 90, 140], -65),
            ([15, 24, 2, 5], -60),
            ([145, 50, 90, 150], -90),
        ):
            ties = as_table(score, n, n1)
            _, c, _ = observe(*ties)
            truth = mad_of_ties(mpmath, score, n, c)
            p = exact_mad(*ties)
            assert p.high < depth
            assert abs(mpmath.mpf(10) ** p.high / truth - 1) < 1e-11


def test_what_was_left_out_is_put_back(monkeypatch):
    """If too much of the laws of ties was left out for the P-value at hand, it is noticed."""
    ties = as_table([0.2, 0.4, 0.6], [400, 500, 300], [150, 240, 190])
    mad, r = exact_mad(*ties), certified_r(*ties)
    assert -25 < mad.high < -10
    monkeypatch.setattr(plans, "_NEGLIGIBLE", -15.0)
    assert exact_mad(*ties) == pytest.approx(mad, rel=0, abs=1e-12)
    assert certified_r(*ties) == pytest.approx(r, rel=0, abs=1e-12)
    monkeypatch.setattr(finite, "_MISSING", 1e30)
    assert exact_mad(*ties).high != pytest.approx(mad.high, rel=0, abs=1e-6)


def mad_of_ties(mpmath, score, n, c):
    """Return P(max|X| >= c) at the ends of ties in high precision."""
    mass, reached, gone = {0: mpmath.mpf(1)}, mpmath.mpf(0), mpmath.mpf(0)
    for s, size in zip(map(mpmath.mpf, score), n, strict=True):
        reached += size * s
        law = [mpmath.binomial(size, j) * s**j * (1 - s) ** (size - j) for j in range(size + 1)]
        new = {}
        for i, p in mass.items():
            for j, q in enumerate(law):
                if abs(i + j - reached) >= c:
                    gone += p * q
                else:
                    new[i + j] = new.get(i + j, 0) + p * q
        mass = new
    return gone


# --- known answers --------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [exact_mad, certified_mad, certified_r])
def test_one_observation(function):
    happened, not_happened = as_table([0.3], [1], [1]), as_table([0.3], [1], [0])
    assert 10 ** function(*happened).high == pytest.approx(0.3, rel=1e-15)
    assert function(*not_happened) == Bracket(0.0, 0.0)


@pytest.mark.parametrize("function", [exact_mad, certified_mad, certified_r])
@pytest.mark.parametrize("p", [0.0, 1e-6, 0.1, 0.5, 0.93, 1.0])
def test_one_score_is_binomial(function, p):
    for n, n1 in ((1, 0), (10, 3), (10, 10), (500, 270), (10**9, 10**8)):
        expected = log_two_sided(n1, n, p) / math.log(10)
        assert function(*as_table([p], [n], [n1])) == Bracket(expected, expected)


@pytest.mark.parametrize("function", [exact_mad, certified_mad, certified_r])
def test_no_deviation_is_certain(function):
    # Whatever the rounding: 0.1 + 0.2 + 0.3 + 0.4 and 10 x 0.1 are 1.
    assert function(*as_table([0.1, 0.3], [10, 10], [1, 3])) == Bracket(0.0, 0.0)
    assert function(*as_table([0.0, 1.0], [5, 7], [0, 7])) == Bracket(0.0, 0.0)


@pytest.mark.parametrize("function", [exact_mad, certified_mad, certified_r])
def test_impossible(function):
    impossible = Bracket(-math.inf, -math.inf)
    assert function(*as_table([0.0, 1.0], [5, 7], [1, 7])) == impossible
    assert function(*as_table([0.0, 0.5, 0.6], [5, 1, 1], [3, 1, 0])) == impossible
    assert function(*as_table([0.0], [5], [3])) == impossible
    # Two successes are the most there can be; the observed one deviates as much and no more.
    p = function(*as_table([0.0, 0.5, 0.6], [5, 1, 1], [0, 1, 1])).high
    assert 10**p >= 0.3


def test_forbidden_responses_count_in_the_statistic():
    """The P-value is that of the statistic, which a forbidden response makes larger."""
    score, n = [0.0, 0.2, 0.4, 0.6, 1.0], [3, 2, 2, 2, 2]
    every = Enumeration(score, n)
    for n1 in ([1, 1, 1, 1, 2], [0, 0, 1, 1, 1], [1, 0, 1, 2, 1]):
        mad, r = every.pvalues(statistics(score, n, n1))
        ties = as_table(score, n, n1)
        assert close(exact_mad(*ties).high, mad)
        assert contains(certified_r(*ties), r)


@pytest.mark.parametrize("function", [exact_mad, certified_mad, certified_r])
def test_vanishing(function):
    score = np.linspace(0.4, 0.6, 5000)
    everything = np.ones(5000, np.int64)
    assert function(score, everything, everything) == Bracket(-math.inf, -300.0)
    assert operations(score, everything, everything, "r") == 5000  # known without a chain


# --- ties and rounding ----------------------------------------------------------------------------


def test_outcomes_that_tie_with_the_observed_one_count():
    """A grid of tenths at n = 10,000: barriers decided by whole numbers, against ours."""
    rng = np.random.default_rng(7)
    tenths = np.arange(1, 10)
    n = rng.multinomial(10_000, np.full(9, 1 / 9))
    for shift in (0.01, -0.01, 0.02, -0.02):
        n1 = rng.binomial(n, tenths / 10 + shift)
        x = np.cumsum(10 * n1 - tenths * n)
        c = int(np.abs(x).max())
        truth = mad_on_a_grid(tenths.tolist(), n.tolist(), 10, c)
        p = exact_mad(tenths / 10, n, n1)
        assert 10**p.high == pytest.approx(truth, rel=1e-11)
        # One outcome more or less would show.
        assert mad_on_a_grid(tenths.tolist(), n.tolist(), 10, c + 1) < truth * (1 - 1e-3)


def mad_on_a_grid(units, size, unit, c):
    binom = optional("scipy.stats").binom
    mass, reached, gone, first = np.ones(1), 0, 0.0, 0
    for u, count in zip(units, size, strict=True):
        law = binom.pmf(np.arange(count + 1), count, u / unit)
        mass = np.convolve(mass, law)
        reached += u * count
        out = np.abs((first + np.arange(len(mass))) * unit - reached) >= c
        gone += mass[out].sum()
        inside = np.flatnonzero(~out)
        first += int(inside[0])
        mass = mass[inside[0] : inside[-1] + 1]
    return gone


def test_inputs_are_left_alone():
    ties = as_table([0.0, 0.2, 0.4, 0.7, 1.0], [3, 1, 100, 2, 2], [0, 1, 30, 2, 2])
    for column in ties:
        column.flags.writeable = False
    exact_mad(*ties), certified_mad(*ties), certified_r(*ties), operations(*ties, "r")


# --- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(14))
def test_failures_mirror_successes(seed):
    """Exchange 0 and 1: the same P-values, if 1 - s is exact."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(1, 2**10, 200) / 2**10
    score, n, n1 = observed_table(rng, scores, 0.1 if seed % 2 else 0.0)
    mirror = (1 - score)[::-1].copy(), n[::-1].copy(), (n - n1)[::-1].copy()
    # The path is run through backwards: every rise is still a rise, so the ranges are alike.
    assert certified_r(*mirror) == pytest.approx(certified_r(score, n, n1), rel=0, abs=1e-11)


@pytest.mark.parametrize("seed", range(28))
def test_mad_and_r_respect_each_other(seed):
    """MAD <= R <= 2 MAD, so P(R >= c) is between P(MAD >= c) and P(MAD >= c/2)."""
    ties = random_ties(seed)
    path, _, c = observe(*ties)
    if c <= 0:
        return
    lower, *_ = finite._mad(path, c, chains)
    upper, *_ = finite._mad(path, c / 2, chains)
    bracket = certified_r(*ties)
    assert finite._log10(lower) <= bracket.high + 1e-10
    assert bracket.low <= finite._log10(upper) + 1e-10


def test_bounds_are_tight():
    """The bracket is what the grid promises, and the coincidence of rise and fall."""
    rng = np.random.default_rng(11)
    for n in (400, 1000, 3000):
        for shift in (0.0, 0.03, 0.08):
            ties = observed_table(rng, rng.random(n), shift)
            bracket = certified_r(*ties, budget=10**12)
            upper = 10**bracket.high
            assert upper / 10**bracket.low - 1 <= 0.015 + 0.55 * upper


# --- rare events ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["low", "high", "both", "ties"])
def test_pooled_bounds_hold(seed, kind):
    """Pooling neighbours of which next to nothing is expected keeps both bounds."""
    rng = np.random.default_rng(seed)
    scores = rng.beta(0.5, 0.5 * 2000 / (2 + 3 * seed), 2000)
    if kind == "high":
        scores = 1 - scores
    elif kind == "both":
        scores = np.where(rng.random(2000) < 0.5, scores, 1 - scores)
    elif kind == "ties":
        scores = scores.round(5)
    ties = observed_table(rng, scores, 0.001 * seed * (-1 if kind == "high" else 1))
    path, deviation, span = observe(*ties)
    truth = exact_mad(*ties).high
    for drift in (0.005, 0.03, 0.3):
        coarser = pooled(path, drift)
        assert len(coarser) < len(path)
        assert 0 < coarser.drift <= drift * (1 + 1e-9)
        lower, upper, _ = finite._mad(coarser, deviation, chains)
        assert finite._log10(lower) <= truth + 1e-11
        assert truth <= finite._log10(upper) + 1e-11
        fine = run(path, plans.Rounding(200), span)
        coarse = run(coarser, plans.Rounding(200), span)
        for which in (0, 1):
            assert coarse[0][which] <= fine[1][which] * (1 + 1e-11)
            assert fine[0][which] <= coarse[1][which] * (1 + 1e-11)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["low", "high", "both", "ties", "certain"])
def test_bounds_from_grains_hold(monkeypatch, seed, kind):
    """What is known of grains alone bounds the P-values of all their rows, whatever their size."""
    monkeypatch.setattr(grains, "MANY_TIES", 1)
    rng = np.random.default_rng(seed)
    n = 1500
    scores = rng.beta(0.5, 0.5 * n / (2 + 3 * seed), n)
    if kind == "high":
        scores = 1 - scores
    elif kind == "both":
        scores = np.where(rng.random(n) < 0.5, scores, 1 - scores)
    elif kind == "ties":
        scores = scores.round(5)
    elif kind == "certain":
        scores[: n // 3] = rng.integers(0, 2, n // 3)
    ties = observed_table(rng, scores, 0.002 * seed * (-1 if kind == "high" else 1))
    truth, fine = exact_mad(*ties), certified_r(*ties, budget=10**11)
    for size in (1e-5, 1e-3, 0.02, 0.2):
        ground = grains.grind(grains.Ties(*ties), size)
        for budget in (BUDGET, 0):
            r, mad = finite.of_grains(ground, budget=budget)
            assert mad.low <= truth.high + 1e-11
            assert truth.low <= mad.high + 1e-11
            assert r.low <= fine.high + 1e-11
            assert fine.low <= r.high + 1e-11
    r, mad = finite.of_grains(grains.grind(grains.Ties(*ties), 1e-3), budget=10**11)
    if truth.high > -300:
        assert mad.high - mad.low < 0.03


@pytest.mark.parametrize("seed", range(40))
def test_bounds_from_grains_along_another_order_hold(seed):
    """Against full enumeration: steps of one score and of several, on one side and on both."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 11))
    small = rng.random(n) * 0.02
    score = [
        small,
        1 - small,
        np.where(rng.random(n) < 0.5, small, 1 - small),
        np.where(rng.random(n) < 0.3, rng.integers(0, 11, n) / 10, small),
    ][seed % 4]
    place = rng.integers(0, 1 + rng.integers(1, n), n)
    order = np.lexsort((score, place))
    score, place = score[order], place[order]
    score[0] = 0.01  # something is random
    happened = (rng.random(n) < np.where(score < 0.5, 0.2, 0.8)).astype(int)
    ends = np.append(np.flatnonzero(np.diff(place)), n - 1)
    truth = enumerated(score, ends, happened)
    ties = grains.Ties(score, np.ones(n, np.int64), happened)
    for size in (2.0**-5, 2.0**-7, 2.0**-10):
        ground = grains.grind_along(ties, ends, size)
        for budget in (0, BUDGET):
            for found, p in zip(finite.of_grains(ground, budget=budget), truth, strict=True):
                log10_p = math.log10(p) if p else -math.inf
                assert found.low <= log10_p + 1e-11
                assert log10_p <= found.high + 1e-11


@pytest.mark.parametrize("places", [20, 300, 1500])
@pytest.mark.parametrize("kind", ["low", "high", "both"])
def test_bounds_from_grains_of_many_places_hold(places, kind):
    """Against chains that look at every row."""
    rng = np.random.default_rng(places)
    n = 1500
    score = rng.beta(0.5, 0.5 * n / 8, n)
    if kind == "high":
        score = 1 - score
    elif kind == "both":
        score = np.where(rng.random(n) < 0.5, score, 1 - score)
    place = rng.integers(0, places, n) if places < n else rng.permutation(n)
    order = np.lexsort((score, place))
    score, ends = score[order], np.append(np.flatnonzero(np.diff(place[order])), n - 1)
    happened = (rng.random(n) < np.where(score < 0.5, 2 * score, score)).astype(np.int64)
    ties = score, np.ones(n, np.int64), happened, ends
    truth, fine = exact_mad(*ties), certified_r(*ties, budget=10**11)
    for size in (1e-5, 1e-3, 0.02):
        ground = grains.grind_along(grains.Ties(*ties[:3]), ends, size)
        for budget in (BUDGET, 0):
            r, mad = finite.of_grains(ground, budget=budget)
            assert mad.low <= truth.high + 1e-11
            assert truth.low <= mad.high + 1e-11
            assert r.low <= fine.high + 1e-11
            assert fine.low <= r.high + 1e-11
            assert mad.high - mad.low < 0.05 or not budget or size > 1e-3


@pytest.mark.parametrize("happened", [0, 1, 3])
@pytest.mark.parametrize(
    "kind", ["next to certain", "denormal", "one tie has it all", "one row has it all", "grid"]
)
def test_bounds_from_grains_of_unlikely_data(monkeypatch, kind, happened):
    """Next to nothing is expected, or all of it at one score: there is always a way to bounds."""
    monkeypatch.setattr(grains, "MANY_TIES", 1)
    rng = np.random.default_rng(8)
    u = rng.random(2000)
    scores, count = u * 1e-7, np.ones(2000, np.int64)
    if kind == "next to certain":
        scores = np.where(u < 0.5, 1e-9 * u, 1 - 1e-9 * u)
    elif kind == "denormal":
        scores = 1e-310 * u
    elif kind == "one tie has it all":
        scores[0], count[0] = 0.004, 5000
    elif kind == "one row has it all":
        scores[0] = 0.3
    elif kind == "grid":
        scores = np.arange(1, 2001) / 1e6
    order = np.argsort(scores)
    n1 = np.zeros(2000, np.int64)
    n1[rng.choice(2000, happened, replace=False)] = 1
    ties = grains.Ties(scores[order], count[order], n1)
    size = grains.grain_size(float((ties.n * ties.score * (1 - ties.score)).sum()))
    truth, fine = exact_mad(*ties), certified_r(*ties, budget=10**11)
    for coarser in (1, 2**6, 2**10):
        r, mad = finite.of_grains(grains.grind(ties, coarser * size))
        assert mad.low <= truth.high + 1e-11
        assert truth.low <= mad.high + 1e-11
        assert r.low <= fine.high + 1e-11
        assert fine.low <= r.high + 1e-11


@pytest.mark.parametrize("seed", range(30))
def test_bounds_from_grains_hold_for_every_outcome(monkeypatch, seed):
    """Few rows of unlike scores in one grain: all outcomes are enumerated."""
    monkeypatch.setattr(grains, "MANY_TIES", 1)
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.choice([0.2, 0.05, 1e-3], 9) * rng.random(9))
    if seed % 3 == 0:
        scores = np.sort(np.where(rng.random(9) < 0.5, scores, 1 - scores))
    one = np.ones(9, np.int64)
    everything = Enumeration(scores.tolist(), [1] * 9)
    for outcome in (rng.random((4, 9)) < np.clip(3 * scores, 0.1, 0.9)).astype(np.int64):
        ground = grains.grind(grains.Ties(scores, one, outcome), 0.1)
        mad, r = map(float, everything.pvalues(statistics(scores, one.tolist(), outcome.tolist())))
        for bracket, p in zip(finite.of_grains(ground), (r, mad), strict=True):
            assert 10**bracket.low <= p * (1 + 1e-11)
            assert p <= 10**bracket.high * (1 + 1e-11)


@pytest.mark.parametrize("n", [20_000, 200_000])
def test_rare_events_among_very_many(n):
    """The number of rows hardly matters to the work, and not to the answer."""
    few = as_table(np.linspace(1e-4, 2e-2, 1000), [1] * 1000, [1] * 15 + [0] * 985)
    score = np.repeat(few[0], n // 1000) / (n // 1000)
    score *= np.linspace(1 - 1e-9, 1 + 1e-9, n)  # all distinct
    score.sort()
    n1 = np.zeros(n, np.int64)
    n1[: 15 * (n // 1000) : n // 1000] = 1
    ties = score, np.ones(n, np.int64), n1
    assert operations(*ties, "r") < BUDGET
    exact, bracket = exact_mad(*ties), certified_mad(*ties)
    assert bracket.low == bracket.high == pytest.approx(exact.high, rel=0, abs=1e-12)
    r = certified_r(*ties)
    assert exact.high <= r.high
    assert 0 < r.high - r.low < 0.1
    wide = certified_r(*ties, budget=0)
    assert wide.low <= r.high <= wide.high
    assert r.low <= wide.high


# --- against simulation ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["uniform", "rare", "ties"])
def test_large_simulation(kind):
    """100,000 paths: P-values from .001 to .5 within 4.5 standard errors."""
    rng = np.random.default_rng(5)
    scores = {"uniform": rng.random(350), "rare": rng.beta(0.5, 40, 350)}.get(kind)
    if scores is None:
        scores = rng.random(350).round(2)
    score, n, _ = table(scores, np.zeros(350))
    reached = np.cumsum(n * score)
    mad, spread = [], []
    for _ in range(10):
        x = np.cumsum(rng.binomial(n, score, (10_000, len(n))), axis=1) - reached
        top, bottom = x.max(axis=1).clip(0), x.min(axis=1).clip(None, 0)
        mad.append(np.maximum(top, -bottom))
        spread.append(top - bottom)
    mad, spread = np.concatenate(mad), np.concatenate(spread)
    for _ in range(6):
        _, _, n1 = observed_table(rng, scores, rng.choice([0, 0.02, 0.05]))
        x = np.cumsum(n1) - reached
        top, bottom = max(x.max(), 0), min(x.min(), 0)
        for bracket, draws, value in (
            (exact_mad(score, n, n1), mad, max(top, -bottom)),
            (certified_r(score, n, n1), spread, top - bottom),
        ):
            p = (draws >= value - 1e-9).mean()
            error = 4.5 * math.sqrt(max(p * (1 - p), 1e-6) / 100_000)
            assert 10**bracket.low - error <= p <= 10**bracket.high + error


def test_tends_to_the_asymptotic_law():
    rng = np.random.default_rng(6)
    score = np.sort(rng.random(20_000))
    one = np.ones(20_000, np.int64)
    n1 = (rng.random(20_000) < score).astype(np.int64)
    path, c, _ = observe(score, one, n1)
    limit = null.mad.sf(c / math.sqrt(path.variance))
    assert 10 ** exact_mad(score, one, n1).high == pytest.approx(limit, rel=0.03)


# --- work -----------------------------------------------------------------------------------------


def test_operations_do_not_depend_on_numba(monkeypatch):
    rng = np.random.default_rng(14)
    ties = observed_table(rng, rng.random(500))
    with_numba = [operations(*ties, which) for which in ("exact-mad", "mad", "r")]
    monkeypatch.setattr(finite, "is_usable", lambda name: False)
    assert [operations(*ties, which) for which in ("exact-mad", "mad", "r")] == with_numba
    assert not finite.worth_compiling(10**15)
    assert all(isinstance(count, int) for count in with_numba)


def test_paths_that_go_nowhere_are_as_far_as_any():
    """Scores that are all but certain, and so they happen: the range drowns in its rounding."""
    import secant

    n = 70_000
    place = np.random.default_rng(0).permutation(n)
    result = secant.assess(np.ones(n, int), np.full(n, 1 - 2**-53), order_by=place)
    assert (result.ecce_r.pvalue, result.ecce_mad.pvalue) == (1, 1)


@pytest.mark.parametrize("happened", [0, 1])
def test_grains_of_the_least_scores_there_are(happened):
    """Their reciprocals overflow."""
    ties = grains.Ties(np.array([5e-324, 0.3, 0.31]), np.ones(3, int), np.array([0, happened, 0]))
    truth = enumerated(ties.score, np.array([0, 2]), ties.n1)
    ground = grains.grind_along(ties, np.array([0, 2]), 0.5)
    for found, p in zip(finite.of_grains(ground), truth, strict=True):
        assert found.low <= math.log10(p) + 1e-11
        assert math.log10(p) <= found.high + 1e-11


@pytest.mark.parametrize(("outcome", "p"), [((1, 1, 1), 0.25), ((1, 1, 0), 0.75)])
def test_three_rows_in_doubt_among_many_that_are_certain_are_enumerated(outcome, p):
    """Grains of one tie each pool nothing: what is known of them is exact."""
    import secant

    n = 70_000
    rng = np.random.default_rng(2)
    score = rng.integers(0, 2, n).astype(float)
    happened = score.astype(int)
    place = rng.permutation(n)
    doubtful = np.argsort(place)[[100, 5000, 60_000]]
    score[doubtful], happened[doubtful] = 0.5, outcome
    result = secant.assess(happened, score, order_by=place)
    assert result.ecce_r.pvalue == pytest.approx(p, rel=1e-12)
    assert (result.ecce_r.method, result.ecce_mad.method) == ("exact", "exact")


@pytest.mark.parametrize("n", [15, 300, 70_000])
@pytest.mark.parametrize("order", ["score", "another"])
def test_one_row_in_doubt_is_exact_whatever_stands_beside_it(n, order):
    import secant

    score = np.zeros(n)
    score[n // 2] = 0.2
    place = np.random.default_rng(3).permutation(n) if order == "another" else None
    result = secant.assess((score > 0).astype(int), score, order_by=place)
    for each in (result.ecce_r, result.ecce_mad):
        assert each.pvalue == pytest.approx(0.2, rel=1e-12)
        assert each.method == "exact"


def test_bounds_are_trivial_where_grains_are_wider_than_the_path():
    score = np.array([0.001, 1 - 2**-53, 0.001, 0.999, 0.95])
    ties = grains.Ties(score, np.ones(5, int), np.array([0, 1, 0, 1, 1]))
    pooled_ties = grains.grind_along(ties, np.arange(5), 0.0625)
    for low, high in finite.of_grains(pooled_ties, budget=2_000_000):
        assert low <= high <= 0
