"""The graph of cumulative differences, described: its marks, its axes and its words."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import secant
from datasets import datasets
from secant._drawing.chart import Space
from secant._drawing.findings import findings
from secant._drawing.graph import Bare, _inside, cumulative, spark
from secant.paper import synthetic

DESK, PHONE = Space(6.0, 3.5, 10), Space(3.2, 2.5, 9)
NOISE = "noise, \N{PLUS-MINUS SIGN}2\N{GREEK SMALL LETTER SIGMA}"


@pytest.fixture(scope="module")
def paper():
    n, family = 32768, "square rooted"
    return secant.assess(synthetic.responses(n, family)[0], synthetic.scores(n, family))


def described(result, space=DESK, **options):
    return cumulative([result], space, found=[findings(result)], **options)


def words(chart, *roles):
    return [mark.says for mark in chart.of(*roles)]


def box(mark, chart, space):
    """Return where a text stands, as shares of the axes: left, right, bottom, top."""
    width, line = space.share(mark.says, mark.role), space.line
    x = float(mark.x > 0) if math.isinf(mark.x) else chart.x.share(mark.x)
    y = float(mark.y > 0) if math.isinf(mark.y) else chart.y.share(mark.y)
    right = ("e" in mark.anchor) - ("w" in mark.anchor)
    up = ("n" in mark.anchor) - ("s" in mark.anchor)
    left = x - width * (1 - right) / 2
    middle = y + up * line * (0.5 + mark.row)
    return left, left + width, middle - line / 2, middle + line / 2


@given(datasets(most=80))
@settings(max_examples=30)
def test_marks_are_the_numbers(data):
    y, p, w = data
    result = secant.assess(y, p, sample_weight=w)
    chart = described(result)
    [curve], [triangle] = chart.of("curve"), chart.of("triangle")
    assert (curve.x == result.curve.fraction).all()
    assert (curve.y == result.curve.difference).all()
    assert triangle.y.tolist() == [-2 * result.noise, 2 * result.noise, 0]
    found = findings(result)
    for secant_, each in zip(chart.of("secant"), found, strict=True):
        assert np.column_stack([secant_.x, secant_.y]).tolist() == each.ends.tolist()
        assert secant_.mood == each.mood
    assert len(chart.of("shade")) == len(found)


@given(datasets(most=80), st.sampled_from([DESK, PHONE]), st.booleans())
@settings(max_examples=60)
def test_words_stand_inside_and_clear_of_the_curve(data, space, band):
    y, p, w = data
    result = secant.assess(y, p, sample_weight=w)
    chart = described(result, space, bands=[2 * result.noise] if band else [])
    [curve] = chart.of("curve")
    assert chart.y.low < curve.y.min() <= curve.y.max() < chart.y.high
    for mark in [each for each in chart.marks if each.kind == "text"]:
        left, right, bottom, top = box(mark, chart, space)
        assert bottom >= -1e-9
        assert top <= 1 + 1e-9
        inside = (curve.x >= left) & (curve.x <= right)
        ends = np.interp(np.clip([left, right], 0, 1), curve.x, curve.y)
        heights = chart.y.share(np.concatenate([curve.y[inside], ends]))
        assert heights.max() <= bottom + 1e-9 or heights.min() >= top - 1e-9, mark.says


def test_what_was_found_is_said_with_its_ranges(paper):
    chart = described(paper)
    assert words(chart, "head", "note") == [
        "Too extreme",
        "+ too low by 12.4 points (5.46 to 19.3) over scores 0.026 to 0.292",
        "\N{MINUS SIGN} too high by 2.51 points (1.87 to 3.15) over scores 0.292 to 1.000",
    ]
    assert [mark.mood for mark in chart.of("head", "note")] == ["ink", "low", "high"]
    assert words(described(paper, PHONE), "head", "note")[1:] == [
        "+ too low by 12.4 points",
        "\N{MINUS SIGN} too high by 2.51 points",
    ]
    # Each range has its sign at its foot, for those who see no colours.
    assert words(chart, "sign") == ["+", "\N{MINUS SIGN} too high"]


def test_one_direction_is_said_with_its_range():
    rng = np.random.default_rng(1)
    p = rng.random(4000)
    chart = described(secant.assess(rng.random(4000) < p**2, p))
    assert words(chart, "head", "note") == [
        "Too high by 18.0 points", "scores 9.6e-05 to 0.963; 95% limits 16.3 to 19.6",
    ]  # fmt: skip
    assert [mark.mood for mark in chart.of("head", "note")] == ["high", ""]


def test_noise_has_no_direction():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    chart = described(secant.assess(rng.random(500) < p, p))
    assert words(chart, "head") == ["Could be noise"]
    assert {mark.mood for mark in chart.of("secant", "shade")} == {"unsure"}
    said = " ".join(mark.says for mark in chart.marks)
    assert "too high" not in said
    assert "too low" not in said


def test_the_noise_is_named_after_what_is_in_it():
    rows = ([0, 1] * 40, [0.4, 0.6] * 40)
    together = secant.assess(*rows, clusters=[i // 2 for i in range(80)])
    assert words(cumulative([secant.assess(*rows)], DESK), "hint") == [NOISE]
    assert words(cumulative([together], DESK), "hint") == ["noise in clusters"]
    sure = secant.assess([0, 1], [0.0, 1.0])  # without noise
    assert words(cumulative([sure], DESK), "hint") == []


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_band_says_what_it_is(level):
    result = secant.assess([0, 1, 1, 0, 1], [0.1, 0.2, 0.5, 0.6, 0.7], confidence_level=level)
    chart = cumulative([result], DESK, bands=[0.3])
    [band] = chart.of("band")
    assert (band.y.min(), band.y.max()) == (-0.3, 0.3)
    assert f"{100 * level:g}% of calibrated curves stay inside" in words(chart, "hint")


def test_of_several_no_words_are_written(paper):
    for options in ({"results": [paper, paper]}, {"results": [paper], "first": 1}):
        chart = cumulative(space=DESK, found=[findings(paper)] * 2, **options)
        assert words(chart, "head", "note", "sign", "hint") == []
    assert [mark.number for mark in chart.of("curve")] == [1]


def test_the_ordinate_has_room_for_what_is_there_and_for_what_comes(paper):
    plain = cumulative([paper], DESK)
    for more in (
        cumulative([paper], DESK, heights=[-1.0, 1.0]),
        cumulative([paper], DESK, legend=3, foot=1),
        described(paper),
    ):
        assert more.y.low <= plain.y.low
        assert more.y.high > plain.y.high


def test_axes_are_named_after_what_is_added_up(paper):
    chart = cumulative([paper], DESK)
    assert chart.x.name == "Score (small ticks: steps of 0.01)"
    assert chart.y.name == "Cumulative difference (outcome \N{MINUS SIGN} forecast)"
    assert chart.top.name == "Fraction of predictions"
    assert chart.says.startswith("Cumulative difference")
    weighted = secant.assess([0, 1], [0.2, 0.6], sample_weight=[1, 3])
    assert cumulative([weighted], DESK).top.name == "Fraction of weight"
    half = np.linspace(0.5, 1.5, 50)
    covered = secant.assess_coverage(np.linspace(-2, 2, 50), -half, half, 0.9)
    chart = cumulative([covered], DESK)
    assert chart.y.short == "Covered \N{MINUS SIGN} promised"
    assert chart.top.name == "Fraction of intervals"


def test_few_scores_get_a_part_of_the_axis_each():
    rng = np.random.default_rng(0)
    p = rng.choice([0.1, 0.3, 0.9], 300)
    axis = cumulative([secant.assess(rng.random(300) < p, p)], DESK).x
    assert [text for _, text in axis.ticks(6, 10)] == ["0.10", "0.30", "0.90"]
    assert axis.parts
    assert len(axis.minor) == 4


def test_long_curves_are_thinned_with_their_extremes():
    rng = np.random.default_rng(0)
    p = rng.random(100_000)
    whole = secant.assess(rng.random(100_000) < p, p, method="asymptotic")
    [drawn] = cumulative([whole], DESK, columns=300).of("curve")
    assert len(drawn.x) <= 1200 < len(whole.curve.fraction)
    assert drawn.y.max() - drawn.y.min() == whole.ecce_r.value
    [spark_] = spark(whole).of("curve")
    assert len(spark_.x) <= 48


def test_a_bare_curve_is_drawn_like_a_result(paper):
    bare, chart = cumulative([Bare(paper.curve, paper.noise)], DESK), cumulative([paper], DESK)
    assert (bare.of("curve")[0].y == chart.of("curve")[0].y).all()
    assert (bare.y, bare.title) == (chart.y, chart.title)
    noise = SimpleNamespace(curve=paper.curve, noise=paper.noise, weighted=True)
    assert cumulative([noise], DESK).top.name == "Fraction of weight"


@given(st.floats(0, 1), st.floats(0, 0.98))
def test_a_text_is_written_where_it_does_not_leave_the_axes(center, width):
    place, anchor = _inside(center, width)
    left = place - {"se": 0, "s": width / 2, "sw": width}[anchor]
    assert left >= 0.01 - 1e-12
    assert left + width <= 0.99 + 1e-12
    assert anchor != "s" or place == center
