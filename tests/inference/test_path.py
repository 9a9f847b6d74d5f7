"""The path that was observed, summed as if exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from secant._blocks import grains
from secant._inference.path import compensated_sum, observe, observe_grains, pooled, thresholds

CHANCES = st.sampled_from([0.0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.995, 1.0])


@st.composite
def ties(draw):
    """Scores in any order, how often each was given and how often the event happened."""
    rows = draw(st.lists(st.tuples(CHANCES, st.integers(1, 5)), min_size=1, max_size=12))
    score, n = (np.array(column) for column in zip(*rows, strict=True))
    n1 = np.array([draw(st.integers(0, int(most))) for most in n])
    return score, n, n1


def ends_of(draw, count):
    """Where steps of several ties end."""
    inner = draw(st.sets(st.integers(0, count - 1)))
    return np.array(sorted(inner | {count - 1}))


def heights(score, n, n1):
    """The path in fractions."""
    steps = [int(b) - int(a) * Fraction(s) for s, a, b in zip(score.tolist(), n, n1, strict=True)]
    return [sum(steps[: k + 1], Fraction(0)) for k in range(len(steps))]


def test_running_sums_are_as_good_as_exact():
    rng = np.random.default_rng(8)
    for terms in (np.full(20_000, 0.1), rng.random(20_000), 10 ** rng.uniform(-12, 3, 20_000)):
        sums = compensated_sum(terms)
        for k in (1, 2, 3, 1000, 19_999, 20_000):
            exact = math.fsum(terms[:k].tolist())
            assert abs(sums[k - 1] - exact) <= math.ulp(exact)
    plain = np.cumsum(np.full(20_000, 0.1))
    assert abs(plain[-1] - 2000) > 1e-10  # what this is for


@given(ties(), st.data())
def test_the_path_against_fractions(made, data):
    score, n, n1 = made
    ends = data.draw(st.none() | st.just(...))
    if ends is not None:
        ends = ends_of(data.draw, len(score))
    path, deviation, span = observe(score, n, n1, ends)
    x = heights(score, n, n1)
    looked = [Fraction(0), *(x if ends is None else [x[k] for k in ends])]
    expected = float(sum(Fraction(s) * int(a) for s, a in zip(score.tolist(), n, strict=True)))
    slack = 4 * math.ulp(expected)
    for found, exact in ((deviation, max(map(abs, looked))), (span, max(looked) - min(looked))):
        assert found <= float(exact)  # what was seen is as extreme as what was seen
        assert found == pytest.approx(float(exact) * (1 - 1e-12) - slack, rel=1e-15, abs=4 * slack)
    chance = (score > 0) & (score < 1)
    assert path.score.tolist() == score[chance].tolist()
    assert path.trials.tolist() == np.cumsum(n[chance]).tolist()
    assert path.variance == pytest.approx(float((n * score * (1 - score)).sum()), rel=1e-12)
    if ends is not None and chance.any():
        owner = np.searchsorted(ends, np.flatnonzero(chance))
        last = np.flatnonzero(np.append(owner[1:] != owner[:-1], True))
        assert path.ends.tolist() == last.tolist()
    assert path.count.sum() == n[chance].sum()
    assert path.before.tolist()[1:] == path.after.tolist()[:-1]


@given(ties(), st.floats(0.002, 3))
def test_pools_hold_no_more_than_they_may(made, drift):
    score, n, n1 = made
    assume(((score > 0) & (score < 1)).any())
    path, *_ = observe(score, n, n1)
    fewer = pooled(path, drift)
    assert set(fewer.ends) <= set(path.ends)
    assert fewer.ends[-1] == path.ends[-1]
    starts = np.concatenate([[0], fewer.ends[:-1] + 1])
    largest = 0.0
    for start, end in zip(starts, fewer.ends, strict=True):
        if start == end:
            continue
        inside = path.rare[start : end + 1]
        assert inside.max() <= 0.5 * drift
        assert inside.sum() <= drift * (1 + 1e-9)
        assert len(set(path.score[start : end + 1] < 0.5)) == 1  # never across 1/2
        largest = max(largest, float(inside.sum()))
    assert fewer.drift == pytest.approx(largest, rel=1e-8)
    assert fewer.drift >= largest
    assert path.several.sum() == 0
    assert fewer.several.sum() == (fewer.ends != starts).sum()


def test_rare_neighbours_are_pooled_as_far_as_they_may():
    path, *_ = observe(np.full(1000, 0.01), np.ones(1000, int), np.zeros(1000, int))
    assert len(path) == 1000
    # Ten of a hundredth are a tenth; what the first may begin before takes one of them.
    assert 100 <= len(pooled(path, 0.1)) <= 1000 / 9 + 1
    assert len(pooled(path, 0.0199)) == 1000  # a step of more than half of it stays alone


def test_thresholds_are_a_little_below_what_was_seen():
    deviation, span = thresholds(2.0, -3.0, 100.0)
    assert 3.0 * (1 - 2e-12) - 5 * math.ulp(100.0) < deviation < 3.0
    assert 5.0 * (1 - 2e-12) - 5 * math.ulp(100.0) < span < 5.0
    # The path starts at 0: one that only rises has fallen by nothing.
    assert thresholds(2.0, 1.0, 0.0) == (2.0 * (1 - 1e-12) - 4 * math.ulp(0.0),) * 2


def test_the_first_pool_counts_as_any_other():
    score, one = np.array([0.03, 0.01, 0.5, 0.002, 0.001]), np.ones(5, int)
    fewer = pooled(observe(score, one, 0 * one)[0], 0.1)
    assert fewer.ends.tolist() == [1, 2, 4]
    assert 0.04 < fewer.drift < 0.04 * (1 + 1e-8)


# Grains -------------------------------------------------------------------------------------------


CHANCES_OF_GRAINS = {
    "low": lambda rng: rng.beta(0.5, 50, 400),
    "high": lambda rng: 1 - rng.beta(0.5, 50, 400),
    "both": lambda rng: np.where(rng.random(400) < 0.5, 0.0, 1 - 0.02) + 0.02 * rng.random(400),
    "alike": lambda rng: 1e-3 * (1 + 0.02 * rng.random(400)),
}


def as_grains(kind, monkeypatch, *, each):
    """Return ties, and the path of their grains, about so many ties to a grain."""
    monkeypatch.setattr(grains, "MANY_TIES", 10)
    rng = np.random.default_rng(len(kind))
    score, n = np.unique(CHANCES_OF_GRAINS[kind](rng), return_counts=True)
    n = n * rng.integers(1, 4, len(n))
    ties = score, n, rng.binomial(n, score)
    size = each * float((n * np.minimum(score, 1 - score)).mean())
    return ties, observe_grains(grains.grind(grains.Ties(*ties), size))


def chances_by_step(ties, trials):
    """Return the chances of the rarer outcome of all rows between some numbers of them."""
    rows = np.repeat(np.minimum(ties[0], 1 - ties[0]), ties[1])
    return np.split(rows, trials[:-1])


@pytest.mark.parametrize("kind", CHANCES_OF_GRAINS)
def test_grains_make_the_path_of_their_ties(monkeypatch, kind):
    ties, (path, *seen) = as_grains(kind, monkeypatch, each=6)
    whole, *wanted = observe(*ties)
    assert seen == pytest.approx(wanted, rel=1e-12)
    assert len(path) < len(whole) / 2
    places = np.searchsorted(whole.trials, path.trials)
    assert whole.trials[places].tolist() == path.trials.tolist()
    assert path.reached == pytest.approx(whole.reached[places], rel=1e-12)
    drift = 0.0
    for number, chances in enumerate(chances_by_step(ties, path.trials)):
        mean, square, least, largest = (column[number] for column in path.mixture)
        assert (least, largest) == (chances.min(), chances.max())
        assert mean == pytest.approx(chances.mean(), rel=1e-12)
        assert square == pytest.approx((chances**2).mean(), rel=1e-12)
        assert path.rare[number] == pytest.approx(chances.sum(), rel=1e-12)
        drift = max(drift, chances.sum() * (least < largest))
    assert path.drift == pytest.approx(drift, rel=1e-8)
    assert path.drift >= drift


def test_grains_of_one_tie_each_drift_nowhere(monkeypatch):
    _, (path, *_) = as_grains("low", monkeypatch, each=1e-9)
    assert path.mixture is None  # nothing is unknown of their laws
    assert path.drift == 0
    assert path.exact


@pytest.mark.parametrize("several", [3, 10])
@pytest.mark.parametrize("kind", CHANCES_OF_GRAINS)
def test_pools_of_grains_are_mixtures_where_little_is_lost(monkeypatch, kind, several):
    ties, (path, *_) = as_grains(kind, monkeypatch, each=6)
    fewer = pooled(path, several * float(path.rare.max()))
    assert len(fewer) < len(path)
    assert set(fewer.total) <= set(path.total)
    same = np.searchsorted(path.trials, fewer.trials)
    assert path.trials[same].tolist() == fewer.trials.tolist()
    assert fewer.reached.tolist() == path.reached[same].tolist()
    # What stands together says of its rows what grains say.
    for number, chances in enumerate(chances_by_step(ties, fewer.trials)):
        assert fewer.size[number] == len(chances)
        mean, square, least, largest = (column[number] for column in fewer.mixture)
        assert (least, largest) == (chances.min(), chances.max())
        assert mean == pytest.approx(chances.mean(), rel=1e-12)
        assert square == pytest.approx((chances**2).mean(), rel=1e-12)
        below = fewer.score[number] < 0.5
        assert fewer.score[number] == (mean if below else 1 - mean)
    drift, grains_of = 0.0, np.searchsorted(path.total, fewer.total)
    for number, chances in enumerate(chances_by_step(ties, fewer.total)):
        count = grains_of[number] - (grains_of[number - 1] if number else -1)
        entries = fewer.ends[number] - (fewer.ends[number - 1] if number else -1)
        # One mixture where three rare outcomes in it are no matter, and none too large for that.
        assert 1 <= entries <= count
        if chances.max() == chances.min() or chances.max() * chances.sum() < 2e-5:
            assert entries == 1
        elif chances.max() ** 2 > 2e-5:
            assert entries == count
        else:
            assert entries >= min(count, chances.max() * chances.sum() / 4e-5)
        if count > 1 or chances.min() < chances.max():
            drift = max(drift, chances.sum())
    assert path.drift <= fewer.drift == pytest.approx(drift, rel=1e-8)
    assert fewer.drift >= drift
