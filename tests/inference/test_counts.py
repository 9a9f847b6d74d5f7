"""Laws of numbers of events, beside fractions and scipy, and their large-sample tails."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant._inference import counts
from secant._inference.counts import FAINT
from secant._inference.tilt import Jumps


def law_in_fractions(chances):
    law = [Fraction(1)]
    for s in map(Fraction, chances):
        law = [a * (1 - s) + b * s for a, b in zip([*law, 0], [0, *law], strict=True)]
    return law


def one_step(score, n, faint=FAINT):
    score, n = np.asarray(score, float), np.asarray(n)
    [law] = counts.coin_laws(score, 1.0 - score, n, np.zeros(len(n), int), faint)
    return law


@given(st.lists(st.tuples(st.floats(1e-6, 1 - 1e-6), st.integers(1, 3)), min_size=1, max_size=8))
def test_a_law_is_that_of_coins_thrown_one_by_one(pairs):
    score, n = zip(*pairs, strict=True)
    first, law = one_step(score, n)
    assert first == 0
    truth = law_in_fractions(np.repeat(score, n).tolist())
    assert law == pytest.approx([float(each) for each in truth], rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("n", [33, 300, 500])
def test_far_tails_keep_their_digits(n):
    """Ties, and rows in many parts."""
    rng = np.random.default_rng(n)
    score = np.append(rng.random(n).round(3).clip(0.001, 0.999), 0.4)
    size = np.append(np.ones(n, int), 50)
    first, law = one_step(score, size, math.inf)
    assert (first, len(law)) == (0, n + 51)
    top = Fraction(1)
    for s, copies in zip(score.tolist(), size.tolist(), strict=True):
        top *= Fraction(s) ** copies
    if law[-1] > 0.0:
        assert law[-1] == pytest.approx(float(top), rel=1e-12)
    assert law.sum() == pytest.approx(1, rel=1e-12)
    first, short = one_step(score, size)
    whole = law[first : first + len(short)]
    assert short == pytest.approx(whole, rel=1e-12)
    assert law.sum() - whole.sum() <= 1e-15


def test_steps_are_told_apart():
    score, n = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1, 40, 2, 1])
    laws = counts.coin_laws(score, 1 - score, n, np.array([0, 0, 1, 1]), FAINT)
    for part, (_, law) in zip((slice(0, 2), slice(2, 4)), laws, strict=True):
        assert law.tolist() == one_step(score[part], n[part])[1].tolist()


@pytest.mark.parametrize("size", [20, 60_000])
@pytest.mark.parametrize("score", [0.001, 0.3, 0.999])
def test_both_tails_are_those_of_scipy(size, score):
    law = optional("scipy.stats").binom(size, score)
    expected = size * score
    for events in {0, round(expected), round(expected + 4 * math.sqrt(expected * (1 - score)) + 1)}:
        n = np.array([size])
        far = float(counts.far_from(np.array(events), np.array(expected), np.array(size)))
        below, above = math.floor(expected - far), math.ceil(expected + far)
        truth = 1.0 if above <= below + 1 else law.cdf(below) + law.sf(above - 1)
        found = counts.log10_both_tails([one_step([score], n, 700.0)], expected, far, 700.0)
        assert 10**found == pytest.approx(truth, rel=1e-8)  # as good as scipy is


@pytest.mark.parametrize("shift", [0.2, 1.0, 3.0, -5.0, 12.0])
@pytest.mark.parametrize("kind", ["uniform", "rare"])
def test_the_saddlepoint_is_right_to_four_digits_where_it_takes_over(kind, shift):
    """Already at a tenth of that variance."""
    rng = np.random.default_rng(2)
    score = rng.random(1200) if kind == "uniform" else rng.beta(1, 99, 20_000)
    n, variance = np.ones(len(score), int), float((score * (1 - score)).sum())
    expected = float(score.sum())
    events = np.array(round(expected + shift * math.sqrt(variance)))
    far = float(counts.far_from(events, np.array(expected), np.array(len(score))))
    faint = FAINT + 2 * shift * shift
    exact = counts.log10_both_tails([one_step(score, n, faint)], expected, far, faint)
    found = counts.saddlepoint(Jumps(n, score), expected, far)
    assert 10 ** (found - exact) == pytest.approx(1, abs=3e-4)


def test_the_saddlepoint_knows_what_is_near_and_what_cannot_be():
    jumps = Jumps(np.array([4000]), np.array([0.5]))
    assert counts.saddlepoint(jumps, 2000.0, -1e-9) == 0.0
    assert counts.saddlepoint(jumps, 2000.0, 2001.0) == -math.inf
    all_or_nothing = counts.saddlepoint(jumps, 2000.0, 2000.0)
    assert all_or_nothing == pytest.approx(math.log10(2) - 4000 * math.log10(2), rel=1e-12)


@given(st.integers(1, 300), st.floats(0.05, 0.95), st.floats(0.7, 1.0))
def test_laws_of_pools_have_their_mean_and_variance(n, share, narrow):
    mean = n * share
    variance = narrow * mean * (1 - share)
    [(first, law)] = counts.pool_laws(
        np.array([n]), np.array([mean]), np.array([variance]), np.array([0]), math.inf
    )
    place = first + np.arange(len(law))
    assert 0 <= place[0] <= place[-1] <= n
    found = place @ law
    assert law.sum() == pytest.approx(1)
    if min(mean, n - mean) > 5:
        # Sizes need not be whole: the last outcome of such a law is a little too likely.
        assert found == pytest.approx(mean, rel=0.01)
        assert place**2 @ law - found**2 == pytest.approx(variance, rel=0.1)
    if narrow == 1.0:
        whole = law_in_fractions([share] * n) if n < 40 else None
        assert whole is None or law == pytest.approx([float(p) for p in whole], rel=1e-9)


def test_rows_of_columns_are_numbered():
    step, row, column, last = counts.in_rows(np.array([[2, 1], [1, 0]]))
    assert step.tolist() == [0, 0, 1, 0]
    assert row.tolist() == [0, 1, 2, 0]
    assert column.tolist() == [0, 0, 0, 1]
    assert last.tolist() == [False, True, True, True]
