"""Where scores stand on the axis of a cumulative graph."""

import numpy as np
import pytest

import secant
from secant._drawing import ticks


def curve(scores):
    return secant.assess([0, 1] * (len(scores) // 2), scores).curve


def test_the_score_that_ends_a_fraction_stands_there():
    found = ticks.score_at(curve([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 0.25, 0.26, 0.5, 1.0]))
    assert found.tolist() == [0.1, 0.1, 0.2, 0.2, 0.4]


def test_one_score_has_no_steps():
    step, places = ticks.equal_steps(curve([0.3, 0.3]))
    assert (step, places.size) == (0, 0)


@pytest.mark.parametrize(("width", "parts"), [(0.1, 1), (1.0, 2), (2.0, 4), (9.0, 10)])
def test_a_wider_axis_is_cut_into_more_parts(width, parts):
    assert ticks.divide(["0.25"], width, 9) == parts
