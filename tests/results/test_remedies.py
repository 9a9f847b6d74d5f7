"""What usually helps."""

import numpy as np
import pytest

import secant
from samples import miscalibrated
from secant._results.verdict import what_now


@pytest.mark.parametrize("base", [0.02, 0.3, 0.9])
def test_the_other_class_is_recognised(base):
    rng = np.random.default_rng(7)
    odds = base / (1 - base) * np.exp(rng.normal(0, 1.5, 5000))
    p = odds / (1 + odds)
    y = rng.random(5000) < p
    assert "proba[:, 1]" in str(secant.assess(y, 1 - p))
    for fine in (p, p**2, np.sqrt(p), np.full(5000, 0.9), rng.random(5000)):
        assert "proba[:, 1]" not in str(secant.assess(y, fine))


@pytest.mark.parametrize(
    ("chance", "helps"),
    [
        (lambda p: p, ""),
        (lambda p: 0.8 * p, "a new intercept, if the event has become rarer"),
        (lambda p: 1 - 0.8 * (1 - p), "a new intercept, if the event has become more frequent"),
        (lambda p: 0.1 + 0.8 * p, "temperature or beta scaling"),
        (lambda p: np.where(p > 0.7, p - 0.1, p), "beta scaling, or isotonic regression"),
        (lambda p: p + 0.1 * np.sin(9 * np.pi * p) * (p < 0.99), "isotonic regression, fitted on"),
    ],
)
def test_what_helps_depends_on_the_shape(chance, helps):
    rng = np.random.default_rng(0)
    p = rng.random(40_000)
    said = what_now(secant.assess(rng.random(p.size) < chance(p), p))
    assert said.startswith(f"What usually helps: {helps}" if helps else "")
    assert bool(said) == bool(helps)


def test_classes_in_place_of_probabilities_are_recognised():
    y, p = miscalibrated(2000)
    assert "predict_proba in place of predict" in what_now(secant.assess(y, (p > 0.5) * 1.0))
