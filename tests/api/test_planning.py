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


def logits(p, slope=1.0, shift=0.0):
    return 1 / (1 + np.exp(-slope * np.log(p / (1 - p)) - shift))


@pytest.mark.parametrize(
    ("kind", "draw", "true"),
    [
        ("shift", lambda rng: rng.random(1500), lambda p, size: logits(p, 1.0, -size)),
        ("slope", lambda rng: rng.random(1500), logits),
        ("slope", lambda rng: rng.random(1500), lambda p, size: logits(p, 1 / size)),
    ],
    ids=["shift", "too moderate", "too extreme"],
)
def test_the_test_that_decides_finds_what_is_planned(kind, draw, true):
    """At a power of .8, 250 samples: 3 standard errors are .076, the law is right to some .02."""
    size = secant.detectable(1500, kind=kind, scores=np.linspace(0.001, 0.999, 999), power=0.8)
    rng, found = np.random.default_rng(1), 0
    for _ in range(250):
        p = draw(rng)
        found += secant.assess(rng.random(1500) < true(p, size), p).pvalue <= 0.05
    assert found / 250 == pytest.approx(0.8, abs=0.095)


@pytest.mark.parametrize("kind", ["ecce_r", "shift", "slope"])
@pytest.mark.parametrize("design_effect", [1, 2.5])
def test_kinds_go_both_ways(kind, design_effect):
    options = {"kind": kind, "scores": [0.05, 0.2, 0.3, 0.6, 0.9], "design_effect": design_effect}
    shown = secant.detectable(4000, **options)
    assert secant.predictions_needed(shown, **options) == pytest.approx(4000, abs=1)
    if kind != "ecce_r":  # either way is as good
        other = -shown if kind == "shift" else 1 / shown
        assert secant.predictions_needed(other, **options) == pytest.approx(4000, abs=1)


@pytest.mark.parametrize("kind", ["ecce_r", "shift", "slope"])
def test_a_design_effect_takes_so_many_times_the_predictions(kind):
    options = {"kind": kind, "scores": [0.05, 0.2, 0.3, 0.6, 0.9]}
    alone = secant.detectable(1000, **options)
    assert secant.detectable(3000, design_effect=3, **options) == pytest.approx(alone, rel=1e-6)


def test_nothing_is_detectable_with_next_to_no_predictions():
    assert secant.detectable(3, kind="shift", scores=0.01) == math.inf
    assert secant.detectable(3, kind="slope", scores=[0.2, 0.4]) == math.inf


def test_of_many_typical_scores_quantiles_do():
    scores = np.random.default_rng(0).random(10_000)
    few = secant.detectable(5000, kind="slope", scores=np.sort(scores)[2::5])
    assert secant.detectable(5000, kind="slope", scores=scores) == pytest.approx(few, rel=1e-9)


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
        (lambda: secant.detectable(10, kind="bias"), "kind must be one of"),
        (lambda: secant.detectable(10, design_effect=0), "design_effect must be a positive"),
        (lambda: secant.detectable(10, kind="slope"), "two different scores above 0 and below 1"),
        (lambda: secant.detectable(10, kind="shift", scores=[0, 1]), "a score above 0 and below"),
        (lambda: secant.predictions_needed(0, kind="shift"), "shift of log odds, from -16 to 16"),
        (
            lambda: secant.predictions_needed(1, kind="slope", scores=[0.1, 0.3]),
            "slope of log odds, from 0.01 to 100 and not 1",
        ),
        (lambda: secant.predictions_needed(1e-9, kind="shift"), "takes more than 1e"),
    ],
)
def test_planning_refuses(call, words):
    with pytest.raises(secant.InputError, match=words):
        call()
