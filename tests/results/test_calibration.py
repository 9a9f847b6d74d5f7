"""Results: plain frozen numbers, the answer in words, and questions asked afterwards."""

import contextlib
import dataclasses
import html.parser
import json
import math
import pickle
import re
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant import InputError, SecantError, null
from secant._results import verdict
from secant._results.parts import Statistic
from secant._results.wording import pvalue
from secant.paper import synthetic
from secant.sources import rows as row_source

EXACT = {"rel": 0, "abs": 1e-12}
RELATIVE = {"rel": 1e-12, "abs": 0}


# --- data -----------------------------------------------------------------------------------------

scores = st.one_of(
    st.floats(0, 1),
    st.integers(0, 8).map(lambda k: k / 8),
    st.tuples(st.sampled_from([0.25, 0.7]), st.integers(-9, 9).map(lambda k: k * 1e-10)).map(sum),
)


@st.composite
def predictions(draw, most=40):
    """Return labels, scores, weights (or None) and the kind of weights."""
    rows = draw(st.lists(st.tuples(st.integers(0, 1), scores), min_size=1, max_size=most))
    y, p = (np.array(column) for column in zip(*rows, strict=True))
    kind = draw(st.sampled_from([None, "sampling", "frequency"]))
    if kind is None:
        return y, p, None, "sampling"
    weight = st.integers(1, 4) if kind == "frequency" else st.floats(0.01, 100)
    return y, p, np.array(draw(st.lists(weight, min_size=len(y), max_size=len(y)))), kind


def as_many(on):
    """Send a few rows through the code for many: cut into cells, collected a few at a time."""
    limits = {"SORT_UP_TO": 0, "CHUNK": 16, "COLLECT_UP_TO": 8, "CELLS_TO_REFINE": 64}
    return mock.patch.multiple(row_source, **limits) if on else contextlib.nullcontext()


N_MANY = 200_000
MANY = {
    "spread out": lambda rng: rng.random(N_MANY),
    "skewed": lambda rng: rng.beta(0.05, 5, N_MANY),
    "tied": lambda rng: rng.integers(0, 101, N_MANY) / 100,
    "half tied": lambda rng: np.where(rng.random(N_MANY) < 0.5, 0.3, rng.random(N_MANY)),
    "clusters": lambda rng: rng.choice([0.2, 0.7], N_MANY) + 1e-9 * rng.random(N_MANY),
}


@pytest.fixture(scope="module", params=MANY)
def many(request):
    """Return labels and scores of more rows than are sorted."""
    rng = np.random.default_rng(11)
    p = MANY[request.param](rng)
    return (rng.random(N_MANY) < p**1.05).astype(int), p


def copies(y, p, w, kind):
    """Return rows with their weights, copies written out."""
    if w is None:
        w = np.ones(len(y))
    if kind == "frequency":
        return np.repeat(y, w), np.repeat(p, w), np.ones(int(w.sum()))
    return y, p, w


def assert_covers(interval, y, p, w, inside):
    """Assert that an interval says what is true of the rows inside."""
    y, p, w, total = y[inside], p[inside], w[inside], w.sum()
    assert interval.n == len(y)
    assert interval.weight == pytest.approx(w.sum() / total, **EXACT)
    if not len(y):
        values = (interval.mean_score, interval.mean_response, interval.miscalibration)
        assert all(map(math.isnan, (*values, *interval.ci)))
        return
    # Sums of w s are known to 1e-12 of all the weight, averages to that over the share.
    tight = {"rel": 0, "abs": 1e-12 / min(1, interval.weight)}
    assert interval.mean_score == pytest.approx((w * p).sum() / w.sum(), **tight)
    assert interval.mean_response == pytest.approx((w * y).sum() / w.sum(), **tight)
    assert interval.miscalibration == pytest.approx((w * (y - p)).sum() / w.sum(), **tight)


# --- plain and frozen -----------------------------------------------------------------------------

ORDINARY = ([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.6, 0.8, 0.8, 0.1])
DEGENERATE = {
    "ordinary": (ORDINARY, {}),
    "weighted": (ORDINARY, {"sample_weight": [1, 2, 0.5, 3, 1, 1]}),
    "copies": (ORDINARY, {"sample_weight": [1, 2, 0, 3, 1, 1], "weight_kind": "frequency"}),
    "numpy types": (
        (np.array([0, 1, 1], np.int8), np.array([0.2, 0.3, 0.9], np.float32)),
        {"sample_weight": np.array([1, 2, 3], np.float32), "confidence_level": np.float64(0.9)},
    ),
    "one row": (([1], [0.3]), {}),
    "one score": (([0, 1, 1], [0.5, 0.5, 0.5]), {}),
    "certain and right": (([0, 1, 1], [0.0, 1.0, 1.0]), {}),
    "certain and wrong": (([1, 0, 1], [0.0, 1.0, 1.0]), {}),
    "forbidden": (([1, 0, 1, 0], [0.0, 0.2, 0.8, 1.0]), {}),
    "never": (([0, 0, 0], [0.1, 0.2, 0.3]), {}),
    "always": (([1, 1, 1], [0.1, 0.2, 0.3]), {}),
    "no difference at all": (([0, 1], [0.5, 0.5]), {}),
    "smallest double": (([0, 1], [5e-324, 1 - 2**-53]), {}),
    "far beyond doubles": ((np.ones(5000, int), np.linspace(0.4, 0.6, 5000)), {}),
    "random ties": (ORDINARY, {"ties": "random", "rng": 1}),
}
every_case = pytest.mark.parametrize(("data", "options"), DEGENERATE.values(), ids=DEGENERATE)


def public(result):
    return [field.name for field in dataclasses.fields(result) if not field.name.startswith("_")]


def assert_plain(value):
    """Assert that a result is made of Python's own numbers, texts and tuples all the way down."""
    if dataclasses.is_dataclass(value):
        for name in public(value):
            assert_plain(getattr(value, name))
    elif type(value) is tuple:
        for item in value:
            assert_plain(item)
    else:
        assert type(value) in (int, float, str, bool, type(None)), (type(value), value)


@every_case
def test_numbers_are_plain(data, options):
    result = secant.assess(*data, **options)
    assert_plain(result)
    assert_plain(result.worst)
    assert_plain(result.between(0.1, 0.9))
    for function in (secant.ecce_r, secant.ecce_mad, secant.ece):
        assert type(function(*data)) is float
    error = result.ece(n_bins=np.int64(2), norm="l2")
    assert [type(getattr(error, name)) for name in public(error) if name != "bins"] == (
        [float, float, float, int, int, str, str, bool, str]
    )


def test_results_are_frozen():
    result = secant.assess(*ORDINARY)
    parts = [result, result.ecce_r, result.worst, result.curve, result.ece(), result.reliability()]
    for part in parts:
        for name in public(part):
            with pytest.raises(AttributeError):
                setattr(part, name, 0)
        with pytest.raises((AttributeError, TypeError)):
            part.something_new = 1


def test_changing_the_curve_does_not_change_the_result():
    result = secant.assess(*ORDINARY)
    with contextlib.suppress(ValueError):  # refusing is as good
        result.curve.difference[:] = 7
    assert result.curve.difference[0] == 0


def test_results_can_be_compared():
    one, two = secant.assess(*ORDINARY), secant.assess(*ORDINARY)
    assert one.ecce_r == two.ecce_r
    assert one.worst == two.worst
    for part in (lambda r: r.curve, lambda r: r.ece(), lambda r: r.reliability()):
        assert (part(one) == part(two)) in (True, False)  # an answer, not an error


@every_case
def test_to_dict_is_strict_json(data, options):
    result = secant.assess(*data, **options)
    nothing = result.between(0.4999, 0.49991)
    parts = [result, result.ecce_r, result.worst, nothing, result.reliability(n_bins=3)]
    parts += [result.ece(norm=norm, n_bins=3) for norm in ("l1", "l2", "max")]
    parts += [result.ece(n_bins=1, norm="l2", squared=True, strategy="quantile")]
    for part in parts:
        plain = part.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_options_of_numpy_types_are_plain_json_too():
    error = secant.assess(*ORDINARY).ece(n_bins=np.int8(3), norm="l2", squared=np.True_)
    json.dumps(error.to_dict(), allow_nan=False)


def test_to_dict_has_every_number_in_full():
    result = secant.assess(*ORDINARY)
    told = result.to_dict()
    for name in public(result):
        value = getattr(result, name)
        if dataclasses.is_dataclass(value):
            value = value.to_dict()
        assert told[name] == (list(value) if isinstance(value, tuple) else value), name
    assert told["worst"] == result.worst.to_dict()
    assert told["worst"]["miscalibration"] == result.worst.miscalibration
    assert told["ecce_r"]["value"] == secant.ecce_r(*ORDINARY)
    assert told["verdict"] in str(result)


def test_what_is_not_finite_becomes_none():
    told = secant.assess([1, 0, 1], [0.0, 1.0, 1.0]).to_dict()
    assert told["ecce_r"]["normalized"] is None
    assert told["ecce_r"]["log10_pvalue"] is None
    assert told["ecce_r"]["pvalue"] == 0.0
    bins = secant.assess([0, 1], [0.1, 0.9]).reliability(n_bins=3).to_dict()
    assert bins["mean_score"][1] is bins["low"][1] is None
    assert bins["count"] == [1, 0, 1]


def test_averages():
    y, p = ORDINARY
    result = secant.assess(y, p)
    assert (result.n, result.mean_score, result.base_rate) == pytest.approx(
        (6, np.mean(p), np.mean(y)), **EXACT
    )
    w = np.array([1, 2, 0.5, 3, 1, 1])
    result = secant.assess(y, p, sample_weight=w)
    assert (result.mean_score, result.base_rate) == pytest.approx(
        (np.average(p, weights=w), np.average(y, weights=w)), **EXACT
    )
    assert result.sigma == pytest.approx(
        math.sqrt((w**2 * p * (1 - np.array(p))).sum()) / w.sum(), **RELATIVE
    )


# --- the words ------------------------------------------------------------------------------------

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


def miscalibrated(n=4000, seed=0, power=1.3):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**power).astype(int), p


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


def test_a_p_value_between_wide_limits_is_a_range():
    def written(*bracket):
        return pvalue(Statistic(0.1, 1, bracket[1], 0, "certified", bracket, (0, 1)))

    assert written(0.7213, 1.0) == "= 0.72 to 1"
    assert written(0.0481, 0.0534) == "= 0.0481 to 0.0534"
    assert written(3.04e-168, 3.28e-168) == "= 3.3e-168"
    assert written(0.0, 0.31) == "= 0 to 0.31"


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
        r"^Note: One observation carries 9\d% of the variance",
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


@pytest.mark.parametrize("name", ["ordinary", "few distinct scores"])
def test_no_note_without_a_reason(name):
    y, p = miscalibrated()
    if name == "few distinct scores":  # as many as 64 are enough
        p = np.floor(p * 64) / 64 + 1 / 128
    assert secant.assess(y, p, method="asymptotic").warnings == ()
    assert secant.assess(y, p, sample_weight=np.linspace(1, 2, len(y))).warnings == ()


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
    assert bool(SOMEWHERE.search(str(result))) == (verdict.found(result) and not named)
    assert result.to_dict()["where"] in " ".join(str(result).split())


def test_words_for_pvalues_beyond_doubles():
    result = secant.assess(np.ones(5000, int), np.linspace(0.4, 0.6, 5000), method="asymptotic")
    assert result.ecce_r.pvalue == 0
    assert math.isfinite(result.ecce_r.log10_pvalue)
    mantissa, exponent = re.search(r"\(P = (\d\.\d)e(-\d+), ", str(result)).groups()
    shown = math.log10(float(mantissa)) + int(exponent)
    assert shown == pytest.approx(result.ecce_r.log10_pvalue, rel=0, abs=0.05)
    assert result.ecce_r.log10_pvalue == pytest.approx(
        null.range.logsf(result.ecce_r.normalized) / math.log(10), **RELATIVE
    )


@pytest.mark.parametrize("log10", [-400.0, -400.0001, -400.02, -400.5, -399.99, -2711.3])
def test_a_mantissa_has_one_digit_before_the_point(log10):
    shown = pvalue(
        dataclasses.replace(secant.assess(*ORDINARY).ecce_r, pvalue=0.0, log10_pvalue=log10)
    )
    assert re.fullmatch(r"= [1-9]\.\de-\d+", shown)


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


# --- P-values -------------------------------------------------------------------------------------


def statistics(result):
    return result.ecce_r, result.ecce_mad


@pytest.mark.parametrize(("label", "expected"), [(1, 0.3), (0, 1.0)])
def test_one_prediction(label, expected):
    for statistic in statistics(secant.assess([label], [0.3])):
        assert statistic.pvalue == pytest.approx(expected, **RELATIVE)
        assert statistic.value == pytest.approx(abs(label - 0.3), **EXACT)
        assert statistic.normalized == pytest.approx(abs(label - 0.3) / math.sqrt(0.21), **RELATIVE)


@pytest.mark.parametrize(
    ("n", "score"),
    [(1, 0.7), (2, 0.5), (7, 0.5), (10, 0.3), (40, 0.05), (300, 0.9), (100_000, 0.31)],
)
def test_one_distinct_score_has_the_binomial_pvalue(n, score):
    scipy_stats = optional("scipy.stats")
    law = scipy_stats.binom(n, score)
    for events in sorted({0, 1, n // 3, round(n * score), min(n, round(n * score) + 3), n}):
        y = np.arange(n) < events
        result = secant.assess(y, np.full(n, score))
        assert result.ecce_r.value == result.ecce_mad.value
        assert result.ecce_r.pvalue == result.ecce_mad.pvalue
        assert result.ecce_r.method == "exact"
        reach = abs(events - n * score) * (1 - 1e-9)
        below, above = math.floor(n * score - reach), math.ceil(n * score + reach)
        expected = 1.0 if above <= below + 1 else law.cdf(below) + law.sf(above - 1)
        # scipy itself is good to about 1e-10 in the tails of large n.
        assert result.ecce_r.pvalue == pytest.approx(
            expected, rel=1e-9 if n > 1000 else 1e-12, abs=1e-290
        )


@pytest.mark.parametrize("weight", [1.0, 2.5, 1e-3])
def test_one_distinct_score_with_equal_weights(weight):
    """The scale of sampling weights does not matter, so equal ones change nothing."""
    for y in ([1], [1, 1, 0, 1, 1, 1]):
        plain = secant.assess(y, [0.3] * len(y))
        weighted = secant.assess(y, [0.3] * len(y), sample_weight=[weight] * len(y))
        for one, other in zip(statistics(plain), statistics(weighted), strict=True):
            assert other.pvalue == pytest.approx(one.pvalue, **RELATIVE)
            assert other.method == one.method


def test_one_distinct_score_with_copies_of_rows():
    plain = secant.assess([1, 1, 1, 0, 0], [0.2] * 5)
    copied = secant.assess([1, 0], [0.2] * 2, sample_weight=[3, 2], weight_kind="frequency")
    assert copied.to_dict() == plain.to_dict()


@pytest.mark.parametrize("method", ["auto", "asymptotic"])
@pytest.mark.parametrize(
    ("y", "p"),
    [([0, 1], [0.5, 0.5]), ([0, 1, 1], [0.0, 1.0, 1.0]), ([0], [0.0]), ([1] * 9, [1.0] * 9)],
)
def test_no_difference_at_all(method, y, p):
    for statistic in statistics(secant.assess(y, p, method=method)):
        assert (statistic.value, statistic.normalized) == (0, 0)
        assert (statistic.pvalue, statistic.log10_pvalue) == (1, 0)
    assert secant.assess(y, p).worst.n == 0


@pytest.mark.parametrize("method", ["auto", "asymptotic"])
@pytest.mark.parametrize(
    ("y", "p"), [([1], [0.0]), ([0, 0, 1], [1.0, 0.0, 1.0]), ([1, 0], [0.0, 1.0])]
)
def test_certain_and_wrong(method, y, p):
    result = secant.assess(y, p, method=method)
    assert result.sigma == 0
    for statistic in statistics(result):
        assert statistic.value > 0
        assert statistic.normalized == math.inf
        assert (statistic.pvalue, statistic.log10_pvalue) == (0, -math.inf)
    assert result.forbidden == tuple(i for i in range(len(y)) if y[i] != p[i])


def test_a_forbidden_row_leaves_the_pvalue_that_of_the_statistic():
    y, p = miscalibrated(500, power=1)
    p[7], y[7], p[20], y[20] = 0.0, 1, 1.0, 0
    result = secant.assess(y, p, method="asymptotic")
    assert result.forbidden == (7, 20)
    assert result.ecce_r.pvalue == pytest.approx(
        null.range.sf(result.ecce_r.normalized), **RELATIVE
    )
    weights = np.ones(500)
    weights[7] = 0  # a row of weight zero is absent
    assert secant.assess(y, p, sample_weight=weights).forbidden == (20,)


@given(predictions())
def test_asymptotic_pvalues_are_those_of_the_limit(data):
    y, p, w, kind = data
    result = secant.assess(y, p, sample_weight=w, weight_kind=kind, method="asymptotic")
    for statistic, law in ((result.ecce_r, null.range), (result.ecce_mad, null.mad)):
        assert statistic.method == "asymptotic"
        if result.sigma > 0:
            assert statistic.normalized == pytest.approx(statistic.value / result.sigma, **RELATIVE)
        assert statistic.pvalue == pytest.approx(
            law.sf(statistic.normalized), rel=1e-12, abs=1e-300
        )
        assert statistic.bracket is None
    assert type(secant.assess(y, p, sample_weight=w, weight_kind=kind).ecce_r.method) is str


@pytest.mark.parametrize("score", [0.3, 0.05, 1e-5, 0.125])
def test_a_p_value_has_no_rounding_at_its_end(score):
    assert secant.assess([1], [score]).ecce_r.pvalue == score


@pytest.mark.parametrize("seed", range(20))
def test_averages_stay_within_their_range(seed):
    weights = np.random.default_rng(seed).random(4)
    for certain in (0, 1):
        found = secant.assess([certain] * 4, [certain] * 4, sample_weight=weights)
        for average in (found.mean_score, found.base_rate):
            assert 0 <= average <= 1
            assert average == pytest.approx(certain, abs=1e-15)


def test_advice_can_be_followed():
    rng = np.random.default_rng(0)
    scores = rng.choice([0.2, 0.5, 0.8], 300)
    happened = rng.random(300) < scores
    for weights, method in ((None, "exact"), (1 + rng.random(300), "monte-carlo")):
        rough = secant.assess(happened, scores, sample_weight=weights, method="asymptotic")
        assert f"use method='{method}'" in " ".join(rough.warnings)
        assert secant.assess(happened, scores, sample_weight=weights, method=method)


def test_random_ties_and_draws_for_weights_do_not_go_together():
    rng = np.random.default_rng(0)
    scores, weights = rng.choice([0.2, 0.5], 50), 1 + rng.random(50)
    options = {"ties": "random", "method": "monte-carlo", "rng": 0}
    with pytest.raises(InputError, match="do not go together where weights differ"):
        secant.assess(scores > 0.3, scores, sample_weight=weights, **options)
    assert "Monte Carlo" in secant.assess(scores > 0.3, scores, **options).ecce_r.method


def test_the_verdict_follows_the_pvalue():
    y, p = miscalibrated(300, seed=8, power=1.15)
    pvalue = secant.assess(y, p).ecce_r.pvalue
    assert 1e-6 < pvalue < 0.5
    strict = secant.assess(y, p, confidence_level=1 - pvalue * 0.9)
    loose = secant.assess(y, p, confidence_level=1 - pvalue * 1.1)
    assert strict.to_dict()["verdict"] == "No miscalibration found"
    assert loose.to_dict()["verdict"] == "Miscalibrated"
    assert strict.ecce_r.pvalue == loose.ecce_r.pvalue == pvalue


# --- confidence intervals (METHOD, section 5) -----------------------------------------------------


@given(predictions(), st.sampled_from([0.5, 0.95, 0.999]))
def test_intervals_of_the_metrics_and_of_every_range(data, level):
    y, p, w, kind = data
    result = secant.assess(y, p, sample_weight=w, weight_kind=kind, confidence_level=level)
    y, p, w = copies(y, p, w, kind)
    spread = (
        max(np.sqrt((w**2 * (y - p) ** 2).sum()), np.sqrt((w**2 * p * (1 - p)).sum())) / w.sum()
    )
    variance, square = (w**2 * p * (1 - p)).sum(), (w**2).sum() / (w > 0).sum()
    if 0 < variance < 10 * square:  # few events expected: two more may have been missed
        spread = math.hypot(spread, math.sqrt(2 * square) / w.sum())
    if spread > 0:
        halves = [law.isf(1 - level) * spread for law in (null.range, null.mad)]
    else:  # every score certain and right: Hoeffding's inequality
        halves = [math.sqrt(2 * math.log(2 / (1 - level)) * (w**2).sum()) / w.sum()] * 2
    # Limits end where no truth can lie: a metric is in [0, 1], a mean response as well.
    for statistic, half in zip(statistics(result), halves, strict=True):
        expected = max(statistic.value - half, 0.0), min(statistic.value + half, 1.0)
        assert statistic.ci == pytest.approx(expected, rel=1e-7, abs=1e-12)
    part = result.between(0.2, 0.8)
    if part.n:
        half = halves[0] / part.weight
        low = max(part.miscalibration - half, -part.mean_score)
        high = min(part.miscalibration + half, 1 - part.mean_score)
        assert part.ci == pytest.approx((low, high), rel=1e-7, abs=1e-9)


def test_hoeffding_where_nothing_varied():
    result = secant.assess([0] * 400, [0.0] * 400)
    assert result.ecce_r.ci == pytest.approx((0, 2.72 / 20), rel=2e-3)


# --- where ----------------------------------------------------------------------------------------


def assert_worst_attains(result, y, p, w):
    worst = result.worst
    assert abs(worst.miscalibration) * worst.weight == pytest.approx(result.ecce_r.value, **EXACT)
    assert worst.low in p
    assert worst.high in p
    assert_covers(worst, y, p, w, (worst.low <= p) & (p <= worst.high))
    assert worst.direction == ("too high" if worst.miscalibration < 0 else "too low")


@given(predictions(), st.booleans())
def test_the_worst_range_attains_ecce_r(data, cut):
    y, p, w, kind = data
    with as_many(cut):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
    if result.ecce_r.value == 0:
        assert (result.worst.n, result.worst.weight, result.worst.direction) == (0, 0, "even")
    else:
        assert_worst_attains(result, *copies(y, p, w, kind))


def test_the_worst_range_of_many_rows(many):
    y, p = many
    assert_worst_attains(secant.assess(y, p), y, p, np.ones(len(y)))
    w = np.random.default_rng(2).lognormal(0, 1, len(y))
    assert_worst_attains(secant.assess(y, p, sample_weight=w, method="asymptotic"), y, p, w)


# --- between --------------------------------------------------------------------------------------

ends = st.one_of(scores, st.floats(-2, 3), st.sampled_from([-math.inf, math.inf, 0, 1, -0.0]))


@given(predictions(), st.data(), st.booleans())
def test_between_equals_counting(data, draw, cut):
    y, p, w, kind = data
    with as_many(cut):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
        observed = st.sampled_from(p.tolist())
        for _ in range(4):
            a, b = sorted(draw.draw(st.tuples(ends | observed, ends | observed)))
            interval = result.between(a, b)
            rows = copies(y, p, w, kind)
            inside = (a <= rows[1]) & (rows[1] <= b)
            assert_covers(interval, *rows, inside)
            if not inside.any():
                assert (interval.low, interval.high) == (a, b)
                assert interval.direction == "even"
                continue
            limits = rows[1][inside].min(), rows[1][inside].max()
            assert a <= interval.low <= limits[0]
            assert limits[1] <= interval.high <= b
            if not cut:
                assert (interval.low, interval.high) == limits


def test_between_of_many_rows(many):
    y, p = many
    rng = np.random.default_rng(3)
    w = rng.lognormal(0, 1, len(y))
    plain, weighted = secant.assess(y, p), secant.assess(y, p, sample_weight=w, method="asymptotic")
    limits = [sorted(rng.random(2)) for _ in range(4)]
    limits += [sorted(rng.choice(p, 2)) for _ in range(4)]
    limits += [
        [p[5], p[5]],
        [np.nextafter(p[5], 1), np.nextafter(p[5], 1)],
        [-1, 2],
        [0.7, 0.7 + 5e-10],
    ]
    for a, b in limits:
        inside = (a <= p) & (p <= b)
        for result, weights in ((plain, np.ones(len(y))), (weighted, w)):
            interval = result.between(a, b)
            assert_covers(interval, y, p, weights, inside)
            assert a <= interval.low <= interval.high <= b
            # Whatever was counted is what the reported limits hold.
            assert interval.n == np.count_nonzero((interval.low <= p) & (p <= interval.high))


def test_answers_about_many_rows_do_not_depend_on_their_order(many):
    y, p = many
    rng = np.random.default_rng(6)
    order = rng.permutation(len(y))
    one, other = secant.assess(y, p), secant.assess(y[order], p[order])
    assert str(one) == str(other)
    assert (one.worst.low, one.worst.high, one.worst.n) == (
        other.worst.low, other.worst.high, other.worst.n,
    )  # fmt: skip
    for a, b in [sorted(rng.random(2)) for _ in range(40)]:
        first, second = one.between(a, b), other.between(a, b)
        assert (first.low, first.high, first.n) == (second.low, second.high, second.n)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        *((0.5, 0.4), (1, 0), (math.inf, -math.inf)),
        *((math.nan, 0.5), (0.5, math.nan), (math.nan, math.nan)),
        *((None, 0.5), (0.5, None), ("0.1", "0.5"), (0.1j, 0.5)),
        *(([0.1], [0.5]), (np.array([0.1, 0.2]), 0.5)),
    ],
    ids=str,
)
def test_limits_that_are_refused(a, b):
    with pytest.raises(InputError, match=r"between\(a, b\)"):
        secant.assess(*ORDINARY).between(a, b)


def test_limits_of_any_number_type():
    result = secant.assess(*ORDINARY)
    expected = result.between(0.25, 0.5)
    for a, b in ((np.float32(0.25), np.float32(0.5)), (np.float64(0.25), np.float64(0.5))):
        assert result.between(a, b) == expected
    assert result.between(0, 1).n == result.between(False, True).n == 6
    assert_plain(result.between(np.float32(0.25), np.int64(1)))
    assert_plain(result.between(np.float32(2), np.int64(3)))


# --- after the rows are gone ----------------------------------------------------------------------


def gone(result):
    return pickle.loads(pickle.dumps(result))  # noqa: S301


def assert_snaps_outward(result, limits, y, p, w):
    a, b = limits
    interval = result.between(a, b)
    asked, covered = (a <= p) & (p <= b), (interval.low <= p) & (p <= interval.high)
    assert not (asked & ~covered).any()
    if interval.n:
        assert_covers(interval, y, p, w, covered)
    else:
        assert not asked.any()
    return interval


@given(predictions(), st.data(), st.booleans())
def test_a_pickled_result_says_what_it_covers(data, draw, cut):
    y, p, w, kind = data
    with as_many(cut):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
        stored = gone(result)
    assert str(stored) == str(result)
    assert stored.to_dict() == result.to_dict()
    a, b = sorted(draw.draw(st.tuples(ends, ends)))
    assert_snaps_outward(stored, (a, b), *copies(y, p, w, kind))


def test_a_pickled_result_of_many_rows(many):
    y, p = many
    rng = np.random.default_rng(4)
    for weights in (None, rng.lognormal(0, 1, len(y))):
        result = secant.assess(y, p, sample_weight=weights, method="asymptotic")
        stored = gone(result)
        assert (str(stored), stored.to_dict()) == (str(result), result.to_dict())
        w = np.ones(len(y)) if weights is None else weights
        for limits in [sorted(rng.random(2)) for _ in range(5)] + [[p[3], p[3]], [0, 1]]:
            interval = assert_snaps_outward(stored, limits, y, p, w)
            # Outward, but not far: a cell at either end.
            assert interval.n <= result.between(*limits).n + len(y) / 20
    whole = stored.between(0, 1)
    assert (whole.n, whole.weight) == (len(y), pytest.approx(1, **EXACT))


def test_a_pickled_result_of_few_rows_stays_exact():
    y, p = miscalibrated(500)
    result, stored = secant.assess(y, p), gone(secant.assess(y, p))
    assert stored.between(0.2, 0.7) == result.between(0.2, 0.7)
    assert stored.ece(norm="l2").to_dict() == result.ece(norm="l2").to_dict()


def test_bins_of_many_rows_need_the_rows(many):
    stored = gone(secant.assess(*many))
    with pytest.raises(InputError, match="gone"):
        stored.ece()
    with pytest.raises(InputError, match="gone"):
        stored.reliability()


def test_bins_across_cells_need_the_rows():
    """Groups of an engine, and classes of many rows, keep sums for bins but not every score."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(20, 0.3), 70_000)
    truth = (probs.cumsum(axis=1) < rng.random((70_000, 1))).sum(axis=1)
    found = secant.assess_classes(truth, probs, kind="one-vs-rest", draws=9)[3]
    assert found.ece().value > 0
    stored = gone(found)
    if stored._blocks.moments is not None:
        assert stored._blocks.open.any()
    with pytest.raises(InputError, match="gone"):
        stored.ece(n_bins=1000)


def test_a_pickled_result_leaves_the_rows_behind():
    y, p = miscalibrated(2_000_000)
    stored = pickle.dumps(secant.assess(y, p))
    assert len(stored) < p.nbytes / 4
    assert p[1000:1010].tobytes() not in stored


# --- data changed after they were assessed --------------------------------------------------------

# The argument that is changed (0 labels, 1 scores, 2 weights), and how.
CHANGES = {
    "other scores": (1, lambda p: np.square(p, out=p)),
    "shuffled scores": (1, np.random.default_rng(0).shuffle),
    "scores not there": (1, lambda p: p.fill(math.nan)),
    "scores out of range": (1, lambda p: p.fill(7)),
    "one score for all": (1, lambda p: p.fill(0.125)),
    "other labels": (0, lambda y: np.subtract(1, y, out=y)),
    "labels of another code": (0, lambda y: y.fill(-7)),
    "other weights": (2, lambda w: np.square(w, out=w)),
    "weights all zero": (2, lambda w: w.fill(0)),
}


@pytest.mark.parametrize(("position", "change"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("n", [1000, N_MANY])
def test_data_changed_in_place(position, change, n):
    """Every later answer is either the one for the data that were assessed, or a refusal."""
    y, p = miscalibrated(n)
    w = np.linspace(1, 2, n)
    questions = [
        lambda r: r.between(0.300001, 0.6).to_dict(),
        lambda r: r.ece(norm="l2").to_dict(),
        lambda r: r.reliability(strategy="quantile").to_dict(),
        lambda r: (str(r), r.to_dict(), r.curve.difference.tolist()),
    ]
    before = [
        question(secant.assess(y, p, sample_weight=w, method="asymptotic"))
        for question in questions
    ]
    for question, expected in zip(questions, before, strict=True):
        columns = y.copy(), p.copy(), w.copy()
        result = secant.assess(*columns[:2], sample_weight=columns[2], method="asymptotic")
        change(columns[position])
        try:
            answer = question(result)
        except SecantError as error:
            assert n > row_source.SORT_UP_TO, "few rows are kept as they were"
            assert "changed" in str(error)  # noqa: PT017
        else:
            assert answer == expected


# --- the curve ------------------------------------------------------------------------------------


def assert_curve(result, y, p, w):
    curve = result.curve
    assert len(curve.score) == len(curve.fraction) == len(curve.difference)
    assert (curve.fraction[0], curve.difference[0]) == (0, 0)
    assert curve.fraction[-1] == pytest.approx(1, **EXACT)
    assert curve.score[0] <= p.min()
    assert p.max() <= curve.score[-1] <= 1
    assert (np.diff(curve.score[1:]) > 0).all()
    assert (np.diff(curve.fraction) > 0).all()
    order = np.argsort(p, kind="stable")
    after = np.searchsorted(p[order], curve.score[1:], side="right")
    for column, gains in ((curve.fraction, w), (curve.difference, w * (y - p))):
        expected = np.concatenate([[0], np.cumsum(gains[order])])[after] / w.sum()
        assert np.abs(column[1:] - expected).max() <= 1e-12
    assert np.ptp(curve.difference) == pytest.approx(result.ecce_r.value, **EXACT)
    assert np.abs(curve.difference).max() == pytest.approx(result.ecce_mad.value, **EXACT)


@given(predictions(), st.booleans())
def test_the_curve_is_exact_at_every_point(data, cut):
    y, p, w, kind = data
    with as_many(cut):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
    if not cut:
        assert result.curve.score[1:].tolist() == sorted(set(p.tolist()))
    assert_curve(result, *copies(y, p, w, kind))


def test_the_curve_of_many_rows(many):
    y, p = many
    assert_curve(secant.assess(y, p), y, p, np.ones(len(y)))
    w = np.random.default_rng(5).lognormal(0, 1, len(y))
    result = secant.assess(y, p, sample_weight=w, method="asymptotic")
    assert_curve(result, y, p, w)
    assert_curve(gone(result), y, p, w)


# --- bins -----------------------------------------------------------------------------------------

OPTIONS = [
    {"strategy": strategy, "norm": norm, "squared": squared, "weighting": weighting}
    for strategy in ("uniform", "quantile")
    for norm, squared in (("l1", False), ("l2", False), ("l2", True), ("max", False))
    for weighting in ("count", "width")
]


@pytest.mark.parametrize("n", [700, N_MANY])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(map(str, o.values())))
def test_both_ways_to_the_binned_error_agree(options, n):
    rng = np.random.default_rng(n)
    p = MANY["half tied"](rng)[:n]
    y = (rng.random(n) < p**1.05).astype(int)
    for weights in (None, np.linspace(0.5, 2, n)):
        error = secant.assess(y, p, sample_weight=weights, method="asymptotic").ece(
            n_bins=10, **options
        )
        direct = secant.ece(y, p, n_bins=10, sample_weight=weights, **options)
        assert error.value == pytest.approx(direct, **EXACT)
        assert {name: getattr(error, name) for name in options} == options
        assert error.n_bins == len(error.bins.count) == 10


@given(predictions(), st.integers(1, 20), st.booleans())
@example((np.array([0, 1, 1]), np.array([0.0, 1 / 3, 2 / 3]), None, "sampling"), 3, False)
def test_uniform_bins_equal_counting(data, m, cut):
    y, p, w, kind = data
    with as_many(cut):
        bins = secant.assess(y, p, sample_weight=w, weight_kind=kind).reliability(n_bins=m)
    y, p, w = copies(y, p, w, kind)
    edges = [b / m for b in range(m + 1)]
    assert bins.edges.tolist() == edges
    for b in range(m):
        inside = (p <= edges[b + 1]) & ((p > edges[b]) if b else True)
        assert bins.count[b] == inside.sum()
        assert bins.weight[b] == pytest.approx(w[inside].sum() / w.sum(), **EXACT)
        if inside.any():
            loose = {"rel": 0, "abs": 1e-12 / min(1, bins.weight[b])}
            assert bins.mean_score[b] == pytest.approx(
                np.average(p[inside], weights=w[inside]), **loose
            )
            assert bins.mean_response[b] == pytest.approx(
                np.average(y[inside], weights=w[inside]), **loose
            )
        else:
            empty = (bins.mean_score, bins.mean_response, bins.low, bins.high)
            assert np.isnan([column[b] for column in empty]).all()


@pytest.mark.parametrize(("n", "m"), [(10, 1), (10, 3), (10, 10), (103, 7)])
def test_quantile_bins_of_distinct_scores(n, m):
    rng = np.random.default_rng(n * m)
    y, p = rng.integers(0, 2, n), rng.permutation(np.linspace(0.01, 0.99, n))
    bins = secant.assess(y, p).reliability(n_bins=m, strategy="quantile")
    order, q = np.argsort(p), n // m
    groups = [order[b * q : (b + 1) * q if b < m - 1 else n] for b in range(m)]
    assert bins.count == pytest.approx([len(group) for group in groups], **EXACT)
    assert bins.mean_score == pytest.approx([p[group].mean() for group in groups], **EXACT)
    assert bins.mean_response == pytest.approx([y[group].mean() for group in groups], **EXACT)
    assert bins.edges.tolist() == [p[group[0]] for group in groups] + [1.0]


def test_a_tie_across_a_quantile_edge_is_shared():
    # Two bins of three rows: the first holds the row at 0.2 and two thirds of the tie at 0.4.
    y, p = np.array([1, 1, 0, 0, 0, 1]), np.array([0.2, 0.4, 0.4, 0.4, 0.9, 0.9])
    for order in (np.arange(6), np.arange(6)[::-1], np.array([3, 0, 5, 2, 4, 1])):
        bins = secant.assess(y[order], p[order]).reliability(n_bins=2, strategy="quantile")
        assert bins.count == pytest.approx([3, 3], **EXACT)
        assert bins.mean_score == pytest.approx([1 / 3, (0.4 + 1.8) / 3], **EXACT)
        assert bins.mean_response == pytest.approx([(1 + 2 / 3) / 3, (1 / 3 + 1) / 3], **EXACT)
        assert bins.edges.tolist() == [0.2, 0.4, 1.0]


@given(predictions(), st.integers(1, 5), st.sampled_from(["uniform", "quantile"]))
def test_bins_of_copies_equal_bins_of_repeated_rows(data, m, strategy):
    y, p, w, _ = data
    w = np.ones(len(y), int) if w is None else np.ceil(w % 5).astype(int) + 1
    m = min(m, len(y))
    copied = secant.assess(y, p, sample_weight=w, weight_kind="frequency")
    repeated = secant.assess(np.repeat(y, w), np.repeat(p, w))
    one, two = (r.reliability(n_bins=m, strategy=strategy) for r in (copied, repeated))
    for name in ("edges", "count", "weight", "mean_score", "mean_response", "low", "high"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), nan_ok=True, **EXACT)


@pytest.mark.parametrize("limits", ["clopper-pearson", "wilson"])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_limits_of_bins(limits, level):
    scipy_stats = optional("scipy.stats")
    rng = np.random.default_rng(1)
    p = rng.random(400) ** 3
    y = rng.random(400) < p
    y[p > 0.9], y[p < 0.1] = True, False  # bins without failures, without events
    bins = secant.assess(y, p, confidence_level=level).reliability(n_bins=10, limits=limits)
    assert (bins.limits, bins.confidence_level, bins.strategy) == (limits, level, "uniform")
    method = {"clopper-pearson": "exact", "wilson": "wilson"}[limits]
    for b in range(10):
        inside = (p > b / 10) & (p <= (b + 1) / 10)
        test = scipy_stats.binomtest(int(y[inside].sum()), int(inside.sum()))
        expected = test.proportion_ci(level, method)
        # binomtest finds the exact limits by bisection, to about 1e-12.
        assert (bins.low[b], bins.high[b]) == pytest.approx(expected, rel=0, abs=1e-11)
    assert 0 in bins.low
    assert 1 in bins.high


def test_limits_of_weighted_bins_use_the_effective_number():
    y, p = miscalibrated(1000)
    equal = secant.assess(y, p, sample_weight=np.full(1000, 3.0)).reliability()
    plain = secant.assess(y, p).reliability()
    assert equal.low == pytest.approx(plain.low, **EXACT)
    uneven = secant.assess(
        y, p, sample_weight=np.where(np.arange(1000) % 2, 1.0, 20.0)
    ).reliability()
    assert (uneven.high - uneven.low > plain.high - plain.low).all()


def test_a_bin_of_very_unequal_weights():
    """One row that dwarfs the others of its bin must not end in a division by zero."""
    error = secant.assess([0, 1], [0.1, 0.15], sample_weight=[1, 1e-20]).ece(n_bins=2, norm="l2")
    assert math.isfinite(error.debiased)
    json.dumps(error.to_dict(), allow_nan=False)


def test_bins_of_single_rows_are_counted():
    error = secant.assess([0, 1, 1], [0.1, 0.15, 0.9]).ece(n_bins=4, norm="l2", squared=True)
    assert error.dropped_bins == 1
    assert secant.assess([0, 1, 1], [0.1, 0.15, 0.9]).ece(n_bins=4).dropped_bins == 0  # l1: none


# --- random ties ----------------------------------------------------------------------------------


def test_random_ties_are_reproducible():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 500), rng.integers(0, 5, 500) / 4
    assess = [secant.assess(y, p, ties="random", rng=seed).to_dict() for seed in (1, 1, 2, 3)]
    assert assess[0] == assess[1]
    assert len({told["ecce_r"]["value"] for told in assess}) == 3
    generator = secant.assess(y, p, ties="random", rng=np.random.default_rng(1)).to_dict()
    assert generator == assess[0]
    # Within a tie the path can only go further than between ties.
    collapsed = secant.assess(y, p)
    assert min(told["ecce_r"]["value"] for told in assess) >= collapsed.ecce_r.value - 1e-12
    assert assess[0]["sigma"] == pytest.approx(collapsed.sigma, **RELATIVE)


@pytest.mark.parametrize("n", [1, 2, 300, N_MANY])
@pytest.mark.parametrize("weighted", [False, True])
def test_random_ties_change_nothing_where_scores_are_distinct(n, weighted):
    rng = np.random.default_rng(n)
    p = rng.permutation(np.linspace(0, 1, n + 2)[1:-1])
    y = rng.random(n) < p
    w = rng.random(n) + 0.5 if weighted else None
    options = {"sample_weight": w, "method": "asymptotic"}
    shuffled = secant.assess(y, p, ties="random", rng=0, **options)
    collapsed = secant.assess(y, p, **options)
    for one, other in zip(statistics(shuffled), statistics(collapsed), strict=True):
        assert one.value == pytest.approx(other.value, **EXACT)
        assert one.pvalue == pytest.approx(other.pvalue, rel=1e-9)
    worst = shuffled.worst, collapsed.worst
    assert [(w.low, w.high, w.n) for w in worst[:1]] == [(w.low, w.high, w.n) for w in worst[1:]]
    assert shuffled.ece(n_bins=1).value == pytest.approx(collapsed.ece(n_bins=1).value, **EXACT)
