"""The answer in words: it says what the result decides, with its numbers, once.

Whole texts are in the snapshots (test_texts.py); here are facts, whatever the words.
"""

import html.parser

import numpy as np
import pytest
from hypothesis import given

import secant
from samples import RELATIVE, every_case, miscalibrated, predictions
from secant import null
from secant._results import verdict
from secant._results.base import say
from secant._results.tolerance import Tolerance, tolerance_of
from secant._results.wording import limits, metric, points, pvalue
from secant._results.words import words_of


def assert_no_contradiction(result):
    """Assert one answer, and the same everywhere: the headline, where, and what decides."""
    said, words = say(result), words_of(result)
    assert said.headline == f"{result.verdict}."
    assert said.headline.startswith(words.found) == result.found
    wrong = verdict.wrong_certainties(result)
    assert bool(wrong) == bool(result.n_forbidden)
    assert wrong in said.headline
    assert said.headline.startswith(words.not_found) == (not result.found and not wrong)
    assert said.then == result.where == result.to_dict()["where"]
    assert result.to_dict()["verdict"] == result.verdict
    text = str(result)
    assert metric(result.ecce_r.value) in text
    assert f"P {pvalue(result.ecce_r)}" in text
    assert tuple(said.notes) == result.warnings
    assert len(text.splitlines()) <= 5
    # The effect comes before the P-value, which is never called significant.
    assert "significan" not in text.lower()
    assert "nan" not in text


@every_case
def test_nothing_contradicts_itself(data, options):
    assert_no_contradiction(secant.assess(*data, **options))


@given(predictions())
def test_nothing_contradicts_itself_whatever_the_data(data):
    y, p, w, kind = data
    assert_no_contradiction(secant.assess(y, p, sample_weight=w, weight_kind=kind))


def in_words(each):
    """Return how far off a range is, as any sentence on it has it."""
    return f"{points(abs(each.miscalibration))} points", limits(each.ci, each.miscalibration)


@pytest.mark.parametrize("power", [0.7, 1.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_words_of_an_ordinary_case(power, weighted, level):
    y, p = miscalibrated(power=power)
    w = np.linspace(1, 2, len(y)) if weighted else None
    result = secant.assess(y, p, sample_weight=w, confidence_level=level, method="asymptotic")
    (piece,) = result.intervals
    assert result.direction == piece.direction == ("too high" if power > 1 else "too low")
    assert result.direction in result.verdict
    for part in (*in_words(piece), f"{100 * level:g}%", f"{piece.n:,} predictions"):
        assert part in result.where
    assert_no_contradiction(result)


@given(predictions())
def test_a_range_is_named_exactly_if_it_is_among_those_found(data):
    y, p, w, kind = data
    result = secant.assess(y, p, sample_weight=w, weight_kind=kind, confidence_level=0.5)
    uncertain = any(
        words in result.where for words in ("for certain where", "No range can be named")
    )
    certainties_alone = result.sigma == 0 and result.n_forbidden
    assert uncertain == bool(result.found and not result.intervals and not certainties_alone)
    if len(result.intervals) <= 3:
        for each in result.intervals:
            assert all(part in result.where for part in in_words(each))


def wave(lobes, n=200_000, size=0.1):
    rng = np.random.default_rng(5)
    p = rng.uniform(0.15, 0.85, n)
    sign = np.where(np.floor((p - 0.15) / 0.7 * lobes) % 2 == 0, 1, -1)
    return rng.random(n) < p + size * sign, p


@pytest.mark.parametrize(
    ("lobes", "direction"),
    [(1, "too low"), (2, "too extreme"), (3, "alternating, 3 times"), (8, "alternating, 8 times")],
)
def test_the_direction_leads_and_the_ranges_that_matter_most_are_named(lobes, direction):
    result = secant.assess(*wave(lobes))
    assert result.verdict.endswith(f": {direction}")
    by_size = sorted(result.intervals, key=lambda each: -abs(each.total))
    assert len(by_size) == lobes
    for number, each in enumerate(by_size):
        assert all(part in result.where for part in in_words(each)) == (number < 3)
    assert len(str(result).splitlines()) <= 5


def test_within_a_tolerance_has_three_answers():
    fine = secant.assess(*miscalibrated(20_000, power=1, seed=4))
    off = secant.assess(*miscalibrated(20_000))
    _, high = fine.ecce_r.ci
    answers = [
        verdict.within(result, tolerance).split(":")[0].split(" within")[0]
        for result, tolerance in ((fine, high), (fine, high * 0.99), (off, 0.01))
    ]
    assert len(set(answers)) == 3
    for tolerance in (high, high * 0.99):
        asked = fine.asked(tolerance_of(None, None, tolerance))
        assert asked.shown_within == (tolerance == high)
        assert verdict.within(fine, tolerance).startswith("Calibrated") == asked.shown_within
        for limit in fine.ecce_r.ci:
            assert metric(limit) in verdict.within(fine, tolerance)


def test_what_is_shown_up_to_a_tolerance_is_the_headline():
    rng = np.random.default_rng(0)
    p = rng.random(6000)
    good = secant.assess(rng.random(6000) < p, p)
    off = secant.assess(rng.random(6000) < p, 1 / (1 + ((1 - p) / p) ** 2))
    asked = off.asked(tolerance_of(None, None, 0.9, 0.99))
    assert asked.shown_within
    for limit in off.ecce_r_interval(0.99):
        assert metric(limit) in asked.verdict
    assert asked.verdict.endswith(off.direction)
    shown = good.asked(tolerance_of(None, None, 0.05))
    assert say(shown).headline.startswith(verdict.within(good, 0.05).removesuffix("."))
    assert say(shown).then == ""
    too_much = tolerance_of(None, None, 0.001)
    assert good.asked(too_much).verdict.startswith(good.verdict)
    assert good.asked(too_much).verdict.endswith("0.001")
    assert off.asked(too_much).verdict == off.verdict


def test_asking_about_a_tolerance_changes_the_words_alone():
    result = secant.assess(*miscalibrated(3000, power=1.3))
    pieces = result.pieces
    asked = result.asked(Tolerance(0.9, 0.9, 9.0, "as agreed"))
    assert asked.pieces is pieces
    assert "as agreed" in asked.verdict
    assert result.verdict in asked.verdict.replace(" as agreed", "")
    numbers = [each.to_dict() for each in (result, asked)]
    assert {name for name in numbers[0] if numbers[0][name] != numbers[1][name]} == {"verdict"}


def test_confidences_are_over_and_underconfident():
    rng = np.random.default_rng(0)
    logits = 2 * rng.standard_normal((6000, 3))
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = (probs.cumsum(axis=1) < rng.random((6000, 1))).sum(axis=1)
    for power, word in ((2, "overconfident"), (0.5, "underconfident")):
        other = probs**power / (probs**power).sum(axis=1, keepdims=True)
        groups = secant.assess_classes(truth, other)
        assert str(groups).count(f"{word} by") == 3
        assert groups[0].verdict.endswith(word)
        assert groups[0].direction == groups[0].worst.direction
    rest = secant.assess_classes(truth, other, kind="one-vs-rest", adjust="holm")
    assert "confident" not in str(rest)


def test_what_could_have_shown_is_somewhat_more_than_the_critical_value():
    result = secant.assess(*miscalibrated(5000, power=1, seed=4), method="asymptotic")
    assert not result.found
    critical = null.range.isf(0.05) * result.sigma
    assert critical < result.detectable < 3 * critical
    assert f"{1000 * result.detectable:,.0f} misplaced" in result.where
    assert verdict.what_now(result) == ""


def test_limits_that_allow_the_opposite_direction_have_a_sign():
    result = secant.assess([1], [0.01])
    assert result.ecce_r.pvalue == pytest.approx(0.01, **RELATIVE)
    low, high = result.worst.ci
    assert low < 0 < high
    assert limits((low, high)) in result.where


def test_what_has_changed_since_is_still_worth_printing():
    """Printing never fails: where ranges cannot be had, the worst one is still known."""
    rng = np.random.default_rng(0)
    p = rng.random(300_000)
    y = (rng.random(p.size) < p**1.1).astype(np.int64)
    result = secant.assess(y, p)
    before = result.worst
    y[:] = 1 - y
    p[:] = rng.random(p.size)
    assert result.verdict.startswith(words_of(result).found)
    assert f"{before.n:,} predictions" in str(result)
    assert result.farthest is None  # what takes another look is not told
    with pytest.raises(secant.SecantError):
        result.steepest  # noqa: B018


class Balanced(html.parser.HTMLParser):
    """Collects the text of a page and insists that every element is closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, _attrs):
        if tag == "br":
            self.text += "\n"
        else:
            self.open.append(tag)
            self.text += "\n" if tag == "div" else ""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@every_case
def test_html_says_the_same(data, options):
    result = secant.assess(*data, **options)
    page = Balanced()
    page.feed(result._repr_html_())
    page.close()
    assert page.open == []
    assert page.text.split() == str(result).split()
    assert "<script" not in result._repr_html_()


def test_the_verdict_follows_the_pvalue():
    y, p = miscalibrated(300, seed=8, power=1.15)
    chance = secant.assess(y, p).pvalue
    assert 1e-6 < chance < 0.5
    strict = secant.assess(y, p, confidence_level=1 - chance * 0.9)
    loose = secant.assess(y, p, confidence_level=1 - chance * 1.1)
    assert (strict.found, loose.found) == (False, True)
    assert_no_contradiction(strict)
    assert_no_contradiction(loose)
    assert strict.pvalue == loose.pvalue == chance


def test_details_say_what_the_short_form_says_and_nothing_twice():
    rng = np.random.default_rng(0)
    p = rng.random(6000)
    y = rng.random(6000) < p
    for scores in (p, 1 - p, (p > 0.5).astype(float), p**2):
        result = secant.assess(y, scores)
        details = str(result.details)
        assert verdict.what_now(result) in details
        for each in (result.ecce_r, result.ecce_mad):
            assert metric(each.value) in details
        for each in result.intervals:
            assert str(each) in details
        said = [line.split(": ", 1)[-1] for line in details.splitlines()]
        assert len(set(said)) == len(said)
