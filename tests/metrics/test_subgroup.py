"""Who is compared with whom."""

import math

import numpy as np
import pytest

from samples import compare_groups


def test_members_with_one_score_share_a_stretch():
    y, p = [1, 0, 0, 1], [0.3, 0.3, 0.3, 0.3]
    result = compare_groups(y, p, [True, True, False, False])
    # R = Rt = 1/2; the variance is that of 1/2 - 2 of 4: 4 * 1/4 * (1/2 - 1/4) / (1 - 1/4).
    assert result.ecce_r.value == 0
    assert result.sigma == pytest.approx(math.sqrt(1 / 3) / 2)


def test_equal_scores_come_before_near_ones():
    """No member has the score .9; those who do are not compared with members at .7."""
    y = [1, 0, 1, 0, 1, 1, 1, 1]
    p = [0.7, 0.7, 0.7, 0.7, 0.9, 0.9, 0.9, 0.9]
    member = [True, True, False, False, False, False, False, False]
    assert compare_groups(y, p, member).ecce_r.value == 0
    assert compare_groups(y, p, member).mismatch == 0


def test_neighbouring_doubles_are_told_apart():
    a, b = 0.5, np.nextafter(0.5, 1)
    result = compare_groups([1, 0, 0, 1], [a, a, b, b], [True, False, True, False])
    assert result.curve.difference.tolist() == [0, 0.25, 0]
