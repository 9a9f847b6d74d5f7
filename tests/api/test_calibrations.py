"""Everything about one set of rows: averages, and the notes that warn the reader."""

import math

import numpy as np
import pytest

import secant
from samples import EXACT, ORDINARY, RELATIVE, miscalibrated


def test_averages():
    y, p = ORDINARY
    result = secant.assess(y, p)
    assert (result.n, result.mean_score, result.base_rate) == pytest.approx(
        (6, np.mean(p), np.mean(y)), **EXACT
    )
    w = np.array([1, 2, 0.5, 3, 1, 1])
    result = secant.assess(y, p, sample_weight=w)
    assert (result.mean_score, result.base_rate) == pytest.approx(
        (np.average(p, weights=w), np.average(y, weights=w)), **EXACT
    )
    assert result.sigma == pytest.approx(
        math.sqrt((w**2 * p * (1 - np.array(p))).sum()) / w.sum(), **RELATIVE
    )


@pytest.mark.parametrize("name", ["ordinary", "few distinct scores"])
def test_no_note_without_a_reason(name):
    y, p = miscalibrated()
    if name == "few distinct scores":  # as many as 64 are enough
        p = np.floor(p * 64) / 64 + 1 / 128
    assert secant.assess(y, p, method="asymptotic").warnings == ()
    assert secant.assess(y, p, sample_weight=np.linspace(1, 2, len(y))).warnings == ()


@pytest.mark.parametrize("seed", range(20))
def test_averages_stay_within_their_range(seed):
    weights = np.random.default_rng(seed).random(4)
    for certain in (0, 1):
        found = secant.assess([certain] * 4, [certain] * 4, sample_weight=weights)
        for average in (found.mean_score, found.base_rate):
            assert 0 <= average <= 1
            assert average == pytest.approx(certain, abs=1e-15)


def test_advice_can_be_followed():
    rng = np.random.default_rng(0)
    scores = rng.choice([0.2, 0.5, 0.8], 300)
    happened = rng.random(300) < scores
    for weights, method in ((None, "exact"), (1 + rng.random(300), "monte-carlo")):
        rough = secant.assess(happened, scores, sample_weight=weights, method="asymptotic")
        assert f"use method='{method}'" in " ".join(rough.warnings)
        assert secant.assess(happened, scores, sample_weight=weights, method=method)


@pytest.mark.parametrize(("score", "n", "missed"), [(0.2, 14, False), (0.2, 16, True)])
@pytest.mark.parametrize("outcome", [0, 1])
def test_an_outcome_that_never_was_is_noted_where_it_was_to_be_expected(score, n, missed, outcome):
    scores = np.full(n, 1 - score if outcome else score)
    notes = secant.assess(np.full(n, outcome), scores).warnings
    assert any("check the outcomes" in note for note in notes) == missed


def test_certain_scores_that_were_right_are_not_to_be_checked():
    assert not secant.assess(np.ones(100, int), np.ones(100)).warnings
