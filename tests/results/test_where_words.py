"""Where predictions are off, in words."""

import re

import numpy as np
import pytest

import secant
from samples import ORDINARY, miscalibrated
from secant._results import where_words
from secant._results.where_words import where
from secant._results.wording import points

NUMBER = r"-?[\d.,]+"


def narrow(shift, n=100_000):
    """Return predictions that are too low everywhere, and by more between 0.3 and 0.36."""
    rng = np.random.default_rng(6)
    p = rng.random(n) * 0.6
    off = np.where((p > 0.3) & (p < 0.36), shift, 0.1)
    return secant.assess(rng.random(n) < p + off, p)


@pytest.mark.parametrize(("shift", "said"), [(0.1, False), (0.15, False), (0.35, True)])
def test_the_steepest_place_goes_unsaid_where_it_adds_little(shift, said):
    result = narrow(shift)
    assert result.direction == "too low"
    assert (" Somewhere predictions are too low by at least " in where(result)) == said


def test_half_as_far_again_is_farther(monkeypatch):
    result = narrow(0.15)
    (piece,) = result.intervals
    ratio = result.steepest.at_least / piece.miscalibration
    assert 1.01 < ratio < 1.5  # more than the range seems to be, but not by much
    for least, said in ((ratio * 0.99, True), (ratio * 1.01, False)):
        monkeypatch.setattr(where_words, "_FARTHER", least)
        assert ("Somewhere" in where(result)) == said


def test_the_steepest_place_is_named_where_it_says_more_than_the_pieces():
    rng = np.random.default_rng(6)
    p = rng.random(100_000)
    y = rng.random(p.size) < np.where((p > 0.3) & (p < 0.33), p + 0.5, p)
    result = secant.assess(y, p)
    steepest = result.steepest
    assert steepest.at_least > max(abs(each.miscalibration) for each in result.intervals)
    said = re.search(
        rf"\. Somewhere predictions are too low by at least ({NUMBER}) points "
        rf"\(scores ({NUMBER}) to",
        str(result),
    )
    assert said[1] == points(steepest.at_least)
    assert float(said[2]) == round(steepest.low, 3)


def test_one_score_is_not_a_range():
    y, p = np.arange(1000) < 700, np.full(1000, 0.5)
    assert " Scores of 0.500 are too low by 20.0 points (95% limits" in str(secant.assess(y, p))


def test_words_for_an_interval():
    result = secant.assess(*ORDINARY)
    assert re.fullmatch(
        rf"Scores 0\.200 to 0\.800, 5 predictions: mean forecast {NUMBER}%, mean outcome "
        rf"60(?:\.0)?%, off by {NUMBER} points, which could be noise \({NUMBER} to "
        rf"{NUMBER}\)\.",
        str(result.between(0.15, 0.9)),
    )
    assert str(result.between(0.4, 0.5)) == "No predictions with scores from 0.400 to 0.500."
    assert "1 prediction:" in str(result.between(0.3, 0.3))
    (piece,) = secant.assess(*miscalibrated(power=1.3)).intervals
    assert re.search(rf"too high by {NUMBER} points \({NUMBER} to {NUMBER}\)\.$", str(piece))


@pytest.mark.parametrize(
    ("y", "p", "words"),
    [
        ([0], [1.0], "The event did not happen after the only score of exactly 1."),
        (
            [0] * 499 + [1] * 502,
            [0.0] * 500 + [1.0] * 501,
            "The event happened after 1 of 500 scores of exactly 0.",
        ),
        (
            [1, 0, 0, 1, 0, 1],
            [0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
            (
                "The event happened after 1 of 3 scores of exactly 0 and did not happen after "
                "1 of 3 scores of exactly 1."
            ),
        ),
    ],
)
def test_wrong_certainties_are_named_where_they_are_all_there_is(y, p, words):
    result = secant.assess(y, p)
    assert where(result) == words
    assert "not show for certain" not in str(result)
    assert "predicted classes" in str(result)


def test_the_steepest_place_within_a_range_that_is_off_the_other_way():
    """As real forecasts had it: too low over most scores, and one score far too high."""
    rng = np.random.default_rng(0)
    p = rng.random(40_000)
    y = rng.random(p.size) < np.minimum(p + 0.06, 1)
    one = np.full(300, 0.5)
    result = secant.assess(np.append(y, rng.random(300) < 0.1), np.append(p, one))
    assert result.direction == "too low"
    least = points(result.steepest.at_least)
    words = f" But within these, scores of 0.500 are too high by at least {least} points."
    assert where(result).endswith(words)
