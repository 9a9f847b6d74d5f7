"""Where predictions are off: the intervals, those fixed in advance, and planning."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from secant import null
from secant.sources import rows as row_source

LEVELS = (0.8, 0.9, 0.95)


def stepped(n=6000, seed=0, high=0.12):
    """Return outcomes that are off in two separate ranges of scores, in opposite directions."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    chance = (
        p + np.where((p > 0.1) & (p < 0.35), high, 0) - np.where((p > 0.6) & (p < 0.9), high, 0)
    )
    return (rng.random(n) < chance).astype(int), p


def brute_force(y, p, threshold):
    """Return (low, high) of the ranges found by the recursion, over sorted rows without ties."""
    order = np.argsort(p)
    y, p = y[order], p[order]

    def search(first, last):
        path = np.concatenate([[0], np.cumsum((y - p)[first:last])]) / len(p)
        if path.max() - path.min() <= threshold:
            return
        a, b = sorted((int(path.argmin()), int(path.argmax())))
        found.append((path.max() - path.min(), p[first + a], p[first + b - 1]))
        search(first, first + a)
        search(first + b, last)

    found = []
    search(0, len(p))
    return [(low, high) for _, low, high in sorted(found, reverse=True)]


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize("level", LEVELS)
def test_intervals_are_those_of_the_recursion(monkeypatch, cells, level):
    y, p = stepped()
    if cells:
        monkeypatch.setattr(row_source, "SORT_UP_TO", 0)
        monkeypatch.setattr(row_source, "COLLECT_UP_TO", 200)
    result = secant.assess(y, p, confidence_level=level, method="asymptotic")
    sigma_hat = max(result.sigma, math.sqrt(((y - p) ** 2).sum()) / len(p))
    expected = brute_force(y, p, null.range.isf(1 - level) * sigma_hat)
    assert len(expected) >= 2
    assert [(each.low, each.high) for each in result.intervals] == expected


@pytest.mark.parametrize("seed", range(6))
def test_ranges_side_by_side_are_found_to_the_row_and_in_order(seed):
    """Defects that adjoin and change sign, larger towards the middle: each takes all its rows."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.3, 0.7, 6000)
    off = np.array([0.12, -0.2, 0.3, -0.25, 0.16])[((p - 0.3) / 0.08).astype(int)]
    y = (rng.random(6000) < p + off).astype(int)
    result = secant.assess(y, p, method="asymptotic")
    sigma_hat = max(result.sigma, math.sqrt(((y - p) ** 2).sum()) / len(p))
    expected = brute_force(y, p, null.range.isf(0.05) * sigma_hat)
    assert len(expected) >= 5
    assert [(each.low, each.high) for each in result.intervals] == expected


def test_intervals_are_disjoint_and_described_as_any_range_is():
    y, p = stepped()
    result = secant.assess(y, p)
    assert result.intervals[0] == result.worst
    assert {each.direction for each in result.intervals} == {"too high", "too low"}
    for each in result.intervals:
        assert each == result.between(each.low, each.high)
        assert each.ci[0] > 0 or each.ci[1] < 0
    ends = sorted((each.low, each.high) for each in result.intervals)
    assert all(left[1] < right[0] for left, right in pairwise(ends))


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])),
        min_size=1,
        max_size=60,
    ),
    st.booleans(),
)
def test_intervals_of_anything_exclude_zero_and_need_a_finding(rows, random):
    y, p = zip(*rows, strict=True)
    options = {"ties": "random", "rng": 0} if random else {}
    result = secant.assess(y, p, **options)
    if result.ecce_r.pvalue > 1 - 0.95:
        assert result.intervals == ()
    for each in result.intervals:
        assert not each.ci[0] <= 0 <= each.ci[1] or each.mean_score in {0, 1}


def test_no_intervals_without_a_finding():
    rng = np.random.default_rng(3)
    p = rng.random(500)
    result = secant.assess(rng.random(500) < p, p)
    assert result.ecce_r.pvalue > 0.05
    assert result.intervals == ()
    assert result.to_dict()["intervals"] == []


def test_intervals_wait_for_the_pvalue():
    """The limits alone would show some: a P-value above the level forbids them."""
    y, p = stepped()
    result = secant.assess(y, p, method="asymptotic")
    chance = replace(result, ecce_r=replace(result.ecce_r, pvalue=0.051))
    assert len(result.intervals) >= 2
    assert chance.intervals == ()


def test_limits_of_a_verdict_may_include_zero_and_then_no_range_is_named():
    result = secant.assess([1] * 6, [0.5] * 6)  # P = 2/64
    assert str(result).startswith("Miscalibrated.")
    assert result.worst.ci[0] < 0
    assert result.intervals == ()


def test_intervals_survive_the_loss_of_the_rows(monkeypatch):
    import pickle

    monkeypatch.setattr(row_source, "SORT_UP_TO", 0)
    y, p = stepped(20_000)
    result = secant.assess(y, p, method="asymptotic")
    kept = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert kept.intervals[0] == result.intervals[0] == result.worst
    for each in kept.intervals:  # the points kept may stop short of a wider range, no more
        assert not each.ci[0] <= 0 <= each.ci[1]


def test_the_chance_of_any_false_interval_stays_at_the_level():
    rng = np.random.default_rng(8)
    draws, n, alpha = 800, 300, 0.1
    p = np.sort(rng.random(n))
    false = sum(
        bool(secant.assess(rng.random(n) < p, p, confidence_level=1 - alpha).intervals)
        for _ in range(draws)
    )
    assert false <= draws * alpha + 3 * math.sqrt(draws * alpha * (1 - alpha))


# --- one range fixed in advance -------------------------------------------------------------------


def test_fixed_in_advance_is_clopper_and_pearson():
    from helpers import optional

    stats = optional("scipy.stats")
    y, p = stepped(800)
    result = secant.assess(y, p)
    inside = (p >= 0.2) & (p <= 0.3)
    each = result.between(0.2, 0.3, fixed_in_advance=True)
    limits = stats.binomtest(int(y[inside].sum()), int(inside.sum())).proportion_ci(0.95, "exact")
    assert each.limits == "clopper-pearson"
    assert each.ci == pytest.approx(
        (limits.low - p[inside].mean(), limits.high - p[inside].mean()), abs=1e-9
    )
    simultaneous = result.between(0.2, 0.3)
    assert simultaneous.limits == "simultaneous"
    assert simultaneous.ci[0] < each.ci[0] < each.ci[1] < simultaneous.ci[1]
    assert simultaneous.miscalibration == each.miscalibration


def test_fixed_in_advance_is_not_narrower_where_scores_are_sure_and_differ():
    """Of scores near 0 and 1 Clopper and Pearson only see that half of the events happened."""
    rng = np.random.default_rng(0)
    p = np.where(rng.random(2000) < 0.5, 0.02, 0.98)
    result = secant.assess(rng.random(2000) < p, p, method="asymptotic")
    one, all_at_once = result.between(0, 1, fixed_in_advance=True), result.between(0, 1)
    assert one.ci[0] < all_at_once.ci[0] < all_at_once.ci[1] < one.ci[1]


def test_fixed_in_advance_counts_copies_and_refuses_sampling_weights():
    y, p, w = [0, 1, 1, 0], [0.2, 0.3, 0.6, 0.7], [3, 1, 2, 4]
    copies = secant.assess(y, p, sample_weight=w, weight_kind="frequency")
    written_out = secant.assess(np.repeat(y, w), np.repeat(p, w))
    asked = {"fixed_in_advance": True}
    assert copies.between(0, 1, **asked).ci == written_out.between(0, 1, **asked).ci
    with pytest.raises(secant.InputError, match="sampling weights"):
        secant.assess(y, p, sample_weight=w).between(0, 1, fixed_in_advance=True)
    assert secant.assess(y, p).between(0.31, 0.32, fixed_in_advance=True).n == 0


# --- planning -------------------------------------------------------------------------------------


@given(st.integers(1, 10**9), st.floats(0.001, 0.999), st.floats(0.5, 0.999))
def test_planning_both_ways_agrees(n, score, power):
    options = {"scores": score, "power": power}
    shown = secant.detectable(n, **options)
    if shown <= 1:
        needed = secant.predictions_needed(shown, **options)
        assert needed == pytest.approx(n, abs=1, rel=1e-9)
    assert secant.detectable(4 * n, **options) < shown


@given(st.floats(0.002, 1), st.floats(0.001, 0.999))
def test_no_fewer_predictions_would_do(ecce_r, score):
    needed = secant.predictions_needed(ecce_r, scores=score)
    assert secant.detectable(needed, scores=score) <= ecce_r * (1 + 1e-9)
    if needed > 1:
        assert secant.detectable(needed - 1, scores=score) > ecce_r * (1 - 1e-9)


def test_rows_of_hardly_any_weight_show_nothing():
    rng = np.random.default_rng(1)
    p = rng.random(500)
    y = rng.random(500) < p
    weight = np.where(np.arange(500) < 100, 1.0, 1e-9)
    weighted = secant.assess(y, p, sample_weight=weight, method="asymptotic")
    alone = secant.assess(y[:100], p[:100], method="asymptotic")
    assert weighted.detectable == pytest.approx(alone.detectable, rel=1e-6)


def test_what_a_result_says_is_detectable_is_what_planning_says():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    result = secant.assess(rng.random(400) < p, p, confidence_level=0.9)
    assert result.detectable == pytest.approx(
        secant.detectable(400, scores=p, confidence_level=0.9), rel=1e-12
    )


@pytest.mark.parametrize(("n", "score"), [(400, 0.5), (3000, 0.05)])
def test_the_detectable_is_detected(n, score):
    """All predictions too low by the detectable amount: found about 99 times in 100, or more."""
    rng = np.random.default_rng(n)
    shift = secant.detectable(n, scores=score)
    p = np.full(n, score) + np.linspace(-1e-3, 1e-3, n)
    found = [
        secant.assess(rng.random(n) < p + shift, p, method="asymptotic").ecce_r.pvalue <= 0.05
        for _ in range(400)
    ]
    assert np.mean(found) >= 0.97
    half = [
        secant.assess(rng.random(n) < p + shift / 2, p, method="asymptotic").ecce_r.pvalue <= 0.05
        for _ in range(200)
    ]
    assert np.mean(half) < 0.9


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: secant.detectable(0), "n must be a whole number"),
        (lambda: secant.detectable(10.5), "n must be a whole number"),
        (lambda: secant.detectable(10, scores=1.2), r"scores\[0\] is 1.2"),
        (lambda: secant.detectable(10, scores=[]), "scores is empty"),
        (lambda: secant.detectable(10, scores=[0.5, math.nan]), r"scores\[1\] is nan"),
        (lambda: secant.detectable(10, power=1), r"power must lie in \[0.5, 1\)"),
        (lambda: secant.detectable(10, confidence_level=1), "confidence_level"),
        (lambda: secant.predictions_needed(0), r"ecce_r must lie in \(0, 1\]"),
        (lambda: secant.predictions_needed("a"), "ecce_r must lie"),
    ],
)
def test_planning_refuses(call, words):
    with pytest.raises(secant.InputError, match=words):
        call()


# --- few events -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "b", "factor"), [(20, 1000, 20), (50, 200, 10), (100, 500, 5)])
def test_limits_hold_where_few_events_are_expected(n, b, factor):
    """Events far more frequent than forecast, and still too rare to show in most samples."""
    rng = np.random.default_rng(n)
    p = np.sort(rng.beta(1, b, n))
    chance = np.minimum(factor * p, 1)
    truth = np.concatenate([[0], np.cumsum(chance - p)]) / n
    draws = 1000
    held = 0
    for _ in range(draws):
        result = secant.assess(rng.random(n) < chance, p, method="asymptotic")
        low, high = result.ecce_r.ci
        path = result.curve.difference
        half = result._half_width(1.0)
        everywhere = np.ptp(path - truth) <= half
        held += (low <= np.ptp(truth) <= high) and everywhere
    assert held >= draws * 0.95 - 3 * math.sqrt(draws * 0.95 * 0.05)
