"""Shifts, looks, walks to where paths end, and how far Brownian bridges stray."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant._inference import bridge
from secant._inference.counts import coin_laws
from ties import observed_table


@given(
    st.lists(st.floats(1e-12, 1 - 1e-12), min_size=2, max_size=12, unique=True),
    st.integers(1, 40),
    st.data(),
)
def test_a_shift_expects_what_happened(scores, size, data):
    score = np.sort(scores)[:, None]
    n = np.full(score.shape, size)
    happened = np.array([data.draw(st.integers(1, int(n.sum()) - 1))])
    theta = bridge.shifts(score, n, happened)
    event, failure = bridge.shifted(score, theta)
    assert (n * event).sum() == pytest.approx(happened[0], rel=1e-11, abs=1e-11)
    assert event + failure == pytest.approx(np.ones(score.shape))
    # Logits move by one number: ratios of odds stay.
    odds, before = event / failure, score / (1 - score)
    assert odds / odds[0] == pytest.approx(before / before[0], rel=1e-9)


def test_no_shift_where_the_number_is_what_was_expected():
    score = np.array([[0.25], [0.5], [0.75]])
    theta = bridge.shifts(score, np.full((3, 1), 2), np.array([3]))
    assert theta == pytest.approx(0.0, abs=1e-12)
    assert bridge.shifted(np.array([0.0, 1.0]), 3.0)[0].tolist() == [0.0, 1.0]


def test_columns_do_not_see_each_other():
    rng = np.random.default_rng(1)
    score, n = rng.random((30, 50)), rng.integers(0, 3, (30, 50))
    n[0] = 2
    happened = np.maximum(n.sum(axis=0) // 3, 1)
    together = bridge.shifts(score, n, happened)
    alone = [bridge.shifts(score[:, [i]], n[:, [i]], happened[[i]])[0] for i in range(50)]
    assert together.tolist() == alone


@pytest.mark.parametrize("rows", [3, 300, 301, 5000])
def test_looks_share_the_variance(rows):
    rng = np.random.default_rng(rows)
    ends, variance = np.ones((rows, 1), bool), rng.random((rows, 1))
    looks = bridge.looked_at(ends, variance)
    assert looks[-1, 0]
    if rows <= bridge.LOOKS:
        assert looks is ends
        return
    assert bridge.LOOKS / 2 < looks.sum() <= bridge.LOOKS
    reached = np.cumsum(variance)[looks[:, 0]]
    assert np.diff(reached).max() <= variance.sum() / bridge.LOOKS + 2 * variance.max()


def path_of(score, n, n1):
    """Return a path with all ends, and the laws of its steps."""
    score, n, n1 = (np.asarray(each)[:, None] for each in (score, n, n1))
    event, failure = bridge.shifted(score, bridge.shifts(score, n, n1.sum(axis=0)))
    moments = n * event, n * event * failure
    nothing = np.zeros(1, int), np.zeros(1, int)
    paths = bridge.observe(n, n1, moments, nothing, np.ones(n.shape, bool))
    return paths, lambda step, faint: coin_laws(event[:, 0], failure[:, 0], n[:, 0], step, faint)


@pytest.mark.parametrize("seed", range(4))
def test_a_path_starts_and_ends_in_zero(seed):
    rng = np.random.default_rng(seed)
    paths, laws = path_of(*observed_table(rng, rng.random(400).round(3)))
    assert paths.centre[-1, 0] == pytest.approx(paths.happened[0], rel=1e-15)
    assert 0 <= paths.step[0] < len(paths.n) - 1
    # What strays as far as the farthest does so seldom; what strays at all, always.
    p = 10 ** bridge.follow(paths, laws)
    assert 0 < p < 1
    nearer = paths._replace(reach=paths.reach / 2)
    assert p < 10 ** bridge.follow(nearer, laws) <= 1 + 1e-12
    assert bridge.follow(paths._replace(reach=np.zeros(1)), laws) == 0.0


def test_drawn_paths_stray_as_often():
    """Beside a simulation: rows drawn with shifted chances, kept where the number is right."""
    rng = np.random.default_rng(4)
    score, n, n1 = observed_table(rng, rng.random(120).round(2), 0.05)
    paths, laws = path_of(score, n, n1)
    event = paths.mean[:, 0] / n
    drawn = rng.binomial(n, event, (200_000, len(n)))
    drawn = drawn[drawn.sum(axis=1) == paths.happened[0]]
    far = np.abs(np.cumsum(drawn, axis=1) - paths.centre[:, 0]).max(axis=1)
    share, p = (far >= paths.reach[0]).mean(), 10 ** bridge.follow(paths, laws)
    assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / len(drawn))


@pytest.mark.parametrize("x", [0.1, 0.2, 0.5, 0.8276, 1.3581, 2.0, 5.0, 9.0])
def test_kolmogorov(x):
    kolmogorov = optional("scipy.special").kolmogorov
    assert 10 ** bridge.log10_kolmogorov(x) == pytest.approx(kolmogorov(x), rel=1e-11)
    assert bridge.log10_kolmogorov(-x) == bridge.log10_kolmogorov(x)


def test_kolmogorov_far_out():
    assert bridge.log10_kolmogorov(100.0) == pytest.approx((math.log(2) - 2e4) / math.log(10))
    assert bridge.log10_kolmogorov(math.inf) == -math.inf
    assert bridge.log10_kolmogorov(0.0) == 0.0


def test_what_is_a_brownian_bridge():
    even = np.full(200, 1.0)
    assert bridge.is_brownian(even)
    assert not bridge.is_brownian(even[:-1])
    assert not bridge.is_brownian(np.append(even, 4.1))


@pytest.mark.parametrize("factor", [0.6, 0.8, 1.3, 1.6])
def test_large_samples_are_never_below_the_walk_far_in_the_tail(factor):
    """Where Kolmogorov's law by itself is many times too small."""
    rng = np.random.default_rng(6)
    score = np.sort(rng.random(4000))
    event, _ = bridge.shifted(score, 0.0)
    odds = (event / (1 - event)) ** factor
    y = rng.random(4000) < odds / (1 + odds)
    paths, laws = path_of(score, np.ones(4000, int), y.astype(int))
    walked, large = bridge.follow(paths, laws), bridge.log10_large(paths)
    assert walked <= large <= walked + math.log10(2.1)
    plain = bridge.log10_kolmogorov(float(paths.excursion[0] / paths.deviation[0]))
    if walked < -20:
        assert plain < walked


def test_a_chance_may_be_too_small_for_a_double():
    happened = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    tiny, small = 5e-324, 1e-300
    scores = [tiny, small, 1, 0, 1, tiny, 0, 1, small, tiny, small, 1, 0, small, tiny, small, tiny]
    assert secant.assess(happened, scores).log10_pvalue < -300
