"""Proper scores taken apart: the parts add up, whatever the data."""

import pytest
from hypothesis import given

import secant
from samples import predictions


@given(predictions())
def test_the_parts_add_up(data):
    y, p = data[:2]
    result = secant.assess(y, p)
    score = result.brier
    assert score.value == pytest.approx(score.mcb - score.dsc + score.unc, abs=1e-12)
    assert score.exact
    assert score.mcb >= -1e-12
    assert score.dsc >= -1e-12


def test_the_staircase_rises_and_is_drawn_from_end_to_end():
    steps = secant.assess([0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.9]).recalibrated
    assert steps.forecast.tolist() == [0.0, 0.5, 1.0]
    scores, forecast = steps.line
    assert scores.tolist() == [0.1, 0.1, 0.2, 0.3, 0.7, 0.9]
    assert forecast.tolist() == [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]
    assert len(steps.to_dict()["low"]) == len(steps) == 3
