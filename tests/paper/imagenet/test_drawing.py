"""The ImageNet figures, by the data of their artists."""

import numpy as np

from helpers import optional
from secant.paper.imagenet.figures import assess_subsets


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
