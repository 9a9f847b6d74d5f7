"""A comparison of groups in words."""

from dataclasses import replace

import numpy as np
import pytest

from samples import compare_groups
from secant._api.compare_groups import _other_way


def test_words_say_the_direction():
    rng = np.random.default_rng(3)
    p, member = rng.random(4000), rng.random(4000) < 0.2
    more = compare_groups(rng.random(4000) < np.where(member, p**0.6, p), p, member)
    assert str(more).startswith("At equal scores the event happens more often among members than")
    assert more.to_dict()["verdict"] in str(more)
    assert "more often by" in str(more)
    assert str(more.worst.n) in str(more.worst)
    none = compare_groups(rng.random(4000) < p, p, member)
    assert str(none).startswith("No difference found")
    assert "would almost surely have shown" in str(none)


def test_words_for_the_opposite_event_differ_in_the_direction_alone():
    rng = np.random.default_rng(3)
    p, member = np.round(rng.random(2000), 1), rng.random(2000) < 0.3
    y = rng.random(2000) < np.where(member, p**0.5, p)
    more, less = (str(compare_groups(z, p, member)).splitlines()[0] for z in (y, ~y))
    assert "more often" in more
    assert more.replace("more often", "less often") == less


def test_a_group_that_differs_both_ways_is_not_said_to_differ_one_way():
    rng = np.random.default_rng(0)
    p, member = rng.random(6000), rng.random(6000) < 0.4
    chance = np.where(member, np.clip(p + np.where(p < 0.5, 0.2, -0.2), 0, 1), p)
    y = rng.random(6000) < chance
    result = compare_groups(y, p, member)
    assert (result.worst.direction, result.opposite.direction) == ("more often", "less often")
    assert result.opposite.certain
    for opposite, first, second in ((y, "more", "less"), (~y, "less", "more")):
        said = str(compare_groups(opposite, p, member))
        assert said.startswith(
            f"At some scores the event happens {first} often among members than in everybody with "
            f"the same score, at others {second} often. Over scores 0."
        )
        assert f"), over scores 0.489 to 0.995 {second} often by 7.78 points (95% limits" in said
    assert result.to_dict()["opposite"]["direction"] == "less often"


def test_the_other_way_is_the_largest_of_all_ranges_that_go_that_way():
    rng = np.random.default_rng(1)
    for _ in range(50):
        p, member = np.round(rng.random(40), 1), rng.random(40) < 0.5
        y = rng.random(40) < p
        result = compare_groups(y, p, member)
        path = result.curve.difference
        gains = [path[j] - path[i] for j in range(len(path)) for i in range(j)]
        way = 1 if result.worst.difference < 0 else -1
        first, last = _other_way(path)
        assert way * (path[last] - path[first]) == pytest.approx(max(way * np.array([0, *gains])))


def test_where_limits_reach_beyond_zero_no_direction_is_claimed():
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(200):
        p, member = rng.random(60), rng.random(60) < 0.3
        result = compare_groups(rng.random(60) < np.where(member, p**0.6, p), p, member)
        if result.found and not result.worst.certain:
            found += 1
            first = str(result).splitlines()[0]
            assert first.startswith("At equal scores the event is not as likely for members as")
            assert "do not show for certain where; the largest difference is over scores" in first
    assert found > 5


def test_words_for_a_group_that_can_show_nothing():
    result = compare_groups([1, 0, 0, 0], [0.5] * 4, [True, False, False, False])
    assert result.detectable == 1
    assert "everybody at equal scores. 1 member can show next to nothing.\n" in str(result)


@pytest.mark.parametrize("level", [0.3, 0.1, 0.05, 0.01, 0.001])
def test_a_pvalue_at_the_level_is_found_and_one_above_is_not(level):
    """Also where 1 - (1 - level) is a little less than the level, as for 0.1."""
    result = compare_groups([1, 0, 0, 0], [0.5] * 4, [True, False, False, False])

    def headline(pvalue):
        r, mad = replace(result.ecce_r, pvalue=pvalue), replace(result.ecce_mad, pvalue=1.0)
        return str(replace(result, ecce_r=r, ecce_mad=mad, confidence_level=1 - level))

    assert headline(level).startswith("At equal scores the event is not as likely for members")
    assert headline(level * (1 + 1e-9)).startswith("No difference found")


def test_scores_that_do_not_overlap_cannot_be_compared():
    rng = np.random.default_rng(0)
    member = rng.random(1000) < 0.3
    p = np.where(member, 0.6 + 0.4 * rng.random(1000), 0.4 * rng.random(1000))
    y = rng.random(1000) < p
    for who in (member, ~member):
        result = compare_groups(y, p, who)
        assert not result.overlap
        assert not result.comparable
        assert not result.found
        assert "points" not in str(result)
        assert str(result).startswith("Members and everybody cannot be compared at equal scores.")
        assert "do not overlap" in str(result)
        assert result.to_dict()["comparable"] is False
    p[member.argmax()] = 0.2
    assert compare_groups(y, p, member).overlap


def test_a_difference_that_the_scores_themselves_make_is_none():
    """One of the others lies above all members and the rest far below: what differs is scores."""
    member = np.arange(2000) % 2 == 0
    p = np.where(member, 0.9, np.where(np.arange(2000) == 1, 0.95, 0.1))
    y = np.where(member, np.arange(2000) % 10 != 0, np.arange(2000) % 10 == 1).astype(int)
    result = compare_groups(y, p, member)
    assert result.overlap
    assert not result.comparable
    assert result.ecce_r.pvalue < 1e-6
    assert not result.found
    assert "cannot be compared" in str(result)


def test_members_alone_and_single_rows_stay_as_they_are():
    assert compare_groups([1, 0], [0.2, 0.4], [True, True]).comparable
    assert compare_groups([1, 0], [0.3, 0.3], [True, False]).comparable
