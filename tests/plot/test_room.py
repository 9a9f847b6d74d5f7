"""What is written beside axes that nobody lays out: it has room, or there is less of it."""

import pickle
from itertools import combinations

import numpy as np
import pytest

import secant
from helpers import optional
from secant import CumulativeDisplay, ReliabilityDisplay
from secant._drawing.chart import Axis, Chart
from secant.plot._room import name_axes, room_of, write_title

optional("matplotlib")
import matplotlib as mpl  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.text import Text  # noqa: E402


def figure(**options):
    """Return a figure as pyplot's subplots makes it: 6.4 by 4.8 inches and no layout engine."""
    made = Figure(**options)
    FigureCanvasAgg(made)
    return made


@pytest.fixture(scope="module")
def several():
    """Return results of every kind: extreme, noise, alternating, weighted, few scores, tiny."""
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    forecast = rng.choice([0.1, 0.3, 0.9], 300)
    wave = np.clip(p + 0.1 * np.sin(25 * p), 0, 1)
    rare = rng.beta(1, 200, 20_000)
    return [
        secant.assess(rng.random(20_000) < 0.3 + 0.4 * p, p),
        secant.assess(rng.random(20_000) < p, p),
        secant.assess(rng.random(20_000) < wave, p),
        secant.assess(rng.random(20_000) < p**0.7, p),
        secant.assess(
            rng.random(20_000) < p - 0.004 * p * (1 - p), p
        ),  # an ordinate of many digits
        secant.assess(rng.random(300) < forecast, forecast, sample_weight=rng.lognormal(size=300)),
        secant.assess([0, 0, 1, 1, 0], [0.1, 0.2, 0.5, 0.5, 0.9]),
        secant.assess(rng.random(20_000) < 1.3 * rare, rare),
        secant.assess([0, 1], [0.0, 1.0]),
    ]


@pytest.fixture(scope="module")
def result(several):
    return several[4]


def cumulative(result, ax, **options):
    return CumulativeDisplay(result, **options).plot(ax)


def reliability(result, ax, **options):
    return ReliabilityDisplay.from_calibration(result, ax=ax, **options)


def written(made, monkeypatch) -> list:
    """Return what is really written when a figure is drawn, with its place."""
    found = []
    draw = Text.draw

    def recorded(self, renderer):
        if self.get_visible() and self.get_text().strip():
            found.append((self.get_text(), self.get_window_extent(renderer), self.axes))
        draw(self, renderer)

    with monkeypatch.context() as patched:
        patched.setattr(Text, "draw", recorded)
        made.canvas.draw()
    return found


def touching(a, b) -> bool:
    return min(a.x1 - b.x0, b.x1 - a.x0, a.y1 - b.y0, b.y1 - a.y0) > 1


def check_nothing_touches(made, monkeypatch) -> None:
    texts = written(made, monkeypatch)
    assert texts
    for (one, a, _), (two, b, _) in combinations(texts, 2):
        assert not touching(a, b), f"{one!r} is written over {two!r}"
    for text, box, ax in texts:
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.y1 <= made.bbox.y1 + 1, text
        for other in made.axes:
            if ax is not None and other is not ax and ax not in other.child_axes:
                assert not touching(box, other.get_window_extent()), f"{text!r} is over other axes"


GRIDS = {
    "one": (1, 1, {}),
    "3 by 2.2 inches": (1, 1, {"figsize": (3, 2.2)}),
    "side by side": (1, 2, {}),
    "2 by 2": (2, 2, {}),
    "3 by 3": (3, 3, {}),
    "2 by 2, constrained": (2, 2, {"layout": "constrained"}),
}


@pytest.mark.parametrize("grid", GRIDS)
def test_nothing_touches_in_a_grid_of_graphs(grid, several, monkeypatch):
    rows, columns, options = GRIDS[grid]
    if rows * columns == 1:
        for each in several:
            made = figure(**options)
            cumulative(each, made.subplots(), name="Trees")
            check_nothing_touches(made, monkeypatch)
        return
    made = figure(**options)
    for ax, each in zip(made.subplots(rows, columns).flat, several, strict=False):
        cumulative(each, ax)
    check_nothing_touches(made, monkeypatch)


@pytest.mark.parametrize("grid", GRIDS)
def test_nothing_touches_in_a_grid_of_both_kinds(grid, several, monkeypatch):
    rows, columns, options = GRIDS[grid]
    made = figure(**options)
    for number, ax in enumerate(made.subplots(rows, columns, squeeze=False).flat):
        (reliability, cumulative)[number % 2]({"one": several[number], "two": several[0]}, ax)
    check_nothing_touches(made, monkeypatch)


@pytest.mark.parametrize("draw", [cumulative, reliability])
def test_the_figure_stays_as_it_is(draw, result):
    made = figure()
    axes = made.subplots(1, 2)
    before = [ax.get_position().bounds for ax in axes], dict(mpl.rcParams)
    for ax in axes:
        draw(result, ax)
    made.canvas.draw()
    assert ([ax.get_position().bounds for ax in axes], dict(mpl.rcParams)) == before
    assert made.get_layout_engine() is None


@pytest.mark.parametrize("layout", ["constrained", "tight"])
def test_a_layout_engine_makes_room_itself(layout, result):
    ax = figure(layout=layout).subplots()
    display = cumulative(result, ax, name="Trees")
    assert ax.get_title(loc="left") == "Trees\nSlope is miscalibration: flat is good"
    sizes = {text.get_fontsize() for text in ax.get_yticklabels()}
    assert sizes == {ax.yaxis.label.get_fontsize()} == {mpl.rcParams["font.size"]}
    assert display.fraction_axis_.xaxis.label.get_fontsize() == mpl.rcParams["font.size"]


def test_margins_end_at_the_paper_and_between_axes():
    upper, lower = figure().subplots(2, 1)
    gap = 4.8 * (upper.get_position().y0 - lower.get_position().y1)
    assert room_of(upper).top == pytest.approx(4.8 * 0.12)
    assert room_of(upper).bottom + room_of(lower).top == pytest.approx(gap)
    assert room_of(lower).left == pytest.approx(6.4 * 0.125)
    assert room_of(figure(layout="tight").subplots()) == (np.inf, np.inf, np.inf)


@pytest.mark.parametrize(
    ("left", "named", "numbers"), [(0.2, True, True), (0.05, False, True), (0.02, False, False)]
)
def test_less_is_written_in_narrower_margins(left, named, numbers):
    ax = figure().add_axes((left, 0.2, 0.7, 0.6))
    name_axes(ax, Chart("", Axis(0, 1, "across"), Axis(0, 1, "a long name", "name")))
    assert (ax.get_ylabel() != "") is named
    assert ax.get_xlabel() == "across"
    assert ax.yaxis.get_tick_params()["labelleft"] is numbers


# Several models -----------------------------------------------------------------------------------


def test_rows_of_scores_come_before_the_name_of_their_axis(several, monkeypatch):
    for count, named in ((2, True), (3, False)):
        made = figure()
        ax = made.subplots()
        cumulative({str(k): several[k] for k in range(count)}, ax)
        rows = [each for each in ax.child_axes if each.get_gid() == "secant:row"]
        assert len(rows) == count - 1
        assert (ax.get_xlabel() == "Score (a row for each model)") is named
        check_nothing_touches(made, monkeypatch)


def test_a_second_model_takes_the_name_of_the_first_out_of_the_title(several):
    for columns in (1, 2):
        ax = figure().subplots(1, columns, squeeze=False)[0, 0]
        cumulative(several[0], ax, name="Trees")
        assert ax.get_title(loc="left") == "Trees: flat is good"
        cumulative(several[1], ax, name="Forest")
        assert ax.get_title(loc="left") in ("Slope is miscalibration: flat is good", "Flat is good")


# Titles -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [cumulative, reliability])
@pytest.mark.parametrize("side", ["left", "center", "right"])
@pytest.mark.parametrize("name", [None, "Trees"])
def test_titles_of_others_replace_ours(draw, side, name, result):
    before, after = figure().subplots(), figure().subplots()
    title = before.set_title("Mine", loc=side, fontsize=9, color="green")
    draw(result, before, name=name)
    draw(result, after, name=name)
    assert after.get_title(loc="left")
    after.set_title("Mine", loc=side)
    for ax in (before, after):
        titles = [ax.get_title(loc=each) for each in ("left", "center", "right")]
        assert sorted(titles) == ["", "", "Mine"]
    assert (title.get_fontsize(), title.get_color()) == (9, "green")


def test_a_title_can_be_given(result):
    for display in (CumulativeDisplay(result), ReliabilityDisplay(result.reliability())):
        drawn = display.plot(figure().subplots(), title="Mine")
        assert drawn.ax_.get_title(loc="left") == "Mine"
        assert display.plot(figure().subplots(), title="").ax_.get_title(loc="left") == ""


def test_a_title_is_ours_until_somebody_changes_it():
    ax = figure().subplots()
    charts = [Chart(f"long title {k}", Axis(0, 1), Axis(0, 1), short="short") for k in range(2)]
    for chart in charts:
        write_title(ax, None, chart)
        assert ax.get_title("left") == chart.title
    ax.set_title("Mine", loc="left")
    write_title(ax, None, charts[0])
    assert ax.get_title("left") == "Mine"


def test_a_figure_with_our_title_can_be_pickled(result):
    ax = figure().subplots()
    reliability(result, ax)
    again = pickle.loads(pickle.dumps(ax.figure))  # noqa: S301  (our own)
    assert again.axes[0].get_title(loc="left") == ax.get_title(loc="left")
