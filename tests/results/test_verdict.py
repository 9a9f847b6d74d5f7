"""The answer in words: how far off, where, how certain."""

import html.parser
import math
import re

import numpy as np
import pytest
from hypothesis import given

import secant
from samples import RELATIVE, every_case, miscalibrated, predictions
from secant import null
from secant._results import verdict
from secant._results.remedies import what_now
from secant._results.tolerance import tolerance_of
from secant._results.wording import metric
from secant.paper import synthetic


def paper(**options):
    """The paper's synthetic set, n = 32768, square rooted."""
    (y,) = synthetic.responses(32768, "square rooted")
    return secant.assess(y, synthetic.scores(32768, "square rooted"), **options)


NUMBER = r"-?[\d.,]+(?:e[+-]\d+)?"
POINTS = rf"(too high|too low) by ({NUMBER}) points"
FIRST = re.compile(
    rf"^Miscalibrated(?: by very little)?: (?P<shape>[a-z ]+(?:, \d+ times)?)"
    rf"(?:; [\d,]+ scores? of exactly 0 or 1 w(?:as|ere) wrong)?\. "
    rf"(?:[\d,]+ ranges of scores are in turn too low and too high; the largest deviations: )?"
    rf"[Ss]cores (?:of )?({NUMBER})(?: to ({NUMBER}))? are {POINTS} \(([\d.]+%) limits "
    rf"({NUMBER}) to ({NUMBER}); ({NUMBER}) predictions?\)"
)
FURTHER = re.compile(
    rf", scores (?:of )?({NUMBER})(?: to ({NUMBER}))? {POINTS} "
    rf"\(({NUMBER}) to ({NUMBER}); ({NUMBER})\)"
)
SOMEWHERE = re.compile(
    r"^Miscalibrated(?:; [\d,]+ scores? of exactly 0 or 1 w(?:as|ere) wrong)?\. (?:The event "
    r"[a-z0-9, ]+\. Beyond that these|These) data do not "
    r"show for certain where; the largest deviation is over "
    rf"scores (?:of )?({NUMBER})(?: to ({NUMBER}))?, which were {POINTS} "
    rf"\(([\d.]+%) limits ({NUMBER}) to ({NUMBER}); ({NUMBER}) predictions?\)\.\n"
)
DECIDES = re.compile(
    rf"ECCE-R ({NUMBER}) = ({NUMBER}) sigma, calibrated predictions give about ({NUMBER}) "
    rf"\(P (?:=|<=?) ({NUMBER}(?: to {NUMBER})?), (exact|upper bound|large-sample|simulated)\)\.$",
    re.MULTILINE,
)
CERTAIN = re.compile(
    rf"ECCE-R ({NUMBER}), calibrated predictions give 0 \(P = ({NUMBER}), "
    r"(exact|upper bound|large-sample|simulated)\)\.$",
    re.MULTILINE,
)
JARGON = re.compile(
    r"certified|forbidden|none found|noise can do|impossible|asymptotic|Monte Carlo"
)


def number(text):
    return float(text.replace(",", ""))


def rounded(value, digits=3):
    return pytest.approx(float(f"{value:.{digits}g}"), **RELATIVE)


def test_the_words_about_the_data_of_the_paper():
    """The P-value of the limit law is 1.2e-23."""
    text = str(paper(method="asymptotic"))
    first, second, *_ = text.splitlines()
    assert first == (
        "Miscalibrated: too extreme. Scores 0.026 to 0.292 are too low by 12.4 points (95% limits "
        "5.46 to 19.3; 2,782 predictions), scores 0.292 to 1.000 too high by 2.51 points (1.87 to "
        "3.15; 29,955)."
    )
    assert second == (
        "In every 1,000 predictions 23 forecast events did not happen in the worst range: ECCE-R "
        "0.0229 = 10.2 sigma, calibrated predictions give about 1.6 (P = 1.2e-23, large-sample)."
    )
    assert "mean forecast 66.7%, mean outcome 65.4%." in text
    assert text.splitlines()[-1].startswith("What usually helps: temperature or beta scaling")
    assert len(text.splitlines()) <= 5


def test_details_have_the_other_metric_the_limits_and_every_range():
    result = paper(method="asymptotic")
    text = repr(result.details)
    assert "ECCE-R 0.0229 = 10.2 sigma" in text
    assert "Its P-value decides." in text
    assert "ECCE-MAD 0.0124 = 5.51 sigma" in text
    assert "(P = 7.1e-08, large-sample). 95% limits 0.00718 to 0.0177." in text
    for each in result.intervals:
        assert str(each) in text


@pytest.mark.parametrize("power", [0.7, 1.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_words_of_an_ordinary_case(power, weighted, level):
    y, p = miscalibrated(power=power)
    w = np.linspace(1, 2, len(y)) if weighted else None
    result = secant.assess(y, p, sample_weight=w, confidence_level=level, method="asymptotic")
    text = str(result)
    shape, low, high, direction, points, percent, *limits, n = FIRST.search(text).groups()
    (piece,) = result.intervals
    assert (number(low), number(high)) == (round(piece.low, 3), round(piece.high, 3))
    assert shape == direction == result.direction == ("too high" if power > 1 else "too low")
    assert number(points) == rounded(100 * abs(piece.miscalibration))
    assert percent == f"{100 * level:g}%"
    sizes = sorted(100 * math.copysign(1, piece.miscalibration) * limit for limit in piece.ci)
    assert [number(limit) for limit in limits] == [rounded(size) for size in sizes]
    assert number(n) == piece.n

    *r, method = DECIDES.search(text).groups()
    assert [number(part) for part in r] == [
        rounded(result.ecce_r.value), rounded(result.ecce_r.normalized), 1.6,
        rounded(result.ecce_r.pvalue, 2),
    ]  # fmt: skip
    assert method == "large-sample"
    in_1000 = f"In every 1,000 predictions {1000 * result.ecce_r.value:.0f} "
    what = "forecast events did not happen" if power > 1 else "more events happened than forecast"
    assert f"\n{in_1000}{what} in the worst range" in text
    assert "4,000 predictions: mean forecast " in text
    # The effect comes before the P-value, which is never called significant.
    assert text.index(" points ") < text.index("(P ")
    assert "significan" not in text.lower()


def wave(lobes, n=200_000, size=0.1):
    rng = np.random.default_rng(5)
    p = rng.uniform(0.15, 0.85, n)
    sign = np.where(np.floor((p - 0.15) / 0.7 * lobes) % 2 == 0, 1, -1)
    return rng.random(n) < p + size * sign, p


@pytest.mark.parametrize(
    ("lobes", "shape"),
    [(1, "too low"), (2, "too extreme"), (3, "alternating, 3 times"), (8, "alternating, 8 times")],
)
def test_the_shape_leads_and_the_ranges_that_matter_most_are_named(lobes, shape):
    result = secant.assess(*wave(lobes))
    text = str(result)
    assert text.startswith(f"Miscalibrated: {shape}. ")
    named = [FIRST.search(text).groups()[1:4:2], *(f[::2][:2] for f in FURTHER.findall(text))]
    assert len(named) == min(lobes, 3)
    lows = [float(low) for low, _ in named]
    assert lows == sorted(lows)
    assert set(lows) <= {round(each.low, 3) for each in result.intervals[:3]}
    assert ("8 ranges of scores are in turn too low and too high" in text) == (lobes == 8)
    # Where the worst range is not one of those named, it is named too.
    spans = {(each.low, each.high) for each in result.intervals}
    worst = result.worst
    assert ("in the worst range (scores" in text) == ((worst.low, worst.high) not in spans)
    assert len(text.splitlines()) <= 5


def test_the_mirror_image_is_too_timid():
    y, p = wave(2)
    assert str(secant.assess(~y, p[::-1] * 0 + 1 - p)).startswith("Miscalibrated: too extreme. ")
    rng = np.random.default_rng(1)
    p = rng.uniform(0.2, 0.8, 50_000)
    y = rng.random(50_000) < p + np.where(p > 0.5, 0.05, -0.05)
    assert str(secant.assess(y, p)).startswith("Miscalibrated: too moderate. ")


def test_within_a_tolerance_has_three_answers():
    y, p = miscalibrated(20_000, power=1, seed=4)
    result = secant.assess(y, p)
    low, high = result.ecce_r.ci
    assert verdict.within(result, 0.05).startswith("Calibrated within 0.05, as far as 95% goes: ")
    assert verdict.within(result, high).startswith("Calibrated within ")
    assert verdict.within(result, high * 0.99).startswith("Not shown to be calibrated within ")
    y, p = miscalibrated(20_000)
    off = secant.assess(y, p)
    assert verdict.within(off, 0.01).startswith("Not calibrated within 0.01, as far as 95% goes")
    for limit in (*result.ecce_r.ci, low):
        assert f"{limit:#.3g}".rstrip(".") in verdict.within(result, 0.05) or limit == 0


def test_confidences_are_over_and_underconfident():
    rng = np.random.default_rng(0)
    logits = 2 * rng.standard_normal((6000, 3))
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = (probs.cumsum(axis=1) < rng.random((6000, 1))).sum(axis=1)
    for power, word in ((2, "overconfident"), (0.5, "underconfident")):
        other = probs**power / (probs**power).sum(axis=1, keepdims=True)
        groups = secant.assess_classes(truth, other)
        assert str(groups).count(f"{word} by") == 3
        assert str(groups[0]).startswith(f"Miscalibrated: {word}. ")
        assert f"are {word} by" in str(groups[0])
        assert "temperature" in str(groups[0])
        assert groups[0].direction == groups[0].worst.direction
    rest = secant.assess_classes(truth, other, kind="one-vs-rest", adjust="holm")
    assert "confident" not in str(rest)


def test_words_when_nothing_is_found():
    y, p = miscalibrated(5000, power=1, seed=4)
    result = secant.assess(y, p, method="asymptotic")
    text = str(result)
    assert result.ecce_r.pvalue > 0.05
    said = re.match(
        rf"No miscalibration found\. With 5,000 predictions ({NUMBER}) misplaced events in 1,000 "
        r"would almost surely have shown\.\n",
        text,
    )
    # Somewhat more than the critical value, far less than several times it.
    critical = 1000 * null.range.isf(0.05) * result.sigma
    assert critical < number(said[1]) < 3 * critical
    assert DECIDES.search(text)
    assert "What usually helps" not in text
    # Calibration is never claimed.
    assert not re.search(r"\b(is|are|well|perfectly) calibrated", text)


def case(y, p, **options):
    return np.array(y), np.array(p, float), {"method": "asymptotic", **options}


rare = case([0] * 1999 + [1], np.full(2000, 1e-3) + np.linspace(0, 1e-4, 2000))
NOTES = {
    "one row": (case([1], [0.3]), r"^No miscalibration found\. 1 prediction can show next to"),
    "one row, wrong": (case([1], [0.001], method="auto"), r"^Miscalibrated\..*; 1 prediction\)"),
    "certain and right": (case([0, 1, 1], [0, 1, 1]), r"^No misc\w+ found\. Every score is 0 or 1"),
    "classes": (case([0, 1, 1], [0, 1, 1]), r"^If these are .*predict_proba in place of predict"),
    "certain and wrong": (
        case([1, 0, 1], [0, 1, 1]),
        r"^Miscalibrated.*; 2 scores of exactly 0 or 1 were wrong\. ",
    ),
    "certain and wrong, statistic": (case([1, 0, 1], [0, 1, 1]), CERTAIN.pattern),
    "one wrong certainty": (
        case([0, 1, 1, 0, 1], [0.2, 0.0, 0.7, 0.4, 1.0]),
        r"^1 score of exactly 0 or 1 was wrong; no other miscalibration found\. 5 predictions",
    ),
    "wrong certainties": (
        case([0, 1, 1, 0, 1], [0.2, 0.9, 0.0, 1.0, 1.0]),
        r"^What usually helps: scores between.*the first that was wrong is in row 2",
    ),
    "no events": (case([0] * 50, np.linspace(0.1, 0.9, 50)), r"^Notes?: The event never happened"),
    "only events": (case([1] * 50, np.linspace(0.1, 0.9, 50)), r"^Notes?: The event always"),
    "few events expected": (rare, r"^Notes?: Few events were"),
    "few non-events expected": (case(1 - rare[0], 1 - rare[1]), r"^Notes?: Few events were"),
    "one heavy row": (
        case([0, 1] * 200, np.linspace(0.1, 0.9, 400), sample_weight=[100] + [1] * 399),
        r"^Notes?: Few rows carry most of the weighted variance",
    ),
    "few distinct scores": (
        case([0, 1] * 200, np.arange(400) % 7 / 8 + 0.05), r"^Notes?: Only 7 distinct scores"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("data", "says"), NOTES.values(), ids=NOTES)
def test_words_of_special_cases(data, says):
    y, p, options = data
    result = secant.assess(y, p, **options)
    text = str(result)
    assert re.search(says, text, re.MULTILINE)
    assert_no_contradiction(result)
    notes = re.findall(r"^Notes?: (.*)$", text, re.MULTILINE)
    assert notes == ([" ".join(result.warnings)] if result.warnings else [])
    assert re.search(r"\b1 (predictions|responses|scores|events)\b", text) is None


def assert_no_contradiction(result):
    """One answer, and the same everywhere: the headline, where, and what decides."""
    text = str(result)
    headline = text.partition(". ")[0]
    assert ("Miscalibrated" in headline) == result.found
    assert ("miscalibration found" in headline) == (not result.found)
    many = result.n_forbidden
    assert ("wrong" in headline) == bool(many)
    assert headline.startswith("No miscalibration found") == (not result.found and not many)
    assert (" other miscalibration found" in headline) == (not result.found and many > 0)
    assert result.to_dict()["verdict"] == headline
    assert DECIDES.search(text) or CERTAIN.search(text) or "\nECCE-R 0 (P = 1, " in text
    assert len(text.splitlines()) <= 5
    notes = text.find("\nNote")
    assert not JARGON.search(text if notes < 0 else text[:notes])


@every_case
def test_nothing_contradicts_itself(data, options):
    assert_no_contradiction(secant.assess(*data, **options))


@given(predictions())
def test_nothing_contradicts_itself_whatever_the_data(data):
    y, p, w, kind = data
    assert_no_contradiction(secant.assess(y, p, sample_weight=w, weight_kind=kind))


def test_words_for_limits_on_both_sides_of_zero():
    """Limits that allow the opposite direction must not read as if they did not."""
    result = secant.assess([1], [0.01])
    assert result.ecce_r.pvalue == pytest.approx(0.01, **RELATIVE)
    assert result.worst.ci[0] < 0 < result.worst.ci[1]
    *_, low, high, _ = SOMEWHERE.search(str(result)).groups()
    assert number(low) <= 0 < number(high)


@given(predictions())
def test_a_range_is_named_exactly_if_it_is_among_those_found(data):
    y, p, w, kind = data
    result = secant.assess(y, p, sample_weight=w, weight_kind=kind, confidence_level=0.5)
    named = bool(FIRST.search(str(result)))
    assert named == bool(result.intervals)
    only_certainties = result.found and not named and result.sigma == 0
    assert bool(SOMEWHERE.search(str(result))) == (
        result.found and not named and not only_certainties
    )
    if only_certainties:
        assert result.n_forbidden
        assert " of exactly " in result.to_dict()["where"]
    assert result.to_dict()["where"] in " ".join(str(result).split())


def test_what_has_changed_since_is_still_worth_printing():
    """Printing never fails: where ranges cannot be had, the worst one is still known."""
    rng = np.random.default_rng(0)
    p = rng.random(300_000)
    y = (rng.random(p.size) < p**1.1).astype(np.int64)
    result = secant.assess(y, p)
    before = result.worst
    y[:] = 1 - y
    p[:] = rng.random(p.size)
    text = str(result)
    assert text.startswith("Miscalibrated")
    assert f"{before.n:,} predictions" in text


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
    pvalue = secant.assess(y, p).ecce_r.pvalue
    assert 1e-6 < pvalue < 0.5
    strict = secant.assess(y, p, confidence_level=1 - pvalue * 0.9)
    loose = secant.assess(y, p, confidence_level=1 - pvalue * 1.1)
    assert strict.to_dict()["verdict"] == "No miscalibration found"
    assert loose.to_dict()["verdict"].startswith("Miscalibrated")
    assert strict.ecce_r.pvalue == loose.ecce_r.pvalue == pvalue


def test_calibration_that_is_shown_up_to_a_tolerance_is_the_headline():
    rng = np.random.default_rng(0)
    p = rng.random(6000)
    good = secant.assess(rng.random(6000) < p, p)
    off = secant.assess(rng.random(6000) < p, 1 / (1 + ((1 - p) / p) ** 2))
    asked = tolerance_of(None, None, 0.9, 0.99)
    low, high = map(metric, off.ecce_r_interval(0.99))
    assert off.asked(asked).verdict == (
        f"Calibrated within 0.9, as far as 99% goes: ECCE-R is between {low} and {high}; beyond "
        "chance it is too extreme"
    )
    first = verdict.said(good.asked(tolerance_of(None, None, 0.05))).first
    assert first.startswith("Calibrated within 0.05, as far as 95% goes: ECCE-R is between ")
    assert "would almost surely" not in first
    assert good.asked(tolerance_of(None, None, 0.001)).verdict == (
        "No miscalibration found, but not shown to be calibrated within 0.001"
    )
    assert off.asked(tolerance_of(None, None, 0.001)).verdict.startswith("Miscalibrated")


def test_details_say_what_the_short_form_says_and_nothing_twice():
    rng = np.random.default_rng(0)
    p = rng.random(6000)
    y = rng.random(6000) < p
    for scores in (p, 1 - p, (p > 0.5).astype(float), p**2):
        result = secant.assess(y, scores)
        details = str(result.details)
        assert what_now(result) in details
        said = [line.split(": ", 1)[-1] for line in details.splitlines()]
        assert len(set(said)) == len(said)
        assert details.count("Brier score") == 1
