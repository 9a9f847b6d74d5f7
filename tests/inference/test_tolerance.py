"""Limits of the steepest range, and the P-value of a tolerance."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from samples import as_many, predictions
from secant import null
from secant._inference import multiscale, tolerance
from secant._inference.binomial import lower_limit
from secant._inference.clusters import tail
from secant._inference.limits import half_width
from secant._inference.tolerance import _by_path, shown_beyond, steepest
from secant._metrics.steepest import excess
from ties import family, table

LEVELS = st.sampled_from([0.5, 0.9, 0.95])


def answers(result, level):
    return steepest(result._blocks, result._totals, level, result._predictions.refine_at_hand)


def brute_force(y, p, level):
    """Return the largest lower limit over all ranges of the path and all ranges of the scan."""
    stats = optional("scipy.stats")
    error = (1 - level) / 2
    scores = np.unique(p)
    half = half_width(null.range, secant.assess(y, p)._totals, error)
    best = 0.0
    for a in range(len(scores)):
        for b in range(a, len(scores)):
            inside = (p >= scores[a]) & (p <= scores[b])
            total = abs((y - p)[inside].sum()) / len(p)
            best = max(best, (total - half) / inside.mean())
    ties, ranges = family(y, p)
    if ranges is None:
        return best
    for start, stop, share in zip(ranges.start, ranges.stop, ranges.share(), strict=True):
        n, k = ties.n[start:stop].sum(), ties.n1[start:stop].sum()
        mean = (ties.n * ties.score)[start:stop].sum() / n
        low = stats.beta.ppf(error * share / 2, k, n - k + 1) if k else 0.0
        high = stats.beta.isf(error * share / 2, k + 1, n - k) if k < n else 1.0
        best = max(best, low - mean, mean - high)
    return best


def between_quantiles(y, p):
    """Join ties between quantiles of expected events, or failures; one that holds any is alone."""
    score, n, n1 = table(p, y)
    cuts = {0}
    for expected in (n * score, n * (1 - score)):
        reached = np.concatenate([[0], np.cumsum(expected)]) / expected.sum() * 256
        for k in range(1, 256):
            end = int(np.searchsorted(reached, k - 1e-7))
            cuts |= {end} if reached[end] <= k + 1e-7 else {end - 1, end}
    starts = sorted(cuts - {len(score)})
    n, n1, scored = (np.add.reduceat(each, starts) for each in (n, n1, n * score))
    random = (scored > 0) & (scored < n)
    return multiscale.Ties(scored[random] / n[random], n[random], n1[random])


@given(predictions(most=12), LEVELS)
def test_it_is_the_larger_of_the_path_and_of_the_counts(data, level):
    y, p, _, _ = data
    found = answers(secant.assess(y, p), level)
    best = brute_force(y, p, level)
    assert (0.0 if found is None else found.at_least) == pytest.approx(best, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_no_range_that_could_be_the_farthest_is_passed_over(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(300, 6000))
    p = [rng.random(n), rng.beta(1, 49, n), rng.integers(0, 11, n) / 10][seed % 3]
    y = rng.random(n) < np.clip(p + (0.0, 0.1)[seed % 2] * np.sin(20 * p), 0, 1)
    ties = between_quantiles(y, p)
    ranges = multiscale.ranges(ties)
    sums = [
        np.concatenate([[0], np.cumsum(each)]) for each in (ties.n, ties.n1, ties.n * ties.score)
    ]
    total, events, scored = (each[ranges.stop] - each[ranges.start] for each in sums)
    for level in (0.5, 0.95, 0.999):
        tail = (1 - level) / 4 * ranges.share()
        low = lower_limit(events, total, tail) - scored / total
        high = scored / total - (1 - lower_limit(total - events, total, tail))
        blocks = secant.assess(y, p, method="asymptotic")._blocks
        found = tolerance._by_counts(blocks, (1 - level) / 2, 0.0)
        best = max(low.max(), high.max(), 0.0)
        assert (0.0 if found is None else found.at_least) == pytest.approx(best, abs=1e-12)


def off(n, seed=0, width=0.03, by=0.4):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return rng.random(n) < np.where((p > 0.6) & (p < 0.6 + width), p - by, p), p


@pytest.mark.parametrize("many", [False, True])
def test_a_narrow_defect_is_named_with_limits_that_exclude_nothing_true(many):
    y, p = off(20_000)
    with as_many(many):
        result = secant.assess(y, p, method="asymptotic")
        found = result.steepest
    assert 0.25 < found.at_least < 0.4
    assert found.at_least == -found.ci[1]
    assert 0.58 < found.low < found.high < 0.65
    assert found.direction == "too high"
    assert found.at_least > max(each.at_least for each in result.intervals)
    assert result.to_dict()["steepest"]["at_least"] == found.at_least


@given(predictions(most=40), LEVELS)
def test_it_never_contradicts_the_verdict(data, level):
    y, p, w, kind = data
    result = secant.assess(y, p, sample_weight=w, weight_kind=kind, confidence_level=level)
    if not result.found:
        assert result.steepest is None
    if result.steepest is not None:
        assert result.steepest.certain
        assert 0 < result.steepest.at_least <= abs(result.steepest.miscalibration) + 1e-12


@given(predictions(most=40), LEVELS, st.randoms(use_true_random=False))
def test_neither_row_order_nor_naming_the_other_outcome_matters(data, level, random):
    y, p, w, kind = data
    p = np.round(p * 64) / 64  # so that 1 - p is exact
    how = {"weight_kind": kind, "confidence_level": level, "method": "asymptotic"}
    first = secant.assess(y, p, sample_weight=w, **how).steepest
    order = random.sample(range(len(y)), len(y))
    shuffled = secant.assess(
        y[order], p[order], sample_weight=None if w is None else w[order], **how
    ).steepest
    mirrored = secant.assess(1 - y, 1 - p, sample_weight=w, **how).steepest
    if first is None:
        assert shuffled is None
        assert mirrored is None
        return
    assert (shuffled.low, shuffled.high) == (first.low, first.high)
    assert shuffled.ci == pytest.approx(first.ci, rel=1e-9, abs=1e-12)
    assert mirrored.at_least == pytest.approx(first.at_least, rel=1e-9, abs=1e-12)


def test_copies_of_rows_are_rows_and_weights_leave_the_path_alone():
    y, p = off(4000)
    copies = np.random.default_rng(1).integers(1, 4, 4000)
    counted = secant.assess(y, p, sample_weight=copies, weight_kind="frequency").steepest
    repeated = secant.assess(np.repeat(y, copies), np.repeat(p, copies)).steepest
    assert counted.ci == pytest.approx(repeated.ci, abs=1e-12)
    even = secant.assess(y, p, sample_weight=np.full(4000, 3.0)).steepest
    assert even == secant.assess(y, p, sample_weight=np.ones(4000)).steepest
    y, p = off(20_000)
    w = np.random.default_rng(2).lognormal(0, 0.5, 20_000)
    result = secant.assess(y, p, sample_weight=w, method="asymptotic")
    # The path alone, so at the whole level: the limits are those of any range.
    assert result.steepest == result.between(result.steepest.low, result.steepest.high)


def test_it_is_found_before_the_rows_are_gone():
    y, p = off(5000)
    with as_many(True):
        result = secant.assess(y, p, method="asymptotic")
        kept = pickle.loads(pickle.dumps(result))  # noqa: S301
        assert kept.steepest == result.steepest
        assert kept.steepest.at_least > 0


def test_groups_have_one_each():
    y, p = off(20_000)
    results = secant.assess_by(y, p, np.where(p < 0.5, "low", "high"))
    assert results["low"].steepest is None
    assert results["high"].steepest.at_least > 0.25


def test_scores_of_0_and_1_alone():
    assert secant.assess([0, 1], [0.0, 1.0]).steepest is None
    wrong = secant.assess([1] * 50 + [0] * 50, [0.0] * 50 + [1.0] * 50)
    assert wrong.steepest.at_least > 0.4


@given(predictions(most=40), st.sampled_from([0.01, 0.1, 0.4]), st.sampled_from([0.01, 0.05, 0.3]))
def test_the_pvalue_of_a_tolerance_is_the_level_at_which_the_limits_exclude_it(
    data, allowed, alpha
):
    y, p, w, kind = data
    result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
    blocks, totals, refine = result._blocks, result._totals, result._predictions.refine_at_hand
    pvalue = shown_beyond(blocks, totals, allowed, refine)
    limits = steepest(blocks, totals, 1 - alpha, refine)
    at_least = 0.0 if limits is None else limits.at_least
    # The path is judged at all of alpha here, and at half of it for the limits.
    scores, n = np.unique(p), totals.weight
    weight = np.ones(len(p)) if w is None else w
    most = max(
        abs((weight * (y - p))[inside].sum()) / n - allowed * weight[inside].sum() / n
        for a in scores
        for b in scores[scores >= a]
        for inside in [(p >= a) & (p <= b)]
    )
    half = half_width(null.range, totals, alpha)
    if abs(most - half) < 1e-9 or abs(at_least - allowed) < 1e-9:
        return
    assert (pvalue <= alpha) == (most > half or at_least > allowed)


def test_a_tolerance_is_harder_to_exceed_the_larger_it_is():
    y, p = off(20_000)
    result = secant.assess(y, p)
    tolerances = [0.0, 0.05, 0.2, 0.3, 0.35, 0.4, 0.5, 0.999]
    pvalues = [shown_beyond(result._blocks, result._totals, t, None) for t in tolerances]
    assert pvalues == sorted(pvalues)
    assert pvalues[3] < 0.05 < pvalues[5]
    assert pvalues[-1] == 1.0
    assert not any(map(math.isnan, pvalues))


def test_weighted_rows_are_judged_by_their_path_alone():
    y, p = off(2000)
    w = np.random.default_rng(2).random(2000) + 0.5
    result = secant.assess(y, p, sample_weight=w, method="asymptotic")
    blocks, totals = result._blocks, result._totals
    for allowed in (0.0, 0.05, 0.2):
        farthest = excess(blocks, totals.weight, allowed, None)
        wanted = tail(null.range, farthest, totals, None)
        assert shown_beyond(blocks, totals, allowed, None) == wanted


def test_limits_of_the_steepest_place_say_of_which_kind_they_are():
    """Two ways share the level, unless weights or clusters leave but one."""
    y, p = off(20_000)
    plain = secant.assess(y, p)
    assert plain.steepest.limits == plain.to_dict()["steepest"]["limits"] == "shared"
    assert plain.worst.limits == "simultaneous"
    weights = np.where(np.arange(p.size) % 2, 1.0, 1.5)
    clusters = np.arange(p.size) // 2
    for options in ({"sample_weight": weights}, {"clusters": clusters}):
        assert secant.assess(y, p, **options).steepest.limits == "simultaneous"


def test_shared_limits_hold_at_the_level_of_one_of_two():
    """Where the path knows more, the limits are the path's at half of the error."""
    rng = np.random.default_rng(1)
    p = rng.uniform(0.1, 0.9, 20_000)
    result = secant.assess(rng.random(p.size) < p + 0.1, p, confidence_level=0.9)
    whole, half = (_by_path(result._blocks, result._totals, error, None) for error in (0.1, 0.05))
    assert result.steepest.ci == pytest.approx(half.limits, abs=1e-12)
    assert result.steepest.at_least < whole.at_least
