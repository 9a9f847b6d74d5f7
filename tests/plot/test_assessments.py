"""Pictures of many groups."""

import numpy as np
import pytest

import secant
from helpers import optional
from secant import InputError
from secant._drawing.style import COLORS

optional("matplotlib")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def groups():
    """Return twelve groups of which one is off, one with a name that looks like a formula."""
    rng = np.random.default_rng(0)
    p, which = rng.random(6000), rng.integers(0, 12, 6000)
    names = np.array(["$x", *(f"group {k}" for k in range(1, 12))])
    happened = rng.random(6000) < np.where(which == 3, p**2, p)
    return secant.assess_by(happened, p, names[which])


def secants(ax) -> list:
    return [line for line in ax.lines if line.get_gid() == "secant:secant"]


def test_the_worst_groups_have_a_panel_each_on_one_scale(groups):
    display = groups.plot()
    assert display.shown == groups.rows[:9]
    assert display.left_out == 3
    titles = [ax.get_title().replace(r"\$", "$") for ax in display.axes_]
    assert titles == [row.key for row in groups.rows[:9]]
    assert len({ax.get_ylim() for ax in display.axes_}) == 1
    for row, ax in zip(display.shown, display.axes_, strict=True):
        [line] = [each for each in ax.lines if each.get_gid() == "secant:curve"]
        assert (line.get_ydata() == row.calibration.curve.difference).all()
    said = display.figure_.get_suptitle()
    assert said == "9 of 12 groups, worst first; 3 are not drawn"
    display.figure_.canvas.draw()


def test_only_what_stands_after_adjustment_has_a_colour(groups):
    found = {row.key: row.status for row in groups.rows}
    assert list(found.values()).count("miscalibrated") == 1
    for row, ax in zip(groups.rows, groups.plot(most=12).axes_, strict=True):
        colors = {to_hex(line.get_color()) for line in secants(ax)}
        stands = row.status == "miscalibrated"
        assert colors == {COLORS["high-line" if stands else "unsure-line"][0]}
        words = " ".join(text.get_text() for text in ax.texts).lower()
        assert ("could be noise" in words) is not stands
        assert ("too high" in words) is stands


def test_groups_can_share_axes(groups):
    figure = Figure(figsize=(7, 5))
    FigureCanvasAgg(figure)
    ax = figure.subplots()
    display = groups.plot(ax, most=4)
    assert display.axes_ == [ax]
    legend = ax.get_legend()
    assert legend.get_title().get_text() == "4 of 12 groups, worst first; 8 are not drawn"
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[0].startswith("group 3: too high by")
    assert all(text.endswith(": could be noise") for text in texts[1:])
    assert secants(ax) == []
    figure.canvas.draw()


def test_what_cannot_be_drawn_is_refused(groups):
    for most in (0, -1, 2.0, True):
        with pytest.raises(InputError, match="most must be a whole number of at least 1"):
            groups.plot(most=most)
    rng = np.random.default_rng(0)
    p = rng.random(400)
    data = {"y": rng.random(400) < p, "p": p, "a": np.where(rng.random(400) < 0.5, "u", "v")}
    none = secant.assess_segments("y", "p", data=data, features=["a"])
    assert len(none) == 0
    with pytest.raises(InputError, match="there is no segment to draw"):
        none.plot()


def test_one_group_needs_no_word_about_others():
    display = secant.assess_by([0, 1, 1], [0.2, 0.6, 0.7], ["a"] * 3).plot()
    assert display.figure_.get_suptitle() == ""
    assert [ax.get_title() for ax in display.axes_] == ["a"]
