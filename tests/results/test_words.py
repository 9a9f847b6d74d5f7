"""The vocabularies: each has all sentences, and the gaps of each can be filled."""

import dataclasses
import string

import numpy as np
import pytest

import secant
from secant._results import words
from secant._results.words import Words, words_of

ALL = {
    "probabilities": words.PROBABILITIES,
    "confidences": words.CONFIDENCES,
    "along": words.ALONG,
    "in time": words.IN_TIME,
    "intervals": words.INTERVALS,
    **{f"{side} quantiles": each for side, each in words.QUANTILES.items()},
}
RANGE = {"scores", "they", "by", "by_or_noise", "limits", "n", "count"}
RANGE |= {"forecast", "promised", "outcome"}
AVERAGES = {"everyone", "forecast", "promised", "outcome"}
SIZE = {"many", "s", "cover", "only"}
# The gaps that are filled in each sentence; the others have none.
GAPS = {
    "by": {"off", "points"},
    "first": RANGE | {"level"},
    "further": RANGE,
    "uncertain": RANGE | {"level", "first"},
    "interval": RANGE,
    "within": RANGE,
    "fewer": SIZE,
    "more": SIZE,
    "over": {"scores"},
    "even": {"n"},
    "mean_right": {"p"},
    "mean_wrong": {"p", "off"},
    "mean_unsure": {"p"},
    "shape_right": {"p", "name"},
    "shape_wrong": {"p", "off", "name"},
    "no_shape": {"name"},
    "both": {"mean", "shape", "name"},
    "together": {"mean", "shape", "name"},
    "unnamed": {"p"},
    "averages": AVERAGES,
    "question": {"name"},
    "remedy": {"name"},
}


@pytest.mark.parametrize("kind", ALL)
def test_every_gap_is_one_that_is_filled(kind):
    for field in dataclasses.fields(Words):
        sentence = getattr(ALL[kind], field.name)
        if isinstance(sentence, str):
            gaps = {name for _, name, _, _ in string.Formatter().parse(sentence) if name}
            assert gaps <= GAPS.get(field.name, set()), field.name


def test_a_result_and_its_ranges_know_their_words():
    result = secant.assess([0, 1], [0.4, 0.6], order_by=[1, 2])
    assert words_of(result) is words_of(result.worst) is words.ALONG
    assert words_of(secant.assess([0, 1], [0.4, 0.6])) is words.PROBABILITIES
    covered = secant.assess_coverage([0.0, 1.0], [0.0, 2.0], [1.0, 4.0], 0.5)
    assert words_of(covered) is words_of(covered.worst) is words.INTERVALS
    times = np.array(["2026-01-01", "2026-01-02"], "M8[D]")
    assert words_of(secant.assess([0, 1], [0.4, 0.6], order_by=times)) is words.IN_TIME
    for side in ("low", "high"):
        ends = {"low": None, "high": None, side: [1.0, 4.0]}
        quantiles = secant.assess_coverage([0.0, 1.0], **ends, level=0.5)
        assert words_of(quantiles) is words.QUANTILES[side]
    top = dataclasses.replace(result, top_label=True, axis=None)
    assert words_of(top) is words.CONFIDENCES
    assert words_of(dataclasses.replace(top, axis=result.axis)).off == words.CONFIDENCES.off


def test_directions_are_said_in_their_own_words():
    assert words.INTERVALS.say("too low, then too high") == "too much, then too little"
    assert words.CONFIDENCES.say("too high") == "overconfident"
    for each in ALL.values():
        assert each.say("alternating, 4 times") == "alternating, 4 times"


def test_one_and_many():
    assert words.INTERVALS.many(1) == "1 interval"
    assert words.QUANTILES["low"].many(1234) == "1,234 quantiles"


@pytest.mark.parametrize("side", ["low", "high"])
def test_quantiles_are_never_called_intervals(side):
    rng = np.random.default_rng(1)
    y = rng.normal(size=2000)
    ends = {"low": None, "high": None, side: rng.normal(size=2000) * 0.1}
    for level in (0.9, 0.5):
        result = secant.assess_coverage(y, **ends, level=level)
        everything = f"{result}{result.details}{result.intervals!r}{result.between(-1, 1)}"
        for word in ("interval", "cover ", "width", f"at each {side}", "narrower", "calibrated"):
            assert word not in everything


@pytest.mark.parametrize("level", [0.999, 0.5, 0.001])
def test_no_more_could_have_shown_than_there_can_be(level):
    """Of intervals of 99.9% no more than 1 in 1,000 can cover too many."""
    y = np.random.default_rng(0).normal(size=500)
    half = np.full(500, {0.999: 9.0, 0.5: 0.6745, 0.001: 0.0}[level])
    result = secant.assess_coverage(y, -half, half, level, order_by=np.arange(500))
    assert not result.found
    assert ("too many" in result.where) == (result.detectable <= 1 - level)
    assert ("too few" in result.where) == (result.detectable <= level)
