"""Planning: what so many predictions can show, and how many it takes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant


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
