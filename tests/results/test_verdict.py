"""The answer in words: how far off, where, how certain."""

import html.parser
import math
import re

import numpy as np
import pytest
from hypothesis import given

import secant
from samples import ORDINARY, RELATIVE, every_case, miscalibrated, predictions
from secant import null
from secant.paper import synthetic


def test_the_worked_example_of_the_verdict():
    p = synthetic.scores(32768, "square rooted")
    y = synthetic.responses(32768, "square rooted")[0]
    result = secant.assess(y, p, method="asymptotic")
    assert result.ecce_mad.pvalue == pytest.approx(7.1e-8, rel=0.01)
    assert result.ecce_r.pvalue == pytest.approx(1.2e-23, rel=0.01)
    printed = str(secant.assess(y, p))
    assert "Over scores 0.292 to 1.000 predictions are too high by 2.51 points" in printed
    assert "95% limits 1.87 to 3.15" in printed
    assert "29,955 predictions" in printed
    assert "10.2 sigma, where perfect calibration gives about 1.6" in printed


NUMBER = r"-?[\d.,]+(?:e[+-]\d+)?"
HOW_FAR = (
    rf"(too high|too low) by ({NUMBER}) points \(([\d.]+%) limits ({NUMBER}) to ({NUMBER}), valid "
    rf"for all ranges at once; ({NUMBER}) predictions?\)\.\n"
)
FOUND = re.compile(
    rf"^Miscalibrated\. Over scores ({NUMBER}) to ({NUMBER}) predictions are {HOW_FAR}"
)
SOMEWHERE = re.compile(
    r"^Miscalibrated\. These data do not show for certain where; the largest deviation is over "
    rf"scores ({NUMBER}) to ({NUMBER}), where predictions were {HOW_FAR}"
)
STATISTICS = re.compile(
    rf"^ECCE-R ({NUMBER}) = ({NUMBER}|infinitely many) sigma, where perfect calibration gives "
    rf"about 1\.6 \(P (?:=|<) ({NUMBER}), ([a-zA-Z ]+)\)\.\n"
    rf"ECCE-MAD ({NUMBER}) = ({NUMBER}|infinitely many) sigma, where perfect calibration gives "
    rf"about 1\.3 \(P (?:=|<) ({NUMBER}), ([a-zA-Z ]+)\)\.$",
    re.MULTILINE,
)


def number(text):
    return float(text.replace(",", ""))


def rounded(value, digits=3):
    return pytest.approx(float(f"{value:.{digits}g}"), **RELATIVE)


def test_the_words_of_the_example_in_the_specification():
    """The paper's synthetic set, n = 32768, square rooted, as VERDICT.md has it."""
    (y,) = synthetic.responses(32768, "square rooted")
    text = str(secant.assess(y, synthetic.scores(32768, "square rooted"), method="asymptotic"))
    assert text.startswith(
        "Miscalibrated. Over scores 0.292 to 1.000 predictions are too high by 2.51 points "
        "(95% limits 1.87 to 3.15, valid for all ranges at once; 29,955 predictions).\n"
        "ECCE-R 0.0229 = 10.2 sigma, where perfect calibration gives about 1.6 (P = 1.2e-23, "
    )
    assert "ECCE-MAD 0.0124 = 5.51 sigma" in text
    assert "(P = 7.1e-08, " in text


@pytest.mark.parametrize("power", [0.7, 1.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_words_of_an_ordinary_case(power, weighted, level):
    y, p = miscalibrated(power=power)
    w = np.linspace(1, 2, len(y)) if weighted else None
    result = secant.assess(y, p, sample_weight=w, confidence_level=level, method="asymptotic")
    text = str(result)
    low, high, direction, points, percent, *limits, n = FOUND.search(text).groups()
    worst = result.worst
    assert (number(low), number(high)) == (round(worst.low, 3), round(worst.high, 3))
    assert direction == worst.direction == ("too high" if power > 1 else "too low")
    assert number(points) == rounded(100 * abs(worst.miscalibration))
    assert percent == f"{100 * level:g}%"
    sizes = sorted(100 * math.copysign(1, worst.miscalibration) * limit for limit in worst.ci)
    assert [number(limit) for limit in limits] == [rounded(size) for size in sizes]
    assert number(n) == worst.n

    *r, r_method, mad, mad_sigma, mad_p, mad_method = STATISTICS.search(text).groups()
    assert [number(part) for part in r] == [
        rounded(result.ecce_r.value), rounded(result.ecce_r.normalized),
        rounded(result.ecce_r.pvalue, 2),
    ]  # fmt: skip
    assert [number(mad), number(mad_sigma), number(mad_p)] == [
        rounded(result.ecce_mad.value), rounded(result.ecce_mad.normalized),
        rounded(result.ecce_mad.pvalue, 2),
    ]  # fmt: skip
    assert r_method == mad_method == "asymptotic"
    assert "4,000 predictions: mean forecast " in text
    # The effect comes before the P-value, which is never called significant.
    assert text.index(" points ") < text.index("(P ")
    assert "significan" not in text.lower()


def test_words_when_nothing_is_found():
    y, p = miscalibrated(5000, power=1, seed=4)
    result = secant.assess(y, p, method="asymptotic")
    text = str(result)
    assert result.ecce_r.pvalue > 0.05
    said = re.match(
        rf"No miscalibration found\. With 5,000 predictions an ECCE-R of ({NUMBER}) or more would "
        r"almost surely have shown\.\n",
        text,
    )
    # Somewhat more than the critical value, far less than several times it.
    critical = null.range.isf(0.05) * result.sigma
    assert critical < number(said[1]) < 3 * critical
    assert STATISTICS.search(text)
    # Calibration is never claimed.
    assert not re.search(r"\b(is|are|well|perfectly) calibrated", text)


def case(y, p, **options):
    return np.array(y), np.array(p, float), {"method": "asymptotic", **options}


rare = case([0] * 1999 + [1], np.full(2000, 1e-3) + np.linspace(0, 1e-4, 2000))
NOTES = {
    "one row": (case([1], [0.3]), r"^No miscalibration found\. 1 prediction can show next to"),
    "one row, wrong": (case([1], [0.001], method="auto"), r"^Miscalibrated\..*; 1 prediction\)"),
    "certain and right": (case([0, 1, 1], [0, 1, 1]), r"^No misc\w+ found\. Every score is 0 or 1"),
    "certain and wrong": (case([1, 0, 1], [0, 1, 1]), r"^ECCE-R .* infinitely many .*\(P = 0, "),
    "one forbidden row": (
        case([0, 1, 1, 0, 1], [0.2, 0.0, 0.7, 0.4, 1.0]),
        r"^Note: 1 response \(first at row 1\) had a score of exactly 0 or 1",
    ),
    "forbidden rows": (
        case([0, 1, 1, 0, 1], [0.2, 0.9, 0.0, 1.0, 1.0]),
        r"^Note: 2 responses \(first at row 2\) had a score of exactly 0 or 1",
    ),
    "no events": (case([0] * 50, np.linspace(0.1, 0.9, 50)), r"^Note: The event never happened"),
    "only events": (case([1] * 50, np.linspace(0.1, 0.9, 50)), r"^Note: The event always happened"),
    "few events expected": (rare, r"^Note: Few events were expected"),
    "few non-events expected": (case(1 - rare[0], 1 - rare[1]), r"^Note: Few events were expected"),
    "one heavy row": (
        case([0, 1] * 200, np.linspace(0.1, 0.9, 400), sample_weight=[100] + [1] * 399),
        r"^Note: Few rows carry most of the weighted variance",
    ),
    "few distinct scores": (
        case([0, 1] * 200, np.arange(400) % 7 / 8 + 0.05), r"^Note: Only 7 distinct scores"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("data", "says"), NOTES.values(), ids=NOTES)
def test_words_of_special_cases(data, says):
    y, p, options = data
    result = secant.assess(y, p, **options)
    assert re.search(says, str(result), re.MULTILINE)
    beyond = {0: "", 1: " beyond an impossible outcome", 2: " beyond 2 impossible outcomes"}
    headline = f"No miscalibration found{beyond[result.n_forbidden]}"
    assert re.match(rf"(Miscalibrated|{headline})\. \S", str(result))
    assert STATISTICS.search(str(result))
    notes = re.findall(r"^Note: (.*)$", str(result), re.MULTILINE)
    assert tuple(notes) == result.warnings
    assert re.search(r"\b1 (predictions|responses)\b", str(result)) is None


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
    named = bool(FOUND.search(str(result)))
    assert named == bool(result.intervals)
    assert bool(SOMEWHERE.search(str(result))) == (result.found and not named)
    assert result.to_dict()["where"] in " ".join(str(result).split())


def test_words_for_an_interval():
    result = secant.assess(*ORDINARY)
    assert re.fullmatch(
        rf"Scores 0\.200 to 0\.800, 5 predictions: mean forecast {NUMBER}%, happened 60(?:\.0)?%, "
        rf"miscalibration {NUMBER} points \({NUMBER} to {NUMBER}\)\.",
        str(result.between(0.15, 0.9)),
    )
    assert str(result.between(0.4, 0.5)) == "No predictions with scores from 0.400 to 0.500."
    assert "1 prediction:" in str(result.between(0.3, 0.3))


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
    assert loose.to_dict()["verdict"] == "Miscalibrated"
    assert strict.ecce_r.pvalue == loose.ecce_r.pvalue == pvalue
