"""The graph of cumulative differences: what is drawn equals the numbers."""

import numpy as np
import pytest
from hypothesis import given, settings

import secant
from datasets import datasets
from helpers import optional
from secant import CumulativeDisplay, InputError, null
from secant._drawing.findings import in_short
from secant._drawing.style import COLORS

optional("matplotlib")
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


def axes(width=7.2, height=4.8, **options):
    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure.subplots()


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


# Drawing is slow, so laws are tried on fewer examples than elsewhere.

# One model ----------------------------------------------------------------------------------------


@given(datasets(most=80))
@settings(max_examples=30)
def test_what_is_drawn_equals_the_numbers(data):
    y, p, w = data
    result = secant.assess(y, p, sample_weight=w)
    display = CumulativeDisplay(result).plot(axes())
    [curve] = display.curves
    assert curve is result.curve
    assert (display.line_.get_xdata() == curve.fraction).all()
    assert (display.line_.get_ydata() == curve.difference).all()
    [triangle] = display.triangles_
    heights = triangle.get_xy()[:, 1]
    assert heights.max() - heights.min() == 4 * result.sigma
    assert (heights.max(), heights.min()) == (2 * result.sigma, -2 * result.sigma)
    assert set(triangle.get_xy()[:, 0]) == {0, 0.025}


@given(datasets(most=80))
@settings(max_examples=15)
def test_secants_have_the_slopes_of_what_was_found(data):
    y, p, w = data
    result = secant.assess(y, p, sample_weight=w)
    display = CumulativeDisplay(result).plot(axes())
    (_, y0), (_, y1) = display.secants[0]
    assert abs(y1 - y0) == pytest.approx(result.ecce_r.value, abs=1e-12)
    if not result.worst.n:
        assert display.secants_ == display.notes_ == display.shades_ == []
        return
    [found] = display.findings
    assert {each.range for each in found} == set(result.intervals or [result.worst])
    for line, shade, each in zip(display.secants_, display.shades_, found, strict=True):
        (x0, y0), (x1, y1) = line.get_xydata()
        assert x1 - x0 == pytest.approx(each.range.weight, abs=1e-12)
        assert y1 - y0 == pytest.approx(each.range.total, abs=1e-12)
        expected = COLORS[f"{each.mood}-line"][0]
        assert to_hex(line.get_color()) == to_hex(shade.get_facecolor()) == expected
    assert display.notes_[0].get_text().lower() == in_short(result)


@given(datasets(most=40))
@settings(max_examples=30)
def test_every_kind_of_data_can_be_rendered(data):
    y, p, w = data
    display = secant.assess(y, p, sample_weight=w).plot(axes(4, 3, layout="constrained"), band=True)
    display.figure_.canvas.draw()
    low, high = display.ax_.get_ylim()
    drawn = display.line_.get_ydata()
    assert low < min(drawn.min(), -2 * display.sigmas[0])
    assert high > max(drawn.max(), 2 * display.sigmas[0])


def drawn_height(patch):
    paths = patch.get_paths() if hasattr(patch, "get_paths") else [patch.get_path()]
    return paths[0].vertices[:, 1].max()


def test_clusters_widen_the_triangle_and_the_band_by_what_they_add_to_noise():
    rng = np.random.default_rng(0)
    cluster, score = np.repeat(np.arange(400), 9), rng.uniform(0.2, 0.8, 400)
    happened = rng.random(400) < score
    alone = secant.assess(happened, score).plot(axes(), band=True)
    rows = (happened[cluster], score[cluster])  # nine times each says no more than once
    together = secant.assess(*rows, clusters=cluster).plot(axes(), band=True)
    assert together.sigmas[0] == pytest.approx(alone.sigmas[0] / 3, rel=1e-12)
    for name in ("bands_", "triangles_"):
        [one], [other] = getattr(alone, name), getattr(together, name)
        tops = [drawn_height(each) for each in (one, other)]
        assert tops[1] == pytest.approx(tops[0], rel=0.1)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_band_is_the_critical_value_of_ecce_mad(level):
    y, p = [0, 1, 1, 0, 1], [0.1, 0.2, 0.5, 0.6, 0.7]
    result = secant.assess(y, p, confidence_level=level)
    display = result.plot(axes(), band=True)
    [band] = display.bands_
    heights = band.get_path().vertices[:, 1]
    assert display.bands[0] == pytest.approx(null.mad.isf(1 - level) * result.sigma, rel=1e-12)
    assert (heights.min(), heights.max()) == (-display.bands[0], display.bands[0])
    assert any(f"{100 * level:g}% of" in text.get_text() for text in display.ax_.texts)
    assert result.plot(axes()).bands_ == []


def test_the_abscissa_is_cumulative_weight():
    y, p, w = [0, 1, 1], [0.2, 0.5, 0.5], [3.0, 1.0, 2.0]
    display = CumulativeDisplay.from_predictions(y, p, sample_weight=w, ax=axes())
    assert display.line_.get_xdata() == pytest.approx([0, 0.5, 1])
    assert display.line_.get_ydata() == pytest.approx([0, -0.1, 0.15])
    assert display.fraction_axis_.get_xlabel() == "Fraction of weight"


def test_frequency_weights_draw_the_repeated_rows():
    y, p, w = [0, 1, 1], [0.2, 0.5, 0.7], [3, 1, 2]
    counted = CumulativeDisplay.from_predictions(
        y, p, sample_weight=w, weight_kind="frequency", ax=axes()
    )
    repeated = CumulativeDisplay.from_predictions(np.repeat(y, w), np.repeat(p, w), ax=axes())
    assert (counted.line_.get_xydata() == repeated.line_.get_xydata()).all()
    assert counted.sigmas == pytest.approx(repeated.sigmas, rel=1e-14)
    assert counted.fraction_axis_.get_xlabel() == "Fraction of predictions"


def test_a_display_can_leave_out_the_worst_range(paper):
    display = paper.plot(axes(), worst=False)
    assert display.secants_ == display.notes_ == []
    assert display.secants.shape == (1, 2, 2)


def test_options_go_to_the_curve(paper):
    line = paper.plot(axes(), lw=3, c="green", alpha=0.5).line_
    assert (line.get_linewidth(), line.get_color(), line.get_alpha()) == (3, "green", 0.5)


# Several models -----------------------------------------------------------------------------------


def test_several_models_share_the_axes(models):
    y, forecasts = models
    display = CumulativeDisplay.from_predictions(y, forecasts, ax=axes())
    assert display.names == ("right", "high", "low")
    for line, result in zip(display.lines_, display.results, strict=True):
        assert (line.get_ydata() == result.curve.difference).all()
    words = [text.get_text() for text in display.legend_.get_texts()]
    assert words == [
        "right: could be noise",
        "high: too high by 16.2 points",
        "low: too low by 17.6 points",
    ]
    assert display.notes_ == display.shades_ == []
    expected = [COLORS[f"{mood}-line"][0] for mood in ("unsure", "high", "low")]
    assert [to_hex(line.get_color()) for line in display.secants_] == expected


@pytest.mark.parametrize("first", [0, 1])
def test_graphs_that_share_an_ordinate_are_all_in_sight(first):
    """The limits of one must not cut off the other, nor squeeze both out of the layout."""
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    drawn = rng.random(1000)
    results = [secant.assess(drawn < p**k, p, method="asymptotic") for k in (1.5, 1)]
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    beside = figure.subplots(1, 2, sharey=True)
    displays = [results[i].plot(beside[i]) for i in (first, 1 - first)]
    for _ in range(2):
        figure.draw_without_rendering()
    low, high = beside[0].get_ylim()
    for display in displays:
        heights = display.lines_[0].get_ydata()
        assert low < heights.min() < heights.max() < high
        assert display.ax_.get_position().height > 0.5


def test_displays_drawn_one_after_another_join(models):
    y, forecasts = models
    together = CumulativeDisplay.from_predictions(y, forecasts, ax=axes())
    ax = axes()
    for name, forecast in forecasts.items():
        last = CumulativeDisplay.from_predictions(y, forecast, name=name, ax=ax)

    def look(ax):
        lines = [
            (line.get_xydata().tolist(), to_hex(line.get_color()), line.get_marker())
            for line in ax.lines
            if line.get_gid() == "secant:curve"
        ]
        legend = [text.get_text() for text in ax.get_legend().get_texts()]
        rows = sorted(labels(child.xaxis) for child in ax.child_axes)
        texts = [text.get_text() for text in ax.texts]
        return lines, legend, rows, texts, ax.get_title(loc="left"), ax.get_xlabel()

    assert look(last.ax_) == look(together.ax_)
    assert last.ax_.get_ylim() == pytest.approx(together.ax_.get_ylim())


def test_many_models_have_no_rows_and_no_secants_unless_asked_for(models):
    y, forecasts = models
    many = {f"model {k}": forecasts["right"] ** (k / 4) for k in range(1, 9)}
    display = CumulativeDisplay.from_predictions(y, many, ax=axes())
    assert display.secants_ == []
    assert [child.get_gid() for child in display.ax_.child_axes] == ["secant:top"]
    assert len(display.legend_.get_texts()) == 8
    assert len(display.plot(axes(), worst=True).secants_) == 8


def test_names(paper):
    assert CumulativeDisplay(paper).names == (None,)
    assert CumulativeDisplay(paper, name="a").names == ("a",)
    assert CumulativeDisplay([paper, paper], name=["a", "b"]).names == ("a", "b")
    assert CumulativeDisplay({"a": paper, 2: paper}).names == ("a", "2")
    unnamed = CumulativeDisplay([paper, paper]).plot(axes())
    assert [text.get_text().partition(":")[0] for text in unnamed.legend_.get_texts()] == [
        "model 1",
        "model 2",
    ]


@pytest.mark.parametrize(
    ("results", "name", "complaint"),
    [
        ([], None, "nothing to draw"),
        ({}, None, "nothing to draw"),
        (3, None, "results must be a Calibration"),
        ([3], None, r"results\[0\] is a int, not a Calibration"),
        ("paper", "two", None),
    ],
)
def test_what_cannot_be_drawn_is_refused(results, name, complaint, paper):
    if results == "paper":
        results, name, complaint = [paper, paper], ["one"], "must name each model; got 1 for 2"
    with pytest.raises(InputError, match=complaint):
        CumulativeDisplay(results, name=name)


def test_names_of_a_mapping_are_final(paper):
    with pytest.raises(InputError, match="named by their mapping"):
        CumulativeDisplay({"a": paper}, name="b")
    with pytest.raises(InputError, match="keys of y_prob"):
        CumulativeDisplay.from_predictions([0, 1], {"a": [0.2, 0.7]}, name="b")


def test_a_label_is_what_the_legend_says(paper):
    alone = paper.plot(axes(), label="Mine: v2")
    assert alone.line_.get_label() == "Mine: v2"
    assert [text.get_text() for text in alone.legend_.get_texts()] == ["Mine: v2"]
    assert alone.notes_
    lowest = alone.legend_.get_window_extent().y0
    assert alone.notes_[0].get_window_extent().y1 < lowest
    paper.plot(alone.ax_, label="Theirs")
    both = [text.get_text() for text in alone.ax_.get_legend().get_texts()]
    assert both == ["Mine: v2", "Theirs"]
    several = CumulativeDisplay([paper, paper]).plot(axes(3, 2), label=["Mine: v2", "b"])
    assert [text.get_text() for text in several.legend_.get_texts()] == ["Mine: v2", "b"]
    with pytest.raises(InputError, match="label must name each model; got 1 for 2"):
        CumulativeDisplay([paper, paper]).plot(axes(), label="one")


# Titles -------------------------------------------------------------------------------------------


def test_the_title_says_what_to_look_for(paper):
    said = "Slope is miscalibration: flat is good"
    assert paper.plot(axes()).ax_.get_title(loc="left") == said
    named = CumulativeDisplay(paper, name="Trees").plot(axes(layout="constrained"))
    assert named.ax_.get_title(loc="left") == f"Trees\n{said}"
    assert paper.plot(axes(3, 2, layout="constrained")).ax_.get_title(loc="left") == "Flat is good"


@pytest.mark.parametrize("side", ["left", "center", "right"])
def test_a_title_that_is_there_stays(paper, side):
    ax = axes()
    ax.set_title("Mine", loc=side)
    paper.plot(ax)
    titles = [ax.get_title(loc=each) for each in ("left", "center", "right")]
    assert sorted(titles) == ["", "", "Mine"]
