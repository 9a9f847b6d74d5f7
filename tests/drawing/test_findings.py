"""What pictures show of a result."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import secant
from secant._drawing.findings import (
    cut_at,
    deviation,
    ends_of,
    findings,
    in_short,
    points,
    secants,
    without_words,
)

RNG = np.random.default_rng(0)
P = RNG.random(20_000)
WAVE = np.clip(P + 0.1 * np.sin(25 * P), 0, 1)
EXTREME = 0.3 + 0.4 * P


def result(chance, scores=P):
    return secant.assess(np.random.default_rng(1).random(len(scores)) < chance, scores)


def impossible(n: int = 1000):
    """Return calibrated scores of which the largest are sure, and once wrong."""
    p = np.append(RNG.random(n) * 0.5, [1.0])
    return secant.assess(np.append(np.random.default_rng(3).random(n) < p[:-1], [False]), p)


@pytest.mark.parametrize(
    ("chance", "words", "signs"),
    [
        (P, "could be noise", None),
        (EXTREME, "too extreme", "+-"),
        (np.clip(1.5 * P - 0.25, 0, 1), "too moderate", "-+"),
        (P**2, "too high by 16.8 points", "-"),
        (P**0.7, "too low by 8.75 points", "+"),
        (WAVE, "alternating, 6 times", "+-+-+-"),
    ],
)
def test_the_whole_shape_is_said(chance, words, signs):
    found = result(chance)
    assert in_short(found) == words
    shown = findings(found)
    if signs is None:
        [one] = shown
        assert (one.range, one.certain, one.mood) == (found.worst, False, "unsure")
        return
    assert "".join(each.sign for each in shown).replace("\N{MINUS SIGN}", "-") == signs
    assert all(each.certain for each in shown)
    moods = {"+": "low", "-": "high"}
    assert [each.mood for each in shown] == [moods[sign] for sign in signs]


def test_what_does_not_stand_among_many_is_noise():
    found = result(P**2)
    assert in_short(found, found=False) == "could be noise"
    [one] = findings(found, found=False)
    assert (one.range, one.mood) == (found.worst, "unsure")


def test_sure_scores_that_were_wrong_are_not_called_noise():
    assert in_short(impossible()) in ("1 sure score wrong", "off, not certain where")
    assert in_short(secant.assess([0, 1], [0.0, 1.0])) == "no deviation"
    assert findings(secant.assess([0, 1], [0.0, 1.0])) == ()


def test_secants_end_where_ranges_do():
    many = np.random.default_rng(2).random(200_000)  # more than a result keeps one by one
    found = result(0.3 + 0.4 * many, many)
    for each, ((x0, y0), (x1, y1)) in zip(
        found.intervals, secants(found, found.intervals), strict=True
    ):
        assert x1 - x0 == pytest.approx(each.weight, abs=1 / 2000)
        assert y1 - y0 == pytest.approx(each.total, abs=1 / 2000)
    blocks = cut_at(found, found.intervals)
    for each in found.intervals:
        first, last = ends_of(blocks, each)
        assert (blocks.low[first], blocks.high[last - 1]) == (each.low, each.high)
    gone = pickle.loads(pickle.dumps(found))  # noqa: S301  (our own)
    assert secants(gone, gone.intervals) == pytest.approx(secants(found, found.intervals), abs=1e-3)


def test_only_our_own_words_are_taken_off_a_label():
    for chance in (P, EXTREME, WAVE, P**2):
        assert without_words(f"A: b: {in_short(result(chance))}") == "A: b"
    assert without_words("too high") == "too high"
    assert without_words("A: b") == "A: b"


def test_confidences_are_overconfident():
    probs = np.column_stack([P, 1 - P])
    labels = (np.random.default_rng(4).random(len(P)) < 0.5).astype(int)
    row = secant.assess_classes(labels, probs, kind="top-label").rows[0]
    assert in_short(row.calibration).startswith("overconfident by ")
    assert without_words(f"A: {in_short(row.calibration)}") == "A"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "too low by 10.0 points"),
        ({"miscalibration": -0.01234}, "too high by 1.23 points"),
        ({"miscalibration": 0.0}, "no deviation"),
        ({"n": 0}, "no deviation"),
    ],
)
def test_a_deviation_in_words(change, words):
    off = replace(secant.assess([1, 0, 1], [0.2, 0.4, 0.6]).between(0, 1), miscalibration=0.1)
    assert deviation(replace(off, **change)) == words


def test_numbers_wear_a_minus_sign():
    assert points(-0.0251) == "\N{MINUS SIGN}2.51"
