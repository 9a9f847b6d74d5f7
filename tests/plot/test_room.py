"""Axes that nobody lays out: what is written beside them stays in the margins they have."""

import pickle
from itertools import combinations

import numpy as np
import pytest

import secant
from helpers import optional
from secant import CumulativeDisplay, ReliabilityDisplay
from secant.plot import _room

optional("matplotlib")
import matplotlib as mpl  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.text import Text  # noqa: E402

CUMULATIVE_TITLES = {"Slope is miscalibration: flat is good", "Flat is good"}


def figure(**options):
    """Return a figure as pyplot's subplots makes it: 6.4 by 4.8 inches and no layout engine."""
    made = Figure(**options)
    FigureCanvasAgg(made)
    return made


@pytest.fixture(scope="module")
def result():
    """Return a result whose ordinate has many digits."""
    rng = np.random.default_rng(1)
    p = rng.random(200_000)
    return secant.assess(rng.random(200_000) < p - 0.004 * p * (1 - p), p)


@pytest.fixture(scope="module")
def other():
    rng = np.random.default_rng(2)
    p = rng.random(2000) ** 2
    return secant.assess(rng.random(2000) < p, p)


def cumulative(result, ax, **options):
    return CumulativeDisplay(result, **options).plot(ax)


def reliability(result, ax, **options):
    return ReliabilityDisplay.from_calibration(result, ax=ax, **options)


def check_inside(ax) -> None:
    """Check that all of it is on the paper, and the ordinate beside other axes."""
    ax.figure.canvas.draw()
    taken, paper = ax.get_tightbbox(), ax.figure.bbox
    assert taken.x0 >= paper.x0
    assert taken.y0 >= paper.y0
    assert taken.y1 <= paper.y1
    left = [box.x1 for box in windows(ax.figure) if box.x1 < ax.get_window_extent().x0]
    assert ax.yaxis.get_tightbbox().x0 >= max(left, default=0)


def windows(made) -> list:
    return [ax.get_window_extent() for ax in made.axes]


@pytest.mark.parametrize("draw", [cumulative, reliability])
@pytest.mark.parametrize("name", [None, "Trees"])
def test_one_picture_keeps_to_the_paper(draw, name, result):
    ax = figure().subplots()
    draw(result, ax, name=name)
    check_inside(ax)
    assert ax.get_ylabel() != ""
    assert name is None or ax.get_title(loc="left").startswith(name)


@pytest.mark.parametrize("pair", [(cumulative, reliability), (reliability, cumulative)])
@pytest.mark.parametrize("name", [None, "Trees"])
def test_pictures_side_by_side_keep_to_their_places(pair, name, result):
    both = figure().subplots(1, 2)
    for draw, ax in zip(pair, both, strict=True):
        draw(result, ax, name=name)
    for draw, ax in zip(pair, both, strict=True):
        check_inside(ax)
        # The ordinate has its name, beside it or above.
        named = f"{ax.get_ylabel()} {ax.get_title(loc='left')}".lower()
        what = "outcome \N{MINUS SIGN} forecast" if draw is cumulative else "mean outcome"
        assert what in named


def test_several_models_keep_to_the_paper(result, other):
    ax = figure().subplots()
    cumulative({"a": result, "b": other}, ax)
    check_inside(ax)
    joined = figure().subplots()
    cumulative(result, joined)
    cumulative(other, joined)
    check_inside(joined)
    assert joined.get_xlabel() == ax.get_xlabel() == "Score (a row for each model)"


def test_rows_of_scores_come_before_the_name_of_their_axis(result, other):
    ax = figure().subplots()
    cumulative({"a": result, "b": other, "c": result}, ax)
    check_inside(ax)
    assert len([each for each in ax.child_axes if each.get_gid() == "secant:row"]) == 2
    assert ax.get_xlabel() == ""


def test_a_second_model_takes_the_name_of_the_first_out_of_the_title(result, other):
    for number, said in enumerate(("Slope is miscalibration: flat is good", "Flat is good")):
        ax = figure().subplots(1, 1 + number, squeeze=False)[0, 0]
        cumulative(result, ax, name="Trees")
        assert ax.get_title(loc="left") == "Trees: flat is good"
        cumulative(other, ax, name="Forest")
        assert ax.get_title(loc="left") == said
    right = figure().subplots(1, 2)[1]
    cumulative(result, right, name="Trees")
    assert right.get_title(loc="left") == "Trees: outcome \N{MINUS SIGN} forecast"
    cumulative(other, right, name="Forest")
    assert right.get_title(loc="left") == "Outcome \N{MINUS SIGN} forecast"


def test_below_another_picture_there_is_no_room_for_a_title(result):
    above, below = figure(figsize=(6.4, 7)).subplots(2)
    reliability(result, above)
    reliability(result, below)
    assert above.get_title(loc="left") != ""
    assert below.get_title(loc="left") == ""


@pytest.mark.parametrize("layout", ["constrained", "tight"])
def test_a_layout_engine_makes_room_itself(layout, result):
    ax = figure(layout=layout).subplots()
    display = cumulative(result, ax, name="Trees")
    assert ax.get_title(loc="left").partition("\n")[0] == "Trees"
    assert ax.get_title(loc="left").partition("\n")[2] in CUMULATIVE_TITLES
    sizes = {text.get_fontsize() for text in ax.get_yticklabels()}
    assert sizes == {ax.yaxis.label.get_fontsize()} == {mpl.rcParams["font.size"]}
    assert display.fraction_axis_.xaxis.label.get_fontsize() == mpl.rcParams["font.size"]


@pytest.mark.parametrize("draw", [cumulative, reliability])
def test_the_figure_stays_as_it_is(draw, result):
    made = figure()
    axes = made.subplots(1, 2)
    spared = made.subplotpars
    before = (windows(made), made.get_size_inches().tolist(), dict(mpl.rcParams))
    margins = vars(spared).copy()
    for ax in axes:
        draw(result, ax)
    made.canvas.draw()
    after = (windows(made), made.get_size_inches().tolist(), dict(mpl.rcParams))
    assert [box.bounds for box in before[0]] == [box.bounds for box in after[0]]
    assert before[1:] == after[1:]
    assert vars(made.subplotpars) == margins
    assert made.get_layout_engine() is None


@pytest.mark.parametrize("side", ["left", "center", "right"])
def test_a_title_that_is_there_is_kept_on_the_paper(side, result):
    ax = figure().subplots()
    title = ax.set_title("Mine", loc=side, fontsize=9, color="green")
    cumulative(result, ax)
    check_inside(ax)
    assert ax.get_title(loc=side) == "Mine"
    assert (title.get_fontsize(), title.get_color()) == (9, "green")


# Grids and small figures: nothing that is written touches anything else --------------------------


@pytest.fixture(scope="module")
def several(result, other):
    """Return results of every kind: extreme, noise, alternating, weighted, few scores, tiny."""
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    forecast = rng.choice([0.1, 0.3, 0.9], 300)
    wave = np.clip(p + 0.1 * np.sin(25 * p), 0, 1)
    rare = rng.beta(1, 200, 20_000)
    return [
        secant.assess(rng.random(20_000) < 0.3 + 0.4 * p, p),
        other,
        secant.assess(rng.random(20_000) < wave, p),
        secant.assess(rng.random(20_000) < p**0.7, p),
        result,
        secant.assess(rng.random(300) < forecast, forecast, sample_weight=rng.lognormal(size=300)),
        secant.assess([0, 0, 1, 1, 0], [0.1, 0.2, 0.5, 0.5, 0.9]),
        secant.assess(rng.random(20_000) < 1.3 * rare, rare),
        secant.assess([0, 1], [0.0, 1.0]),
    ]


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
        assert box.x1 <= made.bbox.x1 + 1, text
        for other in made.axes:
            if ax is not None and other is not ax and ax not in other.child_axes:
                assert not touching(box, other.get_window_extent()), f"{text!r} is over other axes"


GRIDS = {
    "one": (1, 1, {}),
    "3 by 2.2 inches": (1, 1, {"figsize": (3, 2.2)}),
    "2 by 2": (2, 2, {}),
    "3 by 3": (3, 3, {}),
    "2 by 2, constrained": (2, 2, {"layout": "constrained"}),
}


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("backwards", [False, True])
def test_nothing_touches_in_a_grid_of_graphs(grid, backwards, several, monkeypatch):
    rows, columns, options = GRIDS[grid]
    if rows * columns == 1:
        for each in several:
            made = figure(**options)
            cumulative(each, made.subplots())
            check_nothing_touches(made, monkeypatch)
        return
    made = figure(**options)
    panels = list(zip(made.subplots(rows, columns).flat, several, strict=False))
    for ax, each in reversed(panels) if backwards else panels:
        cumulative(each, ax)
    check_nothing_touches(made, monkeypatch)


@pytest.mark.parametrize("grid", GRIDS)
def test_nothing_touches_in_a_grid_of_both_kinds(grid, several, monkeypatch):
    rows, columns, options = GRIDS[grid]
    made = figure(**options)
    for number, ax in enumerate(made.subplots(rows, columns, squeeze=False).flat):
        draw = (reliability, cumulative)[number % 2]
        draw({"one": several[number], "another": several[0]}, ax)
    check_nothing_touches(made, monkeypatch)


def test_nothing_touches_where_counts_stand_below(several, monkeypatch):
    made = figure()
    for each, ax in zip(several, made.subplots(2, 2).flat, strict=False):
        reliability(each, ax, counts=True)
    check_nothing_touches(made, monkeypatch)


# Titles -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [cumulative, reliability])
@pytest.mark.parametrize("side", ["left", "center", "right"])
@pytest.mark.parametrize("name", [None, "Trees"])
def test_a_title_set_later_replaces_ours(draw, side, name, result):
    ax = figure().subplots()
    draw(result, ax, name=name)
    assert ax.get_title(loc="left")
    ax.set_title("Mine", loc=side)
    titles = [ax.get_title(loc=each) for each in ("left", "center", "right")]
    assert sorted(titles) == ["", "", "Mine"]


def test_a_title_can_be_given(result):
    for display in (CumulativeDisplay(result), ReliabilityDisplay(result.reliability())):
        drawn = display.plot(figure().subplots(), title="Mine")
        assert drawn.ax_.get_title(loc="left") == "Mine"
        bare = display.plot(figure().subplots(), title="")
        assert bare.ax_.get_title(loc="left") == ""


def test_a_figure_with_our_title_can_be_pickled(result):
    ax = figure().subplots()
    reliability(result, ax)
    again = pickle.loads(pickle.dumps(ax.figure))  # noqa: S301  (our own)
    assert again.axes[0].get_title(loc="left") == ax.get_title(loc="left")


@pytest.mark.parametrize("titled_first", [False, True])
@pytest.mark.parametrize("kind", ["graph", "diagram"])
def test_titles_that_others_set_touch_nothing_of_the_row_above(kind, titled_first, predictions):
    result = secant.assess(*predictions)
    drawn = result if kind == "graph" else result.reliability()
    figure = Figure()
    panels = figure.subplots(2, 2)
    for ax in panels.flat:
        if titled_first:
            ax.set_title("My own title")
    for ax in panels.flat:
        drawn.plot(ax)
        ax.set_title("My own title")
    figure.draw_without_rendering()
    for upper, lower in zip(*panels, strict=True):
        title = lower.title.get_window_extent()
        assert title.y1 <= upper.xaxis.get_tightbbox().y0 + _room._TOUCH
        assert title.y0 >= lower.get_window_extent().y1 - _room._TOUCH


def test_the_name_of_the_ordinate_above_a_panel_is_no_wider(predictions):
    result = secant.assess(*predictions)
    figure = Figure()
    for ax in figure.subplots(3, 3).flat:
        result.plot(ax)
    figure.draw_without_rendering()
    named = [ax for ax in figure.axes if ax.get_title("left").endswith("forecast")]
    assert named
    for ax in named:
        title = next(t for t in _room._titles(ax) if t.get_text() == ax.get_title("left"))
        assert title.get_window_extent().x1 <= ax.get_window_extent().x1 + 1
