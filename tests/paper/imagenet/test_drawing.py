"""The ImageNet figures, by the data of their artists."""

import numpy as np
import pytest

from helpers import optional
from secant import assess
from secant.paper.imagenet.drawing import draw_cumulative, draw_ece, images
from secant.paper.imagenet.figures import assess_subsets
from secant.paper.imagenet.subsets import SUBSETS


def test_artists_show_the_numbers(predictions):
    optional("matplotlib")
    made_up = predictions({60: 300})
    first, diagrams, equal_count, cumulative = (
        figure.draw(None) for figure in next(assess_subsets(made_up)).figures
    )
    each = next(assess_subsets(made_up))
    observed, floor = first.axes[0].lines
    rows = [row for row in each.ece if row["bins"] == "equispaced"]
    np.testing.assert_array_equal(
        observed.get_xydata(), [(row["n_bins"], row["ece1"]) for row in rows]
    )
    np.testing.assert_array_equal(floor.get_ydata(), [row["floor1"] for row in rows])
    assert [ax.get_title("left") for ax in diagrams.axes] == [
        "8 equispaced bins",
        "32 equispaced bins",
    ]
    assert [ax.get_title("left") for ax in equal_count.axes] == [
        "8 equal-count bins",
        "32 equal-count bins",
    ]
    assert "selected by outcome" in cumulative.get_suptitle()
    words = " ".join(text.get_text() for text in cumulative.axes[0].texts)
    assert "95% limits" not in words  # which would not hold


@pytest.mark.parametrize(
    ("count", "words"), [(1, "1 image"), (2, "2 images"), (1_281_167, "1,281,167 images")]
)
def test_numbers_of_images(count, words):
    assert images(count) == words


def test_the_worst_range_is_marked_for_all_images_only(predictions):
    optional("matplotlib")
    made_up = predictions({60: 300})
    result = assess(made_up.response, made_up.score)
    for subset in (SUBSETS[0], SUBSETS[-1]):
        figure = draw_cumulative(subset, result)
        words = " ".join(text.get_text() for text in figure.axes[0].texts)
        everyone = subset.true_class is None
        assert ("95% limits" in words) is everyone
        assert ("selected by outcome" in figure.get_suptitle()) is not everyone


def test_an_ece_of_0_is_drawn_too():
    optional("matplotlib")
    rows = [
        {"bins": bins, "n_bins": m, "ece1": 0.0, "ece2": 0.0, "floor1": 0.1, "floor2": 0.01}
        for bins in ("equispaced", "equal-count")
        for m in (4, 8)
    ]
    figure = draw_ece(SUBSETS[0], assess([0, 1] * 4, [0.3, 0.7] * 4), rows)
    assert {ax.get_yscale() for ax in figure.axes} == {"linear"}
    assert all(ax.get_ylim()[0] == 0 for ax in figure.axes)
