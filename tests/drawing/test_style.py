"""How pictures look: styles that can be told apart, and numbers as they are written."""

from dataclasses import replace

import pytest

import secant
from secant._drawing import style

WORST = replace(
    secant.assess([1, 0, 1], [0.2, 0.4, 0.6]).between(0, 1), low=0.2, high=0.6, miscalibration=0.1
)


def test_no_two_of_many_models_look_alike():
    styles = [style.model_style(number) for number in range(25)]
    assert len(set(styles)) == 25
    assert len({each.dash for each in styles[:5]}) == len({each.marker for each in styles[:5]}) == 5
    assert not {each.color for each in styles} & {style.TOO_HIGH, style.TOO_LOW}


@pytest.mark.parametrize(
    ("change", "words", "color"),
    [
        ({}, "too low by 10.0 points", style.TOO_LOW),
        ({"miscalibration": -0.01234}, "too high by 1.23 points", style.TOO_HIGH),
        ({"miscalibration": 0.0}, "no deviation", style.TOO_LOW),
        ({"n": 0}, "no deviation", style.TOO_LOW),
    ],
)
def test_a_deviation_in_words_and_in_colour(change, words, color):
    worst = replace(WORST, **change)
    assert (style.deviation(worst), style.accent(worst)) == (words, color)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.2, 0.6, "scores 0.200 to 0.600"),
        (0.0, 1.0, "scores 0.000 to 1.000"),
        (1.234e-5, 0.5, "scores 1.23e-05 to 0.500"),
        (0.5, 0.5, "score 0.500"),
    ],
)
def test_a_range_of_scores_in_words(low, high, words):
    assert style.score_range(replace(WORST, low=low, high=high)) == words


def test_numbers_wear_a_minus_sign():
    assert style.points(-0.0251) == "\N{MINUS SIGN}2.51"


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([0, 3e-7, 1], ["0", "3e-7", "1"]),
        ([0.5, 0.5004], ["0.5000", "0.5004"]),
        ([0.003, 0.25], ["0.003", "0.250"]),
    ],
)
def test_scores_have_the_digits_they_need(scores, labels):
    assert style.score_labels(scores) == labels
