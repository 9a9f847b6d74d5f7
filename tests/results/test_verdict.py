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
from secant._results.wording import decided, limits, metric, points, pvalue
from secant._results.words import words_of


def assert_no_contradiction(result):
    """Assert one answer, and the same everywhere: the headline, where, and what decides."""
    said, words = say(result), words_of(result)
    assert said.headline == f"{result.verdict}."
    assert said.headline.startswith((words.found, words.probably)) == result.found
    assert said.headline.startswith(words.probably) == result.doubtful
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
    assert result.verdict == f"Miscalibrated: {verdict.direction(result)}"
    for part in (*in_words(piece), f"{100 * level:g}%", f"{piece.n:,} predictions"):
        assert part in result.where
    assert_no_contradiction(result)


@given(predictions())
def test_a_range_is_named_exactly_if_it_is_among_those_found(data):
    y, p, w, kind = data
    result = secant.assess(y, p, sample_weight=w, weight_kind=kind, confidence_level=0.5)
    uncertain = "for certain where" in result.where or "No range can be named" in result.where
    if "No range can be named" in result.where:
        assert result.found
        assert not result.found_in_ranges
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
    [
        (1, "too low on average, and too moderate"),
        (2, "too extreme"),
        (3, "alternating, 3 times"),
        (8, "alternating, 8 times"),
    ],
)
def test_the_direction_leads_and_the_ranges_that_matter_most_are_named(lobes, direction):
    result = secant.assess(*wave(lobes))
    assert result.verdict.endswith(f": {direction}")
    by_size = sorted(result.intervals, key=lambda each: -abs(each.total))
    assert len(by_size) == lobes
    for number, each in enumerate(by_size):
        assert all(part in result.where for part in in_words(each)) == (number < 3)
    assert len(str(result).splitlines()) <= 5


def sloped(slope, shift=0.0, n=10_000, seed=0):
    """Assess forecasts whose logits are to be multiplied and shifted."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    truth = 1 / (1 + np.exp(-shift - slope * np.log(p / (1 - p))))
    return secant.assess(rng.random(n) < truth, p)


@pytest.mark.parametrize(
    ("slope", "shift", "parts", "kind"),
    [
        (1.4, 0.0, ("shape",), "too moderate"),
        (0.7, 0.0, ("shape",), "too extreme"),
        (1.0, 0.2, ("mean",), "too low"),
        (1.0, -0.2, ("mean",), "too high"),
        (1.5, -0.4, ("mean", "shape"), "too high on average, and too moderate"),
        (0.6, 0.4, ("mean", "shape"), "too low on average, and too extreme"),
    ],
)
def test_the_parts_that_are_wrong_have_the_headline(slope, shift, parts, kind):
    result = sloped(slope, shift)
    assert result.wrong_in == parts
    assert result.verdict == f"Miscalibrated: {kind}"
    line = next(line for line in str(result).splitlines() if line.startswith("P "))
    assert f"Wrong on average (P {pvalue(result.mean)}): too " in line or "mean" not in parts
    assert f"Right on average (P {pvalue(result.mean)})" in line or "mean" in parts
    assert f"wrong in shape (P {pvalue(result.bridge)}): too " in line or "shape" not in parts
    assert f"right in shape (P {pvalue(result.bridge)})" in line or "shape" in parts


def found_unlocated():
    """Return a result whose shape is found to be wrong, where ECCE-R could be chance."""
    results = (sloped(1.1, seed=seed) for seed in range(50))
    return next(each for each in results if each.found and not each.found_in_ranges)


def test_what_is_found_may_have_no_range_and_words_say_so():
    result = found_unlocated()
    assert result.intervals == ()
    assert result.verdict.endswith(": too moderate")
    by_itself = f"ECCE-R by itself (P {pvalue(result.ecce_r)}) could be chance"
    assert result.where == f"No range can be named: {by_itself}."
    assert "per 1,000" not in str(result)  # events are misplaced over a range
    assert "scaling" in verdict.what_now(result)
    assert_no_contradiction(result)


def test_together_two_parts_may_be_beyond_chance_and_neither_by_itself():
    results = (sloped(1.05, 0.03, seed=seed) for seed in range(200))
    result = next(
        each
        for each in results
        if each.found and not each.wrong_in and not each.mean_is_unsure and not each.pieces
    )
    assert "taken together, in neither by itself" in str(result)
    assert verdict.direction(result) == ""


def test_one_score_has_no_shape():
    result = secant.assess(np.arange(400) < 300, np.full(400, 0.5))
    assert result.bridge.direction is None
    assert result.verdict == "Miscalibrated: too low"
    assert "; there is no shape to test." in str(result)
    fine = secant.assess(np.arange(400) < 200, np.full(400, 0.5))
    assert str(fine).splitlines()[1].startswith("P = 1 (exact).")


@pytest.mark.parametrize(("times", "doubtful"), [(5, True), (9.9, True), (10.1, False)])
def test_the_first_word_grades(times, doubtful):
    """A P-value of at most a tenth of alpha is beyond doubt."""
    data = miscalibrated(300, seed=8, power=1.15)
    alpha = times * secant.assess(*data).pvalue
    result = secant.assess(*data, confidence_level=1 - alpha)
    assert result.doubtful == doubtful
    graded = f"Probably miscalibrated (P {decided(result)})"
    assert result.verdict.startswith(graded if doubtful else "Miscalibrated")


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
        assert f": {word} on average, and too " in groups[0].verdict
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
        said = [line.split(": ", 1)[-1] for line in details.splitlines()[2:]]
        assert len(set(said)) == len(said)
