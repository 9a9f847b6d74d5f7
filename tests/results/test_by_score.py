"""What is about scores is the same in whatever order predictions were assessed."""

import dataclasses

import numpy as np
import pytest

import secant
from samples import EXACT, gone, miscalibrated
from secant import InputError

NAMES = ("brier", "log_loss", "cox", "spiegelhalter", "recalibrated")


@pytest.fixture(scope="module")
def both():
    y, p = miscalibrated(3000)
    order = np.random.default_rng(1).random(p.size)
    return secant.assess(y, p), secant.assess(y, p, order_by=order)


@pytest.mark.parametrize("name", NAMES)
def test_another_order_changes_nothing_about_scores(both, name):
    one, other = (getattr(result, name) for result in both)
    for field in dataclasses.fields(one):
        value, again = getattr(one, field.name), getattr(other, field.name)
        assert again == (value if isinstance(value, str) else pytest.approx(value, **EXACT))


def test_bins_are_bins_of_scores(both):
    one, other = (result.reliability(n_bins=7) for result in both)
    assert (one.count == other.count).all()
    assert other.low == pytest.approx(one.low, **EXACT)
    assert both[1].ece(n_bins=7).value == pytest.approx(both[0].ece(n_bins=7).value, **EXACT)


def test_certain_scores_are_counted():
    result = secant.assess([1, 0, 0, 1, 0], [0.0, 0.0, 0.5, 1.0, 0.0])
    assert result.certain_scores(0) == (1, 3)
    assert result.certain_scores(1) == (0, 1)


@pytest.mark.parametrize("n", [500, 70_000])
def test_what_was_asked_for_is_kept_and_the_predictions_are_not(n):
    result = secant.assess(*miscalibrated(n))
    asked = {name: getattr(result, name) for name in ("brier", "log_loss", "cox")}
    stored = gone(result)
    assert {name: getattr(stored, name) for name in asked} == asked
    assert stored._predictions.by_score.source is None
    if n > 65_536:
        with pytest.raises(InputError, match="the predictions are gone"):
            stored.ece(n_bins=1234)
